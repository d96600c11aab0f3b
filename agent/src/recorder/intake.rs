//! The data that a drain takes out of slots and queues before it is written.

use crate::events::{EventCollector, ObservedEvent};
use crate::jvm::raw_frame::RawFrame;
use crate::sampling::wall::{RepeatedSample, WallShared};
use crate::threads::ThreadRef;
use signal_core::block::Values;
use signal_core::handler_state::HandlerState;
use signal_core::slots::SlotHeader;
use stack_walker::CallFrame;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Maximum number of events per drain, so that a burst of them cannot delay samples.
const MAX_EVENTS: usize = 4096;

/// The slots that a drain visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slots {
    /// All slots: before any statement about what has been written.
    All,
    /// The slots that handlers have tried since the last drain.
    Tried,
}

/// A sample copied out of its slot.
#[derive(Debug)]
pub(super) struct PendingSample {
    pub(super) nanos: u64,
    /// A `SampleKind` as a number.
    pub(super) kind: u32,
    pub(super) weight: u32,
    pub(super) thread: ThreadRef,
    pub(super) walk: i32,
    /// `FROZEN`, `BROKEN`, `SWITCHING`.
    pub(super) flags: u32,
    pub(super) values: Values,
    /// In [`Intake::frames`].
    frames: Range<usize>,
    #[cfg(feature = "oracle")]
    pub(super) truth: u64,
    #[cfg(feature = "oracle")]
    pub(super) read_outcome: u32,
}

/// Data taken and not written yet.
#[derive(Debug, Default)]
pub(super) struct Intake {
    pub(super) samples: Vec<PendingSample>,
    frames: Vec<RawFrame>,
    #[expect(
        clippy::vec_box,
        reason = "as they come out of the queue, without a copy"
    )]
    pub(super) events: Vec<Box<ObservedEvent>>,
    pub(super) repeats: VecDeque<RepeatedSample>,
}

impl Intake {
    /// Takes the repeats of the wall-clock sampler.
    pub(super) fn take_repeats(&mut self, wall: &WallShared) {
        while let Some(repeat) = wall.take() {
            self.repeats.push_back(repeat);
        }
    }

    /// Copies samples out of their slots.
    pub(super) fn take_samples(&mut self, handler: &HandlerState, slots: Slots) {
        let (samples, frames) = (&mut self.samples, &mut self.frames);
        frames.clear();
        let take = |header: &SlotHeader, walked: &[CallFrame]| {
            let begin = frames.len();
            frames.extend(walked.iter().map(RawFrame::from));
            samples.push(PendingSample {
                nanos: header.nanos.load(Relaxed),
                kind: header.kind.load(Relaxed),
                weight: header.weight.load(Relaxed),
                thread: ThreadRef {
                    serial: header.thread_serial.load(Relaxed),
                    logical_tid: header.logical_tid.load(Relaxed),
                    is_virtual: header.is_virtual.load(Relaxed) != 0,
                },
                walk: header.walk.load(Relaxed),
                flags: header.flags.load(Relaxed),
                values: header.values(),
                frames: begin..frames.len(),
                #[cfg(feature = "oracle")]
                truth: header.truth.load(Relaxed),
                #[cfg(feature = "oracle")]
                read_outcome: header.read_outcome.load(Relaxed),
            });
        };
        match slots {
            Slots::All => handler.slots.drain(take),
            Slots::Tried => handler.slots.drain_tried(take),
        };
    }

    /// Takes the events queued since the last call.
    pub(super) fn take_events(&mut self, events: &EventCollector) {
        let next = std::iter::from_fn(|| events.take());
        self.events.extend(next.take(MAX_EVENTS));
    }

    /// The frames of a sample of the last drain, topmost first.
    pub(super) fn frames(&self, sample: &PendingSample) -> &[RawFrame] {
        self.frames.get(sample.frames.clone()).unwrap_or_default()
    }
}
