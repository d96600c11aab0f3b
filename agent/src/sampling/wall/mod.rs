//! Wall-clock samples: a thread that sends each Java thread a signal once per period, at a random moment.
//!
//! A thread that was found asleep and has not run since is not woken again: its last sample counts once
//! more, and the writer is told so. The longer it sleeps, the more rarely it is probed: an unchanged CPU
//! time says that it slept at all moments in between. When the next probe comes depends on how long the
//! thread has slept, never on what it does then, so no state is seen too often. Probes that find the last
//! signal still on its way, and rounds that this thread was late for, count with the next sample.
//!
//! Accounting, per probe: due = sent + repeated + unlabelled + pending + gone + missed.

mod probed;

use self::probed::ProbedThread;
use super::Sampler;
use crate::guard::{self, OnFailure};
use crate::log;
use crate::options::{Options, WallThreads};
use crate::os::agent_thread::BlockedSignals;
use crate::os::seed::seed;
use crate::os::sigaction::{self, wall_signal};
use crate::os::{send, tasks, timers};
use crate::threads::ThreadDirectory;
use crossbeam_queue::ArrayQueue;
use signal_core::block::{ReadOutcome, Values};
use signal_core::counters::Counter;
use signal_core::engine::{Source, monotonic_nanos};
use signal_core::handler_state::HandlerState;
use signal_core::random;
use signal_core::record::{ThreadRecord, WALL_ASLEEP, WALL_AWAKE, WALL_PENDING};
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Repeats that wait for the writer; it comes 50 times a second, a sleeping thread sends about one a second.
const QUEUE: usize = 16_384;
/// A repeat is told after this time, so that what a flush brings into the file is not older.
const TELL_AFTER: Duration = Duration::from_secs(1);
/// The thread looks whom to visit this often at most, or ten times in a period.
const SLICE: Duration = Duration::from_millis(1);
const SLICES_PER_PERIOD: u32 = 10;

/// The last sample of a thread stands for `samples` more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RepeatedSample {
    pub(crate) serial: u64,
    pub(crate) samples: u32,
    pub(crate) nanos: u64,
}

/// What the wall-clock thread shares with the writer and with `status`.
#[derive(Debug)]
pub(crate) struct WallShared {
    repeats: ArrayQueue<RepeatedSample>,
}

impl Default for WallShared {
    fn default() -> Self {
        Self {
            repeats: ArrayQueue::new(QUEUE),
        }
    }
}

impl WallShared {
    /// For the writer: the next repeat.
    pub(crate) fn take(&self) -> Option<RepeatedSample> {
        self.repeats.pop()
    }
}

/// How a recording samples the wall clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WallSettings {
    pub(crate) period: Duration,
    /// Threads without a context are not sampled.
    pub(crate) needs_context: bool,
    /// The signal for CPU time; the one for the wall clock follows from it.
    pub(crate) cpu_signal: i32,
}

impl WallSettings {
    /// What `options` ask for; `None` if they leave the wall clock out.
    pub(crate) fn of(options: &Options) -> Option<Self> {
        Some(Self {
            period: options.wall?,
            needs_context: options.wall_threads == WallThreads::Context,
            cpu_signal: options.signal.number(),
        })
    }
}

/// The running sampler.
#[derive(Debug)]
pub(crate) struct WallSampler {
    stop: Sender<()>,
    thread: JoinHandle<()>,
    is_taken: Arc<AtomicBool>,
}

impl WallSampler {
    /// Starts it.
    pub(crate) fn start(
        handler: &'static HandlerState,
        threads: &'static ThreadDirectory,
        shared: &'static WallShared,
        settings: WallSettings,
    ) -> Result<Self, String> {
        let (stop, stopped) = mpsc::channel();
        let is_taken = Arc::new(AtomicBool::new(false));
        let reports = is_taken.clone();
        handler
            .wall_needs_context
            .store(settings.needs_context, Relaxed);
        let body = move || {
            let mut sampler = SamplerLoop::new(handler, threads, shared, settings);
            reports.store(sampler.run(&stopped) == LoopEnd::SignalTaken, Relaxed);
        };
        let blocked = BlockedSignals::Sampling(settings.cpu_signal);
        let thread = guard::spawn(OnFailure::DisableAgent, "ctxagent wall", blocked, body)
            .map_err(|error| format!("no thread for wall-clock samples: {error}"))?;
        Ok(Self {
            stop,
            thread,
            is_taken,
        })
    }
}

impl Sampler for WallSampler {
    /// Whether it has ended because its signal has another owner now.
    fn has_ended(&self) -> bool {
        self.is_taken.load(Relaxed)
    }

    /// What it has not reported yet is reported now.
    fn stop(self) {
        drop(self.stop);
        let _ = self.thread.join(); // a panic of it was reported where it happened
    }
}

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoopEnd {
    /// Told to stop, or nothing is sampled any more.
    Stopped,
    /// Something else has put its action over ours: our signals would hit it.
    SignalTaken,
}

/// The thread's own state.
struct SamplerLoop {
    handler: &'static HandlerState,
    threads: &'static ThreadDirectory,
    shared: &'static WallShared,
    period: Duration,
    needs_context: bool,
    signal: i32,
    records: Vec<&'static ThreadRecord>,
    visited: HashMap<u64, ProbedThread>,
    /// Serials of the threads that are to be visited in a later round, by round.
    later: BinaryHeap<Reverse<(u64, u64)>>,
    /// The directory's count of new threads when it was last asked for them.
    births: Option<u64>,
    round: u64,
    /// Repeats of one thread that are told at once.
    tell_at: u32,
    random: u64,
}

impl SamplerLoop {
    fn new(
        handler: &'static HandlerState,
        threads: &'static ThreadDirectory,
        shared: &'static WallShared,
        settings: WallSettings,
    ) -> Self {
        let period = settings.period;
        let periods = TELL_AFTER.as_nanos() / period.as_nanos().max(1);
        Self {
            handler,
            threads,
            shared,
            period,
            needs_context: settings.needs_context,
            signal: wall_signal(settings.cpu_signal),
            records: Vec::new(),
            visited: HashMap::new(),
            later: BinaryHeap::new(),
            births: None,
            round: 0,
            tell_at: u32::try_from(periods).unwrap_or(u32::MAX).max(1),
            random: seed(),
        }
    }

    fn run(&mut self, stopped: &Receiver<()>) -> LoopEnd {
        let mut begin = Instant::now();
        let ended = loop {
            if !self.handler.enabled.load(Relaxed) {
                break LoopEnd::Stopped; // an internal error has switched sampling off
            }
            if !sigaction::is_ours(self.signal) {
                log::warn(&format!(
                    "something else has taken signal {}; no more wall-clock samples are taken",
                    self.signal
                ));
                break LoopEnd::SignalTaken;
            }
            self.round += 1;
            self.meet_new_threads();
            let mut due = self.take_due();
            self.shuffle(&mut due);
            let going_on = self.visit_all(&due, begin, stopped);
            if !going_on || !self.wait_until(begin + self.period, stopped) {
                break LoopEnd::Stopped;
            }
            begin = self.next_begin(begin);
        };
        self.end();
        ended
    }

    /// Adds the threads that began since the last round, or all in the first.
    fn meet_new_threads(&mut self) {
        let births = Some(self.threads.births());
        if births == self.births {
            return;
        }
        let is_first = self.births.is_none();
        self.births = births;
        let mut records = std::mem::take(&mut self.records);
        self.threads.java_records(&mut records);
        for record in &records {
            if is_first {
                // A signal of an earlier recording may have come after its end, unheard.
                record.wall_state.store(WALL_AWAKE, Relaxed);
            }
            let serial = record.serial.load(Relaxed);
            if let Entry::Vacant(new) = self.visited.entry(serial) {
                new.insert(ProbedThread {
                    record: Some(record),
                    ..ProbedThread::default()
                });
                self.later.push(Reverse((self.round, serial)));
            }
        }
        self.records = records;
    }

    /// The threads that are to be visited in this round.
    fn take_due(&mut self) -> Vec<u64> {
        let mut due = Vec::new();
        while let Some(first) = self.later.peek_mut() {
            if first.0.0 > self.round {
                break;
            }
            due.push(PeekMut::pop(first).0.1);
        }
        due
    }

    /// Begin of the next round; rounds that have no time any more are left to the next visits.
    fn next_begin(&mut self, begin: Instant) -> Instant {
        let next = begin + self.period;
        let late = Instant::now().saturating_duration_since(next);
        let missed = late.as_nanos() / self.period.as_nanos().max(1);
        let missed = u32::try_from(missed).unwrap_or(u32::MAX);
        self.round += u64::from(missed);
        next + self.period.saturating_mul(missed)
    }

    /// Visits each thread at a random moment of its part of the period; `false` when told to stop.
    fn visit_all(&mut self, due: &[u64], begin: Instant, stopped: &Receiver<()>) -> bool {
        let Ok(count) = u32::try_from(due.len()) else {
            return true;
        };
        let part = self.period / count.max(1);
        for (index, serial) in (0_u32..).zip(due) {
            let jitter = random::below(
                &mut self.random,
                u64::try_from(part.as_nanos()).unwrap_or(u64::MAX),
            );
            let at = begin + part * index + Duration::from_nanos(jitter);
            if !self.wait_until(at, stopped) {
                return false;
            }
            self.visit(*serial);
        }
        true
    }

    fn wait_until(&self, at: Instant, stopped: &Receiver<()>) -> bool {
        let slice = SLICE.max(self.period / SLICES_PER_PERIOD);
        wait_until(at, slice.min(self.period / 4), stopped)
    }

    fn visit(&mut self, serial: u64) {
        let Some(mut known) = self.visited.remove(&serial) else {
            return;
        };
        let alive = known
            .record
            .filter(|record| record.serial.load(Relaxed) == serial && record.running());
        let Some(record) = alive else {
            self.count_last_sleep(serial, &mut known);
            return self.bury(serial, &mut known);
        };
        self.handler.counters.add(Counter::WallProbes);
        self.look_at(serial, record, &mut known);
        known.round = self.round;
        let next = self.round + 1 + known.rest(u64::from(self.tell_at));
        self.later.push(Reverse((next, serial)));
        self.visited.insert(serial, known);
    }

    fn look_at(&mut self, serial: u64, record: &'static ThreadRecord, known: &mut ProbedThread) {
        let counters = &self.handler.counters;
        let missed = known.rounds_before(self.round);
        let all = missed.saturating_add(1);
        counters.add_many(Counter::WallScheduled, u64::from(all));
        // Acquire: pairs with the Release of the handler that stored `wall_cpu` before.
        let state = record.wall_state.load(Acquire);
        counters.add_many(Counter::WallLeftOut, known.arrived(state));
        match state {
            WALL_PENDING => {
                let before = known.ahead;
                known.ahead = known.ahead.saturating_add(all);
                known.idle_rounds = 0;
                counters.add(Counter::WallPending);
                counters.add_many(Counter::WallMissed, u64::from(missed));
                // About once a second.
                if known.ahead / self.tell_at > before / self.tell_at {
                    let tid = record.os_tid.load(Relaxed);
                    known.look_for_signal(tasks::is_pending(tid, self.signal), &record.wall_state);
                }
            }
            WALL_ASLEEP if known.still_asleep(record) => {
                known.repeats = known.repeats.saturating_add(all);
                known.idle_rounds += u64::from(all);
                counters.add_many(Counter::WallRepeated, u64::from(all));
                if known.repeats >= self.tell_at {
                    self.tell(serial, known);
                }
            }
            _ if known.is_unlabelled && known.has_done_nothing(record) => {
                known.idle_rounds += u64::from(all);
                counters.add_many(Counter::WallUnlabelled, u64::from(all));
            }
            _ => {
                self.tell(serial, known);
                (known.is_gone, known.idle_rounds) = (false, 0);
                counters.add_many(Counter::WallMissed, u64::from(missed));
                if self.send(record, known) {
                    known.ahead = missed;
                } else {
                    counters.add_many(Counter::WallLeftOut, u64::from(missed));
                }
            }
        }
    }

    /// Sends the signal, if it is to be sent; whether it was.
    fn send(&self, record: &ThreadRecord, known: &mut ProbedThread) -> bool {
        let counters = &self.handler.counters;
        // Before the context is looked for: a thread that opens one meanwhile has run.
        let cpu = timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
        known.is_unlabelled = self.needs_context && !self.has_context(record);
        if known.is_unlabelled {
            known.settled = Some(cpu);
            // Its last sample stands for no more visits, though it does not run: that one had a context.
            record.wall_state.store(WALL_AWAKE, Relaxed);
            counters.add(Counter::WallUnlabelled);
            return false;
        }
        record.wall_state.store(WALL_PENDING, Relaxed);
        let sent = send::to_thread(record.os_tid.load(Relaxed), self.signal, Source::Wall);
        if sent.is_ok() {
            counters.add(Counter::WallSent);
        } else {
            record.wall_state.store(WALL_AWAKE, Relaxed);
            counters.add(Counter::WallExited);
        }
        sent.is_ok()
    }

    /// Whether the logical thread on top has a context, as far as another thread can see: a hint, the handler looks again.
    fn has_context(&self, record: &ThreadRecord) -> bool {
        let handler = self.handler;
        let Some(tid) = handler.logical_tid_of_other(record) else {
            return true;
        };
        handler.blocks.copy(tid, &mut Values::default()) != ReadOutcome::Nothing
    }

    fn tell(&self, serial: u64, known: &mut ProbedThread) {
        let samples = std::mem::take(&mut known.repeats);
        if samples == 0 {
            return;
        }
        let repeat = RepeatedSample {
            serial,
            samples,
            nanos: monotonic_nanos(),
        };
        if self.shared.repeats.push(repeat).is_err() {
            self.handler
                .counters
                .add_many(Counter::WallRepeatsLost, u64::from(samples));
        }
    }

    /// Forgets a thread that has ended, and tells what is left of it.
    fn bury(&self, serial: u64, known: &mut ProbedThread) {
        let left_out = known.ends(serial);
        self.handler
            .counters
            .add_many(Counter::WallLeftOut, left_out);
        self.tell(serial, known);
    }

    /// No more visits: those that were left alone until now slept on, or not.
    fn end(&mut self) {
        let counters = &self.handler.counters;
        for (serial, mut known) in std::mem::take(&mut self.visited) {
            let rounds = known.rounds_before(self.round.saturating_add(1));
            if known.idle_rounds > 0 && rounds > 0 {
                counters.add_many(Counter::WallScheduled, u64::from(rounds));
                self.count_last_rest(serial, rounds, &mut known);
            }
            self.bury(serial, &mut known);
        }
    }

    /// A thread has ended that was left alone: until then it slept on.
    fn count_last_sleep(&self, serial: u64, known: &mut ProbedThread) {
        let counters = &self.handler.counters;
        let record = known.record.filter(|r| r.serial.load(Relaxed) == serial);
        let Some(record) = record.filter(|_| known.idle_rounds > 0) else {
            return;
        };
        let since = monotonic_nanos().saturating_sub(record.ended_at_ns.load(Relaxed));
        let since = u128::from(since) / self.period.as_nanos().max(1);
        let rounds = known
            .rounds_before(self.round)
            .saturating_sub(u32::try_from(since).unwrap_or(u32::MAX));
        counters.add_many(Counter::WallScheduled, u64::from(rounds));
        if known.is_unlabelled {
            counters.add_many(Counter::WallUnlabelled, u64::from(rounds));
        } else {
            known.repeats = known.repeats.saturating_add(rounds);
            counters.add_many(Counter::WallRepeated, u64::from(rounds));
        }
    }

    fn count_last_rest(&self, serial: u64, rounds: u32, known: &mut ProbedThread) {
        let counters = &self.handler.counters;
        let alive = known
            .record
            .filter(|record| record.serial.load(Relaxed) == serial && record.running());
        let rests = alive.is_some_and(|record| known.has_done_nothing(record));
        if !rests {
            counters.add_many(Counter::WallMissed, u64::from(rounds));
            counters.add_many(Counter::WallLeftOut, u64::from(rounds));
        } else if known.is_unlabelled {
            counters.add_many(Counter::WallUnlabelled, u64::from(rounds));
        } else {
            known.repeats = known.repeats.saturating_add(rounds);
            counters.add_many(Counter::WallRepeated, u64::from(rounds));
        }
    }

    fn shuffle(&mut self, due: &mut [u64]) {
        for i in (1..due.len()).rev() {
            let j = usize::try_from(random::below(&mut self.random, i as u64 + 1)).unwrap_or(0);
            due.swap(i, j);
        }
    }
}

/// Waits, unless less than `worth` is left; `false` when told to stop, also where there is never time to wait.
fn wait_until(at: Instant, worth: Duration, stopped: &Receiver<()>) -> bool {
    let left = at.saturating_duration_since(Instant::now());
    if left < worth {
        return stopped.try_recv() == Err(TryRecvError::Empty);
    }
    stopped.recv_timeout(left) == Err(RecvTimeoutError::Timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampler_that_is_always_late_hears_that_it_is_to_stop() {
        let (stop, stopped) = mpsc::channel();
        let (past, slice) = (Instant::now(), Duration::from_micros(250));
        assert!(wait_until(past, slice, &stopped));
        drop(stop);
        assert!(!wait_until(past, slice, &stopped));
        assert!(!wait_until(past + Duration::from_mins(1), slice, &stopped));
    }
}
