//! The timers on the CPU clocks of threads (`engine=tick`): which threads have one, and which could
//! not get it.

use crate::log;
use crate::os::{tasks, timers};
use signal_core::engine::Engine;
use signal_core::record::ThreadRecord;
use std::collections::HashSet;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// The CPU timers of all threads. Only code that holds the lock of the directory reaches it.
#[derive(Debug, Default)]
pub(super) struct CpuTimers {
    /// The signal, `None` while nothing is sampled this way.
    signal: Option<i32>,
    /// Indices of the records that should have a timer and have none.
    without_timer: HashSet<u32>,
    /// Timers created so far.
    created: u64,
    is_failure_reported: bool,
    /// To be reported once the lock is free.
    pub(super) failure: Option<TimerFailure>,
}

/// The first thread of a recording that got no timer.
#[derive(Debug)]
pub(super) struct TimerFailure(io::Error);

impl TimerFailure {
    /// Warns the user.
    pub(super) fn report(&self) {
        log::warn(&format!(
            "no CPU timer for a thread ({}); it will not be sampled. If this is EAGAIN, raise the \
             limit of pending signals (ulimit -i)",
            self.0
        ));
    }
}

/// How many threads have timers.
#[derive(Debug)]
pub(super) struct TimerCounts {
    pub(super) created: u64,
    pub(super) without_timer: u64,
}

impl CpuTimers {
    /// Threads get timers from now on: no timer has failed yet.
    pub(super) fn start(&mut self, signal: i32) {
        self.signal = Some(signal);
        self.without_timer.clear();
        self.is_failure_reported = false;
    }

    /// No timer is created until the next start.
    pub(super) fn stop(&mut self) {
        self.signal = None;
    }

    /// Creates the timer of a thread that has none, if a recording wants it.
    pub(super) fn arm(&mut self, engine: &Engine, record: &ThreadRecord) {
        let Some(signal) = self.signal else { return };
        if record.cpu_timer.load(Relaxed) != 0 {
            return;
        }
        match timers::create(record, signal) {
            Ok(()) => {
                self.created += 1;
                engine.start_tick(record);
            }
            // The thread has ended since a scan found it: nothing to report.
            Err(_) if !tasks::is_alive(record.os_tid.load(Relaxed)) => {}
            Err(error) => {
                self.without_timer.insert(record.index.load(Relaxed));
                if !std::mem::replace(&mut self.is_failure_reported, true) {
                    self.failure = Some(TimerFailure(error));
                }
            }
        }
    }

    /// Whether threads get timers.
    pub(super) fn is_started(&self) -> bool {
        self.signal.is_some()
    }

    /// Forgets the thread at `index`.
    pub(super) fn forget(&mut self, index: u32) {
        self.without_timer.remove(&index);
    }

    pub(super) fn counts(&self) -> TimerCounts {
        TimerCounts {
            created: self.created,
            without_timer: self.without_timer.len() as u64,
        }
    }
}
