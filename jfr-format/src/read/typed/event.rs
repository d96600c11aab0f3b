//! Events of declared types, with their fields.

use std::borrow::Cow;

use super::chunk_data::ChunkData;
use super::metadata::{Field, Type, TypeIndex};
use super::value::{PoolRef, Struct, Value};
use crate::error::Error;
use crate::read::raw::cursor::Cursor;
use crate::read::raw::event::{RawEvent, RawEvents, events_of};

impl ChunkData<'_> {
    /// The events of declared types in file order; metadata, checkpoints and unknown types are left
    /// out.
    pub(crate) fn events(&self) -> Events<'_> {
        Events {
            data: self,
            raw: events_of(self.bytes),
        }
    }

    /// The event of a record, if its type is declared.
    pub(crate) fn event<'c>(&'c self, raw: &RawEvent<'c>) -> Option<Event<'c>> {
        let data: &'c ChunkData<'c> = self;
        let index = data.metadata.index_of(raw.type_id)?;
        Some(data.event_of(index, *raw))
    }

    /// An event of the type at a place.
    pub(crate) fn event_of<'c>(&'c self, index: TypeIndex, raw: RawEvent<'c>) -> Event<'c> {
        let data: &'c ChunkData<'c> = self;
        Event { data, index, raw }
    }

    /// The events of one type, by name, as far as their sizes can be read.
    pub(crate) fn events_named(&self, name: &str) -> impl Iterator<Item = Event<'_>> {
        let index = self.metadata.index_of_name(name);
        let events = index.map(|index| {
            let offsets = self.event_offsets(index).iter();
            let events =
                offsets.filter_map(|&offset| RawEvents::at(self.bytes, offset.into()).ok());
            events.map(move |raw| self.event_of(index, raw))
        });
        events.into_iter().flatten()
    }
}

/// Iterator over the events of a chunk, see
/// [`ParsedChunk::events`](crate::read::ParsedChunk::events).
#[derive(Debug)]
pub struct Events<'c> {
    data: &'c ChunkData<'c>,
    raw: RawEvents<'c>,
}

impl<'c> Iterator for Events<'c> {
    type Item = Result<Event<'c>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let raw = match self.raw.next()? {
                Ok(raw) => raw,
                Err(error) => return Some(Err(error)),
            };
            // Metadata and checkpoint have reserved ids; a type that claims one of them is not
            // looked at.
            if raw.type_id > 1
                && let Some(index) = self.data.metadata.index_of(raw.type_id)
            {
                return Some(Ok(Event {
                    data: self.data,
                    index,
                    raw,
                }));
            }
        }
    }
}

/// An event of a declared type.
#[derive(Debug, Clone, Copy)]
pub struct Event<'c> {
    data: &'c ChunkData<'c>,
    index: TypeIndex,
    raw: RawEvent<'c>,
}

impl<'c> Event<'c> {
    /// Its type.
    pub fn ty(&self) -> &'c Type {
        self.data.metadata.at(self.index)
    }

    /// Place of its type in the chunk's metadata.
    pub fn type_index(&self) -> TypeIndex {
        self.index
    }

    /// Its bytes and place.
    pub fn raw(&self) -> &RawEvent<'c> {
        &self.raw
    }

    /// All fields, as one value.
    pub fn value(&self) -> Struct<'c> {
        Struct::new(
            self.data,
            self.index,
            self.raw.payload,
            self.raw.payload_offset,
        )
    }

    /// Fields with their values, in wire order; ends after the first error.
    pub fn fields(&self) -> impl Iterator<Item = (&'c Field, Result<Value<'c>, Error>)> + use<'c> {
        self.value().fields()
    }

    /// The value of a field, by name; `None` if the type has no such field.
    ///
    /// # Errors
    /// When the value, or one before it, cannot be read.
    pub fn get(&self, name: &str) -> Result<Option<Value<'c>>, Error> {
        self.value().get(name)
    }

    /// The text of a field; `None` if it is absent, null, or no text.
    ///
    /// # Errors
    /// When the value, or one before it, cannot be read.
    pub fn text(&self, name: &str) -> Result<Option<Cow<'c, str>>, Error> {
        Ok(self.get(name)?.and_then(Value::into_text))
    }

    /// The number in an integer field; `None` if it is absent or no integer.
    ///
    /// # Errors
    /// When the value, or one before it, cannot be read.
    pub fn long(&self, name: &str) -> Result<Option<i64>, Error> {
        Ok(self.get(name)?.and_then(|value| value.as_long()))
    }

    /// The reference in a constant-pool field.
    ///
    /// # Errors
    /// When the value, or one before it, cannot be read.
    pub fn reference(&self, name: &str) -> Result<Option<PoolRef<'c>>, Error> {
        Ok(self.get(name)?.and_then(|value| {
            if let Value::Ref(reference) = value {
                Some(reference)
            } else {
                None
            }
        }))
    }

    /// Start in nanoseconds since 1970; `None` where the type does not begin with `startTime`.
    pub fn start_nanos(&self) -> Option<i64> {
        let first = self.ty().fields.first()?;
        if &*first.name != "startTime" {
            return None;
        }
        let ticks = Cursor::new(self.raw.payload, self.raw.payload_offset)
            .long()
            .ok()?;
        Some(self.data.header.epoch_nanos(ticks))
    }

    /// Bytes behind the last declared field: 0 in a file of a tidy writer.
    ///
    /// # Errors
    /// When a field cannot be read.
    pub fn bytes_left_over(&self) -> Result<usize, Error> {
        let start = Cursor::new(self.raw.payload, self.raw.payload_offset);
        let mut cursor = start.clone();
        let metadata = &self.data.metadata;
        if metadata.skip_struct(self.index, &mut cursor).is_ok() {
            return Ok(cursor.left());
        }
        // Field by field, for the place of the error.
        let mut cursor = start;
        for field in &self.ty().fields {
            metadata.skip(field, &mut cursor)?;
        }
        Ok(cursor.left())
    }
}
