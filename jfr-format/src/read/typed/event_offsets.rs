//! Where the events of each type begin: one pass over a chunk for everyone who wants a few of them.

use super::metadata::{Metadata, TypeIndex};
use crate::read::raw::event::events_of;

/// Offsets of the events by type, each in file order, up to the first event without a sound size.
#[derive(Debug)]
pub(super) struct EventOffsets(Vec<Vec<u32>>);

impl EventOffsets {
    pub(super) fn of(bytes: &[u8], metadata: &Metadata) -> Self {
        let mut by_type = vec![Vec::new(); metadata.types().len()];
        for event in events_of(bytes).map_while(Result::ok) {
            // Metadata and checkpoint have reserved ids; a type that claims one of them is not
            // looked at.
            if event.type_id > 1
                && let Some(index) = metadata.index_of(event.type_id)
                && let Some(offsets) = by_type.get_mut(index.usize())
                && let Ok(offset) = u32::try_from(event.offset)
            {
                offsets.push(offset);
            }
        }
        Self(by_type)
    }

    pub(super) fn of_type(&self, index: TypeIndex) -> &[u32] {
        self.0.get(index.usize()).map_or(&[], Vec::as_slice)
    }
}
