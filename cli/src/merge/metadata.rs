//! The metadata of a chunk as a tree that can be changed.

use std::borrow::Cow;

use jfr_format::varint;

use super::fields::{Fields, put_text};

/// Deeper elements are not read; real ones have four levels.
const MAX_DEPTH: usize = 64;

/// Start, duration and id; the strings; the elements.
pub(super) struct Metadata<'a> {
    head: [u64; 3],
    pub(super) strings: Strings<'a>,
    root: Element,
}

impl<'a> Metadata<'a> {
    /// `None` if it cannot be read.
    pub(super) fn parse(payload: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(payload);
        let head = [fields.varint()?, fields.varint()?, fields.varint()?];
        let strings = Strings::parse(&mut fields)?;
        let root = Element::parse(&mut fields, MAX_DEPTH)?;
        Some(Self {
            head,
            strings,
            root,
        })
    }

    /// The classes, to which more may be added, and the strings that they are made of.
    pub(super) fn classes(&mut self) -> Option<(&mut Vec<Element>, &mut Strings<'a>)> {
        let strings = &mut self.strings;
        let mut elements = self.root.children.iter_mut();
        let classes = elements.find(|element| strings.get(element.name) == Some("metadata"))?;
        Some((&mut classes.children, strings))
    }

    pub(super) fn into_payload(self) -> Vec<u8> {
        let mut out = Vec::new();
        for number in self.head {
            varint::put(&mut out, number);
        }
        self.strings.put(&mut out);
        self.root.put(&mut out);
        out
    }
}

/// The strings by number.
pub(super) struct Strings<'a> {
    /// As the file has them.
    bytes: &'a [u8],
    texts: Vec<Cow<'a, str>>,
    added: Vec<String>,
}

impl<'a> Strings<'a> {
    fn parse(fields: &mut Fields<'a>) -> Option<Self> {
        let count = fields.varint()?;
        let before = fields.0;
        let mut texts = Vec::new();
        for _ in 0..count {
            texts.push(fields.text()?);
        }
        Some(Self {
            bytes: &before[..before.len() - fields.0.len()],
            texts,
            added: Vec::new(),
        })
    }

    pub(super) fn get(&self, number: u64) -> Option<&str> {
        let number = usize::try_from(number).ok()?;
        match self.texts.get(number) {
            Some(text) => Some(text),
            None => Some(self.added.get(number - self.texts.len())?),
        }
    }

    /// Number of a string, added if no added one is the same. There are some ten thousand others.
    pub(super) fn number(&mut self, text: &str) -> u64 {
        let place = self.added.iter().position(|known| known == text);
        let place = place.unwrap_or_else(|| {
            self.added.push(text.to_owned());
            self.added.len() - 1
        });
        (self.texts.len() + place) as u64
    }

    fn put(&self, out: &mut Vec<u8>) {
        varint::put(out, (self.texts.len() + self.added.len()) as u64);
        out.extend_from_slice(self.bytes);
        for text in &self.added {
            put_text(out, text);
        }
    }
}

/// Name, keys and values are numbers of strings.
pub(super) struct Element {
    name: u64,
    attributes: Vec<[u64; 2]>,
    pub(super) children: Vec<Element>,
}

impl Element {
    pub(super) fn new(strings: &mut Strings<'_>, name: &str, attributes: &[(&str, &str)]) -> Self {
        let mut number = |text: &str| strings.number(text);
        Self {
            name: number(name),
            attributes: attributes
                .iter()
                .map(|(key, value)| [number(key), number(value)])
                .collect(),
            children: Vec::new(),
        }
    }

    fn parse(fields: &mut Fields<'_>, levels: usize) -> Option<Self> {
        let levels = levels.checked_sub(1)?;
        let mut element = Self {
            name: fields.varint()?,
            attributes: Vec::new(),
            children: Vec::new(),
        };
        for _ in 0..fields.varint()? {
            element
                .attributes
                .push([fields.varint()?, fields.varint()?]);
        }
        for _ in 0..fields.varint()? {
            element.children.push(Self::parse(fields, levels)?);
        }
        Some(element)
    }

    /// The id of a class whose instances are events.
    pub(super) fn event_id(&self, strings: &Strings<'_>) -> Option<u64> {
        let is_event = self.get(strings, "superType") == Some("jdk.jfr.Event");
        self.get(strings, "id").filter(|_| is_event)?.parse().ok()
    }

    /// The text of an attribute.
    pub(super) fn get<'s>(&self, strings: &'s Strings<'_>, key: &str) -> Option<&'s str> {
        let mut attributes = self.attributes.iter();
        let attribute = attributes.find(|[name, _]| strings.get(*name) == Some(key))?;
        strings.get(attribute[1])
    }

    /// Gives an attribute that it has another text.
    pub(super) fn set(&mut self, strings: &mut Strings<'_>, key: &str, text: &str) {
        let value = strings.number(text);
        let mut attributes = self.attributes.iter_mut();
        if let Some([_, old]) = attributes.find(|[name, _]| strings.get(*name) == Some(key)) {
            *old = value;
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        varint::put(out, self.name);
        varint::put(out, self.attributes.len() as u64);
        for number in self.attributes.iter().flatten() {
            varint::put(out, *number);
        }
        varint::put(out, self.children.len() as u64);
        for child in &self.children {
            child.put(out);
        }
    }
}
