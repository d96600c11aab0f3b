//! When the lists of virtual threads are read, and which of the threads are looked at.

use crate::os::seed::seed;
use signal_core::random;
use std::time::Duration;

/// The lists may cost one part in so many of a CPU.
const LIST_SHARE: u32 = 400;
/// Threads that are looked at, per second.
const LOOKS_PER_SECOND: u128 = 200;
/// Longest interval between two lists.
const LONGEST: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug)]
pub(super) struct Plan {
    period: Duration,
    random: u64,
}

impl Plan {
    pub(super) fn new(period: Duration) -> Self {
        Self {
            period: period.max(Duration::from_micros(1)),
            random: seed(),
        }
    }

    /// Length of an interval.
    pub(super) fn length(&self, periods: u32) -> Duration {
        self.period.saturating_mul(periods)
    }

    /// A random moment of an interval.
    pub(super) fn moment_in(&mut self, length: Duration) -> Duration {
        let nanos = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(random::below(&mut self.random, nanos))
    }

    /// Periods of the next interval, after lists that cost so much CPU time. It also stands for the
    /// time `late` that has already gone by.
    pub(super) fn periods(&self, cost: Duration, late: Duration) -> u32 {
        let wanted = cost.saturating_mul(LIST_SHARE).min(LONGEST);
        let periods = |time: Duration| time.as_nanos() / self.period.as_nanos();
        let all = periods(wanted).max(1).saturating_add(periods(late));
        u32::try_from(all).unwrap_or(u32::MAX)
    }

    /// One thread in so many is looked at.
    pub(super) fn step(&self, threads: usize, periods: u32) -> u32 {
        let looks = self.length(periods).as_millis() * LOOKS_PER_SECOND / 1_000;
        let step = (threads as u128).div_ceil(looks.max(1)).max(1);
        u32::try_from(step).unwrap_or(u32::MAX)
    }

    /// The threads that are looked at: a random one of each `step`, in order. The lists are in the
    /// order of the thread ids, so threads at a fixed distance often do the same.
    pub(super) fn picks(&mut self, threads: usize, step: u32) -> Vec<usize> {
        let groups = (0..threads).step_by(step.max(1) as usize);
        let picks = groups.map(|begin| begin + self.below(step));
        picks.filter(|pick| *pick < threads).collect()
    }

    fn below(&mut self, bound: u32) -> usize {
        usize::try_from(random::below(&mut self.random, u64::from(bound))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan::new(Duration::from_millis(50))
    }

    #[test]
    fn costly_lists_are_read_rarely() {
        let (plan, on_time) = (plan(), Duration::ZERO);
        let periods = |micros| plan.periods(Duration::from_micros(micros), on_time);
        assert_eq!(periods(0), 1);
        assert_eq!(periods(125), 1);
        assert_eq!(periods(2_500), 20);
        assert_eq!(periods(1_000_000), 20, "one second");
    }

    #[test]
    fn an_interval_stands_for_the_time_before_it() {
        let late = Duration::from_millis(170);
        assert_eq!(plan().periods(Duration::ZERO, late), 4);
    }

    #[test]
    fn each_thread_is_looked_at_with_the_same_chance() {
        let mut plan = plan();
        assert_eq!(plan.step(10, 1), 1);
        assert_eq!(plan.step(100_000, 1), 10_000);
        assert_eq!(plan.step(100_000, 20), 500);
        assert_eq!(plan.step(0, 1), 1);
        let mut looks = [0_u32; 25];
        for _ in 0..10_000 {
            let step = plan.step(looks.len(), 1);
            assert_eq!(step, 3, "10 looks in 50 ms");
            for pick in plan.picks(looks.len(), step) {
                looks[pick] += 1;
            }
        }
        for count in looks {
            // Six standard deviations of 10,000 draws.
            assert!(count.abs_diff(3_333) < 283, "{looks:?}");
        }
    }

    /// Every tenth thread does the same, and the looks are a multiple of ten apart.
    #[test]
    fn looks_do_not_fall_in_step_with_the_list() {
        let mut plan = plan();
        let picks = plan.picks(100_000, 500);
        assert_eq!(picks.len(), 200);
        assert!(picks.is_sorted());
        let mut looks = [0_u32; 10];
        for pick in picks {
            looks[pick % 10] += 1;
        }
        // Six standard deviations of a share of 1/10.
        for count in looks {
            assert!(count.abs_diff(20) < 26, "{looks:?}");
        }
    }
}
