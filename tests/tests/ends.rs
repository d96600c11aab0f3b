//! However the JVM ends, its exit code and output are its own, and the recording can be read.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]

use std::fs;

use e2e::{Jdk, Jvm, Room};

fn ends(kind: &str, code: i32) {
    for jdk in Jdk::all() {
        let room = Room::new();
        let plain = Jvm::new(jdk, &room).main("Target", &["exit", kind]).run();
        assert_eq!(plain.code, Some(code));
        let run = Jvm::new(jdk, &room)
            .agent("start,interval=5ms,file=app.jfr")
            .main("Target", &["exit", kind])
            .run();
        assert_eq!(
            (run.code, &run.stdout, &run.stderr),
            (plain.code, &plain.stdout, &plain.stderr),
            "JDK {}",
            jdk.version
        );
        for reader in Jdk::all() {
            let samples = room.recording().samples(reader);
            println!(
                "{kind} on JDK {}: {} samples read by JDK {}",
                jdk.version,
                samples.len(),
                reader.version
            );
            // A halt loses at most what was not flushed: these runs are shorter than a second.
            assert!(kind == "halt" || samples.len() > 20, "{}", samples.len());
        }
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
fn after_kill_nine_everything_up_to_the_last_flush_is_readable_unrepaired() {
    for jdk in Jdk::all() {
        let room = Room::new();
        let jvm = Jvm::new(jdk, &room)
            .agent("start,interval=5ms,flush=200ms,file=app.jfr")
            .main("Target", &["serve"])
            .start();
        jvm.wait_for_line("ready");
        // The file grows by events at each flush: wait for some of them, by what a reader sees.
        let path = room.file("app.jfr");
        let watch = e2e::process::Process::start(
            watch_size(&path, 40_000),
            std::time::Duration::from_mins(1),
        );
        watch.finish().success();
        jvm.signal("KILL");
        assert_eq!(jvm.finish().code, None);
        let length = fs::metadata(&path).unwrap().len();
        for reader in Jdk::all() {
            let samples = room.recording().samples(reader).len();
            println!(
                "killed JDK {}: {length} bytes, {samples} samples read by JDK {}",
                jdk.version, reader.version
            );
            assert!(samples > 20, "{samples}");
        }
    }
}

/// A command that ends when the file has this many bytes.
fn watch_size(path: &std::path::Path, bytes: u64) -> std::process::Command {
    let mut command = std::process::Command::new("sh");
    let script =
        r#"until [ "$(stat -c %s "$0" 2>/dev/null || echo 0)" -ge "$1" ]; do sleep 0.05; done"#;
    command
        .arg("-c")
        .arg(script)
        .arg(path)
        .arg(bytes.to_string());
    command
}
