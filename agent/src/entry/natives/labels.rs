//! The natives of `io.ctxagent.labels.Labels`. Rules: those of [`super`].

use crate::entry::natives::support::{NULL, live, method, methods, text};
use crate::events::LateValue;
use crate::guard::{OnFailure, enter};
use crate::jvm::jni::Jni;
use crate::labels;
use jni::EnvUnowned;
use jni::objects::{JObject, JString};
use jni::sys::{jint, jlong, jobject};

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

/// Those of `Labels`.
pub(crate) fn methods_of_labels() -> Vec<jni_sys::JNINativeMethod> {
    methods! {
        c"classFile" c"(Ljava/lang/String;)[B" Java_io_ctxagent_labels_Labels_classFile;
        c"report" c"(ILjava/lang/String;)V" Java_io_ctxagent_labels_Labels_report;
        c"late" c"(IIJ)V" Java_io_ctxagent_labels_Labels_late;
    }
}
