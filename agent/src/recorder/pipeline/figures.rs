//! The counters of a recording, of its files and of their chunks.

use super::Pipeline;
use crate::log;
use crate::metrics::{LateSamples, Snapshot};
use ctxagent_events::ProfileEvents as _;
use jfr_format::write::Ticks;
use signal_core::counters::Counter;
use signal_core::handler_state::HandlerState;
use std::sync::atomic::Ordering::Relaxed;

impl Pipeline {
    pub(super) fn snapshot(&self) -> Snapshot {
        (self.sources.snapshots)(&self.status.counters)
    }

    /// All signals since the start must be samples or counted losses by now: no handler is at work and the slots are empty.
    pub(super) fn check_accounting(&self) {
        if !self.start.is_balanced(&self.snapshot()) {
            log::warn(
                "samples are missing without a reason: signals differ from written + lost; please report this",
            );
        }
    }

    /// Writes the counters while the recording goes on, or a handler does: signals whose samples are still under way count where their samples will be.
    pub(super) fn write_stats(&mut self, now: Ticks) {
        let mut snapshot = self.snapshot();
        self.start.reconcile(&mut snapshot);
        self.write_snapshot(now, snapshot);
    }

    /// Writes the counters that are not 0, and those that every recording has.
    pub(super) fn write_snapshot(&mut self, now: Ticks, snapshot: Snapshot) {
        for &counter in Counter::ALL {
            let since = |base| i64::try_from(snapshot.since(counter, base)).unwrap_or(i64::MAX);
            let (in_chunk, total) = (since(&self.chunk_base), since(&self.base));
            if total != 0 || matches!(counter, Counter::Signals | Counter::Written) {
                let name = counter.name();
                self.recording.stat(now, name, in_chunk, total);
            }
        }
        self.chunk_base = snapshot;
    }
}

/// Samples of an earlier recording that came after its end: its file does not count their signals, this one does, and that they are lost.
pub(super) fn count_late(handler: &HandlerState, base: &mut Snapshot) {
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
