//! One cell per counter. What cannot be done in a handler is counted here, never logged.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
pub use schema::counter::Counter;

/// A cell per counter. Relaxed everywhere: counters are reported and never decide anything.
#[derive(Debug)]
pub struct Counters {
    cells: [AtomicU64; Counter::COUNT],
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}

/// Set-up methods.
impl Counters {
    /// All zero.
    pub const fn new() -> Self {
        Self {
            cells: [const { AtomicU64::new(0) }; Counter::COUNT],
        }
    }
}

/// Signal-safe methods.
impl Counters {
    /// Adds one.
    pub fn add(&self, counter: Counter) {
        self.add_many(counter, 1);
    }

    /// Adds `n`.
    pub fn add_many(&self, counter: Counter, n: u64) {
        if let Some(cell) = self.cells.get(counter.index()) {
            cell.fetch_add(n, Relaxed);
        }
    }

    /// The count so far.
    pub fn get(&self, counter: Counter) -> u64 {
        self.cells
            .get(counter.index())
            .map_or(0, |cell| cell.load(Relaxed))
    }

    /// Sets the count; returns what it was.
    pub fn replace(&self, counter: Counter, value: u64) -> u64 {
        self.cells
            .get(counter.index())
            .map_or(0, |cell| cell.swap(value, Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_its_own_cell() {
        let c = Counters::new();
        for (counter, n) in Counter::ALL.iter().zip(1..) {
            c.add_many(*counter, n);
        }
        for (counter, n) in Counter::ALL.iter().zip(1..) {
            assert_eq!(c.get(*counter), n);
            assert_eq!(c.replace(*counter, 0), n);
        }
    }
}
