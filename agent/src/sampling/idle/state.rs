//! What the poll knows of a thread: what it found at the last look, and whether the thread sleeps
//! or waits for a processor.

use crate::os::{tasks, timers};
use signal_core::engine::monotonic_nanos;

/// A thread that has slept is looked at once in the time of its sleep divided by this, if that is
/// longer than the mean time between two looks.
const LOOKS_PER_SLEEP: u64 = 32;
/// Readings further apart are not of one moment.
const ONE_MOMENT_NANOS: u64 = 1_000_000;
/// A thread that has slept for this long is left to its coarse timer; the sample after that brings
/// it back.
const LONG_NANOS: u64 = 1_000_000_000;

/// A new thread that would run, if it had a processor, at so many looks in a row does not sleep:
/// one that sleeps half of the time is so found once in 64 times.
const LOOKS_IN_A_ROW: u32 = 6;

/// What is known of a thread since the last look.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IdleThreadState {
    serial: u64,
    /// Its CPU time then.
    cpu: u64,
    /// Last look that found that it had run since the one before.
    ran: u64,
    /// Its sample point then.
    target: u64,
    /// Mean time between two looks at it until it is sampled, if that is longer than that of all.
    pub(super) mean: u64,
    /// When it was told of its sample point; 0 = not yet.
    told: u64,
    /// What it had done when its sleeps were last judged.
    judged: Life,
    /// Whether it was found not to sleep when it was last judged.
    awake: bool,
    /// Whether nothing was found out about it yet.
    is_new: bool,
    /// Looks in a row that found it running or waiting for a processor, and its CPU time at the
    /// first of them. Only while it is new.
    in_a_row: u32,
    row_cpu: u64,
}

/// What a thread has done so far, in nanoseconds: it ran, it waited for a processor, the rest of
/// the time it slept.
#[derive(Debug, Clone, Copy, Default)]
struct Life {
    now: u64,
    cpu: u64,
    waited: u64,
    /// If not, it may wait, and the time since when is not in `waited` yet.
    is_running: bool,
}

impl Life {
    /// What the thread has done until now; `None` where the kernel does not tell, or if this thread
    /// lost its processor while it asked.
    fn of(tid: i32) -> Option<Self> {
        let now = monotonic_nanos();
        let cpu = timers::thread_cpu_nanos(tid);
        let waited = tasks::waited_nanos(tid)?;
        let is_one_moment = monotonic_nanos().saturating_sub(now) < ONE_MOMENT_NANOS;
        let is_running = timers::thread_cpu_nanos(tid) > cpu;
        is_one_moment.then_some(Self {
            now,
            cpu,
            waited,
            is_running,
        })
    }

    /// Whether it has slept for a quarter of the time or more since `before`, waiting for a
    /// processor not counted.
    fn has_slept(&self, before: &Self) -> bool {
        let waited = self.waited.saturating_sub(before.waited);
        let not_waited = self.now.saturating_sub(before.now).saturating_sub(waited);
        let used = self.cpu.saturating_sub(before.cpu);
        used.saturating_mul(4) <= not_waited.saturating_mul(3)
    }
}

/// What a look has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeResult {
    /// It has ended, or has slept for very long.
    Gone,
    /// It has slept all the time since the last look, and had this much CPU time left to its sample
    /// point.
    Asleep(u64),
    /// It has this much CPU time left to its sample point.
    Left(u64),
    /// It has run, and reached its sample point.
    Reached,
}

impl IdleThreadState {
    /// Nothing yet, at the first look.
    pub(super) fn new(serial: u64, now: u64) -> Self {
        Self {
            serial,
            ran: now,
            is_new: true,
            ..Self::default()
        }
    }

    /// Whether it is of the thread with this serial number.
    pub(super) fn is_of(&self, serial: u64) -> bool {
        self.serial == serial
    }

    /// Takes in the thread's CPU time and its sample point.
    pub(super) fn look(&mut self, now: u64, cpu: u64, target: u64) -> ProbeResult {
        if target != self.target {
            (self.target, self.mean, self.told) = (target, 0, 0);
        }
        if cpu < self.cpu {
            return ProbeResult::Gone;
        }
        let left = target.saturating_sub(cpu);
        if cpu == self.cpu {
            let asleep = now.saturating_sub(self.ran);
            self.mean = self.mean.max(asleep / LOOKS_PER_SLEEP);
            return if asleep > LONG_NANOS {
                ProbeResult::Gone
            } else {
                ProbeResult::Asleep(left)
            };
        }
        self.ran = now;
        self.cpu = cpu;
        match left {
            0 => ProbeResult::Reached,
            left => ProbeResult::Left(left),
        }
    }

    /// Whether the thread, which runs or has run since the last look, is found not to sleep but to
    /// wait for a processor when it does not run. Asked of the kernel each time that it has used
    /// `after` nanoseconds.
    pub(super) fn is_awake(&mut self, tid: i32, cpu: u64, after: u64) -> bool {
        if self.is_to_be_judged(cpu, after)
            && let Some(life) = Life::of(tid)
        {
            self.awake = !self.sleeps(life);
        }
        self.awake
    }

    /// Whether what its looks found says that it does not sleep, before it has used enough to be
    /// judged. Threads wait for locks and memory when they begin, and compute from then on: until
    /// they are found out, each sample of theirs that the poll misses comes on a tick. `least` is
    /// CPU time in which one that sleeps has slept, as a rule. A mistake, which is made once of a
    /// thread, costs some interrupted sleeps.
    pub(super) fn computes(&mut self, is_runnable: bool, cpu: u64, least: u64) -> bool {
        if !is_runnable {
            self.in_a_row = 0;
            return false;
        }
        if self.in_a_row == 0 {
            self.row_cpu = cpu;
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        let computes = self.in_a_row >= LOOKS_IN_A_ROW && cpu.saturating_sub(self.row_cpu) >= least;
        self.is_new &= !computes;
        computes
    }

    /// Whether nothing was found out about it yet.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Whether it is to be judged, now that it has used `cpu` nanoseconds.
    fn is_to_be_judged(&self, cpu: u64, after: u64) -> bool {
        self.judged.now == 0 || cpu.saturating_sub(self.judged.cpu) >= after
    }

    /// Whether it has slept since it was last judged. What is not in `waited` yet counts as sleep:
    /// at the end that only puts the answer off, at the begin it would take sleep for waiting.
    fn sleeps(&mut self, life: Life) -> bool {
        let before = self.judged;
        let is_begin = before.now == 0;
        if life.is_running {
            self.judged = life;
            self.is_new &= is_begin;
        }
        is_begin || life.has_slept(&before)
    }

    /// Whether it is to be told of its sample point: not again while that may be on its way.
    pub(super) fn is_to_be_told(&mut self, now: u64, interval: u64) -> bool {
        let is = self.told == 0 || now.saturating_sub(self.told) > interval;
        if is {
            self.told = now;
        }
        is
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_finds_how_far_it_is_to_the_sample_point() {
        let mut known = IdleThreadState::default();
        assert_eq!(known.look(1_000, 50, 400), ProbeResult::Left(350));
        assert_eq!(known.look(1_500, 50, 400), ProbeResult::Asleep(350));
        assert_eq!(known.look(2_000, 400, 400), ProbeResult::Reached);
        assert_eq!(known.look(2_500, 420, 400), ProbeResult::Reached);
        assert_eq!(known.look(3_000, 0, 400), ProbeResult::Gone, "it has ended");
    }

    #[test]
    fn a_thread_that_slept_long_is_looked_at_more_rarely_until_its_next_sample_point() {
        let mut known = IdleThreadState::default();
        assert_eq!(known.look(16_000, 400, 100), ProbeResult::Reached);
        assert_eq!(
            (known.look(32_000, 400, 100), known.mean),
            (ProbeResult::Asleep(0), 500)
        );
        assert_eq!(
            (known.look(176_000, 400, 100), known.mean),
            (ProbeResult::Asleep(0), 5_000)
        );
        // In its burst as before it: else the begin of a burst would be seen less than the rest.
        assert_eq!(
            (known.look(200_000, 401, 100), known.mean),
            (ProbeResult::Reached, 5_000)
        );
        assert_eq!(
            (known.look(300_000, 402, 900), known.mean),
            (ProbeResult::Left(498), 0)
        );
        assert_eq!(
            known.look(LONG_NANOS + 300_001, 402, 900),
            ProbeResult::Gone
        );
    }

    #[test]
    fn a_thread_that_waits_for_a_processor_does_not_sleep() {
        let mut known = IdleThreadState::default();
        assert!(known.is_to_be_judged(0, 8_000_000));
        let life = |now, cpu, waited| Life {
            now,
            cpu,
            waited,
            is_running: true,
        };
        let waiting = |life| Life {
            is_running: false,
            ..life
        };
        assert!(known.sleeps(waiting(life(1_000_000, 900_000, 0))));
        assert!(
            known.is_to_be_judged(0, 8_000_000),
            "it may have waited for long"
        );
        assert!(
            known.sleeps(life(10_000_000, 1_000_000, 500)),
            "not known yet"
        );
        assert!(!known.is_to_be_judged(8_999_999, 8_000_000));
        assert!(known.is_to_be_judged(9_000_000, 8_000_000));
        // 8 ms of 40, and it waited for 32 or for 29.
        assert!(known.sleeps(waiting(life(50_000_000, 9_000_000, 500))));
        assert!(!known.sleeps(life(50_000_000, 9_000_000, 32_000_500)));
        assert!(known.sleeps(life(90_000_000, 17_000_000, 61_000_500)));
    }

    #[test]
    fn a_new_thread_that_is_never_found_asleep_computes() {
        let mut known = IdleThreadState::new(7, 5_000_000);
        assert!(known.is_new());
        let mut look = |is_runnable, cpu| known.computes(is_runnable, cpu, 8_000_000);
        // It waits for locks at first, then for a processor with others that run.
        let begin = [(true, 100_000), (false, 200_000)];
        assert!(!begin.iter().any(|(runnable, cpu)| look(*runnable, *cpu)));
        let answers: Vec<bool> = (1..=6).map(|n| look(true, n * 2_000_000)).collect();
        assert_eq!(answers, [false, false, false, false, false, true]);
        assert!(!known.is_new(), "what comes later is judged by its sleeps");
        let mut look = |is_runnable, cpu| known.computes(is_runnable, cpu, 8_000_000);
        assert!(!look(false, 13_000_000), "it sleeps at times");
        // Looks say nothing while it got no processor.
        assert!(!(1..=20).any(|_| look(true, 14_000_000)));
        assert!(look(true, 22_000_000));
    }

    #[test]
    fn a_thread_is_told_of_its_sample_point_once_in_an_interval() {
        let mut known = IdleThreadState::default();
        assert_eq!(known.look(1_000, 400, 100), ProbeResult::Reached);
        assert!(known.is_to_be_told(1_000, 500));
        assert!(!known.is_to_be_told(1_500, 500));
        assert!(known.is_to_be_told(1_501, 500), "the signal was of no use");
        assert_eq!(known.look(1_600, 700, 600), ProbeResult::Reached);
        assert!(known.is_to_be_told(1_600, 500), "another point");
    }
}
