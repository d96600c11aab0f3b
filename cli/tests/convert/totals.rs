//! In each format the sums by a label are those of `report`: of our recordings and foreign ones.

use std::path::Path;

use serde_json::Value;

use crate::pprof::Decoded;
use crate::{Totals, common::*, converted, reported};

/// Recordings in the tree, and what they are of.
const FIXTURES: [&str; 5] = [
    "cli/tests/fixtures/shop-jdk21.jfr.gz",
    "jfr-format/tests/fixtures/jdk17.jfr",
    "jfr-format/tests/fixtures/jdk21.jfr",
    "jfr-format/tests/fixtures/jdk25.jfr",
    "jfr-format/tests/fixtures/ours8.jfr",
];

/// The number of samples, each 10 ms, as the value of a root frame.
fn of_collapsed(text: &str, key: &str) -> Totals {
    let mut totals = Totals::new();
    for line in text.lines() {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        let root = stack.split(';').next().unwrap();
        let value = root.strip_prefix(&format!("{key}=")).unwrap();
        let value = (!value.starts_with('(')).then(|| value.to_owned());
        *totals.entry(value).or_default() += weight.parse::<u64>().unwrap() * 10_000_000;
    }
    totals
}

/// The weights by the first frame, in the profile of CPU time.
fn of_speedscope(json: &Value, key: &str) -> Totals {
    let frames = json["shared"]["frames"].as_array().unwrap();
    let profile = &json["profiles"][0];
    let mut totals = Totals::new();
    let samples = profile["samples"].as_array().unwrap();
    let weights = profile["weights"].as_array().unwrap();
    assert_eq!(samples.len(), weights.len());
    for (sample, weight) in samples.iter().zip(weights) {
        let root = usize::try_from(sample[0].as_u64().unwrap()).unwrap();
        let name = frames[root]["name"].as_str().unwrap();
        let value = name.strip_prefix(&format!("{key}=")).unwrap();
        let value = (!value.starts_with('(')).then(|| value.to_owned());
        *totals.entry(value).or_default() += weight.as_u64().unwrap();
    }
    let sum: u64 = totals.values().sum();
    assert_eq!(profile["endValue"].as_u64(), Some(sum));
    totals
}

/// The cells of a line of CSV, unquoted; `None` is an empty one.
pub(crate) fn cells(line: &str) -> Vec<Option<String>> {
    let mut cells = vec![None];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = cells.last_mut().unwrap();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.get_or_insert_with(String::new).push('"');
            }
            '"' => {
                quoted = !quoted;
                cell.get_or_insert_with(String::new);
            }
            ',' if !quoted => cells.push(None),
            c => cell.get_or_insert_with(String::new).push(c),
        }
    }
    cells
}

fn of_csv(text: &str, unit: &str, key: &str) -> Totals {
    let mut lines = text.lines();
    let head = cells(lines.next().unwrap());
    let place = |name: &str| head.iter().position(|cell| cell.as_deref() == Some(name));
    let (label, value) = (place(key).unwrap(), place("value").unwrap());
    let mut totals = Totals::new();
    for line in lines
        .map(cells)
        .filter(|line| line[0].as_deref() == Some(unit))
    {
        let more: u64 = line[value].as_deref().unwrap().parse().unwrap();
        *totals.entry(line[label].clone()).or_default() += more;
    }
    totals
}

#[test]
fn every_format_has_the_totals_of_report() {
    let dir = with_shop();
    for key in ["http.route", "tenant"] {
        let expected = reported(&dir, "shop.jfr", "cpu", key);
        let text = |format: &str, more: &[&str]| {
            String::from_utf8(converted(&dir, "shop.jfr", format, more)).unwrap()
        };
        let by = ["--by", key];
        assert_eq!(of_collapsed(&text("collapsed", &by), key), expected);
        let json: Value = serde_json::from_str(&text("speedscope", &by)).unwrap();
        assert_eq!(of_speedscope(&json, key), expected);
        assert_eq!(of_csv(&text("csv", &[]), "cpu_ns", key), expected);
        let pprof = Decoded::new(&converted(&dir, "shop.jfr", "pprof", &[]));
        assert_eq!(pprof.totals("cpu", key), expected);
    }
}

#[test]
fn filters_are_those_of_report() {
    let dir = with_shop();
    let filter = ["--where", "tenant=acme", "--threads", "worker*"];
    let call = [
        &["report", "shop.jfr", "--by", "http.route", "--json"][..],
        &filter,
    ]
    .concat();
    let report = dir.json(&call);
    let pprof = Decoded::new(&converted(&dir, "shop.jfr", "pprof", &filter));
    let totals = pprof.totals("cpu", "http.route");
    assert_eq!(
        totals.values().sum::<u64>(),
        report["total"]["value"].as_u64().unwrap()
    );
    assert_eq!(totals.len(), 1);
}

#[test]
fn stacks_and_threads_of_foreign_recordings_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let dir = TestDir::new();
    for fixture in FIXTURES {
        let file = root.join(fixture);
        let file = file.to_str().unwrap();
        let pprof = Decoded::new(&converted(&dir, file, "pprof", &[]));
        for (name, event) in [("cpu", "cpu"), ("alloc_space", "alloc"), ("delay", "lock")] {
            if pprof.types.iter().any(|ty| ty.0 == name) {
                let expected = reported(&dir, file, event, "thread");
                assert_eq!(pprof.totals(name, "thread"), expected, "{fixture} {name}");
                assert!(expected.values().sum::<u64>() > 0, "{fixture} {name}");
            }
        }
        assert!(
            !pprof.types.is_empty() && !pprof.samples.is_empty(),
            "{fixture}"
        );
        let deepest = pprof.samples.iter().map(|sample| sample.stack.len()).max();
        assert!(deepest > Some(1), "{fixture}");
    }
}
