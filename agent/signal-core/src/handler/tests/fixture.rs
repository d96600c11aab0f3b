//! One handler state for all tests of this directory (a process has one), and threads without a VM: a
//! "JavaThread" is a few words of ours.

use crate::block::BlockTable;
use crate::engine::Source;
use crate::engine::probes::{CpuProbes, MAX_CPUS};
use crate::handler::{SignalInfo, cookie, on_signal, set_previous};
use crate::handler_state::{HandlerState, publish};
use crate::java_thread::{IdSource, VmLayout};
use crate::layout::Block;
use crate::record::{RecordTable, ThreadFacts, ThreadRecord};
use crate::tls;
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::alloc::{GlobalAlloc, Layout, System};
use std::boxed::Box;
use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::vec::Vec;

/// Counts what the marked thread allocates while the flag is up.
struct Counting;
pub(super) static ALLOCATIONS: AtomicU32 = AtomicU32::new(0);
std::thread_local! { pub(super) static WATCHED: Cell<bool> = const { Cell::new(false) }; }

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if WATCHED.try_with(Cell::get).unwrap_or(false) {
            ALLOCATIONS.fetch_add(1, Relaxed);
        }
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A VM thread for the handler: word 0 = id of the mounted virtual thread, byte 8 = guard, word 12
/// = thread state.
#[repr(C)]
struct FakeThread {
    id: i64,
    guard: u8,
    state: i32,
}

/// The calling thread, registered until this is dropped.
pub(super) struct Registered {
    handler: &'static HandlerState,
    index: u32,
    fake: Box<UnsafeCell<FakeThread>>,
}

impl Registered {
    /// Without a virtual thread, in Java.
    pub(super) fn new(handler: &'static HandlerState, index: u32, java_tid: i64) -> Self {
        let fake = Box::new(UnsafeCell::new(FakeThread {
            id: 0,
            guard: 0,
            state: 8,
        }));
        let facts = ThreadFacts {
            os_tid: gettid(),
            serial: 77,
            java_tid,
            java_thread: fake.get().expose_provenance(),
            ..ThreadFacts::default()
        };
        // SAFETY: the fake lives until the record is retired.
        assert!(unsafe { handler.records.publish(index, &facts) });
        forget_record(); // the first signal finds it by id
        Self {
            handler,
            index,
            fake,
        }
    }

    pub(super) fn set(&self, id: i64, guard: u8, state: i32) {
        // SAFETY: only this thread and its handler use it.
        unsafe {
            self.fake
                .get()
                .write_volatile(FakeThread { id, guard, state });
        };
    }

    pub(super) fn record(&self) -> &'static ThreadRecord {
        self.handler.records.at(self.index).expect("its record")
    }

    /// Its stack reaches far enough below and above.
    pub(super) fn set_stack(&self) {
        let on_stack = 0_u8;
        let address = ptr::from_ref(&on_stack).addr();
        self.record()
            .stack_low
            .store(address - (128 << 10), Relaxed);
        self.record()
            .stack_high
            .store(address + (128 << 10), Relaxed);
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // SAFETY: on its thread; no handler runs.
        unsafe { self.handler.records.retire(self.record()) };
        forget_record();
    }
}

/// The thread's word names no record any more.
pub(super) fn forget_record() {
    // SAFETY: none is always right.
    unsafe { tls::set_record(None) };
}

pub(super) fn set_asgct(handler: &HandlerState, function: usize) {
    // SAFETY: a function of the tests with that signature, or none.
    unsafe { handler.set_asgct(function) };
}

pub(super) fn pass_on_to(action: usize, flags: i32) {
    // SAFETY: an action of the tests, or the default one.
    unsafe { set_previous(libc::SIGPROF, action, flags) };
}

const RECORDS: usize = 64;

/// The state; tests take turns.
pub(super) fn handler_in_turn() -> (MutexGuard<'static, ()>, &'static HandlerState) {
    static TURN: Mutex<()> = Mutex::new(());
    static MADE: OnceLock<&'static HandlerState> = OnceLock::new();
    let turn = TURN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let handler = MADE.get_or_init(|| {
        let handler: &'static HandlerState = Box::leak(Box::new(new_handler_state(4_194_305)));
        assert!(publish(handler));
        install_action(libc::SA_SIGINFO | libc::SA_RESTART);
        handler
    });
    handler.slots.drain(|_, _| {});
    handler.enabled.store(true, SeqCst);
    (turn, handler)
}

/// With records by this many OS thread ids.
pub(crate) fn new_handler_state(tids: usize) -> HandlerState {
    // SAFETY: blocks and records are atomics only; zero is valid and free.
    let blocks: Vec<Block> = (0..256).map(|_| unsafe { core::mem::zeroed() }).collect();
    // SAFETY: as above.
    let records: Vec<ThreadRecord> = (0..RECORDS)
        .map(|_| unsafe { core::mem::zeroed() })
        .collect();
    // SAFETY: as above.
    let cpus: Vec<CpuProbes> = (0..MAX_CPUS)
        .map(|_| unsafe { core::mem::zeroed() })
        .collect();
    let tids: Vec<AtomicU32> = (0..tids).map(|_| AtomicU32::new(0)).collect();
    // SAFETY: `FakeThread` is laid out like this.
    let vm = unsafe { VmLayout::new(IdSource::Guarded { id: 0, guard: 8 }, Some(12)) };
    let state = HandlerState::new(
        BlockTable::new(Box::leak(blocks.into_boxed_slice())).expect("power of two"),
        RecordTable::new(
            Box::leak(records.into_boxed_slice()),
            Box::leak(tids.into_boxed_slice()),
        ),
        crate::slots::tests::table(128, 16),
        Box::leak(cpus.into_boxed_slice()),
        vm,
        4_000_000,
    );
    state.enabled.store(true, Relaxed);
    state
}

pub(super) fn install_action(flags: i32) {
    // SAFETY: zero is a valid sigaction to start from.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = on_signal as *const () as usize;
    action.sa_flags = flags;
    // SAFETY: a valid action for a signal that this test process uses for nothing else.
    let done = unsafe { libc::sigaction(libc::SIGPROF, &raw const action, ptr::null_mut()) };
    assert_eq!(done, 0);
}

pub(super) fn gettid() -> i32 {
    // SAFETY: no arguments, cannot fail.
    i32::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).expect("a thread id")
}

/// Sends the calling thread a signal that carries `cookie` the way `rt_tgsigqueueinfo` does.
pub(super) fn send(code: i32, value: usize) {
    send_late(code, value, 0);
}

/// The same after so many further expiries.
pub(super) fn send_late(code: i32, value: usize, overrun: i32) {
    send_to(gettid(), code, value, overrun);
}

/// The same to a thread of this process.
pub(super) fn send_to(tid: i32, code: i32, value: usize, overrun: i32) {
    let info = [0_i32; 32];
    // SAFETY: 128 bytes, the size of siginfo_t.
    let mut info: libc::siginfo_t = unsafe { core::mem::transmute(info) };
    let head: *mut SignalInfo = (&raw mut info).cast();
    // SAFETY: the head lies within the 128 bytes.
    unsafe {
        *head = SignalInfo {
            signo: libc::SIGPROF,
            errno: 0,
            code,
            pad: 0,
            timer_id_or_pid: 0,
            overrun_or_uid: overrun,
            value,
        }
    };
    // SAFETY: no arguments.
    let pid = unsafe { libc::getpid() };
    // SAFETY: a valid siginfo for our own process and thread.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            pid,
            tid,
            libc::SIGPROF,
            &raw const info,
        )
    };
    assert_eq!(sent, 0, "{}", std::io::Error::last_os_error());
}

pub(super) fn storm() {
    send(libc::SI_QUEUE, cookie(Source::Storm));
}

pub(super) fn install(handler: &HandlerState, tid: i64, id: u32, odd: bool) -> &'static Block {
    let block = handler
        .blocks
        .block_at(usize::try_from(tid).expect("small"));
    block.owner.store(tid, Relaxed);
    block.ids[0].store(id, Relaxed);
    block.seq.store(u32::from(odd), Relaxed);
    block.event_mask.store(u32::MAX, Relaxed);
    block.samples.store(0, Relaxed); // another test may have had this place
    block
}
