//! The agent starts, records and ends, on each JDK; and does nothing where it should not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::SystemTime;

use e2e::{Jdk, Jvm, TestDir, build, record};
use jfr_format::read::{Chunks, ParsedChunk};

#[test]
fn file_is_private() {
    let test_dir = TestDir::new();
    Jvm::brief(&test_dir, "start,file=app.jfr").run_ok();
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
fn file_name_has_process_and_time() {
    let test_dir = TestDir::new();
    let jvm = Jvm::brief(&test_dir, "start,file=app-%p-%t.jfr").start();
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
fn environment_variable_is_enough() {
    let test_dir = TestDir::new();
    Jvm::brief(&test_dir, "")
        .environment("CTXAGENT_OPTS", "start,file=app.jfr")
        .stop_recording_at_end()
        .run_ok();
    assert!(!test_dir.recording().samples().is_empty());
}

#[test]
fn start_line_names_file_events_and_rates() {
    let cases = [
        ("start,file=app.jfr", "cpu every 10ms"),
        (
            "start,event=cpu+lock,interval=20ms,wall=100ms,alloc=1m,file=app.jfr",
            "cpu every 20ms, wall every 100ms, alloc every 1m, lock from 1ms",
        ),
    ];
    for (options, events) in cases {
        let test_dir = TestDir::new();
        let run = Jvm::brief(&test_dir, options).run_ok();
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
fn log_level_below_notice_hides_start_line() {
    let test_dir = TestDir::new();
    for level in ["warn", "error", "off"] {
        for options in ["start,file=app.jfr,", "status,"] {
            let run = Jvm::brief(&test_dir, &format!("{options}loglevel={level}")).run_ok();
            assert_eq!(run.start_lines(), [""; 0], "{level}");
        }
    }
}

#[test]
fn async_profiler_options_are_understood() {
    let (run, recording) = record(
        Jdk::main(),
        "jfr,event=itimer,alloc,lock,wall,timeout=1h",
        "Target burn 1 500",
    );
    let lines = run.start_lines();
    let events = "cpu every 10ms (itimer means cpu here), wall every 50ms, alloc every 512k, lock from 1ms, ends after 1h;";
    assert!(
        matches!(lines[..], [line] if line.contains(events)),
        "{lines:?}"
    );
    assert!(!recording.samples().is_empty());
    let quiet = TestDir::new();
    let run = Jvm::brief(&quiet, "start,event=ctimer,loglevel=none,file=app.jfr").run_ok();
    assert_eq!(run.stderr, "");
    assert_eq!(quiet.recordings().len(), 1);
}

#[test]
fn idle_status_has_no_empty_line() {
    let test_dir = TestDir::new();
    let run = Jvm::brief(&test_dir, "status").run_ok();
    let lines = run.agent_lines();
    assert!(lines.contains(&"ctxagent: java api: not in use yet"));
    assert!(lines.contains(&"ctxagent: state: idle"), "{lines:?}");
    let empty = lines.iter().find(|line| line.trim_end().ends_with(':'));
    assert_eq!(empty, None);
}

#[test]
fn help_lists_commands_and_options() {
    let test_dir = TestDir::new();
    let run = Jvm::brief(&test_dir, "help").run_ok();
    let lines = run.agent_lines();
    for text in ["  start ", "  interval=1ms to 1s", "  file="] {
        let text = format!("ctxagent: {text}");
        assert!(lines.iter().any(|line| line.starts_with(&text)), "{text}");
    }
    assert!(test_dir.recordings().is_empty());
}

#[test]
fn loaded_without_options_records_nothing() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("")
            .program("Target exit return")
            .run_ok();
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert!(
            matches!(lines[..], [line] if line.starts_with("ctxagent: loaded, not recording; ")
                && line.contains("agent_load")),
            "{jdk}: {lines:?}"
        );
        assert!(test_dir.recordings().is_empty());
    }
}

#[test]
fn same_agent_twice_records_once() {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir).agent("start,file=first.jfr");
    assert_first_agent_records(jvm.agent("start,file=second.jfr"), &test_dir);
}

#[test]
fn two_copies_of_the_agent_record_once() {
    let test_dir = TestDir::new();
    let copy = test_dir.file("libcopy.so");
    fs::copy(build::agent(), &copy).unwrap();
    let second = format!("-agentpath:{}=start,file=second.jfr", copy.display());
    let jvm = Jvm::new(Jdk::main(), &test_dir).agent("start,file=first.jfr");
    assert_first_agent_records(jvm.flag(&second), &test_dir);
}

fn assert_first_agent_records(jvm: Jvm, test_dir: &TestDir) {
    let run = jvm
        .program("Target burn 1 500")
        .may_warn("loaded twice by -agentpath; ")
        .may_warn("another copy of the agent, ")
        .stop_recording_at_end()
        .run_ok();
    println!("{}", run.stderr);
    assert_eq!(run.agent_lines().len(), 1, "{}", run.stderr);
    let recording = test_dir.recording();
    assert_eq!(recording.path().file_name().unwrap(), "first.jfr");
    assert!(!recording.samples().is_empty());
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
        .run_ok();
    if agent.is_some_and(|options| options.starts_with("start")) {
        assert!(!test_dir.recording().samples().is_empty());
    }
    let lines = run.stdout.lines().chain(run.stderr.lines());
    let warnings = lines.filter(|line| line.contains("WARNING") || line.contains("FATAL"));
    warnings.map(str::to_owned).collect()
}

#[test]
fn check_jni_reports_nothing() {
    let all = "start,event=cpu+wall+alloc+lock,interval=2ms,wall=10ms,file=app.jfr";
    let commands = "event=cpu+wall+alloc+lock,interval=2ms,wall=10ms,file=app.jfr,overwrite";
    for jdk in Jdk::every() {
        let plain = jni_warnings(jdk, None, ("Churn", &["platform", "300", "8"]));
        let run = jni_warnings(jdk, Some(all), ("Churn", &["platform", "300", "8"]));
        assert_eq!(run.len(), plain.len(), "{jdk}: {run:?}");
        // Recordings begun and ended by the application, which has the API in use by then.
        let none = jni_warnings(jdk, Some(""), ("Restarts", &["0", commands]));
        let some = jni_warnings(jdk, Some(""), ("Restarts", &["3", commands]));
        assert_eq!(some.len(), none.len(), "{jdk}: {some:?}");
    }
}

#[test]
fn library_exports_only_entry_points() {
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
        "JNI_OnLoad",
        "Java_io_ctxagent_internal_agent_Native_abi",
        "Java_io_ctxagent_labels_Labels_classFile",
        "Java_io_ctxagent_labels_Labels_late",
    ] {
        assert!(names.contains(&needed), "{needed} is missing: {names:?}");
    }
    // ctxagent_active: the flag by which a second copy of the agent in the same process finds the
    // first.
    let known = |name: &str| {
        name.starts_with("Agent_On")
            || name == "JNI_OnLoad"
            || name.starts_with("Java_io_ctxagent_internal_agent_Native_")
            || name.starts_with("Java_io_ctxagent_labels_Labels_")
            || name == "ctxagent_active"
    };
    let other: Vec<_> = names.iter().filter(|name| !known(name)).collect();
    assert!(other.is_empty(), "also exported: {other:?}");
}

#[test]
fn hello_prints_the_same_with_agent() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let plain = Jvm::new(jdk, &test_dir).program("Hello 100").run_ok();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,loglevel=warn,file=app.jfr")
            .program("Hello 100")
            .stop_recording_at_end()
            .run_ok();
        assert_eq!(
            (run.stdout, run.stderr),
            (plain.stdout, plain.stderr),
            "{jdk}"
        );
    }
}

/// What viewers show of the JVM and its machine.
#[test]
fn jvm_start_and_cpus_are_recorded() {
    let test_dir = TestDir::new();
    let millis = || {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        i64::try_from(now.unwrap().as_millis()).unwrap()
    };
    let before = millis();
    let jvm = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,file=app.jfr")
        .program("Target burn 1 100")
        .stop_recording_at_end()
        .start();
    let started = millis();
    jvm.finish().success();
    let bytes = fs::read(test_dir.recording().path()).unwrap();
    let chunk = Chunks::new(&bytes).next().unwrap();
    let chunk = ParsedChunk::new(&chunk).unwrap();
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
