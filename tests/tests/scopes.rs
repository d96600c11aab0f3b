//! Scopes that took long are events of the recording, each with what changed in it unseen
//! (`scopes`).

#![expect(clippy::cast_precision_loss, reason = "nanoseconds of some minutes")]

use e2e::recording::{Event, Recording};
use e2e::{Jdk, Jvm, TestDir, assert_contains};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// Any value may have changed.
const ALL: i64 = 0xffff;
/// Bit of an attribute that was put.
const PUT: u32 = 8;
const SCOPE: i64 = 1;
const A: i64 = 1 << 1;
const B: i64 = 1 << 2;
const TASK: i64 = 0xff;

/// Scopes by the value at their end: the slots that each set, and those that changed.
fn by_value(events: &[Event]) -> BTreeMap<&str, Vec<(i64, i64)>> {
    let mut scopes: BTreeMap<&str, Vec<(i64, i64)>> = BTreeMap::new();
    for event in events {
        let value = event.text("scope").unwrap();
        let (slots, changed) = (event.number("slots"), event.number("changed"));
        let entry = scopes.entry(value).or_default();
        entry.push((slots.unwrap(), changed.unwrap()));
        assert!(event.number("endNanos") > event.number("beginNanos"));
    }
    for found in scopes.values_mut() {
        found.sort_unstable();
    }
    scopes
}

#[test]
fn long_scope_is_an_event_that_says_what_changed_in_it() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,scopes=200ms,propagate=futures,ctx=scope+a+b,file=app.jfr")
            .flag(&jdk_recording(&test_dir))
            .program("TimedScopes 250")
            .stop_recording_at_end()
            .run_ok();
        assert!(run.stdout.ends_with("done\n"), "{jdk}: {}", run.stderr);
        let recording = Recording::new(test_dir.file("app.jfr"));
        let events = recording.events("ctxagent.Scope");
        let scopes = by_value(&events);
        let kinds = if jdk.has_virtual_threads() { 2 } else { 1 };
        let each = |found: &[(i64, i64)]| found.repeat(kinds);
        // On a machine that stands still the short one may be an event, too.
        let is_short = !events.iter().any(|event| event.text("a").is_some());
        let a = if is_short { A } else { 0 };
        let expected = [
            ("leaf", vec![(SCOPE, 0)]),
            ("around short", vec![(SCOPE, a)]),
            ("around all", vec![(SCOPE, 0)]),
            ("put", vec![(SCOPE, B << PUT)]),
            ("around put", vec![(SCOPE, B << PUT)]),
            ("second", vec![(SCOPE, SCOPE << PUT), (SCOPE, ALL)]),
            ("around crossed", vec![(SCOPE, ALL)]),
            ("around closed elsewhere", vec![(SCOPE, ALL)]),
            ("carried", vec![(SCOPE, 0), (TASK, 0)]),
        ];
        for (value, found) in expected {
            let mut found = each(&found);
            found.sort_unstable();
            assert_eq!(
                scopes.get(value),
                Some(&found),
                "{jdk}: {value} of {scopes:?}"
            );
        }
        assert!(
            !scopes.contains_key("closed elsewhere"),
            "{jdk}: {scopes:?}"
        );
        if jdk.version >= CONTEXTUAL_RELEASE {
            // Tools show all that is open: what another scope or a put changes is left out.
            let expected = ["around short", "carried", "carried", "leaf", "put"];
            let mut expected = expected.repeat(kinds);
            expected.sort_unstable();
            assert_eq!(in_jdks_recording(&test_dir), expected, "{jdk}");
        }
        let checked = recording.ctxjfr(&["check", "FILE"]).success();
        assert_contains!(checked.stdout, "scopes");
    }
}

/// The first JDK whose recorder gets scopes.
const CONTEXTUAL_RELEASE: u32 = 25;

/// A file of settings.
fn settings(test_dir: &TestDir) -> String {
    let settings = test_dir.file("waits.jfc");
    fs::write(&settings, jfc()).unwrap();
    settings.display().to_string()
}

/// The flag that begins a recording of the JDK.
fn jdk_recording(test_dir: &TestDir) -> String {
    let (file, settings) = (test_dir.file("jdk.jfr"), settings(test_dir));
    let file = file.display();
    format!("-XX:StartFlightRecording:filename={file},settings={settings}")
}

/// Values of `scope` of the scopes in the JDK's recording, in order.
fn in_jdks_recording(test_dir: &TestDir) -> Vec<String> {
    let recording = Recording::new(test_dir.file("jdk.jfr"));
    let events = recording.events("io.ctxagent.scope.Scope");
    let values = events.iter().map(|event| event.text("scope").unwrap());
    let mut values: Vec<String> = values.map(str::to_owned).collect();
    values.sort_unstable();
    values
}

#[test]
fn redacted_scopes_do_not_reach_the_jdks_recording() {
    let Some(jdk) = Jdk::find(CONTEXTUAL_RELEASE) else {
        return println!("SKIP: no JDK {CONTEXTUAL_RELEASE}");
    };
    for (redact, has_scopes) in [("redact=a:drop,", false), ("", true)] {
        let test_dir = TestDir::new();
        let start = format!("start,scopes=1us,{redact}ctx=scope+a+b,file=app.jfr");
        Jvm::new(jdk, &test_dir)
            .agent(&start)
            .flag(&jdk_recording(&test_dir))
            .program("TimedScopes 1")
            .stop_recording_at_end()
            .run_ok();
        let recording = Recording::new(test_dir.file("app.jfr"));
        assert!(!recording.events("ctxagent.Scope").is_empty());
        assert_eq!(
            !in_jdks_recording(&test_dir).is_empty(),
            has_scopes,
            "{redact}"
        );
    }
}

#[test]
fn without_the_option_no_scope_is_an_event() {
    let test_dir = TestDir::new();
    Jvm::new(Jdk::main(), &test_dir)
        .agent("start,ctx=scope+a+b,file=app.jfr")
        .program("TimedScopes 1")
        .stop_recording_at_end()
        .run_ok();
    let recording = Recording::new(test_dir.file("app.jfr"));
    assert!(recording.events("ctxagent.Scope").is_empty());
}

/// Events by their operation.
type Counts = BTreeMap<String, u64>;

/// Methods of `JdkShop` in a scope of their name.
const OPERATIONS: [&str; 3] = ["browse", "buy", "pay"];

/// Events of the JDK's recorder during which a thread waits.
const WAITS: [&str; 9] = [
    "jdk.ThreadSleep",
    "jdk.SocketRead",
    "jdk.SocketWrite",
    "jdk.JavaMonitorEnter",
    "jdk.JavaMonitorWait",
    "jdk.ThreadPark",
    "jdk.FileForce",
    "jdk.FileRead",
    "jdk.FileWrite",
];

/// Settings of the JDK's recorder: all waits, however short.
fn jfc() -> String {
    let waits = WAITS.map(|event| {
        format!(
            r#"<event name="{event}"><setting name="enabled">true</setting>
               <setting name="stackTrace">true</setting>
               <setting name="threshold">0 ms</setting></event>"#
        )
    });
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0">
           <event name="jdk.JVMInformation"><setting name="enabled">true</setting>
           <setting name="period">beginChunk</setting></event>{}</configuration>"#,
        waits.concat()
    )
}

/// The JDK's own recorder writes another file, with its own clock.
#[test]
fn each_event_of_the_jdk_has_the_label_of_its_scope_or_none() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let file = test_dir.file("app.jdk.jfr").display().to_string();
        let run = Jvm::new(jdk, &test_dir)
            .agent(&format!(
                "start,scopes=10ms,labels=none,ctx=operation+step,file=app.jfr,jfrsync={}",
                settings(&test_dir)
            ))
            .program("JdkEvents 40 15")
            .stop_recording_at_end()
            .run_ok();
        let mut expected: BTreeMap<&str, Counts> = BTreeMap::new();
        // The JDK says there that it records.
        let counts = run.stdout.lines().filter(|line| line.starts_with("jdk."));
        for line in counts {
            let (what, count) = line.rsplit_once(' ').unwrap();
            let (event, operation) = what.split_once(' ').unwrap();
            let counts = expected.entry(event).or_default();
            counts.insert(operation.to_owned(), count.parse().unwrap());
        }
        assert_eq!(expected.len(), 5, "{jdk}: {}", run.stderr);
        let recording = Recording::new(test_dir.file("app.jfr"));
        let merged = test_dir.file("merged.jfr");
        let output = merged.display().to_string();
        recording
            .ctxjfr(&["merge", "FILE", &file, "-o", &output])
            .success();
        let merged = Recording::new(merged);
        if jdk.version >= CONTEXTUAL_RELEASE {
            let ours = Recording::new(file.clone().into());
            assert_jfr_prints_labels(jdk, &ours, &expected);
            let printed = merged.jfr(jdk, &["print", "--stack-depth", "2"]);
            assert!(!printed.success().stdout.contains("Context:"), "{jdk}");
        }
        for (event, mut counts) in expected {
            let report = report_by_operation(&recording, event, &[&file]);
            let mut found = by_only_key(&report, "samples");
            let of_merged = report_by_operation(&merged, event, &[]);
            assert_eq!(by_only_key(&of_merged, "samples"), found, "{jdk}: {event}");
            println!("{jdk} {event}: {found:?}");
            let values = by_only_key(&report, "value");
            let others = ["(unknown)", ""].map(|name| values.get(name).unwrap_or(&0));
            let uncovered = others.into_iter().sum::<u64>() as f64;
            let uncovered = uncovered / values.values().sum::<u64>() as f64;
            let coverage = report["coverage"].as_f64().unwrap();
            assert!((coverage + uncovered - 1.0).abs() < 1e-9, "{coverage}");
            // Threads of the JDK wait, too.
            let mut others = found.remove("(unknown)").unwrap_or(0);
            // Known on a machine that stood still in the shorter scope: then that is an event, too.
            others += found.remove("changed").unwrap_or(0);
            let outside = counts.remove("(unknown)").unwrap_or(0);
            // The shop's have another truth.
            found.retain(|operation, _| !operation.is_empty() && !operation.starts_with("shop "));
            assert_eq!(found, counts, "{jdk}: {event}, {others} unknown");
            assert!(others >= outside, "{jdk}: {event}: {others} of {outside}");
        }
        assert_waits_lie_in_their_scopes(jdk, &merged);
        let mut printed = printed_by_operation(jdk, &merged);
        for event in WAITS {
            assert_shop_has_labels_of_its_methods(jdk, &recording, event, &file);
            let both = report_by_operation(&recording, event, &[&file]);
            let of_merged = report_by_operation(&merged, event, &[]);
            let samples = |report| by_only_key(report, "samples");
            assert_eq!(samples(&of_merged), samples(&both), "{jdk}: {event}");
            let printed = printed.remove(event).unwrap_or_default();
            assert_eq!(printed, samples(&both), "{jdk}: {event} as jfr prints it");
        }
    }
}

/// `jfr print` of 25 and later shows scopes on all events of their threads.
fn assert_jfr_prints_labels(jdk: Jdk, file: &Recording, expected: &BTreeMap<&str, Counts>) {
    let printed = file.jfr(jdk, &["print", "--stack-depth", "64"]);
    let printed = printed.success().stdout.clone();
    let mut found: BTreeMap<&str, Counts> = BTreeMap::new();
    for event in printed.split("\n\n") {
        let (kind, text) = event.split_once(" {").unwrap_or_default();
        let lines = text.lines().map(str::trim);
        let mut labels = lines.filter_map(|it| it.strip_prefix("Context: Scope.operation = "));
        let label = labels.next().map(|quoted| quoted.trim_matches('"'));
        assert_eq!(labels.next(), None, "{jdk}: {event}");
        match OPERATIONS
            .iter()
            .find(|name| text.contains(&format!("JdkShop.{name}()")))
        {
            Some(_) if text.contains(" java.lang.VirtualThread.") && label.is_none() => {}
            Some(name) => assert_eq!(label, Some(&*format!("shop {name}")), "{jdk}: {event}"),
            None => assert!(
                !label.is_some_and(|it| it.starts_with("shop")),
                "{jdk}: {event}"
            ),
        }
        if let Some(label) = label.filter(|label| !label.starts_with("shop")) {
            let counts = found.entry(kind).or_default();
            *counts.entry(label.to_owned()).or_default() += 1;
        }
    }
    for (&event, counts) in expected {
        let mut found = found.remove(event).unwrap_or_default();
        let mut counts = counts.clone();
        counts.remove("(unknown)");
        if event == "jdk.ThreadSleep" {
            // Around the inner ones the other scope's attribute is left out.
            counts.retain(|operation, _| operation.starts_with("inner"));
            found.retain(|operation, _| operation.starts_with("inner"));
        }
        assert_eq!(found, counts, "{jdk}: {event} as jfr prints it");
    }
}

/// `JdkShop`: each event that has an operation's method in its stack has its label, no other one has.
fn assert_shop_has_labels_of_its_methods(jdk: Jdk, ours: &Recording, event: &str, other: &str) {
    let by = [
        "convert",
        "-o",
        "collapsed=-",
        "--by",
        "operation",
        "--event",
        event,
    ];
    let stacks = ours.ctxjfr(&[&by[..], &["FILE", other]].concat()).success();
    let mut inside = BTreeMap::new();
    for line in stacks.stdout.lines() {
        let (label, stack) = line.split_once(';').unwrap();
        let is_in = |operation: &str| stack.contains(&format!("JdkShop.{operation};"));
        let operation = OPERATIONS.iter().find(|operation| is_in(operation));
        let expected = operation.map_or("operation=(unknown)".to_owned(), |operation| {
            format!("operation=shop {operation}")
        });
        // A virtual thread that parks acts as its carrier, which has no label.
        let (_, waits) = stack.split_once("JdkShop.work;").unwrap_or_default();
        if waits.contains("java.lang.VirtualThread.") && label.contains("(unknown)") {
            continue;
        }
        if operation.is_some() || label.contains("shop") {
            assert_eq!(label, expected, "{jdk} {event}: {line}");
            *inside.entry(operation).or_insert(0) += 1;
        }
    }
    println!("{jdk} {event} in the shop: {inside:?} stacks");
    // The shop neither sleeps nor waits for a monitor.
    let is_used = !matches!(event, "jdk.ThreadSleep" | "jdk.JavaMonitorWait");
    assert_eq!(
        !inside.is_empty(),
        is_used,
        "{jdk} {event}: {}",
        stacks.stdout
    );
}

/// Times of our recording are whole microseconds; the clocks are read together within less.
const CLOCK_NANOS: i64 = 5_000;

/// By the times that the merged file shows: a wait in a scope begins and ends while it is open.
fn assert_waits_lie_in_their_scopes(jdk: Jdk, merged: &Recording) {
    let span = |event: &Event| {
        let begin = event.start_nanos();
        (begin, begin + event.duration_nanos())
    };
    let scopes = merged.events("ctxagent.Scope");
    // Virtual threads have no names by which to tell them apart.
    let mut waits = merged.events("jdk.ThreadSleep");
    waits.retain(|wait| wait.is_of_thread("load"));
    let mut inside = 0;
    for wait in &waits {
        let (begin, end) = span(wait);
        let of_thread = scopes
            .iter()
            .filter(|scope| scope.thread() == wait.thread());
        let mut spans = of_thread.map(span);
        let (mut is_inside, mut is_across) = (false, false);
        for scope in &mut spans {
            is_inside |= scope.0 <= begin + CLOCK_NANOS && end <= scope.1 + CLOCK_NANOS;
            is_across |= begin + CLOCK_NANOS < scope.0 && scope.0 < end - CLOCK_NANOS
                || begin + CLOCK_NANOS < scope.1 && scope.1 < end - CLOCK_NANOS;
        }
        inside += usize::from(is_inside);
        assert!(!is_across, "{jdk}: {wait:?} is not in its scope");
    }
    println!("{jdk}: {inside} of {} sleeps in scopes", waits.len());
    assert!(
        inside > waits.len() / 2,
        "{jdk}: {inside} of {}",
        waits.len()
    );
}

/// The report of one kind of events, by `operation`, of a recording and other files.
fn report_by_operation(recording: &Recording, event: &str, others: &[&str]) -> Value {
    let by = ["report", "--json", "--event", event, "--by", "operation"];
    let arguments = [&by[..], &["FILE"], others].concat();
    serde_json::from_str(&recording.ctxjfr(&arguments).success().stdout).unwrap()
}

/// The events of the JDK in a merged file by the column of their operation, as `jfr print` shows it.
fn printed_by_operation(jdk: Jdk, merged: &Recording) -> BTreeMap<String, Counts> {
    let events = WAITS.join(",");
    let arguments = ["print", "--json", "--stack-depth", "1", "--events", &events];
    let printed: Value =
        serde_json::from_str(&merged.jfr(jdk, &arguments).success().stdout).unwrap();
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for event in printed["recording"]["events"].as_array().unwrap() {
        let values = event["values"].as_object().unwrap();
        let operation = values["operation"].as_str().unwrap_or_default();
        let counts = counts.entry(event["type"].as_str().unwrap().to_owned());
        *counts.or_default().entry(operation.to_owned()).or_default() += 1;
    }
    counts
}

/// A number of each row of a report by one key; without a name, those known to have no value.
fn by_only_key(report: &Value, name: &str) -> Counts {
    let rows = report["rows"].as_array().unwrap().iter().map(|row| {
        let value = row["values"][0].as_str().unwrap_or_default();
        (value.to_owned(), row[name].as_u64().unwrap())
    });
    rows.collect()
}
