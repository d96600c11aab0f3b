//! The natives for scopes, entries of observers and marks. Rules: those of [`super`].

use crate::entry::agent::agent;
use crate::entry::natives::labels::methods_of_labels;
use crate::entry::natives::support::{NULL, live, text};
use crate::events::{ScopeAnswer, ScopeTimes};
use crate::guard::{OnFailure, enter};
use crate::jvm::jni::{Jni, LocalRef};
use crate::labels;
use crate::network;
use jni::EnvUnowned;
use jni::objects::{JObject, JString};
use jni::sys::{jboolean, jint, jlong, jobject};

/// `native long scopeThreshold()`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_scopeThreshold(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jlong {
    enter(OnFailure::IgnoreAndCount, "scopeThreshold", -1, || {
        live().map_or(-1, |live| live.events.scope_threshold_nanos())
    })
}

/// `native int scopeClosed(long startNanos, long endNanos, int slots, int changed)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_scopeClosed(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
    start_nanos: jlong,
    end_nanos: jlong,
    slots: jint,
    changed: jint,
) -> jint {
    enter(OnFailure::IgnoreAndCount, "scopeClosed", 0, || {
        let scope = ScopeTimes {
            begin_nanos: start_nanos.cast_unsigned(),
            slots: slots.cast_unsigned(),
            changed: changed.cast_unsigned(),
        };
        let answer = live().map_or(ScopeAnswer::Off, |live| {
            live.events.on_scope(end_nanos.cast_unsigned(), scope)
        });
        match answer {
            ScopeAnswer::Off => -1,
            ScopeAnswer::NotKept => 0,
            ScopeAnswer::Kept { is_redacted: true } => 1,
            ScopeAnswer::Kept { is_redacted: false } => 2,
        }
    })
}

/// `native void observePauses(boolean more)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_observePauses(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
    more: jboolean,
) {
    enter(OnFailure::IgnoreAndCount, "observePauses", (), || {
        if let Some(live) = live() {
            live.events.observe_pauses(more);
        }
    });
}

/// `native long[] takePauses()`: start and end of each.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_takePauses(
    env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jobject {
    enter(OnFailure::IgnoreAndCount, "takePauses", NULL, || {
        let (Some(live), Some(jni)) = (live(), Jni::of_native(&env)) else {
            return NULL;
        };
        let pauses = std::iter::from_fn(|| live.events.take_observed_pause());
        let times = pauses.flat_map(|pause| [pause.begin, pause.end].map(u64::cast_signed));
        let times: Vec<jlong> = times.collect();
        if times.is_empty() {
            return NULL;
        }
        let array = jni.new_long_array(&times);
        array.map_or(NULL, |array| array.raw())
    })
}

/// `native boolean observeNetwork(int kind, Function<Object, Consumer<Object>> observer,
/// boolean on)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_observeNetwork<'l>(
    env: EnvUnowned<'l>,
    _native: JObject<'l>,
    kind: jint,
    observer: JObject<'l>,
    on: jboolean,
) -> jboolean {
    enter(OnFailure::IgnoreAndCount, "observeNetwork", false, || {
        let (Some(live), Some(jni)) = (live(), Jni::of_native(&env)) else {
            return false;
        };
        LocalRef::of_native(&jni, &observer)
            .is_some_and(|observer| network::observe(live.jvmti, jni, kind, &observer, on))
    })
}

/// `native boolean prepareLabels()`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_prepareLabels(
    env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jboolean {
    enter(OnFailure::IgnoreAndCount, "prepareLabels", false, || {
        let prepare = |jni: &Jni| {
            let class = labels::prepare(jni)?;
            Some(jni.register_natives(&class, &methods_of_labels()))
        };
        let jni = live().and_then(|_| Jni::of_native(&env));
        jni.and_then(|jni| jni.with_local_frame(prepare)) == Some(true)
    })
}

/// `native void mark(String name, long startNanos, long endNanos)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_mark<'l>(
    mut env: EnvUnowned<'l>,
    _native: JObject<'l>,
    name: JString<'l>,
    start: jlong,
    end: jlong,
) {
    enter(OnFailure::IgnoreAndCount, "mark", (), || {
        if let (Some(live), Some(name)) = (live(), text(&mut env, &name)) {
            live.events
                .on_mark(name, start.cast_unsigned(), end.cast_unsigned());
        }
    });
}

/// `native long sampleNanos()`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_sampleNanos(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jlong {
    enter(OnFailure::IgnoreAndCount, "sampleNanos", 0, || {
        live().map_or(0, |live| live.sample_nanos().cast_signed())
    })
}

/// `native long[] milestones()`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_milestones(
    env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jobject {
    enter(OnFailure::IgnoreAndCount, "milestones", NULL, || {
        let (Some(agent), Some(jni)) = (agent(), Jni::of_native(&env)) else {
            return NULL;
        };
        let array = jni.new_long_array(&agent.milestones().map(u64::cast_signed));
        array.map_or(NULL, |array| array.raw())
    })
}
