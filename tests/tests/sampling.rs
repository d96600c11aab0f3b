//! Who is sampled, how often, and what happens where the system refuses.

#![expect(clippy::cast_precision_loss, reason = "some thousand samples")]

use std::collections::BTreeMap;
use std::time::Instant;

use e2e::recording::{CpuTime, SIGMAS, weights_by};
use e2e::{Jdk, Jvm, Recording, TestDir, build};

#[test]
fn thread_scan_runs_once_a_second() {
    for flush in ["100ms", "1m"] {
        let jvm = Jvm::alone(Jdk::main())
            .preload("scans")
            .agent(&format!("start,engine=tick,flush={flush},file=app.jfr"))
            .program("Target burn 1 2000");
        let _built = build::class_path();
        let began = Instant::now();
        let run = jvm.run_ok();
        let scans = run.numbers("scans: ")[0];
        let seconds = began.elapsed().as_secs();
        println!("flush={flush}: {scans} scans in {seconds} s");
        // One at the start, one per second; a machine that stalls has fewer.
        assert!((2..=seconds + 2).contains(&scans), "{scans} in {seconds} s");
    }
}

/// The limit, and four threads that want ten times as much at least.
const LIMIT: i64 = 100;

#[test]
fn rate_limit_bounds_events_and_keeps_totals() {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .agent(&format!(
            "start,interval=1ms,ratelimit=cpu:{LIMIT},file=app.jfr"
        ))
        .program("KnownSplit platform 8")
        .stop_recording_at_end();
    let _built = build::class_path();
    let began = Instant::now();
    let run = jvm.run_ok();
    let seconds = i64::try_from(began.elapsed().as_secs()).unwrap() + 1;
    let recording = test_dir.recording();
    let (totals, samples) = recording.reconcile();
    recording.ctxjfr(&["check", "FILE"]).success();
    // Half a second's worth may come at once.
    let events = totals["written"] + totals["written.split"];
    assert!(events <= LIMIT * (seconds + 1), "{events} in {seconds} s");
    assert!(totals["ratelimited"] > 0, "{totals:?}");
    // What came is what was written, but for the stretches that were cut short.
    let came = totals["signals"] + totals["overruns"];
    let written = totals["written.weight"];
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
    // The same for how much of all weight fell on the labels, and the 2 % within which all weight
    // is the CPU time.
    let labelled_share = labelled as f64 / written as f64;
    let labelled_deviation = ((1.0 - labelled_share) / (labelled_share * draws)).sqrt();
    println!(
        "{events} events in {seconds} s, weights / CPU {by_cpu:.3} +- {labelled_deviation:.3}, share {share:.3} of {truth:.3} +- {deviation:.3}"
    );
    assert!(
        (by_cpu - 1.0).abs() < 0.02 + 5.0 * labelled_deviation,
        "{by_cpu}"
    );
    assert!((share - truth).abs() < 5.0 * deviation, "{share} {truth}");
}

/// The kernel counts pending signals and timers per user, and compares with the limit of the
/// process: with other JVMs about not a single timer is left.
#[test]
fn threads_without_timer_are_reported_once_and_counted() {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,interval=1ms,file=app.jfr")
        .program("Target burn 8 300")
        .may_warn("no CPU timer for a thread")
        .stop_recording_at_end();
    let run = jvm.pending_signals(PENDING).run_ok();
    let lines = run.agent_lines();
    let told: Vec<_> = lines
        .iter()
        .filter(|l| l.contains("no CPU timer for a thread"))
        .collect();
    assert_eq!(told.len(), 1, "once, not for each thread: {lines:?}");
    assert!(told[0].contains("pending"), "{told:?}");
    let (totals, _) = test_dir.recording().reconcile();
    println!("{totals:?}");
    let without = totals["threads.without_timer"];
    assert!(without > 0, "{totals:?}");
}

/// Hundreds of threads without timers, one after the other, after another line of that minute: the
/// gauges tell of those that live.
#[test]
fn ended_threads_without_timer_are_not_counted() {
    let jvm = Jvm::alone(Jdk::main())
        .agent("start,interval=1ms,file=app.jfr")
        .may_warn("no CPU timer for a thread")
        .program("InTurn 400 version");
    let run = jvm.pending_signals(PENDING).run_ok();
    let gauge = |name: &str| run.numbers(&format!("threads.{name}: "))[0];
    let known = gauge("known");
    println!("{known} known, {} without a timer", gauge("without_timer"));
    assert!(
        (1..=known).contains(&gauge("without_timer")),
        "{}",
        run.stdout
    );
    assert!(known < 200, "{}", run.stdout);
}

/// They sleep at the stop, and end in a recording that asks for no CPU samples.
#[test]
fn cpu_time_of_threads_that_sleep_is_sampled() {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let run = Jvm::new(jdk, &test_dir)
        .agent("")
        .program("Pool 60 60")
        .run_ok();
    let used = run.numbers("pool used ")[0] as f64;
    let recording = Recording::new(test_dir.file("cpu.jfr"));
    let (_, samples) = recording.reconcile();
    let seen = CpuTime::of_threads(&samples, "pool", 10);
    let (ratio, deviation) = (seen.nanos / used, seen.deviation / used);
    println!("{ratio:.3} +- {deviation:.3} of {used} ns");
    assert!((ratio - 1.0).abs() < 0.05 + SIGMAS * deviation, "{ratio}");

    let recording = Recording::new(test_dir.file("wall.jfr"));
    let counts = recording.counts(jdk);
    assert!(counts["profiler.WallClockSample"] > 0, "{counts:?}");
    assert_eq!(
        recording.samples().len(),
        0,
        "no CPU samples were asked for"
    );
}

/// A scan for native threads needs a file descriptor. A scan that fails ends no thread, and the
/// next one that succeeds finds the new threads.
#[test]
fn native_threads_are_sampled_without_file_descriptors() {
    let (run, recording) = Jvm::recording(Jdk::main(), "engine=tick,interval=2ms,ctx=label")
        .preload("natives")
        .open_files(OPEN_FILES)
        .program("NoFiles")
        .record_to_exit();
    assert!(run.numbers("looks: ")[0] > 0, "{}", run.stderr);
    assert!(run.numbers("late native: ")[0] > 0, "{}", run.stderr);
    assert_eq!(run.agent_lines(), [""; 0]);
    let (_, samples) = recording.reconcile();
    let by_label = weights_by(&samples, "label");
    let of_label = |label: &str| weight(&by_label, label) as f64 * 2e6;
    let native = |name| CpuTime::of_threads(&samples, name, 2).nanos;
    let natives = ["early native", "late native"].map(|name| (name, native(name), 4e8));
    let labels = ["full", "again"];
    let labels = labels.map(|l| (l, of_label(l), run.numbers(&format!("{l} "))[0] as f64));
    for (who, seen, truth) in natives.into_iter().chain(labels) {
        println!("{who}: {seen} of {truth} ns");
        assert!((seen - truth).abs() < truth / 4.0, "{who}: {seen} {truth}");
    }
}

/// More than a JVM has open.
const OPEN_FILES: u32 = 128;

/// Fewer than the threads of a JVM.
const PENDING: u32 = 4;

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
