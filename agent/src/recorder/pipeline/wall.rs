//! Wall-clock samples as events, and repeats of them.

use super::Pipeline;
use crate::recorder::intake::PendingSample;
use crate::recorder::names::Walk;
use crate::recorder::wall_history::LastSample;
use crate::sampling::wall::{RepeatedSample, UnmountedSample};
use crate::threads::ThreadRef;
use ctxagent_events::ProfileEvents as _;
use ctxagent_events::WallSample;
use signal_core::counters::Counter;
use signal_core::slots::SampleKind;

impl Pipeline {
    /// Writes a new sample.
    pub(super) fn write_wall(&mut self, sample: &PendingSample) {
        let last = LastSample {
            thread: sample.thread,
            state: state_of(sample.kind),
            outcome: sample.walk,
            flags: sample.flags,
            values: sample.values,
            frames: self.intake.frames(sample).into(),
        };
        if self.wall_event(sample.nanos, &last, 1) {
            self.status.counters.add(Counter::WallWritten);
        } else {
            self.status.counters.add(Counter::WallRatelimited);
        }
        self.wall_history.insert(last);
    }

    /// Writes the repeats reported before `nanos`: a repeat stands for the last sample of its
    /// thread before it, not for the next one.
    pub(super) fn write_repeats_until(&mut self, nanos: u64) {
        while let Some(repeat) = self.intake.repeats.front().copied() {
            if repeat.nanos > nanos {
                break;
            }
            self.intake.repeats.pop_front();
            self.write_repeat(&repeat);
        }
    }

    fn write_repeat(&mut self, repeat: &RepeatedSample) {
        let Some(last) = self.wall_history.remove(repeat.serial) else {
            let counters = &self.sources.handler.counters;
            return counters.add_many(Counter::WallRepeatsLost, u64::from(repeat.samples));
        };
        if self.wall_event(repeat.nanos, &last, repeat.samples) {
            let counters = &self.status.counters;
            counters.add_many(Counter::WallRepeatsWritten, u64::from(repeat.samples));
        }
        self.wall_history.insert(last);
    }

    /// Writes the samples of virtual threads that no carrier ran.
    pub(super) fn write_unmounted(&mut self) {
        while let Some(sample) = self.sources.wall.take_unmounted() {
            let UnmountedSample {
                nanos,
                tid,
                state,
                samples,
                values,
                outcome,
                flags,
                frames,
            } = *sample;
            let thread = ThreadRef {
                serial: 0,
                logical_tid: tid,
                is_virtual: true,
            };
            let sample = LastSample {
                thread,
                state,
                outcome,
                flags,
                values,
                frames,
            };
            let outcome = if self.wall_event(nanos, &sample, samples) {
                Counter::WallUnmountedWritten
            } else {
                Counter::WallUnmountedRatelimited
            };
            self.status.counters.add(outcome);
        }
    }

    /// Writes a sample that stands for so many periods; `false` if others stand for it.
    fn wall_event(&mut self, nanos: u64, sample: &LastSample, samples: u32) -> bool {
        let Some(samples) = self.limiters.wall.take_u32(samples) else {
            return false;
        };
        let walk = Walk {
            thread: sample.thread,
            outcome: sample.outcome,
            flags: sample.flags,
            frames: &sample.frames,
        };
        let recording = &mut self.file.recording;
        let stack = self.tables.names.stack(recording, &walk);
        let at = self.file.clock.ticks(nanos);
        let context = self.tables.context(recording, at, &sample.values);
        let thread = self.tables.names.thread(recording, sample.thread);
        let state = self.tables.names.state(recording, sample.state);
        recording.wall_sample(&WallSample {
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

/// The state of a thread that a signal found.
fn state_of(kind: u32) -> &'static str {
    if kind == SampleKind::WallAsleep as u32 {
        "STATE_SLEEPING"
    } else {
        "STATE_RUNNABLE"
    }
}
