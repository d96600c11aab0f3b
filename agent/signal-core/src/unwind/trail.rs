//! What a thread's last walk came by. The callers at the bottom of a stack are the same from sample to sample, but an application has pushed
//! their sites and the heads of their code out of the caches meanwhile, and a walk waits for one after the other: where a frame's caller lies
//! is known only when its site is there. With the trail all of them are asked for at once, before they are needed.
//!
//! Assumption: only the thread's own handler uses its trail.
//! Guarantee: none, and none is needed. A trail only says what to bring near; the walk asks everything again.

use super::sites::Sites;
use super::tables::VmTables;
use crate::checked::fetch_ahead;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// Sites of a walk that are kept: three cache lines.
pub const MOST: usize = 24;

/// Part of a thread's record; zero is an empty trail.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Trail {
    /// The number of the site's place in the low 16 bits, the address of its code above. 0 = the trail ends here.
    steps: [AtomicU64; MOST],
}

const _: () = assert!(size_of::<Trail>() == 192, "three cache lines");

/// Signal-safe methods.
impl Trail {
    /// Notes the site at `pc` as number `step` of this walk.
    pub(super) fn note(&self, step: usize, sites: Sites, pc: usize, blob: usize) {
        if let Some(place) = self.steps.get(step)
            && let Some(number) = sites.number(pc)
        {
            let word = (blob as u64).wrapping_shl(16) | u64::from(number);
            place.store(word, Relaxed);
        }
    }

    /// The walk has noted `steps` sites: what an earlier one noted behind them is no part of it.
    pub(super) fn end(&self, steps: usize) {
        if let Some(place) = self.steps.get(steps) {
            place.store(0, Relaxed);
        }
    }

    /// Asks for what the last walk looked at.
    pub(crate) fn fetch_ahead(&self, sites: Sites, tables: &VmTables) {
        for step in &self.steps {
            let word = step.load(Relaxed);
            if word == 0 {
                return;
            }
            let [low, high, ..] = word.to_le_bytes();
            sites.fetch_ahead(u16::from_le_bytes([low, high]));
            let blob = usize::try_from(word.wrapping_shr(16)).unwrap_or(0);
            fetch_ahead(blob.wrapping_add(tables.nmethod.method));
            fetch_ahead(blob.wrapping_add(tables.nmethod.compile_id));
        }
    }
}

#[cfg(test)]
impl Trail {
    /// The code that it leads to.
    pub(super) fn blobs(&self) -> std::vec::Vec<usize> {
        let words = self.steps.iter().map(|step| step.load(Relaxed));
        words
            .take_while(|word| *word != 0)
            .map(|word| usize::try_from(word >> 16).expect("an address"))
            .collect()
    }
}
