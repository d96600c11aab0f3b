//! GC pauses: the VM posts start and end on one of its own threads, at a safepoint, without JNI.
//!
//! Rule: only atomics, the clock and the fixed queue; no allocation.

use crate::jvm::jvmti::Jvmti;
use crate::log;
use crate::os::thread::current_tid;
use crossbeam_queue::ArrayQueue;
use jvmti_sys::Event;
use signal_core::counters::{Counter, Counters};
use signal_core::engine::monotonic_nanos;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Capacity of the queue. The writer polls it 50 times a second.
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

/// Pauses of the process.
#[derive(Debug)]
pub(super) struct GcPauses {
    queue: ArrayQueue<GcPause>,
    /// Start of the current pause, 0 = none.
    begun: AtomicU64,
    count: AtomicU64,
}

impl Default for GcPauses {
    fn default() -> Self {
        Self {
            queue: ArrayQueue::new(QUEUE_CAPACITY),
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
            return; // started before the recording
        }
        let number = self.count.fetch_add(1, Relaxed) + 1;
        counters.add(Counter::GcSeen);
        let pause = GcPause {
            begin,
            end: monotonic_nanos(),
            number: u32::try_from(number).unwrap_or(u32::MAX),
            os_tid: current_tid(),
        };
        if self.queue.push(pause).is_err() {
            counters.add(Counter::GcLost);
        }
    }

    pub(super) fn take(&self) -> Option<GcPause> {
        self.queue.pop()
    }
}

/// Turns the events on.
pub(super) fn enable(jvmti: Jvmti) {
    let mut events = EVENTS.into_iter().rev();
    if let Err(error) = events.try_for_each(|e| jvmti.notify(e, true)) {
        log::warn(&format!("GC pauses are not recorded: {error}"));
    }
}

/// Turns them off.
pub(super) fn disable(jvmti: Jvmti) {
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
    }
}
