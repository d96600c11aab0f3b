//! Call sites: what one walk found at an address of compiled code, for all later walks on any
//! thread.
//!
//! A call site here is any address that the compiler described: a return address, or the end of
//! another instruction at which the VM may look. To decode one costs some twenty loads from as many
//! cold cache lines, and most stacks consist of the same few thousand. A cached one costs its
//! bucket, and two loads that show that the same piece of code still lies there.
//!
//! Assumptions: (1) compiled code never changes what it says of one of its addresses; (2) at one
//! address no two pieces of compiled code have the same compile id and the same method. Guarantees:
//! a handler finds an entry as one handler wrote it, or nothing; it never waits. Each bucket has a
//! sequence number that is odd while a handler writes. A reader that finds it odd, or changed after
//! the copy, treats it as a miss (`tests/loom.rs`).

use super::table::BucketTable;
use crate::frame::CallFrame;
use crate::memory::prefetch;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, fence};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, fence};

/// Methods of a cached call site at most, so that a bucket is three cache lines. One with more is
/// decoded each time. A model has fewer, as each word multiplies its work.
pub const MAX_METHODS: usize = if cfg!(loom) { 1 } else { 9 };

/// A described address of compiled code.
#[derive(Debug, Clone, Copy)]
pub struct CachedCallSite {
    /// The address.
    pub pc: usize,
    /// Start of the `nmethod`.
    pub blob: usize,
    /// Its compile id.
    pub compile_id: u32,
    /// Its `Method`, the outermost one.
    pub method: usize,
    /// The `Method` of the first of `frames`.
    pub innermost: usize,
    /// Bytes of the frame.
    pub frame_size: u32,
    /// How many of `frames` are meant.
    pub count: u32,
    /// The methods there, innermost first.
    pub frames: [CallFrame; MAX_METHODS],
}

/// A bucket for one call site; zero is a free one.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct CallSiteBucket {
    /// Odd while a handler writes.
    seq: AtomicU32,
    compile_id: AtomicU32,
    pc: AtomicUsize,
    blob: AtomicUsize,
    method: AtomicUsize,
    innermost: AtomicUsize,
    frame_size: AtomicU32,
    count: AtomicU32,
    frames: [BucketFrame; MAX_METHODS],
}

#[derive(Debug)]
struct BucketFrame {
    method: AtomicUsize,
    /// Bytecode index in the low half, kind in the high one.
    what: AtomicU64,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<CallSiteBucket>() == 192, "three cache lines");

/// The cache.
#[derive(Debug, Clone, Copy)]
pub struct CallSiteCache(BucketTable<CallSiteBucket>);

/// Set-up methods.
impl CallSiteCache {
    /// A cache over free buckets; their number must be a power of two, else nothing is remembered.
    pub fn new(buckets: &'static [CallSiteBucket]) -> Self {
        Self(BucketTable::new(buckets))
    }
}

impl CallSiteBucket {
    /// A free bucket.
    pub fn free() -> Self {
        Self {
            seq: AtomicU32::new(0),
            compile_id: AtomicU32::new(0),
            pc: AtomicUsize::new(0),
            blob: AtomicUsize::new(0),
            method: AtomicUsize::new(0),
            innermost: AtomicUsize::new(0),
            frame_size: AtomicU32::new(0),
            count: AtomicU32::new(0),
            frames: core::array::from_fn(|_| BucketFrame {
                method: AtomicUsize::new(0),
                what: AtomicU64::new(0),
            }),
        }
    }
}

/// Signal-safe methods.
impl CallSiteCache {
    /// The call site at `pc`, if it is cached. The caller checks whether its code is still there.
    #[inline]
    pub fn find(&self, pc: usize) -> Option<CachedCallSite> {
        let bucket = self.0.bucket(pc)?;
        if bucket.pc.load(Relaxed) != pc {
            return None;
        }
        // Acquire: pairs with the Release behind a whole entry.
        let before = bucket.seq.load(Acquire);
        let site = bucket.copy();
        // Acquire: the copy is over before the number is read again.
        fence(Acquire);
        let whole = before & 1 == 0 && bucket.seq.load(Relaxed) == before;
        (whole && site.pc == pc).then_some(site)
    }

    /// The number of the bucket that `pc` leads to, if it is one of the first 65 536.
    #[inline]
    pub(crate) fn number(&self, pc: usize) -> Option<u16> {
        u16::try_from(self.0.index(pc)?).ok()
    }

    /// Prefetches the first two cache lines of a bucket: up to five methods.
    #[inline]
    pub(crate) fn prefetch(&self, number: u16) {
        if let Some(bucket) = self.0.buckets.get(usize::from(number)) {
            let address = ptr::from_ref(bucket).addr();
            prefetch(address);
            prefetch(address.wrapping_add(64));
        }
    }

    /// Remembers `site`, unless another handler is writing its bucket.
    #[inline]
    pub fn put(&self, site: &CachedCallSite) {
        let Some(bucket) = self.0.bucket(site.pc) else {
            return;
        };
        let seq = bucket.seq.load(Relaxed);
        // Acquire: what this handler writes stays behind what the one before wrote.
        let ours = seq & 1 == 0
            && bucket
                .seq
                .compare_exchange(seq, seq | 1, Acquire, Relaxed)
                .is_ok();
        if ours {
            // Release: whoever sees one of the words below sees the odd number too.
            fence(Release);
            bucket.fill(site);
            // Release: pairs with the Acquire in `find`.
            bucket.seq.store(seq.wrapping_add(2), Release);
        }
    }
}

impl CallSiteBucket {
    #[inline]
    fn copy(&self) -> CachedCallSite {
        let nothing = CallFrame {
            bci: 0,
            kind: 0,
            method: ptr::null_mut(),
        };
        let mut frames = [nothing; MAX_METHODS];
        let count = self.count.load(Relaxed);
        for (to, from) in frames.iter_mut().zip(&self.frames).take(count as usize) {
            let [b0, b1, b2, b3, k0, k1, k2, k3] = from.what.load(Relaxed).to_le_bytes();
            *to = CallFrame {
                bci: i32::from_le_bytes([b0, b1, b2, b3]),
                kind: u32::from_le_bytes([k0, k1, k2, k3]),
                method: ptr::with_exposed_provenance_mut(from.method.load(Relaxed)),
            };
        }
        CachedCallSite {
            pc: self.pc.load(Relaxed),
            blob: self.blob.load(Relaxed),
            compile_id: self.compile_id.load(Relaxed),
            method: self.method.load(Relaxed),
            innermost: self.innermost.load(Relaxed),
            frame_size: self.frame_size.load(Relaxed),
            count,
            frames,
        }
    }

    #[inline]
    fn fill(&self, site: &CachedCallSite) {
        self.pc.store(site.pc, Relaxed);
        self.blob.store(site.blob, Relaxed);
        self.compile_id.store(site.compile_id, Relaxed);
        self.method.store(site.method, Relaxed);
        self.innermost.store(site.innermost, Relaxed);
        self.frame_size.store(site.frame_size, Relaxed);
        self.count.store(site.count, Relaxed);
        for (to, from) in self
            .frames
            .iter()
            .zip(&site.frames)
            .take(site.count as usize)
        {
            let what = u64::from(from.bci.cast_unsigned()) | u64::from(from.kind) << 32;
            to.method.store(from.method.expose_provenance(), Relaxed);
            to.what.store(what, Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
pub(crate) mod tests;
