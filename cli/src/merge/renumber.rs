//! Gives the event types of a chunk of our writer ids that the JDK does not use.
//!
//! The JDK's `summary` counts the events of a file by the id of their type, and takes the name from the
//! first chunk that has it.

use std::collections::BTreeMap;
use std::ops::Range;

use jfr_format::chunk::{CHECKPOINT_TYPE, HEADER_LEN, Header, METADATA_TYPE};
use jfr_format::declare::EVENT_IDS;
use jfr_format::read::{Chunk, ParsedChunk, RawEvent};
use jfr_format::types::pool;
use jfr_format::varint;

/// What is added to an id.
const SHIFT: u64 = 100_000;
/// An event without content behind the last one: a reader looks there for a chunk's begin.
const FILLER: [u8; 4] = [4, 0, 0, 0];

/// Whether our writer made the chunk.
pub(super) fn is_ours(chunk: &ParsedChunk<'_>) -> bool {
    let thread = chunk.metadata().type_by_id(pool::THREAD.into());
    thread.is_some_and(|ty| &*ty.name == "java.lang.Thread")
}

/// The chunk with this header and other ids; `None` if our writer did not make it.
pub(super) fn renumbered(chunk: &Chunk<'_>, header: &Header) -> Option<Vec<u8>> {
    let mut renumbering = Renumbering {
        header: *header,
        out: vec![0; HEADER_LEN],
        checkpoints: BTreeMap::new(),
        setting: None,
    };
    for event in chunk.raw_events() {
        renumbering.event(&event.ok()?, chunk.bytes)?;
    }
    let Renumbering {
        mut header,
        mut out,
        ..
    } = renumbering;
    out.extend_from_slice(&FILLER);
    header.size = out.len() as u64;
    out[..HEADER_LEN].copy_from_slice(&header.to_bytes());
    Some(out)
}

struct Renumbering {
    header: Header,
    out: Vec<u8>,
    /// Where each checkpoint was, and is.
    checkpoints: BTreeMap<u64, u64>,
    /// Id of the settings, which name types by their ids.
    setting: Option<u64>,
}

impl Renumbering {
    fn event(&mut self, event: &RawEvent<'_>, chunk: &[u8]) -> Option<()> {
        let at = self.out.len() as u64;
        match event.type_id {
            _ if event.is_padding() => {}
            METADATA_TYPE => {
                let payload = self.metadata(event.payload)?;
                self.put(METADATA_TYPE, &[&payload]);
                if self.header.metadata == event.offset {
                    self.header.metadata = at;
                }
            }
            CHECKPOINT_TYPE => {
                self.checkpoint(event)?;
                self.checkpoints.insert(event.offset, at);
                if self.header.checkpoint == event.offset {
                    self.header.checkpoint = at;
                }
            }
            id if Some(id) == self.setting => {
                let mut fields = Fields(event.payload);
                let start = fields.varint()?;
                let of_type = fields.varint()?;
                let mut head = Vec::new();
                varint::put(&mut head, start);
                varint::put(&mut head, shifted(of_type));
                self.put(shifted(id), &[&head, fields.0]);
            }
            id if id != shifted(id) => self.put(shifted(id), &[event.payload]),
            _ => {
                let begin = usize::try_from(event.offset).ok()?;
                let end = begin + usize::try_from(event.size).ok()?;
                self.out.extend_from_slice(chunk.get(begin..end)?);
            }
        }
        Some(())
    }

    fn put(&mut self, type_id: u64, payload: &[&[u8]]) {
        let mut id = Vec::new();
        varint::put(&mut id, type_id);
        let body = id.len() + payload.iter().map(|part| part.len()).sum::<usize>();
        // The size counts itself.
        let width = (1..=9).find(|&width| (body + width) >> (7 * width) == 0);
        varint::put(&mut self.out, (body + width.unwrap_or(1)) as u64);
        self.out.extend_from_slice(&id);
        self.out.extend(payload.iter().copied().flatten());
    }

    /// A checkpoint says how far it is from the one before it.
    fn checkpoint(&mut self, event: &RawEvent<'_>) -> Option<()> {
        let mut fields = Fields(event.payload);
        let (start, duration) = (fields.varint()?, fields.varint()?);
        let distance = match fields.varint()? {
            0 => 0,
            distance => {
                let before = event.offset.wrapping_add(distance);
                let before = self.checkpoints.get(&before)?;
                before.wrapping_sub(self.out.len() as u64)
            }
        };
        let mut head = Vec::new();
        for number in [start, duration, distance] {
            varint::put(&mut head, number);
        }
        self.put(CHECKPOINT_TYPE, &[&head, fields.0]);
        Some(())
    }

    /// Start, duration, id; the strings; the elements, each before those in it.
    fn metadata(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        let mut fields = Fields(payload);
        let mut out = Vec::new();
        for _ in 0..3 {
            varint::put(&mut out, fields.varint()?);
        }
        let count = fields.varint()?;
        let mut strings = Strings {
            texts: Vec::new(),
            added: Vec::new(),
        };
        let before = fields.0;
        for _ in 0..count {
            strings.texts.push(fields.text()?);
        }
        let old_strings = &before[..before.len() - fields.0.len()];
        let mut elements = Vec::new();
        while !fields.0.is_empty() {
            self.element(&mut fields, &mut strings, &mut elements)?;
        }
        varint::put(&mut out, count + strings.added.len() as u64);
        out.extend_from_slice(old_strings);
        for text in &strings.added {
            out.push(UTF8);
            varint::put(&mut out, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(&elements);
        Some(out)
    }

    fn element(
        &mut self,
        fields: &mut Fields<'_>,
        strings: &mut Strings<'_>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        varint::put(out, fields.varint()?);
        let count = fields.varint()?;
        varint::put(out, count);
        let (mut is_event, mut name, mut id) = (false, "", None);
        let mut attributes = Vec::new();
        for _ in 0..count {
            let (key, value) = (fields.varint()?, fields.varint()?);
            match (strings.get(key)?, strings.get(value)?) {
                ("superType", parent) => is_event = parent == "jdk.jfr.Event",
                ("name", text) => name = text,
                ("id", text) => id = Some((attributes.len(), text.parse::<u64>().ok()?)),
                _ => {}
            }
            attributes.push([key, value]);
        }
        if let Some((place, id)) = id.filter(|_| is_event) {
            if name == "jdk.ActiveSetting" {
                self.setting = Some(id);
            }
            attributes[place][1] = strings.add(shifted(id).to_string());
        }
        for number in attributes.into_iter().flatten() {
            varint::put(out, number);
        }
        varint::put(out, fields.varint()?);
        Some(())
    }
}

fn shifted(id: u64) -> u64 {
    let ids: Range<u64> = (*EVENT_IDS.start()).into()..u64::from(*EVENT_IDS.end()) + 1;
    if ids.contains(&id) { id + SHIFT } else { id }
}

/// Mark of a text in UTF-8, the only one that our writer uses in metadata.
const UTF8: u8 = 3;

/// What is not read yet.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Option<u64> {
        let (value, len) = varint::get(self.0)?;
        self.0 = &self.0[len..];
        Some(value)
    }

    fn text(&mut self) -> Option<&'a str> {
        self.0 = self.0.strip_prefix(&[UTF8])?;
        let len = usize::try_from(self.varint()?).ok()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        str::from_utf8(text).ok()
    }
}

/// The strings of metadata by number.
struct Strings<'a> {
    texts: Vec<&'a str>,
    added: Vec<String>,
}

impl<'a> Strings<'a> {
    fn get(&self, number: u64) -> Option<&'a str> {
        self.texts.get(usize::try_from(number).ok()?).copied()
    }

    fn add(&mut self, text: String) -> u64 {
        self.added.push(text);
        (self.texts.len() + self.added.len() - 1) as u64
    }
}
