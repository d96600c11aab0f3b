//! The wall-clock thread: which threads it probes, when, and what it counts.

use super::probed::ProbedThread;
use super::queues::{RepeatedSample, WallShared};
use super::settings::WallSettings;
use crate::log;
use crate::os::seed::seed;
use crate::os::sigaction::{self, wall_signal};
use crate::os::{send, tasks, timers};
use crate::threads::ThreadDirectory;
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
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

/// Repeats of a thread are reported after this time, so that a flush writes recent ones.
const REPORT_AFTER: Duration = Duration::from_secs(1);
/// Shorter waits than this, or than a tenth of the period if that is longer, are skipped.
const SLICE: Duration = Duration::from_millis(1);
const SLICES_PER_PERIOD: u32 = 10;

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopEnd {
    /// The session stopped it, or sampling is disabled.
    Stopped,
    /// Another action has replaced ours: our signals would reach it.
    HandlerReplaced,
}

/// The state of the thread.
pub(super) struct SamplerLoop {
    handler: &'static HandlerState,
    threads: &'static ThreadDirectory,
    shared: &'static WallShared,
    period: Duration,
    needs_context: bool,
    signal: i32,
    records: Vec<&'static ThreadRecord>,
    probed: HashMap<u64, ProbedThread>,
    /// (Round of the next probe, serial) of each thread.
    schedule: BinaryHeap<Reverse<(u64, u64)>>,
    /// The directory's count of new threads at the last scan.
    births: Option<u64>,
    round: u64,
    /// Repeats of one thread that make a report.
    repeats_per_report: u32,
    random: u64,
}

impl SamplerLoop {
    pub(super) fn new(
        handler: &'static HandlerState,
        threads: &'static ThreadDirectory,
        shared: &'static WallShared,
        settings: WallSettings,
    ) -> Self {
        let period = settings.period;
        let periods = REPORT_AFTER.as_nanos() / period.as_nanos().max(1);
        Self {
            handler,
            threads,
            shared,
            period,
            needs_context: settings.needs_context,
            signal: wall_signal(settings.cpu_signal),
            records: Vec::new(),
            probed: HashMap::new(),
            schedule: BinaryHeap::new(),
            births: None,
            round: 0,
            repeats_per_report: u32::try_from(periods).unwrap_or(u32::MAX).max(1),
            random: seed(),
        }
    }

    pub(super) fn run(&mut self, stopped: &Receiver<()>) -> LoopEnd {
        let mut round_start = Instant::now();
        let end = loop {
            if !self.handler.enabled.load(Relaxed) {
                break LoopEnd::Stopped; // an internal error has switched sampling off
            }
            if !sigaction::is_ours(self.signal) {
                log::warn(&format!(
                    "something else has taken signal {}; no more wall-clock samples are taken",
                    self.signal
                ));
                break LoopEnd::HandlerReplaced;
            }
            self.round += 1;
            self.add_new_threads();
            let mut due = self.take_due();
            self.shuffle(&mut due);
            let is_running = self.probe_all(&due, round_start, stopped);
            if !is_running || !self.wait_until(round_start + self.period, stopped) {
                break LoopEnd::Stopped;
            }
            round_start = self.next_round_start(round_start);
        };
        self.finish();
        end
    }

    /// Adds the threads that started since the last round; in the first round all threads.
    fn add_new_threads(&mut self) {
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
                // A signal of an earlier recording may have arrived after its end.
                record.wall_state.store(WALL_AWAKE, Relaxed);
            }
            let serial = record.serial.load(Relaxed);
            if let Entry::Vacant(new) = self.probed.entry(serial) {
                new.insert(ProbedThread {
                    record: Some(record),
                    ..ProbedThread::default()
                });
                self.schedule.push(Reverse((self.round, serial)));
            }
        }
        self.records = records;
    }

    /// Removes the threads of this round from the schedule.
    fn take_due(&mut self) -> Vec<u64> {
        let mut due = Vec::new();
        while let Some(first) = self.schedule.peek_mut() {
            if first.0.0 > self.round {
                break;
            }
            due.push(PeekMut::pop(first).0.1);
        }
        due
    }

    /// Start of the next round; rounds that are already over count with the next probes.
    fn next_round_start(&mut self, round_start: Instant) -> Instant {
        let next = round_start + self.period;
        let late = Instant::now().saturating_duration_since(next);
        let missed = late.as_nanos() / self.period.as_nanos().max(1);
        let missed = u32::try_from(missed).unwrap_or(u32::MAX);
        self.round += u64::from(missed);
        next + self.period.saturating_mul(missed)
    }

    /// Probes each thread at a random moment of its part of the period; `false` if stopped.
    fn probe_all(&mut self, due: &[u64], round_start: Instant, stopped: &Receiver<()>) -> bool {
        let Ok(count) = u32::try_from(due.len()) else {
            return true;
        };
        let part = self.period / count.max(1);
        for (index, serial) in (0_u32..).zip(due) {
            let jitter = random::below(
                &mut self.random,
                u64::try_from(part.as_nanos()).unwrap_or(u64::MAX),
            );
            let at = round_start + part * index + Duration::from_nanos(jitter);
            if !self.wait_until(at, stopped) {
                return false;
            }
            self.probe(*serial);
        }
        true
    }

    fn wait_until(&self, at: Instant, stopped: &Receiver<()>) -> bool {
        let slice = SLICE.max(self.period / SLICES_PER_PERIOD);
        wait_until(at, slice.min(self.period / 4), stopped)
    }

    fn probe(&mut self, serial: u64) {
        let Some(mut thread) = self.probed.remove(&serial) else {
            return;
        };
        let alive = thread
            .record
            .filter(|record| record.serial.load(Relaxed) == serial && record.running());
        let Some(record) = alive else {
            self.count_last_sleep(serial, &mut thread);
            return self.remove(serial, &mut thread);
        };
        self.handler.counters.add(Counter::WallProbes);
        self.count_probe(serial, record, &mut thread);
        thread.round = self.round;
        let next = self.round + 1 + thread.rounds_to_skip(u64::from(self.repeats_per_report));
        self.schedule.push(Reverse((next, serial)));
        self.probed.insert(serial, thread);
    }

    fn count_probe(
        &mut self,
        serial: u64,
        record: &'static ThreadRecord,
        thread: &mut ProbedThread,
    ) {
        let counters = &self.handler.counters;
        let missed = thread.rounds_before(self.round);
        let all = missed.saturating_add(1);
        counters.add_many(Counter::WallScheduled, u64::from(all));
        // Acquire: pairs with the Release of the handler that stored `wall_cpu` before.
        let state = record.wall_state.load(Acquire);
        counters.add_many(Counter::WallLeftOut, thread.count_arrival(state));
        match state {
            WALL_PENDING => {
                let before = thread.pending_probes;
                thread.pending_probes = thread.pending_probes.saturating_add(all);
                thread.idle_rounds = 0;
                counters.add(Counter::WallPending);
                counters.add_many(Counter::WallMissed, u64::from(missed));
                // About once a second.
                if thread.pending_probes / self.repeats_per_report
                    > before / self.repeats_per_report
                {
                    let tid = record.os_tid.load(Relaxed);
                    thread.check_signal(tasks::is_pending(tid, self.signal), &record.wall_state);
                }
            }
            WALL_ASLEEP if thread.is_still_asleep(record) => {
                thread.repeats = thread.repeats.saturating_add(all);
                thread.idle_rounds += u64::from(all);
                counters.add_many(Counter::WallRepeated, u64::from(all));
                if thread.repeats >= self.repeats_per_report {
                    self.report(serial, thread);
                }
            }
            _ if thread.is_unlabelled && thread.is_idle(record) => {
                thread.idle_rounds += u64::from(all);
                counters.add_many(Counter::WallUnlabelled, u64::from(all));
            }
            _ => {
                self.report(serial, thread);
                (thread.signal_was_missing, thread.idle_rounds) = (false, 0);
                counters.add_many(Counter::WallMissed, u64::from(missed));
                if self.send(record, thread) {
                    thread.pending_probes = missed;
                } else {
                    counters.add_many(Counter::WallLeftOut, u64::from(missed));
                }
            }
        }
    }

    /// Sends the signal, unless the thread lacks a required context; returns whether it did.
    fn send(&self, record: &ThreadRecord, thread: &mut ProbedThread) -> bool {
        let counters = &self.handler.counters;
        // Read before the context: a thread that opens one in between has used CPU time.
        let cpu = timers::thread_cpu_nanos(record.os_tid.load(Relaxed));
        thread.is_unlabelled = self.needs_context && !self.has_context(record);
        if thread.is_unlabelled {
            thread.cpu_at_sleep = Some(cpu);
            // Its last sample had a context, so it must not be repeated.
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

    /// Whether the logical thread of the record has a context. A hint: the handler checks again.
    fn has_context(&self, record: &ThreadRecord) -> bool {
        let handler = self.handler;
        let Some(tid) = handler.logical_tid_of_other(record) else {
            return true;
        };
        handler.blocks.copy(tid, &mut Values::default()) != ReadOutcome::Nothing
    }

    /// Queues the repeats of a thread for the writer.
    fn report(&self, serial: u64, thread: &mut ProbedThread) {
        let samples = std::mem::take(&mut thread.repeats);
        if samples == 0 {
            return;
        }
        let repeat = RepeatedSample {
            serial,
            samples,
            nanos: monotonic_nanos(),
        };
        if !self.shared.push(repeat) {
            self.handler
                .counters
                .add_many(Counter::WallRepeatsLost, u64::from(samples));
        }
    }

    /// Removes a thread that has ended, and reports its repeats.
    fn remove(&self, serial: u64, thread: &mut ProbedThread) {
        let left_out = thread.end(serial);
        self.handler
            .counters
            .add_many(Counter::WallLeftOut, left_out);
        self.report(serial, thread);
    }

    /// Counts the skipped rounds of each thread after the last probe, and reports its repeats.
    fn finish(&mut self) {
        let counters = &self.handler.counters;
        for (serial, mut thread) in std::mem::take(&mut self.probed) {
            let rounds = thread.rounds_before(self.round.saturating_add(1));
            if thread.idle_rounds > 0 && rounds > 0 {
                counters.add_many(Counter::WallScheduled, u64::from(rounds));
                self.count_skipped_rounds(serial, rounds, &mut thread);
            }
            self.remove(serial, &mut thread);
        }
    }

    /// Counts the skipped rounds of an idle thread up to its end.
    fn count_last_sleep(&self, serial: u64, thread: &mut ProbedThread) {
        let counters = &self.handler.counters;
        let record = thread.record.filter(|r| r.serial.load(Relaxed) == serial);
        let Some(record) = record.filter(|_| thread.idle_rounds > 0) else {
            return;
        };
        let since = monotonic_nanos().saturating_sub(record.ended_at_ns.load(Relaxed));
        let since = u128::from(since) / self.period.as_nanos().max(1);
        let rounds = thread
            .rounds_before(self.round)
            .saturating_sub(u32::try_from(since).unwrap_or(u32::MAX));
        counters.add_many(Counter::WallScheduled, u64::from(rounds));
        if thread.is_unlabelled {
            counters.add_many(Counter::WallUnlabelled, u64::from(rounds));
        } else {
            thread.repeats = thread.repeats.saturating_add(rounds);
            counters.add_many(Counter::WallRepeated, u64::from(rounds));
        }
    }

    fn count_skipped_rounds(&self, serial: u64, rounds: u32, thread: &mut ProbedThread) {
        let counters = &self.handler.counters;
        let alive = thread
            .record
            .filter(|record| record.serial.load(Relaxed) == serial && record.running());
        let is_idle = alive.is_some_and(|record| thread.is_idle(record));
        if !is_idle {
            counters.add_many(Counter::WallMissed, u64::from(rounds));
            counters.add_many(Counter::WallLeftOut, u64::from(rounds));
        } else if thread.is_unlabelled {
            counters.add_many(Counter::WallUnlabelled, u64::from(rounds));
        } else {
            thread.repeats = thread.repeats.saturating_add(rounds);
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

/// Waits until `at`, unless less than `min_wait` is left; `false` if stopped, even without a wait.
pub(super) fn wait_until(at: Instant, min_wait: Duration, stopped: &Receiver<()>) -> bool {
    let left = at.saturating_duration_since(Instant::now());
    if left < min_wait {
        return stopped.try_recv() == Err(TryRecvError::Empty);
    }
    stopped.recv_timeout(left) == Err(RecvTimeoutError::Timeout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_late_sampler_still_stops() {
        let (stop, stopped) = mpsc::channel();
        let (past, slice) = (Instant::now(), Duration::from_micros(250));
        assert!(wait_until(past, slice, &stopped));
        drop(stop);
        assert!(!wait_until(past, slice, &stopped));
        assert!(!wait_until(past + Duration::from_mins(1), slice, &stopped));
    }
}
