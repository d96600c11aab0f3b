//! However the JVM ends, its exit code and output are its own, and the recording can be read.

use e2e::recording::SAMPLES;
use e2e::{Jdk, Jvm, TestDir, retry_late_write};

fn ends(kind: &str, code: i32) {
    for jdk in Jdk::all() {
        retry_late_write(|| {
            let test_dir = TestDir::new();
            let plain = Jvm::new(jdk, &test_dir)
                .program(&format!("Target exit {kind}"))
                .run();
            assert_eq!(plain.code, Some(code));
            let run = Jvm::new(jdk, &test_dir)
                .agent("start,interval=5ms,file=app.jfr")
                .program(&format!("Target exit {kind}"))
                .run();
            let late = run.late_write();
            // Said at most once, and nothing else but the start.
            let stderr = run
                .stderr_but_start()
                .replacen(late.unwrap_or_default(), "", 1);
            assert_eq!(
                (run.code, &run.stdout, &stderr),
                (plain.code, &plain.stdout, &plain.stderr_but_start()),
                "{jdk}"
            );
            for reader in Jdk::all() {
                let samples = test_dir.recording().events_by_jdk(reader, SAMPLES).len();
                println!(
                    "{kind} on {jdk}: {samples} samples read by JDK {}",
                    reader.version
                );
                // A halt loses at most what was not flushed, as does an end that was too late:
                // these runs are shorter than a second.
                assert!(
                    kind == "halt" || late.is_some() || samples > 20,
                    "{samples}"
                );
            }
            late.is_none().then_some(())
        });
    }
}

#[test]
fn main_returns() {
    ends("return", 0);
}

#[test]
fn system_exit() {
    ends("exit", 0);
}

#[test]
fn system_exit_with_a_code() {
    ends("exit3", 3);
}

#[test]
fn an_uncaught_exception() {
    ends("uncaught", 1);
}

#[test]
fn runtime_halt() {
    ends("halt", 4);
}

#[test]
fn flushed_samples_are_readable_after_kill_nine() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir)
            .agent("start,interval=5ms,flush=200ms,chunktime=1h,file=app.jfr")
            .serve();
        // Wait until a reader sees samples in the open recording: the file itself has its full size
        // from the start.
        let recording = e2e::Recording::new(test_dir.file("app.jfr"));
        jvm.wait_until("a reader sees 100 samples", || {
            recording.samples().len() > 100
        });
        jvm.signal("KILL");
        assert_eq!(jvm.finish().code, None);
        for reader in Jdk::all() {
            let samples = recording.events_by_jdk(reader, SAMPLES).len();
            println!(
                "killed {jdk}: {samples} samples read by JDK {}",
                reader.version
            );
            assert!(samples > 100, "{samples}");
        }
    }
}

#[test]
fn command_overtaken_by_vm_death_leaves_no_timer() {
    // Held as it makes the thread for sleepers, before the timers; a start makes its writer first.
    for (first, last, held) in [
        ("stop", "beside start,file=second.jfr", "2"),
        ("pause", "beside resume", "1"),
    ] {
        let run = Jvm::alone(Jdk::main())
            .preload("ended")
            .environment("HELD", held)
            .agent("start,interval=5ms,file=app.jfr")
            .main("Script", &[first, "make hold", last, "await held", "exit"])
            .run_ok();
        println!("{last}: {}", run.stderr);
        // The process ends when they are equal.
        let timers = run.numbers("timers: ");
        assert!(timers[0] > 0 && timers[0] == timers[1], "{timers:?}");
    }
}
