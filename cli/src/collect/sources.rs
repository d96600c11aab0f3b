//! Where the values of keys come from: a sample's attribute columns, other events, its thread.

use ctxagent_events::{VmThreadKind, whole_name};
use jfr_format::read::{Sample, SampleColumns, Thread};

use super::joined::JoinedLabels;
use super::labelled::LabelledSample;
use super::pauses::Pauses;
use super::query::ATTRIBUTE_PREFIX;
use crate::filter::Filter;
use crate::shared::{MAX_COLUMNS, cut};

/// What virtual threads are called that have no name in the recording.
const NAMELESS_VIRTUAL: &str = "(virtual)";

/// Where a key's value comes from, for one event type.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Column(usize),
    /// Place of a joined label.
    Joined(usize),
    Thread,
    State,
    Event,
    Absent,
}

pub(super) fn source(columns: &SampleColumns, joined: &JoinedLabels, key: &str) -> Source {
    let column = |name: &str| {
        let mut names = columns.names().take(MAX_COLUMNS);
        let column = names.position(|known| &**known == name).map(Source::Column);
        let label = || joined.names().iter().position(|known| &**known == name);
        column.or_else(|| label().map(Source::Joined))
    };
    if let Some(column) = key.strip_prefix(ATTRIBUTE_PREFIX).and_then(column) {
        return column;
    }
    // An attribute called like one of these must not take its place: what a report means cannot
    // depend on names in the file.
    match key {
        "thread" => Source::Thread,
        "state" => Source::State,
        "event" => Source::Event,
        key => column(key).unwrap_or(Source::Absent),
    }
}

pub(super) fn value<'c>(labelled: &LabelledSample<'_, 'c>, source: Source) -> Option<&'c str> {
    let sample = labelled.sample;
    match source {
        Source::Column(column) => labelled.column_value(column),
        Source::Joined(label) => labelled.joined_value(label),
        Source::Thread => thread_name(sample),
        Source::State => sample.state(),
        Source::Event => Some(&sample.ty().name),
        Source::Absent => None,
    }
}

/// A thread's name. Cut, because a hostile file can give one endless text to a million threads; so
/// are frames.
fn name_of<'c>(thread: &Thread<'c>) -> &'c str {
    match thread.name() {
        "" if thread.is_virtual => NAMELESS_VIRTUAL,
        name => whole_name(cut(name)),
    }
}

/// What a sample's thread is called.
pub(super) fn thread_name<'c>(sample: &Sample<'c>) -> Option<&'c str> {
    sample.thread().map(|thread| name_of(&thread))
}

/// Whether the sample's thread is wanted, by its whole name or as the kernel cut it.
pub(super) fn wants_thread_of(filter: &Filter, sample: &Sample<'_>) -> bool {
    let Some(thread) = sample.thread() else {
        return filter.wants_thread("");
    };
    let names = [name_of(&thread), cut(thread.name())];
    names.into_iter().any(|name| filter.wants_thread(name))
}

/// The kind of the sample's thread, if that is not a Java thread. In a pause the VM's own thread
/// works for the collector: with the serial one it does all of it.
pub(super) fn vm_kind_of(sample: &Sample<'_>, pauses: &Pauses<'_>) -> Option<VmThreadKind> {
    let thread = sample.thread().filter(|thread| thread.java_id == 0)?;
    Some(match VmThreadKind::of(thread.name()) {
        VmThreadKind::Vm if pauses.contain(sample.start_nanos) => VmThreadKind::Gc,
        vm_kind => vm_kind,
    })
}

/// What identifies a value without its text within its source: a number, or nothing.
pub(super) fn value_number(labelled: &LabelledSample<'_, '_>, source: Source) -> Option<u32> {
    match source {
        Source::Column(column) => labelled.column_entry(column).map(u32::from),
        Source::Joined(label) => labelled.joined_number(label),
        Source::Thread => labelled.thread_name,
        Source::State => labelled.sample.state_entry().map(u32::from),
        Source::Event | Source::Absent => None,
    }
}
