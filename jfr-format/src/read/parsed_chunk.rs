//! A chunk whose types and pools have been read: what levels 2 and 3 offer, in one type.

use std::sync::Arc;

use super::profile::decode_plan::DecodePlans;
use super::profile::descriptions::{Setting, TextBudget};
use super::profile::sample_columns::SampleColumns;
use super::profile::samples::{Sample, Samples};
use super::profile::tables::ProfileData;
use super::raw::chunks::Chunk;
use super::raw::corruption::Corruption;
use super::raw::event::{RawEvent, RawEvents, events_of};
use super::typed::chunk_data::ChunkData;
use super::typed::event::{Event, Events};
use super::typed::metadata::{Metadata, Type, TypeIndex};
use super::typed::metadata_event::{content, metadata_at, read_metadata};
use super::typed::pool::Pool;
use super::typed::pools::Pools;
use super::typed::value::Value;
use crate::chunk::Header;
use crate::error::Error;

/// The types of a chunk, and how the well-known ones are read.
#[derive(Debug, Clone)]
struct Types {
    metadata: Arc<Metadata>,
    plans: Arc<DecodePlans>,
}

impl Types {
    fn new(metadata: Metadata) -> Self {
        let plans = Arc::new(DecodePlans::new(&metadata));
        let metadata = Arc::new(metadata);
        Self { metadata, plans }
    }
}

/// Parses one chunk after the other, and reads their metadata only where they differ from those of
/// the last chunk: a JDK recording has 100 KB of them in every chunk, nearly always the same. Costs
/// a copy of those bytes. One per thread.
#[derive(Debug, Default)]
pub struct ChunkParser {
    /// A metadata event from its id on, and what it says.
    last: Option<(Box<[u8]>, Types)>,
}

impl ChunkParser {
    /// Knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads metadata, if they are new, and the places of the pool entries.
    ///
    /// Where the header's offsets lead nowhere, the events are searched for metadata and
    /// checkpoints; see [`ParsedChunk::corruptions`].
    ///
    /// # Errors
    /// When there is no readable metadata: without it nothing in the chunk has a meaning.
    pub fn parse<'a>(&mut self, chunk: &Chunk<'a>) -> Result<ParsedChunk<'a>, Error> {
        let bytes = chunk.bytes;
        let mut errors = Vec::new();
        let types = self.types(bytes, chunk.header.metadata, &mut errors)?;
        Ok(ParsedChunk::with(chunk, types, errors))
    }

    fn types(
        &mut self,
        bytes: &[u8],
        offset: u64,
        errors: &mut Vec<Error>,
    ) -> Result<Types, Error> {
        let content = metadata_at(bytes, offset)
            .ok()
            .and_then(|event| content(&event));
        if let Some((known, types)) = &self.last
            && content == Some(&**known)
        {
            return Ok(types.clone());
        }
        let types = Types::new(read_metadata(bytes, offset, errors)?);
        if let Some(content) = content
            && errors.is_empty()
        {
            self.last = Some((content.into(), types.clone()));
        }
        Ok(types)
    }
}

/// A chunk whose metadata and checkpoints have been read.
#[derive(Debug)]
pub struct ParsedChunk<'a> {
    profile: ProfileData<'a>,
    offset: u64,
    corruptions: Vec<Corruption>,
}

impl<'a> ParsedChunk<'a> {
    /// Parses a single chunk; for many a [`ChunkParser`] is faster.
    ///
    /// # Errors
    /// As in [`ChunkParser::parse`].
    pub fn new(chunk: &Chunk<'a>) -> Result<Self, Error> {
        ChunkParser::new().parse(chunk)
    }

    fn with(chunk: &Chunk<'a>, types: Types, mut errors: Vec<Error>) -> Self {
        let (bytes, header) = (chunk.bytes, chunk.header);
        let pools = Pools::read(bytes, header.checkpoint, &types.metadata, &mut errors);
        let data = ChunkData::new(bytes, header, types.metadata, pools);
        let corruption = |error| Corruption {
            chunk_offset: chunk.offset,
            error,
        };
        Self {
            profile: ProfileData::new(data, types.plans),
            offset: chunk.offset,
            corruptions: errors.into_iter().map(corruption).collect(),
        }
    }

    /// The chunk's header.
    pub fn header(&self) -> &Header {
        &self.profile.data.header
    }

    /// The types.
    pub fn metadata(&self) -> &Metadata {
        &self.profile.data.metadata
    }

    /// Offset of the chunk in its file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What was wrong with metadata or checkpoints, and did not stop the reading.
    pub fn corruptions(&self) -> &[Corruption] {
        &self.corruptions
    }

    /// All events in file order, also those of unknown types.
    pub fn raw_events(&self) -> RawEvents<'a> {
        events_of(self.profile.data.bytes)
    }
}

/// Level 2: events and pool entries as values.
impl ParsedChunk<'_> {
    /// The events of declared types in file order; metadata, checkpoints and unknown types are left
    /// out.
    pub fn events(&self) -> Events<'_> {
        self.profile.data.events()
    }

    /// The event of a record, if its type is declared.
    pub fn event<'c>(&'c self, raw: &RawEvent<'c>) -> Option<Event<'c>> {
        self.profile.data.event(raw)
    }

    /// An event of the type at a place.
    pub(super) fn event_of<'c>(&'c self, index: TypeIndex, raw: RawEvent<'c>) -> Event<'c> {
        self.profile.data.event_of(index, raw)
    }

    /// The events of one type, by name.
    pub fn events_named(&self, name: &str) -> impl Iterator<Item = Event<'_>> {
        self.profile.data.events_named(name)
    }

    /// Offsets of the events of a type from the chunk's start, in file order. The first call costs a
    /// pass over all events, and four bytes for each.
    pub fn event_offsets(&self, index: TypeIndex) -> &[u32] {
        self.profile.data.event_offsets(index)
    }

    /// How many entries the pool of a type has.
    pub fn pool_len(&self, index: TypeIndex) -> usize {
        self.profile.data.pools.of(index).map_or(0, Pool::len)
    }

    /// The entries of a pool, ordered by key.
    pub fn pool(&self, index: TypeIndex) -> impl Iterator<Item = (u64, Value<'_>)> {
        let data = &self.profile.data;
        let pool = data.pools.of(index);
        let keys = pool.map(Pool::sorted_keys).unwrap_or_default();
        keys.into_iter()
            .filter_map(move |key| Some((key, data.pool_value(index, key)?)))
    }
}

/// Level 3: samples, and what the recording says about itself.
impl ParsedChunk<'_> {
    /// The samples of the event types that `wanted` picks, in file order. An event that cannot be
    /// read is an error and not the end; an event without a sound size ends the chunk.
    pub fn samples(&self, wanted: impl Fn(&Type) -> bool) -> Samples<'_> {
        self.profile.samples(wanted)
    }

    /// An event as a sample; `None` if it has neither a stack nor an attribute column.
    ///
    /// # Errors
    /// When a field cannot be read.
    pub fn sample<'c>(&'c self, event: &Event<'c>) -> Result<Option<Sample<'c>>, Error> {
        self.profile.sample(event)
    }

    /// How the events of a type become samples; `None` if it has neither a stack nor an attribute
    /// column.
    pub fn sample_columns(&self, index: TypeIndex) -> Option<&SampleColumns> {
        self.profile.columns_of(index)
    }

    /// What the first `limit` events of a type say, by `read`; events that it gives nothing for are
    /// left out.
    ///
    /// Texts are copied by the [`TextBudget`]: from the event on whose texts would make the copies
    /// longer than the chunk (or 1 MiB, if that is more) everything is left out.
    pub fn rows_of<T>(
        &self,
        type_name: &str,
        limit: usize,
        read: impl Fn(&Event<'_>, &mut TextBudget) -> Option<T>,
    ) -> Vec<T> {
        self.profile.data.rows_of(type_name, limit, read)
    }

    /// The settings in force (`jdk.ActiveSetting`), within a [`TextBudget`].
    pub fn settings(&self) -> Vec<Setting> {
        self.profile.data.settings()
    }
}
