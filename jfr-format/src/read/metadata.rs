//! What a chunk says about its types. Cost: one pass over the metadata event (about 100 KB in a JDK recording, 3 KB in ours).
//!
//! The element tree is read iteratively, straight into types; texts are shared, so memory stays below a small multiple of the event.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::cursor::{Cursor, RawString};
use super::{MAX_DEPTH, RawEvent};
use crate::error::{Error, ErrorKind};

/// Place of a type in [`Metadata::types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeIndex(pub(crate) u32);

impl TypeIndex {
    pub(crate) fn usize(self) -> usize {
        self.0 as usize
    }
}

/// How a value of a type stands on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// One byte, 0 or not.
    Boolean,
    /// One byte.
    Byte,
    /// Varint, a UTF-16 unit.
    Char,
    /// Varint.
    Short,
    /// Varint.
    Int,
    /// Varint.
    Long,
    /// Four bytes, big-endian.
    Float,
    /// Eight bytes, big-endian.
    Double,
    /// A tagged string.
    Text,
    /// Its fields, one after the other.
    Struct,
    /// Cannot be read: without fields, of an undeclared type, or within itself.
    Opaque,
}

/// An annotation: the type's name and the members' values.
#[derive(Debug, Clone)]
pub struct Annotation {
    /// Name of the annotation type, such as `jdk.jfr.Label`; empty if it is not declared.
    pub name: Arc<str>,
    /// Members as they stand: `value`, or `value-0`, `value-1`, ...
    pub values: Vec<(Arc<str>, Arc<str>)>,
    type_id: u64,
}

/// A setting that an event type declares.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Name, such as `period`.
    pub name: Arc<str>,
    /// Its default as text.
    pub default_value: Arc<str>,
}

/// A field of a type.
#[derive(Debug, Clone)]
pub struct Field {
    /// Name as declared.
    pub name: Arc<str>,
    /// Id of its type.
    pub type_id: u64,
    /// Place of its type, `None` if that is not declared.
    pub type_index: Option<TypeIndex>,
    /// Shape of one element.
    pub shape: Shape,
    /// Whether the wire carries a key into the type's pool.
    pub constant_pool: bool,
    /// Whether it is an array.
    pub array: bool,
    /// Annotations of the field.
    pub annotations: Vec<Annotation>,
}

/// A type: event, struct, primitive, annotation or setting.
#[derive(Debug, Clone)]
pub struct Type {
    /// Id used in the chunk.
    pub id: u64,
    /// Full name, such as `jdk.ExecutionSample`.
    pub name: Arc<str>,
    /// Name of the super type, empty for plain data.
    pub super_type: Arc<str>,
    /// One field only, which stands for the whole.
    pub simple: bool,
    /// Fields in wire order.
    pub fields: Vec<Field>,
    /// Annotations of the type.
    pub annotations: Vec<Annotation>,
    /// Settings, of event types only.
    pub settings: Vec<Setting>,
    /// How its values stand on the wire.
    pub shape: Shape,
}

impl Type {
    /// Whether it is an event type.
    pub fn is_event(&self) -> bool {
        &*self.super_type == "jdk.jfr.Event"
    }

    /// The place of a field, by name.
    pub fn field_position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| &*field.name == name)
    }

    /// The text of `jdk.jfr.Label`, else the name.
    pub fn label(&self) -> &str {
        annotation_value(&self.annotations, "jdk.jfr.Label").unwrap_or(&self.name)
    }
}

impl Field {
    /// The `value` of an annotation of this field.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        annotation_value(&self.annotations, name)
    }

    /// Whether an annotation without a value is there.
    pub fn is_annotated(&self, name: &str) -> bool {
        self.annotations
            .iter()
            .any(|annotation| &*annotation.name == name)
    }
}

fn annotation_value<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a str> {
    let annotation = annotations
        .iter()
        .find(|annotation| &*annotation.name == name)?;
    annotation
        .values
        .iter()
        .find(|(key, _)| &**key == "value")
        .map(|(_, value)| &**value)
}

/// All types of a chunk.
#[derive(Debug, Clone)]
pub struct Metadata {
    /// The id in the metadata event; equal ids mean equal content.
    pub id: u64,
    /// Milliseconds that the JDK's printer adds to UTC.
    pub gmt_offset_millis: i64,
    types: Vec<Type>,
    by_id: HashMap<u64, TypeIndex>,
    /// `by_id` for small ids, which is where everyone's event types are; `u32::MAX` = none.
    small: Vec<u32>,
}

const SMALL_IDS: u64 = 4096;
/// Most strings, elements and types that are read: 100 times what any known writer has, and what keeps memory bounded.
const MOST_STRINGS: usize = 500_000;
const MOST_ELEMENTS: usize = 500_000;
const MOST_TYPES: usize = 65_536;

impl Metadata {
    /// Reads a metadata event.
    ///
    /// # Errors
    /// When the event is cut, an index is out of range, the tree is deeper than 64, or a type has no name or id.
    pub fn parse(event: &RawEvent<'_>) -> Result<Self, Error> {
        let mut cursor = Cursor::new(event.payload, event.payload_offset);
        cursor.skip_varint()?; // start
        cursor.skip_varint()?; // duration
        let id = cursor.varint()?;
        let count = cursor.count(1)?;
        if count > MOST_STRINGS {
            return Err(cursor.error(ErrorKind::LimitExceeded("500 000 strings of metadata")));
        }
        let mut strings: Vec<Arc<str>> = Vec::new();
        for _ in 0..count {
            strings.push(match cursor.string()? {
                RawString::Text(Cow::Borrowed(text)) => text.into(),
                RawString::Text(Cow::Owned(text)) => text.into(),
                RawString::Null => "".into(),
                RawString::PoolKey(_) => return Err(cursor.error(ErrorKind::BadStringTag(2))),
            });
        }
        let mut tree = Tree {
            cursor,
            strings,
            types: Vec::new(),
            gmt_offset_millis: 0,
        };
        tree.read()?;
        let mut types = tree.types;
        let gmt_offset_millis = tree.gmt_offset_millis;
        let mut by_id = HashMap::new();
        let mut small = Vec::new();
        for (index, ty) in (0u32..).zip(&types) {
            by_id.insert(ty.id, TypeIndex(index));
            if let Ok(id) = usize::try_from(ty.id)
                && ty.id < SMALL_IDS
            {
                if small.len() <= id {
                    small.resize(id + 1, u32::MAX);
                }
                small[id] = index;
            }
        }
        link(&mut types, &by_id);
        Ok(Self {
            id,
            gmt_offset_millis,
            types,
            by_id,
            small,
        })
    }

    /// All types in declared order.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The type at a place.
    pub fn at(&self, index: TypeIndex) -> &Type {
        // An index is made only by this metadata; one of another chunk may be wrong, but not out of bounds unnoticed.
        &self.types[index.usize()]
    }

    /// Place of the type with an id.
    #[inline]
    pub fn index_of(&self, id: u64) -> Option<TypeIndex> {
        if id < SMALL_IDS {
            let index = *self.small.get(usize::try_from(id).ok()?)?;
            return (index != u32::MAX).then_some(TypeIndex(index));
        }
        self.by_id.get(&id).copied()
    }

    /// Place of the type with a name; of several the last.
    pub fn index_of_name(&self, name: &str) -> Option<TypeIndex> {
        let found = self.types.iter().rposition(|ty| &*ty.name == name)?;
        u32::try_from(found).ok().map(TypeIndex)
    }

    /// The type with an id.
    pub fn type_by_id(&self, id: u64) -> Option<&Type> {
        self.index_of(id).map(|index| self.at(index))
    }

    /// Skips one value of a field.
    pub(crate) fn skip(&self, field: &Field, cursor: &mut Cursor<'_>) -> Result<(), Error> {
        if field.array {
            for _ in 0..cursor.count(1)? {
                self.skip_one(field, cursor)?;
            }
            return Ok(());
        }
        self.skip_one(field, cursor)
    }

    /// Skips one element of a field. Recursion is bounded: [`link`] makes opaque what nests deeper than 64.
    pub(crate) fn skip_one(&self, field: &Field, cursor: &mut Cursor<'_>) -> Result<(), Error> {
        if field.constant_pool {
            return cursor.skip_varint();
        }
        match field.shape {
            Shape::Boolean | Shape::Byte => cursor.byte().map(|_| ()),
            Shape::Char | Shape::Short | Shape::Int | Shape::Long => cursor.skip_varint(),
            Shape::Float => cursor.take(4).map(|_| ()),
            Shape::Double => cursor.take(8).map(|_| ()),
            Shape::Text => cursor.skip_string(),
            Shape::Struct => match field.type_index {
                Some(index) => self.skip_struct(index, cursor),
                None => Err(cursor.error(ErrorKind::OpaqueType(field.type_id))),
            },
            Shape::Opaque => Err(cursor.error(ErrorKind::OpaqueType(field.type_id))),
        }
    }

    /// Skips a value of a type: a pool's entry or an inline struct.
    pub(crate) fn skip_struct(
        &self,
        index: TypeIndex,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Error> {
        let ty = self.at(index);
        match ty.shape {
            Shape::Text => cursor.skip_string(),
            Shape::Struct => ty
                .fields
                .iter()
                .try_for_each(|field| self.skip(field, cursor)),
            _ => Err(cursor.error(ErrorKind::OpaqueType(ty.id))),
        }
    }
}

/// Gives every field its type's place and shape, and marks what cannot be read.
fn link(types: &mut [Type], by_id: &HashMap<u64, TypeIndex>) {
    let names: HashMap<u64, Arc<str>> = types.iter().map(|ty| (ty.id, ty.name.clone())).collect();
    // Depth of nesting per type by repeated rounds; what still grows after 64 rounds contains itself or is too deep.
    let mut depth: Vec<u32> = vec![0; types.len()];
    for round in 1..=MAX_DEPTH + 1 {
        let mut grew = false;
        for index in 0..types.len() {
            let inner = types[index]
                .fields
                .iter()
                .filter(|field| !field.constant_pool);
            let deepest = inner
                .filter_map(|field| by_id.get(&field.type_id))
                .map(|inner| depth[inner.usize()])
                .max();
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
    for (index, ty) in types.iter_mut().enumerate() {
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
            _ if ty.fields.is_empty() || depth[index] > MAX_DEPTH => Shape::Opaque,
            _ => Shape::Struct,
        };
    }
    let shapes: Vec<Shape> = types.iter().map(|ty| ty.shape).collect();
    let name_of = |id: u64| names.get(&id).cloned().unwrap_or_default();
    for ty in types {
        for annotation in &mut ty.annotations {
            annotation.name = name_of(annotation.type_id);
        }
        for field in &mut ty.fields {
            field.type_index = by_id.get(&field.type_id).copied();
            field.shape = field
                .type_index
                .map_or(Shape::Opaque, |index| shapes[index.usize()]);
            for annotation in &mut field.annotations {
                annotation.name = name_of(annotation.type_id);
            }
        }
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
    strings: Vec<Arc<str>>,
    types: Vec<Type>,
    gmt_offset_millis: i64,
}

impl Tree<'_> {
    fn text(&mut self) -> Result<Arc<str>, Error> {
        let found = self.cursor.varint()?;
        let text = usize::try_from(found)
            .ok()
            .and_then(|index| self.strings.get(index));
        text.cloned().ok_or_else(|| {
            let most = (self.strings.len() as u64).saturating_sub(1);
            self.cursor.error(ErrorKind::BadCount { found, most })
        })
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
        let name = self.text()?;
        let count = self.cursor.count(2)?;
        let mut attributes = Vec::new();
        for _ in 0..count {
            attributes.push((self.text()?, self.text()?));
        }
        let children = self.cursor.varint()?;
        let element = match (&*name, parent) {
            ("class", _) => {
                let ty = self.class(&attributes)?;
                self.types.push(ty);
                Element::Class
            }
            ("field", Element::Class) => {
                let field = self.field(&attributes)?;
                if let Some(ty) = self.types.last_mut() {
                    ty.fields.push(field);
                }
                Element::Field
            }
            ("setting", Element::Class) => {
                let setting = Setting {
                    name: get(&attributes, "name"),
                    default_value: get(&attributes, "defaultValue"),
                };
                if let Some(ty) = self.types.last_mut() {
                    ty.settings.push(setting);
                }
                Element::Setting
            }
            ("annotation", Element::Class | Element::Field) => {
                let type_id = self.number(&attributes, "class")?;
                let mut values = attributes;
                values.retain(|(key, _)| &**key != "class");
                values.shrink_to_fit();
                let annotation = Annotation {
                    name: Arc::default(),
                    values,
                    type_id,
                };
                if let Some(ty) = self.types.last_mut() {
                    match ty.fields.last_mut() {
                        Some(field) if parent == Element::Field => {
                            field.annotations.push(annotation);
                        }
                        _ => ty.annotations.push(annotation),
                    }
                }
                Element::Other
            }
            ("region", _) => {
                self.gmt_offset_millis = get(&attributes, "gmtOffset").parse().unwrap_or(0);
                Element::Other
            }
            _ => Element::Other,
        };
        Ok((element, children))
    }

    fn class(&self, attributes: &[(Arc<str>, Arc<str>)]) -> Result<Type, Error> {
        Ok(Type {
            id: self.number(attributes, "id")?,
            name: get(attributes, "name"),
            super_type: get(attributes, "superType"),
            simple: has(attributes, "simpleType"),
            fields: Vec::new(),
            annotations: Vec::new(),
            settings: Vec::new(),
            shape: Shape::Opaque,
        })
    }

    fn field(&self, attributes: &[(Arc<str>, Arc<str>)]) -> Result<Field, Error> {
        Ok(Field {
            name: get(attributes, "name"),
            type_id: self.number(attributes, "class")?,
            type_index: None,
            shape: Shape::Opaque,
            constant_pool: has(attributes, "constantPool"),
            array: get(attributes, "dimension")
                .parse::<u64>()
                .is_ok_and(|dimension| dimension > 0),
            annotations: Vec::new(),
        })
    }

    fn number(&self, attributes: &[(Arc<str>, Arc<str>)], key: &'static str) -> Result<u64, Error> {
        let text = get(attributes, key);
        text.parse().map_err(|_| {
            let found = text.chars().take(64).collect();
            self.cursor.error(ErrorKind::BadAttribute { key, found })
        })
    }
}

fn get(attributes: &[(Arc<str>, Arc<str>)], key: &str) -> Arc<str> {
    attributes
        .iter()
        .find(|(name, _)| &**name == key)
        .map(|(_, value)| value.clone())
        .unwrap_or_default()
}

/// Present and not "false": the JDK looks at presence, JMC at the text.
fn has(attributes: &[(Arc<str>, Arc<str>)], key: &str) -> bool {
    attributes
        .iter()
        .any(|(name, value)| &**name == key && &**value != "false")
}
