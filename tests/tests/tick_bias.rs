//! CPU time of threads that work in step with the kernel's tick or sleep between short bursts.
//! Alone on the machine, in a binary of its own: the poll passes over a thread that waits for a
//! CPU, so what it samples beside another test is that test's matter.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]
#![expect(clippy::cast_precision_loss, reason = "some thousand samples")]

use std::sync::{Mutex, PoisonError};

use e2e::recording::{share_tolerance, weights_by};
use e2e::{Jdk, Jvm, TestDir};

/// One load at a time.
static ONE: Mutex<()> = Mutex::new(());

/// Runs `Bias` with these arguments and compares the share of phase A with the truth.
fn in_step_with_the_tick(options: &str, load: [&str; 5]) -> TestDir {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let run = Jvm::new(jdk, &test_dir)
        .agent(&format!("start,interval=10ms,{options}file=app.jfr"))
        .main("Bias", &load)
        .stop_recording_at_end()
        .run()
        .success();
    let truth: f64 = run
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("TRUE-SHARE "))
        .unwrap()
        .parse()
        .unwrap();
    let samples = test_dir.recording().samples(jdk);
    let weights = weights_by(&samples, "phase");
    let of = |phase: &str| *weights.get(&Some(phase.to_owned())).unwrap_or(&0) as f64;
    let both = of("A") + of("B");
    let seen = of("A") / both;
    let allowed = share_tolerance(truth, &samples, "phase");
    println!(
        "{load:?} {options}: {weights:?}: A has {seen:.4}, in truth {truth:.4} ± {allowed:.4}"
    );
    assert!(both > 100.0, "{both}");
    assert!(
        (seen - truth).abs() <= allowed,
        "{load:?} {options}: {seen} is not {truth} ± {allowed}"
    );
    test_dir
}

#[test]
fn work_in_step_with_kernel_tick_gets_true_share() {
    in_step_with_the_tick("engine=precise,", ["platform", "2", "4", "4", "19200"]);
}

#[test]
fn bursts_between_sleeps_get_true_share() {
    // One virtual thread: of two, both may be served by one carrier, which then runs for four
    // fifths of the time and is none that sleeps.
    for load in [
        ["platform", "2", "2", "3", "9600"],
        ["platform", "2", "10", "10", "9600"],
        ["virtual", "1", "2", "3", "4800"],
    ] {
        let kind = load[0];
        let test_dir = in_step_with_the_tick("", load);
        let stats = test_dir.recording().totals(Jdk::main());
        let of = |name: &str| stats.get(name).copied().unwrap_or(0);
        let (polled, samples, wakeups) = (of("idle.signals"), of("signals"), of("signals.engine"));
        println!(
            "{kind}: {samples} samples, {polled} by the poll, {wakeups} wake-ups of the engine"
        );
        // Two of three; on a busy machine the poll often takes the CPU of the thread that it
        // looks for, and then the coarse timer takes the sample.
        assert!(polled * 10 > samples, "{polled} of {samples}");
        // All of them, not only those in a sleep; with the threads' own timers 2.9 for each sample.
        assert!(wakeups < samples, "{wakeups} for {samples}");
    }
}
