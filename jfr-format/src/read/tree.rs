//! The element tree of a metadata event, read iteratively, straight into types.
//!
//! A JDK recording has some ten thousand texts and elements here in every chunk, and most are labels that nobody asks for: texts
//! are decoded into one buffer, annotations stay numbers into it, and only names become texts of their own.

use std::sync::{Arc, OnceLock};

use super::cursor::Cursor;
use super::metadata::{Annotations, Field, Metadata, Setting, Shape, Type};
use super::{MAX_DEPTH, RawEvent, skip};
use crate::error::{Error, ErrorKind};

/// Most strings, elements and types that are read: 100 times what any known writer has, and what keeps memory bounded.
const MOST_STRINGS: usize = 500_000;
const MOST_ELEMENTS: usize = 500_000;
const MOST_TYPES: usize = 65_536;

/// What a metadata event holds.
pub(super) struct Read {
    pub(super) id: u64,
    pub(super) gmt_offset_millis: i64,
    pub(super) types: Vec<Type>,
}

/// Number of a string.
type Index = u32;
/// An attribute of an element: key and value.
type Pair = (Index, Index);

/// The strings of a metadata event.
#[derive(Default)]
struct Strings {
    text: String,
    /// Where each string ends in `text`.
    ends: Vec<u32>,
    /// Those that were asked for as texts of their own.
    shared: Vec<Option<Arc<str>>>,
}

impl Strings {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        let count = cursor.count(1)?;
        if count > MOST_STRINGS {
            return Err(cursor.error(ErrorKind::LimitExceeded("500 000 strings of metadata")));
        }
        let mut strings = Self::default();
        for _ in 0..count {
            cursor.append_string(&mut strings.text)?;
            // At most three bytes for one of an event below 4 GiB; a text beyond that is no metadata.
            let end = u32::try_from(strings.text.len())
                .map_err(|_| cursor.error(ErrorKind::LimitExceeded("4 GiB of metadata texts")))?;
            strings.ends.push(end);
        }
        strings.shared = vec![None; count];
        Ok(strings)
    }

    fn get(&self, index: Index) -> &str {
        text_of(&self.text, &self.ends, index)
    }

    fn shared(&mut self, index: Index) -> Arc<str> {
        let text = text_of(&self.text, &self.ends, index);
        match self.shared.get_mut(index as usize) {
            Some(slot) => slot.get_or_insert_with(|| text.into()).clone(),
            None => Arc::default(),
        }
    }
}

fn text_of<'a>(text: &'a str, ends: &[u32], index: Index) -> &'a str {
    let index = index as usize;
    let start = index.checked_sub(1).and_then(|i| ends.get(i)).copied();
    let end = ends.get(index).copied().unwrap_or(0);
    text.get(start.unwrap_or(0) as usize..end as usize)
        .unwrap_or_default()
}

/// An annotation as numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note {
    type_id: u64,
    first_value: u32,
    values: u32,
}

/// All annotations of a chunk's metadata.
#[derive(Debug, Default)]
pub(super) struct Notes {
    text: String,
    ends: Vec<u32>,
    list: Vec<Note>,
    values: Vec<Pair>,
    /// Names of the annotation types, ordered by id.
    types: Vec<(u64, Arc<str>)>,
}

impl Notes {
    pub(super) fn range(&self, first: u32, len: u32) -> &[Note] {
        let first = first as usize;
        self.list
            .get(first..first + len as usize)
            .unwrap_or_default()
    }

    pub(super) fn type_name(&self, note: Note) -> &str {
        match self.types.binary_search_by_key(&note.type_id, |ty| ty.0) {
            Ok(found) => &self.types[found].1,
            Err(_) => "",
        }
    }

    pub(super) fn values(&self, note: Note) -> impl Iterator<Item = (&str, &str)> {
        let first = note.first_value as usize;
        let values = self.values.get(first..first + note.values as usize);
        let text = |index| text_of(&self.text, &self.ends, index);
        let pairs = values.unwrap_or_default().iter();
        pairs.map(move |&(key, value)| (text(key), text(value)))
    }
}

/// What an open element is, so that its children find their place.
#[derive(Clone, Copy, PartialEq)]
enum Element {
    Other,
    Class,
    Field,
    Setting,
}

struct Tree<'a> {
    cursor: Cursor<'a>,
    strings: Strings,
    types: Vec<Type>,
    gmt_offset_millis: i64,
    notes: Notes,
    /// What the annotations of types and fields lead to, once everything is read.
    all_notes: Arc<OnceLock<Notes>>,
    /// The attributes of the element at hand.
    attributes: Vec<Pair>,
}

/// Reads a metadata event; types do not know each other yet.
pub(super) fn read(event: &RawEvent<'_>) -> Result<Read, Error> {
    let mut cursor = Cursor::new(event.payload, event.payload_offset);
    cursor.skip_varint()?; // start
    cursor.skip_varint()?; // duration
    let id = cursor.varint()?;
    let strings = Strings::read(&mut cursor)?;
    let mut tree = Tree {
        cursor,
        strings,
        types: Vec::new(),
        gmt_offset_millis: 0,
        notes: Notes::default(),
        all_notes: Arc::default(),
        attributes: Vec::new(),
    };
    tree.read()?;
    let mut notes = tree.notes;
    let names = tree.types.iter().map(|ty| (ty.id, ty.name.clone()));
    notes.types = names.collect();
    notes.types.sort_by_key(|ty| ty.0);
    notes.text = tree.strings.text;
    notes.ends = tree.strings.ends;
    // Nobody else has filled it.
    let _ = tree.all_notes.set(notes);
    Ok(Read {
        id,
        gmt_offset_millis: tree.gmt_offset_millis,
        types: tree.types,
    })
}

impl Tree<'_> {
    fn index(&mut self) -> Result<Index, Error> {
        let found = self.cursor.varint()?;
        let len = self.strings.ends.len() as u64;
        match u32::try_from(found) {
            Ok(index) if found < len => Ok(index),
            _ => {
                let most = len.saturating_sub(1);
                Err(self.cursor.error(ErrorKind::BadCount { found, most }))
            }
        }
    }

    fn read(&mut self) -> Result<(), Error> {
        // (what it is, children still to come)
        let mut open: Vec<(Element, u64)> = Vec::new();
        let mut elements = 0;
        loop {
            elements += 1;
            if elements > MOST_ELEMENTS || self.types.len() > MOST_TYPES {
                return Err(self.cursor.error(ErrorKind::LimitExceeded(
                    "500 000 elements or 65 536 types of metadata",
                )));
            }
            let parent = open.last().map_or(Element::Other, |&(element, _)| element);
            let (element, children) = self.element(parent)?;
            if children > self.cursor.left() as u64 {
                let most = self.cursor.left() as u64;
                return Err(self.cursor.error(ErrorKind::BadCount {
                    found: children,
                    most,
                }));
            }
            open.push((element, children));
            if open.len() > MAX_DEPTH as usize {
                return Err(self.cursor.error(ErrorKind::LimitExceeded(
                    "elements nested deeper than 64 levels",
                )));
            }
            loop {
                match open.last_mut() {
                    None => return Ok(()),
                    Some((_, 0)) => {
                        open.pop();
                    }
                    Some((_, left)) => {
                        *left -= 1;
                        break;
                    }
                }
            }
        }
    }

    /// Reads an element up to its children.
    fn element(&mut self, parent: Element) -> Result<(Element, u64), Error> {
        let name = self.index()?;
        let count = self.cursor.count(2)?;
        self.attributes.clear();
        for _ in 0..count {
            let pair = (self.index()?, self.index()?);
            self.attributes.push(pair);
        }
        let children = self.cursor.varint()?;
        let element = match (self.strings.get(name), parent) {
            ("class", _) => {
                let ty = self.class()?;
                self.types.push(ty);
                Element::Class
            }
            ("field", Element::Class) => {
                let field = self.field()?;
                if let Some(ty) = self.types.last_mut() {
                    ty.fields.push(field);
                }
                Element::Field
            }
            ("setting", Element::Class) => {
                let setting = Setting {
                    name: self.shared("name"),
                    default_value: self.shared("defaultValue"),
                };
                if let Some(ty) = self.types.last_mut() {
                    ty.settings.push(setting);
                }
                Element::Setting
            }
            ("annotation", Element::Class | Element::Field) => {
                self.annotation(parent)?;
                Element::Other
            }
            ("region", _) => {
                self.gmt_offset_millis = self.get("gmtOffset").parse().unwrap_or(0);
                Element::Other
            }
            _ => Element::Other,
        };
        Ok((element, children))
    }

    fn class(&mut self) -> Result<Type, Error> {
        Ok(Type {
            id: self.number("id")?,
            name: self.shared("name"),
            super_type: self.shared("superType"),
            simple: self.has("simpleType"),
            fields: Vec::new(),
            annotations: self.no_annotations(),
            settings: Vec::new(),
            shape: Shape::Opaque,
            skip: Vec::new(),
        })
    }

    fn field(&mut self) -> Result<Field, Error> {
        let dimension = self.get("dimension").parse::<u64>();
        Ok(Field {
            name: self.shared("name"),
            type_id: self.number("class")?,
            type_index: None,
            shape: Shape::Opaque,
            constant_pool: self.has("constantPool"),
            array: dimension.is_ok_and(|dimension| dimension > 0),
            annotations: self.no_annotations(),
        })
    }

    fn no_annotations(&self) -> Annotations {
        Annotations {
            all: self.all_notes.clone(),
            first: u32::try_from(self.notes.list.len()).unwrap_or(u32::MAX),
            len: 0,
        }
    }

    /// Adds an annotation to the last type, or to its last field.
    fn annotation(&mut self, parent: Element) -> Result<(), Error> {
        let type_id = self.number("class")?;
        let first = self.notes.values.len();
        for &(key, value) in &self.attributes {
            if self.strings.get(key) != "class" {
                self.notes.values.push((key, value));
            }
        }
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let place = number(self.notes.list.len());
        self.notes.list.push(Note {
            type_id,
            first_value: number(first),
            values: number(self.notes.values.len() - first),
        });
        let Some(ty) = self.types.last_mut() else {
            return Ok(());
        };
        let owner = match ty.fields.last_mut() {
            Some(field) if parent == Element::Field => &mut field.annotations,
            _ => &mut ty.annotations,
        };
        // One range each: an owner's annotations stand together in every known file; one that stands apart is left out.
        if owner.len == 0 {
            owner.first = place;
        }
        if owner.first + owner.len == place {
            owner.len += 1;
        }
        Ok(())
    }

    fn find(&self, key: &str) -> Option<Index> {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(name, _)| self.strings.get(*name) == key);
        found.map(|&(_, value)| value)
    }

    fn get(&self, key: &str) -> &str {
        self.find(key).map_or("", |index| self.strings.get(index))
    }

    fn shared(&mut self, key: &str) -> Arc<str> {
        match self.find(key) {
            Some(index) => self.strings.shared(index),
            None => Arc::default(),
        }
    }

    /// Present and not "false": the JDK looks at presence, JMC at the text.
    fn has(&self, key: &str) -> bool {
        self.find(key)
            .is_some_and(|index| self.strings.get(index) != "false")
    }

    fn number(&self, key: &'static str) -> Result<u64, Error> {
        let text = self.get(key);
        text.parse().map_err(|_| {
            let found = text.chars().take(64).collect();
            self.cursor.error(ErrorKind::BadAttribute { key, found })
        })
    }
}

/// Gives every field its type's place and shape, and marks what cannot be read.
pub(super) fn link(metadata: &mut Metadata) {
    let mut types = std::mem::take(&mut metadata.types);
    for ty in &mut types {
        for field in &mut ty.fields {
            field.type_index = metadata.index_of(field.type_id);
        }
    }
    let depth = depths(&types);
    for (ty, depth) in types.iter_mut().zip(depth) {
        ty.shape = match &*ty.name {
            "boolean" => Shape::Boolean,
            "byte" => Shape::Byte,
            "char" => Shape::Char,
            "short" => Shape::Short,
            "int" => Shape::Int,
            "long" => Shape::Long,
            "float" => Shape::Float,
            "double" => Shape::Double,
            "java.lang.String" => Shape::Text,
            _ if ty.fields.is_empty() || depth > MAX_DEPTH => Shape::Opaque,
            _ => Shape::Struct,
        };
    }
    let shapes: Vec<Shape> = types.iter().map(|ty| ty.shape).collect();
    for field in types.iter_mut().flat_map(|ty| &mut ty.fields) {
        field.shape = field
            .type_index
            .map_or(Shape::Opaque, |index| shapes[index.usize()]);
    }
    let plans: Vec<_> = types.iter().map(|ty| skip::plan(ty, &types)).collect();
    for (ty, plan) in types.iter_mut().zip(plans) {
        ty.skip = plan;
    }
    metadata.types = types;
}

/// Depth of nesting per type by repeated rounds; what still grows after 64 rounds contains itself or is too deep.
fn depths(types: &[Type]) -> Vec<u32> {
    let mut depth: Vec<u32> = vec![0; types.len()];
    for round in 1..=MAX_DEPTH + 1 {
        let mut grew = false;
        for (index, ty) in types.iter().enumerate() {
            let inner = ty.fields.iter().filter(|field| !field.constant_pool);
            let inner = inner.filter_map(|field| field.type_index);
            let deepest = inner.map(|inner| depth[inner.usize()]).max();
            if let Some(deepest) = deepest
                && depth[index] < deepest + 1
                && depth[index] < round
            {
                depth[index] = (deepest + 1).min(round);
                grew = true;
            }
        }
        if !grew {
            break;
        }
    }
    depth
}
