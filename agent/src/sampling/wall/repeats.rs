//! Repeats of samples, on their way from the wall-clock thread to the writer.

use crossbeam_queue::ArrayQueue;

/// Capacity of the queue. The writer polls it 50 times a second; a sleeping thread adds about one
/// repeat a second.
const CAPACITY: usize = 16_384;

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
            repeats: ArrayQueue::new(CAPACITY),
        }
    }
}

impl WallShared {
    /// Queues a repeat; `false` if the queue is full.
    pub(super) fn push(&self, repeat: RepeatedSample) -> bool {
        self.repeats.push(repeat).is_ok()
    }

    /// For the writer: the next repeat.
    pub(crate) fn take(&self) -> Option<RepeatedSample> {
        self.repeats.pop()
    }
}
