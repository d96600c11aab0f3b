//! Constant pools: where each entry lies. Cost: one pass over the checkpoint events; keys are
//! sorted in and values decoded when asked for.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::metadata::{Metadata, TypeIndex};
use super::pool::Pool;
use crate::chunk::{CHECKPOINT_AT, CHECKPOINT_TYPE, HEADER_LEN};
use crate::error::{Error, ErrorKind};
use crate::read::raw::corruption::MAX_CORRUPTIONS;
use crate::read::raw::cursor::Cursor;
use crate::read::raw::event::{RawEvent, RawEvents, events_of};

/// The entries of a type as they were met, and how they are found once somebody asks: most types of
/// a JDK recording nobody asks for.
#[derive(Debug, Default)]
struct Entries {
    met: Vec<(u64, u32)>,
    pool: OnceLock<Pool>,
}

/// All pools of a chunk, by type.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    by_type: Vec<Entries>,
}

impl Pools {
    /// Follows the chain of checkpoints from `last`, the header's offset. What is wrong goes to
    /// `errors`; what was read before counts.
    pub(crate) fn read(
        bytes: &[u8],
        last: u64,
        metadata: &Metadata,
        errors: &mut Vec<Error>,
    ) -> Self {
        let mut by_type = Vec::new();
        by_type.resize_with(metadata.types().len(), Entries::default);
        // 0: no checkpoint was written, or the header was not finished.
        let whole_chain = last != 0 && follow_chain(bytes, last, metadata, &mut by_type, errors);
        if !whole_chain {
            // The chain is torn: take every checkpoint there is, newest first.
            for entries in &mut by_type {
                entries.met.clear();
            }
            let checkpoints: Vec<_> = events_of(bytes)
                .map_while(Result::ok)
                .filter(|event| event.type_id == CHECKPOINT_TYPE)
                .collect();
            if last == 0 && !checkpoints.is_empty() {
                // No chain was followed, so nothing has been noted yet.
                errors.push(Error::new(CHECKPOINT_AT as u64, ErrorKind::BadOffset(0)));
            }
            for event in checkpoints.iter().rev() {
                let mut known = Vec::new();
                let read = read_checkpoint(event, metadata, &mut by_type, &mut known);
                // In a chain the same error was noted, if it lies on it.
                if last == 0 {
                    known.extend(read.err());
                    errors.extend(known);
                    errors.truncate(MAX_CORRUPTIONS);
                }
            }
        }
        Self { by_type }
    }

    #[inline]
    pub(crate) fn of(&self, index: TypeIndex) -> Option<&Pool> {
        let entries = self.by_type.get(index.usize())?;
        if entries.met.is_empty() {
            return None;
        }
        Some(entries.pool.get_or_init(|| Pool::new(&entries.met)))
    }
}

/// Returns whether the chain was followed to its end.
fn follow_chain(
    bytes: &[u8],
    last: u64,
    metadata: &Metadata,
    by_type: &mut [Entries],
    errors: &mut Vec<Error>,
) -> bool {
    let mut seen = HashSet::new();
    let mut offset = last;
    let mut limit = bytes.len() as u64;
    loop {
        let event = match RawEvents::at(bytes, offset) {
            // Each checkpoint ends before the next one begins: no circle, and every byte is looked
            // at once.
            Ok(event)
                if event.type_id == CHECKPOINT_TYPE
                    && offset >= HEADER_LEN as u64
                    && offset + event.size <= limit
                    && seen.insert(offset) =>
            {
                event
            }
            _ => {
                errors.push(Error::new(
                    offset,
                    ErrorKind::BadOffset(offset.cast_signed()),
                ));
                return false;
            }
        };
        let delta = match read_checkpoint(&event, metadata, by_type, errors) {
            Ok(delta) => delta,
            Err(error) => {
                errors.push(error);
                return false;
            }
        };
        if delta == 0 {
            return true;
        }
        limit = offset;
        match offset.checked_add_signed(delta) {
            Some(previous) if previous > 0 => offset = previous,
            _ => {
                errors.push(Error::new(offset, ErrorKind::BadOffset(delta)));
                return false;
            }
        }
    }
}

/// Reads the entries' places; gives the distance to the previous checkpoint.
fn read_checkpoint(
    event: &RawEvent<'_>,
    metadata: &Metadata,
    by_type: &mut [Entries],
    errors: &mut Vec<Error>,
) -> Result<i64, Error> {
    let mut cursor = Cursor::new(event.payload, event.payload_offset);
    cursor.skip_varint()?; // start
    cursor.skip_varint()?; // duration
    let delta = cursor.long()?;
    cursor.byte()?; // mask
    if let Err(error) = read_pools(&mut cursor, metadata, by_type)
        && errors.len() < MAX_CORRUPTIONS
    {
        // The rest of this checkpoint is lost, the chain goes on.
        errors.push(error);
    }
    Ok(delta)
}

fn read_pools(
    cursor: &mut Cursor<'_>,
    metadata: &Metadata,
    by_type: &mut [Entries],
) -> Result<(), Error> {
    let pools = cursor.count(2)?;
    for _ in 0..pools {
        let at = cursor.offset();
        let type_id = cursor.varint()?;
        let count = cursor.count(2)?;
        if count == 0 {
            continue;
        }
        let Some(index) = metadata.index_of(type_id) else {
            return Err(Error::new(at, ErrorKind::UnknownType(type_id)));
        };
        let Some(entries) = by_type.get_mut(index.usize()) else {
            return Err(Error::new(at, ErrorKind::UnknownType(type_id)));
        };
        for _ in 0..count {
            let key = cursor.varint()?;
            let offset = cursor.offset();
            metadata.skip_struct(index, cursor)?;
            // Chunks are smaller than 4 GiB, see `chunks::MAX_CHUNK`.
            entries
                .met
                .push((key, u32::try_from(offset).unwrap_or(u32::MAX)));
        }
    }
    Ok(())
}
