//! Events in memory count as written. If they are discarded before they reach the file, they count
//! as lost instead.

use signal_core::counters::{Counter, Counters};

/// The counters of written events, each with the counter of its loss.
const WRITTEN_AND_LOST: [(Counter, Option<Counter>); 14] = [
    (Counter::Written, Some(Counter::LostWrite)),
    (Counter::WrittenWeight, Some(Counter::WeightLost)),
    (Counter::WrittenSplit, None),
    (Counter::WallWritten, Some(Counter::WallLost)),
    (Counter::WallRepeatsWritten, Some(Counter::WallRepeatsLost)),
    (
        Counter::WallUnmountedWritten,
        Some(Counter::WallUnmountedLost),
    ),
    (Counter::AllocWritten, Some(Counter::AllocLost)),
    (Counter::LockWritten, Some(Counter::LockLost)),
    (Counter::ParkWritten, Some(Counter::ParkLost)),
    (Counter::ExceptionWritten, Some(Counter::ExceptionLost)),
    (Counter::LateWritten, Some(Counter::LateLost)),
    (Counter::ScopesWritten, Some(Counter::ScopesUnwritten)),
    (Counter::MarksWritten, Some(Counter::MarksLost)),
    (Counter::GcWritten, Some(Counter::GcLost)),
];

/// The counters of written events when everything was in the file.
#[derive(Debug, Default)]
pub(super) struct FlushedCounts([u64; WRITTEN_AND_LOST.len()]);

fn written(counters: &Counters) -> [u64; WRITTEN_AND_LOST.len()] {
    WRITTEN_AND_LOST.map(|(written, _)| counters.get(written))
}

impl FlushedCounts {
    /// Notes that everything counted so far is in the file.
    pub(super) fn note(&mut self, counters: &Counters) {
        self.0 = written(counters);
    }

    /// Whether something was counted since [`FlushedCounts::note`].
    pub(super) fn has_unflushed(&self, counters: &Counters) -> bool {
        written(counters) != self.0
    }

    /// Moves everything counted since [`FlushedCounts::note`] from written to `lost`.
    pub(super) fn discard_unflushed(&self, written: &Counters, lost: &Counters) {
        for ((counter, loss), flushed) in WRITTEN_AND_LOST.into_iter().zip(self.0) {
            let more = written.replace(counter, flushed).saturating_sub(flushed);
            if let Some(loss) = loss {
                lost.add_many(loss, more);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unflushed_events_count_as_lost() {
        let (written, lost) = (Counters::new(), Counters::new());
        let mut flushed = FlushedCounts::default();
        written.add_many(Counter::Written, 10);
        written.add_many(Counter::GcWritten, 2);
        flushed.note(&written);
        written.add_many(Counter::Written, 7);
        written.add_many(Counter::WrittenWeight, 9);
        written.add_many(Counter::WallRepeatsWritten, 5);
        assert!(flushed.has_unflushed(&written));
        for _ in 0..2 {
            flushed.discard_unflushed(&written, &lost);
            let losses = WRITTEN_AND_LOST.map(|(_, loss)| loss.map_or(0, |loss| lost.get(loss)));
            assert_eq!(losses, [7, 9, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        assert_eq!(written.get(Counter::Written), 10);
        assert_eq!(written.get(Counter::GcWritten), 2);
        assert!(!flushed.has_unflushed(&written));
    }
}
