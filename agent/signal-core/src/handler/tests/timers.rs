//! Samples by timers: of the thread's CPU clock, by a real one; per CPU, by signals that say they
//! come from one.

use super::super::*;
use super::fixture::*;
use crate::engine::monotonic_nanos;
use crate::engine::probes::MAX_LATENESS_NS;
use crate::handler::probe::current_cpu;
use crate::tls;

/// A pass over the slots takes less CPU time.
const MAX_JUMP_NANOS: u64 = 1_000_000;

/// Runs the CPU timer of the calling thread until it has used `cpu_nanos` and was sampled; returns
/// the sum of the weights, and the CPU time used by then.
///
/// It ends with a sample because the clock jumps where the machine stalls: the sample that stands
/// for the jump comes after it. A jump between clock and sample is no end.
fn weights_of_a_busy_thread(
    handler: &HandlerState,
    thread: &Registered,
    interval: u64,
    cpu_nanos: u64,
) -> (u64, u64) {
    let record = thread.record();
    handler.engine.configure(interval);
    // SAFETY: zero is a valid sigevent to start from.
    let mut event: libc::sigevent = unsafe { core::mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = libc::SIGPROF;
    event.sigev_value.sival_ptr = ptr::with_exposed_provenance_mut(cookie(Source::Tick));
    event.sigev_notify_thread_id = gettid();
    let mut id = 0_i32;
    let clock = libc::CLOCK_THREAD_CPUTIME_ID;
    // SAFETY: valid event and place for the id.
    let made =
        unsafe { libc::syscall(libc::SYS_timer_create, clock, &raw const event, &raw mut id) };
    assert_eq!(made, 0);
    record.cpu_timer.store(id + 1, Relaxed);
    record.seed.store(0x0123_4567_89AB_CDEF, Relaxed);
    let begin = engine::thread_cpu_nanos();
    handler.engine.start_tick(record);
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
    // SAFETY: a timer of ours, deleted once.
    unsafe {
        libc::syscall(
            libc::SYS_timer_delete,
            record.cpu_timer.swap(0, Relaxed) - 1,
        )
    };
    // What came since is not part of the result.
    handler.slots.drain(|_, _| {});
    (weights, used)
}

#[test]
fn weights_add_up_to_the_cpu_time_of_the_thread() {
    let (_turn, handler) = handler_in_turn();
    let thread = Registered::new(handler, 5, 15);
    let interval = 10_000_000;
    let (weights, used) = weights_of_a_busy_thread(handler, &thread, interval, 600_000_000);
    let due = used / interval;
    // First and last interval are open: at most 2 more or less, and the tick's 12 ms.
    assert!(weights.abs_diff(due) <= 3, "{weights} weights, {due} due");
}

/// Binds the calling thread to the CPU that it runs on; returns that.
fn stay_here() -> usize {
    let here = current_cpu().expect("a CPU");
    // SAFETY: zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: a CPU below the size of the set.
    unsafe { libc::CPU_SET(here, &mut set) };
    // SAFETY: reads the set; changes the calling thread only.
    let bound = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    assert_eq!(bound, 0);
    current_cpu().expect("a CPU")
}

const OUTCOMES: [Counter; 6] = [
    Counter::ProbesMet,
    Counter::ProbesAgent,
    Counter::ProbesMissed,
    Counter::ProbesLate,
    Counter::ProbesOutdated,
    Counter::Signals,
];

/// A signal of a timer of `cpu`, as if its instant was so long ago; what it counted.
fn probe(handler: &HandlerState, cpu: usize, ago_ns: u64) -> [u64; 6] {
    let before = OUTCOMES.map(|c| handler.counters.get(c));
    let place = ProbePlace { cpu, index: 1 };
    let probes = &handler.engine.probes;
    // There is no timer: only the instant is set.
    assert!(!probes.arm_one(place, monotonic_nanos() - ago_ns, 1));
    send(libc::SI_TIMER, probes.value(place));
    let now = OUTCOMES.map(|c| handler.counters.get(c));
    core::array::from_fn(|i| now[i] - before[i])
}

#[test]
fn probe_samples_the_thread_that_it_met_at_once_on_its_cpu() {
    let (_turn, handler) = handler_in_turn();
    let thread = Registered::new(handler, 14, 24);
    let here = stay_here();
    assert_eq!(probe(handler, here, 1_000), [1, 0, 0, 0, 0, 1]);
    let mut tids = std::vec::Vec::new();
    handler
        .slots
        .drain(|h, _| tids.push(h.logical_tid.load(Relaxed)));
    assert_eq!(tids, [24]);
    drop(thread);
    handler.engine.probes.main_may_be_passed_over();
    let elsewhere = here ^ 1;
    assert_eq!(probe(handler, elsewhere, 1_000), [0, 0, 1, 0, 0, 0]);
    let late = 10 * MAX_LATENESS_NS;
    assert_eq!(probe(handler, here, late), [0, 0, 0, 1, 0, 0]);
    // A second signal for one probe.
    let place = ProbePlace {
        cpu: here,
        index: 1,
    };
    let outdated = handler.counters.get(Counter::ProbesOutdated);
    send(libc::SI_TIMER, handler.engine.probes.value(place));
    assert_eq!(handler.counters.get(Counter::ProbesOutdated), outdated + 1);
    std::thread::spawn(move || {
        let here = stay_here();
        tls::mark_agent_thread();
        assert_eq!(probe(handler, here, 1_000), [0, 1, 0, 0, 0, 0]);
    })
    .join()
    .expect("no panic");
}

#[test]
fn trial_takes_no_sample_of_the_thread_that_it_met() {
    let (_turn, handler) = handler_in_turn();
    let _thread = Registered::new(handler, 15, 25);
    let place = ProbePlace {
        cpu: stay_here(),
        index: 1,
    };
    let numbers = || [Counter::ProbesMet, Counter::Signals].map(|c| handler.counters.get(c));
    let [met, signals] = numbers();
    let probes = &handler.engine.probes;
    probes.arm_one(place, monotonic_nanos() - 1_000, 0);
    send(libc::SI_TIMER, probes.value(place));
    assert_eq!(numbers(), [met + 1, signals]);
    let mut samples = 0;
    handler.slots.drain(|_, _| samples += 1);
    assert_eq!(samples, 0);
}

#[test]
fn thread_whose_wait_the_signal_has_ended_is_not_met() {
    let (_turn, handler) = handler_in_turn();
    handler.engine.probes.main_is_free(0);
    let (ready, is_ready) = std::sync::mpsc::channel();
    let begin = std::time::Instant::now();
    let sleeper = std::thread::spawn(move || {
        let here = stay_here();
        ready.send((gettid(), here)).expect("received");
        let hour = libc::timespec {
            tv_sec: 3600,
            tv_nsec: 0,
        };
        // SAFETY: reads one time; the signal ends the wait.
        unsafe { libc::nanosleep(&raw const hour, ptr::null_mut()) }
    });
    let (tid, cpu) = is_ready.recv().expect("its id");
    let place = ProbePlace { cpu, index: 2 };
    let numbers =
        || [Counter::ProbesInterrupted, Counter::ProbesMissed].map(|c| handler.counters.get(c));
    // A signal may come before the thread waits.
    let is_missed = (0..1000).find_map(|_| {
        let [interrupted, before] = numbers();
        handler.engine.probes.arm_one(place, monotonic_nanos(), 1);
        send_to(tid, libc::SI_TIMER, handler.engine.probes.value(place), 0);
        while !handler.engine.probes.is_disarmed(place) {
            std::thread::yield_now();
        }
        let [now_interrupted, now] = numbers();
        (now_interrupted > interrupted).then_some(now > before)
    });
    assert_eq!(is_missed, Some(true));
    assert_eq!(sleeper.join().expect("no panic"), -1, "interrupted");
    assert!(begin.elapsed().as_secs() < 600);
    handler.slots.drain(|_, _| {});
}

#[test]
fn thread_that_takes_its_signal_late_is_met_if_no_other_is_pending() {
    let (_turn, handler) = handler_in_turn();
    let here = stay_here();
    let probes = &handler.engine.probes;
    let late = 10 * MAX_LATENESS_NS;
    let [met, unknown] = [[1, 0, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0]];
    // Far from the last handler on this CPU: what follows right on that may be another's.
    let outcome = |cpu| {
        let end = monotonic_nanos() + late;
        while monotonic_nanos() < end {
            core::hint::spin_loop();
        }
        probe(handler, cpu, late)
    };
    probes.main_is_free(0);
    assert_eq!(outcome(here), met);
    assert_eq!(outcome(here ^ 1), met, "it has moved");
    // The main thread has taken a signal after this one was sent.
    probes.main_is_free(u64::MAX - 1);
    assert_eq!(outcome(here), unknown);
    // Another thread has taken a signal of the main thread.
    probes.main_may_be_passed_over();
    assert_eq!(outcome(here ^ 1), [0, 0, 1, 0, 0, 0]);
    // The main thread has one pending.
    probes.main_is_free(0);
    probes.add(3, 4, 1, monotonic_nanos());
    let pending = ProbePlace { cpu: 3, index: 3 };
    probes.arm_one(pending, 1, 1);
    assert_eq!(outcome(here), unknown);
    assert!(probes.take(pending, monotonic_nanos()).is_some());
    probes.cpu(3).expect("in the table").remove();
    handler.slots.drain(|_, _| {});
}
