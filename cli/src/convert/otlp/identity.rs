//! What the labels of a sample become: attributes, and a link to a span.

use std::collections::BTreeMap;

use super::dictionary::LinkIds;
use crate::collect::THREAD;
use crate::convert::profile::Kind;

/// Labels with the ids of a link, of trace and span, as texts of hexadecimal digits: attributes,
/// those of OpenTelemetry's own event for a scope, and an attribute beside Datadog's own span.
const LINKS: [[&str; 2]; 3] = [
    ["trace_id", "span_id"],
    ["joined:Scope.traceId", "joined:Scope.spanId"],
    ["trace_id", DECIMAL_SPAN],
];
/// A label whose id is decimal.
const DECIMAL_SPAN: &str = "spanId";
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
        match names[1] {
            DECIMAL_SPAN => span = id(DECIMAL_SPAN)?.parse::<u64>().ok()?.to_be_bytes(),
            name => from_hex(id(name)?, &mut span)?,
        }
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

/// Attributes and link of a sample.
pub(super) struct Identity<'p> {
    /// A key is there once.
    pub(super) attributes: BTreeMap<&'p str, &'p str>,
    pub(super) link: Option<LinkIds>,
}

impl<'p> Identity<'p> {
    pub(super) fn of(kind: &'p Kind, group: u32) -> Self {
        let labels: Vec<(&str, &str)> = kind.labels(group).collect();
        let link = link_of(&labels);
        let mut attributes = BTreeMap::new();
        for (key, value) in labels {
            if link.is_some_and(|(names, _)| names.contains(&key)) {
                continue;
            }
            let key = match key {
                THREAD => THREAD_NAME,
                THREAD_NAME => THREAD_NAME_LABEL,
                key => key,
            };
            attributes.entry(key).or_insert(value);
        }
        let link = link.map(|(_, ids)| ids);
        Self { attributes, link }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_both_ids_of_one_origin() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let span = "b7ad6b7169203331";
        let is_link = |labels: &[(&str, &str)]| link_of(labels).is_some();
        let of_datadog = [("trace_id", trace), (DECIMAL_SPAN, "18446744073709551614")];
        let link = link_of(&of_datadog).map(|(_, ids)| ids.1);
        assert_eq!(link, Some([255, 255, 255, 255, 255, 255, 255, 254]));
        assert!(!is_link(&[of_datadog[0], (DECIMAL_SPAN, "0")]));
        for [trace_key, span_key] in [LINKS[0], LINKS[1]] {
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
