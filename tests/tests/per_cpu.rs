//! The timers per CPU: each thread by itself has the samples that its CPU time is due, whatever it
//! does between its bursts.

#![allow(
    clippy::disallowed_methods,
    reason = "how long a process is stopped is what a test is about"
)]
#![expect(clippy::cast_precision_loss, reason = "some thousand samples")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use e2e::recording::{Event, sum_and_squares};
use e2e::{Jdk, Jvm, RunningJvm, TestDir, assert_contains};

/// Runs `Bursts` with this load and compares the weight of each thread with its CPU time.
fn each_thread_gets_its_due(interval_ms: u32, load: [&str; 4]) {
    run_bursts(interval_ms, load, |jvm| jvm, |_| {}).assert_due();
}

/// What a run has shown.
struct Comparison {
    /// Samples by those that are due.
    ratio: f64,
    deviation: f64,
    /// Of the deviations of each thread.
    mean_square: f64,
    threads: f64,
}

impl Comparison {
    fn assert_due(&self) {
        self.assert_ratio(0.90);
        let allowed = 1.0 + 5.0 * (2.0 / self.threads).sqrt();
        assert!(
            self.mean_square < allowed,
            "{} of {allowed}",
            self.mean_square
        );
    }

    fn assert_ratio(&self, least: f64) {
        let Self {
            ratio, deviation, ..
        } = self;
        assert!(*ratio < 1.02 + 4.0 * deviation, "{ratio} +- {deviation}");
        assert!(*ratio > least - 4.0 * deviation, "{ratio} +- {deviation}");
    }
}

/// The same in a JVM that is `prepared`, while something is done to it.
///
/// On a machine that is busy with other processes a timer may be armed too late for its instant, so
/// a part of all samples may be missing, of each thread alike. The shares of the threads must be
/// right all the same.
fn run_bursts(
    interval_ms: u32,
    load: [&str; 4],
    prepared: impl FnOnce(Jvm) -> Jvm,
    meanwhile: impl FnOnce(&RunningJvm),
) -> Comparison {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let jvm = Jvm::new(jdk, &test_dir)
        .agent(&format!(
            "start,engine=percpu,interval={interval_ms}ms,file=app.jfr"
        ))
        .main("Bursts", &load)
        .stop_recording_at_end();
    let jvm = prepared(jvm).start_ready();
    meanwhile(&jvm);
    let run = jvm.finish().success();
    let (totals, samples) = test_dir.recording().reconcile();
    let mut by_thread: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in &samples {
        let thread = event.thread().unwrap_or("?");
        by_thread.entry(thread).or_default().push(event);
    }
    let interval_nanos = f64::from(interval_ms) * 1e6;
    let (mut due, mut seen, mut variance) = (0.0, 0.0, 0.0);
    let mut rows = Vec::new();
    for (name, used) in run.stdout.lines().filter_map(|l| l.split_once(" used ")) {
        let used: f64 = used.trim_end_matches(" ns").parse().unwrap();
        let theirs = by_thread.remove(name).unwrap_or_default();
        let (sum, squares) = sum_and_squares(theirs.into_iter());
        due += used / interval_nanos;
        seen += sum;
        variance += squares;
        rows.push((used / interval_nanos, sum, squares));
    }
    let ratio = seen / due;
    // Of a sum of independent draws of weight w the variance is the sum of w squared.
    let deviation = variance.sqrt() / due;
    // With that part missing, each thread by itself.
    let z = |(due, sum, squares): &(f64, f64, f64)| {
        (sum - due * ratio).powi(2) / squares.max(due * ratio).max(1.0)
    };
    let mean_square = rows.iter().map(z).sum::<f64>() / rows.len() as f64;
    println!(
        "{load:?} at {interval_ms} ms: {seen} of {due:.1} due = {ratio:.3} +- {deviation:.3}, mean \
         square of z {mean_square:.2} of {} threads; {totals:?}",
        rows.len()
    );
    assert!(totals["probes.met"] > 0, "{totals:?}");
    Comparison {
        ratio,
        deviation,
        mean_square,
        threads: rows.len() as f64,
    }
}

#[test]
fn busy_threads_get_their_due() {
    each_thread_gets_its_due(10, ["6", "5000", "0", "600"]);
}

#[test]
fn sleepers_with_short_bursts_get_their_due() {
    each_thread_gets_its_due(10, ["100", "300", "20000", "40"]);
}

#[test]
fn sleepers_get_their_due_at_one_millisecond() {
    each_thread_gets_its_due(1, ["20", "300", "3000", "60"]);
}

/// Changes the CPUs of all threads of a process.
fn move_to(jvm: &RunningJvm, cpus: &str) {
    let mut taskset = Command::new("taskset");
    let moved = taskset
        .args(["-apc", cpus, &jvm.pid().to_string()])
        .output();
    let moved = moved.unwrap();
    assert!(moved.status.success(), "{moved:?}");
}

#[test]
fn process_that_moves_to_one_cpu_and_back_gets_its_due() {
    let all = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let comparison = run_bursts(
        10,
        ["4", "5000", "0", "3000"],
        |jvm| jvm,
        |jvm| {
            move_to(jvm, "0");
            sleep(Duration::from_millis(1_500)); // housekeeping runs once a second
            move_to(jvm, all.trim());
        },
    );
    // For a second nobody knows of the CPUs that have come back: a twelfth of all. Without them
    // a half would be missing.
    comparison.assert_ratio(0.82);
}

#[test]
fn stopped_process_gets_its_due_for_the_time_that_it_runs() {
    run_bursts(
        10,
        ["4", "300", "1000", "400"],
        |jvm| jvm,
        |jvm| {
            for _ in 0..10 {
                jvm.signal("STOP");
                sleep(Duration::from_millis(100)); // the time that it is stopped
                jvm.signal("CONT");
                sleep(Duration::from_millis(20)); // and that it runs
            }
        },
    )
    .assert_due();
}

/// A group of processes that may use 40 % of a CPU.
struct CpuQuota(PathBuf);

impl CpuQuota {
    fn new() -> Option<Self> {
        let name = format!("ctxagent-test-{}", std::process::id());
        let old = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let new = Path::new("/sys/fs/cgroup").join(&name);
        let set = |group: &PathBuf, files: &[(&str, &str)]| {
            let write = |(file, value): &(&str, &str)| fs::write(group.join(file), value).is_ok();
            fs::create_dir(group).is_ok() && files.iter().all(write)
        };
        let quota = [
            ("cpu.cfs_period_us", "50000"),
            ("cpu.cfs_quota_us", "20000"),
        ];
        if set(&old, &quota) {
            return Some(Self(old));
        }
        set(&new, &[("cpu.max", "20000 50000")]).then_some(Self(new))
    }
}

impl Drop for CpuQuota {
    fn drop(&mut self) {
        let _left = fs::remove_dir(&self.0);
    }
}

#[test]
fn process_that_uses_up_its_quota_gets_its_due() {
    let Some(quota) = CpuQuota::new() else {
        println!("SKIP: no group of processes can be made here");
        return;
    };
    run_bursts(
        10,
        ["4", "5000", "0", "600"],
        |jvm| jvm,
        |jvm| fs::write(quota.0.join("cgroup.procs"), jvm.pid().to_string()).unwrap(),
    )
    .assert_due();
}

/// It is woken by each probe that meets nobody, and works itself.
#[test]
fn main_thread_that_runs_java_gets_its_due() {
    fn on_main_thread(jvm: Jvm) -> Jvm {
        jvm.preload("main_thread")
    }
    run_bursts(10, ["0", "5000", "0", "2000"], on_main_thread, |_| {}).assert_due();
    run_bursts(10, ["0", "1000", "1000", "2000"], on_main_thread, |_| {}).assert_due();
}

/// The time slice of a thread of this name, the main one first, as the kernel tells it.
fn slice_ns(jvm: &RunningJvm, name: &str) -> Option<u64> {
    let tasks = PathBuf::from(format!("/proc/{}/task", jvm.pid()));
    let is_named = |task: &&PathBuf| {
        let found = fs::read_to_string(task.join("comm")).unwrap_or_default();
        found.trim_end() == name
    };
    let tasks: Vec<PathBuf> = fs::read_dir(tasks)
        .unwrap()
        .map(|t| t.unwrap().path())
        .collect();
    let task = tasks.iter().find(is_named).unwrap();
    let scheduling = fs::read_to_string(task.join("sched")).ok()?;
    let line = scheduling
        .lines()
        .find(|line| line.starts_with("se.slice"))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// While it waits for a CPU the kernel wakes other threads for the probes that meet nobody.
#[test]
fn main_thread_without_java_has_short_slices_while_probes_come() {
    for runs_java in [false, true] {
        let mut jvm = Jvm::alone(Jdk::main()).agent("").program("Target serve");
        if runs_java {
            jvm = jvm.preload("main_thread");
        }
        let jvm = jvm.start_ready();
        let before = slice_ns(&jvm, "java");
        jvm.agent_command_ok("start,file=app.jfr");
        let (prober, during) = (slice_ns(&jvm, "ctxagent prober"), slice_ns(&jvm, "java"));
        jvm.agent_command_ok("stop");
        println!("main thread {before:?}, {during:?} with the prober's {prober:?}");
        // Equal where the kernel knows no slices of threads (before Linux 6.12).
        assert_eq!(during, if runs_java { before } else { prober });
        assert_eq!(slice_ns(&jvm, "java"), before);
        jvm.end();
    }
}

#[test]
fn trial_finds_the_engine_and_status_and_recording_name_it() {
    // Where not even a thread gets a timer, that is what is said.
    const TEXTS: [&str; 2] = [
        "samples come on the kernel's tick",
        "no CPU timer for a thread",
    ];
    for (engine, limit, expected) in [
        ("auto", None, "percpu"),
        ("tick", None, "tick"),
        // No timer is left: the engine falls back, and says so.
        ("auto", Some(1), "tick"),
    ] {
        let test_dir = TestDir::new();
        let mut jvm = Jvm::new(Jdk::main(), &test_dir)
            .agent(&format!("start,engine={engine},file=app.jfr"))
            .program("InTurn 1 status");
        if let Some(limit) = limit {
            jvm = TEXTS.iter().fold(jvm, |jvm, text| jvm.may_warn(text));
            jvm = jvm.pending_signals(limit);
        }
        let run = jvm.run_ok();
        let told = format!("engine: {expected}\ninterval: 10 ms asked");
        assert_contains!(run.stdout, &told, "{engine} {limit:?}");
        let recording = test_dir.recording();
        let settings = recording.events("jdk.ActiveSetting");
        let engines = settings.iter().filter(|s| s.text("name") == Some("engine"));
        let named: Vec<_> = engines.filter_map(|s| s.text("value")).collect();
        assert_eq!(named, [expected]);
        let lines = run.agent_lines();
        let is_told = lines
            .iter()
            .any(|line| TEXTS.iter().any(|text| line.contains(text)));
        assert_eq!(is_told, limit.is_some(), "{lines:?}");
    }
}

#[test]
fn engine_that_cannot_work_refuses_the_start() {
    let run = Jvm::alone(Jdk::main())
        .agent("start,engine=percpu,file=app.jfr")
        .program("Hello 10")
        .pending_signals(1)
        .may_warn("engine=percpu: no timer for CPU 0 ")
        .run_ok();
    let lines = run.agent_lines();
    assert!(
        lines
            .iter()
            .any(|line| line.contains("engine=percpu: no timer")),
        "{lines:?}"
    );
}
