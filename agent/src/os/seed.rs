//! Start values for random generators.

use std::hash::{BuildHasher, RandomState};

/// Differs per call and per process; never 0.
pub(crate) fn seed() -> u64 {
    RandomState::new().hash_one(()) | 1
}
