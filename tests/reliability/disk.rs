//! Faults of the file system never reach the application and leave no unreadable file; a disk that hangs does not hold it.

use ctxagent_events::Reports as _;
use std::fs;
use std::iter::Sum;
use std::path::Path;
use std::time::Duration;

use e2e::jvm::RunningJvm;
use e2e::process::ProcessOutput;
use e2e::recording::Event;
use e2e::{Jdk, Jvm, Recording, TestDir, retry_late_write};
use jfr_format::read::{Chunks, OpenChunk};

/// Numbers of the calls that fail, and how.
struct Fault {
    kind: &'static str,
    first: u64,
    last: u64,
}

/// Threads that come and go in a short run.
const FEW: u32 = 2000;
/// As many as take seconds, also on a fast machine.
const MANY: u32 = 12_000;

fn faulty<'a>(test_dir: &'a TestDir, fault: Option<&Fault>) -> Jvm<'a> {
    faulty_for(test_dir, fault, FEW)
}

/// Rotates and flushes often, so that a short run makes all kinds of calls.
fn faulty_for<'a>(test_dir: &'a TestDir, fault: Option<&Fault>, threads: u32) -> Jvm<'a> {
    let mut jvm = Jvm::new(Jdk::main(), test_dir)
        .preload("faults")
        .environment("FAULT_WRITES", "1")
        .agent("start,interval=2ms,flush=100ms,chunktime=1s,loop=1s,file=app-%n.jfr");
    if let Some(Fault { kind, first, last }) = fault {
        jvm = jvm
            .environment("FAULT_KIND", kind)
            .environment("FAULT_NTH", &first.to_string())
            .environment("FAULT_LAST", &last.to_string());
    }
    jvm.main("Churn", &["platform", &threads.to_string(), "8"])
}

/// Calls counted, calls that failed.
fn counts(run: &ProcessOutput) -> (u64, u64) {
    let numbers = run.numbers("faults: ");
    (numbers[0], numbers[1])
}

/// The application's answer is its own, and whatever file is there opens in the stock tool. Returns the events in all of them.
fn judged(test_dir: &TestDir, run: &ProcessOutput, what: &str) -> usize {
    judged_for(test_dir, run, what, FEW)
}

fn judged_for(test_dir: &TestDir, run: &ProcessOutput, what: &str, threads: u32) -> usize {
    assert_eq!(run.code, Some(0), "{what}: {}", run.stderr);
    assert_eq!(run.stdout, format!("ended {threads} wrong 0\n"), "{what}");
    let lines = run.agent_lines();
    assert!(lines.len() <= 4, "{what}: too many lines: {lines:?}");
    let files = test_dir.recordings();
    files
        .iter()
        .map(|file| {
            file.jfr(Jdk::main(), &["summary"]).success();
            file.samples(Jdk::main()).len()
        })
        .sum()
}

#[test]
fn any_call_that_writes_may_fail_once() {
    let test_dir = TestDir::new();
    let whole = faulty(&test_dir, None)
        .stop_recording_at_end()
        .run()
        .success();
    let (calls, _) = counts(&whole);
    let most = judged(&test_dir, &whole, "no fault");
    println!("{calls} calls that write, {most} samples");
    // All of the first, which make and name the file, then further and further apart.
    let mut numbers: Vec<u64> = (1..=8).collect();
    while let Some(next) = numbers.last().map(|last| last + last / 4 + 1)
        && next <= calls
    {
        numbers.push(next);
    }
    let mut happened = 0;
    let kinds = ["ENOSPC", "EIO", "EINTR", "short", "EROFS", "EDQUOT"];
    for (n, kind) in numbers.into_iter().zip(kinds.into_iter().cycle()) {
        let test_dir = TestDir::new();
        let fault = Fault {
            kind,
            first: n,
            last: n,
        };
        let run = faulty(&test_dir, Some(&fault))
            .stop_recording_at_end()
            .run();
        let what = format!("{kind} in call {n}");
        let samples = judged(&test_dir, &run, &what);
        println!("{what}: {samples} samples, {:?}", run.agent_lines());
        happened += counts(&run).1;
        let started = run
            .agent_lines()
            .iter()
            .all(|line| !line.contains("runs without recording"));
        assert!(samples > 0 || !started, "{what}: nothing was recorded");
    }
    // How many calls a run makes depends on how long it takes: the last ones may not come to theirs.
    assert!(happened >= 10, "only {happened} faults happened");
}

#[test]
fn a_disk_that_stays_full_costs_the_recording_and_nothing_else() {
    for first in [1, 6, 15] {
        let test_dir = TestDir::new();
        let fault = Fault {
            kind: "ENOSPC",
            first,
            last: u64::MAX >> 1,
        };
        let run = faulty(&test_dir, Some(&fault)).run();
        let what = format!("ENOSPC from call {first}");
        let samples = judged(&test_dir, &run, &what);
        println!("{what}: {samples} samples, {:?}", run.agent_lines());
        assert!(!run.agent_lines().is_empty(), "{what}: nobody was told");
    }
}

#[test]
fn a_recording_goes_on_when_the_disk_has_room_again() {
    let test_dir = TestDir::new();
    let fault = Fault {
        kind: "ENOSPC",
        first: 10,
        last: 14,
    };
    // The end of the run must not come before the last of them.
    let run = faulty_for(&test_dir, Some(&fault), MANY)
        .stop_recording_at_end()
        .run();
    assert_eq!(counts(&run).1, 5);
    let samples = judged_for(&test_dir, &run, "five faults", MANY);
    let sum = |name: &str| -> i64 {
        let files = test_dir.recordings();
        let totals = files.iter().map(|file| file.totals(Jdk::main()));
        totals.filter_map(|all| all.get(name).copied()).sum()
    };
    println!(
        "{samples} samples with five failed writes; {:?}",
        run.agent_lines()
    );
    // What could not be written was kept and written later: every sample that counts as written is in a file, and none was given up.
    assert_eq!(i64::try_from(samples).unwrap(), sum("written"));
    assert_eq!(sum("lost.write"), 0);
    assert!(sum("write.errors") > 0 && samples > 0);
}

#[test]
fn while_the_disk_is_full_no_counters_pile_up() {
    const FAILING: u64 = 40;
    let test_dir = TestDir::new();
    let full = test_dir.file("full");
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .preload("faults")
        .environment("FAULT_WRITES", "1")
        .environment("FAULT_KIND", "ENOSPC")
        .environment("FAULT_NTH", "1")
        .environment("FAULT_LAST", &FAILING.to_string())
        .environment("FAULT_SINCE", &full.display().to_string())
        .agent("start,interval=5ms,flush=100ms,chunktime=1s,file=app.jfr")
        .main("Target", &["serve"])
        .stop_recording_at_end()
        .start_ready();
    fs::write(&full, b"").unwrap();
    let recording = Recording::new(test_dir.file("app.jfr"));
    // At most one flush fails in 100 ms. One may be at work now.
    let least = Duration::from_millis(100) * (u32::try_from(FAILING).unwrap() - 1);
    let written = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let room_again = written(&full) + least;
    jvm.wait_until("the disk has room again", || {
        std::thread::park_timeout(Duration::from_millis(20));
        written(recording.path()) > room_again
    });
    let run = jvm.end();
    assert_eq!(counts(&run).1, FAILING);
    recording.reconcile(Jdk::main());
    let bytes = fs::read(recording.path()).unwrap();
    let most = Chunks::new(&bytes).map(|chunk| {
        let stats = OpenChunk::new(&chunk).unwrap().stats();
        stats.iter().filter(|stat| stat.name == "written").count()
    });
    let most: Vec<usize> = most.collect();
    println!("counters by chunk: {most:?}");
    assert!(most.iter().all(|n| *n <= 3), "{most:?}");
}

#[test]
fn a_disk_that_hangs_holds_neither_the_application_nor_its_end() {
    // The call never returns: the test ends because the JVM does.
    for first in [9, 20] {
        let test_dir = TestDir::new();
        let fault = Fault {
            kind: "hang",
            first,
            last: first,
        };
        let run = faulty(&test_dir, Some(&fault)).run();
        let what = format!("call {first} hangs");
        let samples = judged(&test_dir, &run, &what);
        println!("{what}: {samples} samples, {:?}", run.agent_lines());
        assert_eq!(counts(&run).1, 1);
        assert!(
            run.agent_lines()
                .iter()
                .any(|line| line.contains("did not answer within 500 ms"))
        );
    }
}

#[test]
fn a_disk_that_hangs_when_the_file_is_made_costs_the_recording_and_nothing_else() {
    // The call that makes the file, and one on the way to the recording.
    for first in [1, 3] {
        let test_dir = TestDir::new();
        let fault = Fault {
            kind: "hang",
            first,
            last: first,
        };
        let run = faulty(&test_dir, Some(&fault)).run().success();
        let lines = run.agent_lines();
        println!("call {first} hangs: {lines:?}");
        assert_eq!(run.stdout, "ended 2000 wrong 0\n");
        assert_eq!(counts(&run).1, 1);
        assert!(
            lines.len() == 1 && lines[0].contains("its disk hangs; the JVM runs without recording"),
            "{lines:?}"
        );
    }
}

#[test]
fn a_start_that_was_given_up_leaves_the_older_recording_or_a_finished_one() {
    // The call that claims the name, and the first one that makes the recording.
    for (call, stays) in [("1", true), ("4", false)] {
        let test_dir = TestDir::new();
        let options = "start,interval=2ms,file=app.jfr,overwrite";
        let older = Jvm::new(Jdk::main(), &test_dir).agent(options);
        let older = older.main("Churn", &["platform", "100", "2"]);
        older.stop_recording_at_end().run().success();
        let before = fs::read(test_dir.file("app.jfr")).unwrap();
        let run = Jvm::new(Jdk::main(), &test_dir)
            .preload("faults")
            .environment("FAULT_WRITES", "1")
            .environment("FAULT_KIND", "hang")
            .environment("FAULT_NTH", call)
            .environment("FAULT_UNTIL", &test_dir.file("back").display().to_string())
            .agent(options)
            .main("LateDisk", &[])
            .run()
            .success();
        println!("call {call}: {}{}", run.stdout, run.stderr);
        assert_eq!(counts(&run).1, 1);
        let waiting = "state: a recording is being started or finished\n";
        assert_eq!(run.stdout, waiting);
        let same = fs::read(test_dir.file("app.jfr")).unwrap() == before;
        assert_eq!(same, stays);
        // The counters come with the end of a file.
        let totals = test_dir.recording().totals(Jdk::main());
        assert!(totals.contains_key("signals"), "{totals:?}");
    }
}

#[test]
fn a_file_that_hangs_as_it_is_closed_does_not_hold_the_end_of_the_jvm() {
    retry_late_write(|| {
        let test_dir = TestDir::new();
        // Closed before: the claim of the name, as the recording takes its place.
        let run = Jvm::new(Jdk::main(), &test_dir)
            .preload("faults")
            .environment("FAULT_CALL", "close")
            .environment("FAULT_FILE", "app.jfr")
            .environment("FAULT_KIND", "hang")
            .environment("FAULT_NTH", "2")
            .agent("start,interval=2ms,file=app.jfr")
            .main("Churn", &["platform", &FEW.to_string(), "8"])
            .run()
            .success();
        assert_eq!(run.stdout, format!("ended {FEW} wrong 0\n"));
        let recording = test_dir.recording();
        if run.late_write().is_some() {
            assert_eq!(run.agent_lines().len(), 1, "{}", run.stderr);
            recording.jfr(Jdk::main(), &["summary"]).success();
            return None;
        }
        assert_eq!(counts(&run), (2, 1));
        // All was written before: the file is whole, and the end as ever.
        assert_eq!(run.agent_lines(), [""; 0]);
        let (_, samples) = recording.reconcile(Jdk::main());
        println!("{} samples", samples.len());
        Some(())
    });
}

#[test]
fn a_log_that_hangs_holds_neither_the_application_nor_its_end() {
    // As it is opened; at its first line, which comes before the application; and at one that tells that threads get no timers.
    for (call, level, pending) in [
        ("open64", "warn", None),
        ("write", "info", None),
        ("write", "warn", Some(4)),
    ] {
        retry_late_write(|| {
            let test_dir = TestDir::new();
            let mut jvm = Jvm::new(Jdk::main(), &test_dir)
                .preload("faults")
                .environment("FAULT_CALL", call)
                .environment("FAULT_WRITES", "1")
                .environment("FAULT_KIND", "hang")
                .environment("FAULT_NTH", "1")
                .agent(&format!(
                    "start,interval=2ms,log=app.log,loglevel={level},file=app.jfr"
                ))
                .main("Churn", &["platform", &FEW.to_string(), "8"]);
            if call == "write" {
                jvm = jvm.environment("FAULT_FILE", "app.log");
            }
            if let Some(most) = pending {
                jvm = jvm.pending_signals(most);
            }
            let run = jvm.run().success();
            println!("{call} at {level}: {}", run.stderr);
            assert_eq!(run.stdout, format!("ended {FEW} wrong 0\n"));
            assert_eq!(counts(&run).1, 1);
            let recording = test_dir.recording();
            // The log hangs, so it cannot tell that the end was too late. The last write brings the counters.
            if recording.totals(Jdk::main()).is_empty() {
                return None;
            }
            recording.reconcile(Jdk::main());
            Some(())
        });
    }
}

/// A program whose `command` waits for a disk that hangs; it ends while the command still waits.
fn hung(command: &[&str], faults: &[(&str, &str)]) -> ProcessOutput {
    let test_dir = TestDir::new();
    let mut jvm = Jvm::new(Jdk::main(), &test_dir)
        .preload("faults")
        .environment("FAULT_KIND", "hang")
        .environment("FAULT_NTH", "1")
        .environment("FAULT_SINCE", &test_dir.file("hung").display().to_string())
        .agent("start,interval=2ms,flush=100ms,file=app.jfr");
    for (name, value) in faults {
        jvm = jvm.environment(name, value);
    }
    let run = jvm
        .main("Hung", command)
        // A stop waits for half a minute, a dump for a whole one: this is the one limit that tells whether others wait for them.
        .limit(Duration::from_secs(25))
        .run()
        .success();
    println!("{command:?}: {}{}", run.stdout, run.stderr);
    assert_eq!(counts(&run).1, 1);
    Recording::new(test_dir.file("app.jfr"))
        .jfr(Jdk::main(), &["summary"])
        .success();
    run
}

/// Only writes to the recording's own file hang.
const RECORDING_HANGS: [(&str, &str); 2] = [("FAULT_FILE", "app.jfr"), ("FAULT_WRITES", "1")];

#[test]
fn a_dump_that_hangs_holds_neither_other_commands_nor_the_end_of_the_jvm() {
    let run = hung(&["dump,file=copy.jfr"], &RECORDING_HANGS);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "state: recording");
    assert!(lines[1].contains("is running; stop it first"), "{lines:?}");
    assert_eq!(lines[2], "waits true");
}

#[test]
fn a_dump_whose_file_hangs_as_it_is_made_is_waited_for_with_patience() {
    let run = hung(
        &["dump,file=copy.jfr", "copy.jfr"],
        &[("FAULT_FILE", "copy.jfr")],
    );
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "state: recording");
    assert!(lines[1].contains("is running; stop it first"), "{lines:?}");
    assert_eq!(lines[2], "waits true");
    // It is the writer that hangs, and not who asked: they wait for its answer as for any other.
    let silent = |line: &&str| line.contains("did not answer within 500 ms");
    assert!(run.agent_lines().iter().any(silent), "{}", run.stderr);
}

#[test]
fn a_stop_that_hangs_holds_nobody_and_nothing_starts_before_its_writer_has_ended() {
    let run = hung(&["stop"], &RECORDING_HANGS);
    let lines: Vec<&str> = run.stdout.lines().collect();
    let waiting = "a recording is being started or finished";
    assert_eq!(lines[0], format!("state: {waiting}"));
    assert_eq!(lines[1], format!("refused: {waiting}; try again later"));
    assert_eq!(lines[2], "waits true");
}

#[test]
fn what_is_given_up_counts_as_lost_and_not_as_written() {
    let test_dir = TestDir::new();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .preload("faults")
        .environment("FAULT_WRITES", "1")
        .environment("FAULT_KIND", "ENOSPC")
        .environment("FAULT_NTH", "10")
        .environment("FAULT_LAST", &(u64::MAX >> 1).to_string())
        .agent(
            "start,event=cpu+wall+alloc,interval=1ms,wall=10ms,alloc=1k,flush=100ms,file=app.jfr",
        )
        .main("Unwritten", &[])
        .run()
        .success();
    let of = |name: &str| {
        run.lines_after(&format!("{name}: "))
            .next()
            .map_or(0, number)
    };
    let lost: u64 = run.stdout.lines().filter_map(lost_signals).sum();
    println!("{} written, {lost} lost", of("written"));
    assert!(
        of("lost.write") > 0 && of("alloc.lost") > 0,
        "{}",
        run.stdout
    );
    assert_eq!(of("signals"), of("written") + lost, "{}", run.stdout);
    assert_eq!(of("alloc.seen"), allocations(of), "{}", run.stdout);
    let odd = |line: &&str| line.contains("please report");
    assert_eq!(run.agent_lines().into_iter().find(odd), None);
    // What is in the file is what counts as written.
    let recording = test_dir.recording();
    let samples = recording.samples(Jdk::main()).len() as u64;
    assert_eq!(samples, of("written") + of("written.split"));
    // So it is with the periods of sleeping threads, by the repeats that stand for them.
    let walls = recording.events(Jdk::main(), "profiler.WallClockSample");
    let periods = walls.iter().map(|wall| wall.number("samples").unwrap());
    let written = of("wall.written") + of("wall.repeats_written");
    assert_eq!(u64::try_from(periods.sum::<i64>()).unwrap(), written);
    assert!(of("wall.repeats_lost") > 0, "{}", run.stdout);
}

#[test]
fn samples_that_a_hanging_disk_costs_are_counted() {
    let test_dir = TestDir::new();
    let path = |name: &str| test_dir.file(name).display().to_string();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .preload("faults")
        .environment("FAULT_WRITES", "1")
        .environment("FAULT_KIND", "hang")
        .environment("FAULT_NTH", "1")
        .environment("FAULT_SINCE", &path("hung"))
        .environment("FAULT_UNTIL", &path("back"))
        .agent("start,interval=1ms,flush=100ms,file=app.jfr")
        .main("Stuck", &[])
        .run()
        .success();
    assert_eq!(counts(&run).1, 1);
    let of = |name: &str| {
        run.lines_after(&format!("{name}: "))
            .next()
            .map_or(0, number)
    };
    let lost: u64 = run.stdout.lines().filter_map(lost_signals).sum();
    println!("{} written, {lost} lost", of("written"));
    assert!(of("lost.no_slot") > 0, "{}", run.stdout);
    assert_eq!(of("signals"), of("written") + lost, "{}", run.stdout);
    // The disk came back: the file says the same.
    let (totals, _) = test_dir.recording().reconcile(Jdk::main());
    assert!(totals["lost.no_slot"] > 0, "{totals:?}");
}

/// The first file of `loop=` cannot be written, for `last` calls, from the moment when there is a next one: that is where it is finished. By then
/// what a second of work left is in memory.
fn unfinished<'a>(test_dir: &'a TestDir, last: u64, options: &str) -> Jvm<'a> {
    Jvm::new(Jdk::main(), test_dir)
        .preload("faults")
        .environment("FAULT_WRITES", "1")
        .environment("FAULT_KIND", "EIO")
        .environment("FAULT_NTH", "1")
        .environment("FAULT_LAST", &last.to_string())
        .environment("FAULT_FILE", "app-0.part.jfr")
        .environment("FAULT_SINCE", "app-1.part.jfr")
        .agent(&format!("start,{options},flush=1s,loop=2s,file=app-%n.jfr"))
}

#[test]
fn a_file_that_is_finished_at_the_third_try_loses_nothing() {
    let test_dir = TestDir::new();
    let run = unfinished(&test_dir, 2, "interval=2ms")
        .main("Target", &["burn", "2", "3000"])
        .stop_recording_at_end()
        .run()
        .success();
    assert_eq!(counts(&run).1, 2);
    assert_eq!(run.agent_lines(), [""; 0]);
    let files = test_dir.recordings();
    assert!(files.len() >= 2, "{files:?}");
    for file in &files {
        let (totals, samples) = file.reconcile(Jdk::main());
        println!("{} samples", samples.len());
        assert!(!totals.contains_key("lost.write"), "{totals:?}");
        assert!(!totals.contains_key("write.errors"), "{totals:?}");
    }
}

#[test]
fn a_file_that_cannot_be_finished_is_tried_three_times_and_the_next_one_is_whole() {
    let test_dir = TestDir::new();
    let run = unfinished(
        &test_dir,
        u64::MAX >> 1,
        "event=cpu+alloc,interval=1ms,alloc=64k",
    )
    .main("Unwritten", &[])
    .run()
    .success();
    assert_eq!(counts(&run).1, 3);
    let lines = run.agent_lines();
    assert!(
        lines.len() == 1 && lines[0].contains("the recording cannot be written"),
        "{lines:?}"
    );
    assert!(run.stdout.contains("stopped; recording is "));
    let files = test_dir.recordings();
    // What was flushed before is there. It has no counters: they come with the end of a file.
    let before = files[0].samples(Jdk::main()).len();
    let mut lost = 0;
    for file in &files[1..] {
        let (totals, samples) = file.reconcile(Jdk::main());
        println!("{} samples, {totals:?}", samples.len());
        let of = |name: &str| totals.get(name).copied().unwrap_or(0);
        assert_eq!(of("alloc.seen"), allocations(of), "{totals:?}");
        assert_eq!(of("gc.seen"), of("gc.written") + of("gc.lost"));
        lost += totals.get("lost.write").copied().unwrap_or(0);
    }
    println!("{before} samples before the end that failed, {lost} lost with it");
    assert!(before > 0 && lost > 0, "{before} {lost}");
    let after = files[1..].iter().flat_map(|f| f.samples(Jdk::main()));
    let known = |s: &Event| s.text("work") == Some("after") && !s.frames().is_empty();
    assert!(
        after.filter(known).count() > 0,
        "the next file knows no more"
    );
    // Over all of the recording every signal is a sample in one of the files, or lost.
    let of = |name: &str| {
        run.lines_after(&format!("{name}: "))
            .next()
            .map_or(0, number)
    };
    let lost: u64 = run.stdout.lines().filter_map(lost_signals).sum();
    assert_eq!(of("signals"), of("written") + lost, "{}", run.stdout);
    assert_eq!(of("alloc.seen"), allocations(of), "{}", run.stdout);
    let samples = files.iter().map(|f| f.samples(Jdk::main()).len() as u64);
    assert_eq!(
        samples.sum::<u64>(),
        of("written") + of("written.split"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_dump_that_cannot_be_written_leaves_the_one_before_it_as_it_was() {
    let test_dir = TestDir::new();
    let broken = test_dir.file("broken");
    // The dump alone, and only once the file `broken` is there.
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .preload("faults")
        .environment("FAULT_WRITES", "1")
        .environment("FAULT_KIND", "ENOSPC")
        .environment("FAULT_NTH", "1")
        .environment("FAULT_LAST", &(u64::MAX >> 1).to_string())
        .environment("FAULT_FILE", "copy.jfr")
        .environment("FAULT_SINCE", &broken.display().to_string())
        .agent("start,interval=5ms,flush=100ms,file=app.jfr")
        .main("Target", &["serve"])
        .start_ready();
    jvm.agent_command_ok("dump,file=copy.jfr,overwrite");
    let before = fs::read(test_dir.file("copy.jfr")).unwrap();
    fs::write(broken, b"").unwrap();
    let again = jvm.agent_command("dump,file=copy.jfr,overwrite");
    assert!(!again.stdout.contains("return code: 0"), "{again:?}");
    jvm.wait_for_line("the dump failed");
    assert_eq!(fs::read(test_dir.file("copy.jfr")).unwrap(), before);
    let run = jvm.end();
    assert!(counts(&run).1 > 0);
    let files = test_dir.recordings();
    assert_eq!(files.len(), 2);
    for file in files {
        file.jfr(Jdk::main(), &["summary"]).success();
    }
}

#[test]
fn without_standard_streams_what_the_application_prints_is_in_no_file_of_ours() {
    for closed in ["0<&- 1>&-", "0<&- 1>&- 3>&-"] {
        let test_dir = TestDir::new();
        let run = Jvm::new(Jdk::main(), &test_dir)
            .redirect(closed)
            .agent("start,interval=2ms,flush=100ms,file=app.jfr,log=app.log,loglevel=info")
            .main("Loud", &["700"])
            .stop_recording_at_end()
            .run();
        let ours = |name: &str| {
            run.lines_after("descriptor ")
                .find(|line| line.ends_with(name))
                .unwrap_or_else(|| panic!("{name}: {}", run.stderr))
                .split(' ')
                .next()
                .map_or(0, number)
        };
        assert!(
            ours(" app.jfr") > 2 && ours(" app.log") > 2,
            "{closed}: {}",
            run.stderr
        );
        let recording = test_dir.recording();
        assert!(!recording.samples(Jdk::main()).is_empty());
        for file in [recording.path(), &test_dir.file("app.log")] {
            let bytes = fs::read(file).unwrap();
            assert!(
                !crate::contains(&bytes, "application's own"),
                "{}",
                file.display()
            );
        }
    }
}

/// A program that serves until it is told to end, with a recording in `app.jfr`.
fn serving(test_dir: &TestDir) -> RunningJvm {
    let jvm = Jvm::new(Jdk::main(), test_dir)
        .agent("start,interval=5ms,flush=100ms,file=app.jfr")
        .main("Target", &["serve"])
        .start_ready();
    jvm
}

/// Ends the recording by a command, whose answer is waited for, and then the program.
fn stopped(jvm: &RunningJvm, file: &str) -> ProcessOutput {
    jvm.agent_command_ok("stop");
    jvm.wait_for_line(&format!("stopped; recording is {file}"));
    jvm.end()
}

fn has_samples(test_dir: &TestDir, name: &str) -> bool {
    let bytes = fs::read(test_dir.file(name)).unwrap_or_default();
    Chunks::new(&bytes).any(|chunk| {
        let chunk = OpenChunk::new(&chunk).unwrap();
        chunk
            .raw_events()
            .any(|event| event.unwrap().type_id == 100)
    })
}

#[test]
fn a_recording_that_is_moved_is_written_on_where_it_is() {
    let test_dir = TestDir::new();
    let jvm = serving(&test_dir);
    fs::create_dir(test_dir.file("away")).unwrap();
    fs::rename(test_dir.file("app.jfr"), test_dir.file("away/b.jfr")).unwrap();
    jvm.wait_for_line("app.jfr' was moved to '");
    let path = fs::canonicalize(test_dir.file("away/b.jfr")).unwrap();
    let path = path.display().to_string();
    jvm.agent_command_ok("dump");
    jvm.wait_for_line(&format!("flushed; recording is {path}"));
    let run = stopped(&jvm, &path);
    println!("{}", run.stderr);
    assert_eq!(run.stderr.matches("was moved").count(), 1, "{}", run.stderr);
    assert!(test_dir.recordings().is_empty());
    let (_, samples) = Recording::new(test_dir.file("away/b.jfr")).reconcile(Jdk::main());
    assert!(!samples.is_empty());
}

#[test]
fn a_recording_that_is_deleted_or_overwritten_goes_on_in_another_file_and_the_answers_name_it() {
    for (deleted, name) in [(true, "app.jfr"), (false, "app-2.jfr")] {
        let test_dir = TestDir::new();
        let jvm = serving(&test_dir);
        jvm.wait_until("samples are in the file", || {
            has_samples(&test_dir, "app.jfr")
        });
        if deleted {
            fs::remove_file(test_dir.file("app.jfr")).unwrap();
            jvm.wait_for_line("app.jfr' was deleted; recording goes on in 'app.jfr'");
        } else {
            fs::write(test_dir.file("app.jfr"), b"a novel").unwrap();
            jvm.wait_for_line("recording goes on in 'app-2.jfr'");
        }
        jvm.wait_until("samples are in the new file", || {
            has_samples(&test_dir, name)
        });
        let run = stopped(&jvm, name);
        println!("{}{}", run.stdout, run.stderr);
        let said = run.agent_lines();
        let told = said
            .iter()
            .filter(|line| line.contains("goes on in"))
            .count();
        assert_eq!(told, 1, "{said:?}");
        if !deleted {
            assert_eq!(fs::read(test_dir.file("app.jfr")).unwrap(), b"a novel");
        }
        let (totals, samples) = Recording::new(test_dir.file(name)).reconcile(Jdk::main());
        println!("{totals:?}");
        assert!(!samples.is_empty());
    }
}

#[test]
fn a_recording_whose_directory_is_gone_says_so_and_no_answer_names_it() {
    let test_dir = TestDir::new();
    fs::create_dir(test_dir.file("gone")).unwrap();
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,interval=5ms,flush=100ms,file=gone/app.jfr")
        .main("Target", &["serve"])
        .start_ready();
    fs::remove_dir_all(test_dir.file("gone")).unwrap();
    jvm.wait_for_line("gone/app.jfr' was deleted, and there is no other");
    let dumped = jvm.agent_command("dump");
    assert!(!dumped.stdout.contains("return code: 0"), "{dumped:?}");
    jvm.end();
}

#[test]
fn a_small_limit_of_file_sizes_costs_what_is_beyond_it_and_nothing_else() {
    let test_dir = TestDir::new();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .file_size(4096)
        .agent("start,interval=2ms,file=app.jfr")
        .main("Target", &["exit", "return"])
        .stop_recording_at_end()
        .run()
        .success();
    assert_eq!(run.agent_lines(), [""; 0]);
    let (_, samples) = test_dir.recording().reconcile(Jdk::main());
    assert!(!samples.is_empty());
    // One that reaches the limit: the process goes on, and what is in the file opens.
    let test_dir = TestDir::new();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .file_size(1024)
        .agent("start,event=cpu+alloc,interval=1ms,alloc=1k,flush=100ms,file=app.jfr")
        .main("Churn", &["platform", &MANY.to_string(), "8"])
        .run()
        .success();
    assert_eq!(run.stdout, format!("ended {MANY} wrong 0\n"));
    let said = run.agent_lines();
    let told = |line: &&str| line.contains("the recording cannot be written");
    assert!(said.iter().any(told), "{said:?}");
    let recording = test_dir.recording();
    recording.jfr(Jdk::main(), &["summary"]).success();
    assert!(!recording.samples(Jdk::main()).is_empty());
}

#[test]
fn the_first_samples_are_in_the_file_at_once_however_far_apart_flushes_are() {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,interval=5ms,flush=60s,file=app.jfr")
        .main("Target", &["serve"])
        // Below the time between two flushes: a sample in the file by then is one of the first.
        .limit(Duration::from_secs(50))
        .start();
    jvm.wait_until("a sample is in the file", || {
        has_samples(&test_dir, "app.jfr")
    });
    jvm.end();
}

/// What became of the allocations that were seen.
fn allocations<N: Sum>(of: impl Fn(&str) -> N) -> N {
    let ends = ["alloc.written", "alloc.lost", "alloc.filtered"];
    ends.into_iter().map(of).sum()
}

fn number(text: &str) -> u64 {
    text.parse().unwrap()
}

/// The count of a line `lost.CAUSE: COUNT`.
fn lost_signals(line: &str) -> Option<u64> {
    let (name, count) = line.split_once(": ")?;
    name.starts_with("lost.").then(|| number(count))
}
