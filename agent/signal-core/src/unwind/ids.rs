//! Methods met before, with their ids: a test of a method is seven loads, each from another cold cache line.
//!
//! Assumption: the VM clears or redirects an id when its method goes, and never gives the id's memory back while a walk may look (17 to 25).
//! Guarantee: none by itself. Both words of a place may come from different handlers, and a method may be gone: whoever takes an id from here
//! asks whether it still leads to the method, which makes all of that a miss.

use super::Table;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

/// A method and its id.
#[derive(Debug, Default)]
pub struct Pair {
    method: AtomicUsize,
    id: AtomicUsize,
}

/// The table: a method lies in the one place that its address leads to.
#[derive(Debug, Clone, Copy)]
pub struct MethodIds(Table<Pair>);

/// Set-up methods.
impl MethodIds {
    /// A table over free places; their number must be a power of two, else nothing is remembered.
    pub fn new(places: &'static [Pair]) -> Self {
        Self(Table::new(places))
    }
}

/// Signal-safe methods.
impl MethodIds {
    /// The id that `method` had.
    pub(super) fn find(&self, method: usize) -> Option<usize> {
        let pair = self.0.place(method)?;
        (pair.method.load(Relaxed) == method).then(|| pair.id.load(Relaxed))
    }

    /// Remembers the id of `method`.
    pub(super) fn put(&self, method: usize, id: usize) {
        if let Some(pair) = self.0.place(method) {
            pair.method.store(method, Relaxed);
            pair.id.store(id, Relaxed);
        }
    }
}
