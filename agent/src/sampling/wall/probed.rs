//! What the sampler knows of a thread between two probes.

use crate::os::timers;
use signal_core::record::{ThreadRecord, WALL_LEFT_OUT, WALL_PENDING};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// A thread that has slept for so many rounds is left alone for one of them.
const ROUNDS_PER_REST: u64 = 16;
/// CPU time that a thread uses after the handler's last look at the clock to go back to sleep.
const BACK_TO_SLEEP_NANOS: u64 = 20_000;

/// What is known of a thread between two probes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProbedThread {
    pub(super) record: Option<&'static ThreadRecord>,
    /// Its CPU time once it slept again after the signal.
    pub(super) settled: Option<u64>,
    /// Visits for which its last sample stands and that were not told yet.
    pub(super) repeats: u32,
    /// Visits for which the sample stands that is on its way.
    pub(super) ahead: u32,
    /// When the kernel was last asked for the signal that is on its way, it had none.
    pub(super) is_gone: bool,
    /// At the last visit it had no context, without which it is not sampled.
    pub(super) is_unlabelled: bool,
    /// Round of the last visit, 0 = none yet.
    pub(super) round: u64,
    /// Rounds for which it has done nothing, up to the last visit.
    pub(super) idle_rounds: u64,
}

impl ProbedThread {
    /// What became of the sample that was on its way: the visits that it stands for become its repeats. Returns how many have none to stand for
    /// them: those before it were other samples'.
    pub(super) fn arrived(&mut self, state: u32) -> u64 {
        match state {
            WALL_PENDING => 0,
            WALL_LEFT_OUT => u64::from(std::mem::take(&mut self.ahead)),
            _ => {
                self.repeats += std::mem::take(&mut self.ahead);
                0
            }
        }
    }

    /// A signal that the kernel does not have at two looks in a row, and whose handler did not end between them, has met another owner's action: the next
    /// visit sends another one.
    pub(super) fn look_for_signal(&mut self, is_pending: bool, state: &AtomicU32) {
        if !is_pending && self.is_gone {
            // Relaxed: decides only what this thread does next. What the handler has stored meanwhile stays.
            let _ = state.compare_exchange(WALL_PENDING, WALL_LEFT_OUT, Relaxed, Relaxed);
        }
        self.is_gone = !is_pending;
    }

    /// The same when the thread is not visited again: a sample that is still on its way does not count any more.
    pub(super) fn ends(&mut self, serial: u64) -> u64 {
        let same = |record: &&ThreadRecord| record.serial.load(Relaxed) == serial;
        // Acquire: as in a visit.
        let state = self
            .record
            .filter(same)
            .map(|record| record.wall_state.load(Acquire));
        match state {
            Some(state) if state != WALL_PENDING => self.arrived(state),
            _ => self.arrived(WALL_LEFT_OUT),
        }
    }

    /// Rounds without a visit between the last one and `round`.
    pub(super) fn rounds_before(&self, round: u64) -> u32 {
        if self.round == 0 {
            return 0;
        }
        let rounds = round.saturating_sub(self.round).saturating_sub(1);
        u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// For how many rounds it is left alone, `most` at most.
    pub(super) fn rest(&self, most: u64) -> u64 {
        (self.idle_rounds / ROUNDS_PER_REST).min(most)
    }

    /// Whether the thread has not run since its CPU time was taken.
    pub(super) fn has_done_nothing(&self, record: &ThreadRecord) -> bool {
        self.settled == Some(timers::thread_cpu_nanos(record.os_tid.load(Relaxed)))
    }

    /// Whether the thread has not run since the handler saw it asleep.
    pub(super) fn still_asleep(&mut self, record: &ThreadRecord) -> bool {
        let cpu = timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
        self.has_not_run(cpu, record.wall_cpu_ns.load(Relaxed))
    }

    /// Whether a thread with this CPU time has not run since the handler saw it, at `after_handler` CPU time. What it uses right after the
    /// handler to go back to sleep is granted once; after that not a nanosecond.
    pub(super) fn has_not_run(&mut self, cpu: u64, after_handler: u64) -> bool {
        match self.settled {
            Some(settled) if settled >= after_handler => cpu == settled,
            _ => {
                self.settled = Some(cpu);
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
    fn visits_count_for_the_sample_that_was_on_its_way_and_for_no_other() {
        let on_its_way = ProbedThread {
            ahead: 3,
            ..ProbedThread::default()
        };
        // State, then how many are left out, repeats, and still ahead.
        let expected = [
            (WALL_PENDING, (0, 0, 3)),
            (WALL_AWAKE, (0, 3, 0)),
            (WALL_ASLEEP, (0, 3, 0)),
            (WALL_LEFT_OUT, (3, 0, 0)),
        ];
        for (state, expected) in expected {
            let mut known = on_its_way;
            let left_out = known.arrived(state);
            assert_eq!((left_out, known.repeats, known.ahead), expected, "{state}");
        }
        // A thread that has ended, and its record is another one's or nobody's.
        let mut ended = on_its_way;
        assert_eq!((ended.ends(7), ended.repeats, ended.ahead), (3, 0, 0));
        let mut asleep = ProbedThread {
            repeats: 5,
            ..ProbedThread::default()
        };
        assert_eq!((asleep.ends(7), asleep.repeats), (0, 5));
    }

    #[test]
    fn a_thread_is_left_alone_for_a_part_of_the_time_that_it_has_slept() {
        let after = |idle_rounds| {
            let known = ProbedThread {
                idle_rounds,
                ..ProbedThread::default()
            };
            known.rest(20)
        };
        assert_eq!([0, 15, 16, 160, 1_000_000].map(after), [0, 0, 1, 10, 20]);
        let mut known = ProbedThread::default();
        assert_eq!(known.rounds_before(9), 0, "not visited yet");
        known.round = 4;
        assert_eq!([4, 5, 9].map(|round| known.rounds_before(round)), [0, 0, 4]);
    }

    #[test]
    fn a_signal_that_met_another_action_is_not_waited_for_for_ever() {
        let (is_pending, is_gone) = (true, false);
        let mut known = ProbedThread::default();
        let mut look = |found, before| {
            let state = AtomicU32::new(before);
            known.look_for_signal(found, &state);
            state.into_inner()
        };
        // The thread has it blocked, or no processor.
        assert_eq!(look(is_pending, WALL_PENDING), WALL_PENDING);
        // Its handler may be at work.
        assert_eq!(look(is_gone, WALL_PENDING), WALL_PENDING);
        assert_eq!(look(is_gone, WALL_ASLEEP), WALL_ASLEEP, "it was");
        assert_eq!(look(is_pending, WALL_PENDING), WALL_PENDING);
        assert_eq!(look(is_gone, WALL_PENDING), WALL_PENDING);
        assert_eq!(look(is_gone, WALL_PENDING), WALL_LEFT_OUT);
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
            "a newer sample is a new beginning"
        );
    }
}
