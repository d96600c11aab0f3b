//! GC pauses: the VM posts start and end on one of its own threads, at a safepoint, without JNI.
//!
//! Rule: only atomics, the clock and the fixed queues; no allocation.
//!
//! A recording wants them, or observers of the application do, or both.

use crate::jvm::jvmti::Jvmti;
use crate::log;
use crate::os::thread::current_tid;
use crossbeam_queue::ArrayQueue;
use jvmti_sys::Event;
use signal_core::counters::{Counter, Counters};
use signal_core::engine::monotonic_nanos;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Capacity of each queue. The writer and observers poll theirs 50 times a second.
const QUEUE_CAPACITY: usize = 256;

/// In the order of disabling. Enabling goes the other way round, so that no start is posted without
/// its end.
const EVENTS: [Event; 2] = [
    Event::GARBAGE_COLLECTION_START,
    Event::GARBAGE_COLLECTION_FINISH,
];

/// A pause, in `CLOCK_MONOTONIC` nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GcPause {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Number of the pause in this process, from 1.
    pub(crate) number: u32,
    /// OS thread that posted the events.
    pub(crate) os_tid: i32,
}

/// Observers of pauses, in all copies of the Java API.
#[derive(Debug, Default)]
struct ObserverCount(u32);

impl ObserverCount {
    /// One more, or one less. Says whether pauses are observed if that has changed.
    fn change(&mut self, more: bool) -> Option<bool> {
        let before = self.0 > 0;
        self.0 = if more {
            self.0.saturating_add(1)
        } else {
            self.0.saturating_sub(1)
        };
        let now = self.0 > 0;
        (now != before).then_some(now)
    }
}

/// Pauses of the process.
#[derive(Debug)]
pub(super) struct GcPauses {
    queue: ArrayQueue<GcPause>,
    is_recorded: AtomicBool,
    observed: ArrayQueue<GcPause>,
    is_observed: AtomicBool,
    /// Held while the events are turned on or off.
    observers: Mutex<ObserverCount>,
    /// Start of the current pause, 0 = none.
    begun: AtomicU64,
    count: AtomicU64,
}

impl Default for GcPauses {
    fn default() -> Self {
        Self {
            queue: ArrayQueue::new(QUEUE_CAPACITY),
            is_recorded: AtomicBool::new(false),
            observed: ArrayQueue::new(QUEUE_CAPACITY),
            is_observed: AtomicBool::new(false),
            observers: Mutex::default(),
            begun: AtomicU64::new(0),
            count: AtomicU64::new(0),
        }
    }
}

impl GcPauses {
    pub(super) fn begin(&self) {
        self.begun.store(monotonic_nanos(), Relaxed);
    }

    pub(super) fn end(&self, counters: &Counters) {
        let begin = self.begun.swap(0, Relaxed);
        if begin == 0 {
            return; // started before anybody wanted it
        }
        let number = self.count.fetch_add(1, Relaxed) + 1;
        let pause = GcPause {
            begin,
            end: monotonic_nanos(),
            number: u32::try_from(number).unwrap_or(u32::MAX),
            os_tid: current_tid(),
        };
        if self.is_observed.load(Relaxed) {
            // Of a full queue the oldest goes: nobody matches it any more.
            let _ = self.observed.force_push(pause);
        }
        if self.is_recorded.load(Relaxed) {
            counters.add(Counter::GcSeen);
            if self.queue.push(pause).is_err() {
                counters.add(Counter::GcLost);
            }
        }
    }

    /// For observers: the next pause.
    pub(super) fn take_observed(&self) -> Option<GcPause> {
        self.observed.pop()
    }

    /// A recording wants the pauses from now on, or no longer.
    pub(super) fn record(&self, jvmti: Jvmti, on: bool) {
        let _turning = self.lock();
        self.turn(jvmti, &self.is_recorded, on);
    }

    /// One more observer wants the pauses, or one less.
    pub(super) fn observe(&self, jvmti: Jvmti, more: bool) {
        let mut observers = self.lock();
        if let Some(on) = observers.change(more) {
            while self.take_observed().is_some() {}
            self.turn(jvmti, &self.is_observed, on);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ObserverCount> {
        self.observers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// With the lock.
    fn turn(&self, jvmti: Jvmti, user: &AtomicBool, on: bool) {
        let is_wanted = || self.is_recorded.load(Relaxed) || self.is_observed.load(Relaxed);
        let before = is_wanted();
        user.store(on, Relaxed);
        match (before, is_wanted()) {
            (false, true) => enable(jvmti),
            (true, false) => disable(jvmti),
            _ => {}
        }
    }

    pub(super) fn take(&self) -> Option<GcPause> {
        self.queue.pop()
    }
}

fn enable(jvmti: Jvmti) {
    let mut events = EVENTS.into_iter().rev();
    if let Err(error) = events.try_for_each(|e| jvmti.notify(e, true)) {
        log::warn(&format!("GC pauses are not recorded: {error}"));
    }
}

fn disable(jvmti: Jvmti) {
    for event in EVENTS {
        let _ = jvmti.notify(event, false); // cannot fail after `enable`
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_has_start_end_and_number_and_a_full_queue_is_counted() {
        let (gc, counters) = (GcPauses::default(), Counters::new());
        gc.is_recorded.store(true, Relaxed);
        gc.end(&counters);
        assert_eq!(gc.take(), None, "an end without a begin is no pause");
        for _ in 0..QUEUE_CAPACITY + 3 {
            gc.begin();
            gc.end(&counters);
        }
        let first = gc.take().expect("a pause");
        assert!(first.number == 1 && first.begin <= first.end);
        assert_eq!(counters.get(Counter::GcLost), 3);
        assert_eq!(counters.get(Counter::GcSeen), QUEUE_CAPACITY as u64 + 3);
        assert_eq!(gc.take_observed(), None, "nobody observes");
    }

    #[test]
    fn first_and_last_observer_turn_pauses() {
        let mut observers = ObserverCount::default();
        let changes = [true, true, false, false, false, true];
        let turns = changes
            .into_iter()
            .filter_map(|more| observers.change(more));
        assert_eq!(turns.collect::<Vec<_>>(), [true, false, true]);
    }

    #[test]
    fn observers_get_the_newest_pauses_and_no_recording_counts_them() {
        let (gc, counters) = (GcPauses::default(), Counters::new());
        gc.is_observed.store(true, Relaxed);
        for _ in 0..QUEUE_CAPACITY + 3 {
            gc.begin();
            gc.end(&counters);
        }
        assert_eq!(gc.take_observed().expect("a pause").number, 4);
        assert_eq!(gc.take(), None);
        assert_eq!(counters.get(Counter::GcSeen), 0);
    }
}
