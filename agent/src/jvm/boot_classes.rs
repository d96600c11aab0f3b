//! Classes of ours that the boot loader defines in `java.base`, when they are first needed.

use super::jni::{Jni, LocalRef, WeakRef};
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

/// Classes of which the last one is called.
#[derive(Debug)]
pub(super) struct BootClasses {
    /// Names and bytes, superclasses first. `make direct-memory` builds the bytes; a test compares
    /// them with their sources.
    classes: &'static [(&'static CStr, &'static [u8])],
    /// The last class, once all are defined. Never held while calling the VM.
    last: Mutex<WeakRef>,
}

impl BootClasses {
    pub(super) const fn new(classes: &'static [(&'static CStr, &'static [u8])]) -> Self {
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
        for (name, bytes) in self.classes {
            let class = jni.define_boot_class(name, bytes);
            last = class.or_else(|| jni.find_class(name));
            last.as_ref()?;
        }
        for (name, _) in self.classes {
            jni.find_class(name)?;
        }
        let weak = jni.weak(last.as_ref()?);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = weak;
        last
    }
}
