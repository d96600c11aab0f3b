//! `jdk.internal.javac.TaskEntry`, the class that hooked constructors of the JDK call. The boot
//! loader defines it in `java.base`, so that they can.

use super::jni::{Argument, Jni, LocalRef, WeakRef};
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

/// `make direct-memory` builds it; a test compares it with its source.
const BYTES: &[u8] = include_bytes!("TaskEntry.class");
/// Its name.
pub(crate) const NAME: &str = "jdk/internal/javac/TaskEntry";
const C_NAME: &CStr = c"jdk/internal/javac/TaskEntry";

/// The class, once it is defined. Never held while calling the VM.
static CLASS: Mutex<WeakRef> = Mutex::new(WeakRef::NONE);

/// Has hooks use `carrier`, a `BinaryOperator`, unless one is in use. `false` if the heap is full.
pub(crate) fn set_carrier(jni: Jni, carrier: &LocalRef<'_>) -> bool {
    let signature = c"(Ljava/util/function/BinaryOperator;)V";
    call(jni, c"use", signature, Argument::Object(carrier))
}

/// Turns hooks on or off: those of the mechanisms whose bits are set are on.
pub(crate) fn turn(jni: Jni, on: u8) -> bool {
    call(jni, c"turn", c"(I)V", Argument::Int(on.into()))
}

fn call(jni: Jni, name: &CStr, signature: &CStr, argument: Argument<'_>) -> bool {
    let called = jni.with_local_frame(|jni| {
        let class = defined(jni).or_else(|| define(jni))?;
        let method = jni.static_method_id(&class, name, signature)?;
        jni.call_static_void(&class, method, &[argument]);
        Some(())
    });
    called.is_some()
}

fn defined(jni: &Jni) -> Option<LocalRef<'_>> {
    let class = *CLASS.lock().unwrap_or_else(PoisonError::into_inner);
    jni.local(class)
}

/// Of several threads the VM lets one define it; the others find what that one has defined.
fn define(jni: &Jni) -> Option<LocalRef<'_>> {
    let Some(class) = jni.define_boot_class(C_NAME, BYTES) else {
        return defined(jni);
    };
    let weak = jni.weak(&class);
    *CLASS.lock().unwrap_or_else(PoisonError::into_inner) = weak;
    Some(class)
}
