//! A chunk with its types and pools: levels 2 and 3 start here.

use std::cell::OnceCell;

use super::chunks::{self, RawEvents};
use super::cursor::Cursor;
use super::metadata::{Field, Metadata, Type, TypeIndex};
use super::pools::Pools;
use super::samples::SampleColumns;
use super::tables::Tables;
use super::value::{PoolRef, Struct, Value};
use super::{Chunk, Damage, RawEvent};
use crate::chunk::{HEADER_LEN, Header, METADATA_TYPE};
use crate::error::{Error, ErrorKind};

/// What values need: no caches, so that it can be lent for any lifetime.
#[derive(Debug)]
pub(crate) struct Core<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) header: Header,
    pub(crate) metadata: Metadata,
    pub(crate) pools: Pools,
    pub(crate) string_type: Option<TypeIndex>,
}

impl<'a> Core<'a> {
    pub(crate) fn cursor_at(&self, offset: u32) -> Cursor<'a> {
        let rest = self.bytes.get(offset as usize..).unwrap_or_default();
        Cursor::new(rest, offset.into())
    }
}

/// A chunk whose metadata and checkpoints have been read.
#[derive(Debug)]
pub struct OpenChunk<'a> {
    pub(crate) core: Core<'a>,
    /// What samples need, made when the first one is asked for.
    pub(crate) tables: OnceCell<Tables<'a>>,
    pub(crate) plans: OnceCell<Vec<Option<SampleColumns>>>,
    offset: u64,
    damages: Vec<Damage>,
}

impl<'a> OpenChunk<'a> {
    /// Reads metadata and the places of the pool entries.
    ///
    /// Where the header's offsets lead nowhere, the events are searched for metadata and checkpoints; see [`OpenChunk::damages`].
    ///
    /// # Errors
    /// When there is no readable metadata: without it nothing in the chunk has a meaning.
    pub fn new(chunk: &Chunk<'a>) -> Result<Self, Error> {
        let bytes = chunk.bytes;
        let mut flaws = Vec::new();
        let metadata = read_metadata(bytes, chunk.header.metadata, &mut flaws)?;
        let pools = Pools::read(bytes, chunk.header.checkpoint, &metadata, &mut flaws);
        let string_type = metadata.index_of_name("java.lang.String");
        let damages = flaws
            .into_iter()
            .map(|error| Damage {
                chunk_offset: chunk.offset,
                error,
            })
            .collect();
        let core = Core {
            bytes,
            header: chunk.header,
            metadata,
            pools,
            string_type,
        };
        Ok(Self {
            core,
            tables: OnceCell::new(),
            plans: OnceCell::new(),
            offset: chunk.offset,
            damages,
        })
    }

    /// The chunk's header.
    pub fn header(&self) -> &Header {
        &self.core.header
    }

    /// The types.
    pub fn metadata(&self) -> &Metadata {
        &self.core.metadata
    }

    /// Offset of the chunk in its file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What was wrong with metadata or checkpoints, and did not stop the reading.
    pub fn damages(&self) -> &[Damage] {
        &self.damages
    }

    /// All events in file order, also those of unknown types.
    pub fn raw_events(&self) -> RawEvents<'a> {
        chunks::events_of(self.core.bytes)
    }

    /// The events of declared types in file order; metadata, checkpoints and unknown types are left out.
    pub fn events(&self) -> Events<'_> {
        Events {
            core: &self.core,
            raw: self.raw_events(),
        }
    }

    /// The event of a record, if its type is declared.
    pub fn event<'c>(&'c self, raw: &RawEvent<'c>) -> Option<Event<'c>> {
        let core: &'c Core<'c> = &self.core;
        let index = core.metadata.index_of(raw.type_id)?;
        Some(Event {
            core,
            index,
            raw: *raw,
        })
    }

    /// How many entries the pool of a type has.
    pub fn pool_len(&self, index: TypeIndex) -> usize {
        self.core.pools.of(index).map_or(0, super::pools::Pool::len)
    }

    /// The entries of a pool, ordered by key.
    pub fn pool(&self, index: TypeIndex) -> impl Iterator<Item = (u64, Value<'_>)> {
        let core = &self.core;
        let pool = core.pools.of(index);
        (0..self.pool_len(index)).filter_map(move |entry| {
            let entry = super::pools::EntryIndex(u32::try_from(entry).ok()?);
            let key = pool?.key(entry)?;
            Some((key, core.pool_value(index, key)?))
        })
    }
}

fn read_metadata(bytes: &[u8], offset: u64, flaws: &mut Vec<Error>) -> Result<Metadata, Error> {
    let named = match RawEvents::at(bytes, offset) {
        Ok(event) if event.type_id == METADATA_TYPE && offset >= HEADER_LEN as u64 => {
            Metadata::parse(&event)
        }
        Ok(_) => Err(Error::new(
            offset,
            ErrorKind::BadOffset(offset.cast_signed()),
        )),
        Err(error) => Err(error),
    };
    let flaw = match named {
        Ok(metadata) => return Ok(metadata),
        Err(flaw) => flaw,
    };
    let mut last = None;
    for event in chunks::events_of(bytes).map_while(Result::ok) {
        if event.type_id == METADATA_TYPE && event.offset != offset {
            last = Some(event);
        }
    }
    let Some(event) = last else {
        return Err(match flaw.kind() {
            ErrorKind::BadOffset(_) => Error::new(
                flaw.at(),
                ErrorKind::BadMetadata("no metadata event in this chunk"),
            ),
            _ => flaw,
        });
    };
    let metadata = Metadata::parse(&event)?;
    flaws.push(flaw);
    Ok(metadata)
}

/// Iterator over the events of a chunk, see [`OpenChunk::events`].
#[derive(Debug)]
pub struct Events<'c> {
    core: &'c Core<'c>,
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
            // Metadata and checkpoint have reserved ids; a type that claims one of them is not looked at.
            if raw.type_id > 1
                && let Some(index) = self.core.metadata.index_of(raw.type_id)
            {
                return Some(Ok(Event {
                    core: self.core,
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
    core: &'c Core<'c>,
    index: TypeIndex,
    raw: RawEvent<'c>,
}

impl<'c> Event<'c> {
    /// Its type.
    pub fn ty(&self) -> &'c Type {
        self.core.metadata.at(self.index)
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
            self.core,
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
    pub fn text(&self, name: &str) -> Result<Option<std::borrow::Cow<'c, str>>, Error> {
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
        Some(self.core.header.epoch_nanos(ticks))
    }

    /// Bytes behind the last declared field: 0 in a file of a tidy writer.
    ///
    /// # Errors
    /// When a field cannot be read.
    pub fn bytes_left_over(&self) -> Result<usize, Error> {
        let mut cursor = Cursor::new(self.raw.payload, self.raw.payload_offset);
        for field in &self.ty().fields {
            self.core.metadata.skip(field, &mut cursor)?;
        }
        Ok(cursor.left())
    }
}
