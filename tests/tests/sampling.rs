//! Who is sampled, how often, and what happens where the system refuses.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]

use std::time::Instant;

use e2e::{Jdk, Jvm, Room, build};

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
        let scans = run.stderr.lines().find_map(|l| l.strip_prefix("scans: "));
        let scans: u64 = scans.unwrap().parse().unwrap();
        let seconds = began.elapsed().as_secs();
        println!("flush={flush}: {scans} scans in {seconds} s");
        // One at the start, one per second; a machine that stands still has fewer.
        assert!((2..=seconds + 2).contains(&scans), "{scans} in {seconds} s");
    }
}
