//! What all handlers share: one object, built once by the agent, never freed, and changed through
//! its atomics only.

use crate::block::BlockTable;
use crate::counters::Counters;
use crate::engine::Engine;
use crate::engine::probes::{CpuProbes, ProbeTable};
use crate::filter::Filter;
use crate::java_thread::{CurrentThread, IdSource, VmLayout};
use crate::record::{RecordTable, ThreadRecord};
use crate::slots::SlotTable;
use crate::tls;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicUsize};
use stack_walker::safe_fetch::SafeFetch;
use stack_walker::{Memory, StackWalker};

/// What replaces the id source of the VM's layout after the self-test on a real virtual thread
/// failed. Changes at most twice: from `None` to `Off`, from there to `MountEvents`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum IdSourceOverride {
    /// Nothing: not tested yet, or right.
    None = 0,
    /// It was wrong: ids of virtual threads are not read.
    Off = 1,
    /// It was wrong: the VM posts mount events from now on.
    MountEvents = 2,
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
    /// When CPU samples are taken.
    pub engine: Engine,
    /// Which samples are wanted.
    pub filter: Filter,
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
    vm: VmLayout,
    /// An [`IdSourceOverride`] as a number.
    id_source_override: AtomicU32,
    /// Address of AsyncGetCallTrace, 0 = not used.
    asgct: AtomicUsize,
    /// Null = this VM cannot be walked by it, or no recording wanted it yet.
    stack_walker: AtomicPtr<OwnWalker>,
}

static PUBLISHED: AtomicPtr<HandlerState> = AtomicPtr::new(ptr::null_mut());

/// Set-up: makes `handler` the one that handlers use. Once; a second call changes nothing and says
/// `false`.
pub fn publish(handler: &'static HandlerState) -> bool {
    // Release: pairs with the Acquire in `published`.
    PUBLISHED
        .compare_exchange(
            ptr::null_mut(),
            ptr::from_ref(handler).cast_mut(),
            Release,
            Relaxed,
        )
        .is_ok()
}

/// Signal-safe: the published state.
pub fn published() -> Option<&'static HandlerState> {
    // SAFETY: null, or a `&'static HandlerState` stored by `publish`; only shared references are
    // ever made from it.
    unsafe { PUBLISHED.load(Acquire).as_ref() }
}

/// Set-up methods.
impl HandlerState {
    /// The state before the first recording. No memory is ever unmapped (rule 8).
    pub fn new(
        blocks: BlockTable,
        records: RecordTable,
        slots: SlotTable,
        cpus: &'static [CpuProbes],
        vm: VmLayout,
        tick_nanos: u64,
    ) -> Self {
        Self {
            counters: Counters::new(),
            blocks,
            records,
            depth: AtomicU32::new(u32::try_from(slots.depth()).unwrap_or(u32::MAX)),
            slots,
            engine: Engine::new(tick_nanos, ProbeTable::new(cpus)),
            filter: Filter::new(),
            walk_mode: AtomicU32::new(WalkMode::Asgct as u32),
            gc_pauses: AtomicU32::new(0),
            enabled: AtomicBool::new(false),
            wall_signal: AtomicI32::new(0),
            wall_needs_context: AtomicBool::new(false),
            in_flight: AtomicU32::new(0),
            vm,
            id_source_override: AtomicU32::new(IdSourceOverride::None as u32),
            asgct: AtomicUsize::new(0),
            stack_walker: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Chooses AsyncGetCallTrace, which walks stacks besides our own walker; 0 = do not use it.
    ///
    /// # Safety
    /// Rule 7: `address` is 0 or that of libjvm's `AsyncGetCallTrace`.
    pub unsafe fn set_asgct(&self, address: usize) {
        self.asgct.store(address, Relaxed);
    }

    /// Gives the handlers our own walker. The first one stays.
    pub fn set_stack_walker(&self, walker: &'static OwnWalker) {
        // Release: pairs with the Acquire in `stack_walker`.
        let _ = self.stack_walker.compare_exchange(
            ptr::null_mut(),
            ptr::from_ref(walker).cast_mut(),
            Release,
            Relaxed,
        );
    }

    /// Refuses an id source that failed its self-test; `false`: another thread did so before. No
    /// block of a virtual thread is published before its id was read right, so no sample can have
    /// shown a wrong context until now.
    pub fn refuse_id_source(&self) -> bool {
        self.id_source_override
            .compare_exchange(
                IdSourceOverride::None as u32,
                IdSourceOverride::Off as u32,
                Relaxed,
                Relaxed,
            )
            .is_ok()
    }

    /// After [`HandlerState::refuse_id_source`], when the VM posts mount events: uses these from
    /// now on. A virtual thread that is mounted already has no context until its next mount.
    pub fn use_mount_events(&self) {
        // Relaxed: `mounted` is written and read by the same thread.
        self.id_source_override
            .store(IdSourceOverride::MountEvents as u32, Relaxed);
    }

    /// Whether no handler is at work any more. After `enabled` was cleared (`SeqCst`) this stays
    /// true.
    pub fn quiet(&self) -> bool {
        // SeqCst with the handler's `in_flight` and its load of `enabled`: an Acquire could be
        // answered before the store of `enabled` is seen.
        self.in_flight.load(SeqCst) == 0
    }
}

/// Signal-safe methods.
impl HandlerState {
    /// The calling thread, if it is registered and running: by its TLS word, else by its OS thread
    /// id (threads that lived before the agent).
    pub fn current_thread(&self) -> Option<CurrentThread> {
        let record = tls::record().or_else(|| {
            // SAFETY: gettid has no arguments and cannot fail; on the list of system calls.
            let tid = unsafe { libc::syscall(libc::SYS_gettid) };
            let record = self.records.by_os_tid(i32::try_from(tid).ok()?)?;
            // Only Java threads keep the word: their end clears it again. The record of another
            // thread may be given to a third one without its knowing, so it is looked up each time.
            if record.java_thread.load(Relaxed) != 0 {
                // SAFETY: rule 5: registered under the calling thread's own id.
                unsafe { tls::set_record(Some(record)) };
            }
            Some(record)
        })?;
        // SAFETY: rule 5: the calling thread's own record, by `set_record` or its id, and running.
        record
            .running()
            .then(|| unsafe { CurrentThread::new(record) })
    }

    /// Address of AsyncGetCallTrace, 0 = not used.
    pub fn asgct(&self) -> usize {
        self.asgct.load(Relaxed)
    }

    /// Our own walker, if there is one.
    pub fn stack_walker(&self) -> Option<&'static OwnWalker> {
        // SAFETY: null, or a `&'static OwnWalker` stored by `set_stack_walker`; only shared
        // references are ever made from it.
        unsafe { self.stack_walker.load(Acquire).as_ref() }
    }

    /// HotSpot's state of the calling thread, -1 = not known.
    pub(crate) fn vm_state(&self, thread: CurrentThread) -> i32 {
        self.vm.state_of(thread)
    }

    /// What replaces the id source of the VM's layout.
    pub fn id_source_override(&self) -> IdSourceOverride {
        match self.id_source_override.load(Relaxed) {
            0 => IdSourceOverride::None,
            1 => IdSourceOverride::Off,
            _ => IdSourceOverride::MountEvents,
        }
    }

    /// Where the id of the logical thread is read now.
    pub fn id_source(&self) -> IdSource {
        match self.id_source_override() {
            IdSourceOverride::None => self.vm.id_source(),
            IdSourceOverride::Off => IdSource::Platform,
            IdSourceOverride::MountEvents => IdSource::MountEvents,
        }
    }

    /// The thread that Java code sees as current on the calling thread: the mounted virtual thread,
    /// or the platform thread.
    pub fn logical_tid(&self, thread: CurrentThread) -> i64 {
        let own = thread.java_tid.load(Relaxed);
        // SAFETY: rule 5: the offsets are those of `vm`.
        let byte = |offset| unsafe { thread.load::<u8>(offset) };
        // SAFETY: as above.
        let word = |offset| unsafe { thread.load_id(offset) };
        self.logical(&thread, byte, word).unwrap_or(own)
    }

    /// The same for another thread, which may be ending: every word is a checked load. `None` if
    /// this VM has none of those.
    pub fn logical_tid_of_other(&self, record: &ThreadRecord) -> Option<i64> {
        let memory = self.stack_walker()?.memory();
        let base = record.java_thread.load(Relaxed);
        let byte = |offset| memory.u8(base.wrapping_add(offset));
        let word = |offset| {
            let word = memory.word(base.wrapping_add(offset))?;
            i64::try_from(word).ok()
        };
        // The other thread may be between flag and id.
        match self.logical(record, byte, word)? {
            0 => Some(record.java_tid.load(Relaxed)),
            tid => Some(tid),
        }
    }

    /// `byte` and `word` read the `JavaThread` by offset, and are not called if there is none.
    fn logical(
        &self,
        record: &ThreadRecord,
        byte: impl Fn(usize) -> Option<u8>,
        word: impl Fn(usize) -> Option<i64>,
    ) -> Option<i64> {
        let own = record.java_tid.load(Relaxed);
        let mounted_or_own = |tid| if tid == 0 { own } else { tid };
        if record.java_thread.load(Relaxed) == 0 {
            return Some(own);
        }
        match self.id_source() {
            IdSource::Platform => Some(own),
            IdSource::Guarded { id, guard } => {
                if byte(guard) != Some(1) {
                    return Some(own);
                }
                // The VM writes the id before it raises the flag, in program order of this thread;
                // the compiler must not reorder the loads.
                core::sync::atomic::compiler_fence(Acquire);
                word(id)
            }
            IdSource::Current { id } => word(id).map(mounted_or_own),
            // Relaxed: this thread's own word, or a hint for another one.
            IdSource::MountEvents => Some(mounted_or_own(record.mounted.load(Relaxed))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::tests::fixture::new_handler_state;

    #[test]
    fn an_id_source_is_refused_once_and_mount_events_take_over() {
        let state = new_handler_state(1);
        let of_layout = state.vm.id_source();
        assert_eq!(state.id_source(), of_layout);
        assert_ne!(of_layout, IdSource::Platform);
        assert_eq!(state.id_source_override(), IdSourceOverride::None);
        assert!(state.refuse_id_source());
        assert_eq!(state.id_source(), IdSource::Platform);
        assert_eq!(state.id_source_override(), IdSourceOverride::Off);
        assert!(!state.refuse_id_source(), "by another thread");
        state.use_mount_events();
        assert_eq!(state.id_source(), IdSource::MountEvents);
        assert_eq!(state.id_source_override(), IdSourceOverride::MountEvents);
        assert!(!state.refuse_id_source());
    }
}
