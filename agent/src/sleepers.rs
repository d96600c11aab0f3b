//! CPU samples of threads that sleep between short bursts: a thread of ours that looks at them at random moments.
//!
//! Their timers cannot do it: the one on their CPU clock comes on the kernel's tick, the one on the monotonic clock interrupts their sleeps. A moment
//! that knows nothing of a thread falls on any nanosecond of its CPU time alike. So the looks are a Poisson process: a thread that has reached
//! its sample point and runs at a look gets a signal, and the sample lies there. A thread is left out of looks for as long as it cannot have
//! reached its point, and for a while when it was found asleep twice in a row; both hang on earlier looks only, so what comes after is as random as before.

use crate::agent::Live;
use crate::boundary::{OnFailure, enter};
use crate::jvm::threads;
use crate::os::thread::{SignalBlocked, ask_for_short_slices};
use crate::os::{send, sigaction, tasks, timers};
use crate::stats;
use signal_core::engine::{Source, monotonic_nanos};
use signal_core::random;
use signal_core::sleepers::{Noticed, Sleepers};
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

/// Looks for each interval, on average.
const LOOKS_PER_INTERVAL: u64 = 4;
/// Not more often than this, on average.
const SHORTEST_NANOS: u64 = 500_000;
/// Threads looked at at once: at most, those that wait longest first.
const AT_ONCE: usize = 8;
/// A thread that has slept for this long is left to its coarse timer; the sample after that brings it back.
const LONG_NANOS: u64 = 1_000_000_000;
/// A thread that sleeps on is left out for this part of the time that it has slept: so that the looks at it become fewer, and only a small part of its next
/// burst is seen less than the rest.
const LEFT_OUT_PART: u64 = 16;

/// The running thread.
#[derive(Debug)]
pub(crate) struct SleeperPoll {
    sleepers: &'static Sleepers,
    thread: JoinHandle<()>,
}

impl SleeperPoll {
    /// Starts it.
    pub(crate) fn spawn(live: &'static Live, signal: i32) -> std::io::Result<Self> {
        let sleepers = &live.room.engine.sleepers;
        sleepers.open();
        let body = move || {
            enter(
                OnFailure::DisableAgent,
                "poll of sleeping threads",
                (),
                || {
                    let _ours = threads::mark_as_ours();
                    SignalBlocked::for_ever(signal);
                    ask_for_short_slices();
                    Poll::new(live, signal).run();
                },
            );
        };
        let spawned = std::thread::Builder::new()
            .name("ctxagent poll".into())
            .spawn(body);
        if spawned.is_err() {
            sleepers.close();
        }
        Ok(Self {
            sleepers,
            thread: spawned?,
        })
    }

    /// Ends it.
    pub(crate) fn stop(self) {
        self.sleepers.close();
        let _ = self.thread.join(); // a panic of it was reported where it happened
    }
}

/// What is known of a thread since the last look.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    serial: u64,
    /// Its CPU time then.
    cpu: u64,
    /// Last look that found that it had run since the one before.
    ran: u64,
}

/// What a look has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// It has slept all the time since the last look, and for very long.
    LongAsleep,
    /// It has its sample point before it, or has slept all the time since the last look: not to be looked at before this monotonic time.
    NotYet(u64),
    /// It has reached its sample point.
    Reached,
}

impl Known {
    /// Takes in the thread's CPU time and its next sample point.
    fn look(&mut self, now: u64, cpu: u64, target: u64) -> Found {
        if cpu == self.cpu {
            let asleep = now.saturating_sub(self.ran);
            return if asleep > LONG_NANOS {
                Found::LongAsleep
            } else {
                Found::NotYet(now.saturating_add(asleep / LEFT_OUT_PART))
            };
        }
        self.ran = now;
        self.cpu = cpu;
        match target.saturating_sub(cpu) {
            0 => Found::Reached,
            left => Found::NotYet(now.saturating_add(left)),
        }
    }
}

struct Poll {
    live: &'static Live,
    signal: i32,
    /// Mean time between two looks.
    mean: u64,
    /// The threads of the set that were noticed, by the time from which they are to be looked at.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    noticed: Noticed,
    known: HashMap<u32, Known>,
    random: u64,
}

impl Poll {
    fn new(live: &'static Live, signal: i32) -> Self {
        let mean = live.room.engine.interval() / LOOKS_PER_INTERVAL;
        Self {
            live,
            signal,
            mean: mean.max(SHORTEST_NANOS),
            queue: BinaryHeap::new(),
            noticed: Noticed::default(),
            known: HashMap::new(),
            random: RandomState::new().hash_one(live.room.blocks.len()) | 1,
        }
    }

    fn run(&mut self) {
        let sleepers = &self.live.room.engine.sleepers;
        loop {
            self.notice_new();
            let time = self.queue.peek().map(|Reverse((from, _))| {
                let until = from.saturating_sub(monotonic_nanos());
                Duration::from_nanos(until) + exponential(&mut self.random, self.mean)
            });
            if !sleepers.wait(time) {
                return;
            }
            self.look();
        }
    }

    /// Queues the threads that are in the set and not in the queue.
    fn notice_new(&mut self) {
        let sleepers = &self.live.room.engine.sleepers;
        sleepers.each_new(&mut self.noticed, |index| {
            self.queue.push(Reverse((0, index)));
        });
    }

    fn look(&mut self) {
        let now = monotonic_nanos();
        for _ in 0..AT_ONCE {
            let Some(first) = self.queue.peek_mut() else {
                return;
            };
            if first.0.0 > now {
                return;
            }
            let Reverse((_, index)) = PeekMut::pop(first);
            if let Some(from) = self.look_at(index, now) {
                self.queue.push(Reverse((from, index)));
            } else {
                self.known.remove(&index);
                self.noticed.forget(index);
            }
        }
    }

    /// Looks at a thread; from when on it is to be looked at again, if it stays.
    fn look_at(&mut self, index: u32, now: u64) -> Option<u64> {
        let room = self.live.room;
        let sleepers = &room.engine.sleepers;
        if !sleepers.has(index) {
            return None;
        }
        let Some(record) = room.records.at(index).filter(|record| record.running()) else {
            sleepers.remove(index);
            return None;
        };
        let counters = &self.live.sleepers;
        stats::add(&counters.looks, 1);
        let known = self.known.entry(index).or_default();
        let serial = record.serial.load(Relaxed);
        if known.serial != serial {
            *known = Known {
                serial,
                ..Known::default()
            };
        }
        let tid = record.os_tid.load(Relaxed);
        let cpu = timers::thread_cpu_nanos(tid);
        match known.look(now, cpu, record.target.load(Relaxed)) {
            Found::LongAsleep => {
                sleepers.remove(index);
                return None;
            }
            Found::NotYet(from) => return Some(from),
            Found::Reached => {}
        }
        if runs(tid, cpu) && sigaction::is_ours(self.signal) {
            stats::add(&counters.signals, 1);
            let _ = send::to_thread(tid, self.signal, Source::Poll); // it may be gone
        }
        Some(now)
    }
}

/// An exponentially distributed time: what is left of it does not depend on how much of it is over.
fn exponential(random: &mut u64, mean: u64) -> Duration {
    const STEPS: u32 = 1 << 24;
    let step = u32::try_from(random::below(random, STEPS.into())).unwrap_or(0);
    let uniform = f64::from(step + 1) / f64::from(STEPS);
    Duration::from_nanos(mean).mul_f64(-uniform.ln())
}

/// Whether a thread that had used `cpu` nanoseconds a moment ago runs now, or would if this thread had not taken its processor. Not one that
/// waits for a processor that others have: it would be met where it waits, as often as it waits there.
fn runs(tid: i32, cpu: u64) -> bool {
    timers::thread_cpu_nanos(tid) > cpu || (tasks::processors_suffice() && tasks::is_runnable(tid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::thread::current_tid;
    use std::sync::mpsc;

    #[test]
    fn times_between_looks_have_their_mean_and_no_memory() {
        let mut random = 1;
        let times: Vec<f64> = (0..100_000)
            .map(|_| exponential(&mut random, 2_500_000).as_secs_f64() * 1000.0)
            .collect();
        let mean = |times: &mut dyn Iterator<Item = f64>| {
            let (count, sum) = times.fold((0.0, 0.0), |(n, sum), t| (n + 1.0, sum + t));
            sum / count
        };
        let all = mean(&mut times.iter().copied());
        assert!((all - 2.5).abs() < 0.05, "{all}");
        let rest = mean(&mut times.iter().filter(|t| **t > 4.0).map(|t| t - 4.0));
        assert!((rest - 2.5).abs() < 0.12, "{rest}");
    }

    #[test]
    fn a_thread_is_left_out_until_it_can_have_reached_its_point() {
        let mut known = Known::default();
        assert_eq!(known.look(1_000, 50, 400), Found::NotYet(1_350));
        assert_eq!(known.look(2_000, 400, 400), Found::Reached);
    }

    #[test]
    fn a_thread_that_sleeps_on_has_not_reached_its_point_and_is_looked_at_ever_more_rarely() {
        let mut known = Known::default();
        assert_eq!(known.look(16_000, 400, 100), Found::Reached);
        assert_eq!(known.look(32_000, 400, 100), Found::NotYet(33_000));
        assert_eq!(known.look(176_000, 400, 100), Found::NotYet(186_000));
        assert_eq!(known.look(200_000, 401, 100), Found::Reached, "it ran");
        assert_eq!(
            known.look(LONG_NANOS + 200_001, 401, 100),
            Found::LongAsleep
        );
    }

    #[test]
    fn a_thread_that_computes_runs_and_one_that_waits_does_not() {
        let (tell, told) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || {
            tell.send(current_tid()).expect("somebody listens");
            let _ = ended.recv();
        });
        let tid = told.recv().expect("an id");
        while tasks::is_runnable(tid) {
            std::thread::yield_now();
        }
        assert!(!runs(tid, timers::thread_cpu_nanos(tid)));
        let own = current_tid();
        assert!(runs(own, timers::thread_cpu_nanos(own)));
        assert!(!tasks::is_runnable(i32::MAX - 7));
        drop(end);
        waiting.join().expect("no panic");
    }
}
