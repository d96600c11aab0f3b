//! CPU samples: a timer on the CPU clock of each thread, and a second one for exact sample points.

use super::Sampler;
use crate::os::sigaction;
use crate::threads::ThreadDirectory;

/// The timers of all threads.
#[derive(Debug)]
pub(crate) struct CpuSampler {
    threads: &'static ThreadDirectory,
    signal: i32,
    is_fine: bool,
}

impl CpuSampler {
    /// Creates the timers of all threads, now and as threads start; `is_fine`: with the exact one.
    pub(crate) fn start(threads: &'static ThreadDirectory, signal: i32, is_fine: bool) -> Self {
        threads.start_timers(signal, is_fine);
        Self {
            threads,
            signal,
            is_fine,
        }
    }

    /// Restarts after another action had the signal; returns the number of missed sample points.
    pub(crate) fn restart(&self) -> u64 {
        let passed = self.threads.end_sampling();
        self.threads.start_timers(self.signal, self.is_fine);
        passed
    }

    /// Rearms timers whose signals reached another action; returns the number of missed sample
    /// points.
    pub(crate) fn rearm_stalled(&self) -> u64 {
        self.threads.rearm_stalled()
    }
}

impl Sampler for CpuSampler {
    fn has_ended(&self) -> bool {
        !sigaction::is_ours(self.signal)
    }

    fn stop(self) {
        self.threads.stop_timers();
    }
}
