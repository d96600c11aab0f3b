//! The timers per CPU: each thread by itself has the samples that its CPU time is due, whatever it
//! does between its bursts.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]
#![expect(clippy::cast_precision_loss, reason = "some thousand samples")]

use std::collections::BTreeMap;

use e2e::{Jdk, Jvm, TestDir};

/// Runs `Bursts` and compares the weight of each thread with its CPU time.
///
/// On a machine that is busy with other processes a timer may be armed too late for its instant, so
/// a part of all samples may be missing, of each thread alike. The shares of the threads must be
/// right all the same.
fn each_thread_gets_its_due(interval_ms: u32, load: [&str; 4]) {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let run = Jvm::new(jdk, &test_dir)
        .agent(&format!(
            "start,engine=percpu,interval={interval_ms}ms,file=app.jfr"
        ))
        .main("Bursts", &load)
        .stop_recording_at_end()
        .run()
        .success();
    let (totals, samples) = test_dir.recording().reconcile(jdk);
    // A sample of a small weight is written as so many equal events.
    let mut taken: BTreeMap<(&str, i64), i64> = BTreeMap::new();
    for event in &samples {
        let sample = (event.thread().unwrap(), event.start_nanos());
        *taken.entry(sample).or_default() += event.weight();
    }
    let mut weights: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for ((thread, _), weight) in taken {
        let (sum, squares) = weights.entry(thread).or_default();
        *sum += weight as f64;
        *squares += (weight as f64).powi(2);
    }
    let interval_nanos = f64::from(interval_ms) * 1e6;
    let (mut due, mut seen, mut variance) = (0.0, 0.0, 0.0);
    let mut rows = Vec::new();
    for line in run.stdout.lines() {
        let (name, used) = line.split_once(" used ").unwrap();
        let used: f64 = used.trim_end_matches(" ns").parse().unwrap();
        let (sum, squares) = weights.get(name).copied().unwrap_or_default();
        due += used / interval_nanos;
        seen += sum;
        variance += squares;
        rows.push((used / interval_nanos, sum, squares));
    }
    let ratio = seen / due;
    // Of a sum of independent draws of weight w the variance is the sum of w squared.
    let deviation = variance.sqrt() / due;
    // With that part missing, each thread by itself.
    let z = |(due, sum, squares): &(f64, f64, f64)| {
        (sum - due * ratio).powi(2) / squares.max(due * ratio).max(1.0)
    };
    let mean_square = rows.iter().map(z).sum::<f64>() / rows.len() as f64;
    println!(
        "{load:?} at {interval_ms} ms: {seen} of {due:.1} due = {ratio:.3} +- {deviation:.3}, mean \
         square of z {mean_square:.2} of {} threads; {totals:?}",
        rows.len()
    );
    assert!(totals["probes.met"] > 0, "{totals:?}");
    assert!(ratio < 1.02 + 4.0 * deviation, "{ratio} +- {deviation}");
    assert!(ratio > 0.90 - 4.0 * deviation, "{ratio} +- {deviation}");
    let freedom = rows.len() as f64;
    let allowed = 1.0 + 5.0 * (2.0 / freedom).sqrt();
    assert!(mean_square < allowed, "{mean_square} of {allowed}");
}

#[test]
fn busy_threads_get_their_due() {
    each_thread_gets_its_due(10, ["6", "5000", "0", "600"]);
}

#[test]
fn sleepers_with_short_bursts_get_their_due() {
    each_thread_gets_its_due(10, ["100", "300", "20000", "40"]);
}

#[test]
fn sleepers_get_their_due_at_one_millisecond() {
    each_thread_gets_its_due(1, ["20", "300", "3000", "60"]);
}

#[test]
fn trial_finds_the_engine_and_status_names_it() {
    for (engine, limit, expected) in [
        ("auto", None, "percpu"),
        ("tick", None, "tick"),
        // No timer is left: the engine falls back, and says so.
        ("auto", Some(1), "tick"),
    ] {
        let test_dir = TestDir::new();
        let mut jvm = Jvm::new(Jdk::main(), &test_dir)
            .agent(&format!("start,engine={engine},file=app.jfr"))
            .main("InTurn", &["1", "status"]);
        if let Some(limit) = limit {
            jvm = jvm.pending_signals(limit);
        }
        let run = jvm.run().success();
        let line = format!("engine: {expected}");
        assert!(
            run.stdout.contains(&line),
            "{engine} {limit:?}: {}",
            run.stdout
        );
        let lines = run.agent_lines();
        // Where not even a thread gets a timer, that is what is said.
        let texts = [
            "samples come on the kernel's tick",
            "no CPU timer for a thread",
        ];
        let is_told = lines
            .iter()
            .any(|line| texts.iter().any(|text| line.contains(text)));
        assert_eq!(is_told, limit.is_some(), "{lines:?}");
    }
}

#[test]
fn engine_that_cannot_work_refuses_the_start() {
    let test_dir = TestDir::new();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,engine=percpu,file=app.jfr")
        .main("Hello", &["10"])
        .pending_signals(1)
        .run()
        .success();
    let lines = run.agent_lines();
    assert!(
        lines
            .iter()
            .any(|line| line.contains("engine=percpu: no timer")),
        "{lines:?}"
    );
}
