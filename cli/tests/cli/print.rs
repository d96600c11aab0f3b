//! `print`: names, times, JSON lines.

use std::path::Path;

use ctxagent_events::Setting;
use serde_json::Value;

use crate::common::*;

#[test]
fn events_as_text_and_json_lines() {
    let dir = with_shop();
    let text = dir.ok(&["print", "shop.jfr", "--events", "ExecutionSample"]);
    assert_eq!(text.matches("jdk.ExecutionSample {").count(), 100);
    assert!(
        text.contains("http_route = \"POST /checkout\"")
            && text.contains("app.Shop.checkout line: 12"),
        "{text}"
    );
    let lines = dir.ok(&["print", "shop.jfr", "--json"]);
    let samples = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["type"] == "jdk.ExecutionSample")
        .count();
    assert_eq!(samples, 100);
}

/// Values of an event, with everything that a key is left of.
fn keys_left(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            let is_key = fields.len() == 1 && fields.contains_key("key");
            usize::from(is_key) + fields.values().map(keys_left).sum::<usize>()
        }
        Value::Array(elements) => elements.iter().map(keys_left).sum(),
        _ => 0,
    }
}

#[test]
fn json_has_the_names_of_every_frame() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jfr-format/tests/fixtures");
    let ours = std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/shop-jdk21.jfr.gz"),
    );
    let dir = with_shop().with("ours.jfr.gz", &ours.unwrap());
    let jdk = fixtures.join("jdk21.jfr").display().to_string();
    for file in ["shop.jfr", "ours.jfr.gz", &jdk] {
        let lines = dir.ok(&["print", file, "--json"]);
        let mut frames = 0;
        for line in lines.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
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
fn event_filter_and_exact_times() {
    let mut shop = Shop::with(|config| {
        config.settings = vec![Setting {
            event: "jdk.ExecutionSample".into(),
            name: "x".into(),
            value: "y".into(),
        }];
    });
    shop.at = 345;
    shop.sample(None, None, "m", 1);
    let dir = TestDir::new().with("p.jfr", &shop.bytes());
    let message = dir.fails(
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
        dir.ok(&["print", "p.jfr", "--events", "JavaMonitorEnter"]),
        ""
    );
    let line = dir.ok(&["print", "p.jfr", "--events", "ExecutionSample", "--json"]);
    let event: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        event["values"]["startTime"],
        "2023-11-14T22:13:20.010345000Z"
    );
}
