//! State of the idle-thread sampler for a thread: the last probe, and whether the thread sleeps or
//! waits for a CPU.

use crate::os::{tasks, timers};
use signal_core::engine::monotonic_nanos;

/// A thread that has slept is probed once per this fraction of its sleep, if that is longer than
/// the mean time between two probes.
const PROBES_PER_SLEEP: u64 = 32;
/// Readings further apart do not describe one moment.
const ONE_MOMENT_NANOS: u64 = 1_000_000;
/// A thread that has slept for this long is left to its coarse timer; its next sample brings it
/// back.
const LONG_SLEEP_NANOS: u64 = 1_000_000_000;

/// A new thread that was runnable at so many probes in a row does not sleep: for a thread that
/// sleeps half of the time this happens once in 64 times.
const RUNNABLE_PROBES: u32 = 6;

/// A thread as of its last probe.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IdleThreadState {
    serial: u64,
    /// CPU time of the thread.
    cpu: u64,
    /// Time of the last probe that found progress since the one before.
    ran: u64,
    /// Sample point of the thread.
    target: u64,
    /// Mean extra time between two probes of it until it is sampled, 0 = none.
    pub(super) mean: u64,
    /// When it was signalled for its sample point; 0 = not yet.
    signalled_ns: u64,
    /// Its use of time when its sleeps were last checked.
    checked: TimeUse,
    /// Result of that check: it does not sleep.
    awake: bool,
    /// Whether it was never classified.
    is_new: bool,
    /// Probes in a row that found it runnable, and its CPU time at the first of them. Only while it
    /// is new.
    in_a_row: u32,
    row_cpu: u64,
}

/// The use of a thread's time so far, in nanoseconds: it ran, it waited for a CPU, else it slept.
#[derive(Debug, Clone, Copy, Default)]
struct TimeUse {
    now: u64,
    cpu: u64,
    waited: u64,
    /// If false, it may wait, and `waited` does not have the time since then.
    is_running: bool,
}

impl TimeUse {
    /// The use of time until now; `None` if the kernel does not report it, or if the sampler lost
    /// its CPU between the readings.
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

    /// Whether it has slept for a quarter of the time or more since `before`, not counting waits
    /// for a CPU.
    fn has_slept(&self, before: &Self) -> bool {
        let waited = self.waited.saturating_sub(before.waited);
        let not_waited = self.now.saturating_sub(before.now).saturating_sub(waited);
        let used = self.cpu.saturating_sub(before.cpu);
        used.saturating_mul(4) <= not_waited.saturating_mul(3)
    }
}

/// Result of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeResult {
    /// It has ended, or has slept for very long.
    Gone,
    /// It has not run since the last probe, and had this much CPU time left to its sample point.
    Asleep(u64),
    /// It has this much CPU time left to its sample point.
    Left(u64),
    /// It has run, and reached its sample point.
    Reached,
}

impl IdleThreadState {
    /// State before the first probe.
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

    /// Updates the CPU time and the sample point.
    pub(super) fn update(&mut self, now: u64, cpu: u64, target: u64) -> ProbeResult {
        if target != self.target {
            (self.target, self.mean, self.signalled_ns) = (target, 0, 0);
        }
        if cpu < self.cpu {
            return ProbeResult::Gone;
        }
        let left = target.saturating_sub(cpu);
        if cpu == self.cpu {
            let asleep = now.saturating_sub(self.ran);
            self.mean = self.mean.max(asleep / PROBES_PER_SLEEP);
            return if asleep > LONG_SLEEP_NANOS {
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

    /// Whether the thread, which has run since the last probe, never sleeps: when it does not run,
    /// it waits for a CPU. The kernel is asked each time that it has used `after` nanoseconds.
    pub(super) fn is_awake(&mut self, tid: i32, cpu: u64, after: u64) -> bool {
        if self.is_check_due(cpu, after)
            && let Some(life) = TimeUse::of(tid)
        {
            self.awake = !self.sleeps(life);
        }
        self.awake
    }

    /// Whether its probes show that it does not sleep, before it has used enough time for a check.
    /// Threads wait for locks and memory when they start, and compute from then on: until that is
    /// known, each sample that the sampler misses comes on a tick. `min_cpu` is CPU time in which a
    /// thread that sleeps normally has slept. A mistake happens once per thread and costs some
    /// interrupted sleeps.
    pub(super) fn computes(&mut self, is_runnable: bool, cpu: u64, min_cpu: u64) -> bool {
        if !is_runnable {
            self.in_a_row = 0;
            return false;
        }
        if self.in_a_row == 0 {
            self.row_cpu = cpu;
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        let computes =
            self.in_a_row >= RUNNABLE_PROBES && cpu.saturating_sub(self.row_cpu) >= min_cpu;
        self.is_new &= !computes;
        computes
    }

    /// Whether it was never classified.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Whether its sleeps should be checked, now that it has used `cpu` nanoseconds.
    fn is_check_due(&self, cpu: u64, after: u64) -> bool {
        self.checked.now == 0 || cpu.saturating_sub(self.checked.cpu) >= after
    }

    /// Whether it has slept since the last check. Time missing in `waited` counts as sleep: at the
    /// end of the span that only delays the result, at its start it would turn sleep into waiting.
    fn sleeps(&mut self, life: TimeUse) -> bool {
        let before = self.checked;
        let is_begin = before.now == 0;
        if life.is_running {
            self.checked = life;
            self.is_new &= is_begin;
        }
        is_begin || life.has_slept(&before)
    }

    /// Whether to signal it for its sample point: not again while a signal may be pending.
    pub(super) fn should_signal(&mut self, now: u64, interval: u64) -> bool {
        let is_due = self.signalled_ns == 0 || now.saturating_sub(self.signalled_ns) > interval;
        if is_due {
            self.signalled_ns = now;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_finds_the_time_left_to_the_sample_point() {
        let mut state = IdleThreadState::default();
        assert_eq!(state.update(1_000, 50, 400), ProbeResult::Left(350));
        assert_eq!(state.update(1_500, 50, 400), ProbeResult::Asleep(350));
        assert_eq!(state.update(2_000, 400, 400), ProbeResult::Reached);
        assert_eq!(state.update(2_500, 420, 400), ProbeResult::Reached);
        assert_eq!(
            state.update(3_000, 0, 400),
            ProbeResult::Gone,
            "it has ended"
        );
    }

    #[test]
    fn a_long_sleeper_is_probed_more_rarely_until_its_next_sample_point() {
        let mut state = IdleThreadState::default();
        assert_eq!(state.update(16_000, 400, 100), ProbeResult::Reached);
        assert_eq!(
            (state.update(32_000, 400, 100), state.mean),
            (ProbeResult::Asleep(0), 500)
        );
        assert_eq!(
            (state.update(176_000, 400, 100), state.mean),
            (ProbeResult::Asleep(0), 5_000)
        );
        // The same in its burst: else the start of a burst would be sampled less than the rest.
        assert_eq!(
            (state.update(200_000, 401, 100), state.mean),
            (ProbeResult::Reached, 5_000)
        );
        assert_eq!(
            (state.update(300_000, 402, 900), state.mean),
            (ProbeResult::Left(498), 0)
        );
        assert_eq!(
            state.update(LONG_SLEEP_NANOS + 300_001, 402, 900),
            ProbeResult::Gone
        );
    }

    #[test]
    fn a_thread_that_waits_for_a_cpu_does_not_sleep() {
        let mut state = IdleThreadState::default();
        assert!(state.is_check_due(0, 8_000_000));
        let life = |now, cpu, waited| TimeUse {
            now,
            cpu,
            waited,
            is_running: true,
        };
        let waiting = |life| TimeUse {
            is_running: false,
            ..life
        };
        assert!(state.sleeps(waiting(life(1_000_000, 900_000, 0))));
        assert!(
            state.is_check_due(0, 8_000_000),
            "it may have waited for long"
        );
        assert!(
            state.sleeps(life(10_000_000, 1_000_000, 500)),
            "not known yet"
        );
        assert!(!state.is_check_due(8_999_999, 8_000_000));
        assert!(state.is_check_due(9_000_000, 8_000_000));
        // It ran 8 ms of 40, and waited for 32 or for 29.
        assert!(state.sleeps(waiting(life(50_000_000, 9_000_000, 500))));
        assert!(!state.sleeps(life(50_000_000, 9_000_000, 32_000_500)));
        assert!(state.sleeps(life(90_000_000, 17_000_000, 61_000_500)));
    }

    #[test]
    fn a_new_thread_that_is_never_found_asleep_computes() {
        let mut state = IdleThreadState::new(7, 5_000_000);
        assert!(state.is_new());
        let mut probe = |is_runnable, cpu| state.computes(is_runnable, cpu, 8_000_000);
        // It waits for locks at first, then for a CPU.
        let begin = [(true, 100_000), (false, 200_000)];
        assert!(!begin.iter().any(|(runnable, cpu)| probe(*runnable, *cpu)));
        let answers: Vec<bool> = (1..=6).map(|n| probe(true, n * 2_000_000)).collect();
        assert_eq!(answers, [false, false, false, false, false, true]);
        assert!(!state.is_new(), "later probes check its sleeps");
        let mut probe = |is_runnable, cpu| state.computes(is_runnable, cpu, 8_000_000);
        assert!(!probe(false, 13_000_000), "it sleeps at times");
        // Probes do not count while it gets no CPU.
        assert!(!(1..=20).any(|_| probe(true, 14_000_000)));
        assert!(probe(true, 22_000_000));
    }

    #[test]
    fn a_thread_is_signalled_once_per_interval() {
        let mut state = IdleThreadState::default();
        assert_eq!(state.update(1_000, 400, 100), ProbeResult::Reached);
        assert!(state.should_signal(1_000, 500));
        assert!(!state.should_signal(1_500, 500));
        assert!(state.should_signal(1_501, 500), "the signal was of no use");
        assert_eq!(state.update(1_600, 700, 600), ProbeResult::Reached);
        assert!(state.should_signal(1_600, 500), "another point");
    }
}
