//! The natives of `io.ctxagent.internal.loader.AgentLibrary`, the class of `ctxagent.jar` that loads
//! this library. They are registered, not exported: the VM would warn where it binds them by name.

use crate::entry::lifecycle;
use crate::entry::natives::{method, text, throw};
use crate::guard::{OnFailure, enter};
use crate::jvm::jni::{Jni, Vm};
use jni::EnvUnowned;
use jni::objects::{JObject, JString};
use jni::sys::{jint, jobject};
use std::ptr;
use std::sync::OnceLock;

/// The VM whose Java code has loaded this library.
static VM: OnceLock<Vm> = OnceLock::new();
const NULL: jobject = ptr::null_mut();

/// Java code has loaded the library.
pub(crate) fn on_load(vm: Vm) -> jint {
    let vm = *VM.get_or_init(|| vm);
    if let Some(jni) = vm.env() {
        jni.with_local_frame(|jni| register(*jni));
    }
    jni_sys::JNI_VERSION_10
}

/// `FindClass` asks the loader of the class that loads the library.
fn register(jni: Jni) {
    let Some(class) = jni.find_class(c"io/ctxagent/internal/loader/AgentLibrary") else {
        return;
    };
    let methods = [
        method(c"start", c"(Ljava/lang/String;)V", start as *const ()),
        method(
            c"attach",
            c"(Ljava/lang/String;)Ljava/lang/String;",
            attach as *const (),
        ),
    ];
    jni.register_natives(&class, &methods);
}

/// `static native void start(String options)`.
extern "system" fn start<'l>(mut env: EnvUnowned<'l>, _: JObject<'l>, options: JString<'l>) {
    enter(OnFailure::DisableAgent, "start", (), || {
        let options = text(&mut env, &options).unwrap_or_default();
        if let (Some(vm), Some(jni)) = (VM.get(), Jni::of_native(&env)) {
            lifecycle::on_java_agent(*vm, jni, &options);
        }
    });
}

/// `static native String attach(String options)`.
extern "system" fn attach<'l>(
    mut env: EnvUnowned<'l>,
    _: JObject<'l>,
    options: JString<'l>,
) -> jobject {
    enter(OnFailure::DisableAgent, "attach", NULL, || {
        let options = text(&mut env, &options).unwrap_or_default();
        let (Some(vm), Some(jni)) = (VM.get(), Jni::of_native(&env)) else {
            return NULL;
        };
        match lifecycle::on_java_attach(*vm, &options) {
            Ok(answer) => jni.new_string(&answer).map_or(NULL, |text| text.raw()),
            Err(refusal) => {
                throw(jni, &refusal);
                NULL
            }
        }
    })
}
