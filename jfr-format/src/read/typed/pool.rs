//! The entries of one type: how the place of a key is found.

use std::collections::HashMap;

/// Place of an entry in its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryIndex(pub(crate) u32);

impl From<EntryIndex> for u32 {
    fn from(entry: EntryIndex) -> Self {
        entry.0
    }
}

impl EntryIndex {
    pub(crate) fn usize(self) -> usize {
        self.0 as usize
    }
}

/// The entries of one type in one chunk, each key once.
#[derive(Debug)]
pub(crate) struct Pool {
    keys: Vec<u64>,
    offsets: Vec<u32>,
    index: KeyIndex,
}

/// How the place of a key is found.
#[derive(Debug)]
enum KeyIndex {
    /// By looking at each: there are few.
    Few,
    /// Place by key, where keys are dense; [`NO_PLACE`] = none.
    Dense(Vec<u32>),
    /// By hash of the key, for the JDK's large method and stack keys.
    Hashed(Hashed),
}

/// `KeyIndex` by hash. A key that finds no slot near its own goes to `overflow`: a hostile file can
/// make that the rule, at no more than the price of a map whose hash it cannot foresee.
#[derive(Debug)]
struct Hashed {
    slots: Vec<u32>,
    overflow: HashMap<u64, u32>,
}

/// What a look at the slots of a key found.
enum Probe {
    Found(u32),
    Free(usize),
    Overflow,
}

const NO_PLACE: u32 = u32::MAX;
/// Slots looked at for a key.
const PROBES: usize = 8;
/// Below this looking at each is as fast.
const HASHED_FROM: usize = 16;

/// Where the slots for a key begin, before the mask.
fn slot_of(key: u64) -> usize {
    // Multiplication by the golden ratio; its upper bits depend on all of the key's.
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

impl Hashed {
    fn new(entries: usize) -> Self {
        Self {
            slots: vec![NO_PLACE; (entries * 2).next_power_of_two()],
            overflow: HashMap::new(),
        }
    }

    #[inline]
    fn probe(&self, keys: &[u64], key: u64) -> Probe {
        let mask = self.slots.len() - 1;
        for n in 0..PROBES {
            let slot = (slot_of(key) + n) & mask;
            let place = self.slots[slot];
            if place == NO_PLACE {
                return Probe::Free(slot);
            }
            if keys.get(place as usize) == Some(&key) {
                return Probe::Found(place);
            }
        }
        Probe::Overflow
    }

    #[inline]
    fn get(&self, keys: &[u64], key: u64) -> Option<u32> {
        match self.probe(keys, key) {
            Probe::Found(place) => Some(place),
            Probe::Free(_) => None,
            Probe::Overflow => self.overflow.get(&key).copied(),
        }
    }

    /// The place of a key that is there, or `next` for one that is not.
    fn insert(&mut self, keys: &[u64], key: u64, next: u32) -> u32 {
        match self.probe(keys, key) {
            Probe::Found(place) => place,
            Probe::Free(slot) => {
                self.slots[slot] = next;
                next
            }
            Probe::Overflow => *self.overflow.entry(key).or_insert(next),
        }
    }
}

impl KeyIndex {
    fn new(entries: &[(u64, u32)]) -> Self {
        let most = entries.iter().map(|&(key, _)| key).max().unwrap_or(0);
        if let Ok(most) = usize::try_from(most)
            && most <= entries.len() * 4 + 256
        {
            return Self::Dense(vec![NO_PLACE; most + 1]);
        }
        if entries.len() < HASHED_FROM {
            return Self::Few;
        }
        Self::Hashed(Hashed::new(entries.len()))
    }

    #[inline]
    fn get(&self, keys: &[u64], key: u64) -> Option<u32> {
        match self {
            Self::Dense(dense) => {
                let place = *dense.get(usize::try_from(key).ok()?)?;
                (place != NO_PLACE).then_some(place)
            }
            _ => self.get_sparse(keys, key),
        }
    }

    fn get_sparse(&self, keys: &[u64], key: u64) -> Option<u32> {
        match self {
            Self::Hashed(hashed) => hashed.get(keys, key),
            Self::Dense(_) | Self::Few => {
                let place = keys.iter().position(|&found| found == key)?;
                u32::try_from(place).ok()
            }
        }
    }

    /// The place of a key that is there, or `next` for one that is not.
    fn insert(&mut self, keys: &[u64], key: u64, next: u32) -> u32 {
        match self {
            Self::Dense(dense) => {
                // As long as the greatest key.
                let slot = usize::try_from(key).ok();
                let Some(slot) = slot.and_then(|key| dense.get_mut(key)) else {
                    return next;
                };
                if *slot == NO_PLACE {
                    *slot = next;
                }
                *slot
            }
            Self::Hashed(hashed) => hashed.insert(keys, key, next),
            Self::Few => self.get(keys, key).unwrap_or(next),
        }
    }
}

impl Pool {
    /// The entries as they were met: key and offset.
    pub(super) fn new(entries: &[(u64, u32)]) -> Self {
        let mut pool = Self {
            keys: Vec::with_capacity(entries.len()),
            offsets: Vec::with_capacity(entries.len()),
            index: KeyIndex::new(entries),
        };
        // Checkpoints come newest first. Of entries with one key the oldest checkpoint's counts,
        // and in it the last: as in the JDK. That is the last one here.
        for &(key, offset) in entries {
            // Entries take a byte at least in a chunk below 4 GiB.
            let next = u32::try_from(pool.keys.len()).unwrap_or(NO_PLACE);
            let place = pool.index.insert(&pool.keys, key, next);
            if let Some(known) = pool.offsets.get_mut(place as usize) {
                *known = offset;
            } else {
                pool.keys.push(key);
                pool.offsets.push(offset);
            }
        }
        pool
    }

    #[inline]
    pub(crate) fn index_of(&self, key: u64) -> Option<EntryIndex> {
        self.index.get(&self.keys, key).map(EntryIndex)
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The keys in rising order.
    pub(crate) fn sorted_keys(&self) -> Vec<u64> {
        let mut keys = self.keys.clone();
        keys.sort_unstable();
        keys
    }

    pub(crate) fn offset(&self, index: EntryIndex) -> Option<u32> {
        self.offsets.get(index.usize()).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Entries as a chunk may have them, and every key that is not there.
    fn check(keys: &[u64]) {
        let entries: Vec<(u64, u32)> = keys.iter().copied().zip(100..).collect();
        let pool = Pool::new(&entries);
        // Of two with one key the last counts.
        let expected: BTreeMap<u64, u32> = entries.iter().copied().collect();
        assert_eq!(pool.len(), expected.len());
        let keys: Vec<u64> = expected.keys().copied().collect();
        assert_eq!(pool.sorted_keys(), keys);
        for (&key, &offset) in &expected {
            let place = pool.index_of(key);
            assert_eq!(place.and_then(|place| pool.offset(place)), Some(offset));
            assert!(place.is_some_and(|place| place.usize() < pool.len()));
            for absent in [key ^ 1, key.wrapping_add(7), !key] {
                let found = pool.index_of(absent).is_some();
                assert_eq!(found, expected.contains_key(&absent), "{absent}");
            }
        }
    }

    #[test]
    fn every_key_is_found_whatever_the_keys_are() {
        let many = |step: u64| (0..1000).map(|n| n * step).collect::<Vec<u64>>();
        check(&[7]);
        check(&[5, 3, 5, u64::MAX, 3, 0]);
        check(&many(1));
        check(&many(0x1_0000_0001));
        check(&many(u64::MAX / 1000));
        // Twice over, backwards the second time.
        let mut twice = many(0xfff_ffff);
        twice.extend(many(0xfff_ffff).iter().rev());
        check(&twice);
    }

    #[test]
    fn keys_that_all_want_one_slot_are_found_too() {
        // The inverse of the multiplier of `slot_of` makes keys whose products differ in the lower
        // half only.
        let inverse = (0..6).fold(1u64, |inverse, _| {
            let multiplier = 0x9e37_79b9_7f4a_7c15u64;
            inverse.wrapping_mul(2u64.wrapping_sub(multiplier.wrapping_mul(inverse)))
        });
        let keys: Vec<u64> = (1..2000u64).map(|n| n.wrapping_mul(inverse)).collect();
        assert!(keys.iter().all(|&key| slot_of(key) == 0));
        check(&keys);
    }
}
