//! Where ZGC has moved an object to. While a page is emptied, a table of the page maps the number
//! of an object to its new place; a reference that the collector has not updated yet leads to the
//! old place.

use crate::memory::Memory;
use crate::outcome::HeapFailure;
use core::cell::Cell;

/// Bytes that one entry of a table of pages stands for (log2).
const GRANULE_SHIFT: u32 = 21;
/// Entries of a page's table that are looked at.
const MAX_PROBES: usize = 256;
/// Entries of a page's table that are believed.
const MAX_ENTRIES: usize = 1 << 24;
/// Objects of one walk that had not moved when they were read.
const MAX_UNMOVED: usize = 4;

/// Fields of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocation {
    /// The array in a table of pages (`ZGranuleMap::_map`).
    pub pages: usize,
    /// First offset of the page (`ZForwarding::_virtual`, `_start`).
    pub start: usize,
    /// `ZForwarding::_object_alignment_shift`.
    pub alignment_shift: usize,
    /// Number of entries (`ZForwarding::_entries`, `_length`).
    pub length: usize,
    /// The entries: the size of a `ZForwarding`.
    pub entries: usize,
}

/// Objects that had not moved when a walk read them: (table of the page, number of the object).
#[derive(Debug, Default)]
pub(crate) struct Unmoved {
    objects: Cell<[(usize, usize); MAX_UNMOVED]>,
    count: Cell<usize>,
}

impl Unmoved {
    fn add(&self, table: usize, number: usize) -> Result<(), HeapFailure> {
        let mut objects = self.objects.get();
        let free = objects.get_mut(self.count.get());
        *free.ok_or(HeapFailure::Stale)? = (table, number);
        self.objects.set(objects);
        self.count.set(self.count.get().wrapping_add(1));
        Ok(())
    }
}

impl Relocation {
    /// Where the object at `offset` of the heap is now. `pages` is the table of pages.
    pub(crate) fn place(
        &self,
        memory: &impl Memory,
        pages: usize,
        offset: usize,
        unmoved: &Unmoved,
    ) -> Result<usize, HeapFailure> {
        let table = self.page(memory, pages, offset)?;
        if table == 0 {
            return Ok(offset);
        }
        let at = |field: usize| {
            memory
                .word(table.wrapping_add(field))
                .ok_or(HeapFailure::Stale)
        };
        let distance = offset.checked_sub(at(self.start)?);
        let shift = u32::try_from(at(self.alignment_shift)?).unwrap_or(u32::MAX);
        let (Some(distance), 0..=40) = (distance, shift) else {
            return Err(HeapFailure::Stale);
        };
        let number = distance.wrapping_shr(shift);
        match self.find(memory, table, number)? {
            Some(place) => Ok(place),
            None => unmoved.add(table, number).map(|()| offset),
        }
    }

    /// The table of the page at `offset`, 0 = the page is not being emptied.
    pub(crate) fn page(
        &self,
        memory: &impl Memory,
        pages: usize,
        offset: usize,
    ) -> Result<usize, HeapFailure> {
        let table = || {
            let array = memory.word(pages.wrapping_add(self.pages))?;
            let granule = offset.wrapping_shr(GRANULE_SHIFT);
            memory.word(array.wrapping_add(granule.wrapping_mul(8)))
        };
        table().ok_or(HeapFailure::Stale)
    }

    /// Whether what a walk has read is still at its old place.
    pub(crate) fn is_unmoved(&self, memory: &impl Memory, unmoved: &Unmoved) -> bool {
        let objects = unmoved.objects.get();
        objects
            .iter()
            .take(unmoved.count.get())
            .all(|(table, number)| self.find(memory, *table, *number) == Ok(None))
    }

    /// The new offset of object `number` of a page.
    fn find(
        &self,
        memory: &impl Memory,
        table: usize,
        number: usize,
    ) -> Result<Option<usize>, HeapFailure> {
        let word = |at: usize| {
            memory
                .word(table.wrapping_add(at))
                .ok_or(HeapFailure::Stale)
        };
        let length = word(self.length)?;
        if !length.is_power_of_two() || length > MAX_ENTRIES {
            return Err(HeapFailure::Stale);
        }
        let mask = length.wrapping_sub(1);
        let mut index = hash(number) & mask;
        for _ in 0..MAX_PROBES {
            let entry = word(self.entries.wrapping_add(index.wrapping_mul(8)))?;
            if entry & 1 == 0 {
                return Ok(None);
            }
            if entry.wrapping_shr(46) == number {
                return Ok(Some(entry.wrapping_shr(1) & ((1 << 45) - 1)));
            }
            index = index.wrapping_add(1) & mask;
        }
        Err(HeapFailure::Stale)
    }
}

/// The collector's hash of an object's number (`ZHash::uint32_to_uint32`).
fn hash(number: usize) -> usize {
    let [b0, b1, b2, b3, ..] = number.to_le_bytes();
    let mut key = u32::from_le_bytes([b0, b1, b2, b3]);
    key = (!key).wrapping_add(key.wrapping_shl(15));
    key ^= key.wrapping_shr(12);
    key = key.wrapping_add(key.wrapping_shl(2));
    key ^= key.wrapping_shr(4);
    key = key.wrapping_mul(2057);
    key ^= key.wrapping_shr(16);
    key as usize
}
