//! Calls that fail: once, for a while, always.

use ctxagent_events::Reports as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use e2e::recording::Event;
use e2e::{Jdk, Jvm, Recording, TestDir, assert_contains};
use jfr_format::read::{Chunks, ParsedChunk};

use super::{FEW, FOREVER, Fault, MANY, allocations, check_run, counts, faulty, lost_signals};

#[test]
fn any_write_call_may_fail_once() {
    let test_dir = TestDir::new();
    let whole = faulty(&test_dir, None, FEW)
        .stop_recording_at_end()
        .run_ok();
    let (calls, _) = counts(&whole);
    let most = check_run(&test_dir, &whole, "no fault", FEW);
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
        let run = faulty(&test_dir, Some(&fault), FEW)
            .stop_recording_at_end()
            .run();
        let what = format!("{kind} in call {n}");
        let samples = check_run(&test_dir, &run, &what, FEW);
        println!("{what}: {samples} samples, {:?}", run.agent_lines());
        happened += counts(&run).1;
        let started = run
            .agent_lines()
            .iter()
            .all(|line| !line.contains("runs without recording"));
        assert!(samples > 0 || !started, "{what}: nothing was recorded");
    }
    // How many calls a run makes depends on how long it takes: the last ones may not come to
    // theirs.
    assert!(happened >= 10, "only {happened} faults happened");
}

#[test]
fn full_disk_costs_only_the_recording() {
    for first in [1, 6, 15] {
        let test_dir = TestDir::new();
        let fault = Fault {
            kind: "ENOSPC",
            first,
            last: FOREVER,
        };
        let run = faulty(&test_dir, Some(&fault), FEW).run();
        let what = format!("ENOSPC from call {first}");
        let samples = check_run(&test_dir, &run, &what, FEW);
        println!("{what}: {samples} samples, {:?}", run.agent_lines());
        assert!(!run.agent_lines().is_empty(), "{what}: nobody was told");
    }
}

#[test]
fn recording_continues_when_disk_has_room_again() {
    let test_dir = TestDir::new();
    let fault = Fault {
        kind: "ENOSPC",
        first: 10,
        last: 14,
    };
    // The end of the run must not come before the last of them.
    let run = faulty(&test_dir, Some(&fault), MANY)
        .stop_recording_at_end()
        .run();
    assert_eq!(counts(&run).1, 5);
    let samples = check_run(&test_dir, &run, "five faults", MANY);
    let sum = |name: &str| -> i64 {
        let files = test_dir.recordings();
        let totals = files.iter().map(Recording::totals);
        totals.filter_map(|all| all.get(name).copied()).sum()
    };
    println!(
        "{samples} samples with five failed writes; {:?}",
        run.agent_lines()
    );
    // What could not be written was kept and written later: every sample that counts as written is
    // in a file, and none was given up.
    let events = sum("written") + sum("written.split");
    assert_eq!(i64::try_from(samples).unwrap(), events);
    assert_eq!(sum("lost.write"), 0);
    assert!(sum("write.errors") > 0 && samples > 0);
}

#[test]
fn counters_do_not_pile_up_while_disk_is_full() {
    const FAILING: u64 = 40;
    let test_dir = TestDir::new();
    let full = test_dir.file("full");
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .faults(&format!(
            "WRITES=1 KIND=ENOSPC NTH=1 LAST={FAILING} SINCE=full"
        ))
        .agent("start,interval=5ms,flush=100ms,chunktime=1s,file=app.jfr")
        .program("Target serve")
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
    recording.reconcile();
    let bytes = fs::read(recording.path()).unwrap();
    let most = Chunks::new(&bytes).map(|chunk| {
        let stats = ParsedChunk::new(&chunk).unwrap().stats();
        stats.iter().filter(|stat| stat.name == "written").count()
    });
    let most: Vec<usize> = most.collect();
    println!("counters by chunk: {most:?}");
    assert!(most.iter().all(|n| *n <= 3), "{most:?}");
}

#[test]
fn discarded_samples_count_as_lost() {
    let (run, recording) = Jvm::alone(Jdk::main())
        .faults(&format!("WRITES=1 KIND=ENOSPC NTH=10 LAST={FOREVER}"))
        .agent(
            "start,event=cpu+wall+alloc,interval=1ms,wall=10ms,alloc=1k,flush=100ms,file=app.jfr",
        )
        .program("Unwritten")
        .record_to_exit();
    let of = |name: &str| run.counter(name);
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
    let samples = recording.samples().len() as u64;
    assert_eq!(samples, of("written") + of("written.split"));
    // So it is with the periods of sleeping threads, by the repeats that stand for them.
    let walls = recording.events("profiler.WallClockSample");
    let periods = walls.iter().map(|wall| wall.number("samples").unwrap());
    let written = of("wall.written") + of("wall.repeats_written");
    assert_eq!(u64::try_from(periods.sum::<i64>()).unwrap(), written);
    assert!(of("wall.repeats_lost") > 0, "{}", run.stdout);
}

/// The first file of `loop=` cannot be written, for `last` calls, from the moment when there is a
/// next one: that is where it is finished. By then what a second of work left is in memory.
fn unfinished(test_dir: &TestDir, last: u64, options: &str) -> Jvm {
    let files = "FILE=app-0.part.jfr SINCE=app-1.part.jfr";
    Jvm::new(Jdk::main(), test_dir)
        .faults(&format!("WRITES=1 KIND=EIO NTH=1 LAST={last} {files}"))
        .agent(&format!("start,{options},flush=1s,loop=2s,file=app-%n.jfr"))
}

#[test]
fn file_finished_at_third_try_loses_nothing() {
    let test_dir = TestDir::new();
    let run = unfinished(&test_dir, 2, "interval=2ms")
        .program("Target burn 2 3000")
        .stop_recording_at_end()
        .run_ok();
    assert_eq!(counts(&run).1, 2);
    assert_eq!(run.agent_lines(), [""; 0]);
    let files = test_dir.recordings();
    assert!(files.len() >= 2, "{files:?}");
    for file in &files {
        let (totals, samples) = file.reconcile();
        println!("{} samples", samples.len());
        assert!(!totals.contains_key("lost.write"), "{totals:?}");
        assert!(!totals.contains_key("write.errors"), "{totals:?}");
    }
}

#[test]
fn unfinishable_file_is_tried_three_times() {
    let test_dir = TestDir::new();
    let run = unfinished(&test_dir, FOREVER, "event=cpu+alloc,interval=1ms,alloc=64k")
        .program("Unwritten")
        .run_ok();
    assert_eq!(counts(&run).1, 3);
    let lines = run.agent_lines();
    assert!(
        lines.len() == 1 && lines[0].contains("the recording cannot be written"),
        "{lines:?}"
    );
    assert_contains!(run.stdout, "stopped; recording is ");
    let files = test_dir.recordings();
    // What was flushed before is there. It has no counters: they come with the end of a file.
    let before = files[0].samples().len();
    let mut lost = 0;
    for file in &files[1..] {
        let (totals, samples) = file.reconcile();
        println!("{} samples, {totals:?}", samples.len());
        assert_eq!(
            totals["alloc.seen"],
            allocations(|name| totals[name]),
            "{totals:?}"
        );
        assert_eq!(totals["gc.seen"], totals["gc.written"] + totals["gc.lost"]);
        lost += totals["lost.write"];
    }
    println!("{before} samples before the end that failed, {lost} lost with it");
    assert!(before > 0 && lost > 0, "{before} {lost}");
    let after = files[1..].iter().flat_map(Recording::samples);
    let known = |s: &Event| s.text("work") == Some("after") && !s.frames().is_empty();
    assert!(
        after.filter(known).count() > 0,
        "the next file knows no more"
    );
    // Over all of the recording every signal is a sample in one of the files, or lost.
    let of = |name: &str| run.counter(name);
    let lost: u64 = run.stdout.lines().filter_map(lost_signals).sum();
    assert_eq!(of("signals"), of("written") + lost, "{}", run.stdout);
    assert_eq!(of("alloc.seen"), allocations(of), "{}", run.stdout);
    let samples = files.iter().map(|f| f.samples().len() as u64);
    assert_eq!(
        samples.sum::<u64>(),
        of("written") + of("written.split"),
        "{}",
        run.stdout
    );
}

#[test]
fn failed_dump_leaves_previous_one() {
    let test_dir = TestDir::new();
    let broken = test_dir.file("broken");
    // The dump alone, and only once the file `broken` is there.
    let files = "FILE=copy.jfr SINCE=broken";
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .faults(&format!(
            "WRITES=1 KIND=ENOSPC NTH=1 LAST={FOREVER} {files}"
        ))
        .agent("start,interval=5ms,flush=100ms,file=app.jfr")
        .serve();
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
fn file_size_limit_costs_only_what_is_beyond() {
    let test_dir = TestDir::new();
    let run = Jvm::brief(&test_dir, "start,interval=2ms,file=app.jfr")
        .file_size(4096)
        .stop_recording_at_end()
        .run_ok();
    assert_eq!(run.agent_lines(), [""; 0]);
    let (_, samples) = test_dir.recording().reconcile();
    assert!(!samples.is_empty());
    // One that reaches the limit: the process goes on, and what is in the file opens.
    let (run, recording) = Jvm::recording(
        Jdk::main(),
        "event=cpu+alloc,interval=1ms,alloc=1k,flush=100ms",
    )
    .file_size(1024)
    .program(&format!("Churn platform {MANY} 8"))
    .may_warn("growing the file: File too large")
    .record_to_exit();
    assert_eq!(run.stdout, format!("ended {MANY} wrong 0\n"));
    let said = run.agent_lines();
    let told = |line: &&str| line.contains("the recording cannot be written");
    assert!(said.iter().any(told), "{said:?}");
    recording.jfr(Jdk::main(), &["summary"]).success();
    assert!(!recording.samples().is_empty());
}
