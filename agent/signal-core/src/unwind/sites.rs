//! Sites met before: what one walk found out of an address in compiled code, for all walks after it, on any thread.
//!
//! A site is an address that the compiler has described: a return address, or the end of another instruction at which the VM may look. To decode
//! it costs some twenty loads from as many cold cache lines, and most stacks consist of the same few thousand sites. One that is remembered
//! costs its place here, and two loads that show that the same piece of code still lies there.
//!
//! Assumptions: (1) compiled code never changes what it says of one of its addresses; (2) at one address no two pieces of compiled code
//! have the same compile id and the same method.
//! Guarantees: a handler finds a site as one handler wrote it, or nothing; it never waits. Each place has a sequence number that is odd
//! while one handler writes; who finds it odd, or changed behind the copy, does without (`docs/stack-walking.md`).

use super::Table;
use crate::checked::fetch_ahead;
use crate::slots::CallFrame;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, fence};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, fence};

/// Methods of a site at most: with them a place is three cache lines. Sites with more are decoded each time. A model has fewer, as each word
/// multiplies its work.
pub const MOST: usize = if cfg!(loom) { 1 } else { 9 };

/// A described address of compiled code.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// The address.
    pub pc: usize,
    /// Start of the `nmethod`.
    pub blob: usize,
    /// Its compile id.
    pub compile_id: u32,
    /// Its `Method`.
    pub method: usize,
    /// Bytes of the frame.
    pub frame_size: u32,
    /// How many of `frames` are meant.
    pub count: u32,
    /// The methods there, innermost first.
    pub frames: [CallFrame; MOST],
}

/// Room for one site.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Place {
    /// Odd while a handler writes.
    seq: AtomicU32,
    compile_id: AtomicU32,
    pc: AtomicUsize,
    blob: AtomicUsize,
    method: AtomicUsize,
    frame_size: AtomicU32,
    count: AtomicU32,
    frames: [PlacedFrame; MOST],
}

#[derive(Debug)]
struct PlacedFrame {
    method: AtomicUsize,
    /// Bytecode index in the low half, kind in the high one.
    what: AtomicU64,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Place>() == 192, "three cache lines");

/// The table: a site lies in the one place that its address leads to, and the next one there takes that place.
#[derive(Debug, Clone, Copy)]
pub struct Sites(Table<Place>);

/// Set-up methods.
impl Sites {
    /// A table over free places; their number must be a power of two, else nothing is remembered.
    pub fn new(places: &'static [Place]) -> Self {
        Self(Table::new(places))
    }
}

impl Place {
    /// A free place.
    pub fn free() -> Self {
        Self {
            seq: AtomicU32::new(0),
            compile_id: AtomicU32::new(0),
            pc: AtomicUsize::new(0),
            blob: AtomicUsize::new(0),
            method: AtomicUsize::new(0),
            frame_size: AtomicU32::new(0),
            count: AtomicU32::new(0),
            frames: core::array::from_fn(|_| PlacedFrame {
                method: AtomicUsize::new(0),
                what: AtomicU64::new(0),
            }),
        }
    }
}

/// Signal-safe methods.
impl Sites {
    /// The site at `pc`, if it is remembered. Whether its code is still there is for the caller to ask.
    pub fn find(&self, pc: usize) -> Option<Site> {
        let place = self.0.place(pc)?;
        if place.pc.load(Relaxed) != pc {
            return None;
        }
        // Acquire: pairs with the Release behind a whole site.
        let before = place.seq.load(Acquire);
        let site = place.copy();
        // Acquire: the copy is over before the number is read again.
        fence(Acquire);
        let whole = before & 1 == 0 && place.seq.load(Relaxed) == before;
        (whole && site.pc == pc).then_some(site)
    }

    /// The number of the place that `pc` leads to, if it is one of the first 65 536.
    pub(super) fn number(&self, pc: usize) -> Option<u16> {
        u16::try_from(self.0.index(pc)?).ok()
    }

    /// Has the first two cache lines of a place brought near: up to five methods.
    pub(super) fn fetch_ahead(&self, number: u16) {
        if let Some(place) = self.0.places.get(usize::from(number)) {
            let address = ptr::from_ref(place).addr();
            fetch_ahead(address);
            fetch_ahead(address.wrapping_add(64));
        }
    }

    /// Remembers `site`, unless another handler is writing in its place.
    pub fn put(&self, site: &Site) {
        let Some(place) = self.0.place(site.pc) else {
            return;
        };
        let seq = place.seq.load(Relaxed);
        // Acquire: what this handler writes stays behind what the one before wrote.
        let ours = seq & 1 == 0
            && place
                .seq
                .compare_exchange(seq, seq | 1, Acquire, Relaxed)
                .is_ok();
        if ours {
            // Release: whoever sees one of the words below sees the odd number too.
            fence(Release);
            place.fill(site);
            // Release: pairs with the Acquire in `find`.
            place.seq.store(seq.wrapping_add(2), Release);
        }
    }
}

impl Place {
    fn copy(&self) -> Site {
        let nothing = CallFrame {
            bci: 0,
            kind: 0,
            method: ptr::null_mut(),
        };
        let mut frames = [nothing; MOST];
        let count = self.count.load(Relaxed);
        for (to, from) in frames.iter_mut().zip(&self.frames).take(count as usize) {
            let [b0, b1, b2, b3, k0, k1, k2, k3] = from.what.load(Relaxed).to_le_bytes();
            *to = CallFrame {
                bci: i32::from_le_bytes([b0, b1, b2, b3]),
                kind: u32::from_le_bytes([k0, k1, k2, k3]),
                method: ptr::with_exposed_provenance_mut(from.method.load(Relaxed)),
            };
        }
        Site {
            pc: self.pc.load(Relaxed),
            blob: self.blob.load(Relaxed),
            compile_id: self.compile_id.load(Relaxed),
            method: self.method.load(Relaxed),
            frame_size: self.frame_size.load(Relaxed),
            count,
            frames,
        }
    }

    fn fill(&self, site: &Site) {
        self.pc.store(site.pc, Relaxed);
        self.blob.store(site.blob, Relaxed);
        self.compile_id.store(site.compile_id, Relaxed);
        self.method.store(site.method, Relaxed);
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
pub(super) mod tests {
    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    pub(crate) fn table(places: usize) -> Sites {
        let places: Vec<Place> = (0..places).map(|_| Place::free()).collect();
        Sites::new(Box::leak(places.into_boxed_slice()))
    }

    fn site(pc: usize, count: u32) -> Site {
        let frame = |n: usize| CallFrame {
            bci: -3,
            kind: 5,
            method: ptr::without_provenance_mut(n),
        };
        Site {
            pc,
            blob: 16,
            compile_id: 7,
            method: 8,
            frame_size: 32,
            count,
            frames: core::array::from_fn(|n| frame(pc + n)),
        }
    }

    #[test]
    fn a_site_is_found_by_its_address_until_another_takes_its_place() {
        let t = table(1);
        assert!(t.find(0x1000).is_none());
        t.put(&site(0x1000, 2));
        let found = t.find(0x1000).expect("just put");
        assert_eq!(
            (found.blob, found.compile_id, found.method, found.frame_size),
            (16, 7, 8, 32)
        );
        assert_eq!(found.count, 2);
        assert_eq!(found.frames[1].method.addr(), 0x1001);
        assert_eq!((found.frames[1].bci, found.frames[1].kind), (-3, 5));
        t.put(&site(0x2000, 1));
        assert!(t.find(0x1000).is_none() && t.find(0x2000).is_some());
    }

    #[test]
    fn a_place_that_is_being_written_is_neither_read_nor_written() {
        let t = table(1);
        t.put(&site(0x1000, 1));
        t.0.places[0].seq.store(5, Relaxed);
        assert!(t.find(0x1000).is_none());
        t.put(&site(0x2000, 1));
        t.0.places[0].seq.store(4, Relaxed);
        assert!(t.find(0x1000).is_some());
    }

    #[test]
    fn a_table_of_an_odd_size_remembers_nothing() {
        let t = table(3);
        t.put(&site(0x1000, 1));
        assert!(t.find(0x1000).is_none());
    }
}
