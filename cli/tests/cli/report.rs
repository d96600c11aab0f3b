//! The numbers of a report: shares, intervals, units, coverage.

use std::process::Command;

use ctxagent_events::{
    Allocation, ExceptionThrow, LateLabel, MonitorEnter, ProfileEvents as _, ThreadPark, WallSample,
};
use jfr_format::write::{Attribute, AttributeKey, Thread, ThreadKey, Ticks};
use serde_json::{Value, json};

use crate::common::*;

const DAY: i64 = 86_400_000_000_000;

#[test]
fn report_as_text() {
    let text = with_shop().ok(&["report", "shop.jfr", "--by", "http.route"]);
    let expected =
        "\x20shop.jfr: 1.00 s of CPU time in 1.00 s = 1.00 cores; 100 samples, one per 10 ms
 coverage: 90.0 % of the CPU time has http.route

 http.route      CPU time   share  95 % interval  samples
 POST /checkout    600 ms  60.0 %  50.2 – 69.1 %       60
 GET /search       300 ms  30.0 %  21.9 – 39.6 %       30
 (unlabelled)      100 ms  10.0 %   5.5 – 17.4 %       10

 losses: 3 signals = 2.91 %
            2  no_slot
            1  write
 accounting: 103 signals = 100 written + 3 lost: balanced

 next: ctxjfr flame shop.jfr --where 'http.route=POST /checkout' -o flame-top.html
       ctxjfr report shop.jfr --by tenant --where 'http.route=POST /checkout'
       ctxjfr flame shop.jfr --by http.route -o flame.html
";
    assert_eq!(text, expected);
}

#[test]
fn report_as_json() {
    let json = with_shop().json(&["report", "shop.jfr", "--by", "http.route,tenant", "--json"]);
    assert_eq!(json["schema"], "ctxjfr.report.1");
    assert_eq!(
        json["total"],
        json!({"samples": 100, "weight": 100, "value": 1_000_000_000})
    );
    assert_eq!(json["unit"], "cpu_ns");
    assert_eq!(json["interval_ns"], 10_000_000);
    assert_eq!(json["events"], json!(["jdk.ExecutionSample"]));
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0]["values"], json!(["POST /checkout", "acme"]));
    assert_eq!(rows[0]["value"], 400_000_000);
    assert_eq!(rows[1]["values"], json!(["GET /search", null]));
    assert_eq!(rows[3]["values"], json!([null, null]));
    assert_eq!(json["accounting"]["is_balanced"], true);
    assert_eq!(
        json["accounting"]["lost_by_cause"],
        json!({"no_slot": 2, "write": 1})
    );
    assert!((json["coverage"].as_f64().unwrap() - 0.9).abs() < 1e-9);
}

/// The operation of a request of this thread from `from` to `to` milliseconds, known at its end.
fn late_label(shop: &mut Shop, thread: &Thread<'_>, [from, to]: [u64; 2], texts: [&str; 2]) {
    let thread = shop.r.thread(thread);
    let [before, value] = texts.map(|text| shop.r.attribute_value(text));
    shop.r.late_label(&LateLabel {
        at: Ticks(from * 1_000),
        duration: Ticks((to - from) * 1_000),
        thread,
        attribute: "http.route",
        before,
        value,
    });
}

#[test]
fn late_labels_are_for_earlier_samples_of_their_thread_and_time() {
    let mut shop = Shop::new();
    shop.at = 0;
    // At 10, 20, ... 70 ms.
    for route in ["GET", "GET", "in it", "GET", "GET /b", "GET", "GET"] {
        shop.sample(Some(route), None, "m", 1);
    }
    let other = Thread::native("other", 5);
    for _ in 0..2 {
        shop.sample_of(&other, "STATE_RUNNABLE", [Some("GET"), None], "m", 1);
    }
    late_label(&mut shop, &worker(), [15, 45], ["GET", "GET /a"]);
    late_label(&mut shop, &worker(), [15, 55], ["GET /a", "GET /b"]);
    // One lies in the other.
    late_label(&mut shop, &worker(), [58, 75], ["GET", "GET /c"]);
    late_label(&mut shop, &worker(), [64, 66], ["GET", "GET /d"]);
    late_label(&mut shop, &other, [85, 95], ["GET", "GET /e"]);
    let dir = TestDir::new().with("a.jfr", &shop.bytes());
    let expected = "http.route=GET /b;app.Shop.m 3
http.route=GET /c;app.Shop.m 2
http.route=GET /e;app.Shop.m 1
http.route=GET;app.Shop.m 2
http.route=in it;app.Shop.m 1
";
    let collapsed = [
        "convert",
        "a.jfr",
        "--by",
        "http.route",
        "-o",
        "collapsed=-",
    ];
    let stacks = dir.ok(&collapsed).replace("java.lang.Thread.run;", "");
    assert_eq!(stacks, expected);
    let by_state = ["report", "a.jfr", "--by", "state", "--csv", "--where"];
    let rows = dir.ok(&[&by_state[..], &["http.route=GET /b"]].concat());
    assert!(rows.contains("STATE_RUNNABLE,3,3,"), "{rows}");
    let labels = dir.json(&["labels", "a.jfr", "--json"]);
    assert_eq!(labels["attributes"][0]["values"], 5, "{labels}");
}

#[test]
fn headline_of_each_unit() {
    let mut shop = Shop::with(|config| config.schema = foreign_events::schema());
    shop.sample(Some("r"), None, "m", 1);
    record_other_events(&mut shop, true);
    let dir = TestDir::new().with("a.jfr", &shop.bytes());
    let report = |event| dir.ok(&["report", "a.jfr", "--by", "http.route", "--event", event]);
    for (event, head, of) in [
        (
            "cpu",
            " a.jfr: 10 ms of CPU time in 1.00 s",
            "100.0 % of the CPU time has",
        ),
        (
            "alloc",
            " a.jfr: 6.8 KiB allocated in 1.00 s; 1 sample\n",
            "of the allocated bytes has",
        ),
        (
            "lock",
            " a.jfr: 1 ms of waiting in 1.00 s; 2 samples\n",
            "of the time of waiting has",
        ),
    ] {
        let text = report(event);
        assert!(text.starts_with(head) && text.contains(of), "{text}");
    }
    let summary = dir.ok(&["summary", "a.jfr"]);
    assert!(
        summary.starts_with(" 1 chunk, ") && summary.contains(", 1 CPU sample\n"),
        "{summary}"
    );
}

#[test]
fn weights_widen_the_interval() {
    let mut shop = Shop::new();
    for _ in 0..10 {
        shop.sample(Some("a"), None, "m", 1);
    }
    shop.sample(Some("b"), None, "m", 10);
    let dir = TestDir::new().with("w.jfr", &shop.bytes());
    let json = dir.json(&["report", "w.jfr", "--by", "http.route", "--json"]);
    assert_eq!(json["total"]["value"], 200_000_000);
    let row = &json["rows"][1];
    assert_eq!(
        (row["samples"].as_u64(), row["weight"].as_u64()),
        (Some(1), Some(10))
    );
    assert!(
        row["share_high"].as_f64().unwrap() - row["share_low"].as_f64().unwrap() > 0.5,
        "{row}"
    );
    assert_eq!(json["intervals_reached_ns"], json!([["Java", 55_000_000]]));
    let text = dir.ok(&["report", "w.jfr", "--by", "http.route"]);
    let line = " interval: 10 ms asked; reached: Java 55.0 ms\n";
    assert!(text.contains(line), "{text}");
}

/// One event of each kind other than CPU samples, all in the context of the route `r`.
fn record_other_events(shop: &mut Shop, allocation_samples: bool) {
    let r = &mut shop.r;
    let at = Ticks(50);
    let mut values = [AttributeKey::NONE; 8];
    values[0] = r.attribute_value("r");
    let context = r.context(at, &values);
    let thread = r.thread(&Thread::native("t", 1));
    let (stack, state) = (r.synthetic_stack("x"), r.state("STATE_SLEEPING"));
    let class = r.class("java/lang/String");
    r.wall_sample(&WallSample {
        at,
        thread,
        stack,
        state,
        context,
        samples: 3,
    });
    let allocation = Allocation {
        at,
        thread,
        stack,
        class,
        bytes: 100,
        size_bytes: 104,
        context,
    };
    if allocation_samples {
        r.allocation_sample(&Allocation {
            bytes: 7000,
            ..allocation
        });
    }
    foreign_events::allocate(r, &allocation, 4000);
    r.monitor_enter(&MonitorEnter {
        at,
        duration: Ticks(250),
        thread,
        stack,
        class,
        previous_owner: ThreadKey::NONE,
        owner_context: 0,
        address: 1,
        context,
    });
    r.thread_park(&ThreadPark {
        at,
        duration: Ticks(500),
        thread,
        stack,
        class,
        address: 1,
        context,
        weight: 2,
    });
    r.exception_throw(&ExceptionThrow {
        at,
        thread,
        stack,
        class,
        context,
        weight: 3,
    });
}

#[test]
fn each_event_has_its_unit() {
    let recording = |allocation_samples| {
        let mut shop = Shop::with(|config| config.schema = foreign_events::schema());
        shop.sample(Some("r"), None, "m", 1);
        record_other_events(&mut shop, allocation_samples);
        shop.bytes()
    };
    let dir = TestDir::new()
        .with("a.jfr", &recording(true))
        .with("tlab.jfr", &recording(false));
    for (file, event, unit, value) in [
        ("a.jfr", "cpu", "cpu_ns", 10_000_000),
        ("a.jfr", "wall", "wall_ns", 150_000_000),
        ("a.jfr", "alloc", "bytes", 7000),
        ("tlab.jfr", "alloc", "bytes", 4100),
        ("a.jfr", "lock", "lock_ns", 1_250_000),
        ("a.jfr", "park", "lock_ns", 1_000_000),
        ("a.jfr", "exception", "samples", 3),
    ] {
        let by = ["--by", "http.route", "--event", event, "--json"];
        let report = dir.json(&[&["report", file][..], &by].concat());
        assert_eq!(report["unit"], unit, "{event}");
        assert_eq!(report["total"]["value"], value, "{event} of {file}");
        assert_eq!(report["rows"][0]["values"][0], "r", "{event}");
        let flame = dir.json(&[&["flame", file][..], &by].concat());
        assert_eq!(flame["value"], value, "{event} of {file}");
    }
    let lines = dir.ok(&["convert", "a.jfr", "--event", "lock", "-o", "collapsed=-"]);
    assert_eq!(lines, "(no stack: x) 1250000\n");
}

/// Width of the interval of the first row's share.
fn width(report: &Value) -> f64 {
    let row = &report["rows"][0];
    row["share_high"].as_f64().unwrap() - row["share_low"].as_f64().unwrap()
}

#[test]
fn waits_have_no_interval() {
    let mut shop = Shop::new();
    shop.wait("long", 10_000_000);
    for _ in 0..999 {
        shop.wait("short", 10_000);
    }
    let dir = TestDir::new().with("l.jfr", &shop.bytes());
    let arguments = ["report", "l.jfr", "--by", "http.route", "--event", "lock"];
    let row = &dir.json(&[&arguments[..], &["--json"]].concat())["rows"][0];
    assert_eq!(row["values"][0], "long");
    assert_eq!(row["share_low"], Value::Null, "{row}");
    let text = dir.ok(&arguments);
    assert!(!text.contains("interval"), "{text}");
    assert!(
        text.contains(" long        10.00 s  50.0 %        1\n"),
        "{text}"
    );
    let csv = dir.ok(&[&arguments[..], &["--csv"]].concat());
    assert!(csv.contains("\nlong,1,1,10000000000,0.500250,,\n"), "{csv}");
}

#[test]
fn one_heavy_sample_is_less_certain_than_ten() {
    let report = |weights: &[u32]| {
        let mut shop = Shop::new();
        for &weight in weights {
            shop.sample(Some("heavy"), None, "m", weight);
        }
        for _ in 0..990 {
            shop.sample(Some("light"), None, "m", 1);
        }
        TestDir::new().with("h.jfr", &shop.bytes()).json(&[
            "report",
            "h.jfr",
            "--by",
            "http.route",
            "--json",
        ])
    };
    let one = report(&[990]);
    assert_eq!(one["rows"][0]["values"][0], "heavy");
    assert_eq!(one["total"]["weight"], 1980);
    assert!(width(&one) > 0.6, "four samples' worth: {one}");
    assert!(width(&report(&[99; 10])) < 0.4, "those are ten");
}

#[test]
fn equal_events_of_one_sample_are_one_draw() {
    let report = |events: u32| {
        let mut shop = Shop::new();
        for _ in 0..96 / events {
            shop.repeated_sample("heavy", events);
            shop.repeated_sample("light", events);
        }
        let dir = TestDir::new().with("e.jfr", &shop.bytes());
        dir.json(&["report", "e.jfr", "--by", "http.route", "--json"])
    };
    let (ones, sixteens) = (report(1), report(16));
    assert_eq!(ones["total"]["weight"], sixteens["total"]["weight"]);
    let wider = width(&sixteens) / width(&ones);
    assert!(wider > 3.0, "12 draws instead of 192: {wider}");
}

#[test]
fn commands_agree_on_coverage() {
    let mut shop = Shop::new();
    shop.sample(Some("r"), None, "m", 50);
    shop.sample(None, None, "m", 30);
    let collector = Thread::native("GC Thread#0", 99);
    shop.sample_of(&collector, "STATE_RUNNABLE", [None, None], "m", 20);
    let all_of_java = shop.bytes();
    // Of a thread whose Java id is not known, with a label of one name or of the other.
    let mut labelled = Shop::new();
    let unknown = Thread::native("attached", 98);
    labelled.sample_of(&unknown, "STATE_RUNNABLE", [Some("r"), None], "m", 50);
    labelled.sample_of(&unknown, "STATE_RUNNABLE", [None, Some("t")], "m", 30);
    labelled.sample_of(&collector, "STATE_RUNNABLE", [None, None], "m", 20);
    let dir = TestDir::new()
        .with("java.jfr", &all_of_java)
        .with("labelled.jfr", &labelled.bytes());
    for file in ["java.jfr", "labelled.jfr"] {
        // 50 of the 80 that are not the collector's.
        let report = dir.json(&["report", file, "--by", "http.route", "--json"]);
        assert_eq!(report["coverage"], 0.625, "{report}");
        for command in ["labels", "summary"] {
            let json = dir.json(&[command, file, "--json"]);
            assert_eq!(json["attributes"][0]["coverage"], 0.625, "{json}");
            assert!(dir.ok(&[command, file]).contains("62.5 %"), "{command}");
        }
    }
}

#[test]
fn gap_between_files_is_not_covered() {
    let recording = |days: i64| {
        let mut shop = Shop::with(|config| {
            config.clock.start_epoch_nanos += u64::try_from(days * DAY).unwrap();
        });
        shop.sample(Some("r"), None, "m", 50);
        shop.bytes()
    };
    let dir = TestDir::new()
        .with("a.jfr", &recording(0))
        .with("b.jfr", &recording(1))
        .with("beside.jfr", &recording(0));
    let files = ["a.jfr", "b.jfr", "beside.jfr"];
    let report = dir.json(&[&["report", "--by", "tenant", "--json"][..], &files].concat());
    assert_eq!(report["covered_ns"], 2_000_000_000u64);
    let summary = dir.json(&[&["summary", "--json"][..], &files].concat());
    assert_eq!(summary["duration_ns"], 2_000_000_000u64);
    let flame = dir.json(&[&["flame", "--json"][..], &files].concat());
    assert_eq!(flame["covered_ns"], 2_000_000_000u64);
}

#[test]
fn suggested_commands_keep_the_filters_and_work() {
    let dir = with_shop();
    let filters = [
        "--event",
        "jdk.ExecutionSample",
        "--threads",
        "work*",
        "--where",
        "state=STATE_RUNNABLE",
    ];
    let words = " --where state=STATE_RUNNABLE --event jdk.ExecutionSample --threads 'work*'";
    for command in [
        &["report", "shop.jfr", "--by", "http.route"][..],
        &["labels", "shop.jfr"],
    ] {
        let text = dir.ok(&[command, &filters].concat());
        let next = text.split_once(" next: ").unwrap().1;
        let commands: Vec<&str> = next.lines().map(str::trim).collect();
        assert!(!commands.is_empty());
        for line in commands {
            assert!(line.contains(words), "{line}");
            let line = line.replace("ctxjfr", env!("CARGO_BIN_EXE_ctxjfr"));
            let output = Command::new("sh")
                .args(["-c", &line])
                .current_dir(dir.0.path())
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && errors.is_empty(),
                "{line}: {errors}"
            );
        }
    }
    // What exists is seen before the input is read.
    let dir = dir.with("garbage.jfr", b"garbage");
    let message = dir.fails(1, &["flame", "garbage.jfr", "-o", "flame.html"]);
    assert!(message.contains("--force"), "{message}");
}

/// The chunks before an attribute's first use have a column for it, and no value in it.
#[test]
fn attribute_of_a_later_chunk_is_one_attribute() {
    let mut shop = Shop::new();
    shop.sample(None, Some("acme"), "m", 1);
    shop.r.rotate(Ticks(shop.at)).unwrap();
    let attribute = Attribute {
        name: "user.id".into(),
        ..Attribute::default()
    };
    shop.r.attribute(Ticks(shop.at), 2, &attribute).unwrap();
    let mut values = [AttributeKey::NONE; 8];
    values[2] = shop.r.attribute_value("7");
    shop.r.context(Ticks(shop.at), &values);
    shop.sample(Some("/"), None, "m", 1);
    let dir = TestDir::new().with("late.jfr", &shop.bytes());
    for command in ["labels", "summary"] {
        let json = dir.json(&[command, "late.jfr", "--json"]);
        let attributes = json["attributes"].as_array().unwrap();
        let names: Vec<&Value> = attributes.iter().map(|row| &row["name"]).collect();
        assert_eq!(names, ["http.route", "tenant", "user.id"], "{command}");
    }
    let hint = dir.fails(1, &["report", "late.jfr", "--by", "nothing"]);
    assert!(!hint.contains("user_id"), "{hint}");
}
