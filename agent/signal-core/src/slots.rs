//! Where samples are put: a slab of fixed slots, claimed by handlers with one CAS and emptied by
//! the writer thread.
//!
//! Who may do what: any number of handlers claim (also one on top of another on the same thread: it
//! gets another slot); one thread, the writer, takes ready slots and frees them. If [`TRIES`] slots
//! in a row are taken, the sample is lost and counted. Progress: a handler never waits; the writer
//! never waits for a handler that was stopped half-way, it skips its slot.

use crate::block::Values;
use crate::layout::{ATTRIBUTE_SLOTS, RAW_BYTES};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, AtomicUsize};
use stack_walker::CallFrame;

const FREE: u32 = 0;
const WRITING: u32 = 1;
const READY: u32 = 2;

/// Tries to claim a slot before the sample is given up.
pub const TRIES: usize = 4;

/// What a sample is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum SampleKind {
    /// CPU time.
    Cpu = 0,
    /// Wall-clock time; the thread ran or could run.
    WallAwake = 1,
    /// Wall-clock time; the thread slept or was blocked.
    WallAsleep = 2,
    /// CPU time of a thread without a record: its OS thread id stands for the logical one.
    CpuUnregistered = 3,
}

impl SampleKind {
    /// Whether a kind, as a number, is one of CPU time.
    pub fn is_cpu(kind: u32) -> bool {
        [Self::Cpu as u32, Self::CpuUnregistered as u32].contains(&kind)
    }
}

/// `flags`: the frames below the last one are frozen in the heap.
pub const FROZEN: u32 = 1;
/// `flags`: the walk ended before the first frame of the thread.
pub const BROKEN: u32 = 2;
/// `flags`: the VM moves the newest frames of the virtual thread, so some may be missing.
pub const SWITCHING: u32 = 4;

/// The fixed part of a sample. Atomics, so that no access needs `unsafe`; the state word orders
/// them.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct SlotHeader {
    state: AtomicU32,
    /// Expiries this sample stands for, at least 1.
    pub weight: AtomicU32,
    /// Frames walked if positive or 0; else the walker's code, or one of ours (`walk::…`).
    pub walk: AtomicI32,
    /// How the context was read, a `ReadOutcome` as a number.
    pub read_outcome: AtomicU32,
    /// Serial of the sampled platform thread.
    pub thread_serial: AtomicU64,
    /// Id of the logical thread that ran; differs from the platform thread's own for a virtual
    /// thread.
    pub logical_tid: AtomicI64,
    /// `CLOCK_MONOTONIC` nanoseconds at the entry of the handler.
    pub nanos: AtomicU64,
    /// HotSpot's thread state.
    pub vm_state: AtomicI32,
    /// 1 if the logical thread is a virtual thread.
    pub is_virtual: AtomicU32,
    /// [`FROZEN`], [`BROKEN`], [`SWITCHING`].
    pub flags: AtomicU32,
    /// A [`SampleKind`] as a number.
    pub kind: AtomicU32,
    event_mask: AtomicU32,
    ids: [AtomicU32; ATTRIBUTE_SLOTS],
    raw: [AtomicU64; RAW_BYTES / 8],
    /// Test builds: what the program declared about the interrupted code.
    pub truth: AtomicU64,
}

/// The slots with their frames.
#[derive(Debug)]
pub struct SlotTable {
    headers: &'static [SlotHeader],
    frames: *mut CallFrame,
    depth: usize,
    cursor: AtomicU32,
    /// How far `drain_tried` has come; the writer's own.
    drained: AtomicU32,
    /// Slots that the writer has taken samples from since the last `give_back` are below this
    /// index; the writer's own.
    used: AtomicUsize,
}

// SAFETY: `frames` points to memory that is never unmapped (rule 8); only the holder of a slot uses
// its part.
unsafe impl Sync for SlotTable {}
// SAFETY: as above; nothing in it belongs to a thread.
unsafe impl Send for SlotTable {}

/// Set-up methods.
impl SlotTable {
    /// A table over zeroed memory: `frames` must hold `headers.len() * depth` frames, and is
    /// never unmapped.
    ///
    /// # Safety
    /// `frames` is valid for reads and writes of that many frames, for the rest of the process, and
    /// used by nobody else.
    pub unsafe fn new(
        headers: &'static [SlotHeader],
        frames: *mut CallFrame,
        depth: usize,
    ) -> Self {
        Self {
            headers,
            frames,
            depth,
            cursor: AtomicU32::new(0),
            drained: AtomicU32::new(0),
            used: AtomicUsize::new(0),
        }
    }

    /// Frames a slot can hold.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.headers.len()
    }

    /// Whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// Hands each ready sample to `take` and frees its slot. For the one writer thread; returns how
    /// many there were.
    pub fn drain(&self, mut take: impl FnMut(&SlotHeader, &[CallFrame])) -> usize {
        let all = self.headers.len();
        (0..all).filter(|i| self.take(*i, &mut take)).count()
    }

    /// The same for those slots only that handlers have tried since the last call: to check all of
    /// them is to load as many cold cache lines. For the same reason the next sample begins with
    /// the first slot again, if no handler is at work, so only as many slots get memory as samples
    /// come between two calls. A later [`SlotTable::drain`] finds the sample of a handler that was
    /// stopped between its try and its claim.
    pub fn drain_tried(&self, mut take: impl FnMut(&SlotHeader, &[CallFrame])) -> usize {
        let all = self.headers.len();
        let (from, to) = (self.drained.load(Relaxed), self.cursor.load(Relaxed));
        let tried = (to.wrapping_sub(from) as usize).min(all);
        let mut taken: usize = 0;
        // Where the next call begins: at the first slot that a handler still writes.
        let mut next = to;
        for back in (1..=tried).rev() {
            let number = to.wrapping_sub(u32::try_from(back).unwrap_or(0));
            let Some(index) = (number as usize).checked_rem(all) else {
                break;
            };
            if self.take(index, &mut take) {
                taken = taken.wrapping_add(1);
            } else if next == to && self.is_writing(index) {
                next = number;
            }
        }
        // Fails if a handler has tried a slot meanwhile; the next call then begins behind these.
        // Relaxed: the count only says where to try.
        let afresh = next == to
            && self
                .cursor
                .compare_exchange(to, 0, Relaxed, Relaxed)
                .is_ok();
        self.drained.store(if afresh { 0 } else { next }, Relaxed);
        taken
    }

    /// Hands the frames of each slot that had a sample to `release`, which may discard their
    /// contents. For the one writer thread, at the end of a recording: after a stall of the writer
    /// many slots have memory that the dozen in use do not need.
    pub fn give_back(&self, mut release: impl FnMut(*mut CallFrame, usize)) {
        let used = self.used.swap(0, Relaxed);
        for (index, header) in self.headers.iter().enumerate().take(used) {
            // Held as a handler holds it, so none writes there meanwhile. Acquire and Release: as
            // in `claim` and at its end.
            let held = header
                .state
                .compare_exchange(FREE, WRITING, Acquire, Relaxed);
            if held.is_ok() {
                release(self.frames_of(index), self.depth);
                header.state.store(FREE, Release);
            }
        }
    }

    /// How many slots may have memory for their frames since the last [`SlotTable::give_back`]; for
    /// the writer.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    fn is_writing(&self, index: usize) -> bool {
        let header = self.headers.get(index);
        header.is_some_and(|header| header.state.load(Relaxed) != FREE)
    }

    /// Hands the sample at `index` to `take` and frees its slot, if it is ready.
    fn take(&self, index: usize, take: &mut impl FnMut(&SlotHeader, &[CallFrame])) -> bool {
        let Some(header) = self.headers.get(index) else {
            return false;
        };
        // Acquire: pairs with the Release in `Claim::publish`; makes the sample's words and frames
        // visible.
        if header.state.load(Acquire) != READY {
            return false;
        }
        let walked = usize::try_from(header.walk.load(Relaxed))
            .unwrap_or(0)
            .min(self.depth);
        // SAFETY: the slot is READY, so this thread alone owns its frames; `walked` is at most
        // `depth` (rule 8).
        let frames = unsafe { core::slice::from_raw_parts(self.frames_of(index), walked) };
        take(header, frames);
        // Relaxed: the writer's own.
        if self.used.load(Relaxed) <= index {
            self.used.store(index.wrapping_add(1), Relaxed);
        }
        // Release: pairs with the Acquire of the claiming CAS; the reads above are over before a
        // handler writes again.
        header.state.store(FREE, Release);
        true
    }
}

/// Signal-safe methods.
impl SlotTable {
    /// Claims a free slot, or gives up after [`TRIES`] tries.
    pub fn claim(&self) -> Option<Claim<'_>> {
        (0..TRIES).find_map(|_| {
            let index =
                (self.cursor.fetch_add(1, Relaxed) as usize).checked_rem(self.headers.len())?;
            let header = self.headers.get(index)?;
            // Acquire on success: pairs with the Release that freed the slot.
            header
                .state
                .compare_exchange(FREE, WRITING, Acquire, Relaxed)
                .ok()?;
            Some(Claim {
                header,
                frames: self.frames_of(index),
                depth: self.depth,
            })
        })
    }

    fn frames_of(&self, index: usize) -> *mut CallFrame {
        self.frames.wrapping_add(index.wrapping_mul(self.depth))
    }
}

/// A slot held by a handler. Dropped without [`Claim::publish`] it is free again.
#[derive(Debug)]
pub struct Claim<'a> {
    /// The sample's fixed part.
    pub header: &'a SlotHeader,
    /// Room for [`Claim::depth`] frames, exclusively ours.
    pub frames: *mut CallFrame,
    /// Frames that fit.
    pub depth: usize,
}

/// Signal-safe methods.
impl Claim<'_> {
    /// Stores the context that was read.
    pub fn set_values(&self, values: &Values) {
        for (to, from) in self.header.ids.iter().zip(values.ids) {
            to.store(from, Relaxed);
        }
        for (to, from) in self.header.raw.iter().zip(values.raw) {
            to.store(from, Relaxed);
        }
        self.header.event_mask.store(values.event_mask, Relaxed);
    }

    /// The frames from `from` on, at most `count`.
    ///
    /// # Safety
    /// The parts that are borrowed at one time do not overlap.
    #[expect(
        clippy::mut_from_ref,
        reason = "the frames are not part of the claim; see below"
    )]
    pub(crate) unsafe fn frames_mut(&self, from: usize, count: usize) -> &mut [CallFrame] {
        let from = from.min(self.depth);
        let count = count.min(self.depth.wrapping_sub(from));
        // SAFETY: the slot is held by this handler alone until `publish`, which takes the claim;
        // its `depth` frames are never unmapped (rule 8), any bytes are a frame, and the caller
        // promises the rest.
        unsafe { core::slice::from_raw_parts_mut(self.frames.wrapping_add(from), count) }
    }

    /// Hands the sample over.
    pub fn publish(self) {
        // Release: pairs with the Acquire in `drain`.
        self.header.state.store(READY, Release);
        // The drop below must not free it.
        let _published = core::mem::ManuallyDrop::new(self);
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.header.state.store(FREE, Release);
    }
}

impl SlotHeader {
    /// The context of a sample; for the writer.
    pub fn values(&self) -> Values {
        let mut values = Values {
            event_mask: self.event_mask.load(Relaxed),
            ..Values::default()
        };
        for (to, from) in values.ids.iter_mut().zip(&self.ids) {
            *to = from.load(Relaxed);
        }
        for (to, from) in values.raw.iter_mut().zip(&self.raw) {
            *to = from.load(Relaxed);
        }
        values
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    pub(crate) fn table(slots: usize, depth: usize) -> SlotTable {
        // SAFETY: headers are atomics only; zero is a valid (free) slot.
        let headers: Vec<SlotHeader> = (0..slots).map(|_| unsafe { core::mem::zeroed() }).collect();
        let empty = CallFrame {
            bci: 0,
            kind: 0,
            method: core::ptr::null_mut(),
        };
        let frames = Box::leak(std::vec![empty; slots * depth].into_boxed_slice());
        // SAFETY: leaked, of exactly that size, used by this table only.
        unsafe {
            SlotTable::new(
                Box::leak(headers.into_boxed_slice()),
                frames.as_mut_ptr(),
                depth,
            )
        }
    }

    #[test]
    fn a_full_table_refuses_and_works_again_after_a_drain() {
        let t = table(4, 8);
        assert_eq!((t.len(), t.depth()), (4, 8));
        for weight in 1..=4 {
            let claim = t.claim().expect("free slot");
            claim.header.weight.store(weight, Relaxed);
            claim.publish();
        }
        assert!(t.claim().is_none());
        let mut weights = Vec::new();
        assert_eq!(t.drain(|h, _| weights.push(h.weight.load(Relaxed))), 4);
        weights.sort_unstable();
        assert_eq!(weights, [1, 2, 3, 4]);
        assert!(t.claim().is_some());
    }

    #[test]
    fn a_slot_in_work_is_skipped_by_the_writer_and_free_when_given_up() {
        let t = table(1, 8);
        let claim = t.claim().expect("free slot");
        assert_eq!(t.drain(|_, _| unreachable!("nothing is ready")), 0);
        drop(claim);
        assert!(t.claim().is_some());
    }

    #[test]
    fn a_look_at_the_tried_slots_finds_what_became_ready_since_the_last_one() {
        let t = table(4, 8);
        let weights = |t: &SlotTable| {
            let mut weights = Vec::new();
            t.drain_tried(|h, _| weights.push(h.weight.load(Relaxed)));
            weights
        };
        let put = |weight| {
            let claim = t.claim().expect("free slot");
            claim.header.weight.store(weight, Relaxed);
            claim
        };
        assert!(weights(&t).is_empty());
        // Round the table and over its end, with one that takes longer than the next ones.
        for round in 0..10 {
            let slow = put(3 * round);
            put(3 * round + 1).publish();
            assert_eq!(weights(&t), [3 * round + 1]);
            put(3 * round + 2).publish();
            slow.publish();
            assert_eq!(weights(&t), [3 * round, 3 * round + 2]);
            assert!(weights(&t).is_empty());
        }
    }

    #[test]
    fn samples_that_are_taken_in_time_use_the_first_slots_again() {
        let t = table(1024, 8);
        let mut used = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            for _ in 0..3 {
                let claim = t.claim().expect("free slot");
                used.insert(core::ptr::from_ref(claim.header).addr());
                claim.publish();
            }
            assert_eq!(t.drain_tried(|_, _| {}), 3);
        }
        assert_eq!(used.len(), 3);
    }

    #[test]
    fn a_claim_that_came_late_is_found_by_a_look_at_all_slots() {
        let t = table(8, 8);
        for _ in 0..5 {
            t.claim().expect("free slot").publish();
        }
        // A handler that took its number, 5, and was stopped before it claimed the slot.
        let number = t.cursor.fetch_add(1, Relaxed) as usize;
        assert_eq!(t.drain_tried(|_, _| {}), 5);
        t.headers[number].state.store(READY, Release);
        assert_eq!(t.drain_tried(|_, _| {}), 0);
        assert_eq!(t.drain(|_, _| {}), 1);
    }

    #[test]
    fn a_look_at_the_tried_slots_works_where_the_count_of_tries_wraps() {
        let t = table(4, 8);
        for start in [u32::MAX, u32::MAX - 3, 1 << 31] {
            t.cursor.store(start, Relaxed);
            t.drained.store(start, Relaxed);
            for _ in 0..4 {
                t.claim().expect("free slot").publish();
            }
            assert!(t.claim().is_none());
            assert_eq!(t.drain_tried(|_, _| {}), 4);
        }
    }

    #[test]
    fn frames_of_slots_that_had_a_sample_are_given_back_but_not_while_a_handler_has_them() {
        let t = table(8, 8);
        let given = |t: &SlotTable| {
            let mut given = Vec::new();
            t.give_back(|frames, depth| {
                assert_eq!(depth, 8);
                given.push(frames);
            });
            given
        };
        assert!(given(&t).is_empty());
        let samples: Vec<_> = (0..3).map(|_| t.claim().expect("free slot")).collect();
        let places: Vec<_> = samples.iter().map(|claim| claim.frames).collect();
        samples.into_iter().for_each(Claim::publish);
        t.drain(|_, _| {});
        assert_eq!(t.used(), 3);
        t.cursor.store(1, Relaxed);
        let working = t.claim().expect("free slot");
        assert_eq!(working.frames, places[1]);
        assert_eq!(given(&t), [places[0], places[2]]);
        // Once; and they are free again.
        assert!(given(&t).is_empty());
        drop(working);
        t.cursor.store(0, Relaxed);
        let again: Vec<_> = (0..8).map(|_| t.claim().expect("free slot")).collect();
        assert_eq!(again[0].frames, places[0]);
    }

    #[test]
    fn a_lying_frame_count_never_reaches_behind_the_slot() {
        let t = table(1, 8);
        let claim = t.claim().expect("free slot");
        claim.header.walk.store(1000, Relaxed);
        claim.publish();
        t.drain(|_, frames| assert_eq!(frames.len(), 8));
        let claim = t.claim().expect("free slot");
        claim.header.walk.store(-5, Relaxed);
        claim.publish();
        t.drain(|_, frames| assert!(frames.is_empty()));
    }
}
