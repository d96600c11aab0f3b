//! What a sample carries: context, stack, and nothing of the one before it.

use super::super::*;
use super::fixture::*;
use crate::block::ReadOutcome;
use crate::handler_state::WalkMode;
use core::sync::atomic::AtomicU32;
use std::boxed::Box;
use std::vec::Vec;

#[test]
fn context_of_the_mounted_virtual_thread_or_of_the_platform_thread() {
    let (_turn, handler) = handler_in_turn();
    let thread = Registered::new(handler, 0, 5);
    thread.set(9, 1, 8);
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
    thread.set(9, 0, 8); // unmounted; the id is stale now, as in a real VM
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
    let thread = Registered::new(handler, 12, 22);
    thread.set_stack();
    set_asgct(handler, twelve_frames as *const () as usize);
    handler.walk_mode.store(WalkMode::Shadow as u32, Relaxed);
    // One in 16 is compared. A slot has room for 16 frames.
    for _ in 0..32 {
        storm();
    }
    set_asgct(handler, 0);
    handler.walk_mode.store(0, Relaxed);
    let mut walked = Vec::new();
    handler.slots.drain(|h, frames| {
        walked.push((h.walk.load(Relaxed), frames.len()));
    });
    assert_eq!(walked, [(12, 12); 32]);
}

#[test]
fn sample_without_context_does_not_show_the_previous_one_of_its_slot() {
    let (_turn, handler) = handler_in_turn();
    let _thread = Registered::new(handler, 6, 16);
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
fn handler_allocates_nothing_and_keeps_errno() {
    let (_turn, handler) = handler_in_turn();
    let thread = Registered::new(handler, 1, 11);
    thread.set_stack();
    set_asgct(handler, sets_errno as *const () as usize);
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
    set_asgct(handler, 0);
    assert!(
        ERRNO_SET.load(Relaxed) >= 100,
        "each handler has changed it"
    );
    assert_eq!(after, before, "allocations in 100 signals");
    assert!(control > after, "the counting allocator counts");
    assert_eq!(errno, 4711);
    assert_eq!(handler.counters.get(Counter::Captured) - captured, 100);
    block.owner.store(0, Relaxed);
}

#[test]
fn interrupted_write_gives_a_sample_without_context() {
    let (_turn, handler) = handler_in_turn();
    let _thread = Registered::new(handler, 4, 14);
    let block = install(handler, 14, 3, true);
    let torn = handler.counters.get(Counter::ContextTorn);
    storm();
    let mut found = Vec::new();
    handler
        .slots
        .drain(|h, _| found.push(h.read_outcome.load(Relaxed)));
    assert_eq!(found, [ReadOutcome::Torn as u32]);
    assert_eq!(handler.counters.get(Counter::ContextTorn), torn + 1);
    block.owner.store(0, Relaxed);
    block.seq.store(0, Relaxed);
}
