//! What users of `ctxjfr` see: results, exit codes, messages, files. Recordings are made with our writer.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

#[allow(dead_code, reason = "shared, each test uses its part")]
mod common;

use ctxagent_events::ProfileEvents as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::extra_events::{ExtraEvents as _, Park, TlabAllocation};
use common::*;
use ctxagent_events::{Allocation, MonitorEnter, WallSample};
use jfr_format::write::{AttributeKey, Thread, ThreadKey, Ticks};

/// Attribute values that try to act: terminal, HTML, JSON, CSV, bidirectional text, shell.
const HOSTILE: [&str; 8] = [
    "\u{1b}[31mred\u{1b}[0m\u{9b}0m",
    "</div></script><script>window.__hit=1</script><img src=x onerror=window.__hit=1>",
    "\",\"x\":[{}],'\\",
    "=cmd|' /C calc'!A0",
    "\u{202e}desrever\u{2066}\u{200b}\u{feff}",
    "line\nbreak\ttab\r\u{2028}",
    "$(touch /tmp/hit)`x`;x",
    "@@SCRIPT@@",
];

fn hostile() -> Vec<u8> {
    let mut shop = Shop::new();
    for text in HOSTILE {
        shop.sample(Some(text), Some("t"), text, 1);
    }
    shop.stats(&[("lost.\u{1b}[31m", 1)]);
    shop.bytes()
}

#[test]
fn report_shows_time_share_interval_losses_and_what_to_do_next() {
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
fn report_as_json_has_the_documented_fields() {
    let json = with_shop().json(&["report", "shop.jfr", "--by", "http.route,tenant", "--json"]);
    assert_eq!(json["schema"], "ctxjfr.report.1");
    assert_eq!(
        json["total"],
        serde_json::json!({"samples": 100, "weight": 100, "value": 1_000_000_000})
    );
    assert_eq!(json["unit"], "cpu_ns");
    assert_eq!(json["interval_ns"], 10_000_000);
    assert_eq!(json["events"], serde_json::json!(["jdk.ExecutionSample"]));
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(
        rows[0]["values"],
        serde_json::json!(["POST /checkout", "acme"])
    );
    assert_eq!(rows[0]["value"], 400_000_000);
    assert_eq!(rows[1]["values"], serde_json::json!(["GET /search", null]));
    assert_eq!(rows[3]["values"], serde_json::json!([null, null]));
    assert_eq!(json["accounting"]["holds"], true);
    assert_eq!(
        json["accounting"]["lost_by_cause"],
        serde_json::json!({"no_slot": 2, "write": 1})
    );
    assert!((json["coverage"].as_f64().unwrap() - 0.9).abs() < 1e-9);
}

#[test]
fn filters_choose_samples() {
    let folder = with_shop();
    let samples = |filters: &[&str]| {
        let mut arguments = vec!["report", "shop.jfr", "--by", "tenant", "--json"];
        arguments.extend(filters);
        folder.json(&arguments)["total"]["samples"]
            .as_u64()
            .unwrap()
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
fn only_names_in_use_are_offered() {
    // Columns are made for eight attributes; two have names.
    let folder = with_shop();
    let message = folder.fails(1, &["report", "shop.jfr", "--by", "endpoint"]);
    let offered = "there are: http.route, tenant; and thread, state, event";
    assert!(message.contains(offered), "{message}");
    let message = folder.fails(1, &["report", "shop.jfr", "--by", "context5"]);
    assert!(message.contains(offered), "{message}");
}

#[test]
fn a_choice_that_leaves_nothing_is_a_finding_with_what_there_is() {
    let folder = with_shop();
    let route = "http.route=GET /serach";
    let values = "values of http.route: 'POST /checkout', 'GET /search'";
    for command in [
        &["report", "shop.jfr", "--by", "tenant"][..],
        &["report", "shop.jfr", "--by", "tenant", "--json"],
        &["labels", "shop.jfr"],
        &["labels", "shop.jfr", "--json"],
        &["flame", "shop.jfr"],
    ] {
        let message = folder.fails(1, &[command, &["--where", route]].concat());
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
    let message = folder.fails(
        1,
        &[&["report", "shop.jfr", "--by", "tenant"], &both[..]].concat(),
    );
    let each = "'http.route=GET /search' 30, 'tenant=acme' 40";
    assert!(message.contains(each), "{message}");
}

#[test]
fn an_attribute_called_thread_does_not_hide_the_thread() {
    let mut shop = Shop::new();
    let attribute = jfr_format::write::Attribute {
        name: "thread".into(),
        ..Default::default()
    };
    shop.r.attribute(Ticks(2), 1, &attribute).unwrap();
    shop.sample(Some("r"), Some("spool"), "m", 1);
    let folder = Folder::new().with("t.jfr", &shop.bytes());
    let value = |key: &str, told: bool| {
        let output = folder.run(&["report", "t.jfr", "--by", key, "--json"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        assert_eq!(errors.contains("'label:thread'"), told, "{errors}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["rows"][0]["values"][0].clone()
    };
    assert_eq!(value("thread", true), "worker-1");
    assert_eq!(value("label:thread", false), "spool");
    assert_eq!(value("label:http.route", false), "r");
    let chosen = |term: &str| {
        let command = ["report", "t.jfr", "--by", "state", "--where", term];
        folder.run(&command).status.code()
    };
    assert_eq!(chosen("thread=worker-1"), Some(0));
    assert_eq!(chosen("label:thread=spool"), Some(0));
    assert_eq!(chosen("label:thread=worker-1"), Some(1));
    let labels = folder.ok(&["report", "t.jfr", "--by", "http.route"]);
    assert!(labels.contains("--by label:thread"), "{labels}");
}

#[test]
fn numbers_stand_in_plain_sentences() {
    let mut shop = Shop::new();
    shop.sample(Some("r"), None, "m", 1);
    other_kinds(&mut shop, true);
    let folder = Folder::new().with("a.jfr", &shop.bytes());
    let report = |event| folder.ok(&["report", "a.jfr", "--by", "http.route", "--event", event]);
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
    let summary = folder.ok(&["summary", "a.jfr"]);
    assert!(
        summary.starts_with(" 1 chunk, ") && summary.contains(", 1 CPU sample\n"),
        "{summary}"
    );
}

#[test]
fn weights_count_as_intervals_and_widen_the_interval() {
    let mut shop = Shop::new();
    for _ in 0..10 {
        shop.sample(Some("a"), None, "m", 1);
    }
    shop.sample(Some("b"), None, "m", 10);
    let json = Folder::new().with("w.jfr", &shop.bytes()).json(&[
        "report",
        "w.jfr",
        "--by",
        "http.route",
        "--json",
    ]);
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
}

/// One event of each kind beside the CPU samples, all in the context of the route `r`.
fn other_kinds(shop: &mut Shop, allocation_samples: bool) {
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
    let tlab_bytes = 4000;
    r.allocation_in_new_tlab(&TlabAllocation {
        allocation,
        tlab_bytes,
    });
    r.allocation_outside_tlab(&allocation);
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
    r.park(&Park {
        at,
        duration: Ticks(1000),
        thread,
        stack,
        class,
        timeout_nanos: None,
        until_epoch_millis: None,
        address: 1,
        context,
    });
}

#[test]
fn each_kind_of_event_is_summed_in_its_own_unit() {
    let recording = |allocation_samples| {
        let mut shop = Shop::new();
        shop.sample(Some("r"), None, "m", 1);
        other_kinds(&mut shop, allocation_samples);
        shop.bytes()
    };
    let folder = Folder::new()
        .with("a.jfr", &recording(true))
        .with("tlab.jfr", &recording(false));
    for (file, event, unit, value) in [
        ("a.jfr", "cpu", "cpu_ns", 10_000_000),
        ("a.jfr", "wall", "wall_ns", 150_000_000),
        ("a.jfr", "alloc", "bytes", 7000),
        ("tlab.jfr", "alloc", "bytes", 4100),
        ("a.jfr", "lock", "lock_ns", 1_250_000),
        ("a.jfr", "ThreadPark", "lock_ns", 1_000_000),
    ] {
        let by = ["--by", "http.route", "--event", event, "--json"];
        let report = folder.json(&[&["report", file][..], &by].concat());
        assert_eq!(report["unit"], unit, "{event}");
        assert_eq!(report["total"]["value"], value, "{event} of {file}");
        assert_eq!(report["rows"][0]["values"][0], "r", "{event}");
        let flame = folder.json(&[&["flame", file][..], &by].concat());
        assert_eq!(flame["value"], value, "{event} of {file}");
    }
    let lines = folder.ok(&["flame", "a.jfr", "--event", "lock", "-o", "collapsed"]);
    assert_eq!(lines, "(no stack: x) 1250000\n");
}

#[test]
fn labels_and_summary_tell_what_is_there() {
    let folder = with_shop();
    let labels = folder.ok(&["labels", "shop.jfr"]);
    assert!(
        labels.contains("http.route  POST /checkout 60.0 %, GET /search 30.0 %    90.0 %       2"),
        "{labels}"
    );
    assert!(
        !labels.contains("context5"),
        "free slots are no attributes: {labels}"
    );
    let summary = folder.json(&["summary", "shop.jfr", "--json"]);
    assert_eq!(summary["chunks"], 2);
    assert_eq!(summary["samples"], 100);
    assert_eq!(
        summary["attributes"][1],
        serde_json::json!({"name": "tenant", "values": 2, "samples": 60, "coverage": 0.6})
    );
    assert!(
        folder
            .ok(&["summary", "shop.jfr"])
            .contains("jdk.ExecutionSample")
    );
    assert!(
        folder
            .ok(&["check", "shop.jfr"])
            .contains("ok: every event is readable")
    );
}

#[test]
fn print_shows_events_and_json_lines_parse() {
    let folder = with_shop();
    let text = folder.ok(&["print", "shop.jfr", "--events", "ExecutionSample"]);
    assert_eq!(text.matches("jdk.ExecutionSample {").count(), 100);
    assert!(
        text.contains("http_route = \"POST /checkout\"")
            && text.contains("app.Shop.checkout line: 12"),
        "{text}"
    );
    let lines = folder.ok(&["print", "shop.jfr", "--json"]);
    let samples = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|event| event["type"] == "jdk.ExecutionSample")
        .count();
    assert_eq!(samples, 100);
}

/// Values of an event, with everything that a key is left of.
fn keys_left(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Object(fields) => {
            let is_key = fields.len() == 1 && fields.contains_key("key");
            usize::from(is_key) + fields.values().map(keys_left).sum::<usize>()
        }
        serde_json::Value::Array(elements) => elements.iter().map(keys_left).sum(),
        _ => 0,
    }
}

#[test]
fn print_as_json_resolves_the_names_of_every_frame() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jfr-format/tests/fixtures");
    let ours = std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/shop-jdk21.jfr.gz"),
    );
    let folder = with_shop().with("ours.jfr.gz", &ours.unwrap());
    let jdk = fixtures.join("jdk21.jfr").display().to_string();
    for file in ["shop.jfr", "ours.jfr.gz", &jdk] {
        let lines = folder.ok(&["print", file, "--json"]);
        let mut frames = 0;
        for line in lines.lines() {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(keys_left(&event), 0, "{file}: {line}");
            let stack = event["values"]["stackTrace"]["frames"].as_array();
            for frame in stack.into_iter().flatten() {
                frames += 1;
                let method = &frame["method"];
                let names = [&method["name"], &method["type"]["name"]];
                assert!(names.iter().all(|name| name.is_string()), "{file}: {frame}");
            }
        }
        assert!(frames > 20, "{file}: {frames}");
    }
}

#[test]
fn books_that_do_not_balance_are_a_finding() {
    let mut shop = Shop::new();
    shop.sample(Some("a"), None, "m", 1);
    shop.stats(&[("signals", 5), ("written", 1)]);
    let folder = Folder::new().with("bad.jfr", &shop.bytes());
    for arguments in [
        &["check", "bad.jfr"][..],
        &["report", "bad.jfr", "--by", "tenant"],
    ] {
        let output = folder.run(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains("NOT BALANCED"));
    }
}

#[test]
fn wrong_calls_end_with_2_and_unreadable_files_with_1() {
    let folder = with_shop()
        .with("empty.jfr", b"")
        .with("text.jfr", b"this is not a recording");
    for arguments in [
        &["report", "shop.jfr"][..],
        &["report", "--by", "x"],
        &["nonsense"],
        &["report", "shop.jfr", "--by", "x", "--json", "--csv"],
        &["report", "shop.jfr", "--by", "tenant", "--where", "=x"],
        &["flame", "shop.jfr", "-o", "flame.pdf"],
    ] {
        folder.fails(2, arguments);
    }
    for (file, part) in [
        ("missing.jfr", "No such file"),
        (".", "a directory"),
        ("/dev/zero", "no regular file"),
        ("empty.jfr", "no readable chunk"),
        ("text.jfr", "no readable chunk"),
    ] {
        for command in ["summary", "check", "print", "labels"] {
            assert!(
                folder.fails(1, &[command, file]).contains(part),
                "{command} {file}"
            );
        }
    }
    let fifo = folder.path("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    assert!(
        folder
            .fails(1, &["summary", "fifo"])
            .contains("no regular file")
    );
    let message = folder.fails(1, &["report", "shop.jfr", "--by", "route"]);
    assert!(message.contains("did you mean 'http.route'"), "{message}");
    let message = folder.fails(
        1,
        &["report", "shop.jfr", "--by", "tenant", "--event", "nix"],
    );
    assert!(message.contains("jdk.ExecutionSample"), "{message}");
}

#[test]
fn partly_readable_files_give_what_is_good_and_say_so() {
    let good = shop();
    let cut = [&good[..], &good[..good.len() - 2000]].concat();
    let garbage = [b"garbage", &good[..], &[0; 100]].concat();
    let folder = Folder::new()
        .with("cut.jfr", &cut)
        .with("garbage.jfr", &garbage);
    for (file, least) in [("cut.jfr", 160), ("garbage.jfr", 100)] {
        let output = folder.run(&["report", file, "--by", "http.route", "--json"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{file}");
        assert!(
            errors.contains("partly read") && errors.contains(file) && errors.contains("chunk at"),
            "{errors}"
        );
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(
            json["total"]["samples"].as_u64().unwrap() >= least,
            "{json}"
        );
        assert!(!json["damages"].as_array().unwrap().is_empty());
    }
}

#[test]
fn packed_files_are_read_and_traps_are_not() {
    let bytes = shop();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&bytes).unwrap();
    let zst = zstd::encode_all(&bytes[..], 1).unwrap();
    let folder = Folder::new()
        .with("a.gz", &gz.finish().unwrap())
        .with("b.jfr", &zst);
    for file in ["a.gz", "b.jfr"] {
        assert_eq!(
            folder.json(&["report", file, "--by", "tenant", "--json"])["total"]["samples"],
            100
        );
    }
    // Cut in the middle: what could be unpacked counts.
    let cut = std::fs::read(folder.path("a.gz")).unwrap();
    let folder = folder.with("cut.gz", &cut[..cut.len() / 2]);
    folder.fails(1, &["summary", "cut.gz"]);
    // A trap: a chunk that says to be endless, then two GiB of nothing in two MiB.
    let mut trap = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let mut header = bytes[..68].to_vec();
    header[8..16].copy_from_slice(&(1u64 << 40).to_be_bytes());
    trap.write_all(&header).unwrap();
    let nothing = vec![0u8; 1 << 20];
    for _ in 0..1100 {
        trap.write_all(&nothing).unwrap();
    }
    let folder = folder.with("trap.zst", &trap.finish().unwrap());
    let message = folder.fails(1, &["summary", "trap.zst"]);
    assert!(message.contains("1 GiB"), "{message}");
}

fn is_active(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[test]
fn text_of_a_recording_cannot_act_in_any_output() {
    let folder = Folder::new().with("h.jfr", &hostile());
    for arguments in [
        &["report", "h.jfr", "--by", "http.route,tenant"][..],
        &["report", "h.jfr", "--by", "http.route", "--json"],
        &["report", "h.jfr", "--by", "http.route", "--csv"],
        &["labels", "h.jfr", "--limit", "50"],
        &["labels", "h.jfr", "--json"],
        &["summary", "h.jfr"],
        &["summary", "h.jfr", "--json"],
        &["print", "h.jfr"],
        &["print", "h.jfr", "--json"],
        &["check", "h.jfr"],
        &["flame", "h.jfr", "--by", "http.route", "-o", "-"],
        &["flame", "h.jfr", "--by", "http.route", "-o", "collapsed"],
        &["flame", "h.jfr", "--json"],
    ] {
        let output = folder.run(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(
            !text.contains(is_active) && !errors.contains(is_active),
            "{arguments:?}: {text:?}"
        );
    }
    // Values come through JSON unharmed.
    let json: serde_json::Value = serde_json::from_slice(
        &folder
            .run(&["report", "h.jfr", "--by", "http.route", "--json"])
            .stdout,
    )
    .unwrap();
    let values: Vec<&str> = json["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["values"][0].as_str())
        .collect();
    for text in HOSTILE {
        assert!(values.contains(&text), "{text:?}");
    }
    let csv = String::from_utf8(
        folder
            .run(&["report", "h.jfr", "--by", "http.route", "--csv"])
            .stdout,
    )
    .unwrap();
    assert!(csv.contains("\"'=cmd|' /C calc'!A0\",1,1,"), "{csv}");
    assert!(
        csv.lines()
            .all(|line| !line.starts_with(['=', '+', '-', '@'])),
        "{csv}"
    );
    // --raw is a decision of the user.
    let raw = folder.run(&["report", "h.jfr", "--by", "http.route", "--raw"]);
    assert!(String::from_utf8_lossy(&raw.stdout).contains('\u{1b}'));
    // A suggested command is safe to paste.
    let text = folder.run(&[
        "report",
        "h.jfr",
        "--by",
        "http.route",
        "--where",
        "http.route=$(touch /tmp/hit)`x`;x",
    ]);
    assert!(
        String::from_utf8_lossy(&text.stdout)
            .contains("--where 'http.route=$(touch /tmp/hit)`x`;x'")
    );
}

#[test]
fn file_names_cannot_act_either() {
    let name = "x\u{1b}[31m\u{202e}.jfr";
    let folder = Folder::new().with(name, &shop());
    let text = folder.ok(&["report", name, "--by", "tenant"]);
    assert!(!text.contains(is_active), "{text:?}");
    let page = folder.ok(&["flame", name, "-o", "-"]);
    assert!(!page.contains(is_active));
    let message = folder.fails(1, &["summary", "\u{1b}[31m"]);
    assert!(!message.contains(is_active), "{message:?}");
}

#[test]
fn flame_page_needs_nothing_and_allows_nothing() {
    let folder = with_shop();
    folder.ok(&["flame", "shop.jfr", "--by", "http.route", "-o", "f.html"]);
    let page = std::fs::read_to_string(folder.path("f.html")).unwrap();
    assert!(page.contains("default-src 'none'"));
    for address in ["http://", "https://", "//cdn", "src=", "href=", "url("] {
        assert!(!page.contains(address), "{address}");
    }
    assert_eq!(page.matches("<script>").count(), 1);
    // The policy names exactly our script and our style.
    let between = |from: &str, to: &str| {
        page.split_once(from)
            .unwrap()
            .1
            .split_once(to)
            .unwrap()
            .0
            .to_owned()
    };
    let script = between("script-src 'sha256-", "'");
    assert_eq!(script, base64(&sha256(&between("<script>", "</script>"))));
    let style = between("style-src 'sha256-", "'");
    assert_eq!(style, base64(&sha256(&between("<style>", "</style>"))));
}

/// By the tools of the system, so that the page's own code is not its judge.
fn sha256(text: &str) -> Vec<u8> {
    let mut child = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let hex = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    (0..32)
        .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

fn base64(bytes: &[u8]) -> String {
    let mut child = Command::new("base64")
        .arg("-w0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn collapsed_lines_have_labels_as_roots() {
    let text = with_shop().ok(&["flame", "shop.jfr", "--by", "http.route", "-o", "collapsed"]);
    let expected = "\
http.route=(unlabelled);java.lang.Thread.run;app.Shop.idle 10
http.route=GET /search;java.lang.Thread.run;app.Shop.search 30
http.route=POST /checkout;java.lang.Thread.run;app.Shop.checkout 60
";
    assert_eq!(text, expected);
}

#[test]
fn flame_tree_adds_up() {
    let json = with_shop().json(&["flame", "shop.jfr", "--by", "http.route", "--json"]);
    let nodes: Vec<u64> = json["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap())
        .collect();
    let frames = json["frames"].as_array().unwrap();
    let name = |node: usize| {
        frames[usize::try_from(nodes[4 * node]).unwrap()][0]
            .as_str()
            .unwrap()
    };
    assert_eq!(
        (name(0), nodes[1], nodes[2], nodes[3]),
        ("all", 100, 1_000_000_000, 3)
    );
    assert_eq!((name(1), nodes[5]), ("http.route=POST /checkout", 60));
    assert_eq!(
        (name(2), name(3)),
        ("java.lang.Thread.run", "app.Shop.checkout")
    );
    assert_eq!(nodes.len(), 4 * (1 + 3 * 3));
}

#[test]
fn output_files_are_ours_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = with_shop()
        .with("victim", b"precious")
        .with("taken.html", b"precious");
    folder.ok(&["flame", "shop.jfr", "-o", "new.html"]);
    let mode = std::fs::metadata(folder.path("new.html"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    // Nothing is overwritten, and no link is followed, not even with --force.
    assert!(
        folder
            .fails(1, &["flame", "shop.jfr", "-o", "taken.html"])
            .contains("--force")
    );
    std::os::unix::fs::symlink(folder.path("victim"), folder.path("link.html")).unwrap();
    folder.fails(1, &["flame", "shop.jfr", "-o", "link.html"]);
    folder.ok(&["flame", "shop.jfr", "-o", "link.html", "--force"]);
    assert_eq!(std::fs::read(folder.path("victim")).unwrap(), b"precious");
    folder.ok(&["flame", "shop.jfr", "-o", "taken.html", "--force"]);
    // Never onto an input.
    std::fs::copy(folder.path("shop.jfr"), folder.path("in.html")).unwrap();
    folder.fails(2, &["flame", "in.html", "-o", "in.html", "--force"]);
    folder.fails(1, &["flame", "shop.jfr", "-o", "no/such/folder/x.html"]);
    // Nothing is left behind.
    let left: Vec<_> = std::fs::read_dir(folder.0.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().contains(".tmp")),
        "{left:?}"
    );
}

#[test]
fn closed_stdout_is_quiet() {
    let folder = with_shop();
    let mut child = folder
        .command(&["print", "shop.jfr"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.len()),
        (Some(0), 0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn several_files_add_up() {
    let folder = with_shop().with("b.jfr", &shop());
    let json = folder.json(&["report", "shop.jfr", "b.jfr", "--by", "tenant", "--json"]);
    assert_eq!(json["total"]["samples"], 200);
    assert_eq!(json["accounting"]["signals"], 206);
}

#[test]
fn no_mutation_of_a_recording_breaks_a_command() {
    let base = shop();
    let folder = Folder::new();
    for seed in 1..=60u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % bound as u64).unwrap()
        };
        let mut bytes = base.clone();
        for _ in 0..=random(8) {
            let at = random(bytes.len());
            bytes[at] = u8::try_from(random(256)).unwrap();
        }
        std::fs::write(folder.path("m.jfr"), &bytes).unwrap();
        for arguments in [
            &["report", "m.jfr", "--by", "thread"][..],
            &["check", "m.jfr"],
            &["flame", "m.jfr", "-o", "collapsed"],
            &["print", "m.jfr", "--json"],
        ] {
            let output = folder.run(arguments);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0 | 1)) && !errors.contains("panicked"),
                "seed {seed} {arguments:?}: {errors}"
            );
        }
    }
}

#[test]
fn golden_recording_gives_its_golden_texts() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let file = "shop-jdk21.jfr.gz";
    for (golden, arguments) in [
        (
            "shop-jdk21.report",
            &["report", file, "--by", "http.route,tenant"][..],
        ),
        (
            "shop-jdk21.collapsed",
            &["flame", file, "--by", "http.route", "-o", "collapsed"],
        ),
        ("shop-jdk21.summary", &["summary", file]),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_ctxjfr"))
            .args(arguments)
            .current_dir(&fixtures)
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        let golden = fixtures.join(golden);
        if std::env::var_os("CTXJFR_BLESS").is_some() {
            std::fs::write(&golden, &text).unwrap();
        }
        assert_eq!(
            text,
            std::fs::read_to_string(&golden).unwrap(),
            "{}",
            golden.display()
        );
    }
}

/// A browser, where there is one: the page runs its own script and nothing else.
#[test]
fn page_draws_in_a_browser_and_runs_no_script_of_the_recording() {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .find(|name| on_path(name))
    else {
        println!("SKIP: no chromium");
        return;
    };
    let folder = Folder::new().with("h.jfr", &hostile());
    folder.run(&[
        "flame",
        "h.jfr",
        "--by",
        "http.route",
        "--title",
        HOSTILE[1],
        "-o",
        "h.html",
    ]);
    let page = format!("file://{}", folder.path("h.html").display());
    let profile = format!("--user-data-dir={}", folder.path("profile").display());
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
            "--dump-dom",
            &profile,
            &page,
        ])
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(dom.contains("8 samples"), "the script ran: {dom}\n{log}");
    assert!(!log.contains("CONSOLE"), "{log}");
    assert!(!dom.contains("<img"), "{dom}");
}

fn on_path(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder: PathBuf| Path::new(&folder).join(name).exists())
    })
}
