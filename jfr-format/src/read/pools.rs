//! Constant pools: where each entry lies. Cost: one pass over the checkpoint events; values are decoded when asked for.

use std::collections::HashSet;

use super::chunks::RawEvents;
use super::cursor::Cursor;
use super::metadata::{Metadata, TypeIndex};
use crate::chunk::{CHECKPOINT_TYPE, HEADER_LEN};
use crate::error::{Error, ErrorKind};

/// Place of an entry in its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryIndex(pub(crate) u32);

impl EntryIndex {
    pub(crate) fn usize(self) -> usize {
        self.0 as usize
    }
}

/// The entries of one type in one chunk, ordered by key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pool {
    keys: Vec<u64>,
    offsets: Vec<u32>,
    places: Places,
}

/// How the place of a key is found.
#[derive(Debug, Clone, Default)]
enum Places {
    /// By halving.
    #[default]
    Search,
    /// Place by key, where keys are dense; [`NO_PLACE`] = none.
    Dense(Vec<u32>),
    /// Places by hash of the key, for the JDK's large method and stack keys. A key that found no slot near its own is not in it and
    /// is searched for: a hostile file can make that the rule, at no more than the price of a search.
    Hashed(Vec<u32>),
}

const NO_PLACE: u32 = u32::MAX;
/// Slots looked at for a key.
const PROBES: usize = 8;
/// Below this searching is as fast.
const HASHED_FROM: usize = 16;

impl Places {
    fn new(keys: &[u64]) -> Self {
        let Some(&most) = keys.last() else {
            return Self::Search;
        };
        if let Ok(len) = usize::try_from(most)
            && len <= keys.len() * 4 + 256
        {
            let mut dense = vec![NO_PLACE; len + 1];
            for (place, &key) in (0u32..).zip(keys) {
                if let Some(slot) = usize::try_from(key).ok().and_then(|key| dense.get_mut(key)) {
                    *slot = place;
                }
            }
            return Self::Dense(dense);
        }
        if keys.len() < HASHED_FROM {
            return Self::Search;
        }
        let mut hashed = vec![NO_PLACE; (keys.len() * 2).next_power_of_two()];
        for (place, &key) in (0u32..).zip(keys) {
            let mask = hashed.len() - 1;
            let free = (0..PROBES)
                .map(|n| (slot_of(key) + n) & mask)
                .find(|&slot| hashed[slot] == NO_PLACE);
            if let Some(slot) = free {
                hashed[slot] = place;
            }
        }
        Self::Hashed(hashed)
    }
}

/// Where the slots for a key begin, before the mask.
fn slot_of(key: u64) -> usize {
    // Multiplication by the golden ratio; its upper bits depend on all of the key's.
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

impl Pool {
    fn new(mut entries: Vec<(u64, u32)>) -> Self {
        // Checkpoints come newest first. Of entries with one key the oldest checkpoint's counts, and in it the last: as in the JDK.
        // The sort is stable, so that is the last of its group.
        if !entries.is_sorted_by_key(|&(key, _)| key) {
            entries.sort_by_key(|&(key, _)| key);
        }
        let mut keys = Vec::with_capacity(entries.len());
        let mut offsets: Vec<u32> = Vec::with_capacity(entries.len());
        for (key, offset) in entries {
            if keys.last() == Some(&key) {
                if let Some(last) = offsets.last_mut() {
                    *last = offset;
                }
            } else {
                keys.push(key);
                offsets.push(offset);
            }
        }
        let places = Places::new(&keys);
        Self {
            keys,
            offsets,
            places,
        }
    }

    #[inline]
    pub(crate) fn index_of(&self, key: u64) -> Option<EntryIndex> {
        match &self.places {
            Places::Dense(dense) => {
                let place = *dense.get(usize::try_from(key).ok()?)?;
                (place != NO_PLACE).then_some(EntryIndex(place))
            }
            Places::Hashed(hashed) => self.probe(hashed, key).or_else(|| self.search(key)),
            Places::Search => self.search(key),
        }
    }

    fn probe(&self, hashed: &[u32], key: u64) -> Option<EntryIndex> {
        let mask = hashed.len() - 1;
        for n in 0..PROBES {
            let place = hashed[(slot_of(key) + n) & mask];
            if self.keys.get(place as usize) == Some(&key) {
                return Some(EntryIndex(place));
            }
            if place == NO_PLACE {
                return None;
            }
        }
        None
    }

    fn search(&self, key: u64) -> Option<EntryIndex> {
        let index = self.keys.binary_search(&key).ok()?;
        u32::try_from(index).ok().map(EntryIndex)
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn key(&self, index: EntryIndex) -> Option<u64> {
        self.keys.get(index.usize()).copied()
    }

    pub(crate) fn offset(&self, index: EntryIndex) -> Option<u32> {
        self.offsets.get(index.usize()).copied()
    }

    pub(crate) fn offsets(&self) -> &[u32] {
        &self.offsets
    }
}

/// All pools of a chunk, by type.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pools {
    by_type: Vec<Option<Pool>>,
}

impl Pools {
    /// Follows the chain of checkpoints from `last`, the header's offset. What is wrong goes to `flaws`; what was read before counts.
    pub(crate) fn read(
        bytes: &[u8],
        last: u64,
        metadata: &Metadata,
        flaws: &mut Vec<Error>,
    ) -> Self {
        let mut entries: Vec<Vec<(u64, u32)>> = vec![Vec::new(); metadata.types().len()];
        // 0: no checkpoint was written, or the header was not finished.
        let whole_chain = last != 0 && follow_chain(bytes, last, metadata, &mut entries, flaws);
        if !whole_chain {
            // The chain is torn: take every checkpoint there is, newest first.
            entries.iter_mut().for_each(Vec::clear);
            let checkpoints: Vec<_> = super::chunks::events_of(bytes)
                .map_while(Result::ok)
                .filter(|event| event.type_id == CHECKPOINT_TYPE)
                .collect();
            for event in checkpoints.iter().rev() {
                let mut known = Vec::new();
                // The same flaw was noted in the chain, if it lies on it.
                let _ = read_checkpoint(event, metadata, &mut entries, &mut known);
            }
        }
        let pools = entries
            .into_iter()
            .map(|entries| (!entries.is_empty()).then(|| Pool::new(entries)))
            .collect();
        Self { by_type: pools }
    }

    #[inline]
    pub(crate) fn of(&self, index: TypeIndex) -> Option<&Pool> {
        self.by_type.get(index.usize())?.as_ref()
    }
}

/// Returns whether the chain was followed to its end.
fn follow_chain(
    bytes: &[u8],
    last: u64,
    metadata: &Metadata,
    entries: &mut [Vec<(u64, u32)>],
    flaws: &mut Vec<Error>,
) -> bool {
    let mut seen = HashSet::new();
    let mut offset = last;
    let mut limit = bytes.len() as u64;
    loop {
        let event = match RawEvents::at(bytes, offset) {
            // Each checkpoint ends before the next one begins: no circle, and every byte is looked at once.
            Ok(event)
                if event.type_id == CHECKPOINT_TYPE
                    && offset >= HEADER_LEN as u64
                    && offset + event.size <= limit
                    && seen.insert(offset) =>
            {
                event
            }
            _ => {
                flaws.push(Error::new(
                    offset,
                    ErrorKind::BadOffset(offset.cast_signed()),
                ));
                return false;
            }
        };
        let delta = match read_checkpoint(&event, metadata, entries, flaws) {
            Ok(delta) => delta,
            Err(flaw) => {
                flaws.push(flaw);
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
                flaws.push(Error::new(offset, ErrorKind::BadOffset(delta)));
                return false;
            }
        }
    }
}

/// Reads the entries' places; gives the distance to the previous checkpoint.
fn read_checkpoint(
    event: &super::RawEvent<'_>,
    metadata: &Metadata,
    entries: &mut [Vec<(u64, u32)>],
    flaws: &mut Vec<Error>,
) -> Result<i64, Error> {
    let mut cursor = Cursor::new(event.payload, event.payload_offset);
    cursor.skip_varint()?; // start
    cursor.skip_varint()?; // duration
    let delta = cursor.long()?;
    cursor.byte()?; // mask
    if let Err(flaw) = read_pools(&mut cursor, metadata, entries)
        && flaws.len() < super::chunks::MAX_DAMAGES
    {
        // The rest of this checkpoint is lost, the chain goes on.
        flaws.push(flaw);
    }
    Ok(delta)
}

fn read_pools(
    cursor: &mut Cursor<'_>,
    metadata: &Metadata,
    entries: &mut [Vec<(u64, u32)>],
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
        let Some(entries) = entries.get_mut(index.usize()) else {
            return Err(Error::new(at, ErrorKind::UnknownType(type_id)));
        };
        for _ in 0..count {
            let key = cursor.varint()?;
            let offset = cursor.offset();
            metadata.skip_struct(index, cursor)?;
            // Chunks are smaller than 4 GiB, see `chunks::MAX_CHUNK`.
            entries.push((key, u32::try_from(offset).unwrap_or(u32::MAX)));
        }
    }
    Ok(())
}
