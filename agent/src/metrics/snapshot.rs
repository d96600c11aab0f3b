//! The values of all counters at one moment.

use schema::counter::{Class, Counter};
use signal_core::counters::Counters;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// The values of all counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot([u64; Counter::COUNT]);

/// Takes a snapshot for the writer of a recording, including the writer's own counters.
pub(crate) type SnapshotSource = Arc<dyn Fn(&Counters) -> Snapshot + Send + Sync>;

impl Default for Snapshot {
    fn default() -> Self {
        Self([0; Counter::COUNT])
    }
}

impl Index<Counter> for Snapshot {
    type Output = u64;

    fn index(&self, counter: Counter) -> &u64 {
        &self.0[counter.index()]
    }
}

impl IndexMut<Counter> for Snapshot {
    fn index_mut(&mut self, counter: Counter) -> &mut u64 {
        &mut self.0[counter.index()]
    }
}

impl Extend<(Counter, u64)> for Snapshot {
    /// Adds the values.
    fn extend<I: IntoIterator<Item = (Counter, u64)>>(&mut self, values: I) {
        for (counter, value) in values {
            self[counter] += value;
        }
    }
}

impl Snapshot {
    /// Adds the values of a set of counters.
    pub(crate) fn add_all(&mut self, counters: &Counters) {
        self.extend(Counter::ALL.iter().map(|&c| (c, counters.get(c))));
    }

    /// All values, in the order in which `status` prints them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Counter, u64)> {
        Counter::ALL.iter().map(|&counter| (counter, self[counter]))
    }

    /// The values for a file or chunk that starts with `base`: gauges unchanged, of counters the
    /// growth.
    pub(crate) fn since(&self, counter: Counter, base: &Self) -> u64 {
        match counter.class() {
            Class::Gauge => self[counter],
            Class::Recording | Class::Process => self.growth(counter, base),
        }
    }

    pub(super) fn growth(&self, counter: Counter, base: &Self) -> u64 {
        self[counter].saturating_sub(base[counter])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_is_reported_as_it_is_and_a_counter_by_its_growth() {
        let (mut base, mut now) = (Snapshot::default(), Snapshot::default());
        base.extend([(Counter::Written, 20), (Counter::ThreadsKnown, 20)]);
        now.extend([(Counter::Written, 30), (Counter::ThreadsKnown, 30)]);
        assert_eq!(now.since(Counter::Written, &base), 10);
        assert_eq!(now.since(Counter::ThreadsKnown, &base), 30);
        // Restarted after the file began.
        base[Counter::ThreadsWithoutTimer] = 5;
        now[Counter::ThreadsWithoutTimer] = 2;
        assert_eq!(now.since(Counter::ThreadsWithoutTimer, &base), 2);
    }
}
