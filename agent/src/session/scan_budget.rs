//! How often the agent scans the process for threads without a start event: each second, or more
//! rarely if a scan of very many threads takes long.

use signal_core::engine::{monotonic_nanos, thread_cpu_nanos};

/// Maximum share of one CPU for scans.
const PART: u64 = 500;

/// Bounds the cost of the scans.
#[derive(Debug, Default)]
pub(super) struct ScanBudget {
    /// Earliest time of the next scan, in monotonic nanoseconds.
    next: u64,
}

impl ScanBudget {
    /// Scans, unless it is too early after an expensive scan.
    pub(super) fn run(&mut self, scan: impl FnOnce()) {
        self.run_with(monotonic_nanos(), thread_cpu_nanos, scan);
    }

    fn run_with(&mut self, now: u64, mut cpu: impl FnMut() -> u64, scan: impl FnOnce()) {
        if now < self.next {
            return;
        }
        let before = cpu();
        scan();
        let cost = cpu().saturating_sub(before);
        self.next = now.saturating_add(cost.saturating_mul(PART));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds, out of ten, with a scan if each takes so many nanoseconds.
    fn runs(cost: u64) -> Vec<u64> {
        let mut scans = ScanBudget::default();
        let mut cpu = 0;
        let mut ran = Vec::new();
        for second in 1..=10 {
            let clock = || {
                cpu += cost;
                cpu
            };
            scans.run_with(second * 1_000_000_000, clock, || ran.push(second));
        }
        ran
    }

    #[test]
    fn a_scan_that_takes_long_runs_more_rarely() {
        assert_eq!(runs(100_000), (1..=10).collect::<Vec<_>>());
        assert_eq!(runs(8_000_000), [1, 5, 9]);
    }
}
