//! The handler under real signals and real timers, without a VM: the "JavaThread" is a few words of ours.

use super::*;
use crate::block::BlockTable;
use crate::counters::Counters;
use crate::engine::{Engine, Policy};
use crate::handler_state::IdSource;
use crate::handler_state::{VmLayout, WalkMode, publish};
use crate::layout::Block;
use crate::record::WALL_PENDING;
use crate::record::{RecordTable, ThreadFacts};
use core::sync::atomic::{AtomicBool, AtomicI32};
use std::alloc::{GlobalAlloc, Layout, System};
use std::boxed::Box;
use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::vec::Vec;

/// Counts what the marked thread allocates while the flag is up.
struct Counting;
static ALLOCATIONS: AtomicU32 = AtomicU32::new(0);
std::thread_local! { static WATCHED: Cell<bool> = const { Cell::new(false) }; }

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

/// A VM thread for the handler: word 0 = id of the mounted virtual thread, byte 8 = guard, word 16 = thread state.
#[repr(C)]
struct FakeThread {
    id: i64,
    guard: u8,
    state: i32,
}

const RECORDS: usize = 64;

/// One room for all tests of this file (a process has one); tests take turns.
fn handler_in_turn() -> (MutexGuard<'static, ()>, &'static HandlerState) {
    static TURN: Mutex<()> = Mutex::new(());
    static MADE: OnceLock<&'static HandlerState> = OnceLock::new();
    let turn = TURN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let handler = MADE.get_or_init(|| {
        let handler: &'static HandlerState = Box::leak(Box::new(new_handler_state()));
        assert!(publish(handler));
        install_action(libc::SA_SIGINFO | libc::SA_RESTART);
        handler
    });
    handler.slots.drain(|_, _| {});
    handler.enabled.store(true, SeqCst);
    (turn, handler)
}

fn new_handler_state() -> HandlerState {
    // SAFETY: blocks and records are atomics only; zero is valid and free.
    let blocks: Vec<Block> = (0..64).map(|_| unsafe { core::mem::zeroed() }).collect();
    // SAFETY: as above.
    let records: Vec<ThreadRecord> = (0..RECORDS)
        .map(|_| unsafe { core::mem::zeroed() })
        .collect();
    let tids: Vec<AtomicU32> = (0..4_194_305).map(|_| AtomicU32::new(0)).collect();
    HandlerState {
        counters: Counters::new(),
        blocks: BlockTable::new(Box::leak(blocks.into_boxed_slice())).expect("power of two"),
        records: RecordTable::new(
            Box::leak(records.into_boxed_slice()),
            Box::leak(tids.into_boxed_slice()),
        ),
        slots: crate::slots::tests::table(128, 16),
        vm: VmLayout {
            id_source: IdSource::Guarded { id: 0, guard: 8 },
            thread_state: Some(12),
        },
        instead: AtomicU32::new(0),
        filter: crate::filter::Filter::new(),
        engine: Engine::new(4_000_000),
        walker: AtomicUsize::new(0),
        own: core::sync::atomic::AtomicPtr::new(ptr::null_mut()),
        walk_mode: AtomicU32::new(0),
        depth: AtomicU32::new(16),
        gc_pauses: AtomicU32::new(0),
        wall_signal: AtomicI32::new(0),
        wall_needs_context: AtomicBool::new(false),
        enabled: AtomicBool::new(true),
        in_flight: AtomicU32::new(0),
    }
}

fn install_action(flags: i32) {
    // SAFETY: zero is a valid sigaction to start from.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = on_signal as *const () as usize;
    action.sa_flags = flags;
    // SAFETY: a valid action for a signal that this test process uses for nothing else.
    let done = unsafe { libc::sigaction(libc::SIGPROF, &raw const action, ptr::null_mut()) };
    assert_eq!(done, 0);
}

fn gettid() -> i32 {
    // SAFETY: no arguments, cannot fail.
    i32::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).expect("a thread id")
}

/// Registers the calling thread as record `index` over `fake`.
fn register(handler: &HandlerState, index: u32, fake: &FakeThread, java_tid: i64) {
    let facts = ThreadFacts {
        os_tid: gettid(),
        serial: 77,
        java_tid,
        java_thread: ptr::from_ref(fake).expose_provenance(),
        ..ThreadFacts::default()
    };
    assert!(handler.records.publish(index, &facts));
    tls::set_record(None); // the first signal finds it by id
}

/// Sends the calling thread a signal that carries `cookie` the way `rt_tgsigqueueinfo` does.
fn send(code: i32, value: usize) {
    send_late(code, value, 0);
}

/// The same after so many further expiries.
fn send_late(code: i32, value: usize, overrun: i32) {
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
            gettid(),
            libc::SIGPROF,
            &raw const info,
        )
    };
    assert_eq!(sent, 0, "{}", std::io::Error::last_os_error());
}

fn storm() {
    send(libc::SI_QUEUE, cookie(Source::Storm));
}

fn install(handler: &HandlerState, tid: i64, id: u32, odd: bool) -> &'static Block {
    let block = handler
        .blocks
        .place_for_test(usize::try_from(tid).expect("small"));
    block.owner.store(tid, Relaxed);
    block.ids[0].store(id, Relaxed);
    block.seq.store(u32::from(odd), Relaxed);
    block.event_mask.store(u32::MAX, Relaxed);
    block.samples.store(0, Relaxed); // another test may have had this place
    block
}

#[test]
fn a_sample_carries_the_context_of_the_mounted_virtual_thread_or_of_the_platform_thread() {
    let (_turn, handler) = handler_in_turn();
    let mut fake = FakeThread {
        id: 9,
        guard: 1,
        state: 8,
    };
    register(handler, 0, &fake, 5);
    let on_virtual = install(handler, 9, 90, false);
    let on_platform = install(handler, 5, 50, false);
    storm();
    let mut seen = Vec::new();
    handler.slots.drain(|h, _| {
        seen.push((
            h.logical_tid.load(Relaxed),
            h.values().ids[0],
            h.is_virtual.load(Relaxed),
        ));
    });
    fake.guard = 0; // unmounted; the id is stale now, as in a real VM
    register(handler, 0, &fake, 5);
    storm();
    handler.slots.drain(|h, _| {
        seen.push((
            h.logical_tid.load(Relaxed),
            h.values().ids[0],
            h.is_virtual.load(Relaxed),
        ));
    });
    assert_eq!(seen, [(9, 90, 1), (5, 50, 0)]);
    assert_eq!(
        (
            on_virtual.samples.load(Relaxed),
            on_platform.samples.load(Relaxed)
        ),
        (1, 1)
    );
    on_virtual.owner.store(0, Relaxed);
    on_platform.owner.store(0, Relaxed);
    handler
        .records
        .retire(handler.records.at(0).expect("record 0"));
}

/// Stands for AsyncGetCallTrace on a stack of twelve frames.
unsafe extern "C" fn twelve_frames(trace: *mut [usize; 3], depth: i32, _: *mut c_void) {
    // SAFETY: the caller's structure: environment, number of frames, frames.
    let trace = unsafe { &mut *trace };
    trace[1] = usize::try_from(depth).expect("small").min(12);
}

#[test]
fn shadow_mode_cuts_no_stack_that_fits_a_slot() {
    let (_turn, handler) = handler_in_turn();
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    register(handler, 12, &fake, 22);
    let record = handler.records.at(12).expect("record 12");
    let here = ptr::from_ref(&fake).addr();
    record.stack_low.store(here - (128 << 10), Relaxed);
    record.stack_high.store(here + (128 << 10), Relaxed);
    handler
        .walker
        .store(twelve_frames as *const () as usize, Relaxed);
    handler.walk_mode.store(WalkMode::Shadow as u32, Relaxed);
    // One in 16 is compared. A slot has room for 16 frames.
    for _ in 0..32 {
        storm();
    }
    handler.walker.store(0, Relaxed);
    handler.walk_mode.store(0, Relaxed);
    let mut walked = Vec::new();
    handler.slots.drain(|h, frames| {
        walked.push((h.walk.load(Relaxed), frames.len()));
    });
    assert_eq!(walked, [(12, 12); 32]);
    handler.records.retire(record);
}

#[test]
fn a_sample_without_context_does_not_show_the_one_before_it_in_the_slot() {
    let (_turn, handler) = handler_in_turn();
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    register(handler, 6, &fake, 16);
    let block = install(handler, 16, 3, false);
    for _ in 0..handler.slots.len() {
        storm();
    }
    let drain = |expected: u32| {
        let mut seen = 0;
        handler.slots.drain(|h, _| {
            assert_eq!(h.values().ids[0], expected);
            seen += 1;
        });
        assert_eq!(seen, handler.slots.len());
    };
    drain(3);
    for (owner, seq) in [(16, 1), (0, 2)] {
        // Torn, then no block at all.
        block.seq.store(seq, Relaxed);
        block.owner.store(owner, Relaxed);
        for _ in 0..handler.slots.len() {
            storm();
        }
        drain(0);
    }
    handler
        .records
        .retire(handler.records.at(6).expect("record 6"));
}

/// Stands for AsyncGetCallTrace, or for a system call of the handler's that fails.
unsafe extern "C" fn sets_errno(trace: *mut [usize; 3], _: i32, _: *mut c_void) {
    // SAFETY: the caller's structure: environment, number of frames, frames.
    unsafe { (*trace)[1] = 0 };
    // SAFETY: the address of this thread's errno.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: this thread's errno.
    unsafe { *place = libc::EINVAL };
    ERRNO_SET.fetch_add(1, Relaxed);
}

static ERRNO_SET: AtomicU32 = AtomicU32::new(0);

#[test]
fn the_handler_allocates_nothing_and_keeps_errno() {
    let (_turn, handler) = handler_in_turn();
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    register(handler, 1, &fake, 11);
    let record = handler.records.at(1).expect("record 1");
    let here = ptr::from_ref(&fake).addr();
    record.stack_low.store(here - (128 << 10), Relaxed);
    record.stack_high.store(here + (128 << 10), Relaxed);
    handler
        .walker
        .store(sets_errno as *const () as usize, Relaxed);
    let block = install(handler, 11, 3, false);
    let captured = handler.counters.get(Counter::Captured);
    // SAFETY: the address of this thread's errno.
    let errno_place = unsafe { libc::__errno_location() };
    // SAFETY: this thread's errno.
    unsafe { *errno_place = 4711 };
    WATCHED.set(true);
    let before = ALLOCATIONS.load(Relaxed);
    for _ in 0..100 {
        storm();
    }
    let after = ALLOCATIONS.load(Relaxed);
    // SAFETY: this thread's errno. (`storm` itself succeeds and leaves it alone.)
    let errno = unsafe { *errno_place };
    // A control that the counter works.
    drop(std::hint::black_box(Box::new([0_u8; 64])));
    let control = ALLOCATIONS.load(Relaxed);
    WATCHED.set(false);
    handler.walker.store(0, Relaxed);
    assert!(
        ERRNO_SET.load(Relaxed) >= 100,
        "each handler has changed it"
    );
    assert_eq!(after, before, "allocations in 100 signals");
    assert!(control > after, "the counting allocator counts");
    assert_eq!(errno, 4711);
    assert_eq!(handler.counters.get(Counter::Captured) - captured, 100);
    block.owner.store(0, Relaxed);
    handler
        .records
        .retire(handler.records.at(1).expect("record 1"));
}

#[test]
fn each_lost_signal_has_a_reason_and_the_sum_is_exact() {
    let (_turn, handler) = handler_in_turn();
    let get = |c| handler.counters.get(c);
    let causes = [
        Counter::Captured,
        Counter::LostNoSlot,
        Counter::LostUnknownThread,
        Counter::LostReentry,
    ];
    let weights = [
        Counter::Overruns,
        Counter::WeightLost,
        Counter::WeightFiltered,
    ];
    let before = (get(Counter::Signals), causes.map(get), weights.map(get));
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    tls::set_record(None);
    storm(); // no record yet
    register(handler, 2, &fake, 12);
    for _ in 0..200 {
        storm(); // 128 slots: the last 72 find none
    }
    let record = handler.records.at(2).expect("record 2");
    record.in_handler.store(1, Relaxed);
    storm();
    record.in_handler.store(0, Relaxed);
    let now = causes.map(get);
    let gained: Vec<u64> = now.iter().zip(before.1).map(|(n, b)| n - b).collect();
    assert_eq!(gained, [128, 72, 1, 1]);
    assert_eq!(get(Counter::Signals) - before.0, gained.iter().sum::<u64>());

    // Of samples that stand for several intervals: one without a slot, then one filtered, then one taken.
    handler.engine.configure(Policy::Tick, 10_000_000);
    let late = |overrun| send_late(libc::SI_TIMER, cookie(Source::Coarse), overrun);
    late(4);
    let taken = |handler: &HandlerState| {
        let mut taken = 0;
        handler
            .slots
            .drain(|h, _| taken += u64::from(h.weight.load(Relaxed)));
        taken
    };
    let mut written = taken(handler);
    handler
        .filter
        .set_without_context(!schema::event_mask::EXECUTION_SAMPLE_BIT);
    late(2);
    handler.filter.set_without_context(u32::MAX);
    late(1);
    written += taken(handler);
    let now = weights.map(get);
    let gained: Vec<u64> = now.iter().zip(before.2).map(|(n, b)| n - b).collect();
    assert_eq!(gained, [4 + 2 + 1, 72 + 1 + 1 + 5, 3]);
    assert_eq!(
        written + gained[1] + gained[2],
        get(Counter::Signals) - before.0 + gained[0]
    );
    handler.records.retire(record);
}

#[test]
fn a_foreign_signal_is_not_a_sample_and_reaches_the_action_before_us() {
    static REACHED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn earlier(_: i32, _: *mut libc::siginfo_t, _: *mut c_void) {
        REACHED.fetch_add(1, Relaxed);
    }
    let (_turn, handler) = handler_in_turn();
    let signals = handler.counters.get(Counter::Signals);
    send(libc::SI_QUEUE, 0x1234); // nobody before us: dropped, the process lives
    set_previous(
        libc::SIGPROF,
        earlier as *const () as usize,
        libc::SA_SIGINFO,
    );
    send(libc::SI_QUEUE, cookie(Source::Coarse)); // our address, but not from a timer
    // SAFETY: sends ourselves a plain SIGPROF.
    unsafe { libc::raise(libc::SIGPROF) };
    set_previous(libc::SIGPROF, libc::SIG_DFL, 0);
    assert_eq!(REACHED.load(Relaxed), 2);
    assert_eq!(handler.counters.get(Counter::Signals), signals);
}

#[test]
fn what_the_kernel_did_not_give_is_not_believed() {
    let (_turn, handler) = handler_in_turn();
    let counted = || handler.counters.get(Counter::WithoutValue);
    let before = counted();
    let on_stack = |signo| SignalInfo {
        signo,
        errno: 0,
        code: libc::SI_QUEUE,
        pad: 0,
        timer_id_or_pid: 0,
        overrun_or_uid: 0,
        value: cookie(Source::Storm),
    };
    // Nowhere; something of this signal, but no context; something of another signal.
    let nowhere = ptr::without_provenance_mut::<libc::siginfo_t>(64);
    let (mut same, mut other) = (on_stack(libc::SIGPROF), on_stack(libc::SIGALRM));
    // SAFETY: zero is a valid context.
    let mut context: libc::ucontext_t = unsafe { core::mem::zeroed() };
    let context = (&raw mut context).cast();
    for (info, context) in [
        (nowhere, nowhere.cast()),
        ((&raw mut same).cast(), nowhere.cast()),
        ((&raw mut other).cast(), context),
    ] {
        // SAFETY: as an action without SA_SIGINFO is called where the registers hold this.
        unsafe { on_signal(libc::SIGPROF, info, context) };
    }
    assert_eq!(counted(), before + 3);
    if cfg!(target_arch = "aarch64") {
        install_action(libc::SA_RESTART);
        storm();
        install_action(libc::SA_SIGINFO | libc::SA_RESTART);
        assert_eq!(counted(), before + 4);
    }
}

#[test]
fn a_signal_on_an_alternate_stack_is_a_sample_like_any_other() {
    let (_turn, handler) = handler_in_turn();
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    register(handler, 13, &fake, 23);
    let captured = handler.counters.get(Counter::Captured);
    let mut stack = std::vec![0_u8; 128 << 10];
    let alternate = libc::stack_t {
        ss_sp: stack.as_mut_ptr().cast(),
        ss_flags: 0,
        ss_size: stack.len(),
    };
    // SAFETY: zero is a valid answer to be overwritten.
    let mut before: libc::stack_t = unsafe { core::mem::zeroed() };
    // SAFETY: memory that lives until the stack before it is back.
    let set = unsafe { libc::sigaltstack(&raw const alternate, &raw mut before) };
    assert_eq!(set, 0);
    install_action(libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK);
    storm();
    install_action(libc::SA_SIGINFO | libc::SA_RESTART);
    // SAFETY: what was there before.
    let set = unsafe { libc::sigaltstack(&raw const before, ptr::null_mut()) };
    assert_eq!(set, 0);
    assert!(stack.iter().any(|byte| *byte != 0), "it was used");
    assert_eq!(handler.counters.get(Counter::Captured), captured + 1);
    handler
        .records
        .retire(handler.records.at(13).expect("record 13"));
}

#[test]
fn a_foreign_signal_that_the_action_before_us_passes_back_to_us_ends_there() {
    static REACHED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn earlier(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
        REACHED.fetch_add(1, Relaxed);
        // SAFETY: what the kernel gave.
        unsafe { on_signal(signal, info, context) };
    }
    let (_turn, handler) = handler_in_turn();
    let cycles = handler.counters.get(Counter::ForeignCycle);
    let action = earlier as *const () as usize;
    set_previous(libc::SIGPROF, action, libc::SA_SIGINFO);
    for _ in 0..3 {
        // SAFETY: sends ourselves a plain SIGPROF.
        unsafe { libc::raise(libc::SIGPROF) };
    }
    set_previous(libc::SIGPROF, libc::SIG_DFL, 0);
    assert_eq!(REACHED.load(Relaxed), 3);
    assert_eq!(handler.counters.get(Counter::ForeignCycle), cycles + 3);
}

#[test]
fn a_wall_clock_signal_is_a_sample_of_its_own_kind_and_tells_how_it_found_the_thread() {
    let (_turn, handler) = handler_in_turn();
    let (blocked, in_java) = (10, 8);
    let mut fake = FakeThread {
        id: 0,
        guard: 0,
        state: blocked,
    };
    register(handler, 0, &fake, 5);
    let block = install(handler, 5, 50, false);
    let (samples, signals) = (
        block.samples.load(Relaxed),
        handler.counters.get(Counter::Signals),
    );
    let record = handler.records.at(0).expect("record 0");
    let wall = || {
        record.wall_state.store(WALL_PENDING, Relaxed);
        send(libc::SI_QUEUE, cookie(Source::Wall));
        record.wall_state.load(Relaxed)
    };
    assert_eq!(wall(), WALL_ASLEEP);
    fake.state = in_java;
    register(handler, 0, &fake, 5);
    assert_eq!(wall(), WALL_AWAKE);
    let mut seen = Vec::new();
    handler
        .slots
        .drain(|h, _| seen.push((h.kind.load(Relaxed), h.values().ids[0])));
    let (asleep, awake) = (SampleKind::WallAsleep as u32, SampleKind::WallAwake as u32);
    assert_eq!(seen, [(asleep, 50), (awake, 50)]);

    // Not wanted: by the context's filter, and without a context where one is asked for.
    let causes = [Counter::WallFiltered, Counter::WallNoContext];
    let before = causes.map(|c| handler.counters.get(c));
    block
        .event_mask
        .store(!schema::event_mask::WALL_CLOCK_SAMPLE_BIT, Relaxed);
    assert_eq!(wall(), WALL_LEFT_OUT);
    block.ids[0].store(0, Relaxed);
    handler.wall_needs_context.store(true, Relaxed);
    assert_eq!(wall(), WALL_LEFT_OUT);
    handler.wall_needs_context.store(false, Relaxed);
    let now = causes.map(|c| handler.counters.get(c));
    assert_eq!([now[0] - before[0], now[1] - before[1]], [1, 1]);
    assert_eq!(handler.slots.drain(|_, _| {}), 0);
    // CPU time has counters of its own, and the block counts CPU samples only.
    assert_eq!(handler.counters.get(Counter::Signals), signals);
    assert_eq!(block.samples.load(Relaxed), samples);

    // Lost: no slot is free, or our own handler is at work.
    for _ in 0..handler.slots.len() {
        storm();
    }
    assert_eq!(wall(), WALL_LEFT_OUT);
    handler.slots.drain(|_, _| {});
    record.in_handler.store(1, Relaxed);
    assert_eq!(wall(), WALL_LEFT_OUT);
    record.in_handler.store(0, Relaxed);
    assert_eq!(wall(), WALL_AWAKE);
    handler.slots.drain(|_, _| {});
    handler.records.retire(record);
}

/// Runs `body` while the kernel has no room for another queued signal of this process.
fn without_room_for_signals(body: impl FnOnce()) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a place for the answer.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_SIGPENDING, &raw mut limit) };
    assert_eq!(asked, 0);
    let set = |most| {
        let limit = libc::rlimit {
            rlim_cur: most,
            ..limit
        };
        // SAFETY: a limit between none and the highest.
        let set = unsafe { libc::setrlimit(libc::RLIMIT_SIGPENDING, &raw const limit) };
        assert_eq!(set, 0);
    };
    set(0);
    body();
    set(limit.rlim_cur);
}

#[test]
fn a_signal_that_lost_its_value_on_the_way_is_known_by_who_waits_for_it() {
    static REACHED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn earlier(_: i32, _: *mut libc::siginfo_t, _: *mut c_void) {
        REACHED.fetch_add(1, Relaxed);
    }
    let (_turn, handler) = handler_in_turn();
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    register(handler, 9, &fake, 19);
    let record = handler.records.at(9).expect("record 9");
    let counted = [Counter::Foreign, Counter::WithoutValue];
    let before = counted.map(|c| handler.counters.get(c));
    set_previous(
        libc::SIGPROF,
        earlier as *const () as usize,
        libc::SA_SIGINFO,
    );
    handler.engine.configure(Policy::Stratified, 1_000_000);
    without_room_for_signals(|| {
        handler.wall_signal.store(libc::SIGPROF, Relaxed);
        record.wall_state.store(WALL_PENDING, Relaxed);
        send(libc::SI_QUEUE, cookie(Source::Wall));
        send(libc::SI_QUEUE, cookie(Source::Wall)); // nobody waits for a second one
        handler.wall_signal.store(libc::SIGVTALRM, Relaxed);
        record.target.store(0, Relaxed); // reached
        handler.engine.sleepers.open();
        send(libc::SI_QUEUE, cookie(Source::Poll)); // not polled
        handler.engine.sleepers.add(9);
        send(libc::SI_QUEUE, cookie(Source::Poll));
        handler.engine.sleepers.add(9);
        handler.engine.sleepers.close();
        send(libc::SI_QUEUE, cookie(Source::Poll)); // not any more
    });
    handler.wall_signal.store(0, Relaxed);
    set_previous(libc::SIGPROF, libc::SIG_DFL, 0);
    let mut kinds = Vec::new();
    handler.slots.drain(|h, _| kinds.push(h.kind.load(Relaxed)));
    assert_eq!(
        kinds,
        [SampleKind::WallAwake as u32, SampleKind::Cpu as u32]
    );
    assert_ne!(record.wall_state.load(Relaxed), WALL_PENDING);
    let now = counted.map(|c| handler.counters.get(c));
    assert_eq!([now[0] - before[0], now[1] - before[1]], [0, 3]);
    assert_eq!(REACHED.load(Relaxed), 0);
    handler.records.retire(record);
}

#[test]
fn after_stop_nothing_is_sampled_and_the_room_is_quiet() {
    let (_turn, handler) = handler_in_turn();
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    register(handler, 3, &fake, 13);
    handler.enabled.store(false, SeqCst);
    let before = (
        handler.counters.get(Counter::Signals),
        handler.counters.get(Counter::AfterStop),
    );
    storm();
    assert_eq!(handler.counters.get(Counter::Signals), before.0);
    assert_eq!(handler.counters.get(Counter::AfterStop), before.1 + 1);
    assert!(handler.quiet());
    handler
        .records
        .retire(handler.records.at(3).expect("record 3"));
}

#[test]
fn a_context_whose_filter_says_no_costs_the_sample_and_is_counted() {
    let (_turn, handler) = handler_in_turn();
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    register(handler, 7, &fake, 17);
    let block = install(handler, 17, 3, false);
    block
        .event_mask
        .store(!schema::event_mask::EXECUTION_SAMPLE_BIT, Relaxed);
    let before = handler.counters.get(Counter::LostFiltered);
    storm();
    handler.slots.drain(|_, _| unreachable!("nothing is ready"));
    assert_eq!(handler.counters.get(Counter::LostFiltered), before + 1);
    block.event_mask.store(u32::MAX, Relaxed);
    storm();
    assert_eq!(handler.slots.drain(|_, _| {}), 1);
    block.owner.store(0, Relaxed);
    handler
        .records
        .retire(handler.records.at(7).expect("record 7"));
}

#[test]
fn a_thread_without_context_is_judged_by_the_applications_filter_too() {
    let (_turn, handler) = handler_in_turn();
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    register(handler, 7, &fake, 18);
    let before = handler.counters.get(Counter::LostFiltered);
    handler
        .filter
        .set_without_context(!schema::event_mask::EXECUTION_SAMPLE_BIT);
    storm();
    handler.slots.drain(|_, _| unreachable!("nothing is ready"));
    assert_eq!(handler.counters.get(Counter::LostFiltered), before + 1);
    handler.filter.set_without_context(u32::MAX);
    storm();
    assert_eq!(handler.slots.drain(|_, _| {}), 1);
    handler
        .records
        .retire(handler.records.at(7).expect("record 7"));
}

#[test]
fn a_thread_that_is_no_java_thread_is_looked_up_each_time() {
    let (_turn, handler) = handler_in_turn();
    let facts = ThreadFacts {
        os_tid: gettid(),
        serial: 78,
        ..ThreadFacts::default()
    };
    assert!(handler.records.publish(8, &facts));
    tls::set_record(None);
    storm();
    assert!(tls::record().is_none(), "no word that outlives the record");
    handler
        .records
        .retire(handler.records.at(8).expect("record 8"));
    let lost = handler.counters.get(Counter::LostUnknownThread);
    storm();
    assert_eq!(handler.counters.get(Counter::LostUnknownThread), lost + 1);
    handler.slots.drain(|_, _| {});
}

#[test]
fn a_torn_block_gives_a_sample_without_context() {
    let (_turn, handler) = handler_in_turn();
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    register(handler, 4, &fake, 14);
    let block = install(handler, 14, 3, true);
    let torn = handler.counters.get(Counter::ContextTorn);
    storm();
    let mut found = Vec::new();
    handler
        .slots
        .drain(|h, _| found.push(h.found.load(Relaxed)));
    assert_eq!(found, [Found::Torn as u32]);
    assert_eq!(handler.counters.get(Counter::ContextTorn), torn + 1);
    block.owner.store(0, Relaxed);
    block.seq.store(0, Relaxed);
    handler
        .records
        .retire(handler.records.at(4).expect("record 4"));
}

/// CPU timers on the calling thread until it has used `cpu_nanos`, by the given policy; answers the sum of the weights, and the CPU time that it
/// really used until the timers were gone.
fn weights_of_a_busy_thread(
    handler: &HandlerState,
    policy: Policy,
    interval: u64,
    cpu_nanos: u64,
) -> (u64, u64) {
    let record = handler.records.at(5).expect("record 5");
    handler.engine.configure(policy, interval);
    for (timer, clock, source) in [
        (
            &record.coarse_timer,
            libc::CLOCK_THREAD_CPUTIME_ID,
            Source::Coarse,
        ),
        (&record.fine_timer, libc::CLOCK_MONOTONIC, Source::Fine),
    ] {
        // SAFETY: zero is a valid sigevent to start from.
        let mut event: libc::sigevent = unsafe { core::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGPROF;
        event.sigev_value.sival_ptr = ptr::with_exposed_provenance_mut(cookie(source));
        event.sigev_notify_thread_id = gettid();
        let mut id = 0_i32;
        // SAFETY: valid event and place for the id.
        let made =
            unsafe { libc::syscall(libc::SYS_timer_create, clock, &raw const event, &raw mut id) };
        assert_eq!(made, 0);
        timer.store(id + 1, Relaxed);
    }
    record.seed.store(0x0123_4567_89AB_CDEF, Relaxed);
    let begin = engine::thread_cpu_nanos();
    handler.engine.start(record, begin, true);
    let mut weights = 0;
    while engine::thread_cpu_nanos() - begin < cpu_nanos {
        handler
            .slots
            .drain(|h, _| weights += u64::from(h.weight.load(Relaxed)));
    }
    for timer in [&record.coarse_timer, &record.fine_timer] {
        // SAFETY: a timer of ours, deleted once.
        unsafe { libc::syscall(libc::SYS_timer_delete, timer.swap(0, Relaxed) - 1) };
    }
    let used = engine::thread_cpu_nanos() - begin;
    handler
        .slots
        .drain(|h, _| weights += u64::from(h.weight.load(Relaxed)));
    (weights, used)
}

#[test]
fn weights_add_up_to_the_cpu_time_under_each_policy() {
    let (_turn, handler) = handler_in_turn();
    let fake = FakeThread {
        id: 0,
        guard: 0,
        state: 8,
    };
    register(handler, 5, &fake, 15);
    for (policy, interval) in [
        (Policy::Tick, 10_000_000),
        (Policy::Stratified, 10_000_000),
        (Policy::Precise, 1_000_000),
    ] {
        let (weights, used) = weights_of_a_busy_thread(handler, policy, interval, 600_000_000);
        let due = used / interval;
        // First and last interval are open: at most 2 more or less, and the tick's 12 ms.
        assert!(
            weights.abs_diff(due) <= 3,
            "{policy:?}: {weights} weights, {due} due"
        );
    }
    handler
        .records
        .retire(handler.records.at(5).expect("record 5"));
}

/// By `kill` as process 0: what the kernel makes of a queued signal that it had no room for. Any other sender is not ours.
#[test]
fn a_signal_is_ours_by_its_value_and_unknown_only_from_process_zero() {
    let head = |code, pid, uid, value| SignalInfo {
        signo: libc::SIGPROF,
        errno: 0,
        code,
        pad: 0,
        timer_id_or_pid: pid,
        overrun_or_uid: uid,
        value,
    };
    let fine = cookie(Source::Fine);
    assert_eq!(
        sender(&head(libc::SI_TIMER, 7, 0, fine)),
        Sender::Ours(Source::Fine)
    );
    assert_eq!(sender(&head(libc::SI_QUEUE, 7, 0, fine)), Sender::Other);
    assert_eq!(sender(&head(libc::SI_USER, 0, 0, 0)), Sender::Unknown);
    for (pid, uid) in [(7, 0), (0, 1000), (7, 1000)] {
        assert_eq!(sender(&head(libc::SI_USER, pid, uid, 0)), Sender::Other);
    }
}

/// What the handler is given lies above its frame, on the stack that it runs on; anything else is what a register happened to hold.
#[test]
fn siginfo_and_ucontext_are_believed_on_the_own_stack_only() {
    #[inline(never)]
    fn is_believed(info: *const SignalInfo, ucontext: *const libc::ucontext_t) -> bool {
        let frame = ErrnoGuard::new();
        given(&frame, libc::SIGPROF, info, ucontext).is_some()
    }
    // SAFETY: numbers and pointers only; zero is valid.
    let mut info: [SignalInfo; 2] = unsafe { core::mem::zeroed() };
    // SAFETY: the same.
    let ucontext: libc::ucontext_t = unsafe { core::mem::zeroed() };
    info[0].signo = libc::SIGPROF;
    let (near, near_context) = (&raw const info[0], &raw const ucontext);
    let elsewhere = Box::new(0_u64);
    let far = ptr::from_ref(&*elsewhere);
    assert!(is_believed(near, near_context));
    assert!(!is_believed(far.cast(), near_context));
    assert!(!is_believed(near, far.cast()));
    assert!(!is_believed(
        near.cast::<u8>().wrapping_add(1).cast(),
        near_context
    ));
    assert!(!is_believed(
        near,
        near_context.cast::<u8>().wrapping_add(1).cast()
    ));
    assert!(
        !is_believed(&raw const info[1], near_context),
        "of another signal"
    );
}

#[test]
fn a_room_is_quiet_when_no_handler_is_at_work() {
    let (_turn, handler) = handler_in_turn();
    assert!(handler.quiet());
    handler.in_flight.fetch_add(1, SeqCst);
    assert!(!handler.quiet());
    handler.in_flight.fetch_sub(1, SeqCst);
}
