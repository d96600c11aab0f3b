//! Samples by real timers: their weights are the CPU time.

use super::super::*;
use super::fixture::*;
use crate::engine::Policy;

/// Runs the CPU timers of the calling thread until it has used `cpu_nanos`; returns the sum of the
/// weights, and the CPU time used until the timers were deleted.
fn weights_of_a_busy_thread(
    handler: &HandlerState,
    thread: &Registered,
    policy: Policy,
    interval: u64,
    cpu_nanos: u64,
) -> (u64, u64) {
    let record = thread.record();
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
    let thread = Registered::new(handler, 5, 15);
    for (policy, interval) in [
        (Policy::Tick, 10_000_000),
        (Policy::Stratified, 10_000_000),
        (Policy::Precise, 1_000_000),
    ] {
        let (weights, used) =
            weights_of_a_busy_thread(handler, &thread, policy, interval, 600_000_000);
        let due = used / interval;
        // First and last interval are open: at most 2 more or less, and the tick's 12 ms.
        assert!(
            weights.abs_diff(due) <= 3,
            "{policy:?}: {weights} weights, {due} due"
        );
    }
}
