//! The weights of the samples sum up to the CPU time that the threads used.

use std::ops::{Bound, RangeBounds};

use e2e::recording::{CpuTime, SIGMAS};
use e2e::{Jdk, Jvm, ProcessOutput, TestDir};

/// Sum of weights against the CPU time that the JVM counts for the same threads.
#[test]
fn weights_sum_up_to_cpu_time() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,interval=10ms,file=app.jfr")
            .program("Target burn 3 2000")
            .stop_recording_at_end()
            .run();
        let run = run.success();
        check_weights(jdk, &test_dir, &run, "burners used", 10, 0.95..=1.05);
    }
}

/// Each lives for less than the interval: whether it is hit is left to chance, the sum is not.
#[test]
fn short_threads_are_sampled_for_their_sum() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,interval=1ms,file=app.jfr")
            .program("Short 5000 600")
            .stop_recording_at_end()
            .run_ok();
        // Begin and end of a thread are its own too.
        check_weights(jdk, &test_dir, &run, "shorts used", 1, 0.95..);
        check_weights(jdk, &test_dir, &run, "shorts lived", 1, ..=1.0);
    }
}

#[test]
fn bursty_threads_are_sampled_until_their_end() {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let run = Jvm::new(jdk, &test_dir)
        .agent("start,interval=2ms,file=app.jfr")
        .program("Short 150 30000 1000")
        .stop_recording_at_end()
        .run_ok();
    // About 2 250 samples: a deviation of 0.02.
    check_weights(jdk, &test_dir, &run, "shorts used", 2, 0.9..=1.1);
}

/// Compares the weight of some threads with what the program says they used: `burners used`.
fn check_weights(
    jdk: Jdk,
    test_dir: &TestDir,
    run: &ProcessOutput,
    said: &str,
    interval_ms: u32,
    allowed: impl RangeBounds<f64>,
) {
    #[expect(clippy::cast_precision_loss, reason = "some seconds")]
    let used = run.numbers(&format!("{said} "))[0] as f64;
    let samples = test_dir.recording().samples();
    let (named, _) = said.split_once("s ").unwrap();
    let seen = CpuTime::of_threads(&samples, named, interval_ms);
    let ratio = seen.nanos / used;
    println!(
        "{jdk}: {} samples, weights {:.3} s, {said} {:.3} s, ratio {ratio:.3}",
        samples.len(),
        seen.nanos / 1e9,
        used / 1e9
    );
    let margin = SIGMAS * seen.deviation / used;
    let (least, most) = (allowed.start_bound(), allowed.end_bound());
    let is_low = matches!(least, Bound::Included(least) if ratio + margin < *least);
    let is_high = matches!(most, Bound::Included(most) if ratio - margin > *most);
    assert!(
        !is_low && !is_high,
        "{jdk}: {said}, ratio {ratio} +- {margin}"
    );
}
