//! Firefox profiler: a processed profile, version 61,
//! <https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md>.
//!
//! Each kind of samples is a process there, each thread name a thread of it. Its samples are the
//! events, with time and weight. The format has no labels of samples: of the samples of a thread, in
//! the order of time, each run with one value of a label is a marker from its first sample to its
//! last, so that a sample has the labels of the markers that its time lies in.

mod shared;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::profile::{Kind, Profile};
use crate::collect::THREAD;
use crate::filter::Unit;
use crate::text;
use shared::{CATEGORIES, OTHER, Shared, column, write_shared};

/// Versions of the format: of Firefox's own, and of what the profiler reads.
const GECKO_VERSION: u32 = 31;
const PROCESSED_VERSION: u32 = 61;
/// Name of the markers' schema.
const LABEL: &str = "label";
const INTERVAL_MARKER: u32 = 1;
const NO_THREAD: &str = "(no thread)";

/// An event: when, since the profile's start; how much; its group; its stack.
struct Event {
    nanos: i64,
    value: u64,
    group: u32,
    stack: usize,
}

/// Writes the file piece by piece.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let mut shared = Shared::new();
    write!(
        out,
        "{{\"meta\":{},\"libs\":[],\"threads\":[",
        text::json(&meta(profile))
    )?;
    let mut number = 0;
    for kind in &profile.kinds {
        for (name, events) in threads(profile, kind, &mut shared) {
            if number > 0 {
                out.write_all(b",")?;
            }
            number += 1;
            let thread = Thread { kind, name, number };
            thread.write(&events, &mut shared, out)?;
        }
    }
    out.write_all(b"],\"shared\":")?;
    write_shared(&shared, out)?;
    out.write_all(b"}\n")
}

fn meta(profile: &Profile) -> Value {
    let interval = profile.kinds.iter().find_map(|kind| kind.interval_nanos);
    let categories = CATEGORIES
        .map(|(name, color, parts)| json!({"name": name, "color": color, "subcategories": parts}));
    json!({
        "version": GECKO_VERSION, "preprocessedProfileVersion": PROCESSED_VERSION,
        "product": profile.name, "importedFrom": concat!("ctxjfr ", env!("CARGO_PKG_VERSION")),
        "processType": 0, "stackwalk": 1, "symbolicated": true,
        "symbolicationNotSupported": true, "usesOnlyOneStackType": true,
        "sourceCodeIsNotOnSearchfox": true, "keepProfileThreadOrder": true,
        "startTime": millis(profile.start_nanos.max(0)),
        "profilingStartTime": 0, "profilingEndTime": millis(profile.duration_nanos()),
        "interval": millis(interval.unwrap_or(1_000_000).cast_signed()),
        "categories": categories,
        "markerSchema": [{
            "name": LABEL, "tooltipLabel": "{marker.name}", "chartLabel": "{marker.data.value}",
            "tableLabel": "{marker.data.value}", "display": ["marker-chart", "marker-table"],
            "description": "A label of the samples whose times lie in it",
            "fields": [{"key": "value", "label": "Value", "format": "unique-string"}],
        }],
    })
}

/// Milliseconds.
#[expect(
    clippy::cast_precision_loss,
    reason = "the format has floating-point numbers"
)]
fn millis(nanos: i64) -> f64 {
    nanos as f64 / 1e6
}

/// A number of millions of something, with all its digits.
struct Millionths(u64);

impl Display for Millionths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// The events of each thread in the order of time; the thread with the most first.
fn threads<'p>(
    profile: &Profile,
    kind: &'p Kind,
    shared: &mut Shared<'p>,
) -> Vec<(&'p str, Vec<Event>)> {
    let stacks = shared.stacks(kind);
    let mut threads: BTreeMap<&str, Vec<Event>> = BTreeMap::new();
    for row in &kind.rows {
        let mut labels = kind.labels(row.group);
        let name = labels.find(|(key, _)| *key == THREAD);
        let events = threads.entry(name.map_or(NO_THREAD, |(_, name)| name));
        let of_row = row.moments.iter().map(|moment| Event {
            nanos: moment.nanos.saturating_sub(profile.start_nanos),
            value: moment.value,
            group: row.group,
            stack: stacks[row.stack as usize],
        });
        events.or_default().extend(of_row);
    }
    let mut threads: Vec<(&str, Vec<Event>)> = threads.into_iter().collect();
    for (_, events) in &mut threads {
        events.sort_by_key(|event| event.nanos);
    }
    let sum = |events: &[Event]| {
        events
            .iter()
            .map(|event| event.value)
            .fold(0, u64::saturating_add)
    };
    threads.sort_by_cached_key(|(_, events)| std::cmp::Reverse(sum(events)));
    threads
}

/// A thread of the file.
struct Thread<'p> {
    kind: &'p Kind,
    name: &'p str,
    number: u32,
}

impl<'p> Thread<'p> {
    fn write(
        &self,
        events: &[Event],
        shared: &mut Shared<'p>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let kind = self.kind;
        let unit = kind.unit.name();
        let weight_type = match kind.unit {
            Unit::Cpu | Unit::Wall | Unit::Lock => "tracing-ms",
            Unit::Bytes => "bytes",
            Unit::Samples => "samples",
        };
        let head = json!({
            "processType": "default", "processName": kind.unit.head(), "pid": unit,
            "tid": self.number, "name": self.name, "isMainThread": false,
            "processStartupTime": 0, "processShutdownTime": null, "registerTime": 0,
            "unregisterTime": null, "pausedRanges": [],
        });
        let head = text::json(&head);
        write!(out, "{},\"samples\":{{", head.trim_end_matches('}'))?;
        column(out, "stack", events.iter().map(|event| event.stack))?;
        column(out, "time", events.iter().map(|event| time(event.nanos)))?;
        if kind.unit.is_time() || kind.unit == Unit::Lock {
            column(
                out,
                "weight",
                events.iter().map(|event| Millionths(event.value)),
            )?;
        } else {
            column(out, "weight", events.iter().map(|event| event.value))?;
        }
        write!(
            out,
            "\"weightType\":\"{weight_type}\",\"length\":{}}},",
            events.len()
        )?;
        self.write_markers(events, shared, out)
    }

    fn write_markers(
        &self,
        events: &[Event],
        shared: &mut Shared<'p>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut markers = Vec::new();
        for (place, key) in self.kind.keys.iter().enumerate() {
            if key == THREAD {
                continue;
            }
            let value = |event: &Event| {
                self.kind.groups[event.group as usize]
                    .values
                    .get(place)?
                    .as_deref()
            };
            for run in events.chunk_by(|a, b| value(a) == value(b)) {
                if let [first, ..] = run
                    && let [.., last] = run
                    && let Some(value) = value(first)
                {
                    let (key, value) = (shared.strings.place(key), shared.strings.place(value));
                    markers.push((first.nanos, last.nanos, key, value));
                }
            }
        }
        markers.sort_by_key(|&(start, ..)| start);
        out.write_all(b"\"markers\":{")?;
        let markers = || markers.iter();
        column(out, "name", markers().map(|&(_, _, key, _)| key))?;
        column(out, "startTime", markers().map(|&(start, ..)| time(start)))?;
        column(out, "endTime", markers().map(|&(_, end, ..)| time(end)))?;
        column(out, "phase", markers().map(|_| INTERVAL_MARKER))?;
        column(out, "category", markers().map(|_| OTHER))?;
        let data = |&(_, _, _, value): &(i64, i64, usize, usize)| {
            format!("{{\"type\":\"{LABEL}\",\"value\":{value}}}")
        };
        column(out, "data", markers().map(data))?;
        write!(out, "\"length\":{}}}}}", markers().len())
    }
}

/// A time of the file. What began before the recording is at its start.
fn time(nanos: i64) -> Millionths {
    Millionths(nanos.max(0).unsigned_abs())
}
