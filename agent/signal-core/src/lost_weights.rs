//! Weights of lost samples, until the next sample of the same thread, kind and context carries
//! them: a small table in each thread's record.
//!
//! Only the thread of the record uses it, outside of handlers. The table never grows; what does not
//! fit is lost for good.

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
        self.switch_to(recording);
        let Some(entry) = self.find(key).or_else(|| self.find(0)) else {
            return false;
        };
        let sum = entry.weight.load(Relaxed).saturating_add(weight);
        entry.weight.store(sum, Relaxed);
        entry.key.store(key, Relaxed);
        true
    }

    /// Takes out what lost samples with this key weigh.
    pub fn take(&self, recording: u64, key: u64) -> u64 {
        self.switch_to(recording);
        self.find(key).map_or(0, |entry| {
            entry.key.store(0, Relaxed);
            entry.weight.swap(0, Relaxed)
        })
    }

    /// Forgets everything: the record has another thread.
    pub fn clear(&self) {
        for entry in &self.pending {
            entry.key.store(0, Relaxed);
            entry.weight.store(0, Relaxed);
        }
    }

    /// Forgets what an earlier recording has lost.
    fn switch_to(&self, recording: u64) {
        if self.recording.swap(recording, Relaxed) != recording {
            self.clear();
        }
    }

    fn find(&self, key: u64) -> Option<&Pending> {
        let mut entries = self.pending.iter();
        entries.find(|entry| entry.key.load(Relaxed) == key)
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
        assert!(lost.keep(1, 99, 5), "an entry is free again");
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
