//! Threads and classes that come and go, on every collector: the program's answer is its own and
//! every signal is accounted for.

use std::time::Duration;

use e2e::{Jdk, Jvm, TestDir, env_number};

/// The program of all collectors, and how many threads it has.
const MANY: (&str, [&str; 1]) = ("Many", ["1500"]);

/// What the program prints without the agent: the same on each collector.
fn answer(jdk: Jdk) -> String {
    let (program, arguments) = MANY;
    let jvm = Jvm::alone(jdk).main(program, &arguments);
    jvm.run_ok().stdout
}

fn churn(jdk: Jdk, collector: &[&str]) {
    let test_dir = TestDir::new();
    let plain = Jvm::new(jdk, &test_dir);
    let jvm = collector.iter().fold(plain, |jvm, flag| jvm.flag(flag));
    let (program, arguments) = MANY;
    let run = jvm
        .agent("start,interval=1ms,file=app.jfr")
        .main(program, &arguments)
        .stop_recording_at_end()
        .run_ok();
    assert_eq!(run.stdout, answer(jdk));
    assert_eq!(run.agent_lines(), Vec::<&str>::new());
    let recording = test_dir.recording();
    let (totals, samples) = recording.reconcile();
    let under = samples
        .iter()
        .filter(|sample| sample.text("worker").is_some())
        .count();
    println!(
        "{jdk} {collector:?}: {} signals, {} written, {under} under a context, {} stacks failed",
        totals["signals"], totals["written"], totals["walk.failed"]
    );
    assert!(under > 100, "{under}");
    // Inner contexts are within outer ones.
    assert!(
        samples
            .iter()
            .all(|s| s.text("depth").is_none() || s.text("worker").is_some())
    );
}

macro_rules! churn {
    ($($name:ident: [$($flag:literal),+];)+) => {
        $(#[test]
        fn $name() {
            for jdk in Jdk::all() {
                churn(jdk, &[$($flag),+]);
            }
        })+
    };
}

churn! {
    serial: ["-XX:+UseSerialGC"];
    parallel: ["-XX:+UseParallelGC"];
    g1: ["-XX:+UseG1GC"];
    z: ["-XX:+UseZGC"];
    // Never collects.
    epsilon: ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-Xmx2g",
        "-Xlog:gc+init=off"];
}

#[test]
fn new_thread_has_no_stale_context() {
    for jdk in Jdk::every() {
        for kind in ["platform", "virtual"] {
            if kind == "virtual" && !jdk.has_virtual_threads() {
                continue;
            }
            // `CTXAGENT_CHURN_PLATFORM` and `CTXAGENT_CHURN_VIRTUAL` make it more.
            let number = env_number(&format!("CTXAGENT_CHURN_{}", kind.to_uppercase()));
            let number = number.unwrap_or(5000).to_string();
            let run = Jvm::alone(jdk)
                .agent("start,interval=5ms,file=app.jfr")
                .limit(Duration::from_mins(20))
                .program(&format!("Churn {kind} {number} 16 leak"))
                .run_ok();
            println!("{jdk} {kind}: {}", run.stdout.trim());
            assert_eq!(
                run.stdout,
                format!("ended {number} wrong 0\n"),
                "{jdk} {kind}"
            );
        }
    }
}
