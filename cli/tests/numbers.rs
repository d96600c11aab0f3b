//! What the numbers mean: whose books, how sure, whose time; and that the commands agree on it.
#![expect(clippy::unwrap_used, reason = "tests")]

#[allow(dead_code, reason = "shared, each test uses its part")]
mod common;

use ctxagent_events::ProfileEvents as _;
use std::process::Command;

use common::*;
use ctxagent_events::{GcPhasePause, Sample, Setting};
use jfr_format::write::{Context, Frame, FrameKind, Method, StackTrace, Thread, Ticks};
use serde_json::Value;

const DAY: i64 = 86_400_000_000_000;

#[test]
fn the_books_are_those_of_the_events_asked_for() {
    let recording = |written: i64| {
        let mut shop = Shop::new();
        shop.sample(Some("r"), None, "m", 1);
        shop.wait("r", 250);
        shop.stats(&[
            ("signals", 1),
            ("written", 1),
            ("lock.seen", 7),
            ("lock.written", written),
            ("lock.short", 3),
            ("lock.lost", 2),
        ]);
        shop.bytes()
    };
    let folder = Folder::new()
        .with("good.jfr", &recording(2))
        .with("bad.jfr", &recording(1));
    let by = ["--by", "tenant"];
    let text = folder.ok(&[&["report", "good.jfr", "--event", "lock"][..], &by].concat());
    let books = " losses: 2 waits = 28.57 %
            2  lock.lost
 accounting: 7 waits = 2 written + 3 short + 2 lost: balanced
";
    assert!(text.contains(books), "{text}");
    let text = folder.ok(&[&["report", "bad.jfr"][..], &by].concat());
    let books = " losses: none\n accounting: 1 signals = 1 written + 0 lost: balanced\n";
    assert!(text.contains(books), "{text}");
    for arguments in [
        &["check", "bad.jfr"][..],
        &["report", "bad.jfr", "--event", "lock", "--by", "tenant"],
        &[
            "report", "bad.jfr", "--event", "lock", "--by", "tenant", "--where", "tenant=x",
        ],
    ] {
        let output = folder.run(arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
        assert!(text.contains("NOT BALANCED"), "{arguments:?}: {text}");
    }
    let json = folder.json(&[
        "report", "good.jfr", "--event", "lock", "--by", "tenant", "--json",
    ]);
    let kind = serde_json::json!({"what": "waits", "seen": 7, "written": 2, "lost": 2, "lost_by_cause": {"lock.lost": 2}, "others": {"short": 3}, "holds": true});
    assert_eq!(json["accounting"]["kinds"], serde_json::json!([kind]));
    assert_eq!(json["accounting"]["signals"], 1);
    let summary = folder.ok(&["summary", "good.jfr"]);
    let books = "2  lock.lost
 accounting: 1 signals = 1 written + 0 lost: balanced
             7 waits = 2 written + 3 short + 2 lost: balanced
";
    assert!(summary.contains(books), "{summary}");
}

#[test]
fn visits_that_no_sample_stands_for_are_told() {
    let mut shop = Shop::new();
    shop.sample(Some("r"), None, "m", 1);
    shop.stats(&[
        ("wall.signals", 1),
        ("wall.written", 1),
        ("wall.scheduled", 5),
        ("wall.sent", 2),
        ("wall.pending", 3),
        ("wall.left_out", 3),
    ]);
    let folder = Folder::new().with("w.jfr", &shop.bytes());
    let text = folder.ok(&["report", "w.jfr", "--event", "wall", "--by", "tenant"]);
    let books = " left out: 3 visits = 60.00 %
            3  wall.left_out
 accounting: 1 wall-clock signals = 1 written + 0 lost: balanced
             5 visits = 2 sent + 3 pending + 0 lost: balanced
";
    assert!(text.contains(books), "{text}");
    assert!(!text.contains("losses: none"), "{text}");
}

#[test]
fn nothing_is_claimed_of_losses_behind_the_last_counters() {
    let recording = |counters_last: bool| {
        let mut shop = Shop::new();
        let at = |n| jfr_format::write::Ticks(n);
        shop.sample(Some("r"), None, "m", 1);
        shop.stats(&[("signals", 1), ("written", 1)]);
        shop.r.rotate(at(200_000)).unwrap();
        shop.at = 400_000;
        shop.sample(Some("r"), None, "m", 1);
        if counters_last {
            shop.at = 1_400_000;
            shop.r.stat(at(shop.at), "signals", 1, 2);
            shop.r.stat(at(shop.at), "written", 1, 2);
        }
        shop.bytes_of_killed(1_700_000)
    };
    let mut without = Shop::new();
    without.sample(Some("r"), None, "m", 1);
    let folder = Folder::new()
        .with("killed.jfr", &recording(false))
        .with("dumped.jfr", &recording(true))
        .with("early.jfr", &without.bytes_of_killed(300_000));
    for command in [&["report", "--by", "tenant"][..], &["summary"], &["check"]] {
        let of = |file, json: &[&str]| {
            folder.ok(&[&command[..1], &[file], &command[1..], json].concat())
        };
        let accounting = |file| -> Value {
            let json: Value = serde_json::from_str(&of(file, &["--json"])).unwrap();
            json["accounting"].clone()
        };
        let text = of("killed.jfr", &[]);
        let lines = " losses: none as far as it is known
 losses of the last 1.50 s are not known (recording not finished)
 accounting: 1 signals = 1 written + 0 lost: balanced as far as it is known
";
        assert!(text.contains(lines), "{command:?}: {text}");
        let killed = accounting("killed.jfr");
        assert_eq!(killed["unknown_ns"], 1_500_000_000, "{command:?}: {killed}");
        assert_eq!(killed["holds"], Value::Null, "{command:?}: {killed}");
        let dumped = accounting("dumped.jfr");
        assert_eq!(dumped["unknown_ns"], 0, "{command:?}: {dumped}");
        assert_eq!(dumped["holds"], true, "{command:?}: {dumped}");
        let text = of("early.jfr", &[]);
        let line = " losses of the last 300 ms are not known (recording not finished)\n";
        assert!(text.contains(line), "{command:?}: {text}");
        let early = accounting("early.jfr");
        assert_eq!(early["unknown_ns"], 300_000_000, "{command:?}: {early}");
        for figure in ["signals", "written", "lost", "lost_by_cause", "holds"] {
            assert_eq!(early[figure], Value::Null, "{command:?} {figure}: {early}");
        }
    }
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
    let folder = Folder::new().with("l.jfr", &shop.bytes());
    let arguments = ["report", "l.jfr", "--by", "http.route", "--event", "lock"];
    let row = &folder.json(&[&arguments[..], &["--json"]].concat())["rows"][0];
    assert_eq!(row["values"][0], "long");
    assert_eq!(row["share_low"], Value::Null, "{row}");
    let text = folder.ok(&arguments);
    assert!(!text.contains("interval"), "{text}");
    assert!(
        text.contains(" long        10.00 s  50.0 %        1\n"),
        "{text}"
    );
    let csv = folder.ok(&[&arguments[..], &["--csv"]].concat());
    assert!(csv.contains("\nlong,1,1,10000000000,0.500250,,\n"), "{csv}");
}

#[test]
fn a_sample_written_as_several_events_is_the_evidence_of_one() {
    let report = |weights: &[u32]| {
        let mut shop = Shop::new();
        for &weight in weights {
            shop.sample(Some("heavy"), None, "m", weight);
        }
        for _ in 0..990 {
            shop.sample(Some("light"), None, "m", 1);
        }
        Folder::new().with("h.jfr", &shop.bytes()).json(&[
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
fn samples_of_sleeping_threads_are_no_cpu_time() {
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
    let folder = Folder::new()
        .with("wall.jfr", &recording("wall"))
        .with("both.jfr", &recording("cpu"));
    let report = |file: &str, event: &str| {
        let output = folder.run(&["report", file, "--by", "tenant", "--event", event, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{file} {event}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let remark = String::from_utf8(output.stderr).unwrap();
        (json, remark)
    };
    for (file, advice) in [
        ("wall.jfr", "--event wall counts them"),
        ("both.jfr", "--event jdk.ExecutionSample counts them"),
    ] {
        let (cpu, remark) = report(file, "cpu");
        assert_eq!(cpu["total"]["samples"], 4, "{file}");
        assert_eq!(cpu["sleeping_left_out"], 6, "{file}");
        assert!(remark.contains("6 samples of sleeping threads"), "{remark}");
        assert!(remark.contains(advice), "{remark}");
        let (all, remark) = report(file, "jdk.ExecutionSample");
        assert_eq!(
            (&all["total"]["samples"], &*remark),
            (&10.into(), ""),
            "{file}"
        );
    }
    let (wall, remark) = report("wall.jfr", "wall");
    assert_eq!((&wall["total"]["samples"], &*remark), (&10.into(), ""));
    assert_eq!(wall["unit"], "wall_ns");
    assert_eq!(wall["total"]["value"], 100_000_000);
    assert_eq!(wall["events"], serde_json::json!(["jdk.ExecutionSample"]));
    let (none, _) = report("both.jfr", "wall");
    assert_eq!(none["total"]["samples"], 0);
    // No remark either: these have no --event.
    for (command, samples) in [("summary", 4), ("check", 10)] {
        let json = folder.json(&[command, "both.jfr", "--json"]);
        assert_eq!(json["samples"], samples, "{command}");
    }
}

#[test]
fn virtual_threads_are_told_from_others_and_counted_one_by_one() {
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
    let folder = Folder::new().with("v.jfr", &shop.bytes());
    assert_eq!(folder.json(&["summary", "v.jfr", "--json"])["threads"], 3);
    let report = |more: &[&str]| {
        folder.json(&[&["report", "v.jfr", "--by", "thread", "--json"], more].concat())
    };
    let all = report(&[]);
    assert_eq!(all["rows"][0]["values"][0], "(virtual)", "{all}");
    assert_eq!(all["rows"][0]["samples"], 2, "{all}");
    assert_eq!(all["rows"][1]["values"][0], "worker-1", "{all}");
    assert_eq!(report(&["--threads", "(virtual)"])["total"]["samples"], 2);
    assert_eq!(report(&["--threads", "worker*"])["total"]["samples"], 1);
}

#[test]
fn coverage_is_one_number_in_three_commands() {
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
    let folder = Folder::new()
        .with("java.jfr", &all_of_java)
        .with("labelled.jfr", &labelled.bytes());
    for file in ["java.jfr", "labelled.jfr"] {
        // 50 of the 80 that are not the collector's.
        let report = folder.json(&["report", file, "--by", "http.route", "--json"]);
        assert_eq!(report["coverage"], 0.625, "{report}");
        for command in ["labels", "summary"] {
            let json = folder.json(&[command, file, "--json"]);
            assert_eq!(json["attributes"][0]["coverage"], 0.625, "{json}");
            assert!(folder.ok(&[command, file]).contains("62.5 %"), "{command}");
        }
    }
}

#[test]
fn the_commands_that_come_next_keep_the_choice_of_samples_and_work_one_after_the_other() {
    let folder = with_shop();
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
        let text = folder.ok(&[command, &filters].concat());
        let next = text.split_once(" next: ").unwrap().1;
        let commands: Vec<&str> = next.lines().map(str::trim).collect();
        assert!(!commands.is_empty());
        for line in commands {
            assert!(line.contains(words), "{line}");
            let line = line.replace("ctxjfr", env!("CARGO_BIN_EXE_ctxjfr"));
            let output = Command::new("sh")
                .args(["-c", &line])
                .current_dir(folder.0.path())
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
    let folder = folder.with("garbage.jfr", b"garbage");
    let message = folder.fails(1, &["flame", "garbage.jfr", "-o", "flame.html"]);
    assert!(message.contains("--force"), "{message}");
}

#[test]
fn the_time_between_two_files_is_not_covered() {
    let recording = |days: i64| {
        let mut shop = Shop::with(|config| {
            config.clock.start_epoch_nanos += u64::try_from(days * DAY).unwrap();
        });
        shop.sample(Some("r"), None, "m", 50);
        shop.bytes()
    };
    let folder = Folder::new()
        .with("a.jfr", &recording(0))
        .with("b.jfr", &recording(1))
        .with("beside.jfr", &recording(0));
    let files = ["a.jfr", "b.jfr", "beside.jfr"];
    let report = folder.json(&[&["report", "--by", "tenant", "--json"][..], &files].concat());
    assert_eq!(report["covered_ns"], 2_000_000_000u64);
    let summary = folder.json(&[&["summary", "--json"][..], &files].concat());
    assert_eq!(summary["duration_ns"], 2_000_000_000u64);
    let flame = folder.json(&[&["flame", "--json"][..], &files].concat());
    assert_eq!(flame["covered_ns"], 2_000_000_000u64);
}

#[test]
fn print_knows_what_it_is_asked_for_and_tells_times_exactly() {
    let mut shop = Shop::with(|config| {
        config.settings = vec![Setting {
            event: "jdk.ExecutionSample".into(),
            name: "x".into(),
            value: "y".into(),
        }];
    });
    shop.at = 345;
    shop.sample(None, None, "m", 1);
    let folder = Folder::new().with("p.jfr", &shop.bytes());
    let message = folder.fails(
        1,
        &["print", "p.jfr", "--events", "Execution*,ExecutionSampel"],
    );
    assert!(
        message.contains("no event type 'ExecutionSampel'"),
        "{message}"
    );
    assert!(message.contains("jdk.ExecutionSample, "), "{message}");
    // Declared, and there is none: an answer.
    assert_eq!(
        folder.ok(&["print", "p.jfr", "--events", "JavaMonitorEnter"]),
        ""
    );
    let line = folder.ok(&["print", "p.jfr", "--events", "ExecutionSample", "--json"]);
    let event: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        event["values"]["startTime"],
        "2023-11-14T22:13:20.010345000Z"
    );
}

/// A sample of a thread of the VM, without a context.
fn sample_of_vm(shop: &mut Shop, name: &str, id: u64, at: u64) {
    shop.at = at;
    let thread = Thread::native(name, id);
    shop.sample_of(&thread, "STATE_RUNNABLE", [None, None], "m", 1);
}

/// One sample each of the collector, a compiler, the VM in a pause for GC and beside it, a native thread, and a request.
fn of_every_family() -> Vec<u8> {
    let mut shop = Shop::new();
    shop.sample(Some("r"), Some("t"), "m", 1);
    shop.sample(None, None, "m", 1);
    sample_of_vm(&mut shop, "GC Thread#0", 81, 100_000);
    sample_of_vm(&mut shop, "C2 CompilerThre", 82, 200_000);
    sample_of_vm(&mut shop, "VM Thread", 83, 300_000);
    sample_of_vm(&mut shop, "VM Thread", 83, 400_000);
    sample_of_vm(&mut shop, "my-library", 84, 500_000);
    let thread = shop.r.thread(&Thread::native("VM Thread", 83));
    // The sample is taken 10 ms after the time that was set.
    shop.r.gc_phase_pause(&GcPhasePause {
        at: Ticks(305_000),
        duration: Ticks(20_000),
        thread,
        gc_id: 1,
        name: "GC Pause",
    });
    shop.bytes()
}

#[test]
fn the_picture_has_the_rows_of_the_table() {
    let folder = Folder::new().with("f.jfr", &of_every_family());
    let report = folder.json(&["report", "f.jfr", "--by", "http.route,tenant", "--json"]);
    let rows = report["rows"].as_array().unwrap();
    let name = |row: &Value| match (&row["values"][0], &row["family"]) {
        (Value::String(route), _) => format!("http.route={route};tenant=t"),
        (_, Value::String(family)) => format!("http.route={family};tenant={family}"),
        _ => "http.route=(unlabelled);tenant=(unlabelled)".to_owned(),
    };
    let mut table: Vec<(String, u64)> = rows
        .iter()
        .map(|row| (name(row), row["weight"].as_u64().unwrap()))
        .collect();
    table.sort();
    let text = folder.ok(&[
        "flame",
        "f.jfr",
        "--by",
        "http.route,tenant",
        "-o",
        "collapsed",
    ]);
    let picture: Vec<(String, u64)> = text
        .lines()
        .map(|line| {
            let (stack, weight) = line.rsplit_once(' ').unwrap();
            let roots: Vec<&str> = stack.split(';').take(2).collect();
            (roots.join(";"), weight.parse().unwrap())
        })
        .collect();
    assert_eq!(picture, table);
    // The VM's own thread works for the collector in a pause.
    let weight = |family: &str| {
        let row = rows.iter().find(|row| row["family"] == family);
        row.map(|row| row["weight"].as_u64().unwrap())
    };
    assert_eq!(weight("(GC)"), Some(2), "{report}");
    assert_eq!(weight("(VM)"), Some(1), "{report}");
    assert_eq!(weight("(JIT)"), Some(1), "{report}");
    assert_eq!(weight("(native)"), Some(1), "{report}");
    let json = folder.json(&["flame", "f.jfr", "--by", "http.route", "--json"]);
    let frames = json["frames"].as_array().unwrap();
    assert!(
        frames.contains(&serde_json::json!(["http.route=(JIT)", 0])),
        "{json}"
    );
}

#[test]
fn threads_of_the_vm_have_whole_names() {
    let folder = Folder::new().with("f.jfr", &of_every_family());
    let text = folder.ok(&["report", "f.jfr", "--by", "thread"]);
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
        assert_eq!(folder.json(&report)["total"]["samples"], 1, "{glob}");
    }
}

#[test]
fn a_method_has_one_line_and_one_node_whatever_its_kinds() {
    let mut shop = Shop::new();
    let r = &mut shop.r;
    let thread = r.thread(&worker());
    let state = r.state("STATE_RUNNABLE");
    let method = r.method(&Method::new("app/Shop", "price", "()V", 1));
    let kinds = [FrameKind::Jit, FrameKind::Inlined, FrameKind::Interpreted];
    for (n, kind) in (1..).zip(kinds) {
        let frame = Frame {
            method,
            line: 12,
            bci: 3,
            kind,
        };
        let stack = r.stack(&StackTrace {
            truncated: false,
            frames: &[frame, frame],
        });
        let context = Context::NONE;
        let (at, weight) = (Ticks(u64::from(n) * 1000), n);
        r.execution_sample(&Sample {
            at,
            thread,
            stack,
            state,
            context,
            weight,
        });
    }
    let folder = Folder::new().with("k.jfr", &shop.bytes());
    let lines = folder.ok(&["flame", "k.jfr", "-o", "collapsed"]);
    assert_eq!(lines, "app.Shop.price;app.Shop.price 6\n");
    let json = folder.json(&["flame", "k.jfr", "--json"]);
    let nodes = json["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 3 * 4, "{json}");
    let ms = |n: u64| n * 10_000_000;
    let kinds = |node: u64| serde_json::json!([node, 1, ms(1), 2, ms(2), 3, ms(3)]);
    assert_eq!(json["kinds"], serde_json::json!([kinds(1), kinds(2)]));
}

#[test]
fn what_one_of_several_files_leaves_unknown_or_unsampled_counts_in_any_order() {
    let mut killed = Shop::new();
    killed.sample(Some("r"), None, "m", 1);
    let mut taken = Shop::with(|config| config.interval = std::time::Duration::from_millis(20));
    taken.sample(Some("r"), None, "m", 1);
    taken.stats(&[
        ("signals", 70),
        ("written", 70),
        ("signal.lost", 1),
        ("points.unsampled", 30),
    ]);
    let mut limited = Shop::with(|config| {
        config.settings = vec![Setting {
            event: "jdk.ExecutionSample".into(),
            name: "ratelimit".into(),
            value: "cpu:100".into(),
        }];
    });
    limited.sample(Some("r"), None, "m", 1);
    // By weight this adds up only where samples weigh for others.
    let weights = [("signals", 9), ("written", 9), ("written.weight", 11)];
    limited.stats(&weights);
    let folder = Folder::new()
        .with("killed.jfr", &killed.bytes_of_killed(300_000))
        .with("taken.jfr", &taken.bytes())
        .with("limited.jfr", &limited.bytes())
        .with("shop.jfr", &shop());
    let summary = |files: &[&str]| {
        let json = folder.json(&[&["summary", "--json"][..], files].concat());
        json["accounting"].clone()
    };
    for files in [["killed.jfr", "shop.jfr"], ["shop.jfr", "killed.jfr"]] {
        let accounting = summary(&files);
        assert_eq!(accounting["unknown_ns"], 300_000_000, "{files:?}");
        assert_eq!(accounting["holds"], Value::Null, "{files:?}");
    }
    for files in [["taken.jfr", "shop.jfr"], ["shop.jfr", "taken.jfr"]] {
        let accounting = summary(&files);
        // 30 of 20 ms; 100 of 20 ms and 103 of 10 ms.
        assert_eq!(accounting["signal_taken"], 1, "{files:?}");
        assert_eq!(accounting["unsampled_cpu_ns"], 600_000_000, "{files:?}");
        assert_eq!(accounting["used_cpu_ns"], 3_030_000_000u64, "{files:?}");
        let text = folder.fails_with_result(1, &["check", files[0], files[1]]);
        let line = " not sampled for 600 ms of 3.03 s of CPU time: something else took the sampling signal once";
        assert!(text.contains(line), "{text}");
    }
    for files in [["limited.jfr", "shop.jfr"], ["shop.jfr", "limited.jfr"]] {
        folder.ok(&[&["check"][..], &files].concat());
    }
}
