//! The engine by its decisions: which timer, which thread slept, which weight.

use super::sleep_judgement::voluntary_switches;
use super::*;

fn record() -> ThreadRecord {
    // SAFETY: atomics only; zero is valid.
    let record: ThreadRecord = unsafe { core::mem::zeroed() };
    record.seed.store(0x9E37_79B9_7F4A_7C15, Relaxed);
    record
}

fn engine(policy: Policy) -> Engine {
    let engine = Engine::new(4_000_000);
    engine.configure(policy, 10_000_000);
    engine
}

#[test]
fn far_points_begin_with_the_coarse_timer_near_ones_with_the_fine_one() {
    let e = engine(Policy::Stratified);
    let margin = 2 * 4_000_000 + 500_000;
    let far = margin + 1_000_000;
    assert_eq!(e.timer_for(far, true), Timer::Coarse(1_000_000));
    assert_eq!(e.timer_for(margin, true), Timer::Fine(margin));
    assert_eq!(
        e.timer_for(1_000_000, false),
        Timer::Coarse(0),
        "a thread without a fine timer"
    );
}

#[test]
fn only_voluntary_switches_count_as_sleep() {
    let r = record();
    r.armed_at_ns.store(1, Relaxed); // long ago, and no CPU time used since
    r.armed_cpu_ns.store(u64::MAX, Relaxed);
    let _first = was_met_asleep(&r, 0);
    // A test thread may wait for memory once; it does not time after time.
    let waits = (0..20).filter(|_| was_met_asleep(&r, 0)).count();
    assert!(
        waits < 5,
        "a thread that runs was found asleep {waits} times"
    );
    sleep(1);
    assert!(was_met_asleep(&r, 0));
    r.armed_cpu_ns.store(0, Relaxed);
    sleep(1);
    assert!(!was_met_asleep(&r, u64::MAX), "it used all its time");
}

#[test]
fn a_sleep_before_the_timer_first_came_says_nothing() {
    let r = record();
    r.switches.store(UNKNOWN, Relaxed);
    r.armed_at_ns.store(1, Relaxed); // long ago, and no CPU time used since
    r.armed_cpu_ns.store(u64::MAX, Relaxed);
    sleep(1);
    assert!(!was_met_asleep(&r, 0));
    sleep(1);
    assert!(was_met_asleep(&r, 0));
}

/// Sleeps until this thread has given up its processor so often: a sleep whose end comes before it
/// has begun, on a busy machine, gives up none.
fn sleep(times: u64) {
    let enough = voluntary_switches() + times;
    while voluntary_switches() < enough {
        std::thread::park_timeout(core::time::Duration::from_millis(1));
    }
}

#[test]
fn a_thread_sleeps_by_its_sleeps_and_by_the_time_that_it_did_not_use() {
    let e = engine(Policy::Stratified);
    let r = record();
    let judge = |used: u64| {
        r.judged_at_ns.store(1, Relaxed); // long ago
        r.judged_cpu_ns.store(0, Relaxed);
        e.is_idle(&r, used)
    };
    judge(64_000_000); // takes the number of its sleeps until now
    sleep(5);
    assert!(judge(64_000_000));
    sleep(5);
    assert!(!judge(u64::MAX), "it ran nearly all the time");
    sleep(5);
    assert!(!judge(1_000_000_000), "bursts of 150 ms or more");
    // A test thread may wait for memory once; it does not time after time.
    let sleeps = (0..20).filter(|_| judge(64_000_000)).count();
    assert!(sleeps < 5, "{sleeps} sleeps of one that never slept");
}

/// Answers for a member that is judged from CPU time 0 on. A test thread may wait for memory in
/// between; it does not time after time.
fn answers(switches: impl Fn() -> u64, used: [u64; 3], expected: [bool; 3]) -> bool {
    (0..20).any(|_| {
        let e = engine(Policy::Stratified);
        let r = record();
        r.index.store(9, Relaxed);
        e.idle.open();
        e.idle.add(9);
        r.judged_switches.store(switches(), Relaxed);
        used.map(|cpu| e.is_idle(&r, cpu)) == expected
    })
}

#[test]
fn what_a_thread_is_stays_until_it_is_judged_again() {
    let (e, r) = (engine(Policy::Stratified), record());
    assert!(!e.is_idle(&r, 63_999_999), "it was none");
    // At the end its burst is too long.
    let used = [1, 31_999_999, 63_999_999];
    assert!(answers(voluntary_switches, used, [true, true, false]));
}

#[test]
fn idle_thread_stays_idle_until_its_switches_are_known() {
    // It may have slept before the first one; judged from there on.
    let used = [40_000_000, 71_000_000, 103_000_000];
    assert!(answers(|| UNKNOWN, used, [true, true, false]));
}

#[test]
fn nothing_is_left_to_a_poll_that_has_ended() {
    let e = engine(Policy::Stratified);
    let r = record();
    r.index.store(9, Relaxed);
    e.idle.open();
    e.idle.add(9);
    assert!(e.is_overdue(&r), "its point is 0");
    e.idle.close();
    assert!(!e.is_overdue(&r));
}

#[test]
fn points_that_no_sample_was_taken_for_are_told() {
    let e = engine(Policy::Stratified);
    let r = record();
    e.draw(&r);
    let target = r.target_cpu_ns.load(Relaxed);
    assert_eq!(e.end(&r, target - 1), 0);
    assert_eq!(e.end(&r, 39_999_999), 0, "it has none any more");
    e.draw(&r);
    let open = e.end(&r, 39_999_999);
    assert!((3..=4).contains(&open), "{open} in four intervals");
    e.draw(&r);
    assert_eq!(engine(Policy::Tick).end(&r, 39_999_999), 0);
}

#[test]
fn a_sleeper_is_left_to_the_poll_whose_signal_takes_the_sample_at_its_point_only() {
    let e = engine(Policy::Stratified);
    let r = record();
    r.index.store(9, Relaxed);
    r.java_thread.store(1, Relaxed);
    e.idle.open();
    e.idle.add(9);
    let cpu = thread_cpu_nanos();
    r.judged_cpu_ns.store(u64::MAX, Relaxed); // not judged here
    r.stratum.store(cpu / 10_000_000, Relaxed);
    r.target_cpu_ns.store(u64::MAX, Relaxed);
    assert_eq!(e.on_signal(&r, Source::IdleSampler, 0), None, "not reached");
    r.target_cpu_ns.store(cpu, Relaxed);
    assert_eq!(e.on_signal(&r, Source::IdleSampler, 0), Some(1));
    assert!(r.target_cpu_ns.load(Relaxed) > cpu);
    assert!(e.idle.has(9), "it stays one");
}

#[test]
fn one_that_has_run_all_the_time_is_not_left_to_the_poll_any_more() {
    let e = Engine::new(1); // a tick: any thread is judged at once
    e.configure(Policy::Stratified, 10_000_000);
    let r = record();
    r.java_thread.store(1, Relaxed);
    e.idle.open();
    e.idle.add(0);
    r.judged_at_ns.store(monotonic_nanos(), Relaxed);
    assert!(e.on_signal(&r, Source::IdleSampler, 0).is_some());
    assert!(!e.idle.has(0));
}

#[test]
fn native_threads_are_never_handed_over() {
    let (e, r) = (engine(Policy::Stratified), record());
    assert!(!e.may_hand_over(&r, 0));
    r.java_thread.store(1, Relaxed);
    assert!(e.may_hand_over(&r, 0));
    assert!(!engine(Policy::Precise).may_hand_over(&r, 0));
}

#[test]
fn one_that_the_poll_has_found_awake_gets_its_timers_back_and_keeps_them() {
    let e = Engine::new(4_000_000);
    e.configure(Policy::Stratified, 1_000);
    let r = record();
    r.java_thread.store(1, Relaxed);
    r.judged_switches.store(UNKNOWN, Relaxed); // nothing to judge it by: it would stay what it is
    r.fine_timer.store(i32::MAX, Relaxed); // no such timer: only what it is armed for is looked at
    e.idle.open();
    e.idle.add(0);
    let cpu = thread_cpu_nanos();
    e.exclude_until(&r, cpu + 250_000_000);
    assert!(!e.idle.has(0));
    r.target_cpu_ns.store(u64::MAX, Relaxed);
    assert_eq!(e.on_signal(&r, Source::IdleSampler, 0), None, "not reached");
    assert!(r.armed_at_ns.load(Relaxed) == 0);
    // Four intervals ago: these count, at a random point that is still to come.
    r.stratum.store((cpu / 1_000).saturating_sub(4), Relaxed);
    r.target_cpu_ns.store(0, Relaxed);
    assert_eq!(e.on_signal(&r, Source::IdleSampler, 0), None);
    let target = r.target_cpu_ns.load(Relaxed);
    assert!((cpu..thread_cpu_nanos() + 1_000).contains(&target));
    assert!(r.armed_at_ns.load(Relaxed) > 0, "the fine timer is armed");
    r.target_cpu_ns.store(0, Relaxed);
    assert!(
        e.on_signal(&r, Source::Fine, 0)
            .is_some_and(|weight| weight >= 4)
    );
    assert!(!e.may_hand_over(&r, cpu + 249_999_999));
    assert!(e.may_hand_over(&r, cpu + 250_000_000));
    // The fine timer meets it after a sleep: no sleeper again so soon.
    r.target_cpu_ns
        .store(thread_cpu_nanos() + 1_000_000, Relaxed);
    r.armed_cpu_ns.store(0, Relaxed);
    r.armed_at_ns.store(1, Relaxed);
    r.switches.store(u64::MAX - 1, Relaxed);
    assert_eq!(e.on_signal(&r, Source::Fine, 0), None);
    assert!(!e.idle.has(0));
    assert!(r.armed_at_ns.load(Relaxed) > 1, "the fine timer is armed");
}

/// A record whose sample point is far off, and whose timers exist nowhere: only what they are armed
/// for is looked at.
fn precise_record() -> ThreadRecord {
    let r = record();
    r.java_thread.store(1, Relaxed);
    r.coarse_timer.store(i32::MAX, Relaxed);
    r.fine_timer.store(i32::MAX, Relaxed);
    r.switches.store(UNKNOWN, Relaxed);
    r
}

/// The fine timer comes `times` in a row and finds that the thread has slept and done nothing; how
/// often it was armed again.
fn idle_wakeups(e: &Engine, r: &ThreadRecord, times: u32) -> usize {
    let armed = (0..times).filter(|_| {
        sleep(1);
        r.target_cpu_ns
            .store(thread_cpu_nanos() + 5_000_000, Relaxed);
        r.armed_cpu_ns.store(u64::MAX, Relaxed);
        r.armed_at_ns.store(0, Relaxed);
        assert_eq!(e.on_signal(r, Source::Fine, 0), None, "not reached");
        r.armed_at_ns.load(Relaxed) != 0
    });
    armed.count()
}

#[test]
fn precise_stops_waking_a_thread_that_does_no_work() {
    let (e, r) = (engine(Policy::Precise), precise_record());
    let most = MAX_IDLE_WAKEUPS as usize;
    assert_eq!(
        idle_wakeups(&e, &r, 100),
        most,
        "the first says nothing yet"
    );
    assert!(e.is_parked(&r));
    // On a tick that finds it at work: the fine timer takes over, for one idle wake-up.
    assert_eq!(e.on_signal(&r, Source::Coarse, 0), None);
    assert!(r.armed_at_ns.load(Relaxed) > 0);
    assert_eq!(idle_wakeups(&e, &r, 10), 0);
    // It works: all begins again.
    assert_eq!(e.on_signal(&r, Source::Coarse, 0), None);
    r.armed_cpu_ns.store(0, Relaxed);
    assert_eq!(e.on_signal(&r, Source::Fine, 0), None);
    assert_eq!(r.idle_wakeups.load(Relaxed), 0);
    assert_eq!(idle_wakeups(&e, &r, 100), most - 1);
}

#[test]
fn precise_waits_for_a_thread_that_only_got_no_cpu() {
    let (e, r) = (engine(Policy::Precise), precise_record());
    // A test thread may wait for memory once; it does not time after time.
    for _ in 0..1000 {
        r.target_cpu_ns
            .store(thread_cpu_nanos() + 5_000_000, Relaxed);
        r.armed_cpu_ns.store(u64::MAX, Relaxed);
        assert_eq!(e.on_signal(&r, Source::Fine, 0), None);
    }
    assert!(!e.is_parked(&r));
}

#[test]
fn a_parked_thread_that_is_past_its_point_is_sampled_at_its_end() {
    let (e, r) = (engine(Policy::Precise), precise_record());
    r.target_cpu_ns.store(0, Relaxed);
    assert!(!e.is_overdue(&r), "its timers serve it");
    r.idle_wakeups.store(MAX_IDLE_WAKEUPS, Relaxed);
    assert!(e.is_overdue(&r));
    assert!(e.on_signal(&r, Source::IdleSampler, 0).is_some());
}

#[test]
fn a_tick_sample_weighs_one_plus_its_overruns() {
    let e = engine(Policy::Tick);
    assert_eq!(e.on_signal(&record(), Source::Coarse, 0), Some(1));
    assert_eq!(e.on_signal(&record(), Source::Coarse, 3), Some(4));
}

#[test]
fn first_shots_are_whole_ticks_and_every_tick_is_as_likely() {
    assert_eq!(first_tick_shot(3_999_999, 4_000_000), 0);
    assert_eq!(first_tick_shot(9_999_999, 4_000_000), 8_000_000);
    assert_eq!(
        first_tick_shot(5, 0),
        5,
        "an unknown tick leaves the draw as it is"
    );
}

#[test]
fn points_passed_add_up_to_cpu_time_whatever_the_gaps() {
    let e = engine(Policy::Precise);
    let r = record();
    e.draw(&r);
    let (mut cpu, mut weights) = (0_u64, 0_u64);
    let mut steps = 0x1234_5678_u64;
    while cpu < 100_000_000_000 {
        steps = steps
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        cpu += (steps >> 40) * 3; // 0 to 50 ms
        if r.target_cpu_ns.load(Relaxed) <= cpu {
            weights += u64::from(e.pass_points(&r, cpu));
        }
        assert!(
            r.target_cpu_ns.load(Relaxed) > cpu,
            "the next point lies ahead"
        );
    }
    let due = cpu / 10_000_000;
    assert!(
        weights.abs_diff(due) <= 1,
        "{weights} points passed, {due} due"
    );
}

#[test]
fn sample_points_are_uniform_in_their_interval() {
    let e = engine(Policy::Precise);
    let r = record();
    let mut tenths = [0_u32; 10];
    for stratum in 0..10_000 {
        r.stratum.store(stratum, Relaxed);
        e.draw(&r);
        let place = r.target_cpu_ns.load(Relaxed) - stratum * 10_000_000;
        tenths[usize::try_from(place / 1_000_000).expect("below 10")] += 1;
    }
    // 1000 expected each, standard deviation 30: 6 of them.
    assert!(tenths.iter().all(|n| n.abs_diff(1000) < 180), "{tenths:?}");
}

/// Two whole intervals behind the thread have one point each; that of the interval it is in counts
/// only if it lies behind, too.
#[test]
fn a_point_that_lies_ahead_is_not_counted() {
    let e = engine(Policy::Stratified);
    let cpu = 45_000_000;
    let mut weights = [0; 4];
    for seed in 1..=200_u64 {
        let r = record();
        r.seed
            .store(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), Relaxed);
        r.stratum.store(2, Relaxed);
        let weight = e.pass_points(&r, cpu);
        assert!(
            r.target_cpu_ns.load(Relaxed) > cpu,
            "the next point lies ahead"
        );
        assert_eq!(r.stratum.load(Relaxed), u64::from(weight) + 2);
        weights[weight as usize] += 1;
    }
    assert!(weights[2] > 50 && weights[3] > 50, "{weights:?}");
    assert_eq!(weights[2] + weights[3], 200);
}

#[test]
fn a_thread_has_a_timer_if_the_kernel_gave_it_one() {
    let timer = core::sync::atomic::AtomicI32::new(0);
    assert!(!has_timer(&timer));
    timer.store(1, Relaxed); // the kernel's number 0
    assert!(has_timer(&timer));
}
