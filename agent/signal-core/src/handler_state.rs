//! The one object that handlers reach: built once by the agent, leaked, never changed but through its atomics.

use crate::block::BlockTable;
use crate::counters::Counters;
use crate::engine::Engine;
use crate::filter::Filter;
use crate::record::{RecordTable, ThreadRecord};
use crate::slots::SlotTable;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicUsize};
use fault_injection::Fault;
use stack_walker::safe_fetch::SafeFetch;
use stack_walker::{Memory, StackWalker};

/// Where the id of the logical thread stands in a `JavaThread`. Offsets in bytes; found and verified off-signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdSource {
    /// No virtual threads (17), or offsets unknown: the platform thread's own id.
    Platform,
    /// The word at `id` holds for a mounted virtual thread while the byte at `guard` is 1 (21).
    Guarded {
        /// Offset of the 8-byte id.
        id: usize,
        /// Offset of the 1-byte flag.
        guard: usize,
    },
    /// The word at `id` always names the current thread, platform or virtual (25).
    Current {
        /// Offset of the 8-byte id.
        id: usize,
    },
    /// The record of the carrier holds it: the VM tells of each mount (any VM with mount events).
    Told,
}

/// What replaces [`VmLayout::id_source`] since the self-test on a real virtual thread. Goes one way: from `Nothing` to one of the others, once or
/// by way of `Off` to `Told`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Instead {
    /// Nothing: not tested yet, or right.
    Nothing = 0,
    /// It was wrong: ids of virtual threads are not read.
    Off = 1,
    /// It was wrong: the VM tells of each mount from now on.
    Told = 2,
}

/// What the handler knows of the VM.
#[derive(Debug, Clone, Copy)]
pub struct VmLayout {
    /// Where the logical thread id is.
    pub id_source: IdSource,
    /// Offset of the 4-byte thread state in a `JavaThread`, `None` = do not walk.
    pub thread_state: Option<usize>,
}

/// Our own walker.
pub type OwnWalker = StackWalker<SafeFetch>;

/// Which walker is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum WalkMode {
    /// AsyncGetCallTrace.
    Asgct = 0,
    /// Our own first, AsyncGetCallTrace where it fails.
    Own = 1,
    /// AsyncGetCallTrace; one sample in 16 is walked by both and compared.
    Shadow = 2,
}

/// Shared state of handlers and agent.
#[derive(Debug)]
pub struct HandlerState {
    /// Why samples were lost, and how many were not.
    pub counters: Counters,
    /// Context blocks.
    pub blocks: BlockTable,
    /// Threads.
    pub records: RecordTable,
    /// Samples on their way to the writer.
    pub slots: SlotTable,
    /// VM facts.
    pub vm: VmLayout,
    /// An [`Instead`] as a number. See [`HandlerState::id_source`].
    pub instead: AtomicU32,
    /// How sample points are chosen.
    pub engine: Engine,
    /// Which samples are wanted.
    pub filter: Filter,
    /// Address of AsyncGetCallTrace, 0 = not used.
    pub walker: AtomicUsize,
    /// Our own walker, null = this VM cannot be walked by it, or it was not asked for yet. See [`HandlerState::set_own`].
    pub own: AtomicPtr<OwnWalker>,
    /// A [`WalkMode`] as a number.
    pub walk_mode: AtomicU32,
    /// Frames to walk at most.
    pub depth: AtomicU32,
    /// Number of collections that have the VM stopped now (0 or 1).
    pub gc_pauses: AtomicU32,
    /// Samples are wanted.
    pub enabled: AtomicBool,
    /// The signal for wall-clock samples, 0 = none are taken.
    pub wall_signal: AtomicI32,
    /// Wall-clock samples are wanted of threads with a context only.
    pub wall_needs_context: AtomicBool,
    /// Handlers at work.
    pub in_flight: AtomicU32,
}

static PUBLISHED: AtomicPtr<HandlerState> = AtomicPtr::new(ptr::null_mut());

/// Makes `room` the one that handlers use. Once; a second call changes nothing and says `false`.
pub fn publish(handler: &'static HandlerState) -> bool {
    // Release: pairs with the Acquire in `room`.
    PUBLISHED
        .compare_exchange(
            ptr::null_mut(),
            ptr::from_ref(handler).cast_mut(),
            Release,
            Relaxed,
        )
        .is_ok()
}

/// Signal-safe: the published room.
pub fn published() -> Option<&'static HandlerState> {
    // SAFETY: null, or a `&'static HandlerState` stored by `publish`; only shared references are ever made from it.
    unsafe { PUBLISHED.load(Acquire).as_ref() }
}

impl HandlerState {
    /// Set-up: gives the handlers our own walker. The first one stays.
    pub fn set_own(&self, own: &'static OwnWalker) {
        // Release: pairs with the Acquire in `own`.
        let _ = self.own.compare_exchange(
            ptr::null_mut(),
            ptr::from_ref(own).cast_mut(),
            Release,
            Relaxed,
        );
    }

    /// Signal-safe: our own walker, if there is one.
    pub fn own(&self) -> Option<&'static OwnWalker> {
        // SAFETY: null, or a `&'static OwnWalker` stored by `set_own`; only shared references are ever made from it.
        unsafe { self.own.load(Acquire).as_ref() }
    }

    /// Set-up: takes the place of an id source that was found wrong. `false`: another thread did so before. No block of a virtual thread
    /// is published before its id was read right, so no handler can have shown a wrong context until now.
    pub fn refuse_id_source(&self) -> bool {
        self.instead
            .compare_exchange(
                Instead::Nothing as u32,
                Instead::Off as u32,
                Relaxed,
                Relaxed,
            )
            .is_ok()
    }

    /// Set-up: after [`HandlerState::refuse_id_source`], when the VM tells of mounts: from now on that is used. A virtual thread that is mounted already has
    /// no context until its next mount: `mounted` of its carrier is 0 until the first event.
    pub fn use_mounts(&self) {
        // Relaxed: `mounted` is written and read by the same thread.
        self.instead.store(Instead::Told as u32, Relaxed);
    }

    /// Signal-safe: where the id of the logical thread is read now.
    pub fn id_source(&self) -> IdSource {
        match self.instead.load(Relaxed) {
            0 => self.vm.id_source,
            told if told == Instead::Told as u32 => IdSource::Told,
            _ => IdSource::Platform,
        }
    }

    /// Signal-safe: the thread that Java code sees as current on the calling thread, whose record this is: the mounted virtual thread, or the
    /// platform thread.
    pub fn logical_tid(&self, record: &ThreadRecord) -> i64 {
        let base = record.java_thread.load(Relaxed);
        if fault_injection::is(Fault::CarrierContext) {
            return record.java_tid.load(Relaxed);
        }
        let byte = |offset| Some(load::<u8>(base, offset));
        let word = |offset| Some(load::<i64>(base, offset));
        self.logical(record, base, byte, word)
            .unwrap_or_else(|| record.java_tid.load(Relaxed))
    }

    /// The same for another thread, which may be ending: every word is a checked load. `None` if this VM has none of those.
    pub fn logical_tid_of_other(&self, record: &ThreadRecord) -> Option<i64> {
        let memory = self.own()?.memory();
        let base = record.java_thread.load(Relaxed);
        let byte = |offset| memory.u8(base.wrapping_add(offset));
        let word = |offset| {
            let word = memory.word(base.wrapping_add(offset))?;
            i64::try_from(word).ok()
        };
        // The other one may be between flag and id.
        match self.logical(record, base, byte, word)? {
            0 => Some(record.java_tid.load(Relaxed)),
            tid => Some(tid),
        }
    }

    /// `byte` and `word` read the `JavaThread` at `base` by offset, and are not called if there is none.
    fn logical(
        &self,
        record: &ThreadRecord,
        base: usize,
        byte: impl Fn(usize) -> Option<u8>,
        word: impl Fn(usize) -> Option<i64>,
    ) -> Option<i64> {
        let own = record.java_tid.load(Relaxed);
        let mounted_or_own = |tid| if tid == 0 { own } else { tid };
        if base == 0 {
            return Some(own);
        }
        match self.id_source() {
            IdSource::Platform => Some(own),
            IdSource::Guarded { id, guard } => {
                if byte(guard) != Some(1) {
                    return Some(own);
                }
                // The VM writes the id before it raises the flag, in program order of this thread; the compiler must not turn that round.
                core::sync::atomic::compiler_fence(Acquire);
                word(id).map(|tid| possibly_wrong_id(tid, own))
            }
            IdSource::Current { id } => {
                word(id).map(|tid| possibly_wrong_id(mounted_or_own(tid), own))
            }
            // Relaxed: this thread's own word, or a hint for another one.
            IdSource::Told => Some(mounted_or_own(record.mounted.load(Relaxed))),
        }
    }

    /// Set-up: whether no handler is at work any more. After `enabled` was cleared (`SeqCst`) this stays true.
    pub fn quiet(&self) -> bool {
        // SeqCst with the handler's `in_flight` and its look at `enabled`: an Acquire could be answered before the store of `enabled` is seen.
        self.in_flight.load(SeqCst) == 0
    }
}

/// The id that the VM's tables lead to; with a seeded fault that of another virtual thread.
fn possibly_wrong_id(tid: i64, own: i64) -> i64 {
    if tid != own && fault_injection::is(Fault::OtherVirtualThread) {
        return tid.wrapping_add(1);
    }
    tid
}

/// A word of the `JavaThread` at `base`, of the calling thread.
pub(crate) fn load<T: Copy>(base: usize, offset: usize) -> T {
    let place: *const T = ptr::with_exposed_provenance(base.wrapping_add(offset));
    // SAFETY: rule 5: the record is running, so its JavaThread is alive; the offset was verified against this VM at start.
    unsafe { ptr::read_volatile(place) }
}
