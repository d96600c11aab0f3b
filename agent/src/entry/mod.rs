//! The entry points of the agent library.
//!
//! Rules: (1) each is one call of the guard; (2) a failure to start is one line on standard error and a running JVM, unless the user
//! said `strict=true`; (3) the library is never unloaded, so unload does nothing but end the recording.

#![expect(unsafe_code, reason = "boundary: what the VM calls")]

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
    enter(OnFailure::DisableAgent, "Agent_OnLoad", 0, || {
        // SAFETY: passed on from the caller.
        let options = unsafe { text(options) };
        // SAFETY: passed on from the caller; the VM ends with the process.
        let vm = unsafe { Vm::new(vm) };
        lifecycle::on_load(vm, &options)
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
    enter(OnFailure::DisableAgent, "Agent_OnAttach", 3, || {
        // SAFETY: passed on from the caller.
        let options = unsafe { text(options) };
        // SAFETY: passed on from the caller; the VM ends with the process.
        let vm = unsafe { Vm::new(vm) };
        lifecycle::on_attach(vm, &options)
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

#[cfg(test)]
mod tests {
    /// The sources with functions that the VM calls.
    const SOURCES: [&str; 5] = [
        include_str!("mod.rs"),
        include_str!("callbacks.rs"),
        include_str!("lifecycle.rs"),
        include_str!("natives.rs"),
        include_str!("oracle.rs"),
    ];

    /// The bodies of all `extern` functions.
    fn bodies(source: &str) -> Vec<&str> {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let functions = code.split("extern \"").skip(1).filter_map(|rest| {
            let (_, rest) = rest.split_once("\" ")?;
            let (_, body) = rest.strip_prefix("fn ")?.split_once(" {")?;
            Some(body)
        });
        functions.collect()
    }

    #[test]
    fn every_entry_is_one_call_of_the_guard() {
        let bodies: Vec<&str> = SOURCES.into_iter().flat_map(bodies).collect();
        // Three of the agent, 13 callbacks, 14 natives, 5 of test builds.
        assert_eq!(bodies.len(), 35);
        for body in bodies {
            let is_guarded = body.trim_start().starts_with("enter(");
            // A callback that does nothing, because only its event must be on.
            let is_empty = body.starts_with('}');
            assert!(is_guarded || is_empty, "not guarded: {body}");
        }
    }
}
