//! `pause` and `resume`: nothing is sampled in between, everything before and after.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]
#![expect(
    clippy::cast_precision_loss,
    reason = "some hundred milliseconds in nanoseconds"
)]

use std::collections::BTreeMap;

use e2e::process::Finished;
use e2e::recording::weights_by;
use e2e::{Jdk, Jvm, Recording, Room};

const INTERVAL_NANOS: f64 = 5e6;
const OTHERS: &str = "profiler.WallClockSample,jdk.ObjectAllocationSample";

fn run(jdk: Jdk, room: &Room) -> Finished {
    let options = "event=cpu+wall+alloc,interval=5ms,wall=20ms,alloc=2m,ctx=label,file=app.jfr";
    let run = Jvm::new(jdk, room)
        .agent("")
        .main("Paused", &[options])
        .run()
        .success();
    assert_eq!(run.stderr, "", "JDK {}", jdk.version);
    run
}

/// CPU samples of each label, in nanoseconds.
fn nanos_by_label(recording: &Recording) -> BTreeMap<String, f64> {
    let weights = weights_by(&recording.samples(Jdk::main()), "label");
    let nanos = |weight: i64| weight as f64 * INTERVAL_NANOS;
    weights
        .into_iter()
        .filter_map(|(label, weight)| Some((label?, nanos(weight))))
        .collect()
}

#[test]
fn a_pause_takes_no_samples_and_all_others_are_there() {
    for jdk in Jdk::all() {
        let room = Room::new();
        let run = run(jdk, &room);
        let recording = Recording::new(room.file("app.jfr"));
        let seen = nanos_by_label(&recording);
        println!("JDK {}: {seen:?}", jdk.version);
        for label in ["before", "after", "born"] {
            let truth = run.numbers(&format!("{label} "))[0] as f64;
            let error = (seen[label] - truth).abs();
            // One sample point per interval; the first and the last interval are partly outside.
            assert!(
                error <= 2.0 * INTERVAL_NANOS + truth / 20.0,
                "{label}: {truth}"
            );
        }
        assert!(!seen.contains_key("paused"), "{seen:?}");
        let others = recording.events(Jdk::main(), OTHERS);
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
        assert_eq!(recording.totals(Jdk::main())["state.paused"], 1);
        recording.accounted_for(Jdk::main());
    }
}

#[test]
fn commands_answer_in_every_state() {
    let room = Room::new();
    let run = run(Jdk::main(), &room);
    for line in [
        "the recording is not paused",
        "paused; recording is ",
        "the recording is paused already",
        "state: paused",
        "dumped to ",
        "resumed; recording is ",
        "stopped; recording is ",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    let refused: Vec<_> = run.told("refused: ").collect();
    assert_eq!(refused, ["no recording is running"; 2]);
    let dumped = nanos_by_label(&Recording::new(room.file("paused.jfr")));
    assert_eq!(dumped.keys().collect::<Vec<_>>(), ["before"]);
    let second = Recording::new(room.file("second.jfr"));
    assert_eq!(nanos_by_label(&second), BTreeMap::new());
    second.accounted_for(Jdk::main());
}
