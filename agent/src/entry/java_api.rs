//! Prepares the Java API on a thread of ours once the VM is up, where the API is on the class path or the module path: otherwise the first call costs the application
//! some tens of milliseconds. Where it is not, the first call prepares: a class path is looked at here without a loader, so that no class of an application
//! is loaded earlier than without us.

use crate::entry::natives;
use crate::guard::{self, OnFailure};
use crate::jvm::jni::{Jni, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::os::agent_thread::BlockedSignals;
use crate::session::api_copies;
use jni_sys::jclass;
use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The class of the API that every use of it loads.
const API: &str = "Lio/ctxagent/ContextSupport;";
/// The class whose method `warmUp` is called, as an entry of a jar.
const ENTRY: &str = "io/ctxagent/ContextSupport.class";
/// An application with more than that prepares the API by its first call.
const MAX_PATHS: usize = 2_048;
const MAX_DIRECTORY_BYTES: u64 = 16 << 20;
/// The end record of a zip file: its length, and the longest comment behind it.
const END_BYTES: u64 = 22;
const MAX_COMMENT_BYTES: u64 = 0xffff;
const END_SIGNATURE: &[u8] = b"PK\x05\x06";

/// Whether the VM ends: then no thread attaches to it any more.
static ENDED: Mutex<bool> = Mutex::new(false);

/// Begins to prepare. Called while the VM starts.
pub(crate) fn prepare(vm: Vm, jvmti: Jvmti, signal: i32) {
    let of = |name| jvmti.property(name).unwrap_or_default();
    if !of(c"java.system.class.loader").is_empty() {
        // The application's own, which is not to be asked before the application does.
        return;
    }
    let paths = [of(c"java.class.path"), of(c"jdk.module.path")];
    // Without a thread the first call prepares.
    let _ = guard::spawn(
        OnFailure::IgnoreAndCount,
        "ctxagent api",
        BlockedSignals::Sampling(signal),
        move || run(vm, &paths),
    );
}

/// The VM ends.
pub(crate) fn end() {
    *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = true;
}

fn run(vm: Vm, paths: &[String]) {
    let mut paths = paths
        .iter()
        .flat_map(|path| path.split(':'))
        .take(MAX_PATHS);
    if !paths.any(|path| has_api(Path::new(path))) {
        return;
    }
    if let Some(jni) = attach(vm) {
        jni.with_local_frame(|| warm_up(jni));
        vm.detach();
    }
}

fn attach(vm: Vm) -> Option<Jni> {
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    if *ended {
        return None;
    }
    vm.attach_daemon(c"ctxagent api")
}

fn warm_up(jni: Jni) {
    if let Some(class) = jni.find_class(c"io/ctxagent/ContextSupport")
        && let Some(method) = jni.static_method_id(class, c"warmUp", c"()V")
    {
        jni.call_static_void(class, method);
    }
}

/// Attached late: the application may have used the API already, which then decided that there is no agent. The VM finds natives in this library
/// only after `Agent_OnAttach` has returned, so they are registered by hand first.
pub(crate) fn announce(jvmti: Jvmti, jni: Jni) {
    jni.with_local_frame(|| {
        register_natives(jvmti, jni);
        call_api(jvmti, jni, c"agentLoaded");
    });
}

fn register_natives(jvmti: Jvmti, jni: Jni) {
    let is_ours = |signature: &str| {
        api_copies::look_at(signature);
        signature == api_copies::NATIVES
    };
    for class in classes(jvmti, is_ours) {
        for method in natives::methods() {
            // One at a time: an older jar may lack some.
            jni.register_natives(class, &[method]);
        }
    }
}

/// Calls a static method of the API in each loader that has it.
fn call_api(jvmti: Jvmti, jni: Jni, name: &CStr) {
    for class in classes(jvmti, |signature| signature == API) {
        if let Some(method) = jni.static_method_id(class, name, c"()V") {
            jni.call_static_void(class, method);
        }
    }
}

/// Before a recording: context types that registered themselves get their columns from the first chunk on. Only where the API is in use already;
/// else they register at its first use.
pub(crate) fn before_recording(jvmti: Jvmti, jni: Jni) {
    jni.with_local_frame(|| {
        register_natives(jvmti, jni);
        call_api(jvmti, jni, c"beforeRecording");
    });
}

fn classes(jvmti: Jvmti, is_wanted: impl Fn(&str) -> bool) -> Vec<jclass> {
    let mut classes = jvmti.loaded_classes().unwrap_or_default();
    let signature = |class: &jclass| jvmti.class_signature(*class);
    classes.retain(|class| signature(class).is_ok_and(|s| is_wanted(&s)));
    classes
}

/// Whether a folder or jar of the class path has the API, or a folder of the module path such a jar.
fn has_api(path: &Path) -> bool {
    if !path.is_dir() {
        return is_in_jar(path).unwrap_or(false);
    }
    if path.join(ENTRY).is_file() {
        return true;
    }
    let jars = path.read_dir().into_iter().flatten().take(MAX_PATHS);
    jars.flatten().any(|entry| {
        entry.path().extension().is_some_and(|e| e == "jar")
            && is_in_jar(&entry.path()).unwrap_or(false)
    })
}

/// Whether the directory of a jar, which is at its end, names the entry.
fn is_in_jar(path: &Path) -> Option<bool> {
    let mut file = File::open(path).ok()?;
    let length = file
        .metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)?
        .len();
    let tail = length.min(END_BYTES + MAX_COMMENT_BYTES);
    let end = read(&mut file, length - tail, tail)?;
    let at = end
        .windows(END_SIGNATURE.len())
        .rposition(|w| w == END_SIGNATURE)?;
    let number = |offset: usize| {
        let bytes = end.get(at + offset..at + offset + 4)?;
        Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)))
    };
    let (size, start) = (number(12)?, number(16)?);
    if size > MAX_DIRECTORY_BYTES || start + size > length {
        return None;
    }
    let directory = read(&mut file, start, size)?;
    let entry = ENTRY.as_bytes();
    Some(directory.windows(entry.len()).any(|w| w == entry))
}

fn read(file: &mut File, start: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.seek(SeekFrom::Start(start)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}
