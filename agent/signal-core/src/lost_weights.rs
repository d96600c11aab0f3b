//! What lost samples weigh, until the next sample of the same thread, kind and context is taken: one small table in each thread's record.
//!
//! Who may do what: the thread of the record alone, outside of handlers. The table never grows; what it cannot take is lost for good.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// Contexts of one thread whose samples were lost and did not come again yet, at most.
pub const MAX_PENDING: usize = 4;

/// A weight that waits for a sample with its key.
#[derive(Debug)]
struct Pending {
    /// Of thread, kind and context; 0 = free.
    key: AtomicU64,
    weight: AtomicU64,
}

/// See the module.
#[derive(Debug)]
pub struct LostWeights {
    /// The recording that these are of.
    recording: AtomicU64,
    pending: [Pending; MAX_PENDING],
}

impl LostWeights {
    /// Keeps the weight of a lost sample; `false` if it is lost for good. `key` is not 0.
    pub fn keep(&self, recording: u64, key: u64, weight: u64) -> bool {
        self.begin(recording);
        let Some(place) = self.find(key).or_else(|| self.find(0)) else {
            return false;
        };
        let sum = place.weight.load(Relaxed).saturating_add(weight);
        place.weight.store(sum, Relaxed);
        place.key.store(key, Relaxed);
        true
    }

    /// Takes out what lost samples with this key weigh.
    pub fn take(&self, recording: u64, key: u64) -> u64 {
        self.begin(recording);
        self.find(key).map_or(0, |place| {
            place.key.store(0, Relaxed);
            place.weight.swap(0, Relaxed)
        })
    }

    /// Forgets everything: the record has another thread.
    pub fn clear(&self) {
        for place in &self.pending {
            place.key.store(0, Relaxed);
            place.weight.store(0, Relaxed);
        }
    }

    /// What an earlier recording has lost is no matter of this one.
    fn begin(&self, recording: u64) {
        if self.recording.swap(recording, Relaxed) != recording {
            self.clear();
        }
    }

    fn find(&self, key: u64) -> Option<&Pending> {
        let mut places = self.pending.iter();
        places.find(|place| place.key.load(Relaxed) == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> LostWeights {
        // SAFETY: atomics only; zero is valid.
        unsafe { core::mem::zeroed() }
    }

    #[test]
    fn a_lost_weight_goes_to_the_next_sample_of_its_key_once() {
        let lost = empty();
        assert!(lost.keep(1, 7, 100) && lost.keep(1, 8, 20) && lost.keep(1, 7, 3));
        assert_eq!(lost.take(1, 9), 0);
        assert_eq!((lost.take(1, 7), lost.take(1, 7)), (103, 0));
        assert_eq!(lost.take(1, 8), 20);
    }

    #[test]
    fn a_full_table_refuses_a_new_key_and_goes_on_with_those_it_has() {
        let lost = empty();
        for key in 1..=MAX_PENDING as u64 {
            assert!(lost.keep(1, key, key));
        }
        assert!(!lost.keep(1, 99, 5));
        assert!(lost.keep(1, 2, 5));
        assert_eq!(lost.take(1, 2), 7);
        assert!(lost.keep(1, 99, 5), "a place is free again");
    }

    #[test]
    fn another_recording_or_thread_gets_nothing() {
        let lost = empty();
        assert!(lost.keep(1, 7, 100));
        assert_eq!(lost.take(2, 7), 0);
        assert!(lost.keep(2, 7, 100));
        lost.clear();
        assert_eq!(lost.take(2, 7), 0);
    }
}
