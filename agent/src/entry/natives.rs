//! The natives of `io.ctxagent.internal.agent.Native`, bound by name. The contract is `docs/contributing/architecture.md`, "Java ↔ agent".
//!
//! Rules: (1) each native names its failure policy: a panic or JNI error gives the default value, which Java takes as "no context";
//! only `execute` throws; (2) no native is on the hot path: they run once per key, once per distinct value, or on misuse; (3) what is made on the heap is made by
//! [`Jni`], see there; Java takes `null` as "not now".

#![expect(
    unreachable_pub,
    reason = "the JVM finds natives by name in the dynamic symbol table"
)]

use crate::entry::agent::{agent, session};
use crate::entry::commands::{self, Refusal};
use crate::guard::{OnFailure, enter};
use crate::jvm::direct_memory;
use crate::jvm::jni::Jni;
use crate::metrics;
use crate::registry::Description;
use crate::session::api_copies;
use crate::session::components::Components;
use jni::EnvUnowned;
use jni::errors::LogErrorAndDefault;
use jni::objects::{JObject, JObjectArray, JString};
use jni::sys::{jboolean, jint, jlong, jobject};
use signal_core::layout as block;
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

/// Version of the contract.
const ABI: jint = 1;
/// `layout()[14]`: `Thread.threadId()` is the key.
const KEY_THREAD_ID: i64 = 0;
/// `layout()[14]`: `currentThreadKey()` is, kept in a `ThreadLocal` (17: `getId()` may be overridden).
const KEY_NATIVE: i64 = 1;
/// `null`.
const NOTHING: jobject = ptr::null_mut();

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

/// `native void refused(int wanted)`: the API speaks another contract than this agent, so contexts are off.
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
    enter(OnFailure::IgnoreAndCount, "layout", NOTHING, || {
        Jni::new(env.as_raw()).map_or(NOTHING, |jni| jni.new_long_array(&numbers()))
    })
}

fn numbers() -> [jlong; 18] {
    let mut numbers = block::numbers();
    if let (Some(agent), Some(live)) = (agent(), live()) {
        numbers[1] = i64::try_from(live.handler.blocks.len()).unwrap_or(0);
        numbers[14] = if live.identity.feature < 19 {
            KEY_NATIVE
        } else {
            KEY_THREAD_ID
        };
        numbers[15] = i64::from(agent.options.value_limit_bytes);
    }
    numbers
}

/// `native ByteBuffer slab()`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_slab(
    env: EnvUnowned<'_>,
    _native: JObject<'_>,
) -> jobject {
    enter(OnFailure::IgnoreAndCount, "slab", NOTHING, || {
        let (Some(live), Some(jni)) = (live(), Jni::new(env.as_raw())) else {
            return NOTHING;
        };
        // The slab is mapped as long as the process lives, and all who read it take its words as hostile.
        let (base, len) = live.handler.blocks.memory();
        jni.new_direct_buffer(base, len)
    })
}

/// `native int bindKey(String name)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_bindKey<'l>(
    mut env: EnvUnowned<'l>,
    _native: JObject<'l>,
    name: JString<'l>,
) -> jint {
    env.with_env(|env| -> jni::errors::Result<_> {
        let name = name.try_to_string(env)?;
        api_copies::is_served();
        let slot = live().and_then(|live| live.registry.bind(&name));
        Ok(Slot(
            slot.map_or(-1, |slot| i32::try_from(slot).unwrap_or(-1)),
        ))
    })
    .resolve::<LogErrorAndDefault>()
    .0
}

/// A slot number; the default, after a failure, is "no slot".
struct Slot(jint);

impl Default for Slot {
    fn default() -> Self {
        Self(-1)
    }
}

/// `native int[] bindKeys(String[] names)`: the slots of all names, or null with nothing bound.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_bindKeys<'l>(
    mut env: EnvUnowned<'l>,
    _native: JObject<'l>,
    names: JObjectArray<'l, JString<'l>>,
) -> jobject {
    let jni = Jni::new(env.as_raw());
    let slots = env
        .with_env(|env| bind_keys(env, &names))
        .resolve::<LogErrorAndDefault>();
    match (jni, slots) {
        (Some(jni), Some(slots)) => jni.new_int_array(&slots),
        _ => NOTHING,
    }
}

fn bind_keys<'l>(
    env: &mut jni::Env<'l>,
    names: &JObjectArray<'l, JString<'l>>,
) -> jni::errors::Result<Option<Vec<jint>>> {
    let mut texts = Vec::new();
    for index in 0..names.len(env)? {
        texts.push(names.get_element(env, index)?.try_to_string(env)?);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    api_copies::is_served();
    let slots = live().and_then(|live| live.registry.bind_all(&texts));
    Ok(slots.map(|slots| {
        slots
            .into_iter()
            .filter_map(|s| i32::try_from(s).ok())
            .collect()
    }))
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
    env.with_env(|env| -> jni::errors::Result<_> {
        let description = Description {
            label: label.try_to_string(env)?,
            text: description.try_to_string(env)?,
            context_type: context_type.try_to_string(env)?,
        };
        if let (Some(live), Ok(slot)) = (live(), usize::try_from(slot)) {
            live.registry.describe(slot, description);
        }
        Ok(())
    })
    .resolve::<LogErrorAndDefault>();
}

/// `native void filterWithoutContext(int mask)`: the event types that threads without a context may be recorded with.
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
    env.with_env(|env| -> jni::errors::Result<_> {
        let value = value.try_to_string(env)?;
        let id = live().and_then(|live| live.registry.intern(&value));
        Ok(id.map_or(0, u32::cast_signed))
    })
    .resolve::<LogErrorAndDefault>()
}

/// `native long currentThreadKey()`: Java id of the calling platform thread, read from the field and so never overridden.
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

/// `native boolean verifyVirtual(long threadId)`: called by Java on the first virtual thread that opens a scope, before its block is
/// published. Whether the handler would take this thread for what it is; if not, mount events are used instead.
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

/// `native boolean openMemory(Module module)`: makes `io.ctxagent.direct.DirectMemory` usable for the module of the Java API, for accesses to the slab
/// without a check of bounds that would cost more than the access.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_agent_Native_openMemory<'l>(
    env: EnvUnowned<'l>,
    _native: JObject<'l>,
    module: JObject<'l>,
) -> jboolean {
    enter(OnFailure::IgnoreAndCount, "openMemory", false, || {
        let (Some(live), Some(jni)) = (live(), Jni::new(env.as_raw())) else {
            return false;
        };
        direct_memory::open(live.jvmti, jni, module.as_raw().cast())
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
    let jni = Jni::new(env.as_raw());
    let answer = env
        .with_env(|env| -> jni::errors::Result<_> {
            let text = options.try_to_string(env)?;
            Ok(Some(match agent() {
                Some(agent) => commands::execute(agent, &text),
                None => Err(Refusal::State("the agent is not loaded".into())),
            }))
        })
        .resolve::<LogErrorAndDefault>();
    match (jni, answer) {
        (Some(jni), Some(Ok(answer))) => jni.new_string(&answer),
        (Some(jni), Some(Err(refusal))) => {
            throw(jni, &refusal);
            NOTHING
        }
        _ => NOTHING,
    }
}

/// Names, signatures and addresses of all natives, for the one case in which the VM does not find them by name: while `Agent_OnAttach` runs.
pub(crate) fn methods() -> Vec<jni_sys::JNINativeMethod> {
    let method = |name: &'static CStr, signature: &'static CStr, address: *const ()| {
        jni_sys::JNINativeMethod {
            name: name.as_ptr().cast_mut(),
            signature: signature.as_ptr().cast_mut(),
            fnPtr: address.cast_mut().cast(),
        }
    };
    vec![
        method(
            c"abi",
            c"()I",
            Java_io_ctxagent_internal_agent_Native_abi as *const (),
        ),
        method(
            c"refused",
            c"(I)V",
            Java_io_ctxagent_internal_agent_Native_refused as *const (),
        ),
        method(
            c"layout",
            c"()[J",
            Java_io_ctxagent_internal_agent_Native_layout as *const (),
        ),
        method(
            c"slab",
            c"()Ljava/nio/ByteBuffer;",
            Java_io_ctxagent_internal_agent_Native_slab as *const (),
        ),
        method(
            c"bindKey",
            c"(Ljava/lang/String;)I",
            Java_io_ctxagent_internal_agent_Native_bindKey as *const (),
        ),
        method(
            c"bindKeys",
            c"([Ljava/lang/String;)[I",
            Java_io_ctxagent_internal_agent_Native_bindKeys as *const (),
        ),
        method(
            c"describeAttribute",
            c"(ILjava/lang/String;Ljava/lang/String;Ljava/lang/String;)V",
            Java_io_ctxagent_internal_agent_Native_describeAttribute as *const (),
        ),
        method(
            c"filterWithoutContext",
            c"(I)V",
            Java_io_ctxagent_internal_agent_Native_filterWithoutContext as *const (),
        ),
        method(
            c"intern",
            c"(ILjava/lang/String;)I",
            Java_io_ctxagent_internal_agent_Native_intern as *const (),
        ),
        method(
            c"currentThreadKey",
            c"()J",
            Java_io_ctxagent_internal_agent_Native_currentThreadKey as *const (),
        ),
        method(
            c"verifyVirtual",
            c"(J)Z",
            Java_io_ctxagent_internal_agent_Native_verifyVirtual as *const (),
        ),
        method(
            c"openMemory",
            c"(Ljava/lang/Module;)Z",
            Java_io_ctxagent_internal_agent_Native_openMemory as *const (),
        ),
        method(
            c"count",
            c"(I)V",
            Java_io_ctxagent_internal_agent_Native_count as *const (),
        ),
        method(
            c"execute",
            c"(Ljava/lang/String;)Ljava/lang/String;",
            Java_io_ctxagent_internal_agent_Native_execute as *const (),
        ),
    ]
}

fn throw(jni: Jni, refusal: &Refusal) {
    let message = jni::strings::JNIString::from(refusal.line());
    let class = match refusal {
        Refusal::Option(_) => c"java/lang/IllegalArgumentException",
        Refusal::State(_) | Refusal::Unusable(_) => c"java/lang/IllegalStateException",
    };
    jni.throw(class, message.as_cstr());
}
