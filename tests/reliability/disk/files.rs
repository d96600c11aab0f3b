//! What users do to the file of a recording while it is written, and what must not get into it.

use std::fs;
use std::time::Duration;

use e2e::{Jdk, Jvm, ProcessOutput, Recording, RunningJvm, TestDir};
use jfr_format::read::{Chunks, ParsedChunk};

use super::number;
use crate::contains;

/// A program that serves until it is told to end, with a recording in `app.jfr`.
fn serving(test_dir: &TestDir, warnings: impl IntoIterator<Item = &'static str>) -> RunningJvm {
    let jvm = Jvm::new(Jdk::main(), test_dir);
    let jvm = jvm.agent("start,interval=5ms,flush=100ms,file=app.jfr");
    let warnings = warnings.into_iter();
    warnings.fold(jvm, Jvm::may_warn).serve()
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
        let chunk = ParsedChunk::new(&chunk).unwrap();
        chunk
            .raw_events()
            .any(|event| event.unwrap().type_id == 100)
    })
}

#[test]
fn moved_recording_is_continued_in_place() {
    let test_dir = TestDir::new();
    let jvm = serving(&test_dir, ["app.jfr' was moved to "]);
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
    let (_, samples) = Recording::new(test_dir.file("away/b.jfr")).reconcile();
    assert!(!samples.is_empty());
}

#[test]
fn deleted_or_overwritten_recording_continues_in_another_file() {
    for (deleted, name) in [(true, "app.jfr"), (false, "app-2.jfr")] {
        let test_dir = TestDir::new();
        let taken = (!deleted).then_some("file 'app.jfr' exists; ");
        let goes_on = Some("; recording goes on in ");
        let jvm = serving(&test_dir, goes_on.into_iter().chain(taken));
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
        let (totals, samples) = Recording::new(test_dir.file(name)).reconcile();
        println!("{totals:?}");
        assert!(!samples.is_empty());
    }
}

#[test]
fn recording_in_deleted_directory_says_so() {
    let test_dir = TestDir::new();
    fs::create_dir(test_dir.file("gone")).unwrap();
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,interval=5ms,flush=100ms,file=gone/app.jfr")
        .may_warn("gone/app.jfr' was deleted, and there is no other: ")
        .serve();
    fs::remove_dir_all(test_dir.file("gone")).unwrap();
    jvm.wait_for_line("gone/app.jfr' was deleted, and there is no other");
    let dumped = jvm.agent_command("dump");
    assert!(!dumped.stdout.contains("return code: 0"), "{dumped:?}");
    jvm.end();
}

#[test]
fn first_samples_are_written_at_once() {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,interval=5ms,flush=60s,file=app.jfr")
        .program("Target serve")
        // Below the time between two flushes: a sample in the file by then is one of the first.
        .limit(Duration::from_secs(50))
        .start();
    jvm.wait_until("a sample is in the file", || {
        has_samples(&test_dir, "app.jfr")
    });
    jvm.end();
}

#[test]
fn closed_standard_streams_do_not_reach_our_files() {
    for closed in ["0<&- 1>&-", "0<&- 1>&- 3>&-"] {
        let test_dir = TestDir::new();
        let run = Jvm::new(Jdk::main(), &test_dir)
            .redirect(closed)
            .agent("start,interval=2ms,flush=100ms,file=app.jfr,log=app.log,loglevel=info")
            .program("Loud 700")
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
        assert!(!recording.samples().is_empty());
        for file in [recording.path(), &test_dir.file("app.log")] {
            let bytes = fs::read(file).unwrap();
            assert!(!contains(&bytes, "application's own"), "{}", file.display());
        }
    }
}
