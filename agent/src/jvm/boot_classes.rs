//! Classes of ours that the boot loader defines in `java.base`, when they are first needed.

use super::class_bundle::{self, ClassBundle, unpack};
use super::jni::{Jni, LocalRef, WeakRef};
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

/// By their names without packages. `make direct-memory` builds the class files; a test compares
/// them with their sources.
static BUNDLE: ClassBundle =
    ClassBundle::new(|| unpack(include_bytes!(concat!(env!("OUT_DIR"), "/boot.bin"))));

/// The class file of a class.
pub(super) fn class_file(name: &CStr) -> Option<&'static [u8]> {
    let name = name.to_str().ok()?.rsplit('/').next()?;
    class_bundle::find(&BUNDLE, name)
}

/// Classes of which the last one is called.
#[derive(Debug)]
pub(super) struct BootClasses {
    /// Superclasses first.
    classes: &'static [&'static CStr],
    /// The last class, once all are defined. Never held while calling the VM.
    last: Mutex<WeakRef>,
}

impl BootClasses {
    pub(super) const fn new(classes: &'static [&'static CStr]) -> Self {
        Self {
            classes,
            last: Mutex::new(WeakRef::NONE),
        }
    }

    /// The last class; defines all, unless they are.
    pub(super) fn last<'e>(&self, jni: &'e Jni) -> Option<LocalRef<'e>> {
        self.defined(jni).or_else(|| self.define(jni))
    }

    /// The last class, if they are defined.
    pub(super) fn defined<'e>(&self, jni: &'e Jni) -> Option<LocalRef<'e>> {
        let class = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        jni.local(class)
    }

    /// Of several threads the VM lets one define a class; the others find it. Initialises them: a
    /// hook must not be the first to need that.
    fn define<'e>(&self, jni: &'e Jni) -> Option<LocalRef<'e>> {
        let mut last = None;
        for name in self.classes {
            let class = jni.define_boot_class(name, class_file(name)?);
            last = class.or_else(|| jni.find_class(name));
            last.as_ref()?;
        }
        for name in self.classes {
            jni.find_class(name)?;
        }
        let weak = jni.weak(last.as_ref()?);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = weak;
        last
    }
}
