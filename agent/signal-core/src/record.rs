//! What is known of an OS thread that may be sampled: one record of a slab, published by OS thread
//! id and by the thread's own TLS word.
//!
//! Assumptions: a record is filled and retired by set-up code, for its own thread with our signals
//! blocked; its handlers run on that thread only. Hence a record can be used again at once: only
//! its own thread's handler reads it in a signal. Threads of the agent, and one that asks who holds
//! a monitor, read single words of it remotely. These may be the next thread's already; the serial
//! says whose they are. Guarantees: a handler sees a complete record or none.

use crate::lost_weights::LostWeights;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, AtomicUsize};
use stack_walker::cache::prefetch_hints::PrefetchHints;

/// `state`: not in use.
pub const FREE: u32 = 0;
/// `state`: the thread is between its start and its end.
pub const RUNNING: u32 = 1;

/// A thread as its handler needs it. Addresses are plain numbers: 0 = unknown.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct ThreadRecord {
    /// [`FREE`] or [`RUNNING`].
    pub state: AtomicU32,
    /// 1 while a handler runs on the thread.
    pub in_handler: AtomicU32,
    /// OS thread id.
    pub os_tid: AtomicI32,
    /// Index of this record, so that its owner can give it back.
    pub index: AtomicU32,
    /// Serial of the thread in this process, never used twice: key of its name and ids off-signal.
    pub serial: AtomicU64,
    /// Java thread id of the platform thread itself.
    pub java_tid: AtomicI64,
    /// Id of the virtual thread that it carries, 0 = none. Written by the thread itself, and only
    /// where the VM posts mount events.
    pub mounted: AtomicI64,
    /// Address of the `JavaThread`.
    pub java_thread: AtomicUsize,
    /// Its `JNIEnv`.
    pub jni_env: AtomicUsize,
    /// Lowest address of its stack, guard zones included.
    pub stack_low: AtomicUsize,
    /// Highest address of its stack.
    pub stack_high: AtomicUsize,
    /// Kernel id of the timer on the thread's CPU clock plus one, 0 = none.
    pub cpu_timer: AtomicI32,
    /// State of the random generator of this thread.
    pub seed: AtomicU64,
    /// Wall clock: [`WALL_PENDING`], [`WALL_AWAKE`], [`WALL_ASLEEP`] or [`WALL_LEFT_OUT`].
    pub wall_state: AtomicU32,
    /// Wall clock: CPU time at the end of the last sample.
    pub wall_cpu_ns: AtomicU64,
    /// Weights of its lost samples; off-signal only.
    pub lost_weights: LostWeights,
    /// Monotonic time at which the thread has ended; off-signal only.
    pub ended_at_ns: AtomicU64,
    /// What its last walk read.
    pub prefetch_hints: PrefetchHints,
}

/// `wall_state`: found running, or never sampled.
pub const WALL_AWAKE: u32 = 0;
/// `wall_state`: found in a system call or blocked in the VM.
pub const WALL_ASLEEP: u32 = 1;
/// `wall_state`: the signal is on its way.
pub const WALL_PENDING: u32 = 2;
/// `wall_state`: the signal came and no sample was taken, because it was not wanted or could not
/// be.
pub const WALL_LEFT_OUT: u32 = 3;

/// The records, and the table from OS thread id to record.
#[derive(Debug, Clone, Copy)]
pub struct RecordTable {
    records: &'static [ThreadRecord],
    /// Per OS thread id: index + 1, 0 = none.
    by_tid: &'static [AtomicU32],
}

/// Facts of a thread, given once when it is registered.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadFacts {
    /// See [`ThreadRecord::os_tid`].
    pub os_tid: i32,
    /// See [`ThreadRecord::serial`].
    pub serial: u64,
    /// See [`ThreadRecord::java_tid`].
    pub java_tid: i64,
    /// See [`ThreadRecord::java_thread`].
    pub java_thread: usize,
    /// See [`ThreadRecord::jni_env`].
    pub jni_env: usize,
    /// See [`ThreadRecord::stack_low`].
    pub stack_low: usize,
    /// See [`ThreadRecord::stack_high`].
    pub stack_high: usize,
}

/// Set-up methods: never called from a handler.
impl RecordTable {
    /// A table over zeroed memory.
    pub fn new(records: &'static [ThreadRecord], by_tid: &'static [AtomicU32]) -> Self {
        Self { records, by_tid }
    }

    /// How many threads can be known at once.
    pub fn capacity(&self) -> usize {
        self.records.len()
    }

    /// The cells by OS thread id, for the owner of their memory, which gives back pages of zeros.
    pub fn cells(&self) -> &'static [AtomicU32] {
        self.by_tid
    }

    /// The record at `index`.
    pub fn at(&self, index: u32) -> Option<&'static ThreadRecord> {
        self.records.get(index as usize)
    }

    /// Fills the free record `index` and publishes it by OS thread id. `false` if there is no such
    /// record or the id is beyond the table.
    ///
    /// # Safety
    /// Rule 5: until the record is retired, `facts.java_thread` is 0 or the live `JavaThread` of
    /// the thread `facts.os_tid`, and `facts.jni_env` is 0 or its `JNIEnv`.
    pub unsafe fn publish(&self, index: u32, facts: &ThreadFacts) -> bool {
        let (Some(record), Some(cell)) = (self.at(index), self.cell(facts.os_tid)) else {
            return false;
        };
        record.index.store(index, Relaxed);
        record.os_tid.store(facts.os_tid, Relaxed);
        record.serial.store(facts.serial, Relaxed);
        record.java_tid.store(facts.java_tid, Relaxed);
        record.mounted.store(0, Relaxed);
        record.java_thread.store(facts.java_thread, Relaxed);
        record.jni_env.store(facts.jni_env, Relaxed);
        record.stack_low.store(facts.stack_low, Relaxed);
        record.stack_high.store(facts.stack_high, Relaxed);
        record.in_handler.store(0, Relaxed);
        record.cpu_timer.store(0, Relaxed);
        record.wall_state.store(WALL_AWAKE, Relaxed);
        record.lost_weights.clear();
        // Release: pairs with the Acquire in `running`; the facts above are visible with the state.
        record.state.store(RUNNING, Release);
        // Release: pairs with the Acquire in `by_os_tid`.
        cell.store(index.wrapping_add(1), Release);
        true
    }

    /// Takes a record out of use. The caller has deleted the thread's timer.
    ///
    /// # Safety
    /// Rule 5: called on the record's own thread, with our signals blocked and no `CurrentThread`
    /// in use, or after that thread has ended.
    pub unsafe fn retire(&self, record: &ThreadRecord) {
        let index = record.index.load(Relaxed);
        record.state.store(FREE, Release);
        if let Some(cell) = self.cell(record.os_tid.load(Relaxed)) {
            // Only if it still names this record: the id may belong to a new thread already.
            let _ = cell.compare_exchange(index.wrapping_add(1), 0, Release, Relaxed);
        }
    }
}

/// Signal-safe methods.
impl RecordTable {
    /// The record of an OS thread, if it is registered.
    pub fn by_os_tid(&self, os_tid: i32) -> Option<&'static ThreadRecord> {
        // Acquire: pairs with the Release in `publish`.
        let index = self.cell(os_tid)?.load(Acquire).checked_sub(1)?;
        self.records.get(index as usize)
    }

    fn cell(&self, os_tid: i32) -> Option<&'static AtomicU32> {
        self.by_tid.get(usize::try_from(os_tid).ok()?)
    }
}

impl ThreadRecord {
    /// Signal-safe: whether the thread is between start and end.
    pub fn running(&self) -> bool {
        self.state.load(Acquire) == RUNNING
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    fn table(records: usize, tids: usize) -> RecordTable {
        // SAFETY: records are atomics only; zero is a valid (free) record.
        let records: Vec<ThreadRecord> = (0..records)
            .map(|_| unsafe { core::mem::zeroed() })
            .collect();
        let by_tid: Vec<AtomicU32> = (0..tids).map(|_| AtomicU32::new(0)).collect();
        RecordTable::new(
            Box::leak(records.into_boxed_slice()),
            Box::leak(by_tid.into_boxed_slice()),
        )
    }

    fn publish(t: &RecordTable, index: u32, facts: &ThreadFacts) -> bool {
        // SAFETY: no JavaThread.
        unsafe { t.publish(index, facts) }
    }

    fn retire(t: &RecordTable, record: &ThreadRecord) {
        // SAFETY: no handler runs here.
        unsafe { t.retire(record) };
    }

    #[test]
    fn a_published_record_is_found_until_it_is_retired() {
        let t = table(2, 100);
        let facts = ThreadFacts {
            os_tid: 42,
            java_tid: 7,
            ..ThreadFacts::default()
        };
        assert!(publish(&t, 1, &facts));
        let r = t.by_os_tid(42).expect("published");
        assert!(r.running());
        assert_eq!(r.java_tid.load(Relaxed), 7);
        retire(&t, r);
        assert!(!r.running());
        assert!(t.by_os_tid(42).is_none());
    }

    #[test]
    fn ids_outside_the_table_are_refused_not_indexed() {
        let t = table(1, 100);
        assert!(!publish(
            &t,
            0,
            &ThreadFacts {
                os_tid: 100,
                ..ThreadFacts::default()
            }
        ));
        assert!(!publish(
            &t,
            0,
            &ThreadFacts {
                os_tid: -1,
                ..ThreadFacts::default()
            }
        ));
        assert!(!publish(
            &t,
            1,
            &ThreadFacts {
                os_tid: 5,
                ..ThreadFacts::default()
            }
        ));
        assert!(t.by_os_tid(i32::MAX).is_none());
    }

    #[test]
    fn retiring_late_leaves_a_new_thread_with_the_same_id_alone() {
        let t = table(2, 100);
        publish(
            &t,
            0,
            &ThreadFacts {
                os_tid: 9,
                ..ThreadFacts::default()
            },
        );
        let old = t.by_os_tid(9).expect("published");
        publish(
            &t,
            1,
            &ThreadFacts {
                os_tid: 9,
                java_tid: 2,
                ..ThreadFacts::default()
            },
        );
        retire(&t, old);
        assert_eq!(
            t.by_os_tid(9)
                .expect("new one stays")
                .java_tid
                .load(Relaxed),
            2
        );
    }
}
