//! A start that fails is one line and no more; a stop leaves nothing behind.

use std::fs;
use std::time::Duration;

use e2e::process::Finished;
use e2e::{Jdk, Jvm, Room, amount};

#[test]
fn three_hundred_recordings_leave_no_file_thread_or_timer() {
    let rounds = amount("CTXAGENT_RESTARTS").unwrap_or(300).to_string();
    for jdk in Jdk::all() {
        let room = Room::new();
        let run = Jvm::new(jdk, &room)
            .agent("")
            .fixed_memory()
            // Else the compilers' memory would be what grows: 3 to 4 MiB.
            .flag("-Xint")
            .limit(Duration::from_mins(10))
            .main(
                "Restarts",
                &[&rounds, "event=cpu+wall,interval=1ms,wall=5ms,file=app.jfr"],
            )
            .run()
            .success();
        println!("JDK {}: {}", jdk.version, run.stdout);
        let held: Vec<Vec<i64>> = run
            .told("held ")
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

/// `Hello` with the agent, under a shim that denies something.
fn hello(shim: &str, variables: &[(&str, &str)]) -> (Finished, Vec<String>) {
    let room = Room::new();
    let jvm = Jvm::new(Jdk::main(), &room).preload(shim);
    let run = variables
        .iter()
        .fold(jvm, |jvm, (name, value)| jvm.environment(name, value))
        .agent("start,event=cpu+wall,interval=5ms,file=app.jfr")
        .main("Hello", &["50"])
        .run();
    let what = format!("{variables:?}");
    assert_eq!(run.code, Some(0), "{what}: {}", run.stderr);
    assert_eq!(run.stdout, "OK\n", "{what}");
    let lines: Vec<String> = run.agent_lines().into_iter().map(str::to_owned).collect();
    println!("{what}: {lines:?}");
    assert!(lines.len() <= 2, "{what}: {lines:?}");
    // Where all calls fail, taking the file away that has just been made fails too: it stays, empty.
    let all = variables.iter().any(|(name, _)| *name == "FAULT_LAST");
    for file in room.recordings() {
        if !all || fs::metadata(file.path()).unwrap().len() > 0 {
            file.jfr(Jdk::main(), &["summary"]).success();
        }
    }
    (run, lines)
}

#[test]
fn any_call_of_a_start_may_be_denied() {
    let kinds = ["EACCES", "ENOMEM", "EIO"];
    for (nth, kind) in (1..=60).step_by(3).zip(kinds.into_iter().cycle()) {
        hello(
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
        let (_, lines) = hello("faults", &variables);
        assert!(!lines.is_empty(), "nobody was told");
    }
}

#[test]
fn a_jvm_whose_symbols_cannot_be_read_is_sampled_without_them_or_not_at_all() {
    let (run, _) = hello("faults", &[("FAULT_PATH", "libjvm")]);
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
        let (run, _) = hello("denied", &[("DENIED", call)]);
        if !run.stderr.contains(&format!("denied: {call}: yes")) {
            println!("SKIP {call}: {}", run.stderr.lines().next().unwrap_or(""));
        }
    }
}
