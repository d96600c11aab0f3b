//! The counters of a recording, of its files and of their chunks.

use super::sources::{RecordingStatus, Sources};
use super::unflushed::FlushedCounts;
use crate::log;
use crate::metrics::{LateSamples, RecordingStart, Snapshot};
use ctxagent_events::ProfileEvents as _;
use jfr_format::write::{FileStorage, Recording, Ticks};
use signal_core::counters::Counter;
use signal_core::handler_state::HandlerState;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// See the module.
#[derive(Debug)]
pub(super) struct RecordingCounters {
    sources: Sources,
    status: Arc<RecordingStatus>,
    /// Counters at the start of the recording, at the start of the file, and at the end of the last
    /// chunk.
    start: Arc<RecordingStart>,
    base: Snapshot,
    chunk_base: Snapshot,
    flushed: FlushedCounts,
}

impl RecordingCounters {
    /// Notes the start of a recording; `has_exact_weights`: no rate limit drops CPU samples.
    pub(super) fn new(
        sources: Sources,
        status: Arc<RecordingStatus>,
        has_exact_weights: bool,
    ) -> Self {
        let mut base = (sources.snapshots)(&status.counters);
        count_late(sources.handler, &mut base);
        let start = Arc::new(RecordingStart::new(base.clone(), has_exact_weights));
        let _ = status.start.set(start.clone()); // set once
        Self {
            sources,
            status,
            start,
            chunk_base: base.clone(),
            base,
            flushed: FlushedCounts::default(),
        }
    }

    fn snapshot(&self) -> Snapshot {
        (self.sources.snapshots)(&self.status.counters)
    }

    /// Continues in another file.
    pub(super) fn next_file(&mut self) {
        self.base = self.chunk_base.clone();
    }

    /// Checks that all signals since the start are samples or counted losses. No handler runs and
    /// the slots are empty.
    pub(super) fn check_accounting(&self) {
        if !self.start.is_balanced(&self.snapshot()) {
            log::warn(
                "samples are missing without a reason: signals differ from written + lost; \
                 please report this",
            );
        }
    }

    /// Writes the counters while the recording or a handler runs: signals whose samples are in
    /// flight count in the file of their samples.
    pub(super) fn write(&mut self, recording: &mut Recording<FileStorage>, now: Ticks) {
        let mut snapshot = self.snapshot();
        self.start.reconcile(&mut snapshot);
        self.write_all(recording, now, snapshot);
    }

    /// Writes the counters at the end, when no handler runs.
    pub(super) fn write_last(&mut self, recording: &mut Recording<FileStorage>, now: Ticks) {
        let mut snapshot = self.snapshot();
        self.start.reconcile_at_end(&mut snapshot);
        self.write_all(recording, now, snapshot);
    }

    /// Writes the counters that are not 0, and those that every recording has.
    fn write_all(
        &mut self,
        recording: &mut Recording<FileStorage>,
        now: Ticks,
        snapshot: Snapshot,
    ) {
        for &counter in Counter::ALL {
            let since = |base| i64::try_from(snapshot.since(counter, base)).unwrap_or(i64::MAX);
            let (in_chunk, total) = (since(&self.chunk_base), since(&self.base));
            if total != 0 || matches!(counter, Counter::Signals | Counter::Written) {
                recording.stat(now, counter.name(), in_chunk, total);
            }
        }
        self.chunk_base = snapshot;
    }

    /// Notes that everything counted so far is in the file.
    pub(super) fn note_flushed(&mut self) {
        self.flushed.note(&self.status.counters);
    }

    /// Whether any written event is not in the file yet.
    pub(super) fn has_unflushed(&self) -> bool {
        self.flushed.has_unflushed(&self.status.counters)
    }

    /// Moves events that are only in memory from written to lost.
    pub(super) fn discard_unflushed(&mut self) {
        let lost = &self.sources.handler.counters;
        self.flushed.discard_unflushed(&self.status.counters, lost);
        let snapshot = self.snapshot();
        for base in [&mut self.base, &mut self.chunk_base] {
            self.start.mark_lost(base, &snapshot);
        }
    }
}

/// Samples of an earlier recording that arrived after its end. Its file does not count their
/// signals; this one counts them as lost.
fn count_late(handler: &HandlerState, base: &mut Snapshot) {
    let mut late = LateSamples::default();
    handler.slots.drain(|header, _| {
        late.add(header.kind.load(Relaxed), header.weight.load(Relaxed));
    });
    let counters = &handler.counters;
    counters.add_many(Counter::LostLate, late.cpu);
    counters.add_many(Counter::WeightLost, late.weight);
    counters.add_many(Counter::WallLost, late.wall);
    late.count(base);
}
