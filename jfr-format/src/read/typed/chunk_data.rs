//! The bytes of a chunk with what gives them a meaning: its types, and where its pool entries lie.

use std::sync::{Arc, OnceLock};

use super::event_offsets::EventOffsets;
use super::metadata::{Metadata, TypeIndex};
use super::pool::EntryIndex;
use super::pools::Pools;
use crate::chunk::Header;
use crate::read::raw::cursor::Cursor;

/// What values need. Its caches borrow nothing, so that it can be lent for any lifetime.
#[derive(Debug)]
pub(crate) struct ChunkData<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) header: Header,
    pub(crate) metadata: Arc<Metadata>,
    pub(crate) pools: Pools,
    /// Found when first asked for.
    event_offsets: OnceLock<EventOffsets>,
}

impl<'a> ChunkData<'a> {
    pub(crate) fn new(
        bytes: &'a [u8],
        header: Header,
        metadata: Arc<Metadata>,
        pools: Pools,
    ) -> Self {
        Self {
            bytes,
            header,
            metadata,
            pools,
            event_offsets: OnceLock::new(),
        }
    }

    /// Offsets of the events of a type, in file order.
    pub(crate) fn event_offsets(&self, index: TypeIndex) -> &[u32] {
        let found = || EventOffsets::of(self.bytes, &self.metadata);
        self.event_offsets.get_or_init(found).of_type(index)
    }

    fn cursor_at(&self, offset: u32) -> Cursor<'a> {
        let rest = self.bytes.get(offset as usize..).unwrap_or_default();
        Cursor::new(rest, offset.into())
    }

    /// A cursor at the start of the entry at a place of a pool.
    pub(crate) fn entry_at(&self, ty: TypeIndex, entry: EntryIndex) -> Option<Cursor<'a>> {
        let offset = self.pools.of(ty)?.offset(entry)?;
        Some(self.cursor_at(offset))
    }
}
