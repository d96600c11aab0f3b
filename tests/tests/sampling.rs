//! Who is sampled, how often, and what happens where the system refuses.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]
#![expect(clippy::cast_precision_loss, reason = "some thousand samples")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use e2e::recording::{cpu_nanos, weights_by};
use e2e::{Jdk, Jvm, Recording, Room, build};

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
        let scans = run.numbers("scans: ")[0];
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

/// A jar that makes `Redefined` a Java agent too; made by a `jar` of any JDK here.
fn agent_jar(room: &Room) -> Option<PathBuf> {
    let tool = Jdk::all().into_iter().map(|jdk| jdk.tool("jar"));
    let Some(tool) = tool.into_iter().find(|tool| tool.exists()) else {
        println!("SKIP: no JDK with a jar tool");
        return None;
    };
    let (manifest, jar) = (room.file("manifest"), room.file("agent.jar"));
    let text = "Premain-Class: Redefined\nCan-Redefine-Classes: true\n";
    fs::write(&manifest, text).unwrap();
    let mut command = Command::new(tool);
    command.arg("cfm").arg(&jar).arg(&manifest);
    assert!(command.status().unwrap().success());
    Some(jar)
}

/// Old versions of a method run on for a while: they have the names and lines of the class they came from.
#[test]
fn classes_that_are_redefined_under_load_keep_their_names_and_lines() {
    let source = fs::read_to_string(build::root().join("tests/java/Redefined.java")).unwrap();
    let first = source.lines().position(|l| l.contains("static void outer"));
    let lines = i64::try_from(first.unwrap()).unwrap()..1000;
    for jdk in Jdk::all() {
        let room = Room::new();
        let Some(jar) = agent_jar(&room) else { return };
        let run = Jvm::new(jdk, &room)
            .agent("start,interval=1ms,file=app.jfr")
            .flag(&format!("-javaagent:{}", jar.display()))
            .main("Redefined", &["3000"])
            .run()
            .success();
        let (totals, samples) = room.recording().accounted_for(Jdk::main());
        let of_workers = samples.iter().filter(|sample| {
            let thread = sample.thread();
            thread.is_some_and(|name| name.starts_with("redefined-"))
        });
        let (mut all, mut named, mut placed) = (0, 0, 0);
        for sample in of_workers {
            all += 1;
            let frames = sample.values.pointer("/stackTrace/frames").unwrap();
            let frames = frames.as_array().unwrap();
            for (frame, name) in frames.iter().zip(sample.frames()) {
                if !name.starts_with("Redefined$Target.") {
                    continue;
                }
                let method = name.rsplit('.').next().unwrap();
                assert!(["outer", "inner"].contains(&method), "{name}");
                // Behind the last debug information of compiled code the place is not known.
                if frame["bytecodeIndex"].as_i64() != Some(-1) {
                    let line = frame["lineNumber"].as_i64().unwrap();
                    assert!(lines.contains(&line), "{name}:{line}");
                    placed += 1;
                }
            }
            named += i32::from(
                sample
                    .frames()
                    .iter()
                    .any(|n| n == "Redefined$Target.outer"),
            );
        }
        println!(
            "JDK {}: {}, {named} of {all} samples named, {} frames without a method",
            jdk.version,
            run.stdout.trim(),
            totals.get("stack.null_methods").copied().unwrap_or(0)
        );
        assert!(
            all > 100 && named * 10 > all * 9,
            "{named} of {all}: {totals:?}"
        );
        assert!(placed * 2 > all, "{placed} lines in {all} samples");
    }
}

/// Ids stay, and lead to the new version and its lines.
#[test]
fn lines_are_those_of_the_version_that_a_redefinition_brought() {
    const DOWN: i64 = 1000;
    for jdk in Jdk::all() {
        let room = Room::new();
        let Some(jar) = agent_jar(&room) else { return };
        let _run = Jvm::new(jdk, &room)
            .agent("start,interval=1ms,file=app.jfr")
            .flag(&format!("-javaagent:{}", jar.display()))
            .main("Redefined", &["6000", "moved"])
            .run()
            .success();
        let (totals, samples) = room.recording().accounted_for(Jdk::main());
        let mut lines = Vec::new();
        for sample in &samples {
            let values = sample.values.pointer("/stackTrace/frames");
            let frames = values.and_then(|frames| frames.as_array()).unwrap();
            for (frame, name) in frames.iter().zip(sample.frames()) {
                let line = frame["lineNumber"].as_i64().unwrap_or(-1);
                if name.starts_with("Redefined$Target.") && line > 0 {
                    lines.push((sample.text("startTime").unwrap().to_owned(), line));
                }
            }
        }
        lines.sort();
        let old = lines.iter().filter(|(_, line)| *line < DOWN).count();
        println!(
            "JDK {}: {old} of {} lines are old",
            jdk.version,
            lines.len()
        );
        assert!(old > 100 && old < lines.len(), "{totals:?}");
        // The writer looks once a second.
        let last = lines.iter().rev().take(100).map(|(_, line)| *line);
        assert!(
            last.clone().all(|line| line > DOWN),
            "{:?}",
            last.collect::<Vec<_>>()
        );
    }
}

/// A method that runs on has no id any more when its class has other code: it stays in the stacks, and so does what is below it.
#[test]
fn methods_that_run_on_in_an_obsolete_version_stay_in_the_stacks() {
    for jdk in Jdk::all() {
        let room = Room::new();
        let Some(jar) = agent_jar(&room) else { return };
        let run = Jvm::new(jdk, &room)
            .agent("start,interval=1ms,file=app.jfr")
            .flag(&format!("-javaagent:{}", jar.display()))
            .main("Redefined", &["1500", "changed"])
            .run()
            .success();
        let (totals, samples) = room.recording().accounted_for(Jdk::main());
        let (mut all, mut whole, mut obsolete) = (0, 0, 0);
        for sample in &samples {
            let frames = sample.frames();
            let ours = |frame: &String| frame.starts_with("Redefined$Changing.");
            if sample.thread() != Some("redefined-changing") || !frames.iter().any(ours) {
                continue;
            }
            all += 1;
            let names: Vec<_> = frames.iter().filter(|f| ours(f)).cloned().collect();
            let whole_names =
                ["inner", "outer", "endless"].map(|m| format!("Redefined$Changing.{m}"));
            let whole_root = frames.last().is_some_and(|f| f == "java.lang.Thread.run");
            // Those that are there are the lowest of these, without a gap.
            let good = whole_root && whole_names.ends_with(&names);
            whole += i32::from(good);
            if !good {
                println!("JDK {}: {frames:?}", jdk.version);
            }
            let values = sample.values.pointer("/stackTrace/frames").unwrap();
            obsolete += i32::from(
                frames
                    .iter()
                    .zip(values.as_array().unwrap())
                    .any(|(name, frame)| ours(name) && frame["bytecodeIndex"].as_i64() == Some(-1)),
            );
        }
        println!(
            "JDK {}: {}, {whole} of {all} stacks whole, {obsolete} with an obsolete method",
            jdk.version,
            run.stdout.trim()
        );
        assert!(
            all > 500 && obsolete * 2 > all,
            "{obsolete} of {all}: {totals:?}"
        );
        assert_eq!(whole, all, "{totals:?}");
    }
}

/// The kernel counts pending signals and timers per user, and compares with the limit of the process: with other JVMs about not a single timer is left.
#[test]
fn threads_without_a_timer_are_told_once_and_counted() {
    let room = Room::new();
    let jvm = Jvm::new(Jdk::main(), &room)
        .agent("start,interval=1ms,file=app.jfr")
        .main("Target", &["burn", "8", "300"]);
    let run = jvm.pending_signals(PENDING).run().success();
    let lines = run.agent_lines();
    let told: Vec<_> = lines
        .iter()
        .filter(|l| l.contains("no CPU timer for a thread"))
        .collect();
    assert_eq!(told.len(), 1, "once, not for each thread: {lines:?}");
    assert!(told[0].contains("pending"), "{told:?}");
    let (totals, _) = room.recording().accounted_for(Jdk::main());
    println!("{totals:?}");
    let without = totals.get("threads.without_timer").copied().unwrap_or(0);
    assert!(without > 0, "{totals:?}");
}

/// Hundreds of threads without timers, one after the other, after another line of that minute: the gauges tell of those that live.
#[test]
fn threads_without_a_timer_that_have_ended_are_not_counted() {
    let room = Room::new();
    let jvm = Jvm::new(Jdk::main(), &room)
        .agent("start,interval=1ms,file=app.jfr")
        .main("InTurn", &["400", "version"]);
    let run = jvm.pending_signals(PENDING).run().success();
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

/// They sleep at the stop, with sample points that they had reached; and they end in a recording that asks for none.
#[test]
fn what_polled_threads_used_is_in_samples_or_counted_and_is_not_carried_on() {
    let jdk = Jdk::main();
    let room = Room::new();
    let run = Jvm::new(jdk, &room)
        .agent("")
        .main("Pool", &["60", "60"])
        .run()
        .success();
    let used = run.numbers("pool used ")[0] as f64;
    let recording = Recording::new(room.file("cpu.jfr"));
    let (totals, samples) = recording.accounted_for(jdk);
    assert!(totals["poll.signals"] > 0, "{totals:?}");
    let open = totals["points.open"];
    let seen = cpu_nanos(&samples, "pool", 10);
    let ratio = (seen + open as f64 * 10e6) / used;
    println!(
        "{open} points open, {:.3} and {ratio:.3} of {used} ns",
        seen / used
    );
    // A thread's first and last interval are parts of one; other threads have open points as well.
    assert!((0.95..=1.06).contains(&ratio), "{ratio}");

    let recording = Recording::new(room.file("wall.jfr"));
    let counts = recording.counts(jdk);
    assert!(counts["profiler.WallClockSample"] > 0, "{counts:?}");
    assert_eq!(
        recording.samples(jdk).len(),
        0,
        "no CPU samples were asked for"
    );
}

/// A look for native threads needs a file descriptor. Without one nobody has ended, and whoever came meanwhile is found by the next look that succeeds.
#[test]
fn native_threads_are_sampled_also_when_no_file_descriptor_is_left() {
    let room = Room::new();
    let run = Jvm::new(Jdk::main(), &room)
        .preload("natives")
        .open_files(OPEN_FILES)
        .agent("start,interval=2ms,ctx=label,file=app.jfr")
        .main("NoFiles", &[])
        .run()
        .success();
    assert!(run.numbers("looks: ")[0] > 0, "{}", run.stderr);
    assert_eq!(run.agent_lines(), [""; 0]);
    let (_, samples) = room.recording().accounted_for(Jdk::main());
    let by_label = weights_by(&samples, "label");
    let of_label = |label: &str| weight(&by_label, label) as f64 * 2e6;
    let natives = ["early native", "late native"].map(|n| (n, cpu_nanos(&samples, n, 2), 4e8));
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
