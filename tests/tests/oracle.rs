//! Promises P7 and P8: a sample shows the context that its thread really had. Every sample is compared with an independent record that the
//! program writes, while a storm of signals hits threads that change their context all the time.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use e2e::{Jdk, Jvm, Room, build};

/// One storm at a time: each wants all the CPU there is.
static ONE: Mutex<()> = Mutex::new(());

fn storm(jdk: Jdk, kind: &str, threads: &str, wanted: u64) {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let room = Room::new();
    let run = Jvm::new(jdk, &room)
        .agent_at(
            build::oracle_agent(),
            "start,interval=10ms,file=app.jfr,ctx=a+b",
        )
        .main(
            "Oracle",
            &[kind, threads, &wanted.to_string(), "10000", "400"],
        )
        .limit(Duration::from_mins(8))
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
        "JDK {} {kind}, {threads} threads: {right} right, {wrong} wrong, {missed} missed",
        jdk.version
    );
    assert_eq!(wrong, 0, "JDK {} {kind}\n{}", jdk.version, run.stdout);
    assert!(
        right >= wanted,
        "JDK {} {kind}: only {right} compared\n{}",
        jdk.version,
        run.stdout
    );
    // A block that the handler finds half written gives no context: rare, counted, never wrong.
    assert!(
        missed * 1000 <= right,
        "JDK {} {kind}: {missed} missed of {right}\n{}",
        jdk.version,
        run.stdout
    );
}

#[test]
fn platform_threads_of_every_jdk_show_their_own_context() {
    for jdk in Jdk::all() {
        storm(jdk, "platform", "20", 20_000);
    }
}

#[test]
fn four_hundred_threads_nearly_all_virtual_show_their_own_context_on_jdk_21() {
    storm(Jdk::main(), "both", "400", 100_000);
}

#[test]
fn four_hundred_threads_nearly_all_virtual_show_their_own_context_on_jdk_25() {
    if let Some(jdk) = Jdk::find(25) {
        storm(jdk, "both", "400", 100_000);
    }
}
