//! Creates method ids. A stack walk in a handler finds only methods that have an id, and cannot
//! create one.
//!
//! Up to 25 the VM never frees the ids of an unloaded class: 120 bytes for a hidden class of three
//! methods, and some applications create such classes all the time. So both sources of ids have a
//! limit for the life of the VM:
//!
//! 1. A class gets ids when it is prepared.
//! 2. A sweep creates ids for all loaded classes without. It runs at the start of a recording, and
//!    when stacks show methods without ids. It also finds dead classes that are not yet unloaded.
//!    Once the limit of 1 is reached, the sweep skips hidden classes, so that its own limit lasts
//!    for the others.

use super::jni::{Jni, LocalRef};
use super::jvmti::Jvmti;
use crate::log;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The limit of each source: 24 MB of hidden classes.
const MAX_CLASSES: u64 = 200_000;

static PREPARE_BUDGET: PrepareBudget = PrepareBudget::new(MAX_CLASSES);
static SWEPT_CLASSES: SweptClasses = SweptClasses::new(MAX_CLASSES);

/// ClassPrepare, on the thread that prepares the class.
pub(crate) fn on_class_prepare(jvmti: Jvmti, class: &LocalRef<'_>) {
    if PREPARE_BUDGET.take() {
        // This fails for an unloaded class. Its frames have no name then, and are counted.
        let _ = jvmti.create_method_ids(class);
    }
}

/// Creates the method ids of every loaded class, within the limit.
pub(crate) fn sweep(jvmti: Jvmti, jni: Jni) {
    jni.with_local_frame(|jni| {
        for class in jvmti.loaded_classes(jni).unwrap_or_default() {
            // A later class rarely has the same hash; its ids are then not counted.
            let Ok(hash) = jvmti.identity_hash(&class) else {
                continue;
            };
            let may_be_dead = || PREPARE_BUDGET.is_used_up() && is_hidden(jvmti, &class);
            if SWEPT_CLASSES.admits(hash, may_be_dead) {
                // Arrays and unprepared classes have no methods.
                let created = jvmti.create_method_ids(&class);
                if created.is_ok_and(|methods| methods > 0) {
                    SWEPT_CLASSES.insert(hash);
                }
            }
        }
    });
}

/// Whether this is a class like `app/A$$Lambda.0x00007f`.
fn is_hidden(jvmti: Jvmti, class: &LocalRef<'_>) -> bool {
    jvmti
        .class_signature(class)
        .is_ok_and(|signature| signature.contains('.'))
}

/// Warns once for each limit that is reached. The writer calls this, because a callback must not
/// wait for the disk.
pub(crate) fn warn_of_classes_without() {
    const WHY: &str = "the JVM never frees what it needs to name the methods of a class";
    if PREPARE_BUDGET.should_warn() {
        log::warn(&format!(
            "{MAX_CLASSES} classes were loaded while recording; methods of further ones may be \
             without name for up to a minute, of hidden ones permanently ({WHY})"
        ));
    }
    if SWEPT_CLASSES.should_warn() {
        log::warn(&format!(
            "methods of classes that were loaded late have no name any more, after {MAX_CLASSES} \
             such classes ({WHY})"
        ));
    }
}

/// How many more classes get method ids when they are prepared. It is never refilled.
#[derive(Debug)]
struct PrepareBudget {
    limit: u64,
    // Relaxed, both: they order nothing else.
    used: AtomicU64,
    has_warned: AtomicBool,
}

impl PrepareBudget {
    const fn new(limit: u64) -> Self {
        Self {
            limit,
            used: AtomicU64::new(0),
            has_warned: AtomicBool::new(false),
        }
    }

    fn take(&self) -> bool {
        self.used.fetch_add(1, Relaxed) < self.limit
    }

    /// Whether a class got no ids.
    fn is_used_up(&self) -> bool {
        self.used.load(Relaxed) > self.limit
    }

    /// The same, but `true` only once.
    fn should_warn(&self) -> bool {
        self.is_used_up() && !self.has_warned.swap(true, Relaxed)
    }
}

/// Identity hashes of the classes that sweeps gave ids to, or found with ids. Later sweeps visit
/// them again, because a redefinition adds methods.
#[derive(Debug)]
struct SweptClasses {
    limit: u64,
    hashes: Mutex<FxHashSet<u32>>,
    // Relaxed, both: they order nothing else.
    is_full: AtomicBool,
    has_warned: AtomicBool,
}

impl SweptClasses {
    const fn new(limit: u64) -> Self {
        Self {
            limit,
            hashes: Mutex::new(FxHashSet::with_hasher(FxBuildHasher)),
            is_full: AtomicBool::new(false),
            has_warned: AtomicBool::new(false),
        }
    }

    /// Whether a sweep creates ids for a class.
    fn admits(&self, hash: u32, may_be_dead: impl FnOnce() -> bool) -> bool {
        let (is_known, count) = {
            let hashes = self.hashes();
            (hashes.contains(&hash), hashes.len() as u64)
        };
        if is_known {
            return true;
        }
        if may_be_dead() {
            return false; // `may_be_dead` calls the VM, hence not under the lock
        }
        if count >= self.limit {
            self.is_full.store(true, Relaxed);
        }
        count < self.limit
    }

    fn insert(&self, hash: u32) {
        self.hashes().insert(hash);
    }

    fn should_warn(&self) -> bool {
        self.is_full.load(Relaxed) && !self.has_warned.swap(true, Relaxed)
    }

    fn hashes(&self) -> MutexGuard<'_, FxHashSet<u32>> {
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_used_up_budget_warns_once() {
        let budget = PrepareBudget::new(2);
        assert!(budget.take() && budget.take());
        assert!(!budget.is_used_up(), "every class got ids so far");
        assert!(!budget.should_warn());
        assert!(!budget.take() && !budget.take());
        assert!(budget.is_used_up());
        assert!(budget.should_warn() && !budget.should_warn());
    }

    #[test]
    fn sweeps_admit_classes_up_to_the_limit() {
        let swept = SweptClasses::new(1000);
        let mut with_ids = 0;
        // Each sweep finds ten permanent classes and a hundred new ones.
        for sweep in 0..50 {
            for hash in (0..10).chain((0..100).map(|n| 1000 * (sweep + 1) + n)) {
                if swept.admits(hash, || false) {
                    with_ids += usize::from(hash >= 1000);
                    swept.insert(hash);
                }
            }
        }
        assert_eq!(with_ids, 990);
        assert!((0..10).all(|hash| swept.admits(hash, || true)));
        assert!(swept.should_warn() && !swept.should_warn());
    }

    #[test]
    fn classes_that_may_be_dead_use_no_budget() {
        let swept = SweptClasses::new(2);
        swept.insert(1);
        assert!(!swept.admits(7, || true));
        assert!(swept.admits(8, || false));
        swept.insert(8);
        assert!(!swept.admits(7, || true) && !swept.should_warn());
    }
}
