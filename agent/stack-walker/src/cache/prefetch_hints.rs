//! What the last walk of a thread read. Its next walk will mostly read the same, but the
//! application has pushed it out of the CPU's caches meanwhile, and a walk waits for one frame
//! after the other: where the caller lies is known only when the frame has been read. With the
//! hints all of it is prefetched at once.
//!
//! Assumption: only the thread's own handler uses its hints. Guarantee: none, and none is needed. A
//! stale hint prefetches in vain; the walk reads everything again.

use super::call_sites::CallSiteCache;
use crate::memory::prefetch;
use crate::tables::VmTables;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// Compiled frames of a walk that are kept: three cache lines of hints.
pub const MAX_HINTS: usize = 24;

/// The hints of one thread; zero means none.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct PrefetchHints {
    /// The number of a call site's bucket in the low 16 bits, the address of its code above. 0 =
    /// the last walk ended here.
    frames: [AtomicU64; MAX_HINTS],
}

const _: () = assert!(size_of::<PrefetchHints>() == 192, "three cache lines");

/// Signal-safe methods.
impl PrefetchHints {
    /// Notes the call site at `pc` as compiled frame number `frame` of this walk.
    #[inline]
    pub(crate) fn note(&self, frame: usize, call_sites: CallSiteCache, pc: usize, blob: usize) {
        if let Some(hint) = self.frames.get(frame)
            && let Some(number) = call_sites.number(pc)
        {
            let word = (blob as u64).wrapping_shl(16) | u64::from(number);
            hint.store(word, Relaxed);
        }
    }

    /// The walk met `frames` compiled frames: what an earlier one noted behind them is no hint any
    /// more.
    #[inline]
    pub(crate) fn end(&self, frames: usize) {
        if let Some(hint) = self.frames.get(frames) {
            hint.store(0, Relaxed);
        }
    }

    /// Prefetches what the last walk read.
    #[inline]
    pub(crate) fn prefetch(&self, call_sites: CallSiteCache, tables: &VmTables) {
        for hint in &self.frames {
            let word = hint.load(Relaxed);
            if word == 0 {
                return;
            }
            let [low, high, ..] = word.to_le_bytes();
            call_sites.prefetch(u16::from_le_bytes([low, high]));
            let blob = usize::try_from(word.wrapping_shr(16)).unwrap_or(0);
            prefetch(blob.wrapping_add(tables.nmethod.method));
            prefetch(blob.wrapping_add(tables.nmethod.compile_id));
        }
    }
}

#[cfg(test)]
impl PrefetchHints {
    /// The code that they name.
    pub(crate) fn blobs(&self) -> std::vec::Vec<usize> {
        let words = self.frames.iter().map(|hint| hint.load(Relaxed));
        words
            .take_while(|word| *word != 0)
            .map(|word| usize::try_from(word >> 16).expect("an address"))
            .collect()
    }
}
