//! The table below both caches. An address leads to one bucket; a newer entry replaces the older
//! one there.

/// Buckets that handlers share.
#[derive(Debug)]
pub(super) struct BucketTable<T: 'static> {
    pub(super) buckets: &'static [T],
}

// Not derived: that would ask `T` for it, and only the reference is copied.
impl<T> Clone for BucketTable<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for BucketTable<T> {}

/// Set-up methods.
impl<T> BucketTable<T> {
    /// A table over free buckets; their number must be a power of two, else nothing is remembered.
    pub(super) fn new(buckets: &'static [T]) -> Self {
        let usable = buckets.len().is_power_of_two();
        Self {
            buckets: if usable { buckets } else { &[] },
        }
    }
}

/// Signal-safe methods.
impl<T> BucketTable<T> {
    /// The bucket of `address`.
    pub(super) fn bucket(self, address: usize) -> Option<&'static T> {
        self.buckets.get(self.index(address)?)
    }

    /// The number of that bucket.
    pub(super) fn index(self, address: usize) -> Option<usize> {
        // Fibonacci hashing: addresses lie close together.
        let mixed = (address as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_shr(32);
        let last = self.buckets.len().checked_sub(1)?;
        Some(usize::try_from(mixed).ok()? & last)
    }
}
