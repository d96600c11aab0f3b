//! P14: other recorders and profilers in the same JVM get what is theirs, and we ours.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use e2e::process::ProcessOutput;
use e2e::recording::{CpuTime, Event, SIGMAS};
use e2e::{Jdk, Jvm, Recording, TestDir};

/// Interval of every recorder here, in milliseconds.
const INTERVAL: u32 = 10;
const OURS: &str = "start,interval=10ms,file=ours.jfr";

/// Two threads named `burner-` that burn CPU time together for 4 s.
fn burn(jvm: Jvm) -> ProcessOutput {
    let jvm = jvm.program("Target burn 2 2000").stop_recording_at_end();
    jvm.run_ok()
}

/// What the samples of the burners stand for, as a share of the CPU time that they used.
#[expect(clippy::cast_precision_loss, reason = "some seconds")]
fn share(run: &ProcessOutput, nanos: f64) -> f64 {
    nanos / run.numbers("burners used ")[0] as f64
}

/// Fails unless our recording has all of it.
fn assert_ours_is_whole(test_dir: &TestDir, run: &ProcessOutput) {
    let (_, samples) = Recording::new(test_dir.file("ours.jfr")).reconcile();
    let seen = CpuTime::of_threads(&samples, "burner-", INTERVAL);
    let [ours, deviation] = [seen.nanos, seen.deviation].map(|nanos| share(run, nanos));
    println!("ours {ours:.3} +- {deviation:.3}");
    assert!(
        (ours - 1.0).abs() < SIGMAS * deviation,
        "{ours} {deviation}"
    );
}

/// The same of events of another recorder, each of which stands for one interval.
fn their_share(run: &ProcessOutput, events: &[Event]) -> f64 {
    let by_burner = |event: &&Event| {
        let name = event.values.pointer("/eventThread/javaName");
        let name = name.and_then(|name| name.as_str()).or(event.thread());
        name.is_some_and(|name| name.starts_with("burner-"))
    };
    let count = u32::try_from(events.iter().filter(by_burner).count()).unwrap();
    share(run, f64::from(count * INTERVAL) * 1e6)
}

/// Theirs. On a loaded machine they lose up to a fifth without us too.
fn is_there(share: f64) -> bool {
    share > 0.5
}

#[test]
fn jdk_recording_runs_alongside() {
    for jdk in Jdk::all() {
        let theirs = "-XX:StartFlightRecording:settings=profile,filename=theirs.jfr";
        let counts = |test_dir: &TestDir| Recording::new(test_dir.file("theirs.jfr")).counts(jdk);
        let alone = TestDir::new();
        burn(Jvm::new(jdk, &alone).flag(theirs));
        let alone = counts(&alone);
        let test_dir = TestDir::new();
        let run = burn(Jvm::new(jdk, &test_dir).flag(theirs).agent(OURS));
        let together = counts(&test_dir);
        let samples = [&alone, &together].map(|all| all["jdk.ExecutionSample"]);
        println!("{jdk}: samples of the JDK {samples:?}");
        assert_eq!(run.agent_lines(), [""; 0]);
        assert_ours_is_whole(&test_dir, &run);
        assert!(samples[1] * 2 > samples[0], "{samples:?}");
        assert_eq!(alone["jdk.ThreadStart"], together["jdk.ThreadStart"]);
    }
}

const CPU_TIME: &str = r#"<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0"><event name="jdk.CPUTimeSample"><setting name="enabled">true</setting><setting name="throttle">10 ms</setting></event></configuration>"#;

/// They take SIGPROF for themselves or not at all.
#[test]
fn jdk_cpu_time_sampling_runs_alongside_on_another_signal() {
    let Some(jdk) = Jdk::find(25) else { return };
    for (ours, has_theirs) in [
        (OURS.to_owned(), false),
        (format!("{OURS},signal=34"), true),
    ] {
        let test_dir = TestDir::new();
        fs::write(test_dir.file("cpu.jfc"), CPU_TIME).unwrap();
        let run = burn(
            Jvm::new(jdk, &test_dir)
                .flag("-XX:StartFlightRecording:settings=cpu.jfc,filename=theirs.jfr")
                .agent(&ours),
        );
        let events = Recording::new(test_dir.file("theirs.jfr")).events("jdk.CPUTimeSample");
        let their = their_share(&run, &events);
        println!("{ours}: theirs {their:.3}");
        assert_ours_is_whole(&test_dir, &run);
        assert_eq!(is_there(their), has_theirs, "{their}");
        // The JDK tells it.
        let told = run.stdout.contains("Conflicting SIGPROF handler");
        assert_eq!(told, !has_theirs, "{}", run.stdout);
        assert_eq!(run.agent_lines(), [""; 0]);
    }
}

/// The library of async-profiler, from the jar that `jfr-format/tests/interop/foreign/fetch.sh`
/// keeps; `None` where it is not.
fn async_profiler(test_dir: &TestDir) -> Option<PathBuf> {
    let cache = std::env::var_os("CTXAGENT_TOOLCHAIN_DIR").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| e2e::workspace::root().join(".toolchain"));
    let mut jars = fs::read_dir(cache.join("interop")).ok()?;
    let jar = jars.find_map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("async-profiler-").then_some(path)
    })?;
    let library = test_dir.file("libasyncProfiler.so");
    let unzip = Command::new("unzip")
        .arg("-p")
        .arg(jar)
        .arg("linux-x64/libasyncProfiler.so")
        .output();
    fs::write(&library, unzip.ok()?.stdout).unwrap();
    Some(library)
}

/// Both want SIGPROF: whoever comes second finds it owned.
#[test]
fn async_profiler_runs_alongside() {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let Some(library) = async_profiler(&test_dir) else {
        println!("SKIP: no async-profiler in .toolchain/interop, or no unzip");
        return;
    };
    let theirs = format!(
        "-agentpath:{}=start,event=ctimer,interval=10ms,jfr,file=theirs.jfr",
        library.display()
    );
    for (ours, told) in [(OURS.to_owned(), 1), (format!("{OURS},signal=34"), 0)] {
        let jvm = Jvm::new(jdk, &test_dir).flag(&theirs).agent(&ours);
        let run = burn(jvm.may_warn("already had an owner"));
        println!("{}", run.stderr);
        let events = Recording::new(test_dir.file("theirs.jfr")).samples();
        let their = their_share(&run, &events);
        println!("{ours}: theirs {their:.3}");
        assert_ours_is_whole(&test_dir, &run);
        let owned = |line: &&str| line.contains("already had an owner");
        assert_eq!(run.agent_lines().into_iter().filter(owned).count(), told);
        assert!(is_there(their), "{their}");
        for file in ["ours.jfr", "theirs.jfr"] {
            fs::remove_file(test_dir.file(file)).unwrap();
        }
    }
}

/// A profiler of native code, say.
#[test]
fn previous_signal_owner_gets_only_its_own_signals() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = burn(Jvm::new(jdk, &test_dir).preload("owner").agent(OURS));
        let numbers = run.numbers("owner: ");
        let (own, others) = (numbers[0], numbers[1]);
        println!("{jdk}: {own} of the owner's signals");
        let lines = run.agent_lines();
        assert!(
            lines.len() == 1 && lines[0].contains("signal 27 already had an owner"),
            "{lines:?}"
        );
        assert_ours_is_whole(&test_dir, &run);
        // 400 were due for the burners alone; one that comes while another waits is merged with it.
        assert!(own > 100, "{own}");
        assert_eq!(others, 0, "signals of ours");
    }
}
