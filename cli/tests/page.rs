//! What the flame graph's page says, run by node where it is installed.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const SCRIPT: &str = include_str!("../src/flame/page.js");

/// The page's words after a search, with the pointer in the middle of a row; `None` without node.
fn page(nodes: &Value, kinds: &Value, folded: &Value, search: &str, row: u32) -> Option<Value> {
    let data = json!({
        "schema": "ctxjfr.flame.1", "title": "t", "files": ["f.jfr"], "by": [], "where": [],
            "events": ["jdk.ExecutionSample"],
        "samples": 100, "unit": "cpu_ns", "value": 1_000_000_000u64,
            "covered_ns": 1_000_000_000u64, "interval_ns": 10_000_000, "interval_assumed": false,
        "folded": folded.as_array().is_some_and(|all| !all.is_empty()), "damaged": false,
            "damages": [],
        "frames": [["all", 0], ["a.outer", 3], ["a.inner", 1]], "nodes": nodes, "kinds": kinds,
            "folded_values": folded,
    });
    let input =
        json!({"script": SCRIPT, "data": data, "search": search, "pointer": [10, 19 * row + 9]});
    let mut node = match Command::new("node")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page_dom.js"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    {
        Ok(node) => node,
        Err(error) => {
            println!("SKIP: no node ({error})");
            return None;
        }
    };
    let mut stdin = node.stdin.take().unwrap();
    stdin.write_all(input.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// 1 s in `outer`, 100 ms of it in `inner`, which is there.
fn nodes() -> Value {
    let (all, inner) = (1_000_000_000u64, 100_000_000u64);
    json!([0, 100, all, 1, 1, 100, all, 1, 2, 10, inner, 0])
}

#[test]
fn search_tells_bounds_where_frames_were_folded() {
    let matched = |folded: Value, search| {
        let page = page(&nodes(), &json!([]), &folded, search, 1)?;
        Some(page["matched"].as_str().unwrap().to_owned())
    };
    let Some(whole) = matched(json!([]), "inner") else {
        return;
    };
    assert_eq!(whole, "10.0 % matched");
    // 850 ms below `outer` were folded: any of it may be of the method.
    let folded = json!([[1, 850_000_000]]);
    let bounds = "at least 10.0 % matched, at most 95.0 % (frames were folded)";
    assert_eq!(matched(folded.clone(), "inner").unwrap(), bounds);
    // All of it lies below a match: nothing is unknown.
    assert_eq!(matched(folded, "outer").unwrap(), "100.0 % matched");
}

#[test]
fn the_tooltip_tells_the_shares_of_the_kinds() {
    let kinds = json!([[1, 1, 700_000_000, 3, 300_000_000]]);
    let Some(outer) = page(&nodes(), &kinds, &json!([]), "", 1) else {
        return;
    };
    let text = outer["tip"][1].as_str().unwrap();
    assert!(
        text.starts_with("compiled 70.0 %, interpreted 30.0 % · 1.00 s CPU"),
        "{text}"
    );
    let inner = page(&nodes(), &kinds, &json!([]), "", 2).unwrap();
    let text = inner["tip"][1].as_str().unwrap();
    assert!(text.starts_with("compiled · 100 ms CPU"), "{text}");
}
