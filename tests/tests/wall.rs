//! Wall-clock samples: each thread's time, running or not, under its context, and what is asleep is
//! left asleep.

#![expect(clippy::cast_precision_loss, reason = "some hundred samples")]

use std::collections::BTreeMap;

use e2e::recording::{Event, Recording};
use e2e::{Jdk, Jvm, TestDir, record};

const WALL: &str = "profiler.WallClockSample";
const PERIOD_MILLIS: f64 = 20.0;

/// The recording, and how many milliseconds each label was on.
fn walls(jdk: Jdk, options: &str) -> (Recording, BTreeMap<String, f64>) {
    let (run, recording) = Jvm::recording(jdk, &format!("{options},ctx=label"))
        .program("Walls 4")
        .record_to_exit();
    assert_eq!(run.stderr_but_start(), "", "{jdk}");
    let line = |line: &str| {
        let (label, millis) = line.split_once(' ').unwrap();
        (label.to_owned(), millis.parse().unwrap())
    };
    (recording, run.stdout.lines().map(line).collect())
}

/// Samples by label and state.
fn by_label(events: &[Event]) -> BTreeMap<(String, String), i64> {
    let mut sums = BTreeMap::new();
    for event in events {
        let label = event.text("label").unwrap_or("-").to_owned();
        let state = event.text("state").unwrap_or("?").to_owned();
        *sums.entry((label, state)).or_insert(0) += event.number("samples").unwrap();
    }
    sums
}

#[test]
fn wall_clock_time_is_sampled_by_label() {
    for jdk in Jdk::all() {
        let (recording, truth) = walls(jdk, "event=wall,wall=20ms");
        let events = recording.events(WALL);
        let sums = by_label(&events);
        let totals = recording.totals();
        println!("{jdk}: {sums:?} {totals:?}");
        assert_eq!(truth.len(), 5, "{truth:?}");
        for (label, millis) in &truth {
            let of = |state: &str| {
                let key = (label.clone(), state.to_owned());
                sums.get(&key).copied().unwrap_or(0) as f64
            };
            let (asleep, awake) = (of("STATE_SLEEPING"), of("STATE_RUNNABLE"));
            let seen = (asleep + awake) * PERIOD_MILLIS;
            // One visit at either end may be in or out; a late one stands for what was missed
            // before it, unless the thread has ended by then.
            let late = totals["wall.missed"] as f64 / totals["wall.scheduled"] as f64;
            assert!(
                (seen - millis).abs() < millis * (0.1 + late),
                "{jdk} {label}: {seen} ms of {millis}"
            );
            let right = if label == "busy" { awake } else { asleep };
            let events = events.iter().filter(|e| e.text("label") == Some(label));
            let mut states = events.map(|e| e.text("state"));
            let expected = if label == "busy" {
                "STATE_RUNNABLE"
            } else {
                "STATE_SLEEPING"
            };
            // On a busy machine a thread that goes to sleep may be found waiting for a CPU,
            // for as long as that takes.
            assert!(
                right >= 0.9 * (asleep + awake)
                    || totals["wall.missed"] * 10 > totals["wall.scheduled"],
                "{jdk} {label}: {asleep} asleep, {awake} awake"
            );
            assert!(states.any(|s| s == Some(expected)), "{label}");
        }
        assert_eq!(
            totals["wall.scheduled"],
            totals["wall.sent"]
                + totals["wall.repeated"]
                + totals["wall.unlabelled"]
                + totals["wall.pending"]
                + totals["wall.exited"]
                + totals["wall.missed"]
        );
        assert_eq!(
            totals["wall.signals"],
            totals["wall.written"]
                + totals["wall.lost"]
                + totals["wall.filtered"]
                + totals["wall.no_context"]
        );
        assert_eq!(totals["wall.repeats_lost"], 0);
        // Five of the six threads sleep all the time: signals wake them a few times, not 200.
        assert!(
            totals["wall.repeated"] > 2 * totals["wall.sent"],
            "sleeping threads were woken: {} signals, {} repeats",
            totals["wall.sent"],
            totals["wall.repeated"]
        );
        assert_eq!(totals["signals"], 0, "no CPU samples were asked for");
    }
}

/// Threads that have slept for half a second and more: one look stands for many visits, and no time
/// is lost.
#[test]
fn long_sleepers_are_probed_rarely() {
    let (run, recording) = Jvm::alone(Jdk::main())
        .agent("")
        .program("Idle 100 1000 start,event=wall,wall=2ms,file=app.jfr")
        .record_to_exit();
    let growth = |name: &str| {
        let counts = run.numbers(&format!("{name}: "));
        counts[1] - counts[0]
    };
    let (due, looks) = (growth("wall.scheduled"), growth("wall.probes"));
    println!("{looks} looks for {due} visits");
    assert!(looks * 5 < due, "{looks} looks for {due} visits");
    let sums = by_label(&recording.events(WALL));
    let totals = recording.totals();
    let idle = sums[&("idle".to_owned(), "STATE_SLEEPING".to_owned())];
    println!("{sums:?} {totals:?}");
    let written = totals["wall.written"] + totals["wall.repeats_written"];
    assert_eq!(sums.values().sum::<i64>(), written);
    // A hundred of about a hundred and ten Java threads.
    assert!(idle * 10 > totals["wall.scheduled"] * 8, "{idle}");
    assert!(totals["wall.left_out"] * 100 < totals["wall.scheduled"]);
}

/// Each event stands for those that were left out, those that only count again among them.
#[test]
fn rate_limit_keeps_sum_of_samples() {
    let (_, recording) = record(
        Jdk::main(),
        "event=wall,wall=2ms,ratelimit=wall:20,ctx=label",
        "Walls 4",
    );
    let events = recording.events(WALL);
    let totals = recording.totals();
    let written: i64 = events.iter().map(|e| e.number("samples").unwrap()).sum();
    let due = totals["wall.scheduled"]
        - totals["wall.unlabelled"]
        - totals["wall.exited"]
        - totals["wall.left_out"];
    println!(
        "{} events of {written} samples, {due} due: {totals:?}",
        events.len()
    );
    assert!(totals["wall.ratelimited"] > 0, "{totals:?}");
    // What was cut short at either end; signals that were on their way at the end.
    assert!(
        written.abs_diff(due) * 10 < due.unsigned_abs(),
        "{written} of {due}"
    );
}

/// Timers use up the room for signals as well: the kernel delivers each of ours all the same,
/// without the value that tells that it is ours.
#[test]
fn wall_clock_samples_without_signal_queue() {
    let (run, recording) = Jvm::recording(Jdk::main(), "event=wall,wall=20ms,ctx=label")
        .program("Walls 2")
        .pending_signals(0)
        .record();
    assert_eq!(run.agent_lines(), [""; 0]);
    let sums = by_label(&recording.events(WALL));
    let totals = recording.totals();
    println!("{sums:?} {totals:?}");
    for label in ["sleep", "park", "monitor", "read", "busy"] {
        let millis = run.numbers(&format!("{label} "))[0] as f64;
        let of_label = sums.iter().filter(|((of, _), _)| of == label);
        let seen = of_label.map(|(_, samples)| *samples as f64).sum::<f64>() * PERIOD_MILLIS;
        let late = totals["wall.missed"] as f64 / totals["wall.scheduled"] as f64;
        // As above, and a visit at either end.
        let allowed = millis * (0.1 + late) + 2.0 * PERIOD_MILLIS;
        let error = (seen - millis).abs();
        assert!(
            error < allowed,
            "{label}: {seen} ms of {millis} ms: {sums:?}"
        );
    }
    assert_eq!(totals["signals.foreign"], 0);
    assert_eq!(
        totals["wall.signals"],
        totals["wall.written"]
            + totals["wall.lost"]
            + totals["wall.filtered"]
            + totals["wall.no_context"]
    );
}

/// Whether a thread is inside a system call is seen from its code, for which our own walker's loads
/// are there whoever walks.
#[test]
fn thread_in_system_call_is_asleep_with_any_walker() {
    for cstack in ["no", "asgct"] {
        let options = format!("event=wall,wall=20ms,cstack={cstack}");
        let (recording, truth) = walls(Jdk::main(), &options);
        let sums = by_label(&recording.events(WALL));
        let of = |state: &str| {
            let key = ("read".to_owned(), state.to_owned());
            sums.get(&key).copied().unwrap_or(0)
        };
        let (asleep, awake) = (of("STATE_SLEEPING"), of("STATE_RUNNABLE"));
        println!("{cstack}: {asleep} asleep, {awake} awake");
        assert!(truth.contains_key("read") && asleep > awake, "{sums:?}");
    }
}

#[test]
fn wallthreads_context_samples_only_threads_with_context() {
    for jdk in Jdk::all() {
        let options = "event=wall+cpu,wall=20ms,wallthreads=context";
        let (recording, _) = walls(jdk, options);
        let events = recording.events(WALL);
        assert!(!events.is_empty());
        let unlabelled: Vec<&Event> = events
            .iter()
            .filter(|e| e.text("label").is_none())
            .collect();
        assert_eq!(unlabelled.len(), 0, "{:?}", unlabelled.first());
        let totals = recording.totals();
        assert!(totals.get("wall.unlabelled").is_some_and(|n| *n > 100));
        let cpu = recording.samples();
        assert!(cpu.iter().any(|e| e.text("label") == Some("busy")));
    }
}

/// Another profiler has the signal until that is noticed, or for so short that only the threads
/// know whose signals it met.
#[test]
fn sampling_resumes_when_handler_is_restored() {
    for jdk in Jdk::all() {
        for until in ["TAKEN", "MET"] {
            taken_back(jdk, until);
        }
    }
}

fn taken_back(jdk: Jdk, until: &str) {
    let (run, recording) =
        Jvm::recording(jdk, "event=wall,wall=50ms,wallthreads=context,ctx=label")
            .program(&format!("WallTakenBack {until}"))
            .may_warn("something else has taken signal 26; ")
            .may_warn("signal 26 is ours again")
            .record_to_exit();
    let lines = run.agent_lines();
    let told = [
        "something else has taken signal 26; no more wall-clock samples are taken",
        "signal 26 is ours again",
    ];
    let mut in_turn = told.iter().cycle().zip(&lines);
    assert!(in_turn.all(|(text, line)| line.contains(text)), "{lines:?}");
    // A moment may have been noticed, too.
    let are_all = lines.len() == 2 || until == "MET" && lines.len().is_multiple_of(2);
    assert!(are_all, "{lines:?}");
    let state: Vec<_> = run.lines_after("state: ").collect();
    assert_eq!(state, ["recording"], "{until}");
    let totals = recording.totals();
    println!("{jdk} {until}: {totals:?}");
    assert_eq!(
        totals["wall.signals"],
        totals["wall.written"]
            + totals["wall.lost"]
            + totals["wall.filtered"]
            + totals["wall.no_context"]
    );
}

/// Virtual threads that wait for a known time each, `depth` calls below their task.
struct Unmounted {
    jdk: Jdk,
    test_dir: TestDir,
    /// Milliseconds that the threads of each label waited.
    waited: BTreeMap<String, f64>,
    events: Vec<Event>,
}

const PERIOD_OF_UNMOUNTED: f64 = 10.0;

impl Unmounted {
    const DEPTH: usize = 12;

    fn run(jdk: Jdk, flags: &[&str], kinds: &[&str]) -> Self {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir).agent("start,event=wall,wall=10ms,file=app.jfr");
        let jvm = flags.iter().fold(jvm, |jvm, flag| jvm.flag(flag));
        let depth = Self::DEPTH.to_string();
        let arguments = [&["25", &depth, "3000"], kinds].concat();
        let run = jvm.main("Unmounted", &arguments).stop_recording_at_end();
        let run = run.run_ok();
        let line = |line: &str| {
            let (label, millis) = line.split_once(' ').unwrap();
            (label.to_owned(), millis.parse().unwrap())
        };
        let waited = run.stdout.lines().map(line).collect();
        let events = test_dir.recording().events(WALL);
        Self {
            jdk,
            test_dir,
            waited,
            events,
        }
    }

    /// Events of a label in a state.
    fn in_state<'a>(&'a self, label: &'a str, state: &'a str) -> impl Iterator<Item = &'a Event> {
        let is_wanted = move |event: &&Event| {
            event.text("label") == Some(label) && event.text("state") == Some(state)
        };
        self.events.iter().filter(is_wanted)
    }

    /// Whether the time that a label waited in `state` is right: four standard deviations of as
    /// many independent samples, which is more than those have that are evenly spread.
    fn assert_waits(&self, label: &str, state: &str) {
        let (mut millis, mut events) = (0.0, 0.0_f64);
        for event in self.in_state(label, state) {
            millis += event.number("samples").unwrap() as f64 * PERIOD_OF_UNMOUNTED;
            events += 1.0;
        }
        let expected = self.waited[label];
        println!(
            "{} {label}: {millis} of {expected} ms, {events} samples",
            self.jdk
        );
        assert!(events > 50.0, "{label}: {events} samples");
        assert!(
            (millis - expected).abs() < expected * 4.0 / events.sqrt(),
            "{} {label}: {millis} of {expected} ms in {events} samples",
            self.jdk
        );
    }

    /// Whether all but one in fifty stacks of a label are whole, and none has another call.
    fn assert_stacks(&self, label: &str, state: &str) {
        let (mut whole, mut all) = (0, 0);
        for event in self.in_state(label, state) {
            all += 1;
            let frames = event.frames();
            // A pause of the VM can meet a thread that is being mounted: the frames are the carrier's.
            let is_mounting = frames
                .iter()
                .any(|f| f == "jdk.internal.vm.Continuation.run");
            if event.is_truncated().unwrap() || frames.len() == 1 || is_mounting {
                continue;
            }
            whole += 1;
            let calls = frames.iter().filter(|f| *f == "Unmounted.descend");
            assert_eq!(calls.count(), Self::DEPTH + 1, "{label}: {frames:?}");
            let is_run = |frame: &String| frame == "java.lang.VirtualThread.run";
            assert!(frames.iter().any(is_run), "{label}: {frames:?}");
        }
        println!("{} {label}: {whole} of {all} whole", self.jdk);
        assert!(whole * 50 >= all * 49, "{label}: {whole} of {all} whole");
    }
}

#[test]
fn virtual_threads_that_wait_are_sampled_by_label_and_state() {
    let waits = [
        ("sleep", "STATE_SLEEPING"),
        ("queue", "STATE_PARKED_TIMED"),
        ("park", "STATE_PARKED"),
        // Up to 23 these hold their carrier.
        ("monitor", "STATE_BLOCKED_ON_MONITOR_ENTER"),
        ("notify", "STATE_IN_OBJECT_WAIT"),
    ];
    for jdk in Jdk::all().into_iter().filter(|jdk| jdk.version >= 21) {
        let waits = if jdk.version < 24 {
            &waits[..3]
        } else {
            &waits
        };
        let kinds: Vec<&str> = waits.iter().map(|(kind, _)| *kind).collect();
        let run = Unmounted::run(jdk, &[], &kinds);
        for (label, state) in waits {
            run.assert_waits(label, state);
            run.assert_stacks(label, state);
        }
        let totals = run.test_dir.recording().totals();
        assert_eq!(
            totals["wall.unmounted"],
            totals["wall.unmounted.written"] + totals["wall.unmounted.changed"]
        );
    }
}

/// One carrier, one thread that computes and lets others run in between.
#[test]
fn time_without_a_carrier_is_told() {
    for jdk in Jdk::all().into_iter().filter(|jdk| jdk.version >= 21) {
        let flags = [
            "-Djdk.virtualThreadScheduler.parallelism=1",
            "-Djdk.virtualThreadScheduler.maxPoolSize=1",
        ];
        let run = Unmounted::run(jdk, &flags, &["carrier", "busy"]);
        run.assert_waits("carrier", "STATE_WAITING_FOR_CARRIER");
    }
}

/// Other profilers' readers know one setting of a name in a file, and take periods for numbers of
/// nanoseconds.
#[test]
fn settings_name_profile_kind_and_periods() {
    let interval = ("interval", "5000000");
    let wall = ("wall", "20000000");
    for (options, expected) in [
        ("event=cpu", vec![("event", "cpu"), interval]),
        (
            "event=cpu+wall,wall=20ms",
            vec![("event", "cpu"), interval, wall],
        ),
        (
            "event=wall,wall=20ms",
            vec![("event", "wall"), interval, wall],
        ),
        ("event=alloc+lock", vec![("event", "alloc"), interval]),
    ] {
        let (_, recording) = record(
            Jdk::main(),
            &format!("{options},interval=5ms"),
            "Target burn 1 100",
        );
        let settings = recording.events("jdk.ActiveSetting");
        let told = settings
            .iter()
            .map(|event| (event.text("name").unwrap(), event.text("value").unwrap()))
            .filter(|(name, _)| ["event", "interval", "wall"].contains(name));
        assert_eq!(told.collect::<Vec<_>>(), expected, "{options}");
    }
}
