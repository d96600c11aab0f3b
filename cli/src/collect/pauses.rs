//! Pauses for GC in a chunk.

use std::cell::OnceCell;

use jfr_format::read::{ParsedChunk, Value};

/// The event of a pause: ours, and the JDK's.
const PAUSE: &str = "jdk.GCPhasePause";

/// The GC pauses of a chunk, read on first use.
pub(super) struct Pauses<'c> {
    chunk: &'c ParsedChunk<'c>,
    /// First and last nanosecond of each, in order of time.
    spans: OnceCell<Vec<(i64, i64)>>,
}

impl<'c> Pauses<'c> {
    pub(super) fn of(chunk: &'c ParsedChunk<'c>) -> Self {
        Self {
            chunk,
            spans: OnceCell::new(),
        }
    }

    /// Whether a moment lies in one of them.
    pub(super) fn contain(&self, nanos: i64) -> bool {
        let spans = self.spans.get_or_init(|| spans(self.chunk));
        let begun = spans.partition_point(|&(first, _)| first <= nanos);
        // They do not overlap, so the last one that has begun is the one.
        begun > 0 && nanos <= spans[begun - 1].1
    }
}

fn spans(chunk: &ParsedChunk<'_>) -> Vec<(i64, i64)> {
    let header = chunk.header();
    let mut spans: Vec<(i64, i64)> = chunk
        .events_named(PAUSE)
        .filter_map(|event| {
            let first = event.start_nanos()?;
            let Ok(Some(Value::Long(ticks))) = event.get("duration") else {
                return None;
            };
            let nanos = header.span_nanos(ticks).max(0);
            Some((first, first.saturating_add(nanos)))
        })
        .collect();
    spans.sort_unstable();
    spans
}
