//! The harness itself: what it promises to the other tests.

use std::fs;
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use e2e::process::Process;
use e2e::{Jdk, Jvm, TestDir, assert_contains, build};

#[test]
fn every_jdk_runs_a_test_program() {
    for jdk in Jdk::all() {
        let run = Jvm::alone(jdk).program("Target exit exit3").run();
        println!("{jdk}: {run:?}");
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str()),
            (Some(3), "answer 6765\n", "")
        );
    }
}

#[test]
fn hanging_child_is_killed_and_its_output_shown() {
    let result = catch_unwind(|| {
        let mut command = Command::new("sh");
        command.arg("-c").arg("echo some output; exec sleep 600");
        let mut child = Process::start(command, Duration::from_mins(10));
        // Before that the shell may not have begun, and the signal that asks a JVM for its stacks
        // would end it without a word.
        child.wait_for_line("some output");
        child.limit_rest(Duration::ZERO);
        child.finish()
    });
    let message = result.unwrap_err().downcast::<String>().unwrap();
    assert_contains!(message, "still running at its time limit");
    assert_contains!(message, "some output");
}

#[test]
fn missing_line_is_reported_when_child_ends() {
    let result = catch_unwind(|| {
        let mut command = Command::new("sh");
        command.arg("-c").arg("echo one; echo two >&2");
        Process::start(command, Duration::from_mins(10)).wait_for_line("three")
    });
    let message = result.unwrap_err().downcast::<String>().unwrap();
    assert_contains!(message, "ended without 'three'");
    assert_contains!(message, "one");
    assert_contains!(message, "two");
}

#[test]
fn test_dir_is_new_despite_leftovers() {
    let first = TestDir::new();
    let (runs, name) = (first.path().parent().unwrap(), first.path().file_name());
    let name = name.unwrap().to_str().unwrap();
    let (process, number) = name.split_once('-').unwrap();
    let number: u32 = number.parse().unwrap();
    let next = (number + 1..=number + 20).map(|n| runs.join(format!("{process}-{n}")));
    let left: Vec<PathBuf> = next
        .filter(|test_dir| fs::create_dir(test_dir).is_ok())
        .collect();
    for test_dir in &left {
        fs::write(test_dir.join("hs_err_pid1.log"), "of an earlier run").unwrap();
    }
    assert!(left.len() > 10, "{left:?}");
    let test_dir = TestDir::new();
    assert_eq!(fs::read_dir(test_dir.path()).unwrap().count(), 0);
    assert!(!left.iter().any(|old| old == test_dir.path()));
    for test_dir in left {
        fs::remove_dir_all(test_dir).unwrap();
    }
}

#[test]
fn changed_shim_is_recompiled() {
    let test_dir = TestDir::new();
    let source = test_dir.file("answer.c");
    let answer = |text: &str| {
        fs::write(&source, format!("const char answer[] = \"{text}\";\n")).unwrap();
        let library = build::shim_of(&source);
        let bytes = fs::read(&library).unwrap();
        (library, bytes)
    };
    let has = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
    let (old, bytes) = answer("an answer of old");
    assert!(has(&bytes, "an answer of old"));
    let (new, bytes) = answer("another answer");
    assert!(has(&bytes, "another answer"));
    assert_eq!(answer("an answer of old").0, old);
    for library in [old, new] {
        fs::remove_file(library).unwrap();
    }
}
