//! What the threads of the wall-clock samplers hand to the writer.

use crate::jvm::raw_frame::RawFrame;
use crossbeam_queue::ArrayQueue;
use signal_core::block::Values;

/// Capacity of the queue of repeats. The writer polls it 50 times a second; a sleeping thread adds
/// about one repeat a second.
const CAPACITY: usize = 16_384;
/// Capacity of the other queue: 200 come in a second, after a long interval all at once.
const UNMOUNTED_CAPACITY: usize = 4_096;

/// The last sample of a thread stands for `samples` more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RepeatedSample {
    pub(crate) serial: u64,
    pub(crate) samples: u32,
    pub(crate) nanos: u64,
}

/// What a virtual thread waited for, and where.
#[derive(Debug)]
pub(crate) struct UnmountedSample {
    pub(crate) nanos: u64,
    pub(crate) tid: i64,
    /// As a recording names it.
    pub(crate) state: &'static str,
    /// Periods that it stands for.
    pub(crate) samples: u32,
    pub(crate) values: Values,
    /// As in a slot.
    pub(crate) outcome: i32,
    /// As in a slot.
    pub(crate) flags: u32,
    pub(crate) frames: Box<[RawFrame]>,
}

/// What the threads of the samplers share with the writer and with `status`.
#[derive(Debug)]
pub(crate) struct WallShared {
    repeats: ArrayQueue<RepeatedSample>,
    unmounted: ArrayQueue<Box<UnmountedSample>>,
}

impl Default for WallShared {
    fn default() -> Self {
        Self {
            repeats: ArrayQueue::new(CAPACITY),
            unmounted: ArrayQueue::new(UNMOUNTED_CAPACITY),
        }
    }
}

impl WallShared {
    /// Queues a repeat; `false` if the queue is full.
    pub(super) fn push(&self, repeat: RepeatedSample) -> bool {
        self.repeats.push(repeat).is_ok()
    }

    /// Queues a sample; `false` if the queue is full.
    pub(super) fn push_unmounted(&self, sample: UnmountedSample) -> bool {
        self.unmounted.push(Box::new(sample)).is_ok()
    }

    /// For the writer: the next sample of a virtual thread that no carrier ran.
    pub(crate) fn take_unmounted(&self) -> Option<Box<UnmountedSample>> {
        self.unmounted.pop()
    }

    /// Drops what an earlier recording has left.
    pub(crate) fn clear(&self) {
        while self.take().is_some() || self.take_unmounted().is_some() {}
    }

    /// For the writer: the next repeat.
    pub(crate) fn take(&self) -> Option<RepeatedSample> {
        self.repeats.pop()
    }
}
