//! The native of `io.ctxagent.internal.event.EventSink`: parks and exceptions. It is registered, not
//! exported: the VM would warn where it binds one by name.

use crate::entry::agent::session;
use crate::entry::natives::method;
use crate::guard::{OnFailure, enter};
use crate::jvm::jni::{Jni, LocalRef};
use jni::EnvUnowned;
use jni::objects::JObject;
use jni::sys::jlong;

/// Binds it to the class.
pub(crate) fn bind(jni: Jni, class: &LocalRef<'_>) -> bool {
    let signature = c"(Ljava/lang/Object;J)V";
    jni.register_natives(class, &[method(c"accept", signature, accept as *const ())])
}

/// `native void accept(Object object, long nanos)`.
extern "system" fn accept<'l>(
    env: EnvUnowned<'l>,
    _: JObject<'l>,
    object: JObject<'l>,
    nanos: jlong,
) {
    enter(OnFailure::IgnoreAndCount, "EventSink", (), || {
        if let (Some(session), Some(jni)) = (session(), Jni::of_native(&env)) {
            let events = &session.components.events;
            let object = LocalRef::of_native(&jni, &object);
            match (u64::try_from(nanos), object) {
                (Ok(nanos), blocker) => events.on_parked(jni, blocker.as_ref(), nanos),
                (Err(_), Some(exception)) => events.on_exception(jni, &exception),
                (Err(_), None) => {}
            }
        }
    });
}
