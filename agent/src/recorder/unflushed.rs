//! Events count as written when they are in memory. If they are discarded before they are in the file,
//! they count as lost instead.

use crate::metrics::WriterCounters;
use crate::recorder::sources::Sources;
use signal_core::counters::Counter;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Kinds of events that are counted.
const KINDS: usize = 8;

/// What the counters of written events were when everything was in the file.
#[derive(Debug, Default)]
pub(super) struct FlushedCounts([u64; KINDS]);

/// The counters, in a fixed order: CPU samples first.
fn cells(counters: &WriterCounters) -> [&AtomicU64; KINDS] {
    [
        &counters.written,
        &counters.weight,
        &counters.split,
        &counters.wall_written,
        &counters.wall_repeats,
        &counters.alloc_written,
        &counters.lock_written,
        &counters.gc_written,
    ]
}

impl FlushedCounts {
    /// Everything counted up to now is in the file.
    pub(super) fn note(&mut self, counters: &WriterCounters) {
        self.0 = cells(counters).map(|cell| cell.load(Relaxed));
    }

    /// Whether something was counted since [`FlushedCounts::note`].
    pub(super) fn has_unflushed(&self, counters: &WriterCounters) -> bool {
        cells(counters).map(|cell| cell.load(Relaxed)) != self.0
    }

    /// Counts what was written since [`FlushedCounts::note`] as lost, by kind.
    pub(super) fn discard_unflushed(&self, counters: &WriterCounters, sources: &Sources) {
        let [cpu, weight, _, wall, repeats, alloc, lock, gc] = self.take_back(counters);
        counters.lost_write.fetch_add(cpu, Relaxed);
        sources
            .handler
            .counters
            .add_many(Counter::WeightLost, weight);
        sources.handler.counters.add_many(Counter::WallLost, wall);
        let lost = &sources.wall.counters.repeats_lost;
        lost.fetch_add(repeats, Relaxed);
        let observed = &sources.events.counters;
        observed.alloc_lost.fetch_add(alloc, Relaxed);
        observed.lock_lost.fetch_add(lock, Relaxed);
        observed.gc_lost.fetch_add(gc, Relaxed);
    }

    /// Sets the counters to what they were; returns by how much they were higher.
    fn take_back(&self, counters: &WriterCounters) -> [u64; KINDS] {
        let mut more = [0; KINDS];
        for ((more, cell), in_file) in more.iter_mut().zip(cells(counters)).zip(self.0) {
            *more = cell.swap(in_file, Relaxed).saturating_sub(in_file);
        }
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_in_the_file_is_taken_back() {
        let (counters, mut in_file) = (WriterCounters::default(), FlushedCounts::default());
        counters.written.store(10, Relaxed);
        counters.gc_written.store(2, Relaxed);
        in_file.note(&counters);
        counters.written.store(17, Relaxed);
        counters.weight.store(9, Relaxed);
        counters.wall_repeats.store(5, Relaxed);
        assert_eq!(in_file.take_back(&counters), [7, 9, 0, 0, 5, 0, 0, 0]);
        assert_eq!(counters.written.load(Relaxed), 10);
        assert_eq!(counters.gc_written.load(Relaxed), 2);
        assert_eq!(in_file.take_back(&counters), [0; KINDS]);
    }
}
