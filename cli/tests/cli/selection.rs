//! Which samples count: filters, events, threads.

use jfr_format::write::{Thread, Ticks};
use serde_json::{Value, json};

use crate::common::*;
use crate::record_every_thread_kind;

#[test]
fn filters_select_samples() {
    let dir = with_shop();
    let samples = |filters: &[&str]| {
        let mut arguments = vec!["report", "shop.jfr", "--by", "tenant", "--json"];
        arguments.extend(filters);
        dir.json(&arguments)["total"]["samples"].as_u64().unwrap()
    };
    assert_eq!(samples(&["--where", "http.route=GET /search"]), 30);
    assert_eq!(samples(&["--where", "!http.route=GET /search"]), 70);
    assert_eq!(samples(&["--where", "tenant"]), 60);
    assert_eq!(samples(&["--where", "!tenant"]), 40);
    assert_eq!(
        samples(&[
            "--where",
            "http.route=POST /checkout",
            "--where",
            "!tenant=acme"
        ]),
        20
    );
    assert_eq!(samples(&["--threads", "work*"]), 100);
    assert_eq!(samples(&["--threads", "main"]), 0);
    assert_eq!(samples(&["--event", "ExecutionSample"]), 100);
    assert_eq!(samples(&["--where", "state=STATE_RUNNABLE"]), 100);
}

#[test]
fn times_select_samples() {
    let dir = with_shop();
    let events = dir.ok(&["print", "shop.jfr", "--json", "--events", "ExecutionSample"]);
    let mut times: Vec<String> = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|event| event["values"]["startTime"].as_str().unwrap().to_owned())
        .collect();
    times.sort();
    let [from, to] = [&times[times.len() / 3], &times[times.len() * 2 / 3]];
    let expected = times
        .iter()
        .filter(|time| (from..to).contains(time))
        .count();
    assert!(0 < expected && expected < times.len(), "{times:?}");
    let by = ["report", "shop.jfr", "--by", "tenant", "--json"];
    let report = dir.json(&[&by[..], &["--from", from, "--to", to]].concat());
    assert_eq!(report["total"]["samples"], json!(expected));
    let csv = [
        "convert", "shop.jfr", "-o", "csv=-", "--event", "cpu", "--from", from,
    ];
    assert!(dir.ok(&csv).lines().count() > 1);

    let message = dir.fails(2, &["labels", "shop.jfr", "--from", "yesterday"]);
    let expected = "--from 'yesterday': expected a moment in UTC like 2026-11-26T16:30:00.5Z";
    assert!(message.contains(expected), "{message}");
    let message = dir.fails(1, &[&by[..], &["--from", "2200-01-01T00:00"]].concat());
    assert!(message.contains("no sample"), "{message}");
}

#[test]
fn only_names_in_use_are_offered() {
    // Columns are made for eight attributes; two have names.
    let dir = with_shop();
    let message = dir.fails(1, &["report", "shop.jfr", "--by", "endpoint"]);
    let offered = "there are: http.route, tenant; and thread, state, event";
    assert!(message.contains(offered), "{message}");
    let message = dir.fails(1, &["report", "shop.jfr", "--by", "context5"]);
    assert!(message.contains(offered), "{message}");
}

#[test]
fn empty_selection_is_a_finding() {
    let dir = with_shop();
    let route = "http.route=GET /serach";
    let values = "values of http.route: 'POST /checkout', 'GET /search'";
    for command in [
        &["report", "shop.jfr", "--by", "tenant"][..],
        &["report", "shop.jfr", "--by", "tenant", "--json"],
        &["labels", "shop.jfr"],
        &["labels", "shop.jfr", "--json"],
        &["flame", "shop.jfr"],
    ] {
        let message = dir.fails(1, &[command, &["--where", route]].concat());
        assert!(
            message.contains(route) && message.contains(values),
            "{command:?}: {message}"
        );
        assert!(
            !message.contains("RecordingContext"),
            "{command:?}: {message}"
        );
    }
    let both = [
        "--where",
        "http.route=GET /search",
        "--where",
        "tenant=acme",
    ];
    let message = dir.fails(
        1,
        &[&["report", "shop.jfr", "--by", "tenant"], &both[..]].concat(),
    );
    let each = "'http.route=GET /search' 30, 'tenant=acme' 40";
    assert!(message.contains(each), "{message}");
}

#[test]
fn attribute_named_thread_does_not_hide_the_thread() {
    let mut shop = Shop::new();
    let attribute = jfr_format::write::Attribute {
        name: "thread".into(),
        ..Default::default()
    };
    shop.r.attribute(Ticks(2), 1, &attribute).unwrap();
    shop.sample(Some("r"), Some("spool"), "m", 1);
    let dir = TestDir::new().with("t.jfr", &shop.bytes());
    let value = |key: &str, told: bool| {
        let output = dir.run(&["report", "t.jfr", "--by", key, "--json"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        assert_eq!(errors.contains("'label:thread'"), told, "{errors}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        json["rows"][0]["values"][0].clone()
    };
    assert_eq!(value("thread", true), "worker-1");
    assert_eq!(value("label:thread", false), "spool");
    assert_eq!(value("label:http.route", false), "r");
    let chosen = |term: &str| {
        let command = ["report", "t.jfr", "--by", "state", "--where", term];
        dir.run(&command).status.code()
    };
    assert_eq!(chosen("thread=worker-1"), Some(0));
    assert_eq!(chosen("label:thread=spool"), Some(0));
    assert_eq!(chosen("label:thread=worker-1"), Some(1));
    let labels = dir.ok(&["report", "t.jfr", "--by", "http.route"]);
    assert!(labels.contains("--by label:thread"), "{labels}");
}

#[test]
fn sleeping_samples_are_not_cpu_time() {
    let recording = |event: &str| {
        let mut shop = Shop::with(|config| {
            config.event = event.into();
            config.settings.clear();
        });
        for n in 0..10 {
            let state = if n < 4 {
                "STATE_RUNNABLE"
            } else {
                "STATE_SLEEPING"
            };
            shop.sample_of(&worker(), state, [Some("r"), None], "m", 1);
        }
        shop.bytes()
    };
    let dir = TestDir::new()
        .with("wall.jfr", &recording("wall"))
        .with("both.jfr", &recording("cpu"));
    let report = |file: &str, event: &str| {
        let output = dir.run(&["report", file, "--by", "tenant", "--event", event, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{file} {event}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let warning = String::from_utf8(output.stderr).unwrap();
        (json, warning)
    };
    for (file, advice) in [
        ("wall.jfr", "--event wall counts them"),
        ("both.jfr", "--event jdk.ExecutionSample counts them"),
    ] {
        let (cpu, warning) = report(file, "cpu");
        assert_eq!(cpu["total"]["samples"], 4, "{file}");
        assert_eq!(cpu["sleeping_left_out"], 6, "{file}");
        assert!(
            warning.contains("6 samples of sleeping threads"),
            "{warning}"
        );
        assert!(warning.contains(advice), "{warning}");
        let (all, warning) = report(file, "jdk.ExecutionSample");
        assert_eq!(
            (&all["total"]["samples"], &*warning),
            (&10.into(), ""),
            "{file}"
        );
    }
    let (wall, warning) = report("wall.jfr", "wall");
    assert_eq!((&wall["total"]["samples"], &*warning), (&10.into(), ""));
    assert_eq!(wall["unit"], "wall_ns");
    assert_eq!(wall["total"]["value"], 100_000_000);
    assert_eq!(wall["events"], json!(["jdk.ExecutionSample"]));
    let (none, _) = report("both.jfr", "wall");
    assert_eq!(none["total"]["samples"], 0);
    // No warning either: these have no --event.
    for (command, samples) in [("summary", 4), ("check", 10)] {
        let json = dir.json(&[command, "both.jfr", "--json"]);
        assert_eq!(json["samples"], samples, "{command}");
    }
}

#[test]
fn virtual_threads_are_counted_one_by_one() {
    let mut shop = Shop::new();
    let virtual_thread = |java_id| Thread {
        java_name: Some(""),
        java_id,
        is_virtual: true,
        ..Thread::native("", 0)
    };
    for thread in [worker(), virtual_thread(41), virtual_thread(42)] {
        shop.sample_of(&thread, "STATE_RUNNABLE", [Some("r"), None], "m", 1);
    }
    let dir = TestDir::new().with("v.jfr", &shop.bytes());
    assert_eq!(dir.json(&["summary", "v.jfr", "--json"])["threads"], 3);
    let report = |more: &[&str]| {
        dir.json(&[&["report", "v.jfr", "--by", "thread", "--json"], more].concat())
    };
    let all = report(&[]);
    assert_eq!(all["rows"][0]["values"][0], "(virtual)", "{all}");
    assert_eq!(all["rows"][0]["samples"], 2, "{all}");
    assert_eq!(all["rows"][1]["values"][0], "worker-1", "{all}");
    assert_eq!(report(&["--threads", "(virtual)"])["total"]["samples"], 2);
    assert_eq!(report(&["--threads", "worker*"])["total"]["samples"], 1);
}

#[test]
fn vm_threads_have_whole_names() {
    let dir = TestDir::new().with("f.jfr", &record_every_thread_kind());
    let text = dir.ok(&["report", "f.jfr", "--by", "thread"]);
    assert!(text.contains(" C2 CompilerThread  "), "{text}");
    for glob in ["C2 CompilerThread*", "C2 CompilerThre"] {
        let report = [
            "report",
            "f.jfr",
            "--by",
            "thread",
            "--threads",
            glob,
            "--json",
        ];
        assert_eq!(dir.json(&report)["total"]["samples"], 1, "{glob}");
    }
}
