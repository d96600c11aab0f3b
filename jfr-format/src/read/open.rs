//! A chunk with its types and pools: levels 2 and 3 start here.

use std::sync::{Arc, OnceLock};

use super::chunks::{self, RawEvents};
use super::cursor::Cursor;
use super::metadata::{Field, Metadata, Type, TypeIndex};
use super::pools::{Pool, Pools};
use super::samples::SampleColumns;
use super::tables::Tables;
use super::value::{PoolRef, Struct, Value};
use super::{Chunk, Damage, RawEvent};
use crate::chunk::{HEADER_LEN, Header, METADATA_TYPE};
use crate::error::{Error, ErrorKind};

/// What values and samples need. Its caches borrow nothing, so that it can be lent for any lifetime.
#[derive(Debug)]
pub(crate) struct Core<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) header: Header,
    pub(crate) metadata: Arc<Metadata>,
    pub(crate) pools: Pools,
    pub(crate) tables: Tables,
    pub(crate) string_type: Option<TypeIndex>,
}

impl<'a> Core<'a> {
    pub(crate) fn cursor_at(&self, offset: u32) -> Cursor<'a> {
        let rest = self.bytes.get(offset as usize..).unwrap_or_default();
        Cursor::new(rest, offset.into())
    }
}

/// Opens one chunk after the other, and reads their metadata only where they differ from the last chunk's: in a recording of the JDK they
/// are 100 KB in every chunk, nearly always the same. Costs a copy of those bytes. One per thread.
#[derive(Debug, Default)]
pub struct Opener {
    /// A metadata event from its id on, and what it says.
    last: Option<(Box<[u8]>, Arc<Metadata>)>,
}

impl Opener {
    /// Knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads metadata, if they are new, and the places of the pool entries.
    ///
    /// Where the header's offsets lead nowhere, the events are searched for metadata and checkpoints; see [`OpenChunk::damages`].
    ///
    /// # Errors
    /// When there is no readable metadata: without it nothing in the chunk has a meaning.
    pub fn open<'a>(&mut self, chunk: &Chunk<'a>) -> Result<OpenChunk<'a>, Error> {
        let bytes = chunk.bytes;
        let mut flaws = Vec::new();
        let metadata = self.metadata(bytes, chunk.header.metadata, &mut flaws)?;
        Ok(OpenChunk::with(chunk, metadata, flaws))
    }

    fn metadata(
        &mut self,
        bytes: &[u8],
        offset: u64,
        flaws: &mut Vec<Error>,
    ) -> Result<Arc<Metadata>, Error> {
        let content = metadata_at(bytes, offset)
            .ok()
            .and_then(|event| content(&event));
        if let Some((known, metadata)) = &self.last
            && content == Some(&**known)
        {
            return Ok(Arc::clone(metadata));
        }
        let metadata = Arc::new(read_metadata(bytes, offset, flaws)?);
        if let Some(content) = content
            && flaws.is_empty()
        {
            self.last = Some((content.into(), Arc::clone(&metadata)));
        }
        Ok(metadata)
    }
}

/// What a metadata event says, without when.
fn content<'a>(event: &RawEvent<'a>) -> Option<&'a [u8]> {
    let mut cursor = Cursor::new(event.payload, event.payload_offset);
    cursor.skip_varint().ok()?; // start
    cursor.skip_varint().ok()?; // duration
    cursor.take(cursor.left() as u64).ok()
}

/// A chunk whose metadata and checkpoints have been read.
#[derive(Debug)]
pub struct OpenChunk<'a> {
    pub(crate) core: Core<'a>,
    /// How samples are read, by type, made when a type is first asked for.
    pub(crate) plans: Box<[OnceLock<Option<SampleColumns>>]>,
    /// Names of the attribute columns by slot.
    pub(crate) slots: OnceLock<Vec<(usize, Arc<str>)>>,
    offset: u64,
    damages: Vec<Damage>,
}

impl<'a> OpenChunk<'a> {
    /// Opens a single chunk; who reads many has an [`Opener`].
    ///
    /// # Errors
    /// As in [`Opener::open`].
    pub fn new(chunk: &Chunk<'a>) -> Result<Self, Error> {
        let mut flaws = Vec::new();
        let metadata = read_metadata(chunk.bytes, chunk.header.metadata, &mut flaws)?;
        Ok(Self::with(chunk, Arc::new(metadata), flaws))
    }

    fn with(chunk: &Chunk<'a>, metadata: Arc<Metadata>, mut flaws: Vec<Error>) -> Self {
        let bytes = chunk.bytes;
        let pools = Pools::read(bytes, chunk.header.checkpoint, &metadata, &mut flaws);
        let string_type = metadata.ways().strings;
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
            tables: Tables::new(&metadata),
            metadata,
            pools,
            string_type,
        };
        let types = core.metadata.types().iter();
        Self {
            plans: types.map(|_| OnceLock::new()).collect(),
            slots: OnceLock::new(),
            core,
            offset: chunk.offset,
            damages,
        }
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
        self.core.pools.of(index).map_or(0, Pool::len)
    }

    /// The entries of a pool, ordered by key.
    pub fn pool(&self, index: TypeIndex) -> impl Iterator<Item = (u64, Value<'_>)> {
        let core = &self.core;
        let pool = core.pools.of(index);
        let keys = pool.map(Pool::sorted_keys).unwrap_or_default();
        keys.into_iter()
            .filter_map(move |key| Some((key, core.pool_value(index, key)?)))
    }
}

/// The metadata event at an offset.
fn metadata_at(bytes: &[u8], offset: u64) -> Result<RawEvent<'_>, Error> {
    let event = RawEvents::at(bytes, offset)?;
    if event.type_id == METADATA_TYPE && offset >= HEADER_LEN as u64 {
        return Ok(event);
    }
    Err(Error::new(
        offset,
        ErrorKind::BadOffset(offset.cast_signed()),
    ))
}

fn read_metadata(bytes: &[u8], offset: u64, flaws: &mut Vec<Error>) -> Result<Metadata, Error> {
    let named = metadata_at(bytes, offset).and_then(|event| Metadata::parse(&event));
    let flaw = match named {
        Ok(metadata) => return Ok(metadata),
        Err(flaw) => flaw,
    };
    let events = chunks::events_of(bytes).map_while(Result::ok);
    let others: Vec<RawEvent<'_>> = events
        .filter(|event| event.type_id == METADATA_TYPE && event.offset != offset)
        .filter(|event| !event.is_padding())
        .collect();
    // The last one that can be read: behind it there may be paddings with remains in them.
    let found = others
        .iter()
        .rev()
        .find_map(|event| Metadata::parse(event).ok());
    let Some(metadata) = found else {
        return Err(match (flaw.kind(), others.last()) {
            (ErrorKind::BadOffset(_), None) => Error::new(
                flaw.at(),
                ErrorKind::BadMetadata("no metadata event in this chunk"),
            ),
            (ErrorKind::BadOffset(_), Some(last)) => match Metadata::parse(last) {
                Ok(_) => flaw,
                Err(why) => why,
            },
            _ => flaw,
        });
    };
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
