//! Labels that other events give to samples: an event with a duration is about all that its thread
//! does meanwhile, so its texts are labels of the samples that it encloses.
//!
//! A sample gets a label only if its thread is the event's and its time lies in it; of several
//! events the innermost counts. The names begin with [`PREFIX`], so that nobody takes a label that
//! was joined for one that was taken with the sample.
//!
//! Events without attribute columns get those of a scope ([`ScopeIndex`]), under their own names.
//! So do ids of spans that a sample has as numbers.

use std::sync::Arc;

use hashbrown::HashMap;
use jfr_format::read::{
    EntryIndex, Event, Field, Metadata, ParsedChunk, Sample, SampleColumns, Type, Value,
    is_attribute_column,
};

use super::scope_clock::JdkClock;
use super::scopes::ScopeIndex;

use crate::shared::{MAX_COLUMNS, MAX_VALUE_BYTES, cut};

/// What the names of these labels begin with.
const PREFIX: &str = "joined:";
/// Marks a field of what an event's thread does (JDK 25).
pub(crate) const CONTEXTUAL: &str = "jdk.jfr.Contextual";
/// The same in a file that `merge` wrote, where the JDK's tools must not know it.
pub(crate) const MERGED_CONTEXTUAL: &str = "ctx.jfr.Contextual";
/// Events that are spans of their thread without saying so, and their fields: async-profiler's, and
/// those of OpenTelemetry's `jfr-events`.
const SPANS: [(&str, &[&str]); 2] = [
    ("profiler.Span", &["tag"]),
    ("io.opentelemetry.context.Scope", &["traceId", "spanId"]),
];
/// Spans that are asked for one sample, from the innermost on.
const MAX_DEPTH: usize = 64;

/// An event, and what it says.
#[derive(Debug)]
struct Span {
    first_nanos: i64,
    last_nanos: i64,
    /// Places of label and value.
    label: u32,
    value: u32,
    /// The last one before it that was open when it began.
    outer: Option<u32>,
}

/// Labels of the numbers in [`Sample::span_ids`], as the events call them.
const SPAN_IDS: [&str; 2] = ["spanId", "localRootSpanId"];

/// The joined labels of a chunk.
#[derive(Debug, Default)]
pub(super) struct JoinedLabels {
    names: Vec<Arc<str>>,
    values: Vec<Arc<str>>,
    /// By thread, in the order of their begin.
    spans: HashMap<EntryIndex, Vec<Span>>,
    scopes: Option<(Arc<ScopeIndex>, Option<JdkClock>)>,
    /// Place of the first label for ids of spans, and the places of the ids' texts.
    span_ids: Option<(usize, HashMap<u64, u32>)>,
}

/// The fields of a type that are labels, with their names. Attribute columns are none: such an event
/// speaks of itself.
fn fields_of(ty: &Type, metadata: &Metadata) -> Vec<(Arc<str>, String)> {
    let known = SPANS.iter().find(|(name, _)| *name == &*ty.name);
    let known = known.map_or(&[][..], |(_, fields)| *fields);
    let is_column = |field: &Field| {
        let ty = field.type_index.map(|index| metadata.at(index));
        ty.is_some_and(|ty| is_attribute_column(&ty.name))
    };
    let is_contextual = |field: &Field| {
        [CONTEXTUAL, MERGED_CONTEXTUAL]
            .iter()
            .any(|name| field.is_annotated(name))
    };
    let labels = ty
        .fields
        .iter()
        .filter(|field| known.contains(&&*field.name) || is_contextual(field) && !is_column(field));
    let simple_name = ty.name.rsplit('.').next().unwrap_or_default();
    let named = labels.map(|field| {
        let name = format!("{PREFIX}{simple_name}.{}", field.name);
        (field.name.clone(), cut(&name).to_owned())
    });
    named.collect()
}

/// Thread, begin and end of an event; `None` if it has no duration.
fn reach(chunk: &ParsedChunk<'_>, event: &Event<'_>) -> Option<(EntryIndex, i64, i64)> {
    let Ok(Some(Value::Long(ticks))) = event.get("duration") else {
        return None;
    };
    let thread = event.reference("eventThread").ok()??.entry()?;
    let first = event.start_nanos()?;
    let nanos = chunk.header().span_nanos(ticks).max(0);
    Some((thread, first, first.saturating_add(nanos)))
}

/// A field as text.
fn text_of(event: &Event<'_>, field: &str) -> Option<String> {
    let value = event.get(field).ok()??;
    let value = match value {
        Value::Ref(reference) => reference.resolve()?,
        value => value,
    };
    let text = match value.as_long() {
        Some(number) => number.to_string(),
        None => value.into_text()?.into_owned(),
    };
    let end = text.floor_char_boundary(MAX_VALUE_BYTES);
    Some(text[..end].to_owned())
}

impl JoinedLabels {
    pub(super) fn of(chunk: &ParsedChunk<'_>, scopes: Option<&Arc<ScopeIndex>>) -> Self {
        let mut joined = Self::default();
        if let Some(scopes) = scopes {
            joined.names.extend_from_slice(scopes.names());
            joined.values.extend_from_slice(scopes.values());
            joined.scopes = Some((scopes.clone(), scopes.clock_of(chunk)));
        }
        let mut values: HashMap<Arc<str>, u32> = HashMap::new();
        let types = chunk.metadata().types().iter();
        for ty in types.filter(|ty| ty.is_event()) {
            for (field, name) in fields_of(ty, chunk.metadata()) {
                joined.add(chunk, (&ty.name, &field, name), &mut values);
            }
        }
        for spans in joined.spans.values_mut() {
            nest(spans);
        }
        joined.add_span_ids(chunk);
        joined
    }

    /// Adds the texts of all ids of spans that the chunk's samples have.
    fn add_span_ids(&mut self, chunk: &ParsedChunk<'_>) {
        let has_ids = |ty: &Type| {
            let index = chunk.metadata().index_of(ty.id);
            let columns = index.and_then(|index| chunk.sample_columns(index));
            columns.is_some_and(SampleColumns::has_span_ids)
        };
        let mut types = chunk.metadata().types().iter();
        let first = self.names.len();
        if first + SPAN_IDS.len() > MAX_COLUMNS || !types.any(has_ids) {
            return;
        }
        self.names.extend(SPAN_IDS.map(Arc::from));
        let mut texts: HashMap<u64, u32> = HashMap::new();
        let mut samples = chunk.samples(has_ids);
        while let Some(sample) = samples.next_readable() {
            for id in sample.span_ids.into_iter().filter(|&id| id != 0) {
                texts.entry(id).or_insert_with(|| {
                    // Tracers show them without a sign.
                    self.values.push(id.to_string().into());
                    number(self.values.len() - 1)
                });
            }
        }
        self.span_ids = Some((first, texts));
    }

    /// Adds what the events of a type say in one field.
    fn add(
        &mut self,
        chunk: &ParsedChunk<'_>,
        (ty, field, name): (&str, &str, String),
        values: &mut HashMap<Arc<str>, u32>,
    ) {
        let known = self.names.iter().position(|known| **known == *name);
        let label = known.unwrap_or(self.names.len());
        if label >= MAX_COLUMNS {
            return;
        }
        for event in chunk.events_named(ty) {
            let Some((thread, first_nanos, last_nanos)) = reach(chunk, &event) else {
                continue;
            };
            let Some(text) = text_of(&event, field) else {
                continue;
            };
            if label == self.names.len() {
                self.names.push(name.as_str().into());
            }
            let value = *values.entry(text.into()).or_insert_with_key(|text| {
                self.values.push(text.clone());
                number(self.values.len() - 1)
            });
            self.spans.entry(thread).or_default().push(Span {
                first_nanos,
                last_nanos,
                label: number(label),
                value,
                outer: None,
            });
        }
    }

    /// Names of the labels that the chunk has.
    pub(super) fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The text of a value.
    pub(super) fn text(&self, value: u32) -> &str {
        &self.values[value as usize]
    }

    /// Puts the values that a sample gets, by place of the label, into `values`.
    pub(super) fn join(&self, sample: &Sample<'_>, values: &mut Vec<Option<u32>>) {
        values.clear();
        if self.names.is_empty() {
            return;
        }
        values.resize(self.names.len(), None);
        if let Some((scopes, clock)) = &self.scopes
            && sample.columns().names().len() == 0
        {
            let found = scopes.values_of(clock.as_ref(), sample);
            for (value, found) in values.iter_mut().zip(found).take(scopes.names().len()) {
                *value = found;
            }
        }
        if let Some((first, texts)) = &self.span_ids {
            for (value, id) in values[*first..].iter_mut().zip(sample.span_ids) {
                *value = texts.get(&id).copied();
            }
        }
        let thread = sample.thread_entry();
        let Some(spans) = thread.and_then(|thread| self.spans.get(&thread)) else {
            return;
        };
        let at = sample.start_nanos;
        let begun = spans.partition_point(|span| span.first_nanos <= at);
        let innermost = begun.checked_sub(1).map(number);
        let open = std::iter::successors(innermost, |&span| spans[span as usize].outer);
        for span in open.take(MAX_DEPTH).map(|span| &spans[span as usize]) {
            if at <= span.last_nanos {
                values[span.label as usize].get_or_insert(span.value);
            }
        }
    }
}

/// Orders the spans of a thread, and gives each the one around it.
fn nest(spans: &mut [Span]) {
    spans.sort_by_key(|span| (span.first_nanos, std::cmp::Reverse(span.last_nanos)));
    let mut open: Vec<u32> = Vec::new();
    for place in 0..spans.len() {
        let first = spans[place].first_nanos;
        while open
            .last()
            .is_some_and(|&span| spans[span as usize].last_nanos < first)
        {
            open.pop();
        }
        spans[place].outer = open.last().copied();
        open.push(number(place));
    }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
