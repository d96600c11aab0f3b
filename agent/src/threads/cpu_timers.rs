//! Which threads have CPU timers, and which could not get them.

use crate::log;
use crate::os::{tasks, timers};
use signal_core::engine::Engine;
use signal_core::record::ThreadRecord;
use std::collections::HashSet;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// How threads are sampled while a recording runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimerSettings {
    pub(super) signal: i32,
    /// Java threads get the fine timer besides the coarse one.
    pub(super) is_fine: bool,
}

/// The CPU timers of all threads. Only code that holds the lock of the directory reaches it.
#[derive(Debug, Default)]
pub(super) struct CpuTimers {
    /// `None` while nothing is sampled.
    pub(super) settings: Option<TimerSettings>,
    /// Indices of the records that should have timers and have none.
    without_timer: HashSet<u32>,
    /// Indices of the records that have the coarse timer, but not the fine one they should have.
    coarse_only: HashSet<u32>,
    /// Threads that got timers so far.
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
    pub(super) coarse_only: u64,
    pub(super) without_timer: u64,
}

impl CpuTimers {
    /// A recording begins: no timer has failed yet.
    pub(super) fn start(&mut self, settings: TimerSettings) {
        self.settings = Some(settings);
        self.without_timer.clear();
        self.coarse_only.clear();
        self.is_failure_reported = false;
    }

    /// Creates the timers of a thread that has none, if a recording runs.
    pub(super) fn arm(&mut self, engine: &Engine, record: &ThreadRecord, on_thread: bool) {
        let Some(settings) = self.settings else {
            return;
        };
        if record.coarse_timer.load(Relaxed) != 0 {
            return;
        }
        let is_fine = settings.is_fine && record.java_thread.load(Relaxed) != 0;
        let index = record.index.load(Relaxed);
        match timers::create(record, settings.signal, is_fine) {
            Ok(is_complete) => {
                self.created += 1;
                if !is_complete {
                    self.coarse_only.insert(index);
                }
                let cpu_ns = timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
                engine.start(record, cpu_ns, on_thread);
            }
            // The thread has ended since a scan found it: nothing to report.
            Err(_) if !tasks::is_alive(record.os_tid.load(Relaxed)) => {}
            Err(error) => {
                self.without_timer.insert(index);
                if !std::mem::replace(&mut self.is_failure_reported, true) {
                    self.failure = Some(TimerFailure(error));
                }
            }
        }
    }

    /// Forgets the thread at `index`.
    pub(super) fn forget(&mut self, index: u32) {
        self.without_timer.remove(&index);
        self.coarse_only.remove(&index);
    }

    pub(super) fn counts(&self) -> TimerCounts {
        TimerCounts {
            created: self.created,
            coarse_only: self.coarse_only.len() as u64,
            without_timer: self.without_timer.len() as u64,
        }
    }
}
