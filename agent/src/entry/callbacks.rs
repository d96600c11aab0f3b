//! The event callbacks: each is one call of the guard and one of the module concerned.
//!
//! Rules:
//! 1. A callback runs on the thread concerned, in native state. Before the session exists it does
//!    nothing.
//! 2. The GC callbacks run at a safepoint on a VM thread without JNI: they use atomics and a fixed
//!    queue only.
//! 3. Class events are on only while a recording walks stacks.
//! 4. The environment and the references that the VM passes are valid for the calling thread
//!    during the callback.
//! 5. The name and the bytes of a class file are valid during the callback, and the places for new
//!    ones may be written.

#![expect(unsafe_code, reason = "boundary: what the VM calls")]

use crate::entry::agent::{agent, session};
use crate::entry::java_api;
use crate::entry::management;
use crate::guard::{OnFailure, enter};
use crate::jdk_events;
use crate::jvm::jni::{Jni, LocalRef};
use crate::jvm::jvmti::{Jvmti, MountCallbacks, Result};
use crate::jvm::method_ids;
use crate::labels;
use crate::network;
use crate::propagation;
use crate::session::api_copies;
use crate::session::components::Components;
use jni_sys::{JNIEnv, jclass, jint, jlong, jmethodID, jobject};
use jvmti_sys::{AddrLocationMap, Event, EventCallbacks, JvmtiEnv};
use std::ffi::{CStr, c_char, c_void};

/// Callback of VMInit.
type VmInit = unsafe extern "system" fn(JvmtiEnv, *mut JNIEnv, jobject);
/// Callback of VMDeath.
type VmDeath = unsafe extern "system" fn(JvmtiEnv, *mut JNIEnv);

/// Sets all callbacks and enables the ones that are always on.
pub(crate) fn install(jvmti: Jvmti, vm_init: VmInit, vm_death: VmDeath) -> Result<()> {
    let callbacks = EventCallbacks::NONE
        .vm_init(vm_init)
        .vm_death(vm_death)
        .thread_start(thread_start)
        .thread_end(thread_end)
        .class_file_load_hook(class_file_load_hook)
        .class_load(class_load)
        .class_prepare(class_prepare)
        .native_method_bind(native_method_bind)
        .compiled_method_load(compiled_method_load)
        .garbage_collection_start(gc_start)
        .garbage_collection_finish(gc_finish)
        .sampled_object_alloc(sampled_object_alloc)
        .monitor_contended_enter(monitor_contended_enter)
        .monitor_contended_entered(monitor_contended_entered);
    jvmti.set_callbacks(&callbacks)?;
    for event in [
        Event::VM_INIT,
        Event::VM_DEATH,
        Event::THREAD_START,
        Event::THREAD_END,
    ] {
        jvmti.notify(event, true)?;
    }
    Ok(())
}

/// The callbacks of mount events, which are on only where no table contains the ids of virtual
/// threads.
pub(crate) const MOUNTS: MountCallbacks = MountCallbacks { mounted, unmounted };

/// Runs on the carrier, with the virtual thread as the current thread. It must not block: the
/// thread is in transition.
unsafe extern "C" fn mounted(_: JvmtiEnv, env: *mut JNIEnv, thread: jobject) {
    enter(OnFailure::IgnoreAndCount, "VirtualThreadMount", (), || {
        // SAFETY: rule 4.
        if let Some((live, jni)) = unsafe { current(env) } {
            // SAFETY: rule 4.
            let thread = unsafe { LocalRef::new(&jni, thread) };
            live.threads.set_mounted(jni, thread.as_ref());
        }
    });
}

unsafe extern "C" fn unmounted(_: JvmtiEnv, env: *mut JNIEnv, _: jobject) {
    enter(
        OnFailure::IgnoreAndCount,
        "VirtualThreadUnmount",
        (),
        || {
            // SAFETY: rule 4.
            if let Some((live, jni)) = unsafe { current(env) } {
                live.threads.set_mounted(jni, None);
            }
        },
    );
}

unsafe extern "system" fn thread_start(_: JvmtiEnv, env: *mut JNIEnv, thread: jobject) {
    enter(OnFailure::IgnoreAndCount, "ThreadStart", (), || {
        // SAFETY: rule 4.
        if let Some((live, jni)) = unsafe { current(env) }
            // SAFETY: rule 4.
            && let Some(thread) = unsafe { LocalRef::new(&jni, thread) }
        {
            live.threads.register_current(jni, &thread, live.signal());
            propagation::begun(jni, &thread);
        }
    });
}

unsafe extern "system" fn thread_end(_: JvmtiEnv, env: *mut JNIEnv, _: jobject) {
    enter(OnFailure::IgnoreAndCount, "ThreadEnd", (), || {
        // SAFETY: rule 4.
        if let Some((live, jni)) = unsafe { current(env) } {
            live.threads.unregister_current(jni, live.signal());
        }
    });
}

/// Empty: AsyncGetCallTrace needs the event to be on.
unsafe extern "system" fn class_load(_: JvmtiEnv, _: *mut JNIEnv, _: jobject, _: jclass) {}

/// Empty: that the event is on makes debug information exact.
unsafe extern "system" fn compiled_method_load(
    _: JvmtiEnv,
    _: jmethodID,
    _: jint,
    _: *const c_void,
    _: jint,
    _: *const AddrLocationMap,
    _: *const c_void,
) {
}

/// Replaces the bytes of a class that gets hooks: one of the JDK, or of a library.
unsafe extern "system" fn class_file_load_hook(
    _: JvmtiEnv,
    env: *mut JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _: jobject,
    length: jint,
    bytes: *const u8,
    new_length: *mut jint,
    new_bytes: *mut *mut u8,
) {
    enter(OnFailure::IgnoreAndCount, "ClassFileLoadHook", (), || {
        if name.is_null() {
            return;
        }
        // SAFETY: rule 5.
        let name = unsafe { CStr::from_ptr(name) };
        let length = usize::try_from(length).unwrap_or(0);
        // SAFETY: rule 5.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
        let Ok(name) = name.to_str() else { return };
        let patched = if loader.is_null() {
            propagation::patched(name, bytes)
                .or_else(|| network::patched(name, bytes))
                .or_else(|| jdk_events::patched(name, bytes))
        } else {
            None
        };
        // SAFETY: rule 4.
        let patched =
            patched.or_else(|| unsafe { of_library(env, redefined, loader, name, bytes) });
        if let (Some(patched), Some(agent)) = (patched, agent())
            && let Ok(length) = jint::try_from(patched.len())
            && let Ok(copy) = agent.jvmti.copy_bytes(&patched)
        {
            // SAFETY: rule 5.
            unsafe { new_length.write(length) };
            // SAFETY: rule 5.
            unsafe { new_bytes.write(copy) };
        }
    });
}

/// A class of a library, with the hooks of `labels`.
///
/// # Safety
/// The arguments of the callback.
unsafe fn of_library(
    env: *mut JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: &str,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    // SAFETY: rule 4.
    let jni = unsafe { Jni::new(env) }?;
    // SAFETY: rule 4.
    let loader = unsafe { LocalRef::new(&jni, loader) };
    if redefined.is_null() {
        labels::patched_at_load(jni, loader.as_ref(), name, bytes)
    } else {
        labels::patched(jni, loader.as_ref(), name, bytes)
    }
}

unsafe extern "system" fn class_prepare(_: JvmtiEnv, env: *mut JNIEnv, _: jobject, class: jclass) {
    enter(OnFailure::IgnoreAndCount, "ClassPrepare", (), || {
        // SAFETY: rule 4.
        if let (Some(agent), Some(jni)) = (agent(), unsafe { Jni::new(env) })
            // SAFETY: rule 4.
            && let Some(class) = unsafe { LocalRef::new(&jni, class) }
        {
            method_ids::on_class_prepare(agent.jvmti, &class);
            labels::on_class_prepare(agent.jvmti, jni, &class);
            if let Ok(signature) = agent.jvmti.class_signature(&class) {
                api_copies::check_class(&signature);
                java_api::on_class_prepare(jni, &class, &signature);
            }
        }
    });
}

unsafe extern "system" fn native_method_bind(
    _: JvmtiEnv,
    env: *mut JNIEnv,
    _: jobject,
    method: jmethodID,
    _: *mut c_void,
    _: *mut *mut c_void,
) {
    enter(OnFailure::IgnoreAndCount, "NativeMethodBind", (), || {
        // SAFETY: rule 4.
        if let (Some(agent), Some(jni)) = (agent(), unsafe { Jni::new(env) }) {
            management::on_native_method_bind(agent.jvmti, jni, method);
        }
    });
}

unsafe extern "system" fn gc_start(_: JvmtiEnv) {
    enter(
        OnFailure::IgnoreAndCount,
        "GarbageCollectionStart",
        (),
        || {
            if let Some(live) = live() {
                live.events.on_gc_start();
            }
        },
    );
}

unsafe extern "system" fn gc_finish(_: JvmtiEnv) {
    enter(
        OnFailure::IgnoreAndCount,
        "GarbageCollectionFinish",
        (),
        || {
            if let Some(live) = live() {
                live.events.on_gc_finish();
            }
        },
    );
}

unsafe extern "system" fn sampled_object_alloc(
    _: JvmtiEnv,
    env: *mut JNIEnv,
    _: jobject,
    _: jobject,
    class: jclass,
    size: jlong,
) {
    enter(OnFailure::IgnoreAndCount, "SampledObjectAlloc", (), || {
        // SAFETY: rule 4.
        if let Some((live, jni)) = unsafe { current(env) }
            // SAFETY: rule 4.
            && let Some(class) = unsafe { LocalRef::new(&jni, class) }
        {
            live.events
                .on_allocated(jni, &class, u64::try_from(size).unwrap_or(0));
        }
    });
}

unsafe extern "system" fn monitor_contended_enter(
    _: JvmtiEnv,
    env: *mut JNIEnv,
    _: jobject,
    _: jobject,
) {
    enter(
        OnFailure::IgnoreAndCount,
        "MonitorContendedEnter",
        (),
        || {
            // SAFETY: rule 4.
            if let Some((live, jni)) = unsafe { current(env) } {
                live.events.on_monitor_wait(jni);
            }
        },
    );
}

unsafe extern "system" fn monitor_contended_entered(
    _: JvmtiEnv,
    env: *mut JNIEnv,
    _: jobject,
    object: jobject,
) {
    enter(
        OnFailure::IgnoreAndCount,
        "MonitorContendedEntered",
        (),
        || {
            // SAFETY: rule 4.
            if let Some((live, jni)) = unsafe { current(env) }
                // SAFETY: rule 4.
                && let Some(object) = unsafe { LocalRef::new(&jni, object) }
            {
                live.events.on_monitor_entered(jni, &object);
            }
        },
    );
}

/// The components and the environment of a callback, once the VM is up.
///
/// # Safety
/// As [`Jni::new`].
unsafe fn current(env: *mut JNIEnv) -> Option<(&'static Components, Jni)> {
    // SAFETY: rule 4, which the caller upholds.
    let jni = unsafe { Jni::new(env) };
    live().zip(jni)
}

fn live() -> Option<&'static Components> {
    Some(&session()?.components)
}
