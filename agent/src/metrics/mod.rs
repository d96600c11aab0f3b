//! All counters at one moment, their accounts, and the counters of misuse of the Java API.

mod accounting;

pub(crate) use accounting::{LateSamples, RecordingStart};

use schema::counter::{Class, Counter};
use schema::misuse;
use signal_core::counters::Counters;
use std::ops::{Index, IndexMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The values of all counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot([u64; Counter::COUNT]);

/// Takes a snapshot for the writer of a recording, whose own counters it gets.
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

    /// What a file or a chunk that began with `base` reports: a gauge as it is, of a counter the
    /// growth.
    pub(crate) fn since(&self, counter: Counter, base: &Self) -> u64 {
        match counter.class() {
            Class::Gauge => self[counter],
            Class::Recording | Class::Process => self.growth(counter, base),
        }
    }

    fn growth(&self, counter: Counter, base: &Self) -> u64 {
        self[counter].saturating_sub(base[counter])
    }
}

static MISUSE: [AtomicU64; misuse::COUNTERS.len()] =
    [const { AtomicU64::new(0) }; misuse::COUNTERS.len()];

/// Counts a misuse of the Java API, by its number; numbers that do not exist are ignored.
pub(crate) fn count_misuse(number: i32) {
    if let Some(cell) = usize::try_from(number).ok().and_then(|at| MISUSE.get(at)) {
        cell.fetch_add(1, Relaxed);
    }
}

/// How often the misuse of this counter happened.
pub(crate) fn misuse_count(counter: Counter) -> u64 {
    let mut counts = misuse_counts().filter(|&(of, _)| of == counter);
    counts.next().map_or(0, |(_, count)| count)
}

/// The counters of misuse.
pub(crate) fn misuse_counts() -> impl Iterator<Item = (Counter, u64)> {
    let counts = MISUSE.iter().map(|cell| cell.load(Relaxed));
    misuse::COUNTERS.into_iter().zip(counts)
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

    #[test]
    fn misuse_numbers_that_do_not_exist_are_ignored() {
        let sum = || misuse_counts().map(|(_, count)| count).sum::<u64>();
        let before = sum();
        let known = i32::try_from(MISUSE.len()).expect("some");
        count_misuse(-1);
        count_misuse(known);
        assert_eq!(sum(), before);
        count_misuse(known - 1);
        assert_eq!(sum(), before + 1);
    }
}
