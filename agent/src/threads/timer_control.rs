//! Starts and stops the CPU timers of all threads, and rearms those that no longer fire.

use super::cpu_timers::TimerSettings;
use super::directory::ThreadDirectory;
use crate::os::{tasks, timers};
use fault_injection::Fault;
use signal_core::record::ThreadRecord;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

impl ThreadDirectory {
    /// Gives every thread its timers: the live ones at once, others when they start.
    pub(crate) fn start_timers(&self, signal: i32, is_fine: bool) {
        self.arm_registered(TimerSettings { signal, is_fine });
        self.scan_natives();
    }

    fn arm_registered(&self, settings: TimerSettings) {
        let mut state = self.lock();
        state.timers.start(settings);
        self.remove_outdated_natives(&mut state);
        let records: Vec<_> = self.records(&state).collect();
        for record in records {
            state.timers.arm(&self.handler.engine, record, false);
        }
        self.unlock(state);
    }

    /// Deletes all timers; none are created until the next start.
    pub(crate) fn stop_timers(&self) {
        let mut state = self.lock();
        state.timers.settings = None;
        if fault_injection::is(Fault::TimersKept) {
            return;
        }
        self.records(&state).for_each(timers::delete);
    }

    /// Rearms threads that two checks in a row, this one and the last, found without an armed
    /// timer. A foreign signal handler was installed for a moment and received the signal that was
    /// due; nothing else would arm such a thread again.
    ///
    /// Returns the number of sample points that those threads had passed.
    pub(crate) fn rearm_stalled(&self) -> u64 {
        let state = self.lock();
        let Some(TimerSettings {
            signal,
            is_fine: true,
        }) = state.timers.settings
        else {
            return 0; // periodic timers stay armed
        };
        let end = state.pool.end();
        drop(state);
        let mut stalled = self.stalled.lock().unwrap_or_else(PoisonError::into_inner);
        let indices = stalled.next_indices(end);
        let records = indices.into_iter();
        let records = records.filter_map(|i| self.handler.records.at(i));
        let suspects: Vec<_> = records.filter(|r| self.is_stalled(r)).collect();
        let ids = |r: &&ThreadRecord| (r.serial.load(Relaxed), r.index.load(Relaxed));
        let suspect_ids = suspects.iter().map(ids).collect();
        let previous = std::mem::replace(&mut stalled.suspects, suspect_ids);
        let is_lost = |record: &ThreadRecord| {
            // Where the thread blocks the signal, it is still pending.
            previous.contains_key(&record.serial.load(Relaxed))
                && !tasks::is_pending(record.os_tid.load(Relaxed), signal)
        };
        let lost = suspects.into_iter().filter(|record| is_lost(record));
        lost.map(|record| u64::from(self.rearm(record))).sum()
    }

    /// Whether neither timer will fire, and the idle-thread sampler does not have the thread.
    fn is_stalled(&self, record: &ThreadRecord) -> bool {
        record.running()
            && !self.handler.engine.idle.has(record.index.load(Relaxed))
            && timers::are_disarmed(record)
    }

    fn rearm(&self, record: &ThreadRecord) -> u32 {
        let state = self.lock(); // rule 1
        if state.timers.settings.is_none() || !record.running() || !self.is_stalled(record) {
            return 0;
        }
        // The last check: a running handler has found the timers disarmed, too. It counts the
        // points, and arms them.
        if record.in_handler.load(Relaxed) != 0 {
            return 0;
        }
        let cpu_ns = timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
        let unsampled = self.handler.engine.end(record, cpu_ns);
        self.handler.engine.start(record, cpu_ns, false);
        unsampled
    }

    /// After the end of sampling: the number of sample points that threads had passed without a
    /// sample. A thread in its handler is left out: the handler may count them itself.
    pub(crate) fn end_sampling(&self) -> u64 {
        let state = self.lock();
        let cpu_ns = |record: &ThreadRecord| timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
        self.records(&state)
            .filter(|record| record.in_handler.load(Relaxed) == 0)
            .map(|record| u64::from(self.handler.engine.end(record, cpu_ns(record))))
            .sum()
    }
}
