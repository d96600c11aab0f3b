//! P4, P17: faults of the file system never reach the application and leave no unreadable file; a
//! disk that hangs does not block it.

mod errors;
mod files;
mod hangs;

use std::iter::Sum;

use e2e::{Jdk, Jvm, ProcessOutput, TestDir};

/// Numbers of the calls that fail, and how.
struct Fault {
    kind: &'static str,
    first: u64,
    last: u64,
}

/// The last call of a fault that does not end.
const FOREVER: u64 = u64::MAX >> 1;
/// Threads that come and go in a short run.
const FEW: u32 = 2000;
/// As many as take seconds, also on a fast machine.
const MANY: u32 = 12_000;

/// A program under this fault. Rotates and flushes often, so that a short run makes all kinds of
/// calls.
fn faulty(test_dir: &TestDir, fault: Option<&Fault>, threads: u32) -> Jvm {
    let faults = fault.map_or("WRITES=1".to_owned(), |Fault { kind, first, last }| {
        format!("WRITES=1 KIND={kind} NTH={first} LAST={last}")
    });
    let jvm = Jvm::new(Jdk::main(), test_dir)
        .faults(&faults)
        .agent("start,interval=2ms,flush=100ms,chunktime=1s,loop=1s,file=app-%n.jfr");
    jvm.program(&format!("Churn platform {threads} 8"))
}

/// Calls counted, calls that failed.
fn counts(run: &ProcessOutput) -> (u64, u64) {
    let numbers = run.numbers("faults: ");
    (numbers[0], numbers[1])
}

fn check_run(test_dir: &TestDir, run: &ProcessOutput, what: &str, threads: u32) -> usize {
    assert_eq!(run.code, Some(0), "{what}: {}", run.stderr);
    assert_eq!(run.stdout, format!("ended {threads} wrong 0\n"), "{what}");
    let lines = run.agent_lines();
    assert!(lines.len() <= 4, "{what}: too many lines: {lines:?}");
    let files = test_dir.recordings();
    files
        .iter()
        .map(|file| {
            file.jfr(Jdk::main(), &["summary"]).success();
            file.samples().len()
        })
        .sum()
}

/// What became of the allocations that were seen.
fn allocations<N: Sum>(of: impl Fn(&str) -> N) -> N {
    let ends = ["alloc.written", "alloc.lost", "alloc.filtered"];
    ends.into_iter().map(of).sum()
}

fn number(text: &str) -> u64 {
    text.parse().unwrap()
}

/// The count of a line `lost.CAUSE: COUNT`.
fn lost_signals(line: &str) -> Option<u64> {
    let (name, count) = line.split_once(": ")?;
    name.starts_with("lost.").then(|| number(count))
}
