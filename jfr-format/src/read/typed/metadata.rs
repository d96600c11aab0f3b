//! What a chunk says about its types. Cost: one pass over the metadata event (about 100 KB in a JDK
//! recording, 3 KB in ours).

use std::collections::HashMap;
use std::sync::Arc;

use super::annotations::Annotations;

/// Most levels that elements, types and references may be nested.
pub const MAX_DEPTH: u32 = 64;

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

/// A setting that an event type declares.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Name, such as `period`.
    pub name: Arc<str>,
    /// Its default as text.
    pub default_value: Arc<str>,
}

/// A step over one or more fields whose values nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SkipStep {
    /// So many compressed integers.
    Varints(u32),
    /// So many bytes.
    Bytes(u32),
    /// A string.
    Text,
    /// An array whose elements are so many compressed integers each.
    VarintArray(u32),
    /// The field at this place, by its declaration.
    Field(u32),
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
    pub annotations: Annotations,
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
    pub annotations: Annotations,
    /// Settings, of event types only.
    pub settings: Vec<Setting>,
    /// How its values stand on the wire.
    pub shape: Shape,
    /// How a value of it is skipped.
    pub(super) skip_plan: Vec<SkipStep>,
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
        self.annotations
            .value("jdk.jfr.Label")
            .unwrap_or(&self.name)
    }
}

impl Field {
    /// The `value` of an annotation of this field.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.value(name)
    }

    /// Whether an annotation without a value is there.
    pub fn is_annotated(&self, name: &str) -> bool {
        self.annotations
            .iter()
            .any(|annotation| annotation.name() == name)
    }
}

/// All types of a chunk.
#[derive(Debug, Clone)]
pub struct Metadata {
    /// The id in the metadata event; equal ids mean equal content.
    pub id: u64,
    /// Milliseconds that the JDK's printer adds to UTC.
    pub gmt_offset_millis: i64,
    pub(super) types: Vec<Type>,
    by_id: HashMap<u64, TypeIndex>,
    /// The same for small ids, which is where everyone's event types are; `u32::MAX` = none.
    small: Vec<u32>,
    /// Place of `java.lang.String`.
    pub(crate) string_type: Option<TypeIndex>,
}

const SMALL_IDS: u64 = 4096;

impl Metadata {
    /// Types that can be found by their ids, but do not know each other yet.
    pub(super) fn new(id: u64, gmt_offset_millis: i64, types: Vec<Type>) -> Self {
        let mut metadata = Self {
            id,
            gmt_offset_millis,
            types,
            by_id: HashMap::new(),
            small: Vec::new(),
            string_type: None,
        };
        metadata.number();
        metadata.string_type = metadata.index_of_name("java.lang.String");
        metadata
    }

    /// Makes types findable by their ids.
    fn number(&mut self) {
        for (index, ty) in (0u32..).zip(&self.types) {
            let Some(id) = usize::try_from(ty.id).ok().filter(|_| ty.id < SMALL_IDS) else {
                self.by_id.insert(ty.id, TypeIndex(index));
                continue;
            };
            if self.small.len() <= id {
                self.small.resize(id + 1, u32::MAX);
            }
            self.small[id] = index;
        }
    }

    /// All types in declared order.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The type at a place.
    pub fn at(&self, index: TypeIndex) -> &Type {
        // An index is made only by this metadata; one of another chunk may be wrong, but not out of
        // bounds unnoticed.
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
}
