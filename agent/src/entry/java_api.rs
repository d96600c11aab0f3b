//! Warms up the Java API on an agent thread once the VM is up, if the API is on the class path or
//! the module path. Otherwise the first call would cost the application tens of milliseconds.
//!
//! This searches the paths without a class loader, so that no class of the application loads
//! earlier than without the agent. If the API is elsewhere, its first call prepares it.

use crate::entry::natives;
use crate::guard::{self, OnFailure};
use crate::jvm::jni::{Jni, LocalRef, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::os::agent_thread::BlockedSignals;
use crate::session::api_copies;
use jni_sys::JNINativeMethod;
use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The class that every use of the API loads.
const API: &str = "Lio/ctxagent/ContextSupport;";
/// The class whose method `warmUp` is called, as an entry of a jar.
const ENTRY: &str = "io/ctxagent/WarmUp.class";
/// Lines with a class and the JDKs that have it, as feature versions.
const JDK_CLASSES: &str = include_str!("jdk_classes.txt");
/// The last of those; a later JDK is taken for one.
const NEWEST_KNOWN: &str = "25";
/// Limit of paths to search; beyond it, the first call prepares the API.
const MAX_PATHS: usize = 2_048;
const MAX_DIRECTORY_BYTES: u64 = 16 << 20;
/// Length of the end record of a zip file, without the comment that follows it.
const END_BYTES: u64 = 22;
const MAX_COMMENT_BYTES: u64 = 0xffff;
const END_SIGNATURE: &[u8] = b"PK\x05\x06";

/// The class of `labels` with natives of this library.
const LABELS: &str = "Lio/ctxagent/labels/Labels;";
/// Whether Java code has loaded this library. The VM then finds its natives by name only for the
/// loader of that code, and warns.
static LOADED_BY_JAVA: AtomicBool = AtomicBool::new(false);
/// Whether the VM ends; then no thread attaches to it any more.
static ENDED: Mutex<bool> = Mutex::new(false);

/// Starts the warm-up. Called while the VM starts.
pub(crate) fn prepare(vm: Vm, jvmti: Jvmti, jni: Jni, signal: i32) {
    let property = |name| jvmti.property(name).unwrap_or_default();
    let is_loaded = LOADED_BY_JAVA.load(Relaxed);
    if is_loaded {
        jni.with_local_frame(|jni| register_natives(jvmti, *jni));
    }
    if !property(c"java.system.class.loader").is_empty() {
        // The application's own loader must not run before the application uses it.
        return;
    }
    let paths = [property(c"java.class.path"), property(c"jdk.module.path")];
    let mut paths = paths
        .iter()
        .flat_map(|path| path.split(':'))
        .take(MAX_PATHS);
    if !is_loaded && !paths.any(|path| has_api(Path::new(path))) {
        return;
    }
    let jdk = property(c"java.vm.specification.version");
    jni.with_local_frame(|jni| initialise_jdk(*jni, &jdk));
    // If the thread does not start, the first call prepares the API.
    let _ = guard::spawn(
        OnFailure::IgnoreAndCount,
        "ctxagent api",
        BlockedSignals::WallClock(signal),
        move || run(vm),
    );
}

/// Runs initialisers of the JDK before `main`. A class whose initialiser fails once can never be
/// used again: if the thread below were the first to need these, and `main` had just filled the
/// heap, lambdas and string concatenation would be broken for good.
fn initialise_jdk(jni: Jni, jdk: &str) {
    // Numbers of two digits.
    let jdk = if jdk > NEWEST_KNOWN {
        NEWEST_KNOWN
    } else {
        jdk
    };
    for line in JDK_CLASSES.lines().filter(|line| !line.starts_with('#')) {
        let (name, jdks) = line.split_once(' ').unwrap_or((line, jdk));
        if !jdks.split(' ').any(|known| known == jdk) {
            continue;
        }
        // An update of the JDK that lacks the class throws, which is cleared.
        if let Some(class) = jni.class_of_loader(name, true, None) {
            jni.delete_local(class);
        }
    }
}

/// The VM ends.
pub(crate) fn end() {
    *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = true;
}

fn run(vm: Vm) {
    if let Some(jni) = attach(vm) {
        jni.with_local_frame(|jni| warm_up(*jni));
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
    if let Some(class) = jni.find_class(c"io/ctxagent/WarmUp")
        && let Some(method) = jni.static_method_id(&class, c"warmUp", c"()V")
    {
        jni.call_static_void(&class, method, &[]);
    }
}

/// After an attach: the API may be in use already, and have decided that there is no agent. The VM
/// finds natives in this library only after `Agent_OnAttach` has returned, so this registers them
/// first.
pub(crate) fn announce(jvmti: Jvmti, jni: Jni) {
    jni.with_local_frame(|jni| {
        register_natives(jvmti, *jni);
        call_api(jvmti, *jni, c"agentLoaded");
    });
}

/// Java code has loaded this library, and the API with it.
pub(crate) fn set_loaded_by_java() {
    LOADED_BY_JAVA.store(true, Relaxed);
}

/// `ClassPrepare`: registers natives that the VM would not find.
pub(crate) fn on_class_prepare(jni: Jni, class: &LocalRef<'_>, signature: &str) {
    if LOADED_BY_JAVA.load(Relaxed) {
        match signature {
            api_copies::NATIVES => register(jni, class, natives::methods()),
            LABELS => register(jni, class, natives::methods_of_labels()),
            _ => {}
        }
    }
}

fn register_natives(jvmti: Jvmti, jni: Jni) {
    let has_natives = |signature: &str| {
        api_copies::check_class(signature);
        signature == api_copies::NATIVES
    };
    for class in classes(jvmti, &jni, has_natives) {
        register(jni, &class, natives::methods());
    }
}

fn register(jni: Jni, class: &LocalRef<'_>, methods: Vec<JNINativeMethod>) {
    for method in methods {
        // One at a time, because an older jar may lack some.
        jni.register_natives(class, &[method]);
    }
}

/// Calls a static method of the API in each loader that has it.
fn call_api(jvmti: Jvmti, jni: Jni, name: &CStr) {
    for class in classes(jvmti, &jni, |signature| signature == API) {
        if let Some(method) = jni.static_method_id(&class, name, c"()V") {
            jni.call_static_void(&class, method, &[]);
        }
    }
}

/// Before a recording: lets the API register its context types, so that the first chunk has their
/// columns. Where the API is not in use yet, they register at its first use.
pub(crate) fn before_recording(jvmti: Jvmti, jni: Jni) {
    jni.with_local_frame(|jni| {
        register_natives(jvmti, *jni);
        call_api(jvmti, *jni, c"beforeRecording");
    });
}

fn classes(jvmti: Jvmti, jni: &Jni, is_wanted: impl Fn(&str) -> bool) -> Vec<LocalRef<'_>> {
    let mut classes = jvmti.loaded_classes(jni).unwrap_or_default();
    let signature = |class: &LocalRef<'_>| jvmti.class_signature(class);
    classes.retain(|class| signature(class).is_ok_and(|s| is_wanted(&s)));
    classes
}

/// Whether a path entry contains the API: a jar, a directory of classes, or a directory of jars.
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

/// Whether the central directory of a jar, at its end, contains the entry.
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
