//! The last wall-clock sample of each thread: it counts again while the thread sleeps or gets no
//! CPU.

use crate::jvm::raw_frame::RawFrame;
use crate::threads::ThreadRef;
use signal_core::block::Values;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// How long the last sample of an ended thread is kept: the wall-clock sampler may still report
/// repeats of it, once a second or once a period.
const RETENTION: Duration = Duration::from_secs(2);

/// The last samples by serial of the thread. As whole samples: keys of the file differ in the next
/// chunk.
#[derive(Debug, Default)]
pub(super) struct WallHistory {
    by_serial: HashMap<u64, LastSample>,
    /// Time between two samples of a thread.
    period: Duration,
    /// The samples of ended threads, oldest first.
    ended: VecDeque<(Instant, u64)>,
}

impl WallHistory {
    pub(super) fn new(period: Duration) -> Self {
        Self {
            period,
            ..Self::default()
        }
    }

    pub(super) fn insert(&mut self, sample: LastSample) {
        self.by_serial.insert(sample.thread.serial, sample);
    }

    /// Removes the last sample of a thread, to be inserted again.
    pub(super) fn remove(&mut self, serial: u64) -> Option<LastSample> {
        self.by_serial.remove(&serial)
    }

    /// Notes the end of the thread.
    pub(super) fn ended(&mut self, serial: u64) {
        if self.by_serial.contains_key(&serial) {
            self.ended.push_back((Instant::now(), serial));
        }
    }

    /// Forgets threads that ended long ago.
    pub(super) fn forget_ended(&mut self) {
        while let Some((when, serial)) = self.ended.front().copied() {
            if when.elapsed() < RETENTION + 2 * self.period {
                break;
            }
            self.ended.pop_front();
            self.by_serial.remove(&serial);
        }
    }
}

/// The data to write a sample again: about 16 bytes per frame.
#[derive(Debug)]
pub(super) struct LastSample {
    pub(super) thread: ThreadRef,
    /// As a recording names it.
    pub(super) state: &'static str,
    pub(super) outcome: i32,
    pub(super) flags: u32,
    pub(super) values: Values,
    pub(super) frames: Box<[RawFrame]>,
}
