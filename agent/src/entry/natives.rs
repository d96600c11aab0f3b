//! The natives of `io.ctxagent.internal.agent.Native`, bound by name; the interface `Agent` beside
//! it describes them. And those of `io.ctxagent.labels.Labels`.
//!
//! Rules:
//! 1. Each native is one call of the guard, with its failure policy. A panic or JNI error gives the
//!    default value, which means "no context" to Java. Only `execute` throws.
//! 2. No native is on the hot path: they run once per key, per
//!    distinct value or per thread, on misuse, or as a command.
//! 3. [`Jni`] creates all Java objects, see there. `null` means "not now" to Java.
//! 4. The exported symbols are those of `Native` and `Labels`, which no other library defines.

#![expect(unsafe_code, reason = "boundary: what the VM calls")]
#![expect(
    unreachable_pub,
    reason = "the JVM finds natives by name in the dynamic symbol table"
)]

use crate::entry::agent::{agent, session};
use crate::entry::commands::{self, Refusal};
use crate::events::{LateValue, ScopeAnswer, ScopeTimes};
use crate::guard::{OnFailure, enter};
use crate::hotspot::layout;
use crate::jvm::direct_memory::{self, Accessed};
use crate::jvm::jni::{Jni, LocalRef};
use crate::labels;
use crate::metrics;
use crate::network;
use crate::os::slab;
use crate::propagation;
use crate::registry::Description;
use crate::session::api_copies;
use crate::session::components::Components;
use jni::EnvUnowned;
use jni::errors::LogErrorAndDefault;
use jni::objects::{JObject, JObjectArray, JString};
use jni::sys::{jboolean, jint, jlong, jobject};
use signal_core::layout as block;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

/// Version of the contract.
const ABI: jint = 7;
/// `layout()[13]`: `Thread.threadId()` is the key.
const KEY_THREAD_ID: i64 = 0;
/// `layout()[13]`: where the slab is a buffer, `currentThreadKey()` is the key, in a `ThreadLocal`
/// (17: code may override `getId()`).
const KEY_NATIVE: i64 = 1;
/// `bindKey()`: no slot is free.
const NO_SLOT: jint = -1;
const NULL: jobject = ptr::null_mut();

fn live() -> Option<&'static Components> {
    Some(&session()?.components)
}

/// `native int abi()`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_abi(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jint {
    enter(OnFailure::IgnoreAndCount, "abi", 0, || {
        if live().is_some() { ABI } else { 0 }
    })
}

/// `native void refused(int wanted)`: the API has another version of the contract, so contexts are
/// off.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_refused(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
    wanted: jint,
) {
    enter(OnFailure::IgnoreAndCount, "refused", (), || {
        api_copies::refuse_contract(wanted, ABI);
    });
}

/// `native long[] layout()`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_layout(
    env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jobject {
    enter(OnFailure::IgnoreAndCount, "layout", NULL, || {
        let jni = Jni::of_native(&env);
        let array = jni.as_ref().and_then(|jni| jni.new_long_array(&numbers()));
        array.map_or(NULL, |array| array.raw())
    })
}

fn numbers() -> [jlong; 22] {
    let mut numbers = block::numbers();
    if let (Some(agent), Some(live)) = (agent(), live()) {
        numbers[1] = i64::try_from(live.handler.blocks.len()).unwrap_or(0);
        numbers[13] = if live.identity.feature < 19 {
            KEY_NATIVE
        } else {
            KEY_THREAD_ID
        };
        numbers[14] = i64::from(agent.options.value_limit_bytes);
    }
    numbers
}

/// `native ByteBuffer slab()`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_slab(
    env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jobject {
    enter(OnFailure::IgnoreAndCount, "slab", NULL, || {
        let (Some(live), Some(jni)) = (live(), Jni::of_native(&env)) else {
            return NULL;
        };
        // The slab stays mapped as long as the process lives, and its readers trust no word of it.
        let (base, len) = live.handler.blocks.memory();
        let buffer = jni.new_direct_buffer(base, len);
        buffer.map_or(NULL, |buffer| buffer.raw())
    })
}

/// `native int bindKey(String name)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_bindKey<'l>(
    mut env: EnvUnowned<'l>,
    _native: JObject<'l>,
    name: JString<'l>,
) -> jint {
    enter(OnFailure::IgnoreAndCount, "bindKey", NO_SLOT, || {
        let Some(name) = text(&mut env, &name) else {
            return NO_SLOT;
        };
        api_copies::is_served();
        let slot = live().and_then(|live| live.registry.bind(&name));
        slot.map_or(NO_SLOT, |slot| i32::try_from(slot).unwrap_or(NO_SLOT))
    })
}

/// `native int[] bindKeys(String[] names)`: the slots of all names, or null with nothing bound.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_bindKeys<'l>(
    mut env: EnvUnowned<'l>,
    _native: JObject<'l>,
    names: JObjectArray<'l, JString<'l>>,
) -> jobject {
    enter(OnFailure::IgnoreAndCount, "bindKeys", NULL, || {
        let Some(jni) = Jni::of_native(&env) else {
            return NULL;
        };
        let slots = texts(&mut env, &names).and_then(|names| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            api_copies::is_served();
            live()?.registry.bind_all(&names)
        });
        let numbers = |slots: Vec<usize>| -> Vec<jint> {
            let numbers = slots.into_iter().map(i32::try_from);
            numbers.filter_map(Result::ok).collect()
        };
        let array = slots.and_then(|slots| jni.new_int_array(&numbers(slots)));
        array.map_or(NULL, |array| array.raw())
    })
}

/// `native void describeAttribute(int slot, String label, String description, String contextType)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_describeAttribute<'l>(
    mut env: EnvUnowned<'l>,
    _native: JObject<'l>,
    slot: jint,
    label: JString<'l>,
    description: JString<'l>,
    context_type: JString<'l>,
) {
    enter(OnFailure::IgnoreAndCount, "describeAttribute", (), || {
        let mut text = |string| text(&mut env, string);
        if let (Some(label), Some(description), Some(context_type)) =
            (text(&label), text(&description), text(&context_type))
            && let (Some(live), Ok(slot)) = (live(), usize::try_from(slot))
        {
            let description = Description {
                label,
                text: description,
                context_type,
            };
            live.registry.describe(slot, description);
        }
    });
}

/// `native void filterWithoutContext(int mask)`: the event types to record for threads without a
/// context.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_filterWithoutContext(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
    mask: jint,
) {
    enter(
        OnFailure::IgnoreAndCount,
        "filterWithoutContext",
        (),
        || {
            if let Some(live) = live() {
                live.handler
                    .filter
                    .set_without_context(mask.cast_unsigned());
            }
        },
    );
}

/// `native int intern(int slot, String value)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_intern<'l>(
    mut env: EnvUnowned<'l>,
    _native: JObject<'l>,
    _slot: jint,
    value: JString<'l>,
) -> jint {
    enter(OnFailure::IgnoreAndCount, "intern", 0, || {
        let id = text(&mut env, &value).and_then(|value| live()?.registry.intern(&value));
        id.map_or(0, u32::cast_signed)
    })
}

/// `native String attribute(int slot)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_attribute(
    env: EnvUnowned<'_>,
    _native: JObject<'_>,
    slot: jint,
) -> jobject {
    enter(OnFailure::IgnoreAndCount, "attribute", NULL, || {
        let slot = usize::try_from(slot).ok();
        let name = slot.and_then(|slot| live()?.registry.names_from(slot).first().cloned());
        new_string(&env, name.as_deref())
    })
}

/// `native String value(int id)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_value(
    env: EnvUnowned<'_>,
    _native: JObject<'_>,
    id: jint,
) -> jobject {
    enter(OnFailure::IgnoreAndCount, "value", NULL, || {
        let text = live().and_then(|live| live.registry.value(id.cast_unsigned()));
        new_string(&env, text.as_deref())
    })
}

fn new_string(env: &EnvUnowned<'_>, text: Option<&str>) -> jobject {
    let jni = Jni::of_native(env);
    let string = jni
        .as_ref()
        .zip(text)
        .and_then(|(jni, text)| jni.new_string(text));
    string.map_or(NULL, |string| string.raw())
}

/// `native long currentThreadKey()`: Java id of the calling platform thread, from the field, which
/// no subclass can override.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_currentThreadKey(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jlong {
    enter(OnFailure::IgnoreAndCount, "currentThreadKey", 0, || {
        let Some(live) = live() else { return 0 };
        let tid = crate::os::thread::current_tid();
        live.handler
            .records
            .by_os_tid(tid)
            .map_or(0, |record| record.java_tid.load(Relaxed))
    })
}

/// `native boolean verifyVirtual(long threadId)`: whether the handler reads the correct id of the
/// calling virtual thread; if not, mount events replace the table. Java calls this on the first
/// virtual thread that opens a scope, before it publishes the block.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_verifyVirtual(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
    thread_id: jlong,
) -> jboolean {
    enter(OnFailure::IgnoreAndCount, "verifyVirtual", false, || {
        live().is_some_and(|live| live.virtual_threads.verify(thread_id))
    })
}

/// `native boolean openMemory(Module module)`: makes `DirectMemory` usable for the module of the
/// Java API. It checks each block once, where a buffer checks each access.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_openMemory<'l>(
    env: EnvUnowned<'l>,
    _native: JObject<'l>,
    module: JObject<'l>,
) -> jboolean {
    enter(OnFailure::IgnoreAndCount, "openMemory", false, || {
        let (Some(live), Some(jni)) = (live(), Jni::of_native(&env)) else {
            return false;
        };
        let (base, bytes) = live.handler.blocks.memory();
        let accessed = Accessed {
            slab: (base, slab::span(bytes)),
            counters: layout::allocation_counters(),
        };
        LocalRef::of_native(&jni, &module)
            .is_some_and(|module| direct_memory::open(live.jvmti, jni, accessed, &module))
    })
}

/// `native boolean wantsTasks()`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_wantsTasks(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jboolean {
    enter(
        OnFailure::IgnoreAndCount,
        "wantsTasks",
        false,
        propagation::is_wanted,
    )
}

/// `native void carryTasks(BinaryOperator<Object> carrier)`: the API is in use and can give tasks
/// their context.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_carryTasks<'l>(
    env: EnvUnowned<'l>,
    _native: JObject<'l>,
    carrier: JObject<'l>,
) {
    enter(OnFailure::IgnoreAndCount, "carryTasks", (), || {
        if live().is_some()
            && let Some(jni) = Jni::of_native(&env)
            && let Some(carrier) = LocalRef::of_native(&jni, &carrier)
        {
            propagation::set_carrier(jni, &carrier);
        }
    });
}

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

/// `native void count(int event)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_count(
    _env: EnvUnowned<'_>,
    _native: JObject<'_>,
    event: jint,
) {
    enter(OnFailure::IgnoreAndCount, "count", (), || {
        metrics::count_misuse(event);
    });
}

/// `native String execute(String options)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_execute<'l>(
    mut env: EnvUnowned<'l>,
    _native: JObject<'l>,
    options: JString<'l>,
) -> jobject {
    enter(OnFailure::IgnoreAndCount, "execute", NULL, || {
        let (Some(jni), Some(text)) = (Jni::of_native(&env), text(&mut env, &options)) else {
            return NULL;
        };
        let answer = match agent() {
            Some(agent) => commands::execute(agent, &text),
            None => Err(Refusal::State("the agent is not loaded".into())),
        };
        match answer {
            Ok(answer) => jni.new_string(&answer).map_or(NULL, |text| text.raw()),
            Err(refusal) => {
                throw(jni, &refusal);
                NULL
            }
        }
    })
}

/// `static native byte[] classFile(String name)` of `io.ctxagent.labels.Labels`, which the agent
/// brings along.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_labels_Labels_classFile<'l>(
    mut env: EnvUnowned<'l>,
    _labels: JObject<'l>,
    name: JString<'l>,
) -> jobject {
    enter(OnFailure::IgnoreAndCount, "classFile", NULL, || {
        let name = text(&mut env, &name).map(|name| name.replace('.', "/"));
        let bytes = name.and_then(|name| labels::class_file(&name));
        let jni = Jni::of_native(&env);
        let array = jni.as_ref().and_then(|jni| jni.new_byte_array(&bytes?));
        array.map_or(NULL, |array| array.raw())
    })
}

/// `static native void report(int source, String why)` of `io.ctxagent.labels.Labels`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_labels_Labels_report<'l>(
    mut env: EnvUnowned<'l>,
    _labels: JObject<'l>,
    source: jint,
    why: JString<'l>,
) {
    enter(OnFailure::IgnoreAndCount, "report", (), || {
        let why = text(&mut env, &why).unwrap_or_default();
        labels::report(source.cast_unsigned(), &why);
    });
}

/// `public static native void late(int slot, int before, long since)` of
/// `io.ctxagent.labels.Labels`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_labels_Labels_late(
    _env: EnvUnowned<'_>,
    _labels: JObject<'_>,
    slot: jint,
    before: jint,
    since: jlong,
) {
    enter(OnFailure::IgnoreAndCount, "late", (), || {
        if let (Some(live), Ok(slot)) = (live(), usize::try_from(slot)) {
            live.events.on_late_label(LateValue {
                slot,
                before: before.cast_unsigned(),
                begin_nanos: since.cast_unsigned(),
            });
        }
    });
}

/// The text of a Java string; `None` after a JNI error.
pub(super) fn text<'l>(env: &mut EnvUnowned<'l>, string: &JString<'l>) -> Option<String> {
    with_env(env, |env| string.try_to_string(env).map(Some))
}

/// The same for an array.
fn texts<'l>(
    env: &mut EnvUnowned<'l>,
    strings: &JObjectArray<'l, JString<'l>>,
) -> Option<Vec<String>> {
    with_env(env, |env| {
        let mut texts = Vec::new();
        for index in 0..strings.len(env)? {
            texts.push(strings.get_element(env, index)?.try_to_string(env)?);
        }
        Ok(Some(texts))
    })
}

/// Runs `body` with an environment of the `jni` crate; a JNI error gives the default. That crate
/// catches panics without counting them, so this passes them to the guard.
fn with_env<'l, T: Default>(
    env: &mut EnvUnowned<'l>,
    body: impl FnOnce(&mut jni::Env<'l>) -> jni::errors::Result<T>,
) -> T {
    let mut panic = None;
    let value = env
        .with_env(|env| {
            catch_unwind(AssertUnwindSafe(|| body(env))).unwrap_or_else(|caught| {
                panic = Some(caught);
                Ok(T::default())
            })
        })
        .resolve::<LogErrorAndDefault>();
    match panic {
        Some(caught) => resume_unwind(caught),
        None => value,
    }
}

/// A native to be registered.
pub(super) fn method(
    name: &'static CStr,
    signature: &'static CStr,
    address: *const (),
) -> jni_sys::JNINativeMethod {
    jni_sys::JNINativeMethod {
        name: name.as_ptr().cast_mut(),
        signature: signature.as_ptr().cast_mut(),
        fnPtr: address.cast_mut().cast(),
    }
}

/// Natives to be registered: name and signature in Java, function.
macro_rules! methods {
    ($($name:literal $signature:literal $function:ident;)*) => {
        vec![$(method($name, $signature, $function as *const ())),*]
    };
}

/// Those of `Labels`.
pub(crate) fn methods_of_labels() -> Vec<jni_sys::JNINativeMethod> {
    methods! {
        c"classFile" c"(Ljava/lang/String;)[B" Java_io_ctxagent_labels_Labels_classFile;
        c"report" c"(ILjava/lang/String;)V" Java_io_ctxagent_labels_Labels_report;
        c"late" c"(IIJ)V" Java_io_ctxagent_labels_Labels_late;
    }
}

/// That of the managed bean.
pub(crate) fn methods_of_management() -> Vec<jni_sys::JNINativeMethod> {
    methods! {
        c"execute" c"(Ljava/lang/String;)Ljava/lang/String;" Java_io_ctxagent_internal_agent_Native_execute;
    }
}

/// Those of `Native`. While `Agent_OnAttach` runs, the VM does not find them by name.
pub(crate) fn methods() -> Vec<jni_sys::JNINativeMethod> {
    methods! {
        c"abi" c"()I" Java_io_ctxagent_internal_agent_Native_abi;
        c"refused" c"(I)V" Java_io_ctxagent_internal_agent_Native_refused;
        c"layout" c"()[J" Java_io_ctxagent_internal_agent_Native_layout;
        c"slab" c"()Ljava/nio/ByteBuffer;" Java_io_ctxagent_internal_agent_Native_slab;
        c"bindKey" c"(Ljava/lang/String;)I" Java_io_ctxagent_internal_agent_Native_bindKey;
        c"bindKeys" c"([Ljava/lang/String;)[I" Java_io_ctxagent_internal_agent_Native_bindKeys;
        c"describeAttribute" c"(ILjava/lang/String;Ljava/lang/String;Ljava/lang/String;)V" Java_io_ctxagent_internal_agent_Native_describeAttribute;
        c"filterWithoutContext" c"(I)V" Java_io_ctxagent_internal_agent_Native_filterWithoutContext;
        c"intern" c"(ILjava/lang/String;)I" Java_io_ctxagent_internal_agent_Native_intern;
        c"attribute" c"(I)Ljava/lang/String;" Java_io_ctxagent_internal_agent_Native_attribute;
        c"value" c"(I)Ljava/lang/String;" Java_io_ctxagent_internal_agent_Native_value;
        c"currentThreadKey" c"()J" Java_io_ctxagent_internal_agent_Native_currentThreadKey;
        c"verifyVirtual" c"(J)Z" Java_io_ctxagent_internal_agent_Native_verifyVirtual;
        c"openMemory" c"(Ljava/lang/Module;)Z" Java_io_ctxagent_internal_agent_Native_openMemory;
        c"wantsTasks" c"()Z" Java_io_ctxagent_internal_agent_Native_wantsTasks;
        c"carryTasks" c"(Ljava/util/function/BinaryOperator;)V" Java_io_ctxagent_internal_agent_Native_carryTasks;
        c"scopeThreshold" c"()J" Java_io_ctxagent_internal_agent_Native_scopeThreshold;
        c"scopeClosed" c"(JJII)I" Java_io_ctxagent_internal_agent_Native_scopeClosed;
        c"observePauses" c"(Z)V" Java_io_ctxagent_internal_agent_Native_observePauses;
        c"takePauses" c"()[J" Java_io_ctxagent_internal_agent_Native_takePauses;
        c"observeNetwork" c"(ILjava/util/function/Function;Z)Z" Java_io_ctxagent_internal_agent_Native_observeNetwork;
        c"mark" c"(Ljava/lang/String;JJ)V" Java_io_ctxagent_internal_agent_Native_mark;
        c"sampleNanos" c"()J" Java_io_ctxagent_internal_agent_Native_sampleNanos;
        c"milestones" c"()[J" Java_io_ctxagent_internal_agent_Native_milestones;
        c"count" c"(I)V" Java_io_ctxagent_internal_agent_Native_count;
        c"execute" c"(Ljava/lang/String;)Ljava/lang/String;" Java_io_ctxagent_internal_agent_Native_execute;
    }
}

pub(super) fn throw(jni: Jni, refusal: &Refusal) {
    let message = jni::strings::JNIString::from(refusal.line());
    let class = match refusal {
        Refusal::Option(_) => c"java/lang/IllegalArgumentException",
        Refusal::State(_) | Refusal::Unusable(_) => c"java/lang/IllegalStateException",
    };
    jni.throw(class, message.as_cstr());
}
