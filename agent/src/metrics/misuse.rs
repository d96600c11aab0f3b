//! Counters of misuse of the Java API.

use schema::counter::Counter;
use schema::misuse;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static MISUSE: [AtomicU64; misuse::COUNTERS.len()] =
    [const { AtomicU64::new(0) }; misuse::COUNTERS.len()];

/// Counts a misuse of the Java API by its number; unknown numbers are ignored.
pub(crate) fn count_misuse(number: i32) {
    if let Some(cell) = usize::try_from(number).ok().and_then(|at| MISUSE.get(at)) {
        cell.fetch_add(1, Relaxed);
    }
}

/// Count of this kind of misuse.
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
