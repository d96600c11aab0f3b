//! P5: memory is bounded by the threads that live, not by those that ever did.

use std::time::Duration;

use e2e::{Jdk, Jvm, TestDir, env_number};

/// Threads while nothing is recorded, and the most KiB by which their second half may make the process grow. Kept, they took 6 900 and 7 500; the JVM itself
/// takes up to 1 200 by then.
const IDLE: (u64, i64) = (100_000, 3 * 1024);

/// Threads in turn, and by how many KiB the second half of them made the process grow: what JVM and agent keep for ever is there by then.
fn growth(threads: u64, options: &str, how: &[&str]) -> i64 {
    let test_dir = TestDir::new();
    // No compiler: what grows is not the JVM's. And few blocks: that of a thread is found by its id, so new threads touch new memory until all blocks
    // were used once.
    let threads = threads.to_string();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .fixed_memory()
        .flag("-Xint")
        .limit(Duration::from_mins(20))
        .agent(options)
        .main("InTurn", &[&[threads.as_str()], how].concat())
        .run()
        .success();
    let told = run.lines_after("resident ");
    let resident: Vec<i64> = told
        .filter_map(|numbers| numbers.split(' ').nth(1)?.parse().ok())
        .collect();
    println!("{}", run.stdout);
    assert_eq!(resident.len(), 20);
    let grown = level(&resident[16..]) - level(&resident[8..12]);
    println!("{threads} threads in turn: the second half grew by {grown} KiB, {resident:?}");
    grown
}

/// What stays: a writer that got no time for a moment has more for that moment.
fn level(readings: &[i64]) -> i64 {
    let mut sorted = readings.to_vec();
    sorted.sort_unstable();
    sorted[1]
}

#[test]
fn platform_threads_in_turn_leave_the_memory_as_it_was() {
    let threads = env_number("CTXAGENT_TURNS").unwrap_or(25_000);
    let options = "start,interval=5ms,cstack=no,ctxblocks=4096,file=app.jfr";
    assert!(growth(threads, options, &["status"]) <= 1024);
}

/// The agent is loaded and was never started. Without contexts: there are many blocks then.
#[test]
fn platform_threads_in_turn_leave_the_memory_as_it_was_without_a_recording() {
    assert!(growth(IDLE.0, "", &["status", "bare"]) <= IDLE.1);
}

#[test]
fn platform_threads_in_turn_leave_the_memory_as_it_was_after_a_stop() {
    let options = "start,interval=5ms,cstack=no,ctxblocks=4096,file=app.jfr";
    assert!(growth(IDLE.0, options, &["stop"]) <= IDLE.1);
}
