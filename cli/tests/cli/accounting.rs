//! Losses and balance, for the events that a command counts.

use ctxagent_events::{ProfileEvents as _, Setting};
use jfr_format::write::Ticks;
use serde_json::{Value, json};

use crate::common::*;

#[test]
fn unbalanced_accounting_is_a_finding() {
    let mut shop = Shop::new();
    shop.sample(Some("a"), None, "m", 1);
    shop.stats(&[("signals", 5), ("written", 1)]);
    let dir = TestDir::new().with("bad.jfr", &shop.bytes());
    for arguments in [
        &["check", "bad.jfr"][..],
        &["report", "bad.jfr", "--by", "tenant"],
    ] {
        let output = dir.run(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains("NOT BALANCED"));
    }
}

#[test]
fn accounting_is_that_of_the_selected_events() {
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
    let dir = TestDir::new()
        .with("good.jfr", &recording(2))
        .with("bad.jfr", &recording(1));
    let by = ["--by", "tenant"];
    let text = dir.ok(&[&["report", "good.jfr", "--event", "lock"][..], &by].concat());
    let expected = " losses: 2 waits = 28.57 %
            2  lock.lost
 accounting: 7 waits = 2 written + 3 short + 2 lost: balanced
";
    assert!(text.contains(expected), "{text}");
    let text = dir.ok(&[&["report", "bad.jfr"][..], &by].concat());
    let expected = " losses: none\n accounting: 1 signals = 1 written + 0 lost: balanced\n";
    assert!(text.contains(expected), "{text}");
    for arguments in [
        &["check", "bad.jfr"][..],
        &["report", "bad.jfr", "--event", "lock", "--by", "tenant"],
        &[
            "report", "bad.jfr", "--event", "lock", "--by", "tenant", "--where", "tenant=x",
        ],
    ] {
        let output = dir.run(arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
        assert!(text.contains("NOT BALANCED"), "{arguments:?}: {text}");
    }
    let json = dir.json(&[
        "report", "good.jfr", "--event", "lock", "--by", "tenant", "--json",
    ]);
    let kind = json!({"what": "waits", "seen": 7, "written": 2, "lost": 2,
        "lost_by_cause": {"lock.lost": 2}, "others": {"short": 3}, "is_balanced": true});
    assert_eq!(json["accounting"]["kinds"], json!([kind]));
    assert_eq!(json["accounting"]["signals"], 1);
    let summary = dir.ok(&["summary", "good.jfr"]);
    let expected = "2  lock.lost
 accounting: 1 signals = 1 written + 0 lost: balanced
             7 waits = 2 written + 3 short + 2 lost: balanced
";
    assert!(summary.contains(expected), "{summary}");
}

#[test]
fn visits_without_a_sample_are_shown() {
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
    let dir = TestDir::new().with("w.jfr", &shop.bytes());
    let text = dir.ok(&["report", "w.jfr", "--event", "wall", "--by", "tenant"]);
    let expected = " left out: 3 visits = 60.00 %
            3  wall.left_out
 accounting: 1 wall-clock signals = 1 written + 0 lost: balanced
             5 visits = 2 sent + 3 pending + 0 lost: balanced
";
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("losses: none"), "{text}");
}

#[test]
fn losses_after_the_last_counters_are_unknown() {
    let recording = |counters_last: bool| {
        let mut shop = Shop::new();
        shop.sample(Some("r"), None, "m", 1);
        shop.stats(&[("signals", 1), ("written", 1)]);
        shop.r.rotate(Ticks(200_000)).unwrap();
        shop.at = 400_000;
        shop.sample(Some("r"), None, "m", 1);
        if counters_last {
            shop.at = 1_400_000;
            shop.r.stat(Ticks(shop.at), "signals", 1, 2);
            shop.r.stat(Ticks(shop.at), "written", 1, 2);
        }
        shop.bytes_of_killed(1_700_000)
    };
    let mut without = Shop::new();
    without.sample(Some("r"), None, "m", 1);
    let dir = TestDir::new()
        .with("killed.jfr", &recording(false))
        .with("dumped.jfr", &recording(true))
        .with("early.jfr", &without.bytes_of_killed(300_000));
    for command in [&["report", "--by", "tenant"][..], &["summary"], &["check"]] {
        let of =
            |file, json: &[&str]| dir.ok(&[&command[..1], &[file], &command[1..], json].concat());
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
        assert_eq!(killed["is_balanced"], Value::Null, "{command:?}: {killed}");
        let dumped = accounting("dumped.jfr");
        assert_eq!(dumped["unknown_ns"], 0, "{command:?}: {dumped}");
        assert_eq!(dumped["is_balanced"], true, "{command:?}: {dumped}");
        let text = of("early.jfr", &[]);
        let line = " losses of the last 300 ms are not known (recording not finished)\n";
        assert!(text.contains(line), "{command:?}: {text}");
        let early = accounting("early.jfr");
        assert_eq!(early["unknown_ns"], 300_000_000, "{command:?}: {early}");
        for figure in ["signals", "written", "lost", "lost_by_cause", "is_balanced"] {
            assert_eq!(early[figure], Value::Null, "{command:?} {figure}: {early}");
        }
    }
}

#[test]
fn file_order_does_not_change_the_accounting() {
    let mut killed = Shop::new();
    killed.sample(Some("r"), None, "m", 1);
    let mut taken = Shop::with(|config| config.interval = std::time::Duration::from_millis(20));
    taken.sample(Some("r"), None, "m", 1);
    taken.stats(&[
        ("signals", 70),
        ("written", 70),
        ("signal.lost", 1),
        ("cpu.process", 2_100_000_000),
        ("cpu.agent", 100_000_000),
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
    let dir = TestDir::new()
        .with("killed.jfr", &killed.bytes_of_killed(300_000))
        .with("taken.jfr", &taken.bytes())
        .with("limited.jfr", &limited.bytes())
        .with("shop.jfr", &shop());
    let summary = |files: &[&str]| {
        let json = dir.json(&[&["summary", "--json"][..], files].concat());
        json["accounting"].clone()
    };
    for files in [["killed.jfr", "shop.jfr"], ["shop.jfr", "killed.jfr"]] {
        let accounting = summary(&files);
        assert_eq!(accounting["unknown_ns"], 300_000_000, "{files:?}");
        assert_eq!(accounting["is_balanced"], Value::Null, "{files:?}");
    }
    for files in [["taken.jfr", "shop.jfr"], ["shop.jfr", "taken.jfr"]] {
        let accounting = summary(&files);
        // 70 of 20 ms in two seconds; the other file has no clock.
        assert_eq!(accounting["handler_replaced"], 1, "{files:?}");
        assert_eq!(accounting["unsampled_cpu_ns"], 600_000_000, "{files:?}");
        assert_eq!(accounting["used_cpu_ns"], 2_000_000_000u64, "{files:?}");
        let text = dir.fails_with_result(1, &["check", files[0], files[1]]);
        let line = " not sampled for 600 ms of 2.00 s of CPU time: something else took the sampling signal once";
        assert!(text.contains(line), "{text}");
    }
    for files in [["limited.jfr", "shop.jfr"], ["shop.jfr", "limited.jfr"]] {
        dir.ok(&[&["check"][..], &files].concat());
    }
}

#[test]
fn several_files_add_up() {
    let dir = with_shop().with("b.jfr", &shop());
    let json = dir.json(&["report", "shop.jfr", "b.jfr", "--by", "tenant", "--json"]);
    assert_eq!(json["total"]["samples"], 200);
    assert_eq!(json["accounting"]["signals"], 206);
}
