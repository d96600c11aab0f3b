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

struct LateLabel<'c> {
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

    /// A sample with the labels that its thread was given later.
    pub(super) fn complete<'s>(&'s self, sample: &'s Sample<'c>) -> LabelledSample<'s, 'c> {
        LabelledSample {
            sample,
            late: self.near(sample).unwrap_or_default(),
        }
    }

    /// The last ones that had begun when a sample was taken.
    fn near(&self, sample: &Sample<'_>) -> Option<&[LateLabel<'c>]> {
        if self.0.is_empty() {
            return None;
        }
        let labels = self.0.get(&sample.thread_entry()?)?;
        let begun = labels.partition_point(|label| label.first <= sample.start_nanos);
        Some(&labels[begun.saturating_sub(MAX_LABELS)..begun])
    }
}

/// A sample with the labels that became known while its request ran.
#[derive(Clone, Copy)]
pub(super) struct LabelledSample<'s, 'c> {
    pub(super) sample: &'s Sample<'c>,
    late: &'s [LateLabel<'c>],
}

impl<'c> LabelledSample<'_, 'c> {
    /// Place of the value that the sample has in a column, or was given later.
    pub(super) fn value_entry(&self, column: usize) -> Option<EntryIndex> {
        let entry = self.sample.value_entry(column)?;
        if self.late.is_empty() {
            return Some(entry);
        }
        let Some(name) = self.sample.columns().names().nth(column) else {
            return Some(entry);
        };
        Some(better(self.late, self.sample.start_nanos, name, entry))
    }

    /// The value itself.
    pub(super) fn value(&self, column: usize) -> Option<&'c str> {
        self.sample.value_at(column, self.value_entry(column)?)
    }
}

/// A label may be followed by a better one.
fn better(near: &[LateLabel<'_>], at: i64, attribute: &str, entry: EntryIndex) -> EntryIndex {
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
