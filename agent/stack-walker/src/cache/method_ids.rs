//! Methods with their ids: to check a method takes seven loads, each from another cold cache line.
//!
//! Assumption: the VM clears or redirects an id when its method goes, and never frees the id's
//! memory while a walk may look (17 to 25). Guarantee: none by itself. The two words of a bucket
//! may come from different handlers, and the method may be gone. The caller checks that the id
//! still leads to the method; if not, it is a miss.

use super::table::BucketTable;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

/// A method and its id; zero is a free bucket.
#[derive(Debug, Default)]
pub struct MethodIdBucket {
    method: AtomicUsize,
    id: AtomicUsize,
}

/// The cache.
#[derive(Debug, Clone, Copy)]
pub struct MethodIdCache(BucketTable<MethodIdBucket>);

/// Set-up methods.
impl MethodIdCache {
    /// A cache over free buckets; their number must be a power of two, else nothing is remembered.
    pub fn new(buckets: &'static [MethodIdBucket]) -> Self {
        Self(BucketTable::new(buckets))
    }
}

/// Signal-safe methods.
impl MethodIdCache {
    /// The id that `method` had.
    #[inline]
    pub(crate) fn find(&self, method: usize) -> Option<usize> {
        let bucket = self.0.bucket(method)?;
        (bucket.method.load(Relaxed) == method).then(|| bucket.id.load(Relaxed))
    }

    /// Remembers the id of `method`.
    #[inline]
    pub(crate) fn put(&self, method: usize, id: usize) {
        if let Some(bucket) = self.0.bucket(method) {
            bucket.method.store(method, Relaxed);
            bucket.id.store(id, Relaxed);
        }
    }
}
