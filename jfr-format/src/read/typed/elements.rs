//! The element tree of a metadata event, read iteratively, straight into types.
//!
//! A JDK recording has some ten thousand texts and elements here in every chunk, and most are
//! labels that nobody asks for: texts stay as they stand in the file, annotations are numbers of
//! them, and only names become texts of their own.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::annotations::{
    Annotations, POOLED_STRING, RawAnnotation, RawAnnotations, StringIndex, text_of,
};
use super::metadata::{Field, MAX_DEPTH, Metadata, Setting, Shape, Type};
use super::skip;
use crate::error::{Error, ErrorKind};
use crate::read::raw::cursor::Cursor;
use crate::read::raw::event::RawEvent;

/// Most strings, elements and types that are read: 100 times what any known writer has, and what
/// keeps memory bounded.
const MAX_STRINGS: usize = 500_000;
const MAX_ELEMENTS: usize = 500_000;
const MAX_TYPES: usize = 65_536;

/// Names of elements and attributes that mean something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Not resolved yet.
    Unresolved,
    /// No attribute's key: elements, and what is not known.
    Other,
    Class,
    Field,
    Setting,
    Annotation,
    Region,
    Name,
    Id,
    SuperType,
    SimpleType,
    ConstantPool,
    Dimension,
    DefaultValue,
    GmtOffset,
}

impl Word {
    const COUNT: usize = Word::GmtOffset as usize + 1;

    fn of(text: &str) -> Self {
        match text {
            "class" => Word::Class,
            "field" => Word::Field,
            "setting" => Word::Setting,
            "annotation" => Word::Annotation,
            "region" => Word::Region,
            "name" => Word::Name,
            "id" => Word::Id,
            "superType" => Word::SuperType,
            "simpleType" => Word::SimpleType,
            "constantPool" => Word::ConstantPool,
            "dimension" => Word::Dimension,
            "defaultValue" => Word::DefaultValue,
            "gmtOffset" => Word::GmtOffset,
            _ => Word::Other,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Word::Class => "class",
            Word::Id => "id",
            _ => "name",
        }
    }
}

/// The strings of a metadata event while it is read.
struct Strings<'a> {
    /// From the first string on.
    bytes: &'a [u8],
    /// Where each string begins.
    starts: Vec<u32>,
    /// Those that were asked for as texts of their own.
    shared: Vec<Option<Arc<str>>>,
    /// What those mean that were asked for as names: some fifteen, asked for ten thousand times.
    words: Vec<Word>,
}

impl<'a> Strings<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Error> {
        let count = cursor.count(1)?;
        if count > MAX_STRINGS {
            return Err(cursor.error(ErrorKind::LimitExceeded("500 000 strings of metadata")));
        }
        let all = cursor.clone();
        let mut starts = Vec::with_capacity(count);
        for _ in 0..count {
            // An event is smaller than 4 GiB.
            starts.push(u32::try_from(cursor.pos() - all.pos()).unwrap_or(u32::MAX));
            if cursor.peek() == Some(POOLED_STRING) {
                return Err(cursor.error(ErrorKind::BadStringTag(POOLED_STRING)));
            }
            cursor.skip_string()?;
        }
        let len = cursor.pos() - all.pos();
        let bytes = all.clone().take(len as u64)?;
        Ok(Self {
            bytes,
            starts,
            shared: vec![None; count],
            words: vec![Word::Unresolved; count],
        })
    }

    fn get(&self, index: StringIndex) -> Cow<'a, str> {
        text_of(self.bytes, &self.starts, index)
    }

    #[inline]
    fn word(&mut self, index: StringIndex) -> Word {
        match self.words.get(index as usize) {
            Some(Word::Unresolved) => {
                let word = Word::of(&self.get(index));
                self.words[index as usize] = word;
                word
            }
            Some(&known) => known,
            None => Word::Other,
        }
    }

    fn shared(&mut self, index: StringIndex) -> Arc<str> {
        let text = || text_of(self.bytes, &self.starts, index).into();
        match self.shared.get_mut(index as usize) {
            Some(slot) => slot.get_or_insert_with(text).clone(),
            None => Arc::default(),
        }
    }

    /// A decimal number; `None` if the text is none.
    fn number(&self, index: StringIndex) -> Option<u64> {
        let start = *self.starts.get(index as usize)? as usize;
        // Tag, length, digits: what nearly all are.
        if let Some([3..=5, len @ 1..=18, rest @ ..]) = self.bytes.get(start..)
            && let Some(digits) = rest.get(..usize::from(*len))
            && digits.iter().all(u8::is_ascii_digit)
        {
            let number = |value, digit: &u8| value * 10 + u64::from(digit - b'0');
            return Some(digits.iter().fold(0, number));
        }
        self.get(index).parse().ok()
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
    strings: Strings<'a>,
    types: Vec<Type>,
    gmt_offset_millis: i64,
    annotations: RawAnnotations,
    /// What the annotations of types and fields lead to, once everything is read.
    all_annotations: Arc<OnceLock<RawAnnotations>>,
    /// The attributes of the element at hand, by key; [`NO_VALUE`] = absent.
    attributes: [StringIndex; Word::COUNT],
}

/// More strings than may be.
const NO_VALUE: StringIndex = StringIndex::MAX;

impl Metadata {
    /// Reads a metadata event.
    ///
    /// # Errors
    /// When the event is cut, an index is out of range, the tree is deeper than 64, or a type has
    /// no name or id.
    pub fn parse(event: &RawEvent<'_>) -> Result<Self, Error> {
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
            annotations: RawAnnotations::default(),
            all_annotations: Arc::default(),
            attributes: [NO_VALUE; Word::COUNT],
        };
        tree.read()?;
        let mut annotations = tree.annotations;
        let names = tree.types.iter().map(|ty| (ty.id, ty.name.clone()));
        annotations.types = names.collect();
        annotations.types.sort_by_key(|ty| ty.0);
        annotations.bytes = tree.strings.bytes.into();
        annotations.starts = tree.strings.starts;
        // Nobody else has filled it.
        let _ = tree.all_annotations.set(annotations);
        let mut metadata = Self::new(id, tree.gmt_offset_millis, tree.types);
        link(&mut metadata);
        Ok(metadata)
    }
}

impl<'a> Tree<'a> {
    fn index(&mut self) -> Result<StringIndex, Error> {
        let found = self.cursor.varint()?;
        let len = self.strings.starts.len() as u64;
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
            if elements > MAX_ELEMENTS || self.types.len() > MAX_TYPES {
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
        let word = self.strings.word(name);
        let annotations = self.annotations.values.len();
        let is_note = word == Word::Annotation && matches!(parent, Element::Class | Element::Field);
        self.attributes(is_note)?;
        let children = self.cursor.varint()?;
        let element = match (word, parent) {
            (Word::Class, _) => {
                let ty = self.class()?;
                self.types.push(ty);
                Element::Class
            }
            (Word::Field, Element::Class) => {
                let field = self.field()?;
                if let Some(ty) = self.types.last_mut() {
                    ty.fields.push(field);
                }
                Element::Field
            }
            (Word::Setting, Element::Class) => {
                let setting = Setting {
                    name: self.shared(Word::Name),
                    default_value: self.shared(Word::DefaultValue),
                };
                if let Some(ty) = self.types.last_mut() {
                    ty.settings.push(setting);
                }
                Element::Setting
            }
            (Word::Annotation, Element::Class | Element::Field) => {
                self.annotation(parent, annotations)?;
                Element::Other
            }
            (Word::Region, _) => {
                self.gmt_offset_millis = self.get(Word::GmtOffset).parse().unwrap_or(0);
                Element::Other
            }
            _ => Element::Other,
        };
        Ok((element, children))
    }

    /// Reads the attributes of an element; of an annotation also those with names of its own.
    fn attributes(&mut self, is_note: bool) -> Result<(), Error> {
        let count = self.cursor.count(2)?;
        self.attributes = [NO_VALUE; Word::COUNT];
        for _ in 0..count {
            let (key, value) = (self.index()?, self.index()?);
            let word = self.strings.word(key);
            if is_note && word != Word::Class {
                self.annotations.values.push((key, value));
            }
            // Of two with one key the first counts.
            let slot = &mut self.attributes[word as usize];
            if *slot == NO_VALUE {
                *slot = value;
            }
        }
        Ok(())
    }

    fn class(&mut self) -> Result<Type, Error> {
        Ok(Type {
            id: self.number(Word::Id)?,
            name: self.shared(Word::Name),
            super_type: self.shared(Word::SuperType),
            simple: self.has(Word::SimpleType),
            fields: Vec::new(),
            annotations: self.no_annotations(),
            settings: Vec::new(),
            shape: Shape::Opaque,
            skip_plan: Vec::new(),
        })
    }

    fn field(&mut self) -> Result<Field, Error> {
        let dimension = self.get(Word::Dimension).parse::<u64>();
        Ok(Field {
            name: self.shared(Word::Name),
            type_id: self.number(Word::Class)?,
            type_index: None,
            shape: Shape::Opaque,
            constant_pool: self.has(Word::ConstantPool),
            array: dimension.is_ok_and(|dimension| dimension > 0),
            annotations: self.no_annotations(),
        })
    }

    fn no_annotations(&self) -> Annotations {
        Annotations {
            all: self.all_annotations.clone(),
            first: u32::try_from(self.annotations.list.len()).unwrap_or(u32::MAX),
            len: 0,
        }
    }

    /// Adds an annotation to the last type, or to its last field.
    ///
    /// Its values have been read, and begin at `first`.
    fn annotation(&mut self, parent: Element, first: usize) -> Result<(), Error> {
        let type_id = self.number(Word::Class)?;
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let place = number(self.annotations.list.len());
        self.annotations.list.push(RawAnnotation {
            type_id,
            first_value: number(first),
            values: number(self.annotations.values.len() - first),
        });
        let Some(ty) = self.types.last_mut() else {
            return Ok(());
        };
        let owner = match ty.fields.last_mut() {
            Some(field) if parent == Element::Field => &mut field.annotations,
            _ => &mut ty.annotations,
        };
        // One range each: an owner's annotations stand together in every known file; one that
        // stands apart is left out.
        if owner.len == 0 {
            owner.first = place;
        }
        if owner.first + owner.len == place {
            owner.len += 1;
        }
        Ok(())
    }

    fn find(&self, key: Word) -> Option<StringIndex> {
        let found = self.attributes[key as usize];
        (found != NO_VALUE).then_some(found)
    }

    fn get(&self, key: Word) -> Cow<'a, str> {
        self.find(key)
            .map_or(Cow::Borrowed(""), |index| self.strings.get(index))
    }

    fn shared(&mut self, key: Word) -> Arc<str> {
        match self.find(key) {
            Some(index) => self.strings.shared(index),
            None => Arc::default(),
        }
    }

    /// Present and not "false": the JDK looks at presence, JMC at the text.
    fn has(&self, key: Word) -> bool {
        self.find(key)
            .is_some_and(|index| self.strings.get(index) != "false")
    }

    fn number(&self, key: Word) -> Result<u64, Error> {
        let number = self.find(key).and_then(|index| self.strings.number(index));
        number.ok_or_else(|| {
            let found = self.get(key).chars().take(64).collect();
            let key = key.text();
            self.cursor.error(ErrorKind::BadAttribute { key, found })
        })
    }
}

/// Gives every field its type's place and shape, and marks what cannot be read.
fn link(metadata: &mut Metadata) {
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
        ty.skip_plan = plan;
    }
    metadata.types = types;
}

/// Depth of nesting per type by repeated rounds; what still grows after 64 rounds contains itself
/// or is too deep.
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
