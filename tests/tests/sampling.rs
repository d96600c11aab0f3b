//! Who is sampled, how often, and what happens where the system refuses.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]
#![expect(clippy::cast_precision_loss, reason = "some thousand samples")]

use std::collections::BTreeMap;
use std::time::Instant;

use e2e::recording::weights_by;
use e2e::{Jdk, Jvm, Room, build};

#[test]
fn threads_of_the_process_are_looked_for_once_a_second_whatever_the_flush_interval() {
    for flush in ["100ms", "1m"] {
        let room = Room::new();
        let jvm = Jvm::new(Jdk::main(), &room)
            .preload("scans")
            .agent(&format!("start,flush={flush},file=app.jfr"))
            .main("Target", &["burn", "1", "2000"]);
        let _built = build::class_path();
        let began = Instant::now();
        let run = jvm.run().success();
        let scans = run.stderr.lines().find_map(|l| l.strip_prefix("scans: "));
        let scans: u64 = scans.unwrap().parse().unwrap();
        let seconds = began.elapsed().as_secs();
        println!("flush={flush}: {scans} scans in {seconds} s");
        // One at the start, one per second; a machine that stands still has fewer.
        assert!((2..=seconds + 2).contains(&scans), "{scans} in {seconds} s");
    }
}

/// The limit, and four threads that want ten times as much at least.
const LIMIT: i64 = 100;

#[test]
fn a_rate_limit_bounds_the_events_and_leaves_totals_and_shares_as_they_are() {
    let room = Room::new();
    let jvm = Jvm::new(Jdk::main(), &room)
        .agent(&format!(
            "start,interval=1ms,ratelimit=cpu:{LIMIT},file=app.jfr"
        ))
        .main("KnownSplit", &["platform", "8"]);
    let _built = build::class_path();
    let began = Instant::now();
    let run = jvm.run().success();
    let seconds = i64::try_from(began.elapsed().as_secs()).unwrap() + 1;
    let recording = room.recording();
    let (totals, samples) = recording.accounted_for(Jdk::main());
    recording.ctxjfr(&["check", "FILE"]).success();
    let total = |name: &str| totals.get(name).copied().unwrap_or(0);
    // Half a second's worth may come at once.
    let events = total("written") + total("written.split");
    assert!(events <= LIMIT * (seconds + 1), "{events} in {seconds} s");
    assert!(total("thinned") > 0, "{totals:?}");
    // What came is what was written, but for the stretches that were cut short.
    let came = total("signals") + total("overruns");
    let written = total("written.weight");
    assert!(came.abs_diff(written) <= 300, "{came} {written}");
    let sums = weights_by(&samples, "label");
    let labelled: i64 = LABELS.iter().map(|label| weight(&sums, label)).sum();
    let used: i64 = LABELS.iter().map(|label| said(&run.stdout, label, 3)).sum();
    let by_cpu = labelled as f64 * 1e6 / used as f64;
    let share = weight(&sums, "seventy") as f64 / labelled as f64;
    let truth = said(&run.stdout, "seventy", 2) as f64 / 1000.0;
    // Each event is an independent draw; of unequal weights fewer count (Kish).
    let squares: i64 = samples.iter().map(|s| s.weight().pow(2)).sum();
    let draws = (written as f64).powi(2) / squares as f64;
    let deviation = (truth * (1.0 - truth) / draws).sqrt();
    println!(
        "{events} events in {seconds} s, weights / CPU {by_cpu:.3}, share {share:.3} of {truth:.3} +- {deviation:.3}"
    );
    assert!((by_cpu - 1.0).abs() < 0.05, "{by_cpu}");
    assert!((share - truth).abs() < 5.0 * deviation, "{share} {truth}");
}

const LABELS: [&str; 3] = ["seventy", "twenty", "ten"];

fn weight(sums: &BTreeMap<Option<String>, i64>, label: &str) -> i64 {
    sums.get(&Some(label.to_owned())).copied().unwrap_or(0)
}

/// Word of the line that the program says about a label.
fn said(stdout: &str, label: &str, word: usize) -> i64 {
    let start = format!("split {label} ");
    let line = stdout.lines().find(|line| line.starts_with(&start));
    line.unwrap().split(' ').nth(word).unwrap().parse().unwrap()
}
