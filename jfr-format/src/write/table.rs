//! Content → key, with the pool entries ready to be written.
//!
//! The arena holds `key, value` exactly as a checkpoint wants them, so a flush copies a range of
//! it, and looking a value up compares bytes. Nothing is allocated for a value that is known.
//!
//! Two generations are kept: the current chunk's values, and those of the previous chunk with as
//! many older ones as [`KEPT_BYTES`] allow. A value that comes again gets its old key again, so
//! that a long recording of the same program does not end up with long keys. Memory is bounded by
//! two chunks.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use crate::declare::EVENT_IDS;
use crate::{chunk, varint};

/// Bytes of values in one table; beyond it there are no new keys until the next chunk.
const MAX_ARENA: usize = 1 << 30;
/// Memory up to which values that the last chunk did not use are remembered, the longest unused
/// ones least.
const KEPT_BYTES: usize = 128 << 10;
/// An empty generation keeps at most this much memory of each kind for the next chunk; more is
/// given back.
const SPARE_BYTES: usize = 2 * KEPT_BYTES;
/// Memory of a place, with its share of the free ones: half of them, after the index has grown.
const PLACE_BYTES: usize = 2 * size_of::<Place>();
/// Readers take keys as 32-bit signed numbers.
const MAX_KEY: u32 = i32::MAX as u32;

/// Which numbers are keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbering {
    /// 1, 2, 3, …
    Dense,
    /// As may stand right after `contextLength`: no declared event id, nor an id that means
    /// something.
    AfterContextLength,
}

impl Numbering {
    fn first(self) -> u32 {
        match self {
            Self::Dense => 1,
            // 1 is a checkpoint.
            Self::AfterContextLength => 2,
        }
    }

    fn after(self, key: u32) -> u32 {
        let next = key + 1;
        match self {
            Self::AfterContextLength if u64::from(next) == chunk::HEADER_TYPE => next + 1,
            Self::AfterContextLength if next == u32::from(*EVENT_IDS.start()) => {
                u32::from(*EVENT_IDS.end()) + 1
            }
            Self::Dense | Self::AfterContextLength => next,
        }
    }
}

/// Values of one chunk.
#[derive(Debug, Default)]
struct Generation {
    arena: Vec<u8>,
    places: HashTable<Place>,
}

/// A value's key, and where it lies in the arena.
#[derive(Debug, Clone, Copy)]
struct Place {
    key: u32,
    start: u32,
    end: u32,
}

impl Place {
    fn of<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.start as usize..self.end as usize]
    }
}

impl Generation {
    fn find(&self, hash: u64, value: &[u8]) -> Option<u32> {
        let is_value = |place: &Place| place.of(&self.arena) == value;
        self.places.find(hash, is_value).map(|place| place.key)
    }

    /// Adds a value that is not there; `None` if there is no room.
    fn add(&mut self, seed: Seed, hash: u64, key: u32, value: &[u8]) -> Option<()> {
        if self.arena.len() + value.len() + varint::MAX_LEN > MAX_ARENA {
            return None;
        }
        varint::put(&mut self.arena, u64::from(key));
        let start = u32::try_from(self.arena.len()).ok()?;
        self.arena.extend_from_slice(value);
        let end = u32::try_from(self.arena.len()).ok()?;
        let arena = &self.arena;
        let rehash = |place: &Place| seed.hash(place.of(arena));
        self.places
            .insert_unique(hash, Place { key, start, end }, rehash);
        Some(())
    }

    /// Adds the values of an older generation, in its order, while there is room.
    ///
    /// A generation holds what its chunk used first and what it took over after that: the order is
    /// that of the last use.
    fn take_over(&mut self, seed: Seed, older: &Self) {
        let mut places: Vec<Place> = older.places.iter().copied().collect();
        places.sort_unstable_by_key(|place| place.start);
        for place in places {
            let value = place.of(&older.arena);
            let used = self.arena.len() + self.places.len() * PLACE_BYTES;
            if used + value.len() + PLACE_BYTES > KEPT_BYTES {
                return;
            }
            let hash = seed.hash(value);
            if self.find(hash, value).is_none() && self.add(seed, hash, place.key, value).is_none()
            {
                return;
            }
        }
    }

    /// Empties the table, and gives memory back that is much, or that this chunk used less than a
    /// quarter of.
    fn clear(&mut self) {
        let capacity = self.arena.capacity();
        if capacity > SPARE_BYTES || self.arena.len() < capacity / 4 {
            self.arena = Vec::new();
        }
        self.arena.clear();
        let capacity = self.places.capacity();
        if self.places.allocation_size() > SPARE_BYTES || self.places.len() < capacity / 4 {
            self.places = HashTable::new();
        }
        self.places.clear();
    }

    fn bytes(&self) -> usize {
        self.arena.capacity() + self.places.allocation_size()
    }
}

/// The values of one type.
#[derive(Debug)]
pub(super) struct Table {
    numbering: Numbering,
    next: u32,
    current: Generation,
    previous: Generation,
    /// How much of the current arena is in the file.
    written: usize,
    unwritten: u32,
    seed: Seed,
}

impl Table {
    pub(super) fn new(numbering: Numbering) -> Self {
        Self {
            numbering,
            next: numbering.first(),
            current: Generation::default(),
            previous: Generation::default(),
            written: 0,
            unwritten: 0,
            seed: Seed::random(),
        }
    }

    /// Key of `value`, and whether it is new in this chunk. Key 0 = the table is full.
    pub(super) fn intern(&mut self, value: &[u8]) -> (u32, bool) {
        let hash = self.seed.hash(value);
        if let Some(key) = self.current.find(hash, value) {
            return (key, false);
        }
        self.insert(hash, value)
    }

    fn insert(&mut self, hash: u64, value: &[u8]) -> (u32, bool) {
        let known = self.previous.find(hash, value);
        let key = known.unwrap_or(self.next);
        if key > MAX_KEY || self.current.add(self.seed, hash, key, value).is_none() {
            return (0, false);
        }
        if known.is_none() {
            self.next = self.numbering.after(key);
        }
        self.unwritten += 1;
        (key, true)
    }

    /// Entries that are not in the file yet: their number and their bytes.
    pub(super) fn unflushed(&self) -> (u32, &[u8]) {
        (self.unwritten, &self.current.arena[self.written..])
    }

    /// The unwritten entries are in the file now.
    pub(super) fn mark_flushed(&mut self) {
        self.written = self.current.arena.len();
        self.unwritten = 0;
    }

    /// Begins a chunk: the values so far become the previous generation.
    pub(super) fn rotate(&mut self) {
        std::mem::swap(&mut self.current, &mut self.previous);
        self.previous.take_over(self.seed, &self.current);
        self.current.clear();
        self.mark_flushed();
    }

    /// Forgets all values; keys go on counting.
    pub(super) fn forget(&mut self) {
        self.current.clear();
        self.previous.clear();
        self.mark_flushed();
    }

    pub(super) fn bytes(&self) -> usize {
        self.current.bytes() + self.previous.bytes()
    }
}

/// The secret of a keyed hash. Attribute values come from requests: nobody outside may know which
/// of them collide.
#[derive(Debug, Clone, Copy)]
struct Seed([u64; 2]);

impl Seed {
    fn random() -> Self {
        let random = RandomState::new();
        Self([random.hash_one(0u8), random.hash_one(1u8) | 1])
    }

    /// By folded multiplication, eight bytes a step.
    fn hash(self, bytes: &[u8]) -> u64 {
        let [start, factor] = self.0;
        let (words, tail) = bytes.as_chunks::<8>();
        let mut last = [0u8; 8];
        last[..tail.len()].copy_from_slice(tail);
        let steps = words.iter().chain([&last]);
        steps.fold(start ^ bytes.len() as u64, |hash, word| {
            fold(hash ^ u64::from_le_bytes(*word), factor)
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "low and high half are combined"
)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn values_with_the_same_hash_are_different_values() {
        let mut generation = Generation::default();
        for (key, value) in [(1, b"one"), (2, b"two")] {
            assert_eq!(generation.find(7, value), None);
            generation.add(Seed([0; 2]), 7, key, value).expect("room");
        }
        assert_eq!(generation.find(7, b"one"), Some(1));
        assert_eq!(generation.find(7, b"two"), Some(2));
        assert_eq!(generation.find(7, b"six"), None);
    }

    #[test]
    fn same_content_same_key() {
        let mut table = Table::new(Numbering::Dense);
        assert_eq!(table.intern(b"a"), (1, true));
        assert_eq!(table.intern(b"b"), (2, true));
        assert_eq!(table.intern(b"a"), (1, false));
        assert_eq!(table.unflushed(), (2, &b"\x01a\x02b"[..]));
        table.mark_flushed();
        assert_eq!(table.unflushed(), (0, &b""[..]));
    }

    #[test]
    fn value_of_previous_chunk_keeps_its_key() {
        let mut table = Table::new(Numbering::Dense);
        table.intern(b"a");
        table.intern(b"b");
        table.mark_flushed();
        table.rotate();
        assert_eq!(table.intern(b"b"), (2, true));
        assert_eq!(table.intern(b"c"), (3, true));
        assert_eq!(table.unflushed(), (2, &b"\x02b\x03c"[..]));
        table.rotate();
        // Not used in the last chunk: still known.
        assert_eq!(table.intern(b"a"), (1, true));
        assert_eq!(table.unflushed(), (1, &b"\x01a"[..]));
    }

    #[test]
    fn forgotten_keys_are_never_reused() {
        let mut table = Table::new(Numbering::Dense);
        table.intern(b"old");
        let per_chunk = 1000u32;
        // Twice what is kept.
        let chunks = 2 * u32::try_from(KEPT_BYTES).unwrap() / (per_chunk * 16);
        for chunk in 0..chunks {
            table.rotate();
            assert_eq!(table.intern(b"steady").0, 2);
            for i in 0..per_chunk {
                table.intern(&(chunk * per_chunk + i).to_le_bytes());
            }
            assert!(table.bytes() <= 4 * KEPT_BYTES, "{}", table.bytes());
        }
        let most = 2 + chunks * per_chunk;
        assert_eq!(table.intern(b"old"), (most + 1, true));
    }

    #[test]
    fn memory_of_a_large_chunk_is_freed() {
        let full = || {
            let mut table = Table::new(Numbering::Dense);
            for i in 0..100_000u32 {
                table.intern(&i.to_le_bytes());
            }
            table
        };
        let few = 4 * SPARE_BYTES;
        let mut table = full();
        assert!(table.bytes() > few, "{}", table.bytes());
        table.rotate();
        table.rotate();
        assert!(table.bytes() <= few, "{}", table.bytes());
        let mut table = full();
        table.forget();
        assert!(table.bytes() <= few, "{}", table.bytes());
    }

    #[test]
    fn keys_after_a_context_length_are_no_event_ids() {
        let mut table = Table::new(Numbering::AfterContextLength);
        let keys: Vec<_> = (0..200u32)
            .map(|i| table.intern(&i.to_le_bytes()).0)
            .collect();
        assert!(keys.is_sorted());
        assert_eq!(keys[0], 2);
        assert!(keys.iter().all(|k| *k != 76 && !(100..128).contains(k)));
        assert_eq!(keys[96..98], [99, 128]);
    }

    #[test]
    fn many_values_keep_their_keys() {
        let mut table = Table::new(Numbering::Dense);
        let keys: Vec<_> = (0..10_000u32)
            .map(|i| table.intern(&i.to_le_bytes()).0)
            .collect();
        for (i, key) in (0..10_000u32).zip(keys) {
            assert_eq!(table.intern(&i.to_le_bytes()), (key, false));
        }
    }
}
