//! Values as they stand in the file. Nothing is copied: structs and arrays are walked when asked.

use std::borrow::Cow;

use super::chunk_data::ChunkData;
use super::metadata::{Field, Shape, Type, TypeIndex};
use super::pool::EntryIndex;
use crate::error::{Error, ErrorKind};
use crate::read::raw::cursor::{Cursor, RawString};

/// A value of a field.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Value<'c> {
    /// A null string.
    Null,
    /// `boolean`
    Boolean(bool),
    /// `byte`
    Byte(i8),
    /// `char`
    Char(u16),
    /// `short`
    Short(i16),
    /// `int`
    Int(i32),
    /// `long`
    Long(i64),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// A string, also one from the pool of strings.
    Text(Cow<'c, str>),
    /// Fields, inline.
    Struct(Struct<'c>),
    /// Elements, inline.
    Array(Array<'c>),
    /// A key into a pool.
    Ref(PoolRef<'c>),
}

impl<'c> Value<'c> {
    /// Any integer, as a `long`.
    pub fn as_long(&self) -> Option<i64> {
        match *self {
            Value::Byte(value) => Some(value.into()),
            Value::Char(value) => Some(value.into()),
            Value::Short(value) => Some(value.into()),
            Value::Int(value) => Some(value.into()),
            Value::Long(value) => Some(value),
            _ => None,
        }
    }

    /// The text, where it is a string or a reference to a simple type of one.
    pub fn into_text(self) -> Option<Cow<'c, str>> {
        match self {
            Value::Text(text) => Some(text),
            Value::Ref(reference) => match reference.resolve()? {
                Value::Text(text) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A value with fields.
#[derive(Debug, Clone)]
pub struct Struct<'c> {
    data: &'c ChunkData<'c>,
    index: TypeIndex,
    bytes: &'c [u8],
    base: u64,
}

impl<'c> Struct<'c> {
    pub(crate) fn new(
        data: &'c ChunkData<'c>,
        index: TypeIndex,
        bytes: &'c [u8],
        base: u64,
    ) -> Self {
        Self {
            data,
            index,
            bytes,
            base,
        }
    }

    /// Its type.
    pub fn ty(&self) -> &'c Type {
        self.data.metadata.at(self.index)
    }

    /// Fields with their values, in wire order; ends after the first error.
    pub fn fields(&self) -> impl Iterator<Item = (&'c Field, Result<Value<'c>, Error>)> + use<'c> {
        let data = self.data;
        let mut cursor = Cursor::new(self.bytes, self.base);
        let mut failed = false;
        self.ty().fields.iter().map_while(move |field| {
            if failed {
                return None;
            }
            let value = data.value(field, &mut cursor);
            failed = value.is_err();
            Some((field, value))
        })
    }

    /// The value of a field, by name; `None` if the type has no such field.
    ///
    /// # Errors
    /// When the value, or one before it, cannot be read.
    pub fn get(&self, name: &str) -> Result<Option<Value<'c>>, Error> {
        let Some(position) = self.ty().field_position(name) else {
            return Ok(None);
        };
        let mut cursor = Cursor::new(self.bytes, self.base);
        for field in &self.ty().fields[..position] {
            self.data.metadata.skip(field, &mut cursor)?;
        }
        self.data
            .value(&self.ty().fields[position], &mut cursor)
            .map(Some)
    }
}

/// A value with elements.
#[derive(Debug, Clone)]
pub struct Array<'c> {
    data: &'c ChunkData<'c>,
    field: &'c Field,
    len: usize,
    bytes: &'c [u8],
    base: u64,
}

impl<'c> Array<'c> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements; ends after the first error.
    pub fn iter(&self) -> impl Iterator<Item = Result<Value<'c>, Error>> + use<'c> {
        let (data, field) = (self.data, self.field);
        let mut cursor = Cursor::new(self.bytes, self.base);
        let mut failed = false;
        (0..self.len).map_while(move |_| {
            if failed {
                return None;
            }
            let value = data.value_one(field, &mut cursor);
            failed = value.is_err();
            Some(value)
        })
    }
}

/// A key into the pool of a type.
#[derive(Debug, Clone)]
pub struct PoolRef<'c> {
    data: &'c ChunkData<'c>,
    /// Id of the type.
    pub type_id: u64,
    index: Option<TypeIndex>,
    /// The key.
    pub key: u64,
}

impl<'c> PoolRef<'c> {
    /// The type, if it is declared.
    pub fn ty(&self) -> Option<&'c Type> {
        self.index.map(|index| self.data.metadata.at(index))
    }

    /// Place of the entry in its pool; `None` if the pool has none for the key.
    pub fn entry(&self) -> Option<EntryIndex> {
        self.data.pools.of(self.index?)?.index_of(self.key)
    }

    /// The entry; `None` if the pool has none for the key, or it cannot be read. A simple type
    /// gives its one field's value.
    pub fn resolve(&self) -> Option<Value<'c>> {
        self.data.pool_value(self.index?, self.key)
    }
}

impl ChunkData<'_> {
    /// Reads a field's value and moves on behind it.
    pub(crate) fn value<'c>(
        &'c self,
        field: &'c Field,
        cursor: &mut Cursor<'c>,
    ) -> Result<Value<'c>, Error> {
        if !field.array {
            return self.value_one(field, cursor);
        }
        let len = cursor.count(1)?;
        let base = cursor.offset();
        let mut walker = cursor.clone();
        for _ in 0..len {
            self.metadata.skip_one(field, &mut walker)?;
        }
        let bytes = cursor.take(walker.offset() - base)?;
        Ok(Value::Array(Array {
            data: self,
            field,
            len,
            bytes,
            base,
        }))
    }

    pub(crate) fn value_one<'c>(
        &'c self,
        field: &'c Field,
        cursor: &mut Cursor<'c>,
    ) -> Result<Value<'c>, Error> {
        if field.constant_pool {
            let key = cursor.varint()?;
            return Ok(Value::Ref(PoolRef {
                data: self,
                type_id: field.type_id,
                index: field.type_index,
                key,
            }));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the type says how many of the bits count"
        )]
        Ok(match field.shape {
            Shape::Boolean => Value::Boolean(cursor.byte()? != 0),
            Shape::Byte => Value::Byte(cursor.byte()?.cast_signed()),
            Shape::Char => Value::Char(cursor.varint()? as u16),
            Shape::Short => Value::Short(cursor.varint()? as i16),
            Shape::Int => Value::Int(cursor.int()?),
            Shape::Long => Value::Long(cursor.long()?),
            Shape::Float => Value::Float(cursor.float()?),
            Shape::Double => Value::Double(cursor.double()?),
            Shape::Text => self.text(cursor.string()?),
            Shape::Struct => {
                let Some(index) = field.type_index else {
                    return Err(cursor.error(ErrorKind::OpaqueType(field.type_id)));
                };
                let base = cursor.offset();
                let mut walker = cursor.clone();
                self.metadata.skip_struct(index, &mut walker)?;
                let bytes = cursor.take(walker.offset() - base)?;
                Value::Struct(Struct::new(self, index, bytes, base))
            }
            Shape::Opaque => return Err(cursor.error(ErrorKind::OpaqueType(field.type_id))),
        })
    }

    /// A string's value; a pool key is looked up once, not along a chain.
    pub(crate) fn text<'c>(&'c self, raw: RawString<'c>) -> Value<'c> {
        match raw {
            RawString::Null => Value::Null,
            RawString::Text(text) => Value::Text(text),
            RawString::PoolKey(key) => self.pooled_string(key).map_or(Value::Null, Value::Text),
        }
    }

    fn pooled_string(&self, key: u64) -> Option<Cow<'_, str>> {
        let (_, mut cursor) = self.entry(self.metadata.string_type?, key)?;
        match cursor.string().ok()? {
            RawString::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entry of a pool.
    pub(crate) fn pool_value(&self, index: TypeIndex, key: u64) -> Option<Value<'_>> {
        let (base, mut cursor) = self.entry(index, key)?;
        let ty = self.metadata.at(index);
        match ty.shape {
            Shape::Text => Some(self.text(cursor.string().ok()?)),
            Shape::Struct if ty.simple && ty.fields.len() == 1 => {
                self.value(&ty.fields[0], &mut cursor).ok()
            }
            Shape::Struct => {
                let mut walker = cursor.clone();
                self.metadata.skip_struct(index, &mut walker).ok()?;
                let bytes = cursor.take(walker.offset() - base).ok()?;
                Some(Value::Struct(Struct::new(self, index, bytes, base)))
            }
            _ => None,
        }
    }

    /// A cursor at the start of a pool's entry.
    fn entry(&self, index: TypeIndex, key: u64) -> Option<(u64, Cursor<'_>)> {
        let place = self.pools.of(index)?.index_of(key)?;
        let cursor = self.entry_at(index, place)?;
        Some((cursor.offset(), cursor))
    }
}
