//! P2: a start that fails is one line and no more.

use std::fs;

use e2e::{Jdk, Jvm, ProcessOutput, Recording, TestDir};

/// A program that works for a third of a second, with the agent, under a shim that denies
/// something.
fn run_denied(shim: &str, variables: &[(&str, &str)]) -> (ProcessOutput, Vec<String>) {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir).preload(shim);
    let jvm = variables
        .iter()
        .fold(jvm, |jvm, (name, value)| jvm.environment(name, value));
    let (run, lines) = check_recorded_or_reported(jvm, &test_dir, &format!("{variables:?}"));
    // Where all calls fail, taking the file away that has just been made fails too: it stays,
    // empty.
    let all = variables.iter().any(|(name, _)| *name == "FAULT_LAST");
    for file in test_dir.recordings() {
        let length = fs::metadata(file.path()).unwrap().len();
        assert!(all || length > 0, "{variables:?}: an empty file");
    }
    (run, lines)
}

/// The application's answer is its own, and there are samples of it in a recording that opens; or
/// one line says that there are none, and why.
fn check_recorded_or_reported(
    jvm: Jvm,
    test_dir: &TestDir,
    what: &str,
) -> (ProcessOutput, Vec<String>) {
    let run = jvm
        .agent("start,event=cpu+wall,interval=5ms,file=app.jfr")
        .program("Target exit return")
        .may_warn("") // its lines are counted below
        .run();
    assert_eq!(run.code, Some(0), "{what}: {}", run.stderr);
    assert_eq!(run.stdout, "answer 6765\n", "{what}");
    let lines: Vec<String> = run.agent_lines().into_iter().map(str::to_owned).collect();
    let mut files = test_dir.recordings();
    files.retain(|file| fs::metadata(file.path()).unwrap().len() > 0);
    let samples = |file: &Recording| file.samples().len();
    let samples: usize = files.iter().map(samples).sum();
    println!("{what}: {samples} samples, {lines:?}");
    if samples == 0 {
        assert_eq!(lines.len(), 1, "{what}: nothing was recorded; {lines:?}");
    }
    assert!(lines.len() <= 2, "{what}: {lines:?}");
    (run, lines)
}

#[test]
fn any_call_of_start_may_fail() {
    let kinds = ["EACCES", "ENOMEM", "EIO"];
    for (nth, kind) in (1..=60).step_by(3).zip(kinds.into_iter().cycle()) {
        run_denied(
            "faults",
            &[("FAULT_NTH", &nth.to_string()), ("FAULT_KIND", kind)],
        );
    }
}

#[test]
fn all_calls_of_start_from_nth_may_fail() {
    for (first, kind) in [("1", "EACCES"), ("12", "ENOMEM"), ("30", "EIO")] {
        let last = (u64::MAX >> 1).to_string();
        let variables = [
            ("FAULT_NTH", first),
            ("FAULT_LAST", &last),
            ("FAULT_KIND", kind),
        ];
        let (_, lines) = run_denied("faults", &variables);
        assert!(!lines.is_empty(), "nobody was told");
    }
}

#[test]
fn unreadable_jvm_symbols_are_survived() {
    let (run, _) = run_denied("faults", &[("FAULT_PATH", "libjvm")]);
    let failed = run.stderr.lines().find(|l| l.starts_with("faults: "));
    assert!(
        failed.is_some_and(|line| !line.ends_with(" 0 failed")),
        "{failed:?}"
    );
}

#[test]
fn denied_system_call_costs_only_the_recording() {
    for call in [
        "timer_create",
        "timer_settime",
        "timer_delete",
        "rt_tgsigqueueinfo",
        "flock",
        "ftruncate",
        "linkat",
        "renameat",
        "rename",
        "pwrite64",
        "copy_file_range",
        "perf_event_open",
        "membarrier",
        "memfd_create",
        "process_vm_readv",
        "sched_setaffinity",
        "sched_setattr",
    ] {
        let (run, _) = run_denied("denied", &[("DENIED", call)]);
        if !run.stderr.contains(&format!("denied: {call}: yes")) {
            println!("SKIP {call}: {}", run.stderr.lines().next().unwrap_or(""));
        }
    }
}

/// As in a container that may have no more processes.
#[test]
fn any_agent_thread_may_be_denied() {
    let all = (u64::MAX >> 1).to_string();
    let mut told = 0;
    let mut most = 0;
    let one = ["1", "2", "3", "4", "5", "6"].map(|nth| (nth, nth));
    for (nth, last) in one.into_iter().chain([("6", &*all), ("1", &*all)]) {
        let (run, lines) = run_denied("no_threads", &[("THREAD_NTH", nth), ("THREAD_LAST", last)]);
        let numbers = run.numbers("threads: ");
        let (asked, denied) = (numbers[0], numbers[1]);
        println!("{asked} threads asked for, {denied} denied");
        most = asked.max(most);
        assert!(denied > 0, "{nth}");
        told += lines.len();
    }
    // Log (twice if its thread has ended before the next line), Java API, writer, poll, wall clock,
    // unmounted virtual threads: each was denied once. Without the first two nothing is missing from
    // the recording.
    assert!((6..=7).contains(&most), "{most} threads of the agent");
    assert!(told >= 4, "{told} lines");
}

/// The most address space in KiB that a JVM without the agent has had once it is up.
fn address_space() -> u32 {
    let jvm = Jvm::alone(Jdk::main()).fixed_memory();
    let jvm = jvm.serve();
    let status = fs::read_to_string(format!("/proc/{}/status", jvm.pid())).unwrap();
    jvm.end();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let words = peak.unwrap().split_whitespace().next();
    words.unwrap().parse().unwrap()
}

/// The agent's slabs are 40 MiB together. (A limit that leaves them room and nothing else keeps the
/// JVM from its own threads: docs/operations.md.)
#[test]
fn denied_slab_memory_costs_only_the_recording() {
    let test_dir = TestDir::new();
    let most = address_space() + 20 * 1024;
    let jvm = Jvm::new(Jdk::main(), &test_dir).fixed_memory();
    let (_, lines) = check_recorded_or_reported(jvm.address_space(most), &test_dir, "ulimit -v");
    assert!(lines[0].contains("no memory for the "), "{lines:?}");
}
