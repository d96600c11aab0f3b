//! Connects and look-ups of names that the application observes (`io.ctxagent.observe`): methods
//! of the JDK that do them call `NetCalls` and `NetEntries`, which tell the Java API.
//!
//! Nothing of that is in the VM before somebody observes them. The calls stay for the life of the
//! VM; without an observer each is one branch.

use crate::class_hooks::{self, Row, boot};
use crate::jvm::jni::{Jni, LocalRef};
use crate::jvm::jvmti::Jvmti;
use crate::jvm::net_entries::{self, CALLS, ENTRIES};
use crate::log;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The kinds by their numbers in `NetEntries`.
const KINDS: [&str; 2] = ["net", "dns"];

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let class_of = |helper: &str| if helper == "calls" { CALLS } else { ENTRIES }.to_owned();
    class_hooks::rows(include_str!("network/hooks.txt"), class_of).collect()
});

/// The kinds whose classes are patched, a bit each.
static PATCHED: AtomicU8 = AtomicU8::new(0);
/// The version of the JDK, once classes are patched.
static VERSION: AtomicU32 = AtomicU32::new(0);
/// How many classes of each kind have hooks, or why none. Its lock is not held while the VM loads
/// classes.
static OUTCOMES: Mutex<[Option<Result<usize, String>>; KINDS.len()]> = Mutex::new([None, None]);

fn outcomes() -> MutexGuard<'static, [Option<Result<usize, String>>; KINDS.len()]> {
    OUTCOMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An application observes a kind from now on, or no longer. `false` if that has no effect.
pub(crate) fn observe(
    jvmti: Jvmti,
    jni: Jni,
    kind: i32,
    observer: &LocalRef<'_>,
    on: bool,
) -> bool {
    let Some(number) = usize::try_from(kind).ok().filter(|n| *n < KINDS.len()) else {
        return false;
    };
    let known = outcomes()[number].as_ref().map(Result::is_ok);
    let is_hooked = known.unwrap_or_else(|| on && apply(jvmti, jni, number));
    is_hooked && net_entries::observe(jni, kind, observer, on)
}

fn apply(jvmti: Jvmti, jni: Jni, kind: usize) -> bool {
    let outcome = hook(jvmti, jni, kind);
    if let Err(why) = &outcome {
        log::warn(&format!("entries of {} are off: {why}", KINDS[kind]));
    }
    let is_hooked = outcome.is_ok();
    outcomes()[kind] = Some(outcome);
    is_hooked
}

/// Has the VM load the classes of a kind anew, with hooks. Returns their number.
fn hook(jvmti: Jvmti, jni: Jni, kind: usize) -> Result<usize, String> {
    let version = jvmti.jdk_version().map_err(boot::refusal)?;
    VERSION.store(version, Relaxed);
    if !net_entries::prepare(jni) {
        return Err("the classes that hooks call cannot be defined".to_owned());
    }
    let mut classes: Vec<&str> = rows(1 << kind, version).map(Row::class).collect();
    classes.dedup();
    boot::load_anew(jvmti, jni, &classes, &|| {
        PATCHED.fetch_or(1 << kind, Relaxed);
    })?;
    Ok(classes.len())
}

/// The hooks of these kinds in a version of the JDK.
fn rows(kinds: u8, version: u32) -> impl Iterator<Item = &'static Row> {
    let is_wanted = move |row: &&Row| {
        let kind = KINDS.iter().position(|kind| *kind == row.group);
        row.is_of(version) && kind.is_some_and(|kind| kinds >> kind & 1 != 0)
    };
    ROWS.iter().filter(is_wanted)
}

/// The class with hooks; `None` if it gets none. The VM calls this for each class of the boot
/// loader that it loads, or loads anew.
pub(crate) fn patched(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let kinds = PATCHED.load(Relaxed);
    if kinds == 0 {
        return None;
    }
    let rows = rows(kinds, VERSION.load(Relaxed));
    let hooks = class_hooks::hooks_of(rows.filter(|row| row.class() == name));
    boot::patched(name, &hooks, bytes)
}

/// The lines of `status`.
pub(crate) fn status() -> Vec<String> {
    let line = |(kind, outcome): (&str, &Option<Result<usize, String>>)| {
        let text = match outcome.as_ref()? {
            Ok(classes) => format!("on (classes with hooks: {classes})"),
            Err(why) => format!("off ({why})"),
        };
        Some(format!("entries {kind}: {text}"))
    };
    KINDS
        .into_iter()
        .zip(outcomes().iter())
        .filter_map(line)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_a_hook() {
        let lines = class_hooks::lines(include_str!("network/hooks.txt"));
        assert_eq!(lines.count(), ROWS.len());
        for version in [17, 21, 25] {
            let classes: Vec<_> = rows(0b11, version).map(Row::class).collect();
            assert_eq!(classes.len(), 6, "{classes:?}, JDK {version}");
        }
    }

    #[test]
    fn classes_get_hooks_once_somebody_observes() {
        assert_eq!(patched("java/net/Socket", b"no class"), None);
        assert!(status().is_empty());
    }
}
