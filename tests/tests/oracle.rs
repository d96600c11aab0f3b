//! Promises P7 and P8: a sample shows the context that its thread really had. Every sample is compared with an independent record that the
//! program writes, while a storm of signals hits threads that change their context all the time.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]

use std::time::Duration;

use e2e::{Jdk, Jvm, Room, build};

const WANTED: u64 = 100_000;

fn storm(jdk: Jdk, kind: &str, threads: &str, flags: &[&str]) {
    let room = Room::new();
    let mut jvm = Jvm::new(jdk, &room).agent_at(
        build::oracle_agent(),
        "start,interval=10ms,file=app.jfr,ctx=a+b,cstack=asgct",
    );
    for flag in flags {
        jvm = jvm.flag(flag);
    }
    let run = jvm
        .main(
            "Oracle",
            &[kind, threads, &WANTED.to_string(), "10000", "150"],
        )
        .limit(Duration::from_mins(5))
        .run()
        .success();
    assert!(
        run.stdout.contains("ORACLE-DONE"),
        "{}\n{}",
        run.stdout,
        run.stderr
    );
    let count = |name: &str| -> u64 {
        let line = run
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.map_or(0, |number| number.trim().parse().unwrap())
    };
    let (right, wrong, missed) = (
        count("oracle.right"),
        count("oracle.wrong"),
        count("oracle.missed"),
    );
    println!(
        "JDK {} {kind} {flags:?}: {right} right, {wrong} wrong, {missed} missed",
        jdk.version
    );
    assert_eq!(
        wrong, 0,
        "JDK {} {kind} {flags:?}\n{}",
        jdk.version, run.stdout
    );
    assert!(
        right + missed >= WANTED,
        "JDK {} {kind}: only {right} compared\n{}",
        jdk.version,
        run.stdout
    );
    // A sample may come between declaration and install of a context; it is rare, never wrong.
    assert!(
        missed * 100 <= right,
        "JDK {} {kind}: {missed} missed of {right}\n{}",
        jdk.version,
        run.stdout
    );
}

#[test]
fn platform_threads_of_every_jdk_show_their_own_context() {
    for jdk in Jdk::all() {
        storm(jdk, "platform", "20", &[]);
    }
}

#[test]
fn virtual_threads_show_their_own_context_never_a_carriers_or_a_siblings() {
    for jdk in Jdk::all().into_iter().filter(Jdk::has_virtual_threads) {
        storm(jdk, "both", "400", &[]);
    }
}
