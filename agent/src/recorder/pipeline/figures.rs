//! The counters of a recording, of its files and of their chunks.

use super::Pipeline;
use crate::log;
use crate::metrics::{self, Base, Late, Snapshot};
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
        let figures = self.snapshot();
        if !self.start.holds(&figures) {
            log::warn(
                "samples are missing without a reason: signals differ from written + lost; please report this",
            );
        }
    }

    /// Writes the counters while the recording goes on, or a handler does: signals whose samples are still under way count where their samples will be.
    pub(super) fn write_stats(&mut self, now: Ticks) {
        let mut figures = self.snapshot();
        self.start.settle(&mut figures);
        self.write_figures(now, figures);
    }

    pub(super) fn write_figures(&mut self, now: Ticks, figures: Vec<(&'static str, u64)>) {
        for (name, value) in figures {
            let since = |base: &Base| {
                let before = base.get(name).copied().unwrap_or(0);
                i64::try_from(metrics::since(name, value, before)).unwrap_or(i64::MAX)
            };
            let (in_chunk, total) = (since(&self.chunk_base), since(&self.base));
            self.chunk_base.insert(name, value);
            if total != 0 || name == metrics::SIGNALS || name == metrics::WRITTEN {
                self.recording.stat(now, name, in_chunk, total);
            }
        }
    }
}

/// Samples of an earlier recording that came after its end: its file does not count their signals, this one does, and that they are lost.
pub(super) fn count_late(handler: &HandlerState, base: &mut Base) {
    let mut late = Late::default();
    handler.slots.drain(|header, _| {
        late.add(header.kind.load(Relaxed), header.weight.load(Relaxed));
    });
    let counters = &handler.counters;
    counters.add_many(Counter::LostLate, late.cpu);
    counters.add_many(Counter::WeightLost, late.weight);
    counters.add_many(Counter::WallLost, late.wall);
    late.count(base);
}
