//! Which classes get method ids: a walk in a signal cannot make them, and finds no method without.
//!
//! Up to 25 the VM never gives back the ids of a class that was unloaded: 120 bytes for a hidden class of three methods, and there are applications that
//! make such classes without end. So both ways to ids have a bound for the life of the VM: (1) classes get them as they are prepared; (2) a sweep over
//! all loaded classes, at the start of a recording and where stacks show methods without, gives them to those that have none. It meets classes, too, that are
//! dead and not yet unloaded: once (1) is used up, hidden ones are left out, so that (2) lasts for those that stay.

use super::jni::Jni;
use super::jvmti::Jvmti;
use crate::log;
use jni_sys::jclass;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Of each kind. 200 000 hidden classes are 24 MB.
const MOST: u64 = 200_000;

static PREPARED: Prepared = Prepared::new(MOST);
static SWEPT: Swept = Swept::new(MOST);

/// ClassPrepare: on the thread that prepares it.
pub(crate) fn prepared(jvmti: Jvmti, class: jclass) {
    if PREPARED.take() {
        // Failure: the class was unloaded or is no class with methods; its frames would show without a name, and be counted.
        let _ = jvmti.create_method_ids(class);
    }
}

/// Makes the method ids of every loaded class exist, within the bound.
pub(crate) fn sweep(jvmti: Jvmti, jni: Jni) {
    jni.with_local_frame(|| {
        for class in jvmti.loaded_classes().unwrap_or_default() {
            // Its own for as long as it is there; a later one has the same in one of 10 000 cases at most, and gets ids that are not counted.
            let Ok(hash) = jvmti.identity_hash(class) else {
                continue;
            };
            let may_be_dead = || PREPARED.is_used_up() && is_hidden(jvmti, class);
            if SWEPT.lets_in(hash, may_be_dead) {
                // Arrays and classes that are not prepared have none.
                let made = jvmti.create_method_ids(class);
                if made.is_ok_and(|methods| methods > 0) {
                    SWEPT.has(hash);
                }
            }
        }
    });
}

/// Whether this is a class like `app/A$$Lambda.0x00007f`.
fn is_hidden(jvmti: Jvmti, class: jclass) -> bool {
    jvmti
        .class_signature(class)
        .is_ok_and(|signature| signature.contains('.'))
}

/// For the writer: one line each when new classes get no ids any more. Not where that is found out: a callback must not wait for a disk.
pub(crate) fn warn_of_classes_without() {
    const WHY: &str = "the JVM never frees what it needs to name the methods of a class";
    if PREPARED.has_to_be_told() {
        log::warn(&format!(
            "{MOST} classes were loaded while recording; methods of further ones may be without name for up to a minute, of hidden ones for ever ({WHY})"
        ));
    }
    if SWEPT.has_to_be_told() {
        log::warn(&format!(
            "methods of classes that were loaded late have no name any more, after {MOST} such classes ({WHY})"
        ));
    }
}

/// How many more classes get method ids when they are prepared. Each thread that prepares a class takes from it; never filled again.
#[derive(Debug)]
struct Prepared {
    most: u64,
    // Relaxed, both: only counted.
    taken: AtomicU64,
    told: AtomicBool,
}

impl Prepared {
    const fn new(most: u64) -> Self {
        Self {
            most,
            taken: AtomicU64::new(0),
            told: AtomicBool::new(false),
        }
    }

    fn take(&self) -> bool {
        self.taken.fetch_add(1, Relaxed) < self.most
    }

    /// Whether a class had to do without.
    fn is_used_up(&self) -> bool {
        self.taken.load(Relaxed) > self.most
    }

    /// The same, once.
    fn has_to_be_told(&self) -> bool {
        self.is_used_up() && !self.told.swap(true, Relaxed)
    }
}

/// The classes that sweeps gave ids to, or found with ids, by their identity hashes: those that were there are looked at again, because a redefinition adds
/// methods.
#[derive(Debug)]
struct Swept {
    most: u64,
    hashes: Mutex<FxHashSet<u32>>,
    /// A class had to do without. Relaxed, both: only told.
    full: AtomicBool,
    told: AtomicBool,
}

impl Swept {
    const fn new(most: u64) -> Self {
        Self {
            most,
            hashes: Mutex::new(FxHashSet::with_hasher(FxBuildHasher)),
            full: AtomicBool::new(false),
            told: AtomicBool::new(false),
        }
    }

    /// Whether a class may have ids of a sweep.
    fn lets_in(&self, hash: u32, may_be_dead: impl FnOnce() -> bool) -> bool {
        let (is_known, count) = {
            let hashes = self.hashes();
            (hashes.contains(&hash), hashes.len() as u64)
        };
        if is_known {
            return true;
        }
        if may_be_dead() {
            return false; // asks the VM, hence not under the lock
        }
        if count >= self.most {
            self.full.store(true, Relaxed);
        }
        count < self.most
    }

    fn has(&self, hash: u32) {
        self.hashes().insert(hash);
    }

    fn has_to_be_told(&self) -> bool {
        self.full.load(Relaxed) && !self.told.swap(true, Relaxed)
    }

    fn hashes(&self) -> MutexGuard<'_, FxHashSet<u32>> {
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_used_up_budget_gives_nothing_and_is_told_once() {
        let budget = Prepared::new(2);
        assert!(budget.take() && budget.take());
        assert!(!budget.is_used_up(), "none had to do without yet");
        assert!(!budget.has_to_be_told());
        assert!(!budget.take() && !budget.take());
        assert!(budget.is_used_up());
        assert!(budget.has_to_be_told() && !budget.has_to_be_told());
    }

    #[test]
    fn sweeps_over_new_classes_each_time_give_ids_to_so_many_and_go_on_with_those() {
        let swept = Swept::new(1000);
        let mut with_ids = 0;
        // A hundred classes live at each sweep, and ten that stay.
        for sweep in 0..50 {
            for hash in (0..10).chain((0..100).map(|n| 1000 * (sweep + 1) + n)) {
                if swept.lets_in(hash, || false) {
                    with_ids += usize::from(hash >= 1000);
                    swept.has(hash);
                }
            }
        }
        assert_eq!(with_ids, 990);
        assert!((0..10).all(|hash| swept.lets_in(hash, || true)));
        assert!(swept.has_to_be_told() && !swept.has_to_be_told());
    }

    #[test]
    fn what_may_be_dead_takes_nothing_from_those_that_stay() {
        let swept = Swept::new(2);
        swept.has(1);
        assert!(!swept.lets_in(7, || true));
        assert!(swept.lets_in(8, || false));
        swept.has(8);
        assert!(!swept.lets_in(7, || true) && !swept.has_to_be_told());
    }
}
