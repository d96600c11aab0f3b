//! The tables that all profiles of a message share: each thing once, behind a zero element.

use std::collections::HashMap;
use std::hash::Hash;

use crate::collect::{FrameKind, FrameName};
use crate::convert::protobuf::Message;

const FRAME_TYPE: &str = "profile.frame.type";

/// What OpenTelemetry calls a kind of frame.
pub(super) fn frame_type(kind: FrameKind) -> Option<&'static str> {
    match kind {
        FrameKind::Compiled | FrameKind::Inlined | FrameKind::Interpreted => Some("jvm"),
        FrameKind::Native | FrameKind::Cpp => Some("native"),
        FrameKind::Kernel => Some("kernel"),
        FrameKind::Label | FrameKind::Missing => None,
    }
}

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
pub(super) type LinkIds = ([u8; 16], [u8; 8]);

/// The tables that all profiles share.
pub(super) struct Dictionary<'p> {
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
    pub(super) fn new() -> Self {
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

    pub(super) fn attribute(&mut self, key: &'p str, value: &'p str) -> u64 {
        let key = self.string(key);
        self.attributes.place((key, value), |_, message| {
            let mut any = Message::default();
            any.text(1, value);
            message.unsigned(1, key);
            message.message(2, &any);
        })
    }

    pub(super) fn location(&mut self, frame: &'p FrameName) -> u64 {
        let name = self.string(&frame.text);
        let function = self
            .functions
            .place(name, |&name, message| message.unsigned(1, name));
        let frame_type = frame_type(frame.kind).map_or(0, |name| self.attribute(FRAME_TYPE, name));
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

    pub(super) fn stack(&mut self, locations: Vec<u64>) -> u64 {
        self.stacks.place(locations, |locations, message| {
            message.packed(1, locations.iter().copied());
        })
    }

    pub(super) fn link(&mut self, ids: LinkIds) -> u64 {
        self.links.place(ids, |(trace, span), message| {
            message.bytes_field(1, trace);
            message.bytes_field(2, span);
        })
    }

    pub(super) fn value_type(&mut self, (name, unit): (&'p str, &'p str)) -> Message {
        let mut message = Message::default();
        message.unsigned(1, self.string(name));
        message.unsigned(2, self.string(unit));
        message
    }

    fn tables(&self) -> [&Message; 6] {
        [
            &self.locations.encoded,
            &self.functions.encoded,
            &self.links.encoded,
            &self.encoded_strings,
            &self.attributes.encoded,
            &self.stacks.encoded,
        ]
    }

    /// Bytes of all tables.
    pub(super) fn len(&self) -> usize {
        self.tables().iter().map(|table| table.bytes().len()).sum()
    }

    /// All tables as one message; there is no mapping.
    pub(super) fn message(&self) -> Message {
        let mut message = Message::default();
        message.message(table::MAPPING, &Message::default());
        self.tables()
            .into_iter()
            .for_each(|table| message.append(table));
        message
    }
}
