//! What can be seen of a JVM and of this machine without asking the agent.

use std::io;

use hotspot_attach::JvmProcess;
use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};

use crate::target;

/// The oldest JDK whose stacks and virtual threads the agent follows, and the newest that it was
/// tried with.
const OLDEST: u32 = 17;
const NEWEST_TRIED: u32 = 27;
/// From here on the frames that a virtual thread has in the heap are not known.
const WITHOUT_HEAP_FRAMES: u32 = 26;
/// What a VM exports by which the agent knows its structures, and what it reads them with.
const TABLES: &str = "gHotSpotVMStructs";
const CHECKED_LOAD: &str = "SafeFetchN_impl";
/// The first JDK with virtual threads, and the first that names the id of one in its tables.
const VIRTUAL_THREADS: u32 = 21;
const NAMED_THREAD_ID: u32 = 24;
/// The kernel that has timers per CPU as the agent needs them.
const MIN_KERNEL: (u32, u32) = (6, 4);
/// Number of SIGPROF.
const PROF: u32 = 27;
/// Fewer timers than this do not last for the threads of a usual server (`engine=tick`).
const MIN_TIMERS: u64 = 1024;
/// Checks about the agent that is not there yet are in the words of its `status`.
const EXPECTED: &str = "expected";

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Fine,
    /// It works, but not as well as it could.
    Note,
    /// It does not work.
    Bad,
}

impl Level {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Note => "note",
            Self::Bad => "no",
        }
    }
}

/// How it went, topic, text.
pub(super) type Check = (Level, &'static str, String);

pub(super) fn process(jvm: &JvmProcess) -> Check {
    let unknown = || "unknown".to_owned();
    let container = jvm.container_id();
    let container = container.map(|id| format!(", container {}", target::short_id(&id)));
    let text = format!(
        "{} {}, JDK {}, user {}, process {} as it sees itself{}",
        jvm.pid(),
        jvm.main_class().unwrap_or_else(unknown),
        jvm.java_version().unwrap_or_else(unknown),
        jvm.owner().user,
        jvm.inner_pid(),
        container.unwrap_or_default(),
    );
    (Level::Fine, "process", text)
}

pub(super) fn attach(jvm: &JvmProcess) -> Vec<Check> {
    let obstacles = jvm.obstacles();
    if obstacles.is_empty() {
        let text = "catches SIGQUIT, and nothing forbids to load an agent".to_owned();
        return vec![(Level::Fine, "attach", text)];
    }
    let check = |error| {
        (
            Level::Bad,
            "attach",
            format!("process {} {error}", jvm.pid()),
        )
    };
    obstacles.into_iter().map(check).collect()
}

fn feature(jvm: &JvmProcess) -> Option<u32> {
    let version = jvm.java_version()?;
    version.split('.').next()?.parse().ok()
}

/// The version decides only where it is too old: the agent compares the structures of a newer VM
/// when it starts.
pub(super) fn version(jvm: &JvmProcess) -> Option<Check> {
    let (level, text) = words_on(feature(jvm)?);
    Some((level, "jdk", format!("{}: {text}", jvm.java_version()?)))
}

const fn words_on(feature: u32) -> (Level, &'static str) {
    if feature < OLDEST {
        return (Level::Note, "totals by context; stacks from 17 on");
    }
    if feature > NEWEST_TRIED {
        let text = "newer than 27: stacks if the VM's structures are those known, see --trial";
        return (Level::Note, text);
    }
    if feature >= WITHOUT_HEAP_FRAMES {
        return (
            Level::Note,
            "stacks, but of virtual threads without frames in the heap",
        );
    }
    (Level::Fine, "whole stacks, and contexts of virtual threads")
}

/// What the agent would say of itself, and what it needs for that.
pub(super) fn expected(jvm: &JvmProcess) -> Vec<Check> {
    let symbols = vm_symbols(jvm);
    let (level, text) = match symbols {
        Ok(VmSymbols { tables: false, .. }) => {
            let text = "libjvm.so exports no tables of its structures: no whole stacks";
            (Level::Note, text.to_owned())
        }
        Ok(VmSymbols { local: true, .. }) => (Level::Fine, "libjvm.so has them".to_owned()),
        Ok(VmSymbols { local: false, .. }) => {
            let text = "libjvm.so is stripped: stacks by AsyncGetCallTrace, some are lost";
            (Level::Note, text.to_owned())
        }
        Err(ref error) => (Level::Note, format!("libjvm.so cannot be read: {error}")),
    };
    let mut checks = vec![(level, "symbols", text)];
    let has_symbols = symbols.is_ok_and(|symbols| symbols.local);
    checks.extend(virtual_threads(jvm, has_symbols));
    checks.push(engine());
    let words = [
        "labels: auto, of routes and spans",
        "propagate: none, unless propagate= is given",
    ];
    checks.extend(words.map(|text| (Level::Fine, EXPECTED, text.to_owned())));
    checks
}

/// What the library of a VM tells of itself.
#[derive(Debug, Clone, Copy)]
struct VmSymbols {
    /// It exports tables of its structures.
    tables: bool,
    /// It has the symbols that it does not export.
    local: bool,
}

fn vm_symbols(jvm: &JvmProcess) -> io::Result<VmSymbols> {
    let library = ReadCache::new(jvm.open_vm_library()?);
    let library = ElfFile64::<Endianness, _>::parse(&library).map_err(io::Error::other)?;
    let is_named = |wanted| move |name: object::Result<&str>| name == Ok(wanted);
    let mut exported = library.dynamic_symbols().map(|symbol| symbol.name());
    let mut local = library.symbols().map(|symbol| symbol.name());
    Ok(VmSymbols {
        tables: exported.any(is_named(TABLES)),
        local: local.any(is_named(CHECKED_LOAD)),
    })
}

/// How the agent finds the virtual thread; see `vthreads` in docs/user-guide/options.md.
fn virtual_threads(jvm: &JvmProcess, has_symbols: bool) -> Option<Check> {
    let feature = feature(jvm)?;
    let (level, text) = if feature < VIRTUAL_THREADS {
        (Level::Fine, "none needed (no virtual threads)")
    } else if feature >= NAMED_THREAD_ID {
        (Level::Fine, "vmstructs")
    } else if has_symbols {
        (Level::Fine, "jvmci")
    } else {
        let text = "events: without symbols, 65 to 85 ns more per switch";
        (Level::Note, text)
    };
    Some((level, EXPECTED, format!("virtual threads: {text}")))
}

/// Which engine takes CPU samples, by the kernel; only a trial in the JVM can tell for sure.
fn engine() -> Check {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    let (level, text) = match is_new_enough(release) {
        Some(true) => (Level::Fine, format!("percpu (Linux {release})")),
        Some(false) => {
            let text = format!("tick, biased; exact samples need Linux 6.4, this is {release}");
            (Level::Note, text)
        }
        None => (Level::Note, format!("unknown: Linux '{release}'")),
    };
    (level, EXPECTED, format!("engine: {text}"))
}

pub(super) fn archive(jvm: &JvmProcess) -> Check {
    let is_archive = |name: &str| [".jsa", ".aot"].iter().any(|end| name.ends_with(end));
    let name = jvm
        .loaded_library(is_archive)
        .and_then(|path| path.file_name());
    let text = match name {
        Some(name) => format!("{} is in use", name.display()),
        None => "no archive of classes is in use: a slower start".to_owned(),
    };
    (Level::Fine, "cds", text)
}

fn is_new_enough(release: &str) -> Option<bool> {
    let mut numbers = release.split(['.', '-']).map(str::parse::<u32>);
    let version = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(version >= MIN_KERNEL)
}

/// Another owner of the signal, told by a handler that is not ours.
pub(super) fn signal(jvm: &JvmProcess) -> Option<Check> {
    if !jvm.catches(PROF) || target::loaded(jvm).is_some() {
        return None;
    }
    let text = "SIGPROF has a handler, perhaps of another profiler: use signal=34".to_owned();
    Some((Level::Note, "signal", text))
}

pub(super) fn timers(jvm: &JvmProcess) -> Option<Check> {
    let limit = jvm.limit("Max pending signals")?;
    let is_low = limit.parse().is_ok_and(|number: u64| number < MIN_TIMERS);
    Some(if is_low {
        let text =
            format!("at most {limit} (ulimit -i): too few for engine=tick with many threads");
        (Level::Note, "timers", text)
    } else {
        (
            Level::Fine,
            "timers",
            format!("at most {limit} (ulimit -i)"),
        )
    })
}

pub(super) fn sandbox(jvm: &JvmProcess) -> Check {
    if jvm.is_filtered() {
        let text = "a filter is on: an engine that it forbids is replaced, which status says";
        (Level::Note, "seccomp", text.to_owned())
    } else {
        (Level::Fine, "seccomp", "no filter".to_owned())
    }
}

pub(super) fn other_agents(jvm: &JvmProcess) -> Option<Check> {
    let options = jvm.options();
    let is_agent = |word: &&String| {
        let is_ours = word.contains("ctxagent");
        let prefixes = ["-javaagent:", "-agentpath:", "-agentlib:"];
        !is_ours && prefixes.iter().any(|prefix| word.starts_with(prefix))
    };
    // Their options may hold secrets.
    let name = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    let others: Vec<String> = options.iter().filter(is_agent).map(name).collect();
    (!others.is_empty()).then(|| (Level::Fine, "others", others.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_old_version_decides_by_itself() {
        for (feature, level, text) in [
            (16, Level::Note, "stacks from 17 on"),
            (17, Level::Fine, "whole stacks"),
            (22, Level::Fine, "whole stacks"),
            (25, Level::Fine, "whole stacks"),
            (29, Level::Note, "if the VM's structures are those known"),
        ] {
            let (found, words) = words_on(feature);
            assert!(found == level && words.contains(text), "{feature}: {words}");
        }
    }

    #[test]
    fn kernels_are_compared_by_number() {
        for (release, is_new) in [
            ("6.18.44-fc-v669", Some(true)),
            ("6.4", Some(true)),
            ("6.4-rc1", Some(true)),
            ("6.3.99", Some(false)),
            ("5.15.0-91-generic", Some(false)),
            ("", None),
            ("x.y", None),
        ] {
            assert_eq!(is_new_enough(release), is_new, "{release}");
        }
    }
}
