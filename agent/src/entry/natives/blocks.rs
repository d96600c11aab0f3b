//! The natives for context blocks, keys and values, tasks, and commands. Rules: those of [`super`].

use crate::entry::agent::agent;
use crate::entry::commands::{self, Refusal};
use crate::entry::natives::support::{NULL, answer, live, text, texts};
use crate::guard::{OnFailure, enter};
use crate::hotspot::layout;
use crate::jvm::direct_memory::{self, Accessed};
use crate::jvm::jni::{Jni, LocalRef};
use crate::metrics;
use crate::os::slab;
use crate::propagation;
use crate::registry::Description;
use crate::session::api_copies;
use jni::EnvUnowned;
use jni::objects::{JObject, JObjectArray, JString};
use jni::sys::{jboolean, jint, jlong, jobject};
use signal_core::layout as block;
use std::sync::atomic::Ordering::Relaxed;

/// Version of the contract.
const ABI: jint = 9;
/// `layout()[13]`: `Thread.threadId()` is the key.
const KEY_THREAD_ID: i64 = 0;
/// `layout()[13]`: where the slab is a buffer, `currentThreadKey()` is the key, in a `ThreadLocal`
/// (17: code may override `getId()`).
const KEY_NATIVE: i64 = 1;
/// `bindKey()`: no slot is free.
const NO_SLOT: jint = -1;
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

/// `native void failed(String why)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_failed<'l>(
    mut env: EnvUnowned<'l>,
    _native: JObject<'l>,
    why: JString<'l>,
) {
    enter(OnFailure::IgnoreAndCount, "failed", (), || {
        api_copies::refuse_failed(&text(&mut env, &why).unwrap_or_default());
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
        let outcome = match agent() {
            Some(agent) => commands::execute(agent, &text),
            None => Err(Refusal::State("the agent is not loaded".into())),
        };
        answer(jni, commands::for_code(&text, outcome))
    })
}
