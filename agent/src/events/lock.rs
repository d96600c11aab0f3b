//! Lock contention: the VM calls back when a thread starts to wait for a monitor of another thread,
//! and when it has acquired it.
//!
//! The two calls are paired by the logical thread: on 24 and later a waiting virtual thread
//! unmounts and may continue on another carrier. Until the wait is known to be long enough, the
//! callbacks only read the clock and the holder.
//!
//! Rule: a wait counts only if it started after the events were enabled. A callback may note a
//! start late, after the events were disabled and the notes cleared; its end may come when they are
//! on again, after a pause.

use super::holder;
use super::queue::{CallbackContext, MonitorHolder, ObservedEvent, Payload};
use crate::hotspot::monitors::MonitorLayout;
use crate::jvm::jni::LocalRef;
use crate::jvm::jvmti::Jvmti;
use crate::log;
use dashmap::DashMap;
use jvmti_sys::{Capability, Event};
use schema::event_mask::MONITOR_ENTER_BIT;
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Duration;

/// Maximum number of concurrent waits that are recorded.
const MAX_WAITING: usize = 65_536;

/// A wait that has started.
#[derive(Debug)]
struct WaitBegin {
    nanos: u64,
    holder: Option<MonitorHolder>,
}

/// The current waits: start and holder of each.
#[derive(Debug, Default)]
struct PendingWaits {
    since: DashMap<i64, WaitBegin>,
    count: AtomicUsize,
    /// When the events were enabled.
    turned_on: AtomicU64,
}

impl PendingWaits {
    /// Notes that the events are enabled at `nanos`.
    fn turns_on(&self, nanos: u64) {
        self.turned_on.store(nanos, Relaxed);
    }

    /// Notes the start of a wait; `false` if the table is full.
    fn begins(&self, tid: i64, begin: WaitBegin) -> bool {
        if self.is_full() {
            return false;
        }
        if self.since.insert(tid, begin).is_none() {
            self.count.fetch_add(1, Relaxed);
        }
        true
    }

    fn is_full(&self) -> bool {
        self.count.load(Relaxed) >= MAX_WAITING
    }

    /// The start of the thread's wait, if it was noted since the events were enabled.
    fn ends(&self, tid: i64) -> Option<WaitBegin> {
        let (_, begin) = self.since.remove(&tid)?;
        self.count.fetch_sub(1, Relaxed);
        (begin.nanos >= self.turned_on.load(Relaxed)).then_some(begin)
    }

    /// Clears all notes. A wait that ends later finds no start.
    fn clear(&self) {
        self.since.retain(|_, _| {
            self.count.fetch_sub(1, Relaxed);
            false
        });
    }
}

const EVENTS: [Event; 2] = [
    Event::MONITOR_CONTENDED_ENTER,
    Event::MONITOR_CONTENDED_ENTERED,
];

/// The events of lock contention.
#[derive(Debug, Default)]
pub(super) struct LockEvents {
    waits: PendingWaits,
    min_wait_nanos: AtomicU64,
    /// Unset before the first use, `None` if this VM's monitors are not known.
    monitors: OnceLock<Option<MonitorLayout>>,
}

impl LockEvents {
    /// Enables the events, for waits of at least `shortest`.
    pub(super) fn enable(&self, jvmti: Jvmti, shortest: Duration) {
        let nanos = u64::try_from(shortest.as_nanos()).unwrap_or(u64::MAX);
        self.min_wait_nanos.store(nanos, Relaxed);
        self.monitors.get_or_init(MonitorLayout::find);
        self.waits.turns_on(monotonic_nanos());
        let enabled = jvmti
            .add_capability(Capability::CAN_GENERATE_MONITOR_EVENTS)
            .and_then(|()| EVENTS.into_iter().try_for_each(|e| jvmti.notify(e, true)));
        if let Err(error) = enabled {
            log::warn(&format!("lock contention is not recorded: {error}"));
        }
    }

    /// Disables them.
    pub(super) fn disable(&self, jvmti: Jvmti) {
        for event in EVENTS {
            // Fails if the capability was never requested: then nothing is on.
            let _ = jvmti.notify(event, false);
        }
        self.waits.clear();
    }

    /// The calling thread starts to wait.
    pub(super) fn on_wait(&self, context: &CallbackContext<'_>) {
        let queue = context.queue;
        let tid = queue.current_thread().logical_tid;
        if tid == 0 {
            return;
        }
        let layout = self.monitors.get().and_then(Option::as_ref);
        let holder = layout
            .zip(queue.current_record())
            .and_then(|(layout, waiter)| holder::of_pending_monitor(queue, layout, waiter));
        let begin = WaitBegin {
            nanos: context.nanos,
            holder,
        };
        if !self.waits.begins(tid, begin) {
            queue.handler.counters.add(Counter::LockSeen);
            queue.handler.counters.add(Counter::LockLost);
        }
    }

    /// The calling thread has acquired the monitor of `object`, which it holds during this call.
    pub(super) fn on_entered(&self, context: &CallbackContext<'_>, object: &LocalRef<'_>) {
        let (queue, jvmti) = (context.queue, context.queue.jvmti);
        let counters = &queue.handler.counters;
        let tid = queue.current_thread().logical_tid;
        let Some(begin) = self.waits.ends(tid) else {
            // That of a full table is counted as lost.
            if !self.waits.is_full() {
                counters.add(Counter::LockBefore);
            }
            return;
        };
        counters.add(Counter::LockSeen);
        let nanos = context.nanos.saturating_sub(begin.nanos);
        if nanos < self.min_wait_nanos.load(Relaxed) {
            return counters.add(Counter::LockShort);
        }
        let Some((thread, values)) = queue.current_context(MONITOR_ENTER_BIT) else {
            return counters.add(Counter::LockFiltered);
        };
        let event = ObservedEvent {
            nanos: context.nanos,
            thread,
            values,
            frames: jvmti.stack_here(queue.depth()),
            class: context.class_name(object),
            payload: Payload::MonitorWait {
                nanos,
                hash: jvmti.identity_hash(object).unwrap_or(0),
            },
            holder: begin.holder,
        };
        if !queue.push(event) {
            counters.add(Counter::LockLost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(nanos: u64) -> WaitBegin {
        WaitBegin {
            nanos,
            holder: None,
        }
    }

    fn end(waiting: &PendingWaits, tid: i64) -> Option<u64> {
        waiting.ends(tid).map(|begin| begin.nanos)
    }

    #[test]
    fn an_end_finds_its_own_start_once() {
        let waiting = PendingWaits::default();
        assert!(waiting.begins(7, begin(100)) && waiting.begins(8, begin(200)));
        assert_eq!(end(&waiting, 7), Some(100));
        assert_eq!(end(&waiting, 7), None);
        waiting.clear();
        assert_eq!(end(&waiting, 8), None);
        assert_eq!(waiting.count.load(Relaxed), 0);
    }

    /// The callback notes the start after the pause has cleared the table.
    #[test]
    fn a_start_before_a_pause_has_no_end_after_it() {
        let waiting = PendingWaits::default();
        waiting.turns_on(50);
        waiting.clear();
        assert!(waiting.begins(7, begin(100)));
        waiting.turns_on(200);
        assert_eq!(end(&waiting, 7), None);
        assert!(waiting.begins(7, begin(200)));
        assert_eq!(end(&waiting, 7), Some(200));
        assert_eq!(waiting.count.load(Relaxed), 0);
    }

    #[test]
    fn a_full_table_refuses_waits_and_counts_a_thread_once() {
        let waiting = PendingWaits::default();
        for tid in 1..=i64::try_from(MAX_WAITING).expect("small") {
            assert!(waiting.begins(tid, begin(0)));
        }
        assert!(!waiting.begins(-1, begin(0)));
        assert_eq!(end(&waiting, 1), Some(0));
        assert!(waiting.begins(2, begin(5)));
        assert_eq!(waiting.count.load(Relaxed), MAX_WAITING - 1);
    }
}
