//! P5: what the agent adds to the memory of a process is bounded by the threads that live, not by
//! those that ever did.

use std::time::Duration;

use e2e::{Jdk, Jvm, env_number};

/// The promise, in KiB: this much, and one more for each live thread.
const BASE: i64 = 24 * 1024;

/// Resident memory in KiB with `threads` live threads, all of which hold a context, after some work
/// with ever new values and stacks.
fn resident(jdk: Jdk, agent: bool, kind: &str, threads: i64) -> i64 {
    // Without compilers each run has the same stacks: which pages of 2000 stacks are touched
    // depends on when methods were compiled.
    let jvm = Jvm::alone(jdk).fixed_memory().flag("-Xint");
    let jvm = if kind == "virtual" {
        // Their stacks are in the heap.
        jvm.flag("-Xms256m").flag("-Xmx256m")
    } else {
        jvm
    };
    let jvm = if agent {
        jvm.agent("start,event=cpu+wall,interval=1ms,wall=20ms,alloc=512k,lock=1ms,flush=100ms,file=app.jfr")
    } else {
        jvm
    };
    let run = jvm
        .limit(Duration::from_mins(10))
        .program(&format!("WaitingThreads {kind} {threads} 300"))
        .run_ok();
    let told: Vec<i64> = run
        .lines_after("resident ")
        .map(|kib| kib.parse().unwrap())
        .collect();
    assert_eq!(told.len(), 10, "{}", run.stdout);
    told.into_iter().max().unwrap()
}

#[test]
fn memory_is_bounded_by_live_threads() {
    let jdk = Jdk::main();
    for (kind, threads) in [("platform", 2_000), ("virtual", 30_000)] {
        let without = resident(jdk, false, kind, threads);
        let with = resident(jdk, true, kind, threads);
        let (added, most) = (with - without, BASE + threads);
        println!(
            "{threads} {kind} threads: {without} KiB without the agent, {added} KiB more with it, promised {most}"
        );
        assert!(added <= most, "{added} KiB, promised {most}");
        // Else the agent was not there: the blocks of so many threads alone are more.
        assert!(added >= threads / 8, "{added} KiB");
    }
}

/// Kibibytes of a waiting thread's stack that are touched besides: up to two pages by a signal that
/// meets the thread, more by its first scope, which calls deeper than the program itself does.
const STACK: i64 = 16;

/// Stacks of threads, and all else, in KiB, of an ordinary program with so many platform threads
/// that wait.
fn plain(agent: bool, threads: i64) -> (i64, i64) {
    // How much of its heap a collector has touched, and given back, differs by 30 MiB between runs.
    let jvm = Jvm::alone(Jdk::main())
        .flag("-Xms256m")
        .flag("-Xmx256m")
        .flag("-XX:+AlwaysPreTouch");
    let jvm = if agent {
        jvm.agent("start,file=app.jfr")
    } else {
        jvm
    };
    let run = jvm
        .limit(Duration::from_mins(10))
        .program(&format!("Waiting {threads}"))
        .run_ok();
    let of = |name: &str| run.lines_after(name).next().unwrap().parse().unwrap();
    (of("stacks "), of("other "))
}

/// With compilers and any number of malloc arenas: how far ahead the JVM itself touches stacks
/// differs from run to run, so those are measured where there are many.
#[test]
fn memory_of_plain_program_is_bounded_by_its_threads() {
    for threads in [2_000, 8_000] {
        let (stacks_without, without) = plain(false, threads);
        let (stacks_with, with) = plain(true, threads);
        let (stacks, added) = (stacks_with - stacks_without, with - without);
        println!(
            "{threads} threads: {without} KiB without the agent, {added} KiB more with it, promised {}; stacks {stacks_without} and {stacks} more",
            BASE + threads
        );
        assert!(added <= BASE + threads, "{added} KiB");
        // Else the agent was not there.
        assert!(added >= threads / 8, "{added} KiB");
        if threads > 2_000 {
            assert!(stacks <= threads * STACK, "{stacks} KiB");
        }
    }
}

/// Threads while nothing is recorded, and the most KiB by which their second half may make the
/// process grow. Kept, they took 6 900 and 7 500; the JVM itself takes up to 1 200 by then.
const IDLE: (u64, i64) = (100_000, 3 * 1024);

/// Threads in turn, and by how many KiB the second half of them made the process grow: what JVM and
/// agent never free is there by then.
fn growth(threads: u64, options: &str, how: &[&str]) -> i64 {
    // No compiler: what grows is not the JVM's. And few blocks: that of a thread is found by its
    // id, so new threads touch new memory until all blocks were used once.
    let threads = threads.to_string();
    let run = Jvm::alone(Jdk::main())
        .fixed_memory()
        .flag("-Xint")
        .limit(Duration::from_mins(20))
        .agent(options)
        .main("InTurn", &[&[threads.as_str()], how].concat())
        .run_ok();
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
fn threads_in_turn_leave_memory_flat() {
    let threads = env_number("CTXAGENT_TURNS").unwrap_or(25_000);
    let options = "start,interval=5ms,cstack=no,ctxblocks=4096,file=app.jfr";
    assert!(growth(threads, options, &["status"]) <= 1024);
}

/// The agent is loaded and was never started. Without contexts: there are many blocks then.
#[test]
fn threads_in_turn_leave_memory_flat_without_recording() {
    assert!(growth(IDLE.0, "", &["status", "bare"]) <= IDLE.1);
}

#[test]
fn threads_in_turn_leave_memory_flat_after_stop() {
    let options = "start,interval=5ms,cstack=no,ctxblocks=4096,file=app.jfr";
    assert!(growth(IDLE.0, options, &["stop"]) <= IDLE.1);
}
