//! A start that fails is one line and no more; a stop leaves nothing behind.

use std::fs;
use std::time::Duration;

use e2e::process::ProcessOutput;
use e2e::{Jdk, Jvm, Recording, TestDir, env_number};

#[test]
fn three_hundred_recordings_leave_no_file_thread_or_timer() {
    let rounds = env_number("CTXAGENT_RESTARTS").unwrap_or(300).to_string();
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("")
            .fixed_memory()
            // Else the compilers' memory would be what grows: 3 to 4 MiB.
            .flag("-Xint")
            .limit(Duration::from_mins(10))
            .main(
                "Restarts",
                &[
                    &rounds,
                    "event=cpu+wall,interval=1ms,wall=5ms,file=app.jfr,overwrite",
                ],
            )
            .run()
            .success();
        println!("JDK {}: {}", jdk.version, run.stdout);
        let held: Vec<Vec<i64>> = run
            .lines_after("held ")
            .map(|line| line.split(' ').map(|n| n.parse().unwrap()).collect())
            .collect();
        let [_, early, half, late] = &held[..] else {
            panic!("{}", run.stdout)
        };
        assert_eq!(late[0], early[0], "open files");
        // The JVM's own threads come and go; a thread of each recording would be 280 more.
        assert!(late[1] < early[1] + 10, "threads: {early:?}, {late:?}");
        assert_eq!((early[2], late[2]), (0, 0), "timers");
        let grown = late[3] - half[3];
        println!(
            "resident memory: {:+} KiB in the first half, {grown:+} KiB in the second",
            half[3] - early[3],
        );
        assert!(grown <= 256, "resident memory: {held:?}");
        assert!(run.stdout.ends_with(&format!("rounds {rounds}\n")));
    }
}

/// A program that works for a third of a second, with the agent, under a shim that denies something.
fn denied(shim: &str, variables: &[(&str, &str)]) -> (ProcessOutput, Vec<String>) {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir).preload(shim);
    let jvm = variables
        .iter()
        .fold(jvm, |jvm, (name, value)| jvm.environment(name, value));
    let (run, lines) = recorded_or_told(jvm, &test_dir, &format!("{variables:?}"));
    // Where all calls fail, taking the file away that has just been made fails too: it stays, empty.
    let all = variables.iter().any(|(name, _)| *name == "FAULT_LAST");
    for file in test_dir.recordings() {
        let length = fs::metadata(file.path()).unwrap().len();
        assert!(all || length > 0, "{variables:?}: an empty file");
    }
    (run, lines)
}

/// The application's answer is its own, and there are samples of it in a recording that opens; or one line says that there are none, and why.
fn recorded_or_told(jvm: Jvm<'_>, test_dir: &TestDir, what: &str) -> (ProcessOutput, Vec<String>) {
    let run = jvm
        .agent("start,event=cpu+wall,interval=5ms,file=app.jfr")
        .main("Target", &["exit", "return"])
        .run();
    assert_eq!(run.code, Some(0), "{what}: {}", run.stderr);
    assert_eq!(run.stdout, "answer 6765\n", "{what}");
    let lines: Vec<String> = run.agent_lines().into_iter().map(str::to_owned).collect();
    let mut files = test_dir.recordings();
    files.retain(|file| fs::metadata(file.path()).unwrap().len() > 0);
    let samples = |file: &Recording| file.samples(Jdk::main()).len();
    let samples: usize = files.iter().map(samples).sum();
    println!("{what}: {samples} samples, {lines:?}");
    if samples == 0 {
        assert_eq!(lines.len(), 1, "{what}: nothing was recorded; {lines:?}");
    }
    assert!(lines.len() <= 2, "{what}: {lines:?}");
    (run, lines)
}

#[test]
fn any_call_of_a_start_may_be_denied() {
    let kinds = ["EACCES", "ENOMEM", "EIO"];
    for (nth, kind) in (1..=60).step_by(3).zip(kinds.into_iter().cycle()) {
        denied(
            "faults",
            &[("FAULT_NTH", &nth.to_string()), ("FAULT_KIND", kind)],
        );
    }
}

#[test]
fn all_calls_from_one_on_may_be_denied() {
    for (first, kind) in [("1", "EACCES"), ("12", "ENOMEM"), ("30", "EIO")] {
        let last = (u64::MAX >> 1).to_string();
        let variables = [
            ("FAULT_NTH", first),
            ("FAULT_LAST", &last),
            ("FAULT_KIND", kind),
        ];
        let (_, lines) = denied("faults", &variables);
        assert!(!lines.is_empty(), "nobody was told");
    }
}

#[test]
fn a_jvm_whose_symbols_cannot_be_read_is_sampled_without_them_or_not_at_all() {
    let (run, _) = denied("faults", &[("FAULT_PATH", "libjvm")]);
    let failed = run.stderr.lines().find(|l| l.starts_with("faults: "));
    assert!(
        failed.is_some_and(|line| !line.ends_with(" 0 failed")),
        "{failed:?}"
    );
}

#[test]
fn a_system_call_that_the_kernel_denies_costs_no_more_than_the_recording() {
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
    ] {
        let (run, _) = denied("denied", &[("DENIED", call)]);
        if !run.stderr.contains(&format!("denied: {call}: yes")) {
            println!("SKIP {call}: {}", run.stderr.lines().next().unwrap_or(""));
        }
    }
}

/// As in a container that may have no more processes.
#[test]
fn any_thread_of_the_agent_may_be_denied() {
    let all = (u64::MAX >> 1).to_string();
    let mut told = 0;
    let mut most = 0;
    let one = ["1", "2", "3", "4", "5"].map(|nth| (nth, nth));
    for (nth, last) in one.into_iter().chain([("5", &*all), ("1", &*all)]) {
        let (run, lines) = denied("no_threads", &[("THREAD_NTH", nth), ("THREAD_LAST", last)]);
        let numbers = run.numbers("threads: ");
        let (asked, denied) = (numbers[0], numbers[1]);
        println!("{asked} threads asked for, {denied} denied");
        most = asked.max(most);
        assert!(denied > 0, "{nth}");
        told += lines.len();
    }
    // Log (twice if its thread has ended before the next line), Java API, writer, poll, wall clock: each was denied once. Without the first two nothing is
    // missing from the recording.
    assert!((5..=6).contains(&most), "{most} threads of the agent");
    assert!(told >= 4, "{told} lines");
}

/// The most address space in KiB that a JVM without the agent has had once it is up.
fn address_space() -> u32 {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir).fixed_memory();
    let jvm = jvm.main("Target", &["serve"]).start_ready();
    let status = fs::read_to_string(format!("/proc/{}/status", jvm.pid())).unwrap();
    jvm.end();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let words = peak.unwrap().split_whitespace().next();
    words.unwrap().parse().unwrap()
}

/// The agent's slabs are 40 MiB together. (A limit that leaves them room and nothing else keeps the JVM from its own threads: docs/limitations.md.)
#[test]
fn a_process_that_may_not_have_the_memory_of_the_slabs_runs_without_recording() {
    let test_dir = TestDir::new();
    let most = address_space() + 20 * 1024;
    let jvm = Jvm::new(Jdk::main(), &test_dir).fixed_memory();
    let (_, lines) = recorded_or_told(jvm.address_space(most), &test_dir, "ulimit -v");
    assert!(lines[0].contains("no memory for the "), "{lines:?}");
}
