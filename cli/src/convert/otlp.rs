//! OTLP profiles: a `ProfilesData` of opentelemetry-proto 1.11, `profiles/v1development`.
//!
//! There is a profile for each kind of samples. Each of its samples has a value and a time for each
//! event with the same stack and labels. Labels are attributes; a trace and a span are a link. The
//! dictionary has what is referred to, each thing once, behind a zero element.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::io::{self, Write};

use super::profile::{Kind, MAX_VALUE, Profile};
use super::protobuf::Message;
use super::resource::resource;
use crate::collect::{FrameKind, FrameName, Moment, THREAD};

/// Labels with the ids of a link, of trace and span, as texts of hexadecimal digits: attributes, and
/// those of OpenTelemetry's own event for a scope.
const LINKS: [[&str; 2]; 2] = [
    ["trace_id", "span_id"],
    ["joined:Scope.traceId", "joined:Scope.spanId"],
];
/// What OpenTelemetry calls the thread.
const THREAD_NAME: &str = "thread.name";
const FRAME_TYPE: &str = "profile.frame.type";

/// Numbers of the tables in the dictionary.
mod table {
    pub(super) const MAPPING: u32 = 1;
    pub(super) const LOCATION: u32 = 2;
    pub(super) const FUNCTION: u32 = 3;
    pub(super) const LINK: u32 = 4;
    pub(super) const STRING: u32 = 5;
    pub(super) const ATTRIBUTE: u32 = 6;
    pub(super) const STACK: u32 = 7;
}

/// Elements with their places; that of the zero element, 0, means none.
struct Table<K> {
    places: HashMap<K, u64>,
    encoded: Message,
    number: u32,
}

impl<K: Hash + Eq> Table<K> {
    fn new(number: u32) -> Self {
        let mut encoded = Message::default();
        encoded.message(number, &Message::default());
        Self {
            places: HashMap::new(),
            encoded,
            number,
        }
    }

    /// The place of an element, which `encode` writes if it is new.
    fn place(&mut self, element: K, encode: impl FnOnce(&K, &mut Message)) -> u64 {
        if let Some(&place) = self.places.get(&element) {
            return place;
        }
        let mut message = Message::default();
        encode(&element, &mut message);
        self.encoded.message(self.number, &message);
        let place = self.places.len() as u64 + 1;
        self.places.insert(element, place);
        place
    }
}

/// Ids of a trace and of a span.
type LinkIds = ([u8; 16], [u8; 8]);

/// The tables that all profiles share.
struct Dictionary<'p> {
    strings: HashMap<&'p str, u64>,
    encoded_strings: Message,
    functions: Table<u64>,
    /// By function, line and attribute of the frame's type.
    locations: Table<(u64, u32, u64)>,
    stacks: Table<Vec<u64>>,
    /// By places of key and value.
    attributes: Table<(u64, &'p str)>,
    links: Table<LinkIds>,
}

impl<'p> Dictionary<'p> {
    fn new() -> Self {
        let mut encoded_strings = Message::default();
        encoded_strings.text(table::STRING, "");
        Self {
            strings: HashMap::from([("", 0)]),
            encoded_strings,
            functions: Table::new(table::FUNCTION),
            locations: Table::new(table::LOCATION),
            stacks: Table::new(table::STACK),
            attributes: Table::new(table::ATTRIBUTE),
            links: Table::new(table::LINK),
        }
    }

    fn string(&mut self, text: &'p str) -> u64 {
        let next = self.strings.len() as u64;
        *self.strings.entry(text).or_insert_with(|| {
            self.encoded_strings.text(table::STRING, text);
            next
        })
    }

    fn attribute(&mut self, key: &'p str, value: &'p str) -> u64 {
        let key = self.string(key);
        self.attributes.place((key, value), |_, message| {
            let mut any = Message::default();
            any.text(1, value);
            message.unsigned(1, key);
            message.message(2, &any);
        })
    }

    fn location(&mut self, frame: &'p FrameName) -> u64 {
        let name = self.string(&frame.text);
        let function = self
            .functions
            .place(name, |&name, message| message.unsigned(1, name));
        let frame_type = match frame.kind {
            FrameKind::Compiled | FrameKind::Inlined | FrameKind::Interpreted => Some("jvm"),
            FrameKind::Native | FrameKind::Cpp => Some("native"),
            FrameKind::Kernel => Some("kernel"),
            FrameKind::Label | FrameKind::Missing => None,
        };
        let frame_type = frame_type.map_or(0, |name| self.attribute(FRAME_TYPE, name));
        let element = (function, frame.line, frame_type);
        self.locations
            .place(element, |&(function, line, frame_type), message| {
                let mut encoded = Message::default();
                encoded.unsigned(1, function);
                encoded.unsigned(2, line.into());
                message.message(3, &encoded);
                message.packed(4, (frame_type > 0).then_some(frame_type).into_iter());
            })
    }

    fn stack(&mut self, locations: Vec<u64>) -> u64 {
        self.stacks.place(locations, |locations, message| {
            message.packed(1, locations.iter().copied());
        })
    }

    fn link(&mut self, ids: LinkIds) -> u64 {
        self.links.place(ids, |(trace, span), message| {
            message.bytes_field(1, trace);
            message.bytes_field(2, span);
        })
    }

    fn value_type(&mut self, (name, unit): (&'p str, &'p str)) -> Message {
        let mut message = Message::default();
        message.unsigned(1, self.string(name));
        message.unsigned(2, self.string(unit));
        message
    }

    /// All tables as one message; there is no mapping.
    fn message(&self) -> Message {
        let mut message = Message::default();
        message.message(table::MAPPING, &Message::default());
        for encoded in [
            &self.locations.encoded,
            &self.functions.encoded,
            &self.links.encoded,
            &self.encoded_strings,
            &self.attributes.encoded,
            &self.stacks.encoded,
        ] {
            message.append(encoded);
        }
        message
    }
}

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
        let key = if key == THREAD { THREAD_NAME } else { key };
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
