//! Labels that became known while their request ran (`ctxagent.LateLabel`): the samples that the
//! thread has from before, in the same chunk, get them too.

use std::borrow::Cow;

use ctxagent_events::LATE_LABEL;
use hashbrown::HashMap;
use jfr_format::read::{EntryIndex, Event, ParsedChunk, Sample, Value};

/// Labels that one sample can get: of a request, and of those that it lies in.
const MAX_LABELS: usize = 16;

/// The late labels of a chunk, by thread, each in the order of time.
pub(super) struct LateLabels<'c>(HashMap<EntryIndex, Vec<LateLabel<'c>>>);

pub(super) struct LateLabel<'c> {
    /// First and last nanosecond of the samples that it is for.
    first: i64,
    last: i64,
    attribute: Cow<'c, str>,
    before: EntryIndex,
    value: EntryIndex,
}

impl<'c> LateLabel<'c> {
    /// Its thread with it; `None` if something is missing.
    fn read(chunk: &ParsedChunk<'_>, event: &Event<'c>) -> Option<(EntryIndex, Self)> {
        let entry = |field| event.reference(field).ok()??.entry();
        let Ok(Some(Value::Long(ticks))) = event.get("duration") else {
            return None;
        };
        let first = event.start_nanos()?;
        let label = Self {
            first,
            last: first.saturating_add(chunk.header().span_nanos(ticks).max(0)),
            attribute: event.text("attribute").ok()??,
            before: entry("before")?,
            value: entry("value")?,
        };
        Some((entry("eventThread")?, label))
    }
}

impl<'c> LateLabels<'c> {
    pub(super) fn of(chunk: &'c ParsedChunk<'_>) -> Self {
        let mut by_thread: HashMap<_, Vec<_>> = HashMap::new();
        let labels = chunk.events_named(LATE_LABEL.name);
        for (thread, label) in labels.filter_map(|event| LateLabel::read(chunk, &event)) {
            by_thread.entry(thread).or_default().push(label);
        }
        for labels in by_thread.values_mut() {
            labels.sort_by_key(|label| (label.first, label.last));
        }
        Self(by_thread)
    }

    /// The last ones that had begun when a sample was taken.
    pub(super) fn near(&self, sample: &Sample<'_>) -> &[LateLabel<'c>] {
        if self.0.is_empty() {
            return &[];
        }
        let thread = sample.thread_entry();
        let Some(labels) = thread.and_then(|thread| self.0.get(&thread)) else {
            return &[];
        };
        let begun = labels.partition_point(|label| label.first <= sample.start_nanos);
        &labels[begun.saturating_sub(MAX_LABELS)..begun]
    }
}

/// A label may be followed by a better one.
pub(super) fn better(
    near: &[LateLabel<'_>],
    at: i64,
    attribute: &str,
    entry: EntryIndex,
) -> EntryIndex {
    let fitting = near
        .iter()
        .filter(|label| at <= label.last && label.attribute == attribute);
    fitting.fold(entry, |entry, label| {
        if label.before == entry {
            label.value
        } else {
            entry
        }
    })
}
