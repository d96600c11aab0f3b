//! OTLP profiles: a `ProfilesData` of opentelemetry-proto 1.11, `profiles/v1development`.
//!
//! There is a profile for each kind of samples. Each of its samples has a value and a time for each
//! event with the same stack and labels. Labels are attributes; a trace and a span are a link. The
//! dictionary has what is referred to, each thing once, behind a zero element.

mod dictionary;

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::profile::{Kind, MAX_VALUE, Profile};
use super::protobuf::Message;
use super::resource::resource;
use crate::collect::{Moment, THREAD};
use dictionary::{Dictionary, LinkIds};

/// Labels with the ids of a link, of trace and span, as texts of hexadecimal digits: attributes, and
/// those of OpenTelemetry's own event for a scope.
const LINKS: [[&str; 2]; 2] = [
    ["trace_id", "span_id"],
    ["joined:Scope.traceId", "joined:Scope.spanId"],
];
/// What OpenTelemetry calls the thread.
const THREAD_NAME: &str = "thread.name";
/// A label of that name.
const THREAD_NAME_LABEL: &str = "label:thread.name";

/// The ids of a link, if two labels are what OpenTelemetry takes: not zero, of the right length.
/// With the names of these labels.
fn link_of(labels: &[(&str, &str)]) -> Option<([&'static str; 2], LinkIds)> {
    LINKS.into_iter().find_map(|names| {
        let id = |wanted| {
            let mut labels = labels.iter();
            labels
                .find(|(key, _)| *key == wanted)
                .map(|(_, value)| *value)
        };
        let (mut trace, mut span) = ([0; 16], [0; 8]);
        from_hex(id(names[0])?, &mut trace)?;
        from_hex(id(names[1])?, &mut span)?;
        (trace != [0; 16] && span != [0; 8]).then_some((names, (trace, span)))
    })
}

fn from_hex(text: &str, into: &mut [u8]) -> Option<()> {
    let digits = text.as_bytes();
    if digits.len() != 2 * into.len() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, place) in into.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&text[place..place + 2], 16).ok()?;
    }
    Some(())
}

/// Writes profiles and dictionary.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let mut dictionary = Dictionary::new();
    let mut scope = Message::default();
    scope.text(1, "ctxjfr");
    scope.text(2, env!("CARGO_PKG_VERSION"));
    let mut scoped = Message::default();
    scoped.message(1, &scope);
    for kind in &profile.kinds {
        scoped.message(2, &profile_of(profile, kind, &mut dictionary));
    }
    let mut resourced = Message::default();
    resourced.message(1, &resource(&profile.process));
    resourced.message(2, &scoped);
    drop(scoped);
    let mut data = Message::default();
    data.message(1, &resourced);
    drop(resourced);
    out.write_all(data.bytes())?;
    data.clear();
    data.message(2, &dictionary.message());
    out.write_all(data.bytes())
}

fn profile_of<'p>(all: &Profile, kind: &'p Kind, dictionary: &mut Dictionary<'p>) -> Message {
    let [_, value_type] = kind.value_types();
    let value_type = dictionary.value_type(value_type);
    let mut message = Message::default();
    message.message(1, &value_type);
    for rows in kind.rows.chunk_by(|a, b| a.group == b.group) {
        let (mut identity, labels) = (Message::default(), kind.labels(rows[0].group));
        identify(&labels.collect::<Vec<_>>(), dictionary, &mut identity);
        // Stacks that differ in how a method is compiled are one here.
        let mut by_stack: BTreeMap<u64, Vec<Moment>> = BTreeMap::new();
        for row in rows {
            let frames = kind
                .stack(row)
                .iter()
                .map(|&frame| &kind.frames[frame as usize]);
            let locations = frames.map(|frame| dictionary.location(frame)).collect();
            let moments = by_stack.entry(dictionary.stack(locations)).or_default();
            moments.extend(&row.moments);
        }
        for (stack, mut moments) in by_stack {
            moments.sort_unstable_by_key(|moment| moment.nanos);
            let mut sample = Message::default();
            sample.unsigned(1, stack);
            sample.append(&identity);
            sample.packed(4, moments.iter().map(|moment| moment.value.min(MAX_VALUE)));
            let times = moments.iter().map(|moment| moment.nanos.max(0));
            sample.packed_fixed(5, times.map(i64::cast_unsigned));
            message.message(2, &sample);
        }
    }
    let (start, duration) = span(all, kind);
    message.fixed(3, start);
    message.unsigned(4, duration);
    if let Some(interval) = kind.interval_nanos.filter(|_| kind.unit.is_time()) {
        message.message(5, &value_type);
        message.unsigned(6, interval);
    }
    message
}

/// Attributes and link of a sample. A key is there once.
fn identify<'p>(
    labels: &[(&'p str, &'p str)],
    dictionary: &mut Dictionary<'p>,
    into: &mut Message,
) {
    let link = link_of(labels);
    let mut attributes: BTreeMap<&str, u64> = BTreeMap::new();
    for &(key, value) in labels {
        if link.is_some_and(|(names, _)| names.contains(&key)) {
            continue;
        }
        let key = match key {
            THREAD => THREAD_NAME,
            THREAD_NAME => THREAD_NAME_LABEL,
            key => key,
        };
        let attribute = attributes.entry(key);
        attribute.or_insert_with(|| dictionary.attribute(key, value));
    }
    into.packed(2, attributes.into_values());
    into.unsigned(3, link.map_or(0, |(_, ids)| dictionary.link(ids)));
}

/// Begin and length of the time that holds all samples.
fn span(all: &Profile, kind: &Kind) -> (u64, u64) {
    let moments = kind.rows.iter().flat_map(|row| &row.moments);
    let (mut first, mut end) = (all.start_nanos, all.end_nanos);
    for moment in moments {
        first = first.min(moment.nanos);
        end = end.max(moment.nanos.saturating_add(1));
    }
    let (first, end) = (first.max(0), end.max(1));
    (first.cast_unsigned(), end.abs_diff(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_both_ids_of_one_origin() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let span = "b7ad6b7169203331";
        let is_link = |labels: &[(&str, &str)]| link_of(labels).is_some();
        for [trace_key, span_key] in LINKS {
            assert!(is_link(&[(span_key, span), (trace_key, trace)]));
            assert!(!is_link(&[(trace_key, trace)]));
            assert!(!is_link(&[
                (trace_key, trace),
                (span_key, "0000000000000000")
            ]));
            assert!(!is_link(&[(trace_key, span), (span_key, span)]));
            assert!(!is_link(&[
                (trace_key, trace),
                (span_key, "b7ad6b716920333z")
            ]));
        }
        assert!(!is_link(&[(LINKS[0][0], trace), (LINKS[1][1], span)]));
    }
}
