//! Wall-clock samples as events; and the last one of each thread, which counts again while the thread sleeps or gets no processor.

use super::names::{RawFrame, Walk};
use super::pipeline::{Pending, Pipeline};
use crate::sampling::wall::Repeat;
use crate::threads::ThreadRef;
use ctxagent_events::ProfileEvents as _;
use ctxagent_events::WallSample;
use signal_core::block::Values;
use signal_core::counters::Counter;
use signal_core::slots::SampleKind;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// How long the last sample of an ended thread is kept: the wall-clock thread may have something to tell of it, once a second or once a period.
const KEPT: Duration = Duration::from_secs(2);

/// The last samples of threads, by serial. Whole, not as keys of the file: those are others in the next chunk.
#[derive(Debug, Default)]
pub(super) struct LastSamples {
    by_serial: HashMap<u64, LastSample>,
    /// Of threads that have ended, oldest first.
    ended: VecDeque<(Instant, u64)>,
}

impl LastSamples {
    /// The thread has ended.
    pub(super) fn ended(&mut self, serial: u64) {
        if self.by_serial.contains_key(&serial) {
            self.ended.push_back((Instant::now(), serial));
        }
    }

    /// Forgets those that ended long ago.
    fn forget(&mut self, period: Duration) {
        while let Some((when, serial)) = self.ended.front().copied() {
            if when.elapsed() < KEPT + 2 * period {
                break;
            }
            self.ended.pop_front();
            self.by_serial.remove(&serial);
        }
    }
}

/// What it takes to write a sample again: about 16 bytes per frame.
#[derive(Debug)]
struct LastSample {
    thread: ThreadRef,
    asleep: bool,
    outcome: i32,
    flags: u32,
    values: Values,
    frames: Box<[RawFrame]>,
}

impl Pipeline {
    /// Writes a sample that was taken now.
    pub(super) fn write_wall(&mut self, sample: &Pending) {
        let asleep = sample.kind == SampleKind::WallAsleep as u32;
        let frames = self.frames.get(sample.frames.clone()).unwrap_or_default();
        let last = LastSample {
            thread: sample.thread,
            asleep,
            outcome: sample.walk,
            flags: sample.flags,
            values: sample.values,
            frames: frames.into(),
        };
        if self.wall_event(sample.nanos, &last, 1) {
            self.status.counters.add(Counter::WallWritten);
        } else {
            self.status.counters.add(Counter::WallRatelimited);
        }
        self.last.by_serial.insert(sample.thread.serial, last);
    }

    /// Takes what the wall-clock thread says of threads that it did not signal.
    pub(super) fn take_repeats(&mut self) {
        self.last.forget(self.wall_period);
        while let Some(repeat) = self.sources.wall.take() {
            self.repeats.push_back(repeat);
        }
    }

    /// Writes the repeats told before `nanos`: a repeat stands for the last sample of its thread before it, not for the next one.
    pub(super) fn write_repeats_until(&mut self, nanos: u64) {
        while let Some(repeat) = self.repeats.front().copied() {
            if repeat.nanos > nanos {
                break;
            }
            self.repeats.pop_front();
            self.write_repeat(&repeat);
        }
    }

    fn write_repeat(&mut self, repeat: &Repeat) {
        let Some(last) = self.last.by_serial.remove(&repeat.serial) else {
            let counters = &self.sources.handler.counters;
            return counters.add_many(Counter::WallRepeatsLost, u64::from(repeat.samples));
        };
        if self.wall_event(repeat.nanos, &last, repeat.samples) {
            let counters = &self.status.counters;
            counters.add_many(Counter::WallRepeatsWritten, u64::from(repeat.samples));
        }
        self.last.by_serial.insert(repeat.serial, last);
    }

    /// Writes a sample that stands for so many periods; `false` if others stand for it.
    fn wall_event(&mut self, nanos: u64, sample: &LastSample, samples: u32) -> bool {
        let Some(samples) = self.thinning.wall.take_u32(samples) else {
            return false;
        };
        let walk = Walk {
            thread: sample.thread,
            outcome: sample.outcome,
            flags: sample.flags,
            frames: &sample.frames,
        };
        let stack = self.names.stack(&mut self.recording, &walk);
        let at = self.clock.ticks(nanos);
        let context = self.context(at, &sample.values);
        let thread = self.names.thread(&mut self.recording, sample.thread);
        let state = if sample.asleep {
            "STATE_SLEEPING"
        } else {
            "STATE_RUNNABLE"
        };
        let state = self.names.state(&mut self.recording, state);
        self.recording.wall_sample(&WallSample {
            at,
            thread,
            stack,
            state,
            context,
            samples,
        });
        true
    }
}
