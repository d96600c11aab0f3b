//! The decoded entries of a chunk: texts, threads, methods, stacks. An entry is decoded when it is
//! first asked for, once per chunk.
//!
//! A recording of the JDK has stacks of a hundred event types; whoever wants the samples of one of
//! them must not pay for all.

use std::sync::{Arc, OnceLock};

use super::decode_plan::DecodePlans;
use super::rows::{RawMethod, RawStack, RawThread, Text};
use super::sample_columns::SampleColumns;
use crate::read::raw::cursor::RawString;
use crate::read::typed::chunk_data::ChunkData;
use crate::read::typed::metadata::{Metadata, Shape, TypeIndex};
use crate::read::typed::pool::{EntryIndex, Pool};

/// Most threads and methods of a chunk that get their names; bounds memory where entries are two
/// bytes long.
pub(super) const MAX_ROWS: usize = 1 << 20;
/// A cell per entry of a pool, filled when first asked for.
#[derive(Debug)]
pub(super) struct Cells<T>(OnceLock<Box<[OnceLock<T>]>>);

impl<T> Default for Cells<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Cells<T> {
    /// The cell at a place; `len` and `read` are called where there is none yet.
    #[inline]
    pub(super) fn get(
        &self,
        place: u32,
        len: impl FnOnce() -> usize,
        read: impl FnOnce() -> T,
    ) -> Option<&T> {
        let new_cells = || (0..len()).map(|_| OnceLock::new()).collect();
        let cells = self.0.get_or_init(new_cells);
        Some(cells.get(place as usize)?.get_or_init(read))
    }
}

/// What has been decoded. Borrows nothing from the chunk, so that it can be lent for any lifetime.
#[derive(Debug)]
pub(crate) struct Tables {
    /// By type: the texts of a simple type over strings, by place in its pool.
    texts: Vec<Cells<Option<Arc<str>>>>,
    pub(super) threads: Cells<RawThread>,
    pub(super) methods: Cells<RawMethod>,
    pub(super) stacks: Cells<RawStack>,
}

impl Tables {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        let mut texts = Vec::new();
        texts.resize_with(metadata.types().len(), Cells::default);
        Self {
            texts,
            threads: Cells::default(),
            methods: Cells::default(),
            stacks: Cells::default(),
        }
    }
}

/// A chunk's data, and what has been decoded of its pools.
#[derive(Debug)]
pub(crate) struct ProfileData<'a> {
    pub(crate) data: ChunkData<'a>,
    /// How the entries of the well-known pools are read.
    pub(crate) plans: Arc<DecodePlans>,
    pub(super) tables: Tables,
    /// How samples are read, by type, made when a type is first asked for.
    pub(super) sample_columns: Box<[OnceLock<Option<SampleColumns>>]>,
    /// Names of the attribute columns by slot.
    pub(super) column_names: OnceLock<Vec<(usize, Arc<str>)>>,
}

impl<'a> ProfileData<'a> {
    pub(crate) fn new(data: ChunkData<'a>, plans: Arc<DecodePlans>) -> Self {
        let types = data.metadata.types().iter();
        Self {
            tables: Tables::new(&data.metadata),
            sample_columns: types.map(|_| OnceLock::new()).collect(),
            column_names: OnceLock::new(),
            plans,
            data,
        }
    }
}

impl ProfileData<'_> {
    /// The text of an entry of the pool of strings, or of a simple type over one.
    #[inline]
    pub(crate) fn text_at(&self, ty: Option<TypeIndex>, place: u32) -> Option<&str> {
        self.text_cell(ty?, place)?.as_deref()
    }

    pub(crate) fn shared_text(&self, ty: Option<TypeIndex>, place: u32) -> Option<Arc<str>> {
        self.text_cell(ty?, place)?.clone()
    }

    #[inline]
    fn text_cell(&self, ty: TypeIndex, place: u32) -> Option<&Option<Arc<str>>> {
        self.tables.texts.get(ty.usize())?.get(
            place,
            || row_count(text_pool(self, ty), usize::MAX),
            || self.read_text(ty, place),
        )
    }

    fn read_text(&self, ty: TypeIndex, place: u32) -> Option<Arc<str>> {
        match self.data.entry_at(ty, EntryIndex(place))?.string().ok()? {
            RawString::Text(text) => Some(text.into()),
            // Only HotSpot's own Java events use the pool of strings; inside of pools nobody does.
            RawString::Null | RawString::PoolKey(_) => None,
        }
    }

    /// The text of a field of a decoded entry.
    pub(super) fn resolve<'c>(&'c self, text: &'c Text) -> Option<&'c str> {
        match text {
            Text::Null => None,
            Text::Here(text) => Some(text),
            Text::Pooled(place) => self.text_at(self.data.metadata.string_type, *place),
        }
    }
}

/// How many entries of a pool are decoded, at most `limit`.
pub(super) fn row_count(pool: Option<&Pool>, limit: usize) -> usize {
    pool.map_or(0, Pool::len).min(limit)
}

/// The pool of a type of texts: that of strings, or of a simple type over a string.
fn text_pool<'c>(profile: &'c ProfileData<'_>, index: TypeIndex) -> Option<&'c Pool> {
    let ty = profile.data.metadata.at(index);
    let is_text = match &ty.fields[..] {
        _ if ty.shape == Shape::Text => true,
        [field] => ty.simple && field.shape == Shape::Text && !field.array && !field.constant_pool,
        _ => false,
    };
    profile.data.pools.of(index).filter(|_| is_text)
}
