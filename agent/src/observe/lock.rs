//! Waits for monitors: the VM calls back when a thread begins to wait for a monitor that another one holds, and when it has got it.
//!
//! The two calls are paired by the logical thread: on 24 and later a virtual thread gives its carrier back while it waits and may go on
//! with another one. Nothing but a clock reading is done before it is known that the wait was long enough.

use super::{Scene, Seen, What, context_here, who};
use crate::jvm::jvmti::Jvmti;
use crate::log;
use crate::stats;
use dashmap::DashMap;
use jni_sys::jobject;
use jvmti_sys::{Capability, Event};
use signal_core::layout::MONITOR_ENTER_BIT;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Threads that can wait at once and be recorded.
const MAX_WAITING: usize = 65_536;

/// Threads that wait now: since when.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    since: DashMap<i64, u64>,
    count: AtomicUsize,
}

impl Waiting {
    /// Notes the begin of a wait; `false` if there is no room.
    fn begins(&self, tid: i64, nanos: u64) -> bool {
        if self.count.load(Relaxed) >= MAX_WAITING {
            return false;
        }
        if self.since.insert(tid, nanos).is_none() {
            self.count.fetch_add(1, Relaxed);
        }
        true
    }

    /// Since when the thread has waited, if its begin was noted.
    fn ends(&self, tid: i64) -> Option<u64> {
        let (_, since) = self.since.remove(&tid)?;
        self.count.fetch_sub(1, Relaxed);
        Some(since)
    }

    /// Forgets all. A wait that ends later finds no begin.
    pub(super) fn clear(&self) {
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

/// Turns the events on.
pub(super) fn begin(jvmti: Jvmti) {
    let made = jvmti
        .add_capability(Capability::CAN_GENERATE_MONITOR_EVENTS)
        .and_then(|()| EVENTS.into_iter().try_for_each(|e| jvmti.notify(e, true)));
    if let Err(error) = made {
        log::warn(&format!("waits for monitors are not recorded: {error}"));
    }
}

/// Turns them off.
pub(super) fn end(jvmti: Jvmti) {
    for event in EVENTS {
        // Fails where the capability was never asked for: nothing is on then.
        let _ = jvmti.notify(event, false);
    }
}

/// The calling thread begins to wait.
pub(super) fn on_blocked(scene: &Scene) {
    let observers = &scene.live.observers;
    let tid = who(scene.live).logical_tid;
    if tid != 0 && !observers.waiting.begins(tid, scene.nanos) {
        stats::add(&observers.counters.lock_seen, 1);
        stats::add(&observers.counters.lock_lost, 1);
    }
}

/// The calling thread has got the monitor of `object`, which it holds during this call.
pub(super) fn on_entered(scene: &Scene, object: jobject) {
    let observers = &scene.live.observers;
    let counters = &observers.counters;
    let Some(since) = observers.waiting.ends(who(scene.live).logical_tid) else {
        return; // began before the recording
    };
    stats::add(&counters.lock_seen, 1);
    let nanos = scene.nanos.saturating_sub(since);
    if nanos < observers.lock_nanos.load(Relaxed) {
        return stats::add(&counters.lock_short, 1);
    }
    let Some((who, values)) = context_here(scene.live, MONITOR_ENTER_BIT) else {
        return stats::add(&counters.lock_filtered, 1);
    };
    let class = scene.jni.class_of(object);
    let seen = Seen {
        nanos: scene.nanos,
        who,
        values,
        frames: scene.jvmti.stack_here(observers.depth()),
        class: class
            .and_then(|class| scene.jvmti.class_signature(class).ok())
            .unwrap_or_default(),
        what: What::Monitor {
            nanos,
            hash: scene.jvmti.identity_hash(object).unwrap_or(0),
        },
    };
    if let Some(class) = class {
        scene.jni.delete_local(class);
    }
    if !observers.hand_over(seen) {
        stats::add(&counters.lock_lost, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_finds_its_own_begin_once() {
        let waiting = Waiting::default();
        assert!(waiting.begins(7, 100) && waiting.begins(8, 200));
        assert_eq!(waiting.ends(7), Some(100));
        assert_eq!(waiting.ends(7), None);
        waiting.clear();
        assert_eq!(waiting.ends(8), None);
        assert_eq!(waiting.count.load(Relaxed), 0);
    }

    #[test]
    fn a_full_table_takes_no_more_and_the_same_thread_counts_once() {
        let waiting = Waiting::default();
        for tid in 1..=i64::try_from(MAX_WAITING).expect("small") {
            assert!(waiting.begins(tid, 0));
        }
        assert!(!waiting.begins(-1, 0));
        assert_eq!(waiting.ends(1), Some(0));
        assert!(waiting.begins(2, 5));
        assert_eq!(waiting.count.load(Relaxed), MAX_WAITING - 1);
    }
}
