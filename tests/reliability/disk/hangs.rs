//! Calls that never return.

use std::fs;
use std::time::Duration;

use e2e::{Jdk, Jvm, ProcessOutput, Recording, TestDir, retry_late_write};

use super::{FEW, Fault, check_run, counts, faulty, lost_signals};

#[test]
fn hang_blocks_neither_application_nor_exit() {
    // The call never returns: the test ends because the JVM does.
    for first in [9, 20] {
        let test_dir = TestDir::new();
        let fault = Fault {
            kind: "hang",
            first,
            last: first,
        };
        let run = faulty(&test_dir, Some(&fault), FEW).run();
        let what = format!("call {first} hangs");
        let samples = check_run(&test_dir, &run, &what, FEW);
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
fn hang_at_file_creation_costs_only_the_recording() {
    // The call that makes the file, and one on the way to the recording.
    for first in [1, 3] {
        let test_dir = TestDir::new();
        let fault = Fault {
            kind: "hang",
            first,
            last: first,
        };
        let run = faulty(&test_dir, Some(&fault), FEW).run_ok();
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
fn abandoned_start_leaves_older_or_finished_recording() {
    // The call that claims the name, and the first one that makes the recording.
    for (call, stays) in [("1", true), ("4", false)] {
        let test_dir = TestDir::new();
        let options = "start,interval=2ms,file=app.jfr,overwrite";
        let older = Jvm::new(Jdk::main(), &test_dir).agent(options);
        let older = older.program("Churn platform 100 2");
        older.stop_recording_at_end().run_ok();
        let before = fs::read(test_dir.file("app.jfr")).unwrap();
        let run = Jvm::new(Jdk::main(), &test_dir)
            .faults(&format!("WRITES=1 KIND=hang NTH={call} UNTIL=back"))
            .agent(options)
            .main("Script", &["state", "make back", "until state: idle"])
            .run_ok();
        println!("call {call}: {}{}", run.stdout, run.stderr);
        assert_eq!(counts(&run).1, 1);
        let waiting = "state: a recording is being started or finished\n";
        assert_eq!(run.stdout, waiting);
        let same = fs::read(test_dir.file("app.jfr")).unwrap() == before;
        assert_eq!(same, stays);
        // The counters come with the end of a file.
        let totals = test_dir.recording().totals();
        assert!(totals.contains_key("signals"), "{totals:?}");
    }
}

#[test]
fn hanging_close_does_not_block_exit() {
    retry_late_write(|| {
        // Closed before: the claim of the name, as the recording takes its place.
        let (run, recording) = Jvm::recording(Jdk::main(), "interval=2ms")
            .faults("CALL=close FILE=app.jfr KIND=hang NTH=2")
            .program(&format!("Churn platform {FEW} 8"))
            .record_to_exit();
        assert_eq!(run.stdout, format!("ended {FEW} wrong 0\n"));
        if run.late_write().is_some() {
            assert_eq!(run.agent_lines().len(), 1, "{}", run.stderr);
            recording.jfr(Jdk::main(), &["summary"]).success();
            return None;
        }
        assert_eq!(counts(&run), (2, 1));
        // All was written before: the file is whole, and the end as ever.
        assert_eq!(run.agent_lines(), [""; 0]);
        let (_, samples) = recording.reconcile();
        println!("{} samples", samples.len());
        Some(())
    });
}

#[test]
fn hanging_log_blocks_neither_application_nor_exit() {
    // As it is opened; at its first line, which comes before the application; and at one that tells
    // that threads get no timers.
    for (call, level, pending) in [
        ("open64", "warn", None),
        ("write", "info", None),
        ("write", "warn", Some(4)),
    ] {
        retry_late_write(|| {
            let test_dir = TestDir::new();
            let mut jvm = Jvm::new(Jdk::main(), &test_dir)
                .faults(&format!("CALL={call} WRITES=1 KIND=hang NTH=1"))
                .agent(&format!(
                    "start,interval=2ms,log=app.log,loglevel={level},file=app.jfr"
                ))
                .program(&format!("Churn platform {FEW} 8"));
            if call == "write" {
                jvm = jvm.environment("FAULT_FILE", "app.log");
            }
            if let Some(most) = pending {
                jvm = jvm.pending_signals(most);
            }
            let run = jvm.run_ok();
            println!("{call} at {level}: {}", run.stderr);
            assert_eq!(run.stdout, format!("ended {FEW} wrong 0\n"));
            assert_eq!(counts(&run).1, 1);
            let recording = test_dir.recording();
            // The log hangs, so it cannot tell that the end was too late. The last write brings the
            // counters.
            if recording.totals().is_empty() {
                return None;
            }
            recording.reconcile();
            Some(())
        });
    }
}

/// A program whose `command` waits for a disk that hangs; it ends while the command still waits.
fn run_hanging_command(command: &[&str], faults: &str) -> ProcessOutput {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .faults(&format!("KIND=hang NTH=1 SINCE=hung {faults}"))
        .agent("start,interval=2ms,flush=100ms,file=app.jfr");
    let mut jvm = jvm.main("Hung", command).start();
    // The last line of the program. A stop waits for half a minute, a dump for a whole one: this
    // limit tells whether the end waits for them.
    jvm.wait_for_line("waits ");
    jvm.limit_rest(Duration::from_secs(25));
    let run = jvm.finish().success();
    println!("{command:?}: {}{}", run.stdout, run.stderr);
    assert_eq!(counts(&run).1, 1);
    Recording::new(test_dir.file("app.jfr"))
        .jfr(Jdk::main(), &["summary"])
        .success();
    run
}

/// Only writes to the recording's own file hang.
const RECORDING_HANGS: &str = "FILE=app.jfr WRITES=1";

#[test]
fn hanging_dump_blocks_neither_commands_nor_exit() {
    let run = run_hanging_command(&["dump,file=copy.jfr"], RECORDING_HANGS);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "state: recording");
    assert!(lines[1].contains("is running; stop it first"), "{lines:?}");
    assert_eq!(lines[2], "waits true");
}

#[test]
fn hanging_dump_file_is_waited_for() {
    let dump = ["dump,file=copy.jfr", "copy.jfr"];
    let run = run_hanging_command(&dump, "FILE=copy.jfr");
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "state: recording");
    assert!(lines[1].contains("is running; stop it first"), "{lines:?}");
    assert_eq!(lines[2], "waits true");
    // It is the writer that hangs, and not who asked: they wait for its answer as for any other.
    let silent = |line: &&str| line.contains("did not answer within 500 ms");
    assert!(run.agent_lines().iter().any(silent), "{}", run.stderr);
}

#[test]
fn hanging_stop_blocks_only_new_starts() {
    let run = run_hanging_command(&["stop"], RECORDING_HANGS);
    let lines: Vec<&str> = run.stdout.lines().collect();
    let waiting = "a recording is being started or finished";
    assert_eq!(lines[0], format!("state: {waiting}"));
    assert_eq!(lines[1], format!("not started: {waiting}; try again later"));
    assert_eq!(lines[2], "waits true");
}

#[test]
fn samples_lost_to_hang_are_counted() {
    let test_dir = TestDir::new();
    // Until nobody takes the samples.
    let hang = ["make hung", "until lost.no_slot: ", "make back"];
    let script = [&hang[..], &["burn 200", "stop", "status"]].concat();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .faults("WRITES=1 KIND=hang NTH=1 SINCE=hung UNTIL=back")
        .agent("start,interval=1ms,flush=100ms,file=app.jfr")
        .main("Script", &script)
        .run_ok();
    assert_eq!(counts(&run).1, 1);
    let of = |name: &str| run.counter(name);
    let lost: u64 = run.stdout.lines().filter_map(lost_signals).sum();
    println!("{} written, {lost} lost", of("written"));
    assert!(of("lost.no_slot") > 0, "{}", run.stdout);
    assert_eq!(of("signals"), of("written") + lost, "{}", run.stdout);
    // The disk came back: the file says the same.
    let (totals, _) = test_dir.recording().reconcile();
    assert!(totals["lost.no_slot"] > 0, "{totals:?}");
}
