//! The natives of `io.ctxagent.internal.loader.AgentLibrary`, the class of `ctxagent.jar` that loads
//! this library. It calls them first: the VM finds those of an agent that is there by name. Where
//! Java code has loaded the library they are registered, as the VM would warn of names.

#![expect(
    unsafe_code,
    unreachable_pub,
    reason = "the JVM finds natives by name in the dynamic symbol table"
)]

use crate::entry::lifecycle;
use crate::entry::natives::{NULL, answer, method, text};
use crate::guard::{OnFailure, enter};
use crate::jvm::jni::{Jni, Vm};
use jni::EnvUnowned;
use jni::objects::{JObject, JString};
use jni::strings::JNIString;
use jni::sys::{jint, jobject};

/// Java code has loaded the library. Beside an agent that is there the VM unloads it again, with an
/// exception: it would ask this library first for the natives of the API, and get no context.
pub(crate) fn on_load(vm: Vm) -> jint {
    let Some(jni) = vm.env() else {
        return jni_sys::JNI_ERR;
    };
    if let Some(line) = lifecycle::other_copy() {
        jni.throw(c"java/lang/LinkageError", JNIString::from(line).as_cstr());
        return jni_sys::JNI_ERR;
    }
    jni.with_local_frame(|jni| register(*jni));
    jni_sys::JNI_VERSION_10
}

/// `FindClass` asks the loader of the class that loads the library.
fn register(jni: Jni) {
    if let Some(class) = jni.find_class(c"io/ctxagent/internal/loader/AgentLibrary") {
        jni.register_natives(&class, &methods());
    }
}

/// Those of `AgentLibrary`.
pub(super) fn methods() -> Vec<jni_sys::JNINativeMethod> {
    vec![
        method(
            c"start",
            c"(Ljava/lang/String;)V",
            Java_io_ctxagent_internal_loader_AgentLibrary_start as *const (),
        ),
        method(
            c"attach",
            c"(Ljava/lang/String;)Ljava/lang/String;",
            Java_io_ctxagent_internal_loader_AgentLibrary_attach as *const (),
        ),
    ]
}

/// `static native void start(String options)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_loader_AgentLibrary_start<'l>(
    mut env: EnvUnowned<'l>,
    _class: JObject<'l>,
    options: JString<'l>,
) {
    enter(OnFailure::DisableAgent, "start", (), || {
        let options = text(&mut env, &options).unwrap_or_default();
        if let Some((jni, vm)) = Jni::of_native(&env).and_then(|jni| Some((jni, jni.vm()?))) {
            lifecycle::on_java_agent(vm, jni, &options);
        }
    });
}

/// `static native String attach(String options)`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_internal_loader_AgentLibrary_attach<'l>(
    mut env: EnvUnowned<'l>,
    _class: JObject<'l>,
    options: JString<'l>,
) -> jobject {
    enter(OnFailure::DisableAgent, "attach", NULL, || {
        let options = text(&mut env, &options).unwrap_or_default();
        match Jni::of_native(&env).and_then(|jni| Some((jni, jni.vm()?))) {
            Some((jni, vm)) => answer(jni, lifecycle::on_java_attach(vm, &options)),
            None => NULL,
        }
    })
}
