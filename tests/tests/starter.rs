//! The starter for Spring Boot: a service that has one line more, and is asked over HTTP.

use std::collections::BTreeSet;
use std::fs;

use e2e::recording::Event;
use e2e::{Jdk, Jvm, ProcessOutput, Recording, TestDir, assert_contains};
use schema::counter::Counter;
use serde_json::Value;

const EXPOSED: &str = "--management.endpoints.web.exposure.include=ctxagent,metrics";

/// Runs the service with these words: what it asks itself for, and properties.
fn served(jdk: Jdk, test_dir: &TestDir, words: &[&str]) -> ProcessOutput {
    let mut jvm = Jvm::new(jdk, test_dir).starter();
    if jdk.version >= 24 {
        // A program that loads native code says so to these.
        jvm = jvm.flag("--enable-native-access=ALL-UNNAMED");
    }
    let words = [&["--server.port=0", EXPOSED], words].concat();
    jvm.main("starter.Orders", &words).run_ok()
}

/// The answer to a question: its status and its text.
fn answer<'o>(output: &'o ProcessOutput, question: &str) -> (&'o str, &'o str) {
    let begin = format!("{question}: ");
    let mut answers = output.stdout.lines().filter_map(|l| l.strip_prefix(&begin));
    let answer = answers.next();
    let answer = answer.unwrap_or_else(|| panic!("{question}: {}", output.stdout));
    answer.split_once(' ').unwrap_or((answer, ""))
}

fn json(output: &ProcessOutput, question: &str) -> Value {
    let (status, text) = answer(output, question);
    assert_eq!(status, "200", "{question}: {text}");
    serde_json::from_str(text).unwrap()
}

fn labelled(samples: &[Event]) -> usize {
    let is_labelled = |s: &&Event| s.text("operation") == Some("GET /orders/{id}");
    samples.iter().filter(is_labelled).count()
}

#[test]
fn endpoint_starts_dumps_and_stops() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let output = served(
            jdk,
            &test_dir,
            &[
                "--ctxagent.recording.file=app.jfr",
                "--ctxagent.recording.interval=1ms",
                "ctxagent/start",
                "work",
                "ctxagent",
                "dump",
                "metrics/ctxagent.samples",
                "metrics/ctxagent.recording",
                "metrics/ctxagent.label.cpu",
                "ctxagent/start",
                "ctxagent/stop",
            ],
        );
        let started = json(&output, "ctxagent/start");
        let text = started["answer"].as_str().unwrap();
        assert_contains!(text, "recording to ", "{jdk}");
        assert_eq!(json(&output, "ctxagent")["state"], "recording");
        let written = &json(&output, "metrics/ctxagent.samples")["measurements"][0]["value"];
        assert!(
            written.as_f64().is_some_and(|n| n > 100.0),
            "{jdk}: {written}"
        );
        let recording = &json(&output, "metrics/ctxagent.recording")["measurements"][0]["value"];
        assert_eq!(recording.as_f64(), Some(1.0));
        let label = json(&output, "metrics/ctxagent.label.cpu");
        assert_eq!(label["baseUnit"], "seconds");
        let cpu = label["measurements"][0]["value"].as_f64();
        assert!(cpu.is_some_and(|seconds| seconds > 0.05), "{jdk}: {label}");
        let tags = label["availableTags"].to_string();
        assert_contains!(tags, "\"operation\"");
        assert_contains!(tags, "\"GET /orders/{id}\"");
        let again = "ctxagent/start: 200 {\"answer\":\"already recording to ";
        assert_contains!(output.stdout, again);
        assert_contains!(output.stdout, "ctxagent/stop: 200 ");

        assert_eq!(answer(&output, "dump").0, "200", "{}", output.stdout);
        let dump = test_dir.file("dump.jfr");
        fs::rename(test_dir.file("dump.bin"), &dump).unwrap();
        let dump = Recording::new(dump);
        let report = dump.ctxjfr(&["report", "FILE", "--by", "operation"]).stdout;
        assert_contains!(report, "GET /orders/{id}", "{jdk}");
        let in_dump = labelled(&dump.samples());
        let whole = Recording::new(test_dir.file("app.jfr")).samples();
        println!(
            "{jdk}: {in_dump} of {} labelled samples in the dump",
            labelled(&whole)
        );
        assert!(in_dump > 100 && labelled(&whole) >= in_dump, "{jdk}");
    }
}

/// The row of these values, `None` for no value, as (samples, weight, value).
fn row(rows: &Value, values: &Value) -> [u64; 3] {
    let rows = rows.as_array().unwrap().iter();
    let sums = rows.filter(|row| row["values"] == *values);
    let sums = sums.map(|row| ["samples", "weight", "value"].map(|sum| row[sum].as_u64().unwrap()));
    sums.fold([0; 3], |all, one| std::array::from_fn(|i| all[i] + one[i]))
}

/// While nothing is sampled, the report and the dump are of the same samples.
#[test]
fn report_equals_that_of_the_dump() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let words = [
            "--ctxagent.start=true",
            "--ctxagent.recording.file=app.jfr",
            "--ctxagent.recording.interval=1ms",
            "work",
            "ctxagent/pause",
            "dump",
            "ctxagent/report",
            "ctxagent/report?by=nothing,operation&limit=1",
            "ctxagent/stop",
            "ctxagent/report?by=operation",
        ];
        let output = served(jdk, &test_dir, &words);
        let dump = test_dir.file("dump.jfr");
        fs::rename(test_dir.file("dump.bin"), &dump).unwrap();
        let dump = Recording::new(dump);
        let late = dump.events("ctxagent.LateLabel").len();
        let arguments = ["report", "FILE", "--by", "operation", "--json", "--limit=0"];
        let theirs: Value = serde_json::from_str(&dump.ctxjfr(&arguments).stdout).unwrap();
        let ours = json(&output, "ctxagent/report");
        println!("{jdk}: {late} late labels; {ours}");
        assert!(late > 0, "{jdk}: no route became known late");
        assert_eq!(ours["total"], theirs["total"], "{jdk}");
        assert_eq!(ours["interval_ns"], theirs["interval_ns"], "{jdk}");
        assert!(ours["total"]["samples"].as_u64() > Some(100), "{jdk}");
        for values in theirs["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| &r["values"])
        {
            let (ours, theirs) = (row(&ours["rows"], values), row(&theirs["rows"], values));
            assert_eq!(ours, theirs, "{jdk}: {values}");
        }
        let names = ours["attributes"].as_array().unwrap();
        assert!(names.contains(&"operation".into()), "{jdk}: {names:?}");

        let first = json(&output, "ctxagent/report?by=nothing,operation&limit=1");
        assert_eq!(first["rows"].as_array().unwrap().len(), 1);
        assert_eq!(first["rows"][0]["values"][0], Value::Null);
        let sum = |json: &Value| json["samples"].as_u64().unwrap();
        assert_eq!(
            sum(&first["rows"][0]) + sum(&first["rest"]),
            sum(&first["total"])
        );
        assert_eq!(first["total"], ours["total"], "{jdk}");
        let (status, text) = answer(&output, "ctxagent/report?by=operation");
        assert!(
            status == "409" && text.contains("no recording"),
            "{status} {text}"
        );
    }
}

#[test]
fn property_starts_with_the_service() {
    let test_dir = TestDir::new();
    let words = [
        "--ctxagent.start=true",
        "--ctxagent.recording.file=app.jfr",
        "--ctxagent.recording.labels=none",
        "work",
        "ctxagent/stop",
    ];
    let output = served(Jdk::main(), &test_dir, &words);
    assert_eq!(
        answer(&output, "ctxagent/stop").0,
        "200",
        "{}",
        output.stdout
    );
    let samples = test_dir.recording().samples();
    assert!(samples.len() > 15 && labelled(&samples) == 0);
}

/// A wrong option is a warning; without an agent the endpoint says so, and meters are 0.
#[test]
fn service_runs_on_where_nothing_can_be_recorded() {
    let test_dir = TestDir::new();
    let words = [
        "--ctxagent.start=true",
        "--ctxagent.recording.intervall=1ms",
        "ctxagent/stop",
        "ctxagent/start",
        "ctxagent/nothing",
        "dump",
        "metrics/ctxagent.recording",
        "metrics/ctxagent.samples.lost",
    ];
    let output = served(Jdk::main(), &test_dir, &words);
    let line = output
        .stdout
        .lines()
        .find(|line| line.contains("ctxagent does not record: "));
    assert!(
        line.is_some_and(|l| l.contains("intervall")),
        "{}",
        output.stdout
    );
    assert_eq!(answer(&output, "ctxagent/stop").0, "409");
    let (status, text) = answer(&output, "ctxagent/start");
    assert!(
        status == "400" && text.contains("intervall"),
        "{status} {text}"
    );
    assert_eq!(answer(&output, "ctxagent/nothing").0, "400");
    assert_eq!(answer(&output, "dump").0, "409");
    let recording = &json(&output, "metrics/ctxagent.recording")["measurements"][0]["value"];
    assert_eq!(recording.as_f64(), Some(0.0));

    let lost = json(&output, "metrics/ctxagent.samples.lost");
    let reasons = lost["availableTags"][0]["values"].as_array().unwrap();
    let reasons: BTreeSet<&str> = reasons.iter().filter_map(Value::as_str).collect();
    let counters = Counter::ALL
        .iter()
        .filter_map(|counter| counter.name().strip_prefix("lost."));
    assert_eq!(reasons, counters.collect());
}

/// Whenever a registry comes, it has the labels of the recording that is told of, and no others.
#[test]
fn each_registry_has_the_labels_of_the_present_recording() {
    let jvm = Jvm::alone(Jdk::main()).starter().agent("");
    let output = jvm.program("io.ctxagent.spring.Registries").run_ok();
    let expected = "early: [acme]\nlate: [acme]\n\
        early: [glo \"b\\ex]\nlate: [glo \"b\\ex]\n";
    assert_eq!(output.stdout, expected);
}
