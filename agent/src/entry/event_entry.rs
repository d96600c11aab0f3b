//! The natives of `jdk.internal.javac.EventEntry`, which parks and exceptions call. They are
//! registered, not exported: the VM would warn where it binds them by name.

use crate::entry::agent::session;
use crate::entry::natives::method;
use crate::events::ParkTimes;
use crate::guard::{OnFailure, enter};
use crate::jvm::jni::{Jni, LocalRef};
use jni::EnvUnowned;
use jni::objects::JObject;
use jni::sys::jlong;

/// Binds them to the class.
pub(crate) fn bind(jni: Jni, class: &LocalRef<'_>) -> bool {
    let methods = [
        method(c"parked", c"(Ljava/lang/Object;JJJ)V", parked as *const ()),
        method(c"thrown", c"(Ljava/lang/Object;)V", thrown as *const ()),
    ];
    jni.register_natives(class, &methods)
}

/// `static native void parked(Object blocker, long nanos, long timeout, long until)`.
extern "system" fn parked<'l>(
    env: EnvUnowned<'l>,
    _: JObject<'l>,
    blocker: JObject<'l>,
    nanos: jlong,
    timeout_nanos: jlong,
    until_millis: jlong,
) {
    enter(OnFailure::IgnoreAndCount, "parked", (), || {
        if let (Some(session), Some(jni)) = (session(), Jni::of_native(&env)) {
            let times = ParkTimes {
                nanos: u64::try_from(nanos).unwrap_or(0),
                timeout_nanos,
                until_millis,
            };
            let blocker = LocalRef::of_native(&jni, &blocker);
            let events = &session.components.events;
            events.on_parked(jni, blocker.as_ref(), times);
        }
    });
}

/// `static native void thrown(Object exception)`.
extern "system" fn thrown<'l>(env: EnvUnowned<'l>, _: JObject<'l>, exception: JObject<'l>) {
    enter(OnFailure::IgnoreAndCount, "thrown", (), || {
        if let (Some(session), Some(jni)) = (session(), Jni::of_native(&env))
            && let Some(exception) = LocalRef::of_native(&jni, &exception)
        {
            session.components.events.on_exception(jni, &exception);
        }
    });
}
