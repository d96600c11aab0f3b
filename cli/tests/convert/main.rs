//! What `ctxjfr convert` gives: in each format the totals of `report`, every label as it was, no
//! text that acts.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod calls;
#[allow(dead_code, reason = "shared, each test uses its part")]
#[path = "../common/mod.rs"]
mod common;
mod csv;
mod firefox;
mod joined;
mod labels;
mod otlp;
mod parquet;
mod parts;
mod pprof;
mod totals;
mod wire;

use std::collections::BTreeMap;

use common::*;
use serde_json::Value;

/// Values of a label, with `None` for samples without it, and their sums.
type Totals = BTreeMap<Option<String>, u64>;

/// What `report` says.
fn reported(dir: &TestDir, file: &str, event: &str, key: &str) -> Totals {
    let call = ["report", file, "--by", key, "--event", event, "--json"];
    let json: Value = serde_json::from_slice(&dir.run(&call).stdout).unwrap();
    let mut totals = Totals::new();
    for row in json["rows"].as_array().unwrap() {
        let value = row["values"][0].as_str().map(str::to_owned);
        *totals.entry(value).or_default() += row["value"].as_u64().unwrap();
    }
    totals
}

/// Runs a conversion to stdout, which must say nothing else.
fn converted(dir: &TestDir, file: &str, format: &str, more: &[&str]) -> Vec<u8> {
    let target = format!("{format}=-");
    let call = [&["convert", file, "-o", &target], more].concat();
    let output = dir.run(&call);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*errors), (Some(0), ""), "{call:?}");
    output.stdout
}
