//! Where the block of a logical thread can be. Java looks in the same places (`Slab`).
//!
//! The preferred place is the low bits of the thread's id: threads that come one after the other
//! have neighbouring blocks. The further ones are spread over the whole table, each by a step of a
//! generator that starts from the id. So blocks of others that lie side by side do not fill the
//! places of one thread: with a share `a` of the table taken, all are with probability
//! `a^(PROBE_LIMIT - 1)`, at 90 % two of 10^12.
//!
//! Nobody tries all of them in vain: the block at a preferred place says by its *reach* how far the
//! threads are that prefer it, a bit for each class of places. Class `k` is the further places from
//! `2^k` to `2^(k+1) - 1`.

use crate::layout::PROBE_LIMIT;

/// Classes of further places: bits of a reach.
pub const CLASSES: u32 = PROBE_LIMIT.ilog2();
const MULTIPLIER: u64 = 0x5851_f42d_4c95_7f2d;
const INCREMENT: u64 = 0x1405_7b7e_f767_814f;

/// The further places of a thread, each with its class. They are to be taken modulo the size of the
/// table.
#[derive(Debug)]
pub struct FurtherPlaces {
    state: u64,
    index: u32,
}

impl FurtherPlaces {
    /// Those of the logical thread `tid`.
    pub fn of(tid: i64) -> Self {
        Self {
            state: tid.cast_unsigned(),
            index: 1,
        }
    }
}

impl Iterator for FurtherPlaces {
    type Item = (u32, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let class = (u32::BITS - 1).wrapping_sub(self.index.leading_zeros());
        if class >= CLASSES {
            return None;
        }
        self.index = self.index.wrapping_add(1);
        // A model has two places: the other one.
        self.state = if cfg!(loom) {
            self.state.wrapping_add(1)
        } else {
            self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT)
        };
        // The high bits are the random ones.
        let place = if cfg!(loom) {
            self.state
        } else {
            self.state >> 32
        };
        Some((class, place))
    }
}

#[cfg(test)]
mod tests;
