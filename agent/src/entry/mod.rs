//! The entry points of the agent library.
//!
//! Rules: (1) each is `boundary::enter` and one call; (2) a failure to start is one line on standard error and a running JVM, unless the user
//! said `strict=true`; (3) the library is never unloaded, so unload does nothing but end the recording.

pub(crate) mod agent;
pub(crate) mod callbacks;
pub(crate) mod commands;
mod java_api;
pub(crate) mod lifecycle;
pub(crate) mod natives;
#[cfg(feature = "oracle")]
pub(crate) mod oracle;
mod status;

use crate::guard::{OnFailure, enter};
use crate::jvm::jni::Vm;
use jni_sys::{JavaVM, jint};
use std::ffi::{CStr, c_char, c_void};

/// Called by the VM for `-agentpath`, before Java starts.
///
/// # Safety
/// By the VM only: `vm` is valid, `options` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _reserved: *mut c_void,
) -> jint {
    // SAFETY: passed on from the caller.
    let options = unsafe { text(options) };
    enter(OnFailure::DisableAgent, "Agent_OnLoad", 0, || {
        lifecycle::on_load(Vm::new(vm), &options)
    })
}

/// Called by the VM when the library is loaded into a running VM, each time.
///
/// # Safety
/// By the VM only: `vm` is valid, `options` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _reserved: *mut c_void,
) -> jint {
    // SAFETY: passed on from the caller.
    let options = unsafe { text(options) };
    enter(OnFailure::DisableAgent, "Agent_OnAttach", 3, || {
        lifecycle::on_attach(Vm::new(vm), &options)
    })
}

/// Called by the VM as it ends.
///
/// # Safety
/// By the VM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnUnload(_vm: *mut JavaVM) {
    enter(
        OnFailure::IgnoreAndCount,
        "Agent_OnUnload",
        (),
        lifecycle::on_end,
    );
}

/// # Safety
/// Null or a C string.
unsafe fn text(options: *const c_char) -> String {
    if options.is_null() {
        return String::new();
    }
    // SAFETY: passed on from the caller.
    unsafe { CStr::from_ptr(options) }
        .to_string_lossy()
        .into_owned()
}
