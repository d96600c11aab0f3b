//! What has no label, and why.

use serde_json::json;

use crate::common::*;

fn partly_labelled() -> TestDir {
    let mut shop = Shop::new();
    shop.sample(Some("GET /search"), None, "search", 70);
    shop.sample(None, Some("acme"), "tick", 10);
    shop.sample(None, None, "idle", 20);
    TestDir::new().with("shop.jfr", &shop.bytes())
}

#[test]
fn unlabelled_time_is_told_by_cause_and_thread() {
    let text = partly_labelled().ok(&["coverage", "shop.jfr", "--by", "http.route"]);
    let expected = "\x2070.0 % of the CPU time of Java threads has http.route; the rest, by cause:

 cause   thread    runs            share
 thread  worker-N  app.Shop.idle  20.0 %
 thread  worker-N  app.Shop.tick  10.0 %

 thread: a scope where its work begins
";
    assert_eq!(text, expected);
    let any = partly_labelled().ok(&["coverage", "shop.jfr", "--limit", "1"]);
    assert!(
        any.starts_with(" 80.0 % of the CPU time of Java threads has a label; "),
        "{any}"
    );
}

#[test]
fn coverage_as_json() {
    let json = partly_labelled().json(&["coverage", "shop.jfr", "--by", "http.route", "--json"]);
    assert_eq!(json["schema"], "ctxjfr.coverage.1");
    assert_eq!(json["unit"], "cpu_ns");
    assert_eq!(json["by"], json!(["http.route"]));
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(2));
    let row = &json["rows"][0];
    assert_eq!(row["cause"], "thread");
    assert_eq!(row["method"], "app.Shop.idle");
    assert_eq!(row["value"], 200_000_000);
}

#[test]
fn unknown_key_is_an_error() {
    let text = partly_labelled().fails(1, &["coverage", "shop.jfr", "--by", "nothing"]);
    assert!(text.contains("no attribute 'nothing'"), "{text}");
}
