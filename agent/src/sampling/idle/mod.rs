//! CPU samples of threads that sleep: a thread of ours that looks at them at random moments.
//!
//! Their timers cannot do it: the one on their CPU clock comes on the kernel's tick, the one on the
//! monotonic clock interrupts their sleeps. A moment that knows nothing of a thread falls on any
//! nanosecond of its CPU time alike. So the looks are a Poisson process: a thread that has reached
//! its sample point and runs at a look gets a signal, and the sample lies there.
//!
//! Rule: how often a thread is looked at may hang on what it did before its burst, never on how far
//! it is in it. So a thread that has slept long is looked at more rarely until it is sampled, not
//! until it is first seen to run.

mod state;

use self::state::{IdleThreadState, ProbeResult};
use super::Sampler;
use crate::guard::{self, OnFailure};
use crate::os::agent_thread::BlockedSignals;
use crate::os::seed::seed;
use crate::os::thread::{Slices, request_short_slices};
use crate::os::{send, sigaction, tasks, timers};
use signal_core::counters::{Counter, Counters};
use signal_core::engine::{Source, monotonic_nanos};
use signal_core::handler_state::HandlerState;
use signal_core::idle_set::{IdleSet, KnownMembers};
use signal_core::random;
use signal_core::record::ThreadRecord;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

/// Threads looked at at once: at most, those that wait longest first. It bounds what the poll
/// costs.
const AT_ONCE: usize = 8;
/// CPU time for which a thread that was judged not to sleep is not left to the poll.
const AWAKE_NANOS: u64 = 250_000_000;
/// Threads remembered that are not in the set any more, at most.
const MOST_REMEMBERED: usize = 1024;

/// What the sampler shares with `status`.
#[derive(Debug, Default)]
pub(crate) struct IdleShared {
    /// What the scheduler gives the sampler; unset before a thread was handed over to it.
    pub(crate) slices: OnceLock<Slices>,
}

/// The running sampler.
#[derive(Debug)]
pub(crate) struct IdleSampler {
    idle: &'static IdleSet,
    thread: JoinHandle<()>,
}

impl IdleSampler {
    /// Starts it. Without it threads that sleep are sampled on the tick.
    pub(crate) fn start(
        handler: &'static HandlerState,
        shared: &'static IdleShared,
        signal: i32,
    ) -> std::io::Result<Self> {
        let idle = &handler.engine.idle;
        idle.open();
        let body = move || {
            let _closing = CloseOnDrop(idle);
            SamplerLoop::new(handler, shared, signal).run();
        };
        let blocked = BlockedSignals::Sampling(signal);
        let thread = guard::spawn(OnFailure::DisableAgent, "ctxagent poll", blocked, body)
            .inspect_err(|_| idle.close())?;
        Ok(Self { idle, thread })
    }
}

impl Sampler for IdleSampler {
    fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// The thread does nothing that takes long.
    fn stop(self) {
        self.idle.close();
        let _ = self.thread.join(); // a panic of it was reported where it happened
    }
}

/// However the thread ends, no handler hands a thread over to it any more.
struct CloseOnDrop(&'static IdleSet);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The thread's own state.
struct SamplerLoop {
    handler: &'static HandlerState,
    shared: &'static IdleShared,
    signal: i32,
    interval: u64,
    /// Mean time between two looks.
    mean: u64,
    processors: usize,
    /// CPU time of a thread between two looks at whether it sleeps or waits for a processor: in
    /// less, one that sleeps may not have slept.
    judged_after: u64,
    /// The threads of the set that were noticed, by the time from which they are to be looked at.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    noticed: KnownMembers,
    known: HashMap<u32, IdleThreadState>,
    random: u64,
}

impl SamplerLoop {
    fn new(handler: &'static HandlerState, shared: &'static IdleShared, signal: i32) -> Self {
        let interval = handler.engine.interval();
        Self {
            handler,
            shared,
            signal,
            interval,
            mean: handler.engine.mean_probe_interval(),
            processors: tasks::processors(),
            judged_after: handler.engine.burst_and_sleep(),
            queue: BinaryHeap::new(),
            noticed: KnownMembers::default(),
            known: HashMap::new(),
            random: seed(),
        }
    }

    fn run(&mut self) {
        let idle = &self.handler.engine.idle;
        if !idle.wait(None) {
            return;
        }
        // Not before there is a thread to look at.
        let slices = request_short_slices();
        self.shared.slices.get_or_init(|| slices);
        loop {
            idle.each_new(&mut self.noticed, |index| {
                self.queue.push(Reverse((0, index)));
            });
            let time = self.queue.peek().map(|Reverse((from, _))| {
                let until = from.saturating_sub(monotonic_nanos());
                Duration::from_nanos(until.saturating_add(exponential(&mut self.random, self.mean)))
            });
            if !idle.wait(time) || !self.is_sampling() {
                return;
            }
            self.look();
        }
    }

    /// Whether anything is sampled, and our signals meet our action.
    fn is_sampling(&self) -> bool {
        self.handler.enabled.load(Relaxed) && sigaction::is_ours(self.signal)
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
                self.noticed.forget(index);
                // What it was found to be is a measure for when it is left to the poll again.
                if self.known.len() > self.queue.len() + MOST_REMEMBERED {
                    self.known.remove(&index);
                }
            }
        }
        if self
            .queue
            .peek()
            .is_some_and(|Reverse((from, _))| *from <= now)
        {
            self.handler.counters.add(Counter::IdleDeferred);
        }
    }

    /// Looks at a thread; from when on it is to be looked at again, if it stays.
    fn look_at(&mut self, index: u32, now: u64) -> Option<u64> {
        let record = self.member(index)?;
        self.handler.counters.add(Counter::IdleProbes);
        let tid = record.os_tid.load(Relaxed);
        let cpu = timers::thread_cpu_nanos(tid);
        let known = known_of(&mut self.known, index, record, now);
        let found = known.look(now, cpu, record.target_cpu_ns.load(Relaxed));
        let is_asleep = matches!(found, ProbeResult::Asleep(_));
        let after = self.judged_after;
        if known.is_new() && known.computes(tasks::is_runnable(tid), cpu, after / 5) {
            return self.take_out(record, cpu); // if that is a mistake, its next sleep brings it back
        }
        if !is_asleep && known.is_awake(tid, cpu, after) && tasks::is_runnable(tid) {
            return self.take_out(record, cpu.saturating_add(AWAKE_NANOS));
        }
        let rest = match found {
            ProbeResult::Gone => return self.let_go(index, tid, cpu),
            // CPU time passes no faster than time. A point further off is none: the record has
            // another thread now.
            ProbeResult::Asleep(left) | ProbeResult::Left(left) => left.min(2 * self.interval),
            ProbeResult::Reached => {
                if !runs(tid, cpu, self.processors) {
                    self.handler.counters.add(Counter::IdleWaiting);
                } else if known.is_to_be_told(now, self.interval) {
                    signal_thread(&self.handler.counters, tid, self.signal);
                }
                0
            }
        };
        let more_rarely = exponential(&mut self.random, known.mean);
        Some(now.saturating_add(rest).saturating_add(more_rarely))
    }

    /// The thread has ended, or slept for very long.
    fn let_go(&self, index: u32, tid: i32, cpu: u64) -> Option<u64> {
        let idle = &self.handler.engine.idle;
        idle.remove(index);
        if timers::thread_cpu_nanos(tid) > cpu {
            idle.add(index); // it has woken up meanwhile; its handler may have taken it for polled
        }
        None
    }

    /// Leaves the thread, which would run if it had a processor, to its timers until it has used
    /// `cpu` nanoseconds: its handler arms them.
    fn take_out(&self, record: &ThreadRecord, cpu: u64) -> Option<u64> {
        self.handler.engine.exclude_until(record, cpu);
        self.handler.counters.add(Counter::IdleAwake);
        signal_thread(
            &self.handler.counters,
            record.os_tid.load(Relaxed),
            self.signal,
        );
        None
    }

    /// The record of a thread that is still left to the poll.
    fn member(&self, index: u32) -> Option<&'static ThreadRecord> {
        let handler = self.handler;
        let idle = &handler.engine.idle;
        if !idle.has(index) {
            return None;
        }
        let record = handler.records.at(index).filter(|record| record.running());
        if record.is_none() {
            idle.remove(index);
        }
        record
    }
}

/// What is known of the thread that has the record `index` now.
fn known_of<'k>(
    all: &'k mut HashMap<u32, IdleThreadState>,
    index: u32,
    record: &ThreadRecord,
    now: u64,
) -> &'k mut IdleThreadState {
    let serial = record.serial.load(Relaxed);
    let known = all.entry(index).or_default();
    if !known.is_of(serial) {
        *known = IdleThreadState::new(serial, now);
    }
    known
}

fn signal_thread(counters: &Counters, tid: i32, signal: i32) {
    match send::to_thread(tid, signal, Source::IdleSampler) {
        Ok(()) => counters.add(Counter::IdleSignals),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {} // it has ended meanwhile
        Err(_) => counters.add(Counter::IdleUnsent),
    }
}

/// An exponentially distributed time: what is left of it does not depend on how much of it is over.
fn exponential(random: &mut u64, mean: u64) -> u64 {
    const STEPS: u32 = 1 << 24;
    if mean == 0 {
        return 0;
    }
    let step = u32::try_from(random::below(random, STEPS.into())).unwrap_or(0);
    let uniform = f64::from(step + 1) / f64::from(STEPS);
    let time = Duration::from_nanos(mean).mul_f64(-uniform.ln());
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Whether a thread that had used `cpu` nanoseconds a moment ago runs now, or would if this thread
/// had not taken its processor. Not one that waits for a processor that others have: it would be
/// met where it waits, as often as it waits there.
fn runs(tid: i32, cpu: u64, processors: usize) -> bool {
    timers::thread_cpu_nanos(tid) > cpu
        || (tasks::waits_for_this_cpu(tid) && tasks::suffice(processors))
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
            .map(|_| {
                Duration::from_nanos(exponential(&mut random, 2_500_000)).as_secs_f64() * 1000.0
            })
            .collect();
        let mean = |times: &mut dyn Iterator<Item = f64>| {
            let (count, sum) = times.fold((0.0, 0.0), |(n, sum), t| (n + 1.0, sum + t));
            sum / count
        };
        let all = mean(&mut times.iter().copied());
        assert!((all - 2.5).abs() < 0.05, "{all}");
        let rest = mean(&mut times.iter().filter(|t| **t > 4.0).map(|t| t - 4.0));
        assert!((rest - 2.5).abs() < 0.12, "{rest}");
        assert_eq!(exponential(&mut random, 0), 0);
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
        assert!(!runs(tid, timers::thread_cpu_nanos(tid), usize::MAX));
        let own = current_tid();
        assert!(runs(own, timers::thread_cpu_nanos(own), 0));
        drop(end);
        waiting.join().expect("no panic");
    }
}
