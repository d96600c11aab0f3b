//! Context follows tasks that the application hands to the JDK: methods of the JDK that take or run
//! one call `TaskEntry`, which asks the Java API. The agent writes these calls into the classes
//! ([`class_patcher`]) and has the VM load them anew, once a recording wants it (`propagate`).
//!
//! The calls stay for the life of the VM; without a recording that wants them each is one branch.

mod hooks;

use crate::class_hooks::boot;
use crate::jvm::jni::{Jni, LocalRef};
use crate::jvm::jvmti::Jvmti;
use crate::jvm::task_entry;
use crate::log;
use crate::options::{Mechanism, MechanismSet};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The mechanisms whose classes are patched when the VM loads them, or loads them anew.
static PATCHED: AtomicU8 = AtomicU8::new(0);
/// The version of the JDK, once classes are patched.
static VERSION: AtomicU32 = AtomicU32::new(0);
/// Whether threads begin with the context of those that start them.
static STARTS: AtomicBool = AtomicBool::new(false);
/// Number of the count of tasks for which `WeakTable` had no room.
const LOST: u8 = 8;
/// Places of a mechanism that `status` shows.
const SHOWN_SITES: usize = 5;
static STATE: Mutex<State> = Mutex::new(State::NEW);

/// What is known of the mechanisms. Its lock is not held while the VM loads classes, which runs
/// transformers of other agents.
#[derive(Debug)]
struct State {
    wanted: MechanismSet,
    has_carrier: bool,
    outcomes: BTreeMap<Mechanism, Outcome>,
}

/// What became of a mechanism that was wanted.
#[derive(Debug, Clone)]
enum Outcome {
    /// A thread applies it.
    Pending,
    /// So many classes have hooks.
    On(usize),
    /// The reason.
    Off(String),
    /// This version of the JDK has none.
    Absent(u32),
}

impl State {
    const NEW: Self = Self {
        wanted: MechanismSet::NONE,
        has_carrier: false,
        outcomes: BTreeMap::new(),
    };

    /// A mechanism that is wanted and was not applied yet; from now on the caller applies it.
    fn take_next(&mut self) -> Option<Mechanism> {
        let is_next = |mechanism: &Mechanism| {
            self.wanted.has(*mechanism) && !self.outcomes.contains_key(mechanism)
        };
        let next = Mechanism::ALL.into_iter().find(is_next)?;
        self.outcomes.insert(next, Outcome::Pending);
        Some(next)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a recording wants any, for the API: without, it loads no classes for it.
pub(crate) fn is_wanted() -> bool {
    lock(&STATE).wanted != MechanismSet::NONE
}

/// A recording begins that wants these mechanisms.
pub(crate) fn begin(jvmti: Jvmti, jni: Jni, wanted: MechanismSet) {
    lock(&STATE).wanted = wanted;
    apply(jvmti, jni);
}

/// The recording has ended.
pub(crate) fn end(jni: Jni) {
    let mut state = lock(&STATE);
    state.wanted = MechanismSet::NONE;
    turn(&state, jni);
}

/// The Java API is in use; it carries contexts with `carrier`.
pub(crate) fn set_carrier(jni: Jni, carrier: &LocalRef<'_>) {
    if task_entry::set_carrier(jni, carrier) {
        let mut state = lock(&STATE);
        state.has_carrier = true;
        turn(&state, jni);
    }
}

/// Applies what is wanted: before the API is there, as a method that runs already, such as the loop
/// of a timer's thread, stays as it is.
fn apply(jvmti: Jvmti, jni: Jni) {
    loop {
        let Some(mechanism) = lock(&STATE).take_next() else {
            break;
        };
        let outcome = apply_one(jvmti, jni, mechanism);
        if let Outcome::Off(why) = &outcome {
            let name = mechanism.word();
            log::warn(&format!("propagate={name} is off: {why}"));
        }
        lock(&STATE).outcomes.insert(mechanism, outcome);
    }
    turn(&lock(&STATE), jni);
}

/// Turns on the hooks that are wanted and there, and off all others.
fn turn(state: &State, jni: Jni) {
    if state.has_carrier {
        let is_on = |mechanism: &Mechanism| {
            state.wanted.has(*mechanism)
                && matches!(state.outcomes.get(mechanism), Some(Outcome::On(_)))
        };
        let on = MechanismSet::of(Mechanism::ALL.into_iter().filter(is_on));
        STARTS.store(on.has(Mechanism::Threads), Relaxed);
        task_entry::turn(jni, on.bits());
    }
}

/// A platform thread, which is the current one, begins: it gets the context that it was started
/// with. Not in code that it runs, as a class of threads may have a `run` of its own.
pub(crate) fn begun(jni: Jni, thread: &LocalRef<'_>) {
    if STARTS.load(Relaxed) {
        task_entry::begun(jni, thread);
    }
}

/// Has the VM load the classes of a mechanism anew, with hooks.
fn apply_one(jvmti: Jvmti, jni: Jni, mechanism: Mechanism) -> Outcome {
    let version = match jvmti.jdk_version() {
        Ok(version) => version,
        Err(error) => return Outcome::Off(boot::refusal(error)),
    };
    VERSION.store(version, Relaxed);
    let classes: Vec<_> = hooks::classes(mechanism, version).collect();
    if classes.is_empty() {
        return Outcome::Absent(version);
    }
    if !task_entry::prepare(jni) {
        return Outcome::Off("the classes that hooks call cannot be defined".to_owned());
    }
    let arm = || {
        PATCHED.fetch_or(mechanism.bit(), Relaxed);
    };
    match boot::load_anew(jvmti, jni, &classes, &arm) {
        Ok(()) => Outcome::On(classes.len()),
        Err(why) => Outcome::Off(why),
    }
}

/// The class with hooks; `None` if it gets none. The VM calls this for each class of the boot
/// loader that it loads, or loads anew.
pub(crate) fn patched(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mechanisms = MechanismSet::of_bits(PATCHED.load(Relaxed));
    let hooks = hooks::of_class(name, mechanisms, VERSION.load(Relaxed));
    boot::patched(name, &hooks, bytes)
}

/// The lines of `status`.
pub(crate) fn status(jni: Option<Jni>) -> Vec<String> {
    let (wanted, outcomes) = {
        let state = lock(&STATE);
        (state.wanted, state.outcomes.clone())
    };
    let counted = |number| jni.map_or(0, |jni| task_entry::counted(jni, number));
    let line = |mechanism: Mechanism| {
        let outcome = outcomes.get(&mechanism);
        let text = match outcome {
            _ if !wanted.has(mechanism) => return None,
            None | Some(Outcome::Pending) => "is being turned on".to_owned(),
            Some(Outcome::On(classes)) => {
                let carried = counted(mechanism as u8);
                let bare = jni.map_or(0, |jni| task_entry::counted_bare(jni, mechanism as u8));
                format!(
                    "on (classes with hooks: {classes}, contexts carried: {carried}, tasks \
                     without: {bare})"
                )
            }
            Some(Outcome::Off(why)) => format!("off ({why})"),
            Some(Outcome::Absent(version)) => format!("off (JDK {version} has none)"),
        };
        Some(format!("propagate {}: {text}", mechanism.word()))
    };
    let mut lines: Vec<String> = Mechanism::ALL.into_iter().filter_map(line).collect();
    let lost = counted(LOST);
    if lost > 0 {
        lines.push(format!("propagate contexts without room: {lost}"));
    }
    let is_wanted = |mechanism: &Mechanism| wanted.has(*mechanism);
    for mechanism in Mechanism::ALL.into_iter().filter(is_wanted) {
        let sites = jni.map_or(Vec::new(), |jni| task_entry::sites(jni, mechanism as u8));
        lines.extend(bare_lines(mechanism, &sites));
    }
    lines
}

/// Where tasks without a context come from, in percent of those that were looked at.
fn bare_lines(mechanism: Mechanism, sites: &[(u64, String)]) -> Vec<String> {
    let sum: u64 = sites.iter().map(|(count, _)| count).sum();
    let line = |(count, place): &(u64, String)| {
        let percent = (count.saturating_mul(100) + sum / 2) / sum.max(1);
        let place = place.escape_debug();
        format!(
            "without context {}: {percent} % from {place}",
            mechanism.word()
        )
    };
    sites.iter().take(SHOWN_SITES).map(line).collect()
}
