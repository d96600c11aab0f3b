//! `pause` and `resume`: nothing is sampled in between, everything before and after.

#![expect(
    clippy::cast_precision_loss,
    reason = "some hundred milliseconds in nanoseconds"
)]

use std::collections::BTreeMap;

use e2e::process::ProcessOutput;
use e2e::recording::weights_by;
use e2e::{Jdk, Jvm, Recording, TestDir, assert_contains};

const INTERVAL_NANOS: f64 = 5e6;
const OTHERS: &str = "profiler.WallClockSample,jdk.ObjectAllocationSample";

fn run(jdk: Jdk, test_dir: &TestDir) -> ProcessOutput {
    let options = "event=cpu+wall+alloc,interval=5ms,wall=20ms,alloc=2m,ctx=label,file=app.jfr";
    let run = Jvm::new(jdk, test_dir)
        .agent("")
        .main("Paused", &[options])
        .run_ok();
    assert_eq!(run.stderr_but_start(), "", "{jdk}");
    run
}

/// CPU samples of each label, in nanoseconds.
fn nanos_by_label(recording: &Recording) -> BTreeMap<String, f64> {
    let weights = weights_by(&recording.samples(), "label");
    let nanos = |weight: i64| weight as f64 * INTERVAL_NANOS;
    weights
        .into_iter()
        .filter_map(|(label, weight)| Some((label?, nanos(weight))))
        .collect()
}

#[test]
fn no_samples_while_paused() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = run(jdk, &test_dir);
        let recording = Recording::new(test_dir.file("app.jfr"));
        let seen = nanos_by_label(&recording);
        println!("{jdk}: {seen:?}");
        for label in ["before", "after", "born"] {
            let truth = run.numbers(&format!("{label} "))[0] as f64;
            let error = (seen[label] - truth).abs();
            // Samples come at random instants: the deviation of n of them is the root of n. CPU
            // time of the pause that came to a label would be as much again.
            let deviation = (truth * INTERVAL_NANOS).sqrt();
            assert!(
                error <= truth / 4.0 + 4.0 * deviation,
                "{label}: {truth} +- {deviation}, {seen:?}"
            );
        }
        assert!(!seen.contains_key("paused"), "{seen:?}");
        let others = recording.events(OTHERS);
        let of = |label: &str| {
            let is = |kind: &str| {
                let found = others
                    .iter()
                    .filter(|e| e.kind == kind && e.text("label") == Some(label));
                found.count()
            };
            OTHERS.split(',').map(is).collect::<Vec<_>>()
        };
        println!("{:?} {:?} {:?}", of("before"), of("paused"), of("after"));
        assert_eq!(of("paused"), [0, 0]);
        for label in ["before", "after", "born"] {
            assert!(of(label).iter().all(|n| *n > 3), "{label}: {:?}", of(label));
        }
        assert_eq!(recording.totals()["state.paused"], 1);
        recording.reconcile();
    }
}

/// Also of a wait that goes beyond one end of the pause or both: its length is not known.
#[test]
fn no_contention_or_gc_events_while_paused() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let (run, recording) = Jvm::alone(jdk)
            .flag("-XX:+UseSerialGC")
            // Three that are held wait at once on 21, and one that goes on.
            .flag("-Djdk.virtualThreadScheduler.parallelism=4")
            .agent("")
            .program(&format!(
                "PausedWaits {kind} event=cpu,lock=1ms,ctx=label,file=app.jfr"
            ))
            .record_to_exit();
        assert_eq!(run.stderr_but_start(), "", "{jdk} {kind}");
        let mut waits = BTreeMap::new();
        for event in recording.events("jdk.JavaMonitorEnter") {
            if let Some(label) = event.text("label") {
                *waits.entry(label.to_owned()).or_insert(0) += 1;
            }
        }
        println!("{jdk} {kind}: {waits:?}");
        assert_eq!(waits.keys().collect::<Vec<_>>(), ["after", "before"]);
        assert!(waits.values().all(|n| *n >= 3), "{waits:?}");
        let pauses = recording.events("jdk.GCPhasePause").len() as u64;
        let bounds = run.numbers("collections ");
        println!("{pauses} collections of {bounds:?}");
        assert!(bounds[0] > 0 && (bounds[0]..=bounds[1]).contains(&pauses));
        let totals = recording.totals();
        let waits = totals["lock.written"] + totals["lock.short"];
        assert_eq!(totals["lock.seen"], waits, "{totals:?}");
        assert!(totals["lock.before"] >= 2, "across and ended: {totals:?}");
        assert_eq!(totals["gc.seen"], totals["gc.written"], "{totals:?}");
    }
}

#[test]
fn commands_answer_in_every_state() {
    let test_dir = TestDir::new();
    let run = run(Jdk::main(), &test_dir);
    for line in [
        "the recording is not paused",
        "paused; recording is ",
        "the recording is paused already",
        "state: paused",
        "dumped to ",
        "resumed; recording is ",
        "stopped; recording is ",
    ] {
        assert_contains!(run.stdout, line, "{line}");
    }
    let refused: Vec<_> = run.lines_after("refused: ").collect();
    assert_eq!(refused, ["no recording is running"; 2]);
    let dumped = nanos_by_label(&Recording::new(test_dir.file("paused.jfr")));
    assert_eq!(dumped.keys().collect::<Vec<_>>(), ["before"]);
    let second = Recording::new(test_dir.file("second.jfr"));
    assert_eq!(nanos_by_label(&second), BTreeMap::new());
    second.reconcile();
}

/// Something else takes a signal of the recording, as another profiler would: works until `status`
/// has this state and for a second after that, then tries a pause and a resume, and stops. Also how
/// many signals it met until then and after that.
fn replaced(jvm: Jvm, signal: &str, state: &str) -> (ProcessOutput, Recording, [u64; 2]) {
    let [take, until] = [format!("take {signal}"), format!("until state: {state}")];
    let work = [&*take, &until, "met", "burn 1000", "met"];
    let script = [&work[..], &["pause", "status", "resume", "stop"]].concat();
    let (run, recording) = jvm.main("Script", &script).record_to_exit();
    let met = run.lines_after("met ").map(|n| n.parse().unwrap());
    let met: Vec<u64> = met.collect();
    println!("{}", run.stdout);
    (run, recording, [met[0], met[1] - met[0]])
}

/// Another profiler takes a signal while we record: our signals must not meet its action for long,
/// and a resume must not send them again.
#[test]
fn replaced_handler_is_left_alone() {
    for (signal, number, event, state) in [
        (
            "PROF",
            27,
            "cpu",
            "off (another owner has taken the signal)",
        ),
        (
            "VTALRM",
            26,
            "cpu+wall",
            "degraded (another owner has taken the wall-clock signal)",
        ),
    ] {
        let jvm = Jvm::recording(Jdk::main(), &format!("event={event},interval=5ms"))
            .may_warn(&format!("something else has taken signal {number}; "));
        let (run, recording, [_, later]) = replaced(jvm, signal, state);
        // 200 samples were due. Some may have been on their way.
        assert!(later < 20, "{signal}: {}", run.stdout);
        let taken = format!("something else has taken signal {number}");
        let lines = run.agent_lines();
        assert!(lines.len() == 1 && lines[0].contains(&taken), "{lines:?}");
        let told: Vec<_> = run.lines_after("state: ").collect();
        assert_eq!(told, [format!("{state}; paused")], "{signal}");
        let refused: Vec<_> = run.lines_after("refused: ").collect();
        assert!(
            refused.len() == 1 && refused[0].starts_with(&taken),
            "{refused:?}"
        );
        assert_contains!(run.stdout, "stopped; recording is ");
        recording.reconcile();
        // Who reads the file learns that most of the CPU time is missing; the samples for the wall
        // clock are accounted for by themselves.
        let check = recording.ctxjfr(&["check", "FILE"]);
        println!("{}", check.stdout);
        let is_cpu = event == "cpu";
        assert_eq!(check.code, Some(i32::from(is_cpu)), "{}", check.stdout);
        assert_eq!(check.stdout.contains("not sampled for "), is_cpu);
        let summary = recording.ctxjfr(&["summary", "FILE"]).success();
        assert_eq!(summary.stdout.contains("not sampled for "), is_cpu);
    }
}

/// Timers per CPU come once; periodic ones would go on, to an action that does not know them.
#[test]
fn periodic_timers_end_when_handler_is_replaced() {
    let state = "off (another owner has taken the signal)";
    let jvm = Jvm::recording(Jdk::main(), "engine=tick,interval=5ms")
        .may_warn("something else has taken signal 27; ");
    let (.., met) = replaced(jvm, "PROF", state);
    assert!(met[0] > 0 && met[1] < 20, "{met:?}");
}

/// Something else has the signal of the samples for a moment. The main thread works all the time,
/// another one in bursts; both are sampled as before for a while.
const TAKE_BACK: [&str; 7] = [
    "bursts",
    "written 20",
    "take PROF",
    // Each timer that is armed comes meanwhile.
    "burn 30",
    "give",
    "written 300",
    "stop",
];

/// What the agent says of a moment that it noticed.
const TAKEN_BACK: [&str; 2] = [
    "has taken signal 27; sampling has stopped",
    "signal 27, which something else had taken, is ours again",
];

/// Timers that are due meanwhile come once only, to the other owner.
#[test]
fn sampling_resumes_when_handler_is_restored() {
    for jdk in Jdk::all() {
        let (run, recording) = Jvm::recording(jdk, "interval=2ms")
            .main("Script", &TAKE_BACK)
            .may_warn(TAKEN_BACK[0])
            .may_warn(TAKEN_BACK[1])
            .record_to_exit();
        assert_contains!(run.stdout, "stopped; recording is ");
        // A moment is not reported. A longer one, on a machine without time, is noticed at its
        // begin or only when it is over.
        let warnings = TAKEN_BACK.map(|text| {
            run.agent_lines()
                .into_iter()
                .filter(|line| line.contains(text))
                .count()
        });
        assert!(
            matches!(warnings, [0 | 1, 0 | 1]) && warnings[0] <= warnings[1],
            "{}",
            run.stderr
        );
        let (totals, samples) = recording.reconcile();
        println!("{} samples, {totals:?}", samples.len());
        let check = recording.ctxjfr(&["check", "FILE"]);
        println!("{}", check.stdout);
        let is_found = check.stdout.contains("not sampled for ");
        let is_noticed = totals["signal.lost"] > 0;
        let is_said = check.stdout.contains("(signal.lost)");
        assert_eq!(is_said, is_noticed, "{}", check.stdout);
        assert_eq!(check.code, Some(i32::from(is_found)), "{}", check.stdout);
    }
}

/// Beside another profiler on SIGPROF allocations go on, paused or not: they need no signal.
#[test]
fn recording_without_signal_ignores_its_owner() {
    let jvm = Jvm::recording(Jdk::main(), "event=alloc,alloc=256k");
    let (run, ..) = replaced(jvm, "PROF", "recording");
    assert_eq!(run.agent_lines(), [""; 0]);
    assert_contains!(run.stdout, "resumed; recording is ");
}
