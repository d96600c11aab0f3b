//! Which of frequent events are recorded: one of so many, picked at random where they happen, so
//! that the others cost next to nothing.
//!
//! Why totals stay right: the ratio follows from events before, each event is picked with the
//! probability `1 / ratio`, and then weighs `ratio`.

use crate::os::seed::seed;
use signal_core::random;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Makes numbers of neighbours differ in all bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// A burst is so much of a second's limit: from then on the ratio doubles.
const BURSTS_PER_SECOND: u32 = 2;

/// See the module.
#[derive(Debug)]
pub(crate) struct PickRatio {
    /// Events so far.
    seen: AtomicU64,
    /// Those of which the writer knows.
    known: AtomicU64,
    /// Those that were picked since the writer last asked.
    picked: AtomicU32,
    ratio: AtomicU64,
    burst: AtomicU32,
    seed: u64,
}

impl Default for PickRatio {
    fn default() -> Self {
        Self {
            seen: AtomicU64::new(0),
            known: AtomicU64::new(0),
            picked: AtomicU32::new(0),
            ratio: AtomicU64::new(1),
            burst: AtomicU32::new(u32::MAX),
            seed: seed(),
        }
    }
}

impl PickRatio {
    /// A recording begins, or resumes, that wants so many events per second at most.
    pub(crate) fn begin(&self, limit: u32) {
        self.burst
            .store((limit / BURSTS_PER_SECOND).max(1), Relaxed);
        self.take_counts();
        self.set(1);
    }

    /// The weight of the event that happens now; `None`: it is left out.
    pub(crate) fn pick(&self) -> Option<u64> {
        let number = self.seen.fetch_add(1, Relaxed);
        let ratio = self.ratio.load(Relaxed);
        let mut state = self.seed ^ number.wrapping_mul(SPREAD);
        if ratio > 1 && random::below(&mut state, ratio) != 0 {
            return None;
        }
        let picked = self.picked.fetch_add(1, Relaxed).wrapping_add(1);
        if picked.is_multiple_of(self.burst.load(Relaxed)) {
            self.ratio.fetch_max(ratio.saturating_mul(2), Relaxed);
        }
        Some(ratio)
    }

    /// For the writer: the events since it last asked, or since a recording began, and how many of
    /// them were picked.
    pub(crate) fn take_counts(&self) -> (u64, u32) {
        let seen = self.seen.load(Relaxed);
        let came = seen.saturating_sub(self.known.swap(seen, Relaxed));
        (came, self.picked.swap(0, Relaxed))
    }

    /// For the writer: one of so many is picked from now on.
    pub(crate) fn set(&self, ratio: u64) {
        self.ratio.store(ratio.max(1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_so_many_is_picked_and_weighs_for_the_others() {
        let ratio = PickRatio::default();
        assert_eq!(ratio.pick(), Some(1));
        for of in [2_u64, 7, 100] {
            ratio.set(of);
            let picks: Vec<u64> = (0..100_000).filter_map(|_| ratio.pick()).collect();
            assert!(picks.iter().all(|weight| *weight == of));
            // A deviation of 3,146 for 100; four of those.
            let sum: u64 = picks.iter().sum();
            assert!(sum.abs_diff(100_000) < 12_600, "1 of {of}: {sum}");
        }
        assert_eq!(ratio.take_counts().0, 300_001);
        ratio.pick();
        ratio.begin(500);
        assert_eq!(ratio.take_counts(), (0, 0), "of an earlier recording");
    }

    #[test]
    fn ratio_doubles_within_a_burst() {
        let ratio = PickRatio::default();
        let (mut sums, mut most) = (0, 0);
        for _ in 0..100 {
            ratio.begin(500);
            let picks: Vec<u64> = (0..20_000).filter_map(|_| ratio.pick()).collect();
            most = most.max(picks.len());
            sums += picks.iter().sum::<u64>();
        }
        assert!(most < 2_000, "{most} of 20,000");
        // Each pick of a weight w has the variance w * (w - 1), up to some 512: a deviation of
        // 2,300 of 20,000, and of 230 of the mean.
        assert!((sums / 100).abs_diff(20_000) < 1_000, "{sums}");
    }
}
