//! Annotations of types and fields: kept as numbers of strings, which become texts when asked for.
//!
//! A JDK recording has some ten thousand of them in every chunk, and most are never read.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::read::raw::cursor::{Cursor, RawString};

/// Number of a string.
pub(super) type StringIndex = u32;
/// An attribute of an element: key and value.
pub(super) type StringPair = (StringIndex, StringIndex);

/// Tag of a string that is a key into a pool, which metadata cannot have.
pub(super) const POOLED_STRING: u8 = 2;

/// A string of the metadata; null counts as empty.
pub(super) fn text_of<'a>(bytes: &'a [u8], starts: &[u32], index: StringIndex) -> Cow<'a, str> {
    let start = starts.get(index as usize).map(|&start| start as usize);
    let text = start
        .and_then(|start| bytes.get(start..))
        .and_then(|bytes| Cursor::new(bytes, 0).string().ok());
    match text {
        Some(RawString::Text(text)) => text,
        _ => Cow::Borrowed(""),
    }
}

/// An annotation as numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawAnnotation {
    pub(super) type_id: u64,
    pub(super) first_value: u32,
    pub(super) values: u32,
}

/// All annotations of a chunk's metadata.
#[derive(Debug, Default)]
pub(super) struct RawAnnotations {
    /// All strings as they stand in the file.
    pub(super) bytes: Box<[u8]>,
    pub(super) starts: Vec<u32>,
    /// Those that had to be decoded: most are ASCII and need not be.
    decoded: OnceLock<Box<[OnceLock<Box<str>>]>>,
    pub(super) list: Vec<RawAnnotation>,
    pub(super) values: Vec<StringPair>,
    /// Names of the annotation types, ordered by id.
    pub(super) types: Vec<(u64, Arc<str>)>,
}

impl RawAnnotations {
    pub(super) fn range(&self, first: u32, len: u32) -> &[RawAnnotation] {
        let first = first as usize;
        self.list
            .get(first..first + len as usize)
            .unwrap_or_default()
    }

    pub(super) fn type_name(&self, raw: RawAnnotation) -> &str {
        match self.types.binary_search_by_key(&raw.type_id, |ty| ty.0) {
            Ok(found) => &self.types[found].1,
            Err(_) => "",
        }
    }

    pub(super) fn values(&self, raw: RawAnnotation) -> impl Iterator<Item = (&str, &str)> {
        let first = raw.first_value as usize;
        let values = self.values.get(first..first + raw.values as usize);
        let pairs = values.unwrap_or_default().iter();
        pairs.map(|&(key, value)| (self.text(key), self.text(value)))
    }

    fn text(&self, index: StringIndex) -> &str {
        match text_of(&self.bytes, &self.starts, index) {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => {
                let cells = || self.starts.iter().map(|_| OnceLock::new()).collect();
                let cell = self.decoded.get_or_init(cells).get(index as usize);
                cell.map_or("", |cell| cell.get_or_init(|| text.into()))
            }
        }
    }
}

/// An annotation: the type's name and the members' values.
#[derive(Clone, Copy)]
pub struct Annotation<'a> {
    annotations: &'a RawAnnotations,
    raw: RawAnnotation,
}

impl<'a> Annotation<'a> {
    /// Name of the annotation type, such as `jdk.jfr.Label`; empty if it is not declared.
    pub fn name(&self) -> &'a str {
        self.annotations.type_name(self.raw)
    }

    /// Members as they stand: `value`, or `value-0`, `value-1`, ...
    pub fn values(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.annotations.values(self.raw)
    }
}

impl fmt::Debug for Annotation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.name())
            .field(&self.values().collect::<Vec<_>>())
            .finish()
    }
}

/// The annotations of a type or a field: a range of those of the chunk, whose texts are looked up
/// when asked for.
#[derive(Clone, Default)]
pub struct Annotations {
    /// Filled once the whole metadata have been read.
    pub(super) all: Arc<OnceLock<RawAnnotations>>,
    pub(super) first: u32,
    pub(super) len: u32,
}

impl Annotations {
    /// All of them, in declared order.
    pub fn iter(&self) -> impl Iterator<Item = Annotation<'_>> {
        let annotations = self.all.get();
        let range = annotations.map(|annotations| annotations.range(self.first, self.len));
        let list = range.unwrap_or_default().iter();
        list.filter_map(move |&raw| {
            Some(Annotation {
                annotations: annotations?,
                raw,
            })
        })
    }

    /// The member `value` of an annotation.
    pub fn value(&self, name: &str) -> Option<&str> {
        let annotation = self.iter().find(|annotation| annotation.name() == name)?;
        let mut values = annotation.values();
        values
            .find(|(key, _)| *key == "value")
            .map(|(_, value)| value)
    }
}

impl fmt::Debug for Annotations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
