//! Reading and releasing a context block. Java writes it; the argument for the orderings is
//! `docs/contributing/memory-model.md`.
//!
//! Assumptions: (1) only the owning logical thread writes a block it has acquired, apart from
//! `FLAG_FOREIGN_CLOSE`; (2) a logical thread runs on one OS thread at a time; (3) thread ids are
//! never used twice, except for a restarted VM; (4) the table is never unmapped. Guarantees: the
//! handler of the thread that the owner runs on sees a set of values that the owner really
//! published, or says why not; no loop is longer than [`PROBE_LIMIT`].

use crate::layout::{
    ATTRIBUTE_SLOTS, Block, DETACHED_ID, FLAG_FOREIGN_CLOSE, FLAGS_REACH, PROBE_LIMIT, RAW_BYTES,
    REACH_SHIFT,
};
use crate::origin::Scope;
use crate::places::FurtherPlaces;
use crate::seeded_faults::{self, Fault};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
#[cfg(not(loom))]
use core::sync::atomic::fence;
#[cfg(loom)]
use loom::sync::atomic::fence;

/// Owner of a block that is being taken from a thread that has ended; no thread has this id.
const EVICTING: i64 = i64::MIN;

/// Tries of a remote read.
const REMOTE_TRIES: usize = 2;

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ReadOutcome {
    /// No block, or a block without values.
    Nothing = 0,
    /// Values were copied.
    Values = 1,
    /// The owner was interrupted while it wrote.
    Torn = 2,
    /// A scope was closed by another thread and not yet repaired by the owner.
    Foreign = 3,
}

/// The values of one context, as copied out of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Values {
    /// Value id per slot.
    pub ids: [u32; ATTRIBUTE_SLOTS],
    /// The raw area; only meaningful where an id has the raw bit.
    pub raw: [u64; RAW_BYTES / 8],
    /// Event mask of the installed context.
    pub event_mask: u32,
}

/// The slab of blocks, used as an open-addressing table keyed by logical thread id.
#[derive(Debug)]
pub struct BlockTable {
    blocks: &'static [Block],
    /// See [`BlockTable::detach_after`].
    detach_seconds: AtomicU32,
}

/// Set-up methods: never called from a handler.
impl BlockTable {
    /// A table over `blocks`, whose number must be a power of two not below [`PROBE_LIMIT`]; else
    /// `None`.
    pub fn new(blocks: &'static [Block]) -> Option<Self> {
        let is_table = blocks.len().is_power_of_two() && blocks.len() >= PROBE_LIMIT;
        is_table.then_some(Self {
            blocks,
            detach_seconds: AtomicU32::new(0),
        })
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Start and length in bytes of the whole table, for Java's buffer over it.
    pub fn memory(&self) -> (*mut u8, usize) {
        let base = self.blocks.as_ptr().cast_mut().cast();
        (
            base,
            self.blocks.len().saturating_mul(crate::layout::STRIDE),
        )
    }

    /// From now on a context that is carried shows as `(detached)` so many seconds after its origin
    /// was found closed; 0 = never.
    pub fn detach_after(&self, seconds: u32) {
        self.detach_seconds.store(seconds, Relaxed);
    }

    /// Whether the table has no blocks; never true for a table made by [`BlockTable::new`].
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Calls `each` with the owner of each block that has one.
    pub fn for_each_owner(&self, mut each: impl FnMut(i64)) {
        for block in self.blocks {
            // Relaxed: a candidate only; `evict` checks it.
            let owner = block.owner.load(Relaxed);
            // Below 0: being taken from an ended thread, by us or by Java.
            if owner > 0 {
                each(owner);
            }
        }
    }

    /// Frees the block of `tid`, a thread that has ended without giving it back. Any thread may
    /// call it, but not two at once.
    pub fn evict(&self, tid: i64) -> bool {
        let Some(block) = self.find(tid) else {
            return false;
        };
        // Acquire: pairs with the owner's stores through the VM's end of the thread. While the word
        // says `EVICTING` no thread finds or claims the block.
        if block
            .owner
            .compare_exchange(tid, EVICTING, Acquire, Relaxed)
            .is_err()
        {
            return false;
        }
        clear(block);
        true
    }

    /// Frees the block of `tid`, if it has one. Called on the owning thread, when it ends, with our
    /// signals blocked.
    pub fn release(&self, tid: i64) -> bool {
        let Some(block) = self.find(tid) else {
            return false;
        };
        clear(block);
        true
    }
}

/// Copies ids, mask and raw area; whether there is a value. Relaxed: the callers order them.
fn copy_values(block: &Block, into: &mut Values) -> bool {
    let mut any = 0;
    for (to, from) in into.ids.iter_mut().zip(&block.ids) {
        *to = from.load(Relaxed);
        any |= *to;
    }
    if any == 0 {
        return false;
    }
    into.event_mask = block.event_mask.load(Relaxed);
    for (to, from) in into.raw.iter_mut().zip(&block.raw) {
        *to = from.load(Relaxed);
    }
    true
}

/// Empties a block and frees it.
fn clear(block: &Block) {
    // A serial of its own, as `Slab.clear` in Java: no later publication has the same number, so a
    // remote reader cannot take one for the other. Serials are even.
    let serial = block.next_serial.load(Relaxed).wrapping_add(2);
    block.next_serial.store(serial, Relaxed);
    let number = serial.wrapping_shl(1);
    block.seq.store(number | 1, Relaxed);
    // Release: pairs with the fence in `try_remote`; a reader that sees a zero below sees the odd
    // number.
    fence(Release);
    for id in &block.ids {
        id.store(0, Relaxed);
    }
    // The reach stays: another thread may need it.
    block.flags.fetch_and(FLAGS_REACH, Relaxed);
    block.origin.carried.store(0, Relaxed);
    block.raw_used.store(0, Relaxed);
    block.event_mask.store(0, Relaxed);
    block.seq.store(number, Release);
    // Release: pairs with the Acquire in `find` and with Java's CAS; a new owner sees the zeros
    // above.
    block.owner.store(0, Release);
}

/// Signal-safe methods.
impl BlockTable {
    /// Marks values that the thread carries for a task whose origin closed long ago. Those of
    /// scopes within the task stay.
    fn detach(&self, block: &Block, into: &mut Values) {
        let limit = self.detach_seconds.load(Relaxed);
        let ended = block
            .origin
            .ended(limit.into(), |scope| self.is_open(scope));
        let Some(serial) = ended else {
            return;
        };
        for (id, slot) in into.ids.iter_mut().zip(&block.ids) {
            if *id != 0 && slot.scope(Relaxed) == serial {
                *id = DETACHED_ID;
            }
        }
    }

    fn is_open(&self, scope: Scope) -> bool {
        let slot = usize::try_from(scope.slot).unwrap_or(usize::MAX);
        let block = self.find(scope.owner);
        let slot = block.and_then(|block| block.ids.get(slot));
        slot.is_some_and(|slot| slot.scope(Relaxed) == scope.serial)
    }

    /// Copies the values of the logical thread `tid`, on the OS thread that runs it, in a handler:
    /// the sample is counted in the block.
    pub fn read(&self, tid: i64, into: &mut Values) -> ReadOutcome {
        let Some(block) = self.find(tid) else {
            return ReadOutcome::Nothing;
        };
        let found = self.copy_block(block, into);
        if !matches!(found, ReadOutcome::Torn | ReadOutcome::Foreign) {
            // Relaxed: only counted, and only this thread's handler writes it.
            block
                .samples
                .store(block.samples.load(Relaxed).wrapping_add(1), Relaxed);
        }
        found
    }

    /// The same outside of a handler, on the thread itself or while it cannot run: nothing is
    /// counted.
    pub fn copy(&self, tid: i64, into: &mut Values) -> ReadOutcome {
        self.find(tid)
            .map_or(ReadOutcome::Nothing, |block| self.copy_block(block, into))
    }

    /// Remote read: copies the values of the logical thread `tid` on any other thread than the one
    /// that runs it. Tries twice, then answers `Torn`. `into` is empty unless values were found.
    pub fn read_remote(&self, tid: i64, into: &mut Values) -> ReadOutcome {
        let found = (0..REMOTE_TRIES)
            .find_map(|_| self.try_remote(tid, into))
            .unwrap_or(ReadOutcome::Torn);
        if found != ReadOutcome::Values {
            // What was copied may be half a context, a closed one, or another thread's.
            *into = Values::default();
        }
        found
    }

    /// One try; `None` if the owner wrote meanwhile. What is copied counts only with
    /// `ReadOutcome::Values`.
    fn try_remote(&self, tid: i64, into: &mut Values) -> Option<ReadOutcome> {
        let Some(block) = self.find(tid) else {
            return Some(ReadOutcome::Nothing);
        };
        // Acquire: pairs with the writer's fence before its even number; what we load below is at
        // least as new as that.
        let before = block.seq.load(Acquire);
        if before & 1 == 1 && !seeded_faults::is(Fault::SequenceIgnored) {
            return None;
        }
        // Loaded between two loads of one and the same number: while that stands, values that are
        // not empty are this owner's, which clears them under a new number before it gives the
        // block up. Loaded later, the owner could be `tid` again, after another thread had the
        // block. Acquire: the values are loaded later.
        let owner = block.owner.load(Acquire);
        let foreign = block.flags.load(Relaxed) & FLAG_FOREIGN_CLOSE != 0;
        let any = copy_values(block, into);
        if any {
            self.detach(block, into);
        }
        // Acquire: pairs with the writer's fence behind its odd number: had we loaded one of its
        // new values, we would see that number, or a later one, now. A single word is written behind
        // an even number and no odd one: with the number as before, all words but at most one are
        // as they were, so either value of that one makes a set that the owner had.
        fence(Acquire);
        if block.seq.load(Relaxed) != before && !seeded_faults::is(Fault::SequenceIgnored) {
            return None;
        }
        if owner != tid {
            return Some(ReadOutcome::Nothing);
        }
        Some(if foreign {
            ReadOutcome::Foreign
        } else if any {
            ReadOutcome::Values
        } else {
            ReadOutcome::Nothing
        })
    }

    /// The values in `block`, on its thread or while that cannot run.
    fn copy_block(&self, block: &Block, into: &mut Values) -> ReadOutcome {
        let found = copy(block, into);
        if found == ReadOutcome::Values {
            self.detach(block, into);
        }
        found
    }

    /// The block whose owner is `tid`.
    fn find(&self, tid: i64) -> Option<&'static Block> {
        if tid == 0 {
            return None; // 0 marks free blocks
        }
        let preferred = self.at(tid.cast_unsigned())?;
        // Acquire: pairs with the Release that frees a block, see `release`.
        let is_owner = |block: &Block| {
            block.owner.load(Acquire) == tid || seeded_faults::is(Fault::OwnerIgnored)
        };
        if is_owner(preferred) {
            return Some(preferred);
        }
        // Relaxed: `tid` itself set its bit, before it took the block.
        let reach = preferred.flags.load(Relaxed) >> REACH_SHIFT;
        let further = FurtherPlaces::of(tid).take_while(|&(class, _)| reach >> class & 0xff != 0);
        further
            .filter(|&(class, _)| reach >> class & 1 != 0)
            .filter_map(|(_, place)| self.at(place))
            .find(|block| is_owner(block))
    }

    /// The block at a place.
    fn at(&self, place: u64) -> Option<&'static Block> {
        let mask = self.blocks.len().wrapping_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "only the low bits choose the block"
        )]
        self.blocks.get(place as usize & mask)
    }
}

/// Signal-safe: the values in `block`.
///
/// `seq` is not loaded again: the owner is the interrupted thread itself, it cannot write while we
/// read.
fn copy(block: &Block, into: &mut Values) -> ReadOutcome {
    // Relaxed suffices for the same thread. Acquire costs nothing on x86-64, and is right for a
    // reader on another thread that checks `seq` again.
    if block.seq.load(Acquire) & 1 == 1 && !seeded_faults::is(Fault::SequenceIgnored) {
        return ReadOutcome::Torn;
    }
    if block.flags.load(Relaxed) & FLAG_FOREIGN_CLOSE != 0 {
        return ReadOutcome::Foreign;
    }
    if copy_values(block, into) {
        ReadOutcome::Values
    } else {
        ReadOutcome::Nothing
    }
}

#[cfg(test)]
impl BlockTable {
    /// Takes a block for a thread, as `BlockAllocator.claimNear` in Java does.
    pub(crate) fn claim(&self, tid: i64) -> bool {
        let take = |block: &Block| {
            let taken = block.owner.compare_exchange(0, tid, Acquire, Relaxed);
            taken.is_ok()
        };
        let preferred = &self.at(tid.cast_unsigned()).expect("a block");
        take(preferred)
            || FurtherPlaces::of(tid).any(|(class, place)| {
                let block = self.at(place).expect("a block");
                if block.owner.load(Relaxed) != 0 {
                    return false;
                }
                let reach = 1 << (REACH_SHIFT + class);
                preferred.flags.fetch_or(reach, Relaxed);
                take(block)
            })
    }

    pub(crate) fn has(&self, tid: i64) -> bool {
        self.find(tid).is_some()
    }

    pub(crate) fn block_at(&self, slot: usize) -> &'static Block {
        &self.blocks[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::STRIDE;
    use std::boxed::Box;
    use std::vec::Vec;

    fn table(n: usize) -> BlockTable {
        let blocks: Vec<Block> = (0..n).map(|_| zeroed()).collect();
        BlockTable::new(Box::leak(blocks.into_boxed_slice())).expect("power of two")
    }

    fn zeroed() -> Block {
        // SAFETY: a block is atomics only; all-zero bytes are a valid (free) block.
        unsafe { core::mem::zeroed() }
    }

    fn install(t: &BlockTable, slot: usize, tid: i64, ids: [u32; ATTRIBUTE_SLOTS]) {
        let b = &t.blocks[slot];
        b.owner.store(tid, Relaxed);
        for (to, v) in b.ids.iter().zip(ids) {
            to.store(v, Relaxed);
        }
    }

    /// Thread 7 works for a scope with serial 40 of thread 3, by an activation with serial 90.
    fn carried(t: &BlockTable, since: u64) {
        install(t, 7, 7, [11, 12, 0, 0, 0, 0, 0, 0]);
        let block = &t.blocks[7];
        block.ids[0].store_of(11, 90);
        block.ids[1].store_of(12, 92);
        block.origin.carried.store(90 | since << 32, Relaxed);
        block.origin.owner.store(3, Relaxed);
        block.origin.scope.store(40 | 5 << 32, Relaxed);
    }

    fn read_ids(t: &BlockTable) -> [u32; 2] {
        let mut values = Values::default();
        assert_eq!(t.read(7, &mut values), ReadOutcome::Values);
        [values.ids[0], values.ids[1]]
    }

    #[test]
    fn carried_values_are_detached_once_their_origin_closed_long_ago() {
        let t = table(256);
        carried(&t, 1);
        t.detach_after(30);
        assert_eq!(
            read_ids(&t),
            [DETACHED_ID, 12],
            "that of a scope within stays"
        );
        t.detach_after(0);
        assert_eq!(read_ids(&t), [11, 12], "never");
    }

    #[test]
    fn origin_that_is_open_or_closed_just_now_detaches_nothing() {
        let t = table(256);
        carried(&t, 0);
        t.detach_after(30);
        let since = || t.blocks[7].origin.carried.load(Relaxed) >> 32;
        assert_eq!(
            (read_ids(&t), since() > 0),
            ([11, 12], true),
            "no such thread"
        );
        install(&t, 3, 3, [0; ATTRIBUTE_SLOTS]);
        t.blocks[3].ids[5].store_of(1, 40);
        assert_eq!((read_ids(&t), since()), ([11, 12], 0), "open");
        t.blocks[3].ids[5].store_of(1, 42);
        assert_eq!(
            (read_ids(&t), since() > 0),
            ([11, 12], true),
            "another scope"
        );
    }

    /// A context of the next task is not taken for that of the last one.
    #[test]
    fn values_of_another_activation_are_not_detached() {
        let t = table(256);
        carried(&t, 1);
        t.detach_after(30);
        t.blocks[7].ids[0].store_of(11, 94);
        assert_eq!(read_ids(&t), [11, 12]);
    }

    #[test]
    fn table_size_is_a_power_of_two_and_at_least_the_places_of_a_thread() {
        let odd: Vec<Block> = (0..384).map(|_| zeroed()).collect();
        assert!(BlockTable::new(Box::leak(odd.into_boxed_slice())).is_none());
        let small: Vec<Block> = (0..16).map(|_| zeroed()).collect();
        assert!(BlockTable::new(Box::leak(small.into_boxed_slice())).is_none());
        assert_eq!(STRIDE, 192);
    }

    #[test]
    fn block_is_found_as_far_as_the_preferred_one_says() {
        let mut v = Values::default();
        let t = table(1 << 16);
        for (class, place) in FurtherPlaces::of(7) {
            let place = usize::try_from(place).expect("64 bits") % t.len();
            install(&t, place, 7, [1, 2, 3, 4, 5, 6, 7, 8]);
            t.blocks[7].flags.store(1 << (REACH_SHIFT + class), Relaxed);
            assert_eq!(t.read(7, &mut v), ReadOutcome::Values, "{class}");
            t.blocks[7].flags.store(!FLAGS_REACH, Relaxed);
            assert_eq!(t.read(7, &mut v), ReadOutcome::Nothing, "{class}");
            install(&t, place, 0, [0; 8]);
        }
    }

    #[test]
    fn another_threads_block_is_never_read() {
        let t = table(256);
        install(&t, 7, 7 + 256, [9; 8]);
        assert_eq!(t.read(7, &mut Values::default()), ReadOutcome::Nothing);
        assert_eq!(
            t.read(0, &mut Values::default()),
            ReadOutcome::Nothing,
            "0 is the free mark, not a thread"
        );
    }

    #[test]
    fn an_odd_sequence_or_a_foreign_close_hides_the_values() {
        let t = table(256);
        install(&t, 3, 3, [1; 8]);
        t.blocks[3].seq.store(5, Relaxed);
        assert_eq!(t.read(3, &mut Values::default()), ReadOutcome::Torn);
        t.blocks[3].seq.store(6, Relaxed);
        t.blocks[3]
            .flags
            .store(FLAG_FOREIGN_CLOSE | 1 << 16, Relaxed);
        assert_eq!(t.read(3, &mut Values::default()), ReadOutcome::Foreign);
        t.blocks[3].flags.store(1 << 16, Relaxed);
        assert_eq!(t.read(3, &mut Values::default()), ReadOutcome::Values);
    }

    #[test]
    fn evict_frees_the_block_of_its_thread_once() {
        let t = table(256);
        install(&t, 3, 3, [1; 8]);
        install(&t, 67, 67, [2; 8]);
        let mut owners = Vec::new();
        t.for_each_owner(|tid| owners.push(tid));
        assert_eq!(owners, [3, 67]);
        assert!(t.evict(3));
        assert!(!t.evict(3));
        assert_eq!(t.blocks[3].owner.load(Relaxed), 0);
        assert_eq!(t.read(67, &mut Values::default()), ReadOutcome::Values);
        assert_eq!(t.read(3, &mut Values::default()), ReadOutcome::Nothing);
    }

    /// A store of the writer, as Java does it, one step each: a signal may come between any two.
    type Step = fn(&Block);

    /// The handler's view before, between and after `steps`, from a block that shows `[1; 8]`.
    fn seen_between(steps: &[Step]) -> Vec<(ReadOutcome, [u32; ATTRIBUTE_SLOTS])> {
        let t = table(256);
        install(&t, 3, 3, [1; 8]);
        let read = || {
            let mut values = Values::default();
            (t.read(3, &mut values), values.ids)
        };
        let mut seen = std::vec![read()];
        for step in steps {
            step(&t.blocks[3]);
            seen.push(read());
        }
        seen
    }

    const ODD: Step = |b| b.seq.store(4 | 1, Relaxed);
    const EVEN: Step = |b| b.seq.store(4, Relaxed);
    const FIRST_HALF: Step = |b| b.ids[..4].iter().for_each(|id| id.store(2, Relaxed));
    const SECOND_HALF: Step = |b| b.ids[4..].iter().for_each(|id| id.store(2, Relaxed));

    fn is_whole(seen: &(ReadOutcome, [u32; ATTRIBUTE_SLOTS])) -> bool {
        match seen.0 {
            ReadOutcome::Torn => true,
            ReadOutcome::Values => seen.1 == [1; 8] || seen.1 == [2; 8],
            ReadOutcome::Nothing | ReadOutcome::Foreign => false,
        }
    }

    #[test]
    fn handler_between_any_two_stores_sees_one_set_or_a_torn_one() {
        let seen = seen_between(&[ODD, FIRST_HALF, SECOND_HALF, EVEN]);
        assert!(seen.iter().all(is_whole), "{seen:?}");
        assert_eq!(seen[4], (ReadOutcome::Values, [2; 8]));
        // The controls: what the fences are there to prevent is seen.
        for wrong in [
            [FIRST_HALF, ODD, SECOND_HALF, EVEN],
            [ODD, FIRST_HALF, EVEN, SECOND_HALF],
        ] {
            let seen = seen_between(&wrong);
            assert!(!seen.iter().all(is_whole), "{seen:?}");
        }
    }

    #[test]
    fn remote_read_takes_published_values_only() {
        let t = table(256);
        install(&t, 3, 3, [1; 8]);
        let read = |tid| {
            let mut values = Values {
                ids: [7; 8], // of an earlier read
                ..Values::default()
            };
            (t.read_remote(tid, &mut values), values)
        };
        let shown = Values {
            ids: [1; 8],
            ..Values::default()
        };
        assert_eq!(read(3), (ReadOutcome::Values, shown));
        assert_eq!(read(4), (ReadOutcome::Nothing, Values::default()));
        ODD(&t.blocks[3]);
        assert_eq!(read(3), (ReadOutcome::Torn, Values::default()));
        EVEN(&t.blocks[3]);
        t.blocks[3].flags.store(FLAG_FOREIGN_CLOSE, Relaxed);
        assert_eq!(read(3), (ReadOutcome::Foreign, Values::default()));
        assert_eq!(
            t.blocks[3].samples.load(Relaxed),
            0,
            "it writes nothing into a block of another thread"
        );
    }

    #[test]
    fn reach_of_a_place_stays_when_its_block_is_freed() {
        let t = table(256);
        let size = i64::try_from(t.len()).expect("small");
        assert!(t.claim(3) && t.claim(3 + size));
        assert!(t.release(3));
        assert!(t.has(3 + size), "found by the reach of block 3");
        assert!(t.claim(3) && t.evict(3) && t.has(3 + size));
    }

    #[test]
    fn release_leaves_a_free_clean_block_and_keeps_the_serial() {
        let t = table(256);
        install(&t, 3, 3, [1; 8]);
        t.blocks[3].next_serial.store(40, Relaxed);
        assert!(t.release(3));
        assert!(!t.release(3));
        let b = &t.blocks[3];
        assert_eq!(b.owner.load(Relaxed), 0);
        assert!(b.ids.iter().all(|id| id.load(Relaxed) == 0));
        assert_eq!(b.seq.load(Relaxed) & 1, 0);
        assert_eq!(b.next_serial.load(Relaxed), 42, "it never goes back");
    }
}
