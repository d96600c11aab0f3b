//! Samples by real timers: their weights are the CPU time.

use super::super::*;
use super::fixture::*;
use crate::engine::Policy;

/// What a thread used while its CPU timers ran, and what their samples stand for.
struct TimerRun {
    weights: u64,
    used_nanos: u64,
    /// Sum of the jumps of the thread's CPU clock. Where the machine stalls, the clock runs on while
    /// the thread does not, and a timer that is due may come only after the end of the run.
    stalled_nanos: u64,
}

/// No loop of the thread takes as long, with a signal in it.
const JUMP_NANOS: u64 = 2_000_000;

/// Runs the CPU timers of the calling thread until it has used `cpu_nanos`.
fn weights_of_a_busy_thread(
    handler: &HandlerState,
    thread: &Registered,
    policy: Policy,
    interval: u64,
    cpu_nanos: u64,
) -> TimerRun {
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
    let mut stalled_nanos = 0;
    let mut last = begin;
    while last - begin < cpu_nanos {
        let now = engine::thread_cpu_nanos();
        if now - last > JUMP_NANOS {
            stalled_nanos += now - last;
        }
        last = now;
        handler
            .slots
            .drain(|h, _| weights += u64::from(h.weight.load(Relaxed)));
    }
    for timer in [&record.coarse_timer, &record.fine_timer] {
        // SAFETY: a timer of ours, deleted once.
        unsafe { libc::syscall(libc::SYS_timer_delete, timer.swap(0, Relaxed) - 1) };
    }
    let used_nanos = engine::thread_cpu_nanos() - begin;
    handler
        .slots
        .drain(|h, _| weights += u64::from(h.weight.load(Relaxed)));
    TimerRun {
        weights,
        used_nanos,
        stalled_nanos,
    }
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
        let run = weights_of_a_busy_thread(handler, &thread, policy, interval, 600_000_000);
        let (weights, due) = (run.weights, run.used_nanos / interval);
        // First and last interval are open: at most 2 more or less, and the tick's 12 ms.
        let allowed = 3 + run.stalled_nanos / interval;
        assert!(
            weights.abs_diff(due) <= allowed,
            "{policy:?}: {weights} weights, {due} due, allowed difference {allowed}"
        );
    }
}
