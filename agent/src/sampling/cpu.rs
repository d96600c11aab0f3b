//! CPU samples: a timer on the CPU clock of each thread, and one that is armed for its sample
//! points.

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
    /// Gives all threads their timers, now and as they start; `is_fine`: a second one for exact
    /// points.
    pub(crate) fn start(threads: &'static ThreadDirectory, signal: i32, is_fine: bool) -> Self {
        threads.start_timers(signal, is_fine);
        Self {
            threads,
            signal,
            is_fine,
        }
    }

    /// Starts again after another owner had the signal. How many sample points were passed
    /// meanwhile.
    pub(crate) fn restart(&self) -> u64 {
        let passed = self.threads.end_sampling();
        self.threads.start_timers(self.signal, self.is_fine);
        passed
    }

    /// Rearms timers whose signals met another owner's action. How many sample points were passed.
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
