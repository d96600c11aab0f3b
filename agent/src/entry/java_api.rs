//! Prepares the Java API on a thread of ours once the VM is up, where the API is on the class path or the module path: otherwise the first call costs the application
//! some tens of milliseconds. Where it is not, the first call prepares: a class path is looked at here without a loader, so that no class of an application
//! is loaded earlier than without us.

use crate::entry::agent::Agent;
use crate::guard::{self, OnFailure};
use crate::jvm::jni::Jni;
use crate::os::agent_thread::BlockedSignals;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

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
pub(crate) fn prepare(agent: &'static Agent) {
    let of = |name| agent.jvmti.property(name).unwrap_or_default();
    if !of(c"java.system.class.loader").is_empty() {
        // The application's own, which is not to be asked before the application does.
        return;
    }
    let paths = [of(c"java.class.path"), of(c"jdk.module.path")];
    // Without a thread the first call prepares.
    let _ = guard::spawn(
        OnFailure::IgnoreAndCount,
        "ctxagent api",
        BlockedSignals::Sampling(agent.options.signal.number()),
        move || run(agent, &paths),
    );
}

/// The VM ends.
pub(crate) fn end() {
    *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = true;
}

fn run(agent: &Agent, paths: &[String]) {
    let mut paths = paths
        .iter()
        .flat_map(|path| path.split(':'))
        .take(MAX_PATHS);
    if !paths.any(|path| has_api(Path::new(path))) {
        return;
    }
    if let Some(jni) = attach(agent) {
        jni.with_local_frame(|| warm_up(jni));
        agent.vm.detach();
    }
}

fn attach(agent: &Agent) -> Option<Jni> {
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    if *ended {
        return None;
    }
    agent.vm.attach_daemon(c"ctxagent api")
}

fn warm_up(jni: Jni) {
    if let Some(class) = jni.find_class(c"io/ctxagent/ContextSupport")
        && let Some(method) = jni.static_method_id(class, c"warmUp", c"()V")
    {
        jni.call_static_void(class, method);
    }
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
