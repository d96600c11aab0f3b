//! CPU samples of threads that sleep: a sampler thread probes them at random moments.
//!
//! Their own timers cannot do it: a timer on their CPU clock expires on the kernel's tick, and one
//! on the monotonic clock interrupts their sleeps. A probe whose time is independent of a thread
//! hits every nanosecond of its CPU time alike. So the probes are a Poisson process: a thread that
//! has reached its sample point and runs at a probe gets a signal, and the sample lies there.
//!
//! Rule: the rate of probes may depend on what a thread did before its burst, never on its progress
//! in the burst. So a thread that has slept long is probed more rarely until it is sampled, not
//! until it is first found running.

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

/// Threads per round of probes at most, the ones due longest first. It bounds the cost.
const MAX_PROBES_PER_ROUND: usize = 8;
/// CPU time for which a thread that was found not to sleep is left to its timers.
const AWAKE_NANOS: u64 = 250_000_000;
/// Maximum number of threads remembered after they have left the set.
const MAX_REMEMBERED: usize = 1024;

/// What the sampler shares with `status`.
#[derive(Debug, Default)]
pub(crate) struct IdleShared {
    /// The time slices of the sampler; unset before the first thread is handed over to it.
    pub(crate) slices: OnceLock<Slices>,
}

/// The running sampler.
#[derive(Debug)]
pub(crate) struct IdleSampler {
    idle: &'static IdleSet,
    thread: JoinHandle<()>,
}

impl IdleSampler {
    /// Starts the sampler. Without it, threads that sleep are sampled on the tick.
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

    /// The thread never blocks for long.
    fn stop(self) {
        self.idle.close();
        let _ = self.thread.join(); // the guard has reported a panic of it
    }
}

/// After the thread has ended in any way, no handler hands a thread over to it.
struct CloseOnDrop(&'static IdleSet);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The state of the sampler thread.
struct SamplerLoop {
    handler: &'static HandlerState,
    shared: &'static IdleShared,
    signal: i32,
    interval: u64,
    /// Mean time between two probes.
    mean: u64,
    cpus: usize,
    /// CPU time of a thread between two checks of whether it sleeps or waits for a CPU. In less
    /// time, a thread that sleeps may not have slept.
    judged_after: u64,
    /// (Time of the next probe, index) of each thread of the set that the sampler knows.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    members: KnownMembers,
    states: HashMap<u32, IdleThreadState>,
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
            cpus: tasks::processors(),
            judged_after: handler.engine.burst_and_sleep(),
            queue: BinaryHeap::new(),
            members: KnownMembers::default(),
            states: HashMap::new(),
            random: seed(),
        }
    }

    fn run(&mut self) {
        let idle = &self.handler.engine.idle;
        if !idle.wait(None) {
            return;
        }
        // Only when there is a thread to probe.
        let slices = request_short_slices();
        self.shared.slices.get_or_init(|| slices);
        loop {
            idle.each_new(&mut self.members, |index| {
                self.queue.push(Reverse((0, index)));
            });
            let time = self.queue.peek().map(|Reverse((from, _))| {
                let until = from.saturating_sub(monotonic_nanos());
                Duration::from_nanos(until.saturating_add(exponential(&mut self.random, self.mean)))
            });
            if !idle.wait(time) || !self.is_sampling() {
                return;
            }
            self.probe_due();
        }
    }

    /// Whether sampling is on and our action still has the signal.
    fn is_sampling(&self) -> bool {
        self.handler.enabled.load(Relaxed) && sigaction::is_ours(self.signal)
    }

    fn probe_due(&mut self) {
        let now = monotonic_nanos();
        for _ in 0..MAX_PROBES_PER_ROUND {
            let Some(first) = self.queue.peek_mut() else {
                return;
            };
            if first.0.0 > now {
                return;
            }
            let Reverse((_, index)) = PeekMut::pop(first);
            if let Some(from) = self.probe(index, now) {
                self.queue.push(Reverse((from, index)));
            } else {
                self.members.forget(index);
                // Its state helps to decide when it is handed over again.
                if self.states.len() > self.queue.len() + MAX_REMEMBERED {
                    self.states.remove(&index);
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

    /// Probes a thread; returns the time of its next probe if it stays in the set.
    fn probe(&mut self, index: u32, now: u64) -> Option<u64> {
        let record = self.member(index)?;
        self.handler.counters.add(Counter::IdleProbes);
        let tid = record.os_tid.load(Relaxed);
        let cpu = timers::thread_cpu_nanos(tid);
        let state = state_of(&mut self.states, index, record, now);
        let result = state.update(now, cpu, record.target_cpu_ns.load(Relaxed));
        let is_asleep = matches!(result, ProbeResult::Asleep(_));
        let after = self.judged_after;
        if state.is_new() && state.computes(tasks::is_runnable(tid), cpu, after / 5) {
            // If that is a mistake, its next sleep brings it back.
            return self.exclude(record, cpu);
        }
        if !is_asleep && state.is_awake(tid, cpu, after) && tasks::is_runnable(tid) {
            return self.exclude(record, cpu.saturating_add(AWAKE_NANOS));
        }
        let rest = match result {
            ProbeResult::Gone => return self.remove(index, tid, cpu),
            // CPU time passes no faster than time. A sample point further off is not of this
            // thread: the record has a new one.
            ProbeResult::Asleep(left) | ProbeResult::Left(left) => left.min(2 * self.interval),
            ProbeResult::Reached => {
                if !runs(tid, cpu, self.cpus) {
                    self.handler.counters.add(Counter::IdleWaiting);
                } else if state.should_signal(now, self.interval) {
                    signal_thread(&self.handler.counters, tid, self.signal);
                }
                0
            }
        };
        let jitter = exponential(&mut self.random, state.mean);
        Some(now.saturating_add(rest).saturating_add(jitter))
    }

    /// Removes a thread that has ended or slept for very long.
    fn remove(&self, index: u32, tid: i32, cpu: u64) -> Option<u64> {
        let idle = &self.handler.engine.idle;
        idle.remove(index);
        if timers::thread_cpu_nanos(tid) > cpu {
            idle.add(index); // it has woken up; its handler may still rely on the sampler
        }
        None
    }

    /// Leaves a thread that does not sleep to its timers until it has used `cpu` nanoseconds: its
    /// handler arms them.
    fn exclude(&self, record: &ThreadRecord, cpu: u64) -> Option<u64> {
        self.handler.engine.exclude_until(record, cpu);
        self.handler.counters.add(Counter::IdleAwake);
        signal_thread(
            &self.handler.counters,
            record.os_tid.load(Relaxed),
            self.signal,
        );
        None
    }

    /// The record of a thread that is still in the set.
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

/// State of the thread that has the record `index` now.
fn state_of<'k>(
    all: &'k mut HashMap<u32, IdleThreadState>,
    index: u32,
    record: &ThreadRecord,
    now: u64,
) -> &'k mut IdleThreadState {
    let serial = record.serial.load(Relaxed);
    let state = all.entry(index).or_default();
    if !state.is_of(serial) {
        *state = IdleThreadState::new(serial, now);
    }
    state
}

fn signal_thread(counters: &Counters, tid: i32, signal: i32) {
    match send::to_thread(tid, signal, Source::IdleSampler) {
        Ok(()) => counters.add(Counter::IdleSignals),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {} // it has just ended
        Err(_) => counters.add(Counter::IdleUnsent),
    }
}

/// An exponentially distributed time: the rest of it does not depend on the elapsed part.
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

/// Whether a thread that had used `cpu` nanoseconds a moment ago runs now, or would run if this
/// thread had not taken its CPU. False if other threads have its CPU: it would be sampled at the
/// place where it waits, as often as it waits there.
fn runs(tid: i32, cpu: u64, cpus: usize) -> bool {
    timers::thread_cpu_nanos(tid) > cpu || (tasks::waits_for_this_cpu(tid) && tasks::suffice(cpus))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::thread::current_tid;
    use std::sync::mpsc;

    #[test]
    fn times_between_probes_are_memoryless() {
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
        let (sender, tids) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || {
            sender.send(current_tid()).expect("the test receives");
            let _ = ended.recv();
        });
        let tid = tids.recv().expect("an id");
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
