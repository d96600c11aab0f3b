//! The entry points of the agent library.
//!
//! Rules:
//! 1. Each entry point is one call of the guard.
//! 2. A failure to start is one line on standard error and a running JVM, unless the user set
//!    `strict=true`.
//! 3. The library is never unloaded, so unload only ends the recording.
//! 4. Only the VM calls the entry points. It lives as long as the process, and passes a valid VM
//!    and null or a C string.

#![expect(unsafe_code, reason = "boundary: what the VM calls")]

pub(crate) mod agent;
pub(crate) mod callbacks;
pub(crate) mod commands;
mod event_sink;
mod java_api;
pub(crate) mod lifecycle;
mod loader;
mod management;
pub(crate) mod natives;
#[cfg(feature = "oracle")]
pub(crate) mod oracle;
mod reply;
mod status;

use crate::guard::{OnFailure, enter};
use crate::jvm::jni::Vm;
use jni_sys::{JavaVM, jint};
use std::ffi::{CStr, c_char, c_void};

/// The VM calls this for `-agentpath`, before Java starts.
///
/// # Safety
/// Rule 4.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _reserved: *mut c_void,
) -> jint {
    enter(OnFailure::DisableAgent, "Agent_OnLoad", 0, || {
        // SAFETY: rule 4.
        let options = unsafe { text(options) };
        // SAFETY: rule 4.
        let vm = unsafe { Vm::new(vm) };
        lifecycle::on_load(vm, &options)
    })
}

/// The VM calls this at each attach.
///
/// # Safety
/// Rule 4.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _reserved: *mut c_void,
) -> jint {
    enter(OnFailure::DisableAgent, "Agent_OnAttach", 3, || {
        // SAFETY: rule 4.
        let options = unsafe { text(options) };
        // SAFETY: rule 4.
        let vm = unsafe { Vm::new(vm) };
        lifecycle::on_attach(vm, &options)
    })
}

/// The VM calls this if Java code loads the library, as that of `ctxagent.jar` does.
///
/// # Safety
/// Rule 4.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_OnLoad(vm: *mut JavaVM, _reserved: *mut c_void) -> jint {
    enter(
        OnFailure::DisableAgent,
        "JNI_OnLoad",
        jni_sys::JNI_ERR,
        || {
            // SAFETY: rule 4.
            let vm = unsafe { Vm::new(vm) };
            loader::on_load(vm)
        },
    )
}

/// The VM calls this at its end.
///
/// # Safety
/// Rule 4.
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
/// `options` is null or a C string.
unsafe fn text(options: *const c_char) -> String {
    if options.is_null() {
        return String::new();
    }
    // SAFETY: rule 4.
    unsafe { CStr::from_ptr(options) }
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    /// The sources of functions that the VM calls.
    const SOURCES: [&str; 8] = [
        include_str!("entry.rs"),
        include_str!("entry/callbacks.rs"),
        include_str!("entry/lifecycle.rs"),
        include_str!("entry/loader.rs"),
        include_str!("entry/natives/blocks.rs"),
        include_str!("entry/natives/labels.rs"),
        include_str!("entry/natives/observing.rs"),
        include_str!("entry/oracle.rs"),
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
    fn every_exported_native_can_be_registered() {
        let natives = SOURCES
            .iter()
            .filter(|source| source.starts_with("//! The natives "));
        let exported = natives.map(|source| source.matches("fn Java_io_ctxagent_").count());
        let exported: usize = exported.sum();
        let registered =
            super::natives::methods().len() + super::natives::methods_of_labels().len();
        assert_eq!(registered + super::loader::methods().len(), exported);
    }

    #[test]
    fn every_entry_is_one_call_of_the_guard() {
        let bodies: Vec<&str> = SOURCES.into_iter().flat_map(bodies).collect();
        // 4 entry points, 16 callbacks, 33 natives, 5 natives of test builds.
        assert_eq!(bodies.len(), 58);
        for body in bodies {
            let is_guarded = body.trim_start().starts_with("enter(");
            // A callback whose event must be on, but which does nothing.
            let is_empty = body.trim_start().starts_with('}');
            assert!(is_guarded || is_empty, "not guarded: {body}");
        }
    }
}
