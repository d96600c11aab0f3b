//! The harness itself: what it promises to the other tests.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]

use std::panic::catch_unwind;
use std::process::Command;
use std::time::Duration;

use e2e::process::Process;
use e2e::{Jdk, Jvm, Room};

#[test]
fn every_jdk_runs_a_program_of_ours() {
    for jdk in Jdk::all() {
        let room = Room::new();
        let run = Jvm::new(jdk, &room)
            .main("Target", &["exit", "exit3"])
            .run();
        println!("JDK {}: {run:?}", jdk.version);
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str()),
            (Some(3), "answer 6765\n", "")
        );
    }
}

#[test]
fn a_child_that_hangs_is_ended_at_its_limit_and_its_output_told() {
    let result = catch_unwind(|| {
        let mut command = Command::new("sh");
        command.arg("-c").arg("echo some output; exec sleep 600");
        Process::start(command, Duration::from_millis(300)).finish()
    });
    let message = result.unwrap_err().downcast::<String>().unwrap();
    assert!(
        message.contains("still running at its time limit") && message.contains("some output"),
        "{message}"
    );
}

#[test]
fn a_line_that_never_comes_is_told_as_soon_as_the_child_ends() {
    let result = catch_unwind(|| {
        let mut command = Command::new("sh");
        command.arg("-c").arg("echo one; echo two >&2");
        Process::start(command, Duration::from_mins(10)).wait_for_line("three")
    });
    let message = result.unwrap_err().downcast::<String>().unwrap();
    assert!(
        message.contains("ended without 'three'")
            && message.contains("one")
            && message.contains("two"),
        "{message}"
    );
}
