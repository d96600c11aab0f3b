//! The event callbacks: each is `boundary::enter` and one call.
//!
//! Rules: (1) callbacks run on the thread concerned, in native state, before `Agent::live` exists too: then they do nothing; (2) those of the garbage
//! collector run at a safepoint on a VM thread without JNI: atomics and a fixed queue; (3) class events are on only while a recording walks stacks.

use crate::entry::agent::{Agent, Live, agent};
use crate::entry::api_copies;
use crate::entry::lifecycle;
use crate::events;
use crate::guard::{OnFailure, enter};
use crate::jvm::jni::Jni;
use crate::jvm::jvmti::{Jvmti, Result};
use crate::jvm::method_ids;
use crate::options::Options;
use jfr_format::planted;
use jni_sys::{JNIEnv, jclass, jlong, jobject};
use jvmti_sys::{Event, EventCallbacks, JvmtiEnv};
use std::sync::atomic::Ordering::Relaxed;

/// Sets all callbacks and enables the ones that are always on.
pub(crate) fn install(jvmti: Jvmti) -> Result<()> {
    let callbacks = EventCallbacks::NONE
        .vm_init(vm_init)
        .vm_death(vm_death)
        .thread_start(thread_start)
        .thread_end(thread_end)
        .class_load(class_load)
        .class_prepare(class_prepare)
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

/// Events that a recording with stacks needs: AsyncGetCallTrace answers nothing unless ClassLoad is on.
pub(crate) fn watch_classes(jvmti: Jvmti, on: bool) -> Result<()> {
    [Event::CLASS_LOAD, Event::CLASS_PREPARE]
        .into_iter()
        .try_for_each(|event| jvmti.notify(event, on))
}

/// Has the VM tell of each mount of a virtual thread: the last resort, see `vthreads=events`. For the life of the VM.
pub(crate) fn watch_mounts(jvmti: Jvmti) -> Result<()> {
    jvmti.support_virtual_threads()?;
    jvmti.watch_extension(c"com.sun.hotspot.events.VirtualThreadMount", mounted)?;
    jvmti.watch_extension(c"com.sun.hotspot.events.VirtualThreadUnmount", unmounted)
}

/// On the carrier, the virtual thread being the current one already. Must not block: the thread is between two states.
unsafe extern "C" fn mounted(_: JvmtiEnv, env: *mut JNIEnv, thread: jobject) {
    enter(OnFailure::IgnoreAndCount, "VirtualThreadMount", (), || {
        if let (Some((_, live)), Some(jni)) = (live(), Jni::new(env)) {
            live.threads.mounted(jni, Some(thread));
        }
    });
}

unsafe extern "C" fn unmounted(_: JvmtiEnv, env: *mut JNIEnv, _: jobject) {
    enter(
        OnFailure::IgnoreAndCount,
        "VirtualThreadUnmount",
        (),
        || {
            if let (Some((_, live)), Some(jni)) = (live(), Jni::new(env)) {
                live.threads.mounted(jni, None);
            }
        },
    );
}

unsafe extern "system" fn vm_init(_: JvmtiEnv, env: *mut JNIEnv, thread: jobject) {
    enter(OnFailure::DisableAgent, "VMInit", (), || {
        if let Some(jni) = Jni::new(env) {
            lifecycle::on_vm_init(jni, thread);
        }
    });
}

unsafe extern "system" fn vm_death(_: JvmtiEnv, _: *mut JNIEnv) {
    enter(OnFailure::IgnoreAndCount, "VMDeath", (), lifecycle::on_end);
}

unsafe extern "system" fn thread_start(_: JvmtiEnv, env: *mut JNIEnv, thread: jobject) {
    enter(OnFailure::IgnoreAndCount, "ThreadStart", (), || {
        if let (Some((agent, live)), Some(jni)) = (live(), Jni::new(env)) {
            live.threads
                .register_current(jni, thread, agent.signal.load(Relaxed));
            if planted::is("waits-for-writer") {
                let _ = agent.session.dump(&Options::default());
            }
        }
    });
}

unsafe extern "system" fn thread_end(_: JvmtiEnv, env: *mut JNIEnv, _: jobject) {
    enter(OnFailure::IgnoreAndCount, "ThreadEnd", (), || {
        if let (Some((agent, live)), Some(jni)) = (live(), Jni::new(env)) {
            live.threads
                .unregister_current(jni, agent.signal.load(Relaxed));
        }
    });
}

/// Empty: that the event is on is what matters.
unsafe extern "system" fn class_load(_: JvmtiEnv, _: *mut JNIEnv, _: jobject, _: jclass) {}

unsafe extern "system" fn class_prepare(_: JvmtiEnv, _: *mut JNIEnv, _: jobject, class: jclass) {
    enter(OnFailure::IgnoreAndCount, "ClassPrepare", (), || {
        if let Some(agent) = agent() {
            method_ids::prepared(agent.jvmti, class);
            if let Ok(signature) = agent.jvmti.class_signature(class) {
                api_copies::look_at(&signature);
            }
        }
    });
}

unsafe extern "system" fn gc_start(_: JvmtiEnv) {
    enter(
        OnFailure::IgnoreAndCount,
        "GarbageCollectionStart",
        (),
        || {
            if let Some((_, live)) = live() {
                events::pause_begins(live);
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
            if let Some((_, live)) = live() {
                events::pause_ends(live);
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
        if let (Some((agent, live)), Some(jni)) = (live(), Jni::new(env)) {
            events::allocated(agent, live, jni, class, u64::try_from(size).unwrap_or(0));
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
            if let (Some((agent, live)), Some(jni)) = (live(), Jni::new(env)) {
                events::blocked(agent, live, jni);
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
            if let (Some((agent, live)), Some(jni)) = (live(), Jni::new(env)) {
                events::entered(agent, live, jni, object);
            }
        },
    );
}

fn live() -> Option<(&'static Agent, &'static Live)> {
    let agent = agent()?;
    Some((agent, agent.live()?))
}
