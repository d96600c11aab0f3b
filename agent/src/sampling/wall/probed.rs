//! State of the wall-clock sampler for a thread, between two probes.

use crate::os::timers;
use signal_core::record::{ThreadRecord, WALL_LEFT_OUT, WALL_PENDING};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// Idle rounds after which a thread is not probed for one round.
const IDLE_ROUNDS_PER_SKIP: u64 = 16;
/// CPU time that a thread uses to go back to sleep, after the handler has read the clock.
const BACK_TO_SLEEP_NANOS: u64 = 20_000;

/// A thread between two probes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProbedThread {
    pub(super) record: Option<&'static ThreadRecord>,
    /// Its CPU time once it slept again after the signal.
    pub(super) cpu_at_sleep: Option<u64>,
    /// Probes that its last sample stands for, not reported yet.
    pub(super) repeats: u32,
    /// Probes that the pending sample stands for.
    pub(super) pending_probes: u32,
    /// At the last check the kernel did not have the pending signal.
    pub(super) signal_was_missing: bool,
    /// At the last probe it had no context, and only threads with a context are sampled.
    pub(super) is_unlabelled: bool,
    /// Round of the last probe, 0 = none yet.
    pub(super) round: u64,
    /// Rounds without CPU time, up to the last probe.
    pub(super) idle_rounds: u64,
}

impl ProbedThread {
    /// Turns the pending probes into repeats of the sample that has arrived. Returns the number
    /// of probes without a sample.
    pub(super) fn count_arrival(&mut self, state: u32) -> u64 {
        match state {
            WALL_PENDING => 0,
            WALL_LEFT_OUT => u64::from(std::mem::take(&mut self.pending_probes)),
            _ => {
                self.repeats += std::mem::take(&mut self.pending_probes);
                0
            }
        }
    }

    /// If the kernel has no such signal at two checks in a row, and no handler finished in between,
    /// another action got the signal: the next probe sends a new one.
    pub(super) fn check_signal(&mut self, is_pending: bool, state: &AtomicU32) {
        if !is_pending && self.signal_was_missing {
            // Relaxed: it only decides the next step of this thread. A value that the handler has
            // stored in between stays.
            let _ = state.compare_exchange(WALL_PENDING, WALL_LEFT_OUT, Relaxed, Relaxed);
        }
        self.signal_was_missing = !is_pending;
    }

    /// As [`count_arrival`](Self::count_arrival), after the last probe: a pending sample no longer
    /// counts.
    pub(super) fn end(&mut self, serial: u64) -> u64 {
        let same = |record: &&ThreadRecord| record.serial.load(Relaxed) == serial;
        // Acquire: as in a probe.
        let state = self
            .record
            .filter(same)
            .map(|record| record.wall_state.load(Acquire));
        match state {
            Some(state) if state != WALL_PENDING => self.count_arrival(state),
            _ => self.count_arrival(WALL_LEFT_OUT),
        }
    }

    /// Rounds between the last probe and `round`.
    pub(super) fn rounds_before(&self, round: u64) -> u32 {
        if self.round == 0 {
            return 0;
        }
        let rounds = round.saturating_sub(self.round).saturating_sub(1);
        u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// Rounds without a probe that come next, at most `max`.
    pub(super) fn rounds_to_skip(&self, max: u64) -> u64 {
        (self.idle_rounds / IDLE_ROUNDS_PER_SKIP).min(max)
    }

    /// Whether the thread has not run since `cpu_at_sleep`.
    pub(super) fn is_idle(&self, record: &ThreadRecord) -> bool {
        self.cpu_at_sleep == Some(timers::thread_cpu_nanos(record.os_tid.load(Relaxed)))
    }

    /// Whether the thread has not run since the handler saw it asleep.
    pub(super) fn is_still_asleep(&mut self, record: &ThreadRecord) -> bool {
        let cpu = timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
        self.has_not_run(cpu, record.wall_cpu_ns.load(Relaxed))
    }

    /// Whether a thread with this CPU time has not run since the handler, which ended at
    /// `after_handler`. The time to go back to sleep is allowed once; after that not a nanosecond.
    pub(super) fn has_not_run(&mut self, cpu: u64, after_handler: u64) -> bool {
        match self.cpu_at_sleep {
            Some(cpu_at_sleep) if cpu_at_sleep >= after_handler => cpu == cpu_at_sleep,
            _ => {
                self.cpu_at_sleep = Some(cpu);
                cpu.saturating_sub(after_handler) <= BACK_TO_SLEEP_NANOS
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signal_core::record::{WALL_ASLEEP, WALL_AWAKE};

    #[test]
    fn probes_count_for_the_pending_sample_only() {
        let pending = ProbedThread {
            pending_probes: 3,
            ..ProbedThread::default()
        };
        // State, then probes left out, repeats, and pending probes.
        let expected = [
            (WALL_PENDING, (0, 0, 3)),
            (WALL_AWAKE, (0, 3, 0)),
            (WALL_ASLEEP, (0, 3, 0)),
            (WALL_LEFT_OUT, (3, 0, 0)),
        ];
        for (state, expected) in expected {
            let mut thread = pending;
            let left_out = thread.count_arrival(state);
            assert_eq!(
                (left_out, thread.repeats, thread.pending_probes),
                expected,
                "{state}"
            );
        }
        // A thread that has ended; its record is free or has another thread.
        let mut ended = pending;
        assert_eq!(
            (ended.end(7), ended.repeats, ended.pending_probes),
            (3, 0, 0)
        );
        let mut asleep = ProbedThread {
            repeats: 5,
            ..ProbedThread::default()
        };
        assert_eq!((asleep.end(7), asleep.repeats), (0, 5));
    }

    #[test]
    fn probes_get_rarer_with_the_time_asleep() {
        let after = |idle_rounds| {
            let thread = ProbedThread {
                idle_rounds,
                ..ProbedThread::default()
            };
            thread.rounds_to_skip(20)
        };
        assert_eq!([0, 15, 16, 160, 1_000_000].map(after), [0, 0, 1, 10, 20]);
        let mut thread = ProbedThread::default();
        assert_eq!(thread.rounds_before(9), 0, "not probed yet");
        thread.round = 4;
        assert_eq!(
            [4, 5, 9].map(|round| thread.rounds_before(round)),
            [0, 0, 4]
        );
    }

    #[test]
    fn a_signal_that_another_action_got_is_sent_again() {
        let (is_pending, is_missing) = (true, false);
        let mut thread = ProbedThread::default();
        let mut check = |found, before| {
            let state = AtomicU32::new(before);
            thread.check_signal(found, &state);
            state.into_inner()
        };
        // The thread blocks it, or has no CPU.
        assert_eq!(check(is_pending, WALL_PENDING), WALL_PENDING);
        // Its handler may be running.
        assert_eq!(check(is_missing, WALL_PENDING), WALL_PENDING);
        assert_eq!(check(is_missing, WALL_ASLEEP), WALL_ASLEEP, "it was");
        assert_eq!(check(is_pending, WALL_PENDING), WALL_PENDING);
        assert_eq!(check(is_missing, WALL_PENDING), WALL_PENDING);
        assert_eq!(check(is_missing, WALL_PENDING), WALL_LEFT_OUT);
    }

    #[test]
    fn a_thread_sleeps_on_until_it_uses_cpu_time() {
        let mut sleeper = ProbedThread::default();
        assert!(sleeper.has_not_run(1_005_000, 1_000_000), "back to sleep");
        assert!(sleeper.has_not_run(1_005_000, 1_000_000));
        assert!(!sleeper.has_not_run(1_005_001, 1_000_000), "it ran");
        let mut busy = ProbedThread::default();
        assert!(!busy.has_not_run(3_000_000, 1_000_000), "it ran at once");
        let mut again = ProbedThread::default();
        assert!(again.has_not_run(1_000, 1_000));
        assert!(
            again.has_not_run(50_000, 45_000),
            "a newer sample restarts the comparison"
        );
    }
}
