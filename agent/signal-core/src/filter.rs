//! The recording's own filter (`filter=`): which samples are wanted, by the context that they
//! carry.
//!
//! Set before a recording begins, while no handler is at work; read by handlers only. All
//! conditions must hold. Unlike the event mask of a block, which Java computes, it also judges
//! threads that have no block at all.

use crate::block::Values;
use crate::layout::{DETACHED_ID, HEX_BIT, OVERFLOW_ID, RAW_BIT, RAW_BYTES};
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Conditions that a filter can have.
pub const MAX_CONDITIONS: usize = 16;

/// One condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition<'a> {
    /// There is a context.
    Context,
    /// There is none.
    NoContext,
    /// The slot has a value.
    Key {
        /// The slot.
        slot: u32,
    },
    /// The slot has this value.
    Entry {
        /// The slot.
        slot: u32,
        /// Id of the value, 0 = the dictionary did not take it.
        id: u32,
        /// The value, for where it is written raw.
        text: &'a str,
    },
}

const CONTEXT: u32 = 1;
const NO_CONTEXT: u32 = 2;
const KEY: u32 = 3;
const ENTRY: u32 = 4;

/// A condition as handlers read it.
#[derive(Debug)]
struct Cell {
    kind: AtomicU32,
    slot: AtomicU32,
    id: AtomicU32,
    /// Bytes of the value, beyond [`RAW_BYTES`] if it cannot be a raw one.
    length: AtomicU32,
    raw: [AtomicU64; RAW_BYTES / 8],
}

/// The conditions; none = every sample is wanted.
#[derive(Debug)]
pub struct Filter {
    /// Event types that threads without a context may be recorded with: the application's own
    /// filter, which speaks through the blocks of the others.
    without_context: AtomicU32,
    count: AtomicU32,
    cells: [Cell; MAX_CONDITIONS],
}

impl Default for Filter {
    fn default() -> Self {
        Self::new()
    }
}

/// Set-up methods: never while handlers are at work.
impl Filter {
    /// Lets everything through.
    pub const fn new() -> Self {
        Self {
            without_context: AtomicU32::new(u32::MAX),
            count: AtomicU32::new(0),
            cells: [const { Cell::new() }; MAX_CONDITIONS],
        }
    }

    /// Puts `conditions` in place of those before; `false` and unchanged if there are more than
    /// [`MAX_CONDITIONS`].
    pub fn set(&self, conditions: &[Condition<'_>]) -> bool {
        if conditions.len() > MAX_CONDITIONS {
            return false;
        }
        for (cell, condition) in self.cells.iter().zip(conditions) {
            cell.set(*condition);
        }
        // Relaxed: `enabled` is stored after this and loaded before a handler comes here, both
        // SeqCst.
        self.count
            .store(u32::try_from(conditions.len()).unwrap_or(0), Relaxed);
        true
    }
}

impl Cell {
    const fn new() -> Self {
        Self {
            kind: AtomicU32::new(0),
            slot: AtomicU32::new(0),
            id: AtomicU32::new(0),
            length: AtomicU32::new(0),
            raw: [const { AtomicU64::new(0) }; RAW_BYTES / 8],
        }
    }

    fn set(&self, condition: Condition<'_>) {
        let (kind, slot, id, text) = match condition {
            Condition::Context => (CONTEXT, 0, 0, ""),
            Condition::NoContext => (NO_CONTEXT, 0, 0, ""),
            Condition::Key { slot } => (KEY, slot, 0, ""),
            Condition::Entry { slot, id, text } => (ENTRY, slot, id, text),
        };
        self.kind.store(kind, Relaxed);
        self.slot.store(slot, Relaxed);
        self.id.store(id, Relaxed);
        self.length
            .store(u32::try_from(text.len()).unwrap_or(u32::MAX), Relaxed);
        for (word, bytes) in self.raw.iter().zip(text.as_bytes().chunks(8)) {
            let mut eight = [0; 8];
            for (to, from) in eight.iter_mut().zip(bytes) {
                *to = *from;
            }
            word.store(u64::from_ne_bytes(eight), Relaxed);
        }
    }
}

/// At any time.
impl Filter {
    /// Sets the event types, one bit each, that threads without a context may be recorded with.
    pub fn set_without_context(&self, mask: u32) {
        // Relaxed: a sample more or less under the old filter does not matter.
        self.without_context.store(mask, Relaxed);
    }
}

/// Signal-safe methods.
impl Filter {
    /// Whether events of the type with this bit are wanted of a thread without a context.
    pub fn passes_without_context(&self, event_bit: u32) -> bool {
        self.without_context.load(Relaxed) & event_bit != 0
    }

    /// Whether a sample with this context is wanted; `None` = without, or with one that could not
    /// be read.
    pub fn passes(&self, values: Option<&Values>) -> bool {
        let count = self.count.load(Relaxed) as usize;
        self.cells.iter().take(count).all(|cell| cell.holds(values))
    }
}

impl Cell {
    fn holds(&self, values: Option<&Values>) -> bool {
        match self.kind.load(Relaxed) {
            CONTEXT => values.is_some(),
            NO_CONTEXT => values.is_none(),
            KEY => values.is_some_and(|v| self.id_in(v) != 0),
            _ => values.is_some_and(|v| self.is_entry(v)),
        }
    }

    fn id_in(&self, values: &Values) -> u32 {
        let slot = self.slot.load(Relaxed) as usize;
        values.ids.get(slot).copied().unwrap_or(0)
    }

    fn is_entry(&self, values: &Values) -> bool {
        let found = self.id_in(values);
        if matches!(found, 0 | OVERFLOW_ID | DETACHED_ID) {
            return false;
        }
        if found & RAW_BIT == 0 {
            return found == self.id.load(Relaxed);
        }
        let (offset, bytes) = (found.wrapping_shr(8) & 0xff, found & 0xff);
        let is_packed = found & HEX_BIT != 0;
        let length = bytes.wrapping_shl(u32::from(is_packed));
        length == self.length.load(Relaxed)
            && (0..length).all(|i| {
                let expected = byte(i, |word| self.raw.get(word).map(|w| w.load(Relaxed)));
                let at = offset.wrapping_add(i.wrapping_shr(u32::from(is_packed)));
                let there = byte(at, |word| values.raw.get(word).copied());
                let there = there.map(|there| if is_packed { digit(there, i) } else { there });
                expected.is_some() && expected == there
            })
    }
}

/// The hexadecimal digit `i` of packed ones, in its byte.
const fn digit(byte: u8, i: u32) -> u8 {
    let value = if i & 1 == 0 {
        byte.wrapping_shr(4)
    } else {
        byte & 0xf
    };
    let first = if value > 9 {
        b'a'.wrapping_sub(10)
    } else {
        b'0'
    };
    first.wrapping_add(value)
}

/// Byte `at` of an area of words in memory order, `None` outside of it.
fn byte(at: u32, word: impl Fn(usize) -> Option<u64>) -> Option<u8> {
    let bytes = word(at.wrapping_shr(3) as usize)?.to_ne_bytes();
    bytes.get((at & 7) as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(ids: &[u32], raw: &str) -> Values {
        let mut values = Values::default();
        for (to, from) in values.ids.iter_mut().zip(ids) {
            *to = *from;
        }
        let mut area = [0; RAW_BYTES];
        area[..raw.len()].copy_from_slice(raw.as_bytes());
        for (to, from) in values.raw.iter_mut().zip(area.chunks_exact(8)) {
            *to = u64::from_ne_bytes(from.try_into().expect("eight"));
        }
        values
    }

    fn filter(conditions: &[Condition<'_>]) -> Filter {
        let filter = Filter::new();
        assert!(filter.set(conditions));
        filter
    }

    #[test]
    fn too_many_conditions_are_refused_and_change_nothing() {
        let filter = filter(&[Condition::Context; MAX_CONDITIONS]);
        assert!(!filter.set(&[Condition::NoContext; MAX_CONDITIONS + 1]));
        assert_eq!(filter.count.load(Relaxed), 16);
        assert!(filter.set(&[]), "none at all");
    }

    #[test]
    fn without_conditions_everything_passes() {
        assert!(Filter::new().passes(None));
        assert!(Filter::new().passes(Some(&values(&[1], ""))));
    }

    #[test]
    fn a_thread_without_context_passes_only_where_that_is_asked_for() {
        assert!(filter(&[Condition::NoContext]).passes(None));
        for asked in [
            Condition::Context,
            Condition::Key { slot: 0 },
            Condition::Entry {
                slot: 0,
                id: 1,
                text: "a",
            },
        ] {
            assert!(!filter(&[asked]).passes(None), "{asked:?}");
        }
        assert!(!filter(&[Condition::NoContext]).passes(Some(&values(&[1], ""))));
        assert!(filter(&[Condition::Context]).passes(Some(&values(&[1], ""))));
    }

    #[test]
    fn all_conditions_must_hold() {
        let both = filter(&[
            Condition::Key { slot: 1 },
            Condition::Entry {
                slot: 0,
                id: 7,
                text: "acme",
            },
        ]);
        assert!(both.passes(Some(&values(&[7, 9], ""))));
        assert!(!both.passes(Some(&values(&[7, 0], ""))));
        assert!(!both.passes(Some(&values(&[8, 9], ""))));
        assert!(both.set(&[]), "the next recording asks nothing");
        assert!(both.passes(None));
    }

    #[test]
    fn a_raw_value_is_compared_by_its_bytes() {
        let f = filter(&[Condition::Entry {
            slot: 2,
            id: 0,
            text: "0af76519-16cd",
        }]);
        let raw = |offset: u32, length: u32| [0, 0, RAW_BIT | offset << 8 | length];
        assert!(f.passes(Some(&values(&raw(0, 13), "0af76519-16cd"))));
        assert!(f.passes(Some(&values(&raw(5, 13), "other0af76519-16cd"))));
        assert!(!f.passes(Some(&values(&raw(5, 12), "other0af76519-16cd"))));
        assert!(!f.passes(Some(&values(&raw(4, 13), "other0af76519-16cd"))));
        assert!(
            !f.passes(Some(&values(&raw(60, 13), "0af76519-16cd"))),
            "a place outside the area"
        );
    }

    #[test]
    fn packed_digits_are_compared_as_text() {
        let mut sampled = values(&[RAW_BIT | HEX_BIT | 8 << 8 | 4], "");
        sampled.raw[1] = u64::from_ne_bytes([0x0a, 0xf7, 0x65, 0x19, 0, 0, 0, 0]);
        for (text, is_equal) in [("0af76519", true), ("0af76518", false), ("0af7651", false)] {
            let f = filter(&[Condition::Entry {
                slot: 0,
                id: 0,
                text,
            }]);
            assert_eq!(f.passes(Some(&sampled)), is_equal, "{text}");
        }
    }

    #[test]
    fn a_value_that_is_not_in_the_dictionary_matches_no_absent_or_overflowed_one() {
        let f = filter(&[Condition::Entry {
            slot: 0,
            id: 0,
            text: "x",
        }]);
        assert!(!f.passes(Some(&values(&[0, 5], ""))));
        assert!(!f.passes(Some(&values(&[OVERFLOW_ID], ""))));
        assert!(!f.passes(Some(&values(&[5], ""))));
    }

    #[test]
    fn slots_that_do_not_exist_and_too_many_conditions_do_no_harm() {
        assert!(!filter(&[Condition::Key { slot: 99 }]).passes(Some(&values(&[1], ""))));
        assert!(!Filter::new().set(&[Condition::Context; MAX_CONDITIONS + 1]));
    }
}
