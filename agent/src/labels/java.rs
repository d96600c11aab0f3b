//! `io.ctxagent.labels.Labels` in the boot loader, and the classes of `io.ctxagent.labels.source`,
//! each in the loader of the library that it serves.

use super::classes;
use crate::jvm::jni::{Argument, Jni, LocalRef, WeakRef};
use crate::jvm::jvmti::Jvmti;
use std::ffi::{CStr, CString};
use std::sync::{Mutex, PoisonError};

const LABELS: &CStr = c"io/ctxagent/labels/Labels";
/// What the boot loader defines, superclasses first, `Labels` last.
const BOOT_CLASSES: [&CStr; 4] = [
    c"io/ctxagent/labels/LabelSink",
    c"io/ctxagent/labels/LabelLoader",
    c"io/ctxagent/labels/HttpOperation",
    LABELS,
];

/// `Labels`, once all are defined. Never held while calling the VM.
static CLASS: Mutex<WeakRef> = Mutex::new(WeakRef::NONE);

fn defined(jni: &Jni) -> Option<LocalRef<'_>> {
    let class = *CLASS.lock().unwrap_or_else(PoisonError::into_inner);
    jni.local(class)
}

/// Defines the classes of the boot loader, unless they are; `Labels` is the answer.
pub(crate) fn prepare(jni: &Jni) -> Option<LocalRef<'_>> {
    if let Some(labels) = defined(jni) {
        return Some(labels);
    }
    let mut last = None;
    for name in BOOT_CLASSES {
        last = define_boot_class(jni, name);
        last.as_ref()?;
    }
    let labels = last?;
    // Initialises it: a hook must not be the first to need that.
    jni.static_method_id(&labels, c"turn", TURN)?;
    *CLASS.lock().unwrap_or_else(PoisonError::into_inner) = jni.weak(&labels);
    Some(labels)
}

const TURN: &CStr = c"(ILjava/lang/String;)V";

/// Turns sources on or off: those whose bits are set are on, for these names of attributes.
pub(super) fn turn(jni: Jni, on: u32, names: &str) {
    jni.with_local_frame(|jni| {
        let labels = defined(jni)?;
        let method = jni.static_method_id(&labels, c"turn", TURN)?;
        let names = jni.new_string(names)?;
        let on = Argument::Int(on.cast_signed());
        jni.call_static_void(&labels, method, &[on, Argument::Object(&names)]);
        Some(())
    });
}

/// Labels that a source has set.
pub(super) fn counted(jni: Jni, number: u32) -> i64 {
    let counted = jni.with_local_frame(|jni| {
        let labels = defined(jni)?;
        let method = jni.static_method_id(&labels, c"counted", c"(I)J")?;
        let number = Argument::Int(number.cast_signed());
        Some(jni.call_static_long(&labels, method, &[number]))
    });
    counted.unwrap_or(0)
}

/// The version of the library that a class is of, if it tells.
pub(super) fn version(jni: Jni, class: WeakRef) -> Option<String> {
    jni.with_local_frame(|jni| {
        let (labels, class) = (defined(jni)?, jni.local(class)?);
        let descriptor = c"(Ljava/lang/Class;)Ljava/lang/String;";
        let method = jni.static_method_id(&labels, c"version", descriptor)?;
        let version = jni.call_static_object(&labels, method, &[Argument::Object(&class)])?;
        Some(jni.text(&version))
    })
}

/// Defines a class of ours in a loader, unless it is there.
pub(super) fn define<'e>(
    jni: &'e Jni,
    loader: Option<&LocalRef<'_>>,
    name: &CStr,
) -> Option<LocalRef<'e>> {
    let bytes = classes::class_file(name.to_str().ok()?)?;
    // Of several threads the VM lets one define a class; the others find it.
    let class = jni.define_class(loader, name, &bytes);
    class.or_else(|| find(jni, loader, name))
}

/// Defines a class of ours in the boot loader, unless it is there.
pub(crate) fn define_boot_class<'e>(jni: &'e Jni, name: &CStr) -> Option<LocalRef<'e>> {
    define(jni, None, name)
}

/// Whether classes of a loader find `Labels`. Some look in the boot loader for the JDK's only.
pub(super) fn is_found_by(jni: Jni, loader: Option<&LocalRef<'_>>) -> bool {
    find(&jni, loader, LABELS).is_some()
}

/// A class of a loader, which is not initialised.
fn find<'e>(jni: &'e Jni, loader: Option<&LocalRef<'_>>, name: &CStr) -> Option<LocalRef<'e>> {
    let name = name.to_str().ok()?.replace('/', ".");
    jni.class_of_loader(&name, false, loader)
}

/// Lets the module of a library read that of our class: the library's may have a name.
pub(super) fn add_reads(
    jvmti: Jvmti,
    jni: Jni,
    library: &LocalRef<'_>,
    ours: &LocalRef<'_>,
) -> Option<()> {
    let (library, ours) = (module_of(&jni, library)?, module_of(&jni, ours)?);
    jvmti.add_module_reads(&library, &ours).ok()
}

fn module_of<'e>(jni: &'e Jni, class: &LocalRef<'_>) -> Option<LocalRef<'e>> {
    let class_class = jni.find_class(c"java/lang/Class")?;
    let method = jni.method_id(&class_class, c"getModule", c"()Ljava/lang/Module;")?;
    jni.call_object(class, method)
}

/// The name of a class as JNI takes it.
pub(super) fn c_name(name: &str) -> Option<CString> {
    CString::new(name).ok()
}
