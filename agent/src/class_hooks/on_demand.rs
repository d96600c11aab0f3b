//! Hooks of the JDK that are inserted when somebody first wants one of their kinds. The calls stay
//! for the life of the VM; while nobody wants them each is one branch.

use super::{Row, boot, class_cache, hooks_of, rows};
use crate::jvm::jni::Jni;
use crate::jvm::jvmti::Jvmti;
use crate::log;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// How many classes have hooks of a kind, or why none.
type Outcome = Result<usize, String>;

/// The hooks of a table, whose lines begin with the name of a kind.
#[derive(Debug)]
pub(crate) struct HooksOnDemand<const KINDS: usize> {
    /// What they are for, in messages.
    what: &'static str,
    kinds: [&'static str; KINDS],
    rows: LazyLock<Vec<Row>, fn() -> Vec<Row>>,
    /// Defines the classes that the hooks call. `false`: no hook may be inserted, for it would not
    /// find them.
    prepare: fn(Jni) -> bool,
    /// The kinds whose classes are patched, a bit each.
    patched: AtomicU8,
    /// The version of the JDK, once classes are patched.
    version: AtomicU32,
    /// `None` if nobody wanted the kind. Its lock is not held while the VM loads classes.
    outcomes: Mutex<[Option<Outcome>; KINDS]>,
}

impl<const KINDS: usize> HooksOnDemand<KINDS> {
    pub(crate) const fn new(
        what: &'static str,
        kinds: [&'static str; KINDS],
        rows: fn() -> Vec<Row>,
        prepare: fn(Jni) -> bool,
    ) -> Self {
        Self {
            what,
            kinds,
            rows: LazyLock::new(rows),
            prepare,
            patched: AtomicU8::new(0),
            version: AtomicU32::new(0),
            outcomes: Mutex::new([const { None }; KINDS]),
        }
    }

    fn outcomes(&self) -> MutexGuard<'_, [Option<Outcome>; KINDS]> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a kind has hooks; `None` if nobody wanted it yet.
    pub(crate) fn are_in(&self, kind: usize) -> Option<bool> {
        self.outcomes().get(kind)?.as_ref().map(Result::is_ok)
    }

    /// Inserts the hooks of a kind, unless somebody did. `false` if it has none; a warning says why.
    pub(crate) fn insert(&self, jvmti: Jvmti, jni: Jni, kind: usize) -> bool {
        if class_cache::refuses_hooks() {
            return false;
        }
        let known = self.outcomes().get(kind).cloned().flatten();
        let outcome = known.unwrap_or_else(|| self.load_anew(jvmti, jni, kind));
        if let Some(of_kind) = self.outcomes().get_mut(kind) {
            *of_kind = Some(outcome.clone());
        }
        if let Err(why) = &outcome {
            let (what, kind) = (self.what, self.kinds.get(kind).unwrap_or(&""));
            log::warn(&format!("{what} of {kind} are off: {why}"));
        }
        outcome.is_ok()
    }

    /// Has the VM load the classes of a kind anew, with hooks.
    fn load_anew(&self, jvmti: Jvmti, jni: Jni, kind: usize) -> Outcome {
        let version = jvmti.jdk_version().map_err(boot::refusal)?;
        self.version.store(version, Relaxed);
        if !(self.prepare)(jni) {
            return Err("the classes that hooks call cannot be defined".to_owned());
        }
        let mut classes: Vec<&str> = self.rows(1 << kind, version).map(Row::class).collect();
        classes.dedup();
        boot::load_anew(jvmti, jni, &classes, &|| {
            self.patched.fetch_or(1 << kind, Relaxed);
        })?;
        Ok(classes.len())
    }

    /// The hooks of these kinds in a version of the JDK.
    fn rows(&self, kinds: u8, version: u32) -> impl Iterator<Item = &Row> {
        let is_wanted = move |row: &&Row| {
            let kind = self.kinds.iter().position(|kind| *kind == row.group);
            row.is_of(version) && kind.is_some_and(|kind| kinds >> kind & 1 != 0)
        };
        self.rows.iter().filter(is_wanted)
    }

    /// The class with hooks; `None` if it gets none. The VM calls this for each class of the boot
    /// loader that it loads, or loads anew.
    pub(crate) fn patched(&'static self, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let kinds = self.patched.load(Relaxed);
        if kinds == 0 {
            return None;
        }
        let rows = self.rows(kinds, self.version.load(Relaxed));
        let hooks = hooks_of(rows.filter(|row| row.class() == name));
        boot::patched(name, &hooks, bytes)
    }

    /// The lines of `status`: what for, kind, how many classes have hooks.
    pub(crate) fn status(&self) -> Vec<String> {
        let what = self.what;
        let line = |(kind, outcome): (&&str, &Option<Outcome>)| {
            let text = match outcome.as_ref()? {
                Ok(classes) => format!("on (classes with hooks: {classes})"),
                Err(why) => format!("off ({why})"),
            };
            Some(format!("{what} {kind}: {text}"))
        };
        let outcomes = self.outcomes();
        self.kinds
            .iter()
            .zip(outcomes.iter())
            .filter_map(line)
            .collect()
    }
}

/// The rows of a table; `class_of` gives the class of a helper.
pub(crate) fn of_table(table: &'static str, class_of: fn(&str) -> &'static str) -> Vec<Row> {
    rows(table, |helper| class_of(helper).to_owned()).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Each line of the table is a hook; in each version of the JDK the kinds have so many.
    pub(crate) fn check<const KINDS: usize>(
        hooks: &'static HooksOnDemand<KINDS>,
        table: &'static str,
        counts: [(u32, usize); 3],
    ) {
        assert_eq!(super::super::lines(table).count(), hooks.rows.len());
        for (version, count) in counts {
            let of_version: Vec<_> = hooks.rows(u8::MAX, version).collect();
            assert_eq!(of_version.len(), count, "{of_version:?}, JDK {version}");
        }
        assert_eq!(hooks.patched("java/net/Socket", b"no class"), None);
        assert!(hooks.status().is_empty());
    }
}
