//! Samples by real timers: their weights are the CPU time.

use super::super::*;
use super::fixture::*;
use crate::engine::Policy;

/// A pass over the slots takes less CPU time.
const MAX_JUMP_NANOS: u64 = 1_000_000;

/// Runs the CPU timers of the calling thread until it has used `cpu_nanos` and was sampled; returns the
/// sum of the weights, and the CPU time used by then.
///
/// It ends with a sample because the clock jumps where the machine stalls: the sample that stands for
/// the jump comes after it. A jump between clock and sample is no end.
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
    let used_nanos = || engine::thread_cpu_nanos() - begin;
    let mut weights = 0;
    let used = loop {
        let before = used_nanos();
        let mut is_sampled = false;
        handler.slots.drain(|h, _| {
            weights += u64::from(h.weight.load(Relaxed));
            is_sampled = true;
        });
        let after = used_nanos();
        if is_sampled && after >= cpu_nanos && after - before < MAX_JUMP_NANOS {
            break after;
        }
    };
    for timer in [&record.coarse_timer, &record.fine_timer] {
        // SAFETY: a timer of ours, deleted once.
        unsafe { libc::syscall(libc::SYS_timer_delete, timer.swap(0, Relaxed) - 1) };
    }
    // What came since is not part of the result.
    handler.slots.drain(|_, _| {});
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
