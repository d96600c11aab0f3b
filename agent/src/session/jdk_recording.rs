//! The JDK's own recording, which begins and ends with ours (`jfrsync`). At the end of the VM the
//! JDK finishes it by itself.

use crate::jvm::jni::{Argument, Jni};
use crate::labels::define_boot_class;
use crate::log;
use std::ffi::CStr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What the boot loader defines.
const CLASS: &CStr = c"io/ctxagent/management/JdkRecording";

/// Settings and file of the running one, for `status`.
static RUNNING: Mutex<Option<String>> = Mutex::new(None);

/// Whether the settings are those of a file, and not known to the JDK by name.
fn is_file(settings: &str) -> bool {
    Path::new(settings).extension().is_some()
}

fn note(text: Option<String>) -> bool {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *running, text).is_some()
}

/// Begins one with these settings, which has no file yet.
pub(super) fn start(jni: Jni, settings: &str) -> Result<(), String> {
    note(Some(settings.to_owned()));
    call(jni, c"start", settings, is_file(settings)).map_err(|why| {
        note(None);
        format!("option 'jfrsync': the JDK refuses '{settings}': {why}")
    })
}

/// Names the file, beside that of the agent: `app.jdk.jfr` for `app.jfr`.
pub(super) fn write_beside(jni: Jni, settings: &str, ours: &Path, replaces: bool) {
    let file = ours.with_extension("jdk.jfr").display().to_string();
    let named = call(jni, c"writeTo", &file, replaces);
    if let Err(why) = &named {
        log::warn(&format!(
            "option 'jfrsync': the JDK's recording ends: {why}"
        ));
    }
    note(named.is_ok().then(|| format!("{settings}, {file}")));
}

/// Calls a method that returns why it failed, or nothing.
fn call(jni: Jni, method: &CStr, text: &str, flag: bool) -> Result<(), String> {
    let answer = jni.with_local_frame(|jni| {
        let class = define_boot_class(jni, CLASS)?;
        let signature = c"(Ljava/lang/String;Z)Ljava/lang/String;";
        let method = jni.static_method_id(&class, method, signature)?;
        let text = jni.new_string(text)?;
        let arguments = [Argument::Object(&text), Argument::Boolean(flag)];
        let why = jni.call_static_object(&class, method, &arguments)?;
        Some(jni.text(&why))
    });
    match answer {
        Some(why) if why.is_empty() => Ok(()),
        Some(why) => Err(why),
        None => Err("it has no recorder".to_owned()),
    }
}

/// Ends it, if there is one.
pub(super) fn stop(jni: Jni) {
    if note(None) {
        jni.with_local_frame(|jni| {
            let class = define_boot_class(jni, CLASS)?;
            let method = jni.static_method_id(&class, c"stop", c"()V")?;
            jni.call_static_void(&class, method, &[]).then_some(())
        });
    }
}

/// The line of `status`.
pub(crate) fn status() -> Option<String> {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    running
        .as_ref()
        .map(|text| format!("jdk recording: {text}"))
}
