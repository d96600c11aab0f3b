//! The agent starts, records and ends, on each JDK; and does nothing where it should not.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]

use std::fs;
use std::ops::RangeBounds;
use std::os::unix::fs::PermissionsExt;
use std::time::SystemTime;

use e2e::recording::cpu_nanos;
use e2e::{Jdk, Jvm, ProcessOutput, TestDir, build};
use jfr_format::read::{Chunks, OpenChunk};

/// Sum of weights against the CPU time that the JVM counts for the same threads.
#[test]
fn weights_sum_up_to_the_cpu_time_of_the_threads() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,interval=10ms,file=app.jfr")
            .main("Target", &["burn", "3", "2000"])
            .stop_recording_at_end()
            .run();
        let run = run.success();
        check_weights(jdk, &test_dir, &run, "burners used", 10, 0.95..=1.05);
    }
}

/// Each lives for less than the interval: whether it is hit is left to chance, the sum is not.
#[test]
fn threads_of_less_than_a_millisecond_are_seen_for_what_they_use_together() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,interval=1ms,file=app.jfr")
            .main("Short", &["5000", "600"])
            .stop_recording_at_end()
            .run()
            .success();
        // From when the VM tells of a thread, between its begin and its first line, to when it tells of its end, after the last line.
        check_weights(jdk, &test_dir, &run, "shorts used", 1, 0.95..);
        check_weights(jdk, &test_dir, &run, "shorts lived", 1, ..=1.15);
    }
}

/// What such a thread has used since its last look of the poll is sampled at its end.
#[test]
fn threads_that_sleep_between_bursts_and_end_are_seen_for_what_they_use() {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let run = Jvm::new(jdk, &test_dir)
        .agent("start,interval=10ms,file=app.jfr")
        .main("Short", &["150", "30000", "1000"])
        .stop_recording_at_end()
        .run()
        .success();
    let polled = test_dir
        .recording()
        .totals(jdk)
        .get("poll.signals")
        .copied();
    assert!(polled > Some(0), "{polled:?}");
    check_weights(jdk, &test_dir, &run, "shorts used", 10, 0.9..=1.1);
}

/// Compares the weight of some threads with what the program says they used: `burners used`.
fn check_weights(
    jdk: Jdk,
    test_dir: &TestDir,
    run: &ProcessOutput,
    said: &str,
    interval_ms: u32,
    allowed: impl RangeBounds<f64>,
) {
    #[expect(clippy::cast_precision_loss, reason = "some seconds")]
    let used = run.numbers(&format!("{said} "))[0] as f64;
    let samples = test_dir.recording().samples(Jdk::main());
    let (named, _) = said.split_once("s ").unwrap();
    let seen = cpu_nanos(&samples, named, interval_ms);
    let ratio = seen / used;
    println!(
        "JDK {}: {} samples, weights {:.3} s, {said} {:.3} s, ratio {ratio:.3}",
        jdk.version,
        samples.len(),
        seen / 1e9,
        used / 1e9
    );
    assert!(
        allowed.contains(&ratio),
        "JDK {}: {said}, ratio {ratio}",
        jdk.version
    );
}

#[test]
fn stacks_reach_the_threads_entry() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        Jvm::new(jdk, &test_dir)
            .agent("start,interval=5ms,file=app.jfr")
            .main("Target", &["burn", "2", "1500"])
            .stop_recording_at_end()
            .run()
            .success();
        let samples: Vec<_> = test_dir
            .recording()
            .samples(jdk)
            .into_iter()
            .filter(|sample| {
                sample
                    .thread()
                    .is_some_and(|name| name.starts_with("burner-"))
            })
            .collect();
        let complete = samples
            .iter()
            .filter(|s| {
                s.frames()
                    .last()
                    .is_some_and(|f| f == "java.lang.Thread.run")
            })
            .count();
        let spin = samples
            .iter()
            .filter(|s| s.frames().iter().any(|f| f.starts_with("Target.")))
            .count();
        println!(
            "JDK {}: {} samples, {complete} to the root, {spin} in Target",
            jdk.version,
            samples.len()
        );
        assert!(
            samples.len() > 300,
            "JDK {}: {} samples",
            jdk.version,
            samples.len()
        );
        assert!(
            complete * 100 >= samples.len() * 98,
            "JDK {}: {complete} of {}",
            jdk.version,
            samples.len()
        );
        assert!(
            spin * 100 >= samples.len() * 95,
            "JDK {}: {spin} of {}",
            jdk.version,
            samples.len()
        );
    }
}

#[test]
fn the_file_is_private() {
    let test_dir = TestDir::new();
    Jvm::new(Jdk::main(), &test_dir)
        .agent("start,file=app.jfr")
        .main("Target", &["exit", "return"])
        .run()
        .success();
    assert_eq!(
        fs::metadata(test_dir.file("app.jfr"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o600
    );
}

#[test]
fn names_with_process_and_time_are_filled_in() {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,file=app-%p-%t.jfr")
        .main("Target", &["exit", "return"])
        .start();
    let pid = jvm.pid();
    jvm.finish().success();
    let recording = test_dir.recording();
    let name = recording.path().file_name().unwrap().to_str().unwrap();
    let time = name
        .strip_prefix(&format!("app-{pid}-"))
        .and_then(|rest| rest.strip_suffix(".jfr"));
    assert_eq!(time.map(str::len), Some("20261121-023115".len()), "{name}");
}

#[test]
fn the_variable_is_enough() {
    let test_dir = TestDir::new();
    Jvm::new(Jdk::main(), &test_dir)
        .environment("CTXAGENT_OPTS", "start,file=app.jfr")
        .agent("")
        .main("Target", &["exit", "return"])
        .stop_recording_at_end()
        .run()
        .success();
    assert!(!test_dir.recording().samples(Jdk::main()).is_empty());
}

#[test]
fn a_start_says_file_events_and_rates_in_one_line() {
    let cases = [
        ("start,file=app.jfr", "cpu every 10ms"),
        (
            "start,event=cpu+lock,interval=20ms,wall=100ms,alloc=1m,file=app.jfr",
            "cpu every 20ms, wall every 100ms, alloc every 1m, lock from 1ms",
        ),
    ];
    for (options, events) in cases {
        let test_dir = TestDir::new();
        let run = Jvm::new(Jdk::main(), &test_dir)
            .agent(options)
            .main("Target", &["exit", "return"])
            .run()
            .success();
        let expected = format!("ctxagent: recording to app.jfr: {events}; walker: ");
        let lines = run.start_lines();
        assert!(
            matches!(lines[..], [line] if line.starts_with(&expected)),
            "{options}: {lines:?}"
        );
        assert_eq!(run.agent_lines(), [""; 0]);
    }
}

#[test]
fn a_level_below_notice_hides_the_line_of_a_start() {
    let test_dir = TestDir::new();
    for level in ["warn", "error", "off"] {
        for options in ["start,file=app.jfr,", "status,"] {
            let run = Jvm::new(Jdk::main(), &test_dir)
                .agent(&format!("{options}loglevel={level}"))
                .main("Target", &["exit", "return"])
                .run()
                .success();
            assert_eq!(run.start_lines(), [""; 0], "{level}");
        }
    }
}

#[test]
fn options_of_async_profiler_are_understood() {
    let test_dir = TestDir::new();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,jfr,event=itimer,alloc,lock,wall,timeout=1h,file=app.jfr")
        .main("Target", &["burn", "1", "500"])
        .stop_recording_at_end()
        .run()
        .success();
    let lines = run.start_lines();
    let events = "cpu every 10ms (itimer means cpu here), wall every 50ms, alloc every 512k, lock from 1ms, ends after 1h;";
    assert!(
        matches!(lines[..], [line] if line.contains(events)),
        "{lines:?}"
    );
    assert!(!test_dir.recording().samples(Jdk::main()).is_empty());
    let quiet = TestDir::new();
    let run = Jvm::new(Jdk::main(), &quiet)
        .agent("start,event=ctimer,loglevel=none,file=app.jfr")
        .main("Target", &["exit", "return"])
        .run()
        .success();
    assert_eq!(run.stderr, "");
    assert_eq!(quiet.recordings().len(), 1);
}

#[test]
fn the_status_of_an_idle_agent_says_something_in_each_line() {
    let test_dir = TestDir::new();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .agent("status")
        .main("Target", &["exit", "return"])
        .run()
        .success();
    let lines = run.agent_lines();
    assert!(lines.contains(&"ctxagent: java api: not in use yet"));
    assert!(lines.contains(&"ctxagent: state: idle"), "{lines:?}");
    let empty = lines.iter().find(|line| line.trim_end().ends_with(':'));
    assert_eq!(empty, None);
}

#[test]
fn help_tells_commands_and_options_and_nothing_is_recorded() {
    let test_dir = TestDir::new();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .agent("help")
        .main("Target", &["exit", "return"])
        .run()
        .success();
    let lines = run.agent_lines();
    for text in ["  start ", "  interval=1ms to 1s", "  file="] {
        let text = format!("ctxagent: {text}");
        assert!(lines.iter().any(|line| line.starts_with(&text)), "{text}");
    }
    assert!(test_dir.recordings().is_empty());
}

#[test]
fn loaded_without_options_it_says_so_and_records_nothing() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("")
            .main("Target", &["exit", "return"])
            .run()
            .success();
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert!(
            matches!(lines[..], [line] if line.starts_with("ctxagent: loaded, not recording; ")
                && line.contains("agent_load")),
            "JDK {}: {lines:?}",
            jdk.version
        );
        assert!(test_dir.recordings().is_empty());
    }
}

#[test]
fn the_same_agent_twice_records_once() {
    let test_dir = TestDir::new();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,file=first.jfr")
        .agent("start,file=second.jfr")
        .main("Target", &["burn", "1", "500"])
        .stop_recording_at_end()
        .run()
        .success();
    println!("{}", run.stderr);
    assert_eq!(run.agent_lines().len(), 1, "{}", run.stderr);
    assert_eq!(
        test_dir.recording().path().file_name().unwrap(),
        "first.jfr"
    );
    assert!(!test_dir.recording().samples(Jdk::main()).is_empty());
}

#[test]
fn two_copies_of_the_agent_record_once() {
    let test_dir = TestDir::new();
    let copy = test_dir.file("libcopy.so");
    fs::copy(build::agent(), &copy).unwrap();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,file=first.jfr")
        .flag(&format!(
            "-agentpath:{}=start,file=second.jfr",
            copy.display()
        ))
        .main("Target", &["burn", "1", "500"])
        .stop_recording_at_end()
        .run()
        .success();
    println!("{}", run.stderr);
    assert_eq!(run.agent_lines().len(), 1, "{}", run.stderr);
    assert_eq!(
        test_dir.recording().path().file_name().unwrap(),
        "first.jfr"
    );
    assert!(!test_dir.recording().samples(Jdk::main()).is_empty());
}

#[test]
fn a_jvm_whose_asyncgetcalltrace_is_known_to_crash_is_walked_without_it() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,interval=2ms,loglevel=info,file=app.jfr")
            .main("Target", &["burn", "2", "1000"])
            .stop_recording_at_end()
            .run()
            .success();
        println!("JDK {}: {}", jdk.version, run.stderr);
        let expected = if jdk.is_deny_listed() {
            "; walker: vm"
        } else {
            "; walker: vm, then asgct"
        };
        let started = run
            .start_lines()
            .into_iter()
            .find(|line| line.contains("recording to"));
        assert!(
            started.is_some_and(|line| line.ends_with(expected)),
            "JDK {}\n{}",
            jdk.version,
            run.stderr
        );
        let samples = test_dir.recording().samples(jdk);
        let walked = samples
            .iter()
            .filter(|sample| sample.frames().iter().any(|f| f.starts_with("Target.")));
        let walked = walked.count();
        println!(
            "{walked} of {} samples reach the burning method",
            samples.len()
        );
        assert!(walked * 2 > samples.len(), "{walked} of {}", samples.len());
    }
}

#[test]
fn a_jvm_that_may_not_be_walked_is_named_and_sampled_without_stacks() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        Jvm::new(jdk, &test_dir)
            .agent("start,interval=2ms,cstack=no,file=app.jfr")
            .main("Target", &["burn", "2", "500"])
            .stop_recording_at_end()
            .run()
            .success();
        let samples = test_dir.recording().samples(jdk);
        assert!(!samples.is_empty());
        for sample in samples {
            let frames = sample.frames();
            assert!(
                frames.iter().all(|f| f.starts_with("ctxagent.NoStack.")) && frames.len() == 1,
                "{frames:?}"
            );
        }
    }
}

/// Lines of `-Xcheck:jni` in what a program says.
fn jni_warnings(jdk: Jdk, agent: Option<&str>, program: (&str, &[&str])) -> Vec<String> {
    let test_dir = TestDir::new();
    let mut jvm = Jvm::new(jdk, &test_dir).flag("-Xcheck:jni");
    if let Some(options) = agent {
        jvm = jvm.agent(options);
    }
    let run = jvm
        .main(program.0, program.1)
        .stop_recording_at_end()
        .run()
        .success();
    if agent.is_some_and(|options| options.starts_with("start")) {
        assert!(!test_dir.recording().samples(jdk).is_empty());
    }
    let lines = run.stdout.lines().chain(run.stderr.lines());
    let warnings = lines.filter(|line| line.contains("WARNING") || line.contains("FATAL"));
    warnings.map(str::to_owned).collect()
}

#[test]
fn jni_checks_have_nothing_to_say() {
    let all = "start,event=cpu+wall+alloc+lock,interval=2ms,wall=10ms,file=app.jfr";
    let commands = "event=cpu+wall+alloc+lock,interval=2ms,wall=10ms,file=app.jfr";
    for jdk in Jdk::all() {
        let plain = jni_warnings(jdk, None, ("Churn", &["platform", "300", "8"]));
        let run = jni_warnings(jdk, Some(all), ("Churn", &["platform", "300", "8"]));
        assert_eq!(run.len(), plain.len(), "JDK {}: {run:?}", jdk.version);
        // Recordings begun and ended by the application, which has the API in use by then.
        let none = jni_warnings(jdk, Some(""), ("Restarts", &["0", commands]));
        let some = jni_warnings(jdk, Some(""), ("Restarts", &["3", commands]));
        assert_eq!(some.len(), none.len(), "JDK {}: {some:?}", jdk.version);
    }
}

#[test]
fn the_library_exports_what_the_jvm_needs_and_nothing_else() {
    let output = std::process::Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(build::agent())
        .output();
    let Ok(output) = output else {
        println!("SKIP: no nm");
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .collect();
    for needed in [
        "Agent_OnLoad",
        "Agent_OnAttach",
        "Agent_OnUnload",
        "Java_io_ctxagent_internal_agent_Native_abi",
    ] {
        assert!(names.contains(&needed), "{needed} is missing: {names:?}");
    }
    // ctxagent_active: the flag by which a second copy of the agent in the same process finds the first.
    let known = |name: &str| {
        name.starts_with("Agent_On")
            || name.starts_with("Java_io_ctxagent_internal_agent_Native_")
            || name == "ctxagent_active"
    };
    let other: Vec<_> = names.iter().filter(|name| !known(name)).collect();
    assert!(other.is_empty(), "also exported: {other:?}");
}

#[test]
fn hello_says_the_same_with_the_agent_and_without() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let plain = Jvm::new(jdk, &test_dir)
            .main("Hello", &["100"])
            .run()
            .success();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,loglevel=warn,file=app.jfr")
            .main("Hello", &["100"])
            .stop_recording_at_end()
            .run()
            .success();
        assert_eq!(
            (run.stdout, run.stderr),
            (plain.stdout, plain.stderr),
            "JDK {}",
            jdk.version
        );
    }
}

/// What viewers show of the JVM and its machine.
#[test]
fn the_start_of_the_jvm_and_its_processors_are_told_as_they_are() {
    let test_dir = TestDir::new();
    let millis = || {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        i64::try_from(now.unwrap().as_millis()).unwrap()
    };
    let before = millis();
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,file=app.jfr")
        .main("Target", &["burn", "1", "100"])
        .stop_recording_at_end()
        .start();
    let started = millis();
    jvm.finish().success();
    let bytes = fs::read(test_dir.recording().path()).unwrap();
    let chunk = Chunks::new(&bytes).next().unwrap();
    let chunk = OpenChunk::new(&chunk).unwrap();
    let number = |event: &str, field: &str| {
        let events = chunk
            .raw_events()
            .filter_map(|raw| chunk.event(&raw.unwrap()));
        let mut events = events;
        let found = events.find(|e| *e.ty().name == *event).unwrap();
        found.get(field).unwrap().unwrap().as_long().unwrap()
    };
    let told = number("jdk.JVMInformation", "jvmStartTime");
    // The system notes it in hundredths of a second.
    assert!(
        (before - 1000..=started + 1000).contains(&told),
        "{before} {told} {started}"
    );
    let cpu = |field| number("jdk.CPUInformation", field);
    let (sockets, cores, threads) = (cpu("sockets"), cpu("cores"), cpu("hwThreads"));
    println!("{sockets} sockets, {cores} cores, {threads} threads");
    assert!(1 <= sockets && sockets <= cores && cores <= threads);
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap();
    let of_system = cpu_info.lines().filter(|l| l.starts_with("processor"));
    assert_eq!(threads, i64::try_from(of_system.count()).unwrap());
}
