//! Parks and exceptions carry the context of their thread and add up to what happened.

#![expect(
    clippy::cast_precision_loss,
    reason = "some hundred thousand exceptions"
)]

use std::collections::BTreeMap;

use e2e::recording::{Event, Recording};
use e2e::{Jdk, Jvm, TestDir};

const PARK: &str = "jdk.ThreadPark";
const EXCEPTION: &str = "jdk.JavaExceptionThrow";
/// Shortest park that the recordings want.
const THRESHOLD_NANOS: i64 = 10_000_000;

fn output(jdk: Jdk, test_dir: &TestDir, options: &str, main: (&str, &[&str])) -> String {
    let run = Jvm::new(jdk, test_dir)
        .flag("-Djdk.virtualThreadScheduler.parallelism=4")
        .agent(&format!("start,{options},file=app.jfr,ctx=label"))
        .main(main.0, main.1)
        .run_ok();
    assert_eq!(run.stderr_but_start(), "", "{jdk}");
    assert!(!run.stdout.contains("[warning]"), "{jdk}: {}", run.stdout);
    run.stdout
}

/// The numbers behind the words that begin lines.
fn numbers(stdout: &str) -> BTreeMap<&str, i64> {
    let pairs = stdout.lines().filter_map(|line| line.split_once(' '));
    pairs
        .filter_map(|(word, number)| Some((word, number.parse().ok()?)))
        .collect()
}

fn labelled<'e>(events: &'e [Event], label: &str) -> Vec<&'e Event> {
    let of_label = |event: &&Event| event.text("label") == Some(label);
    events.iter().filter(of_label).collect()
}

fn count(events: &[&Event]) -> i64 {
    i64::try_from(events.len()).unwrap()
}

fn weights(events: &[&Event]) -> i64 {
    events
        .iter()
        .filter_map(|event| event.number("weight"))
        .sum()
}

fn assert_balanced(recording: &Recording, kind: &str) {
    let totals = recording.totals();
    let get = |what: &str| totals.get(&format!("{kind}.{what}")).copied().unwrap_or(0);
    let became: i64 = ["written", "filtered", "ratelimited", "lost"]
        .map(get)
        .iter()
        .sum();
    assert!(get("seen") > 0, "{totals:?}");
    assert_eq!(get("seen"), became, "{totals:?}");
}

/// The class that a park of this label waits for, and a method on its stack.
const CAUSES: [(&str, Option<&str>, &str); 4] = [
    (
        "lock",
        Some("java/util/concurrent/locks/ReentrantLock$NonfairSync"),
        "java.util.concurrent.locks.ReentrantLock.lock",
    ),
    (
        "queue",
        Some("java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject"),
        "Waits.awaitElement",
    ),
    (
        "future",
        Some("java/util/concurrent/CompletableFuture$Signaller"),
        "java.util.concurrent.CompletableFuture.get",
    ),
    ("bare", None, "Waits.parkFor"),
];

#[test]
fn parks_have_label_class_and_time_of_what_waited() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let test_dir = TestDir::new();
        let stdout = output(
            jdk,
            &test_dir,
            "event=+park,ratelimit=park:1000000",
            ("Waits", &[kind]),
        );
        let counts = numbers(&stdout);
        let recording = test_dir.recording();
        let events = recording.events(PARK);
        println!("{jdk} {kind}: {} parks, {counts:?}", events.len());
        for (label, class, method) in CAUSES {
            let ours = labelled(&events, label);
            assert_eq!(count(&ours), counts[label], "{jdk} {kind} {label}");
            assert_eq!(weights(&ours), counts[label], "{jdk} {kind} {label}");
            for event in ours {
                assert_eq!(event.class("parkedClass"), class, "{:?}", event.values);
                let frames = event.frames();
                assert!(frames.iter().any(|frame| frame == method), "{frames:?}");
                let own = |frame: &String| frame.contains("EventEntry");
                assert!(!frames.iter().any(own), "{frames:?}");
                assert!(
                    event.duration_nanos() >= THRESHOLD_NANOS,
                    "{:?}",
                    event.values
                );
            }
        }
        assert!(count(&labelled(&events, "brief")) <= counts["brief"]);
        if kind == "virtual" {
            assert!(
                counts["moved"] > 0,
                "no thread went on with another carrier"
            );
        }
        assert_lies_within(&events, &stdout);
        assert_balanced(&recording, "park");
    }
}

/// Each park lies where the program saw it, whatever the clocks of both are apart.
fn assert_lies_within(events: &[Event], stdout: &str) {
    const ROUNDING: i64 = 20_000;
    let (mut least, mut most) = (i64::MIN, i64::MAX);
    for (label, ..) in CAUSES {
        let mut spans: Vec<(i64, i64)> = labelled(events, label)
            .iter()
            .map(|event| {
                (
                    event.start_nanos(),
                    event.start_nanos() + event.duration_nanos(),
                )
            })
            .collect();
        let mut seen: Vec<(i64, i64)> = stdout
            .lines()
            .filter_map(|line| line.strip_prefix(&format!("park {label} ")))
            .filter_map(|times| times.split_once(' '))
            .map(|(begin, end)| (begin.parse().unwrap(), end.parse().unwrap()))
            .collect();
        // Some threads do the same at a time: what begins first need not end first.
        spans.sort_unstable();
        seen.sort_unstable();
        for (span, seen) in spans.iter().zip(&seen) {
            most = most.min(span.0 - seen.0);
        }
        spans.sort_unstable_by_key(|span| span.1);
        seen.sort_unstable_by_key(|seen| seen.1);
        for (span, seen) in spans.iter().zip(&seen) {
            least = least.max(span.1 - seen.1);
        }
    }
    println!("the clocks are {least} to {most} ns apart");
    assert!(least <= most + ROUNDING, "{least} {most}");
}

#[test]
fn exceptions_have_label_class_and_stack_of_their_creation() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let test_dir = TestDir::new();
        let options = "event=+exception,ratelimit=exception:1000000";
        let stdout = output(jdk, &test_dir, options, ("Failures", &[kind, "500", "0"]));
        let counts = numbers(&stdout);
        let recording = test_dir.recording();
        let events = recording.events(EXCEPTION);
        for label in ["seventy", "thirty"] {
            let ours = labelled(&events, label);
            assert_eq!(weights(&ours), counts[label], "{jdk} {kind} {label}");
            for event in ours {
                assert_eq!(event.class("thrownClass"), Some("Failures$Failure"));
                let frames = event.frames();
                assert_eq!(frames[0], "java.lang.Throwable.fillInStackTrace");
                let creator = frames.iter().find(|frame| frame.starts_with("Failures."));
                assert_eq!(
                    creator.map(String::as_str),
                    Some("Failures.create"),
                    "{frames:?}"
                );
            }
        }
        assert_balanced(&recording, "exception");
    }
}

/// Far more than are recorded: some stand for the others.
#[test]
fn many_exceptions_cost_few_events_and_keep_their_sums() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let main = ("Failures", ["platform", "200000", "2"]);
        let stdout = output(jdk, &test_dir, "event=+exception", (main.0, &main.1));
        let counts = numbers(&stdout);
        let recording = test_dir.recording();
        let events = recording.events(EXCEPTION);
        let [seventy, thirty] = ["seventy", "thirty"].map(|label| labelled(&events, label));
        let (all, came) = (
            weights(&seventy) + weights(&thirty),
            counts["seventy"] + counts["thirty"],
        );
        let ours = count(&seventy) + count(&thirty);
        let share = weights(&seventy) as f64 / all as f64;
        let total = all as f64 / came as f64;
        println!("{jdk}: {ours} events of {came}, total {total:.3}, share {share:.3}");
        // Each event of weight w stands for w picks of probability 1/w: its variance is w * (w - 1).
        let variance: i64 = seventy
            .iter()
            .chain(&thirty)
            .filter_map(|event| event.number("weight"))
            .map(|weight| weight * (weight - 1))
            .sum();
        let deviation = (variance as f64).sqrt() / came as f64;
        assert!(
            (total - 1.0).abs() <= 5.0 * deviation,
            "{total} {deviation}"
        );
        assert!(
            (share - 0.7).abs() <= 5.0 * deviation,
            "{share} {deviation}"
        );
        assert!(ours * 10 < came, "{ours} of {came}");
        assert_balanced(&recording, "exception");
    }
}
