//! Labels of any text and number come through.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::otlp::Decoded as Otlp;
use crate::pprof::Decoded;
use crate::totals::cells;
use crate::{common::*, converted, reported};

/// Texts that try to act or to be lost.
pub(crate) const TEXTS: [&str; 10] = [
    "",
    "\u{1b}[31mred\u{1b}[0m\u{9b}0m",
    "</script><script>window.__hit=1</script>",
    "\",\"x\":[{}],'\\",
    "=cmd|' /C calc'!A0",
    "\u{202e}desrever\u{2066}\u{200b}\u{feff}",
    "line\nbreak\ttab\r\u{2028}",
    "a;b,c=d 7",
    " blanks ",
    "(unlabelled)",
];

fn recording(texts: impl IntoIterator<Item = String>) -> TestDir {
    let mut shop = Shop::new();
    for text in texts {
        shop.sample(Some(&text), Some("t"), "m", 1);
    }
    TestDir::new().with("l.jfr", &shop.bytes())
}

#[test]
fn labels_are_the_same_after_decoding() {
    let dir = recording(TEXTS.map(str::to_owned));
    let pprof = Decoded::new(&converted(&dir, "l.jfr", "pprof", &[]));
    let totals = pprof.totals("cpu", "http.route");
    assert_eq!(totals, reported(&dir, "l.jfr", "cpu", "http.route"));
    let otlp = Otlp::new(&converted(&dir, "l.jfr", "otlp", &[]));
    assert_eq!(otlp.totals("cpu", "http.route"), totals);
    let values: BTreeSet<&str> = totals.keys().flatten().map(String::as_str).collect();
    assert_eq!(values, TEXTS.into_iter().collect());
}

/// What is text stays text to a terminal, a browser and a spreadsheet.
#[test]
fn labels_are_inert_in_texts() {
    let dir = recording(TEXTS.map(str::to_owned));
    for format in ["collapsed", "speedscope", "csv"] {
        let more: &[&str] = if format == "csv" {
            &[]
        } else {
            &["--by", "http.route"]
        };
        let text = String::from_utf8(converted(&dir, "l.jfr", format, more)).unwrap();
        let acts = |c: char| {
            (c.is_control() && c != '\n')
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}' | '\u{feff}')
        };
        assert!(!text.contains(acts), "{format}: {text:?}");
        match format {
            "collapsed" => assert_eq!(text.lines().count(), TEXTS.len()),
            "csv" => {
                let lines: Vec<_> = text.lines().map(cells).collect();
                assert_eq!(lines.len(), 1 + TEXTS.len());
                let formula = |cell: &Option<String>| {
                    let cell = cell.as_deref().unwrap_or_default();
                    cell.starts_with(['=', '+', '-', '@', '\t'])
                };
                assert!(!lines.iter().flatten().any(formula), "{text}");
            }
            _ => {
                assert!(!text.contains('<'), "{text}");
                let json: Value = serde_json::from_str(&text).unwrap();
                let frames = json["shared"]["frames"].as_array().unwrap();
                for text in TEXTS {
                    let name = format!("http.route={text}");
                    assert!(frames.iter().any(|frame| frame["name"] == name), "{text:?}");
                }
            }
        }
    }
}

#[test]
fn a_long_label_is_cut_as_everywhere() {
    let dir = recording(["x".repeat(1 << 20)]);
    let pprof = Decoded::new(&converted(&dir, "l.jfr", "pprof", &[]));
    let (_, value) = &pprof.samples[0].labels[1];
    let in_report = reported(&dir, "l.jfr", "cpu", "http.route");
    assert_eq!(in_report.into_keys().next(), Some(Some(value.clone())));
}

#[test]
fn a_hundred_thousand_values_are_a_hundred_thousand_labels() {
    let dir = recording((0..100_000).map(|n| format!("request-{n}")));
    let pprof = Decoded::new(&converted(&dir, "l.jfr", "pprof", &[]));
    let totals = pprof.totals("samples", "http.route");
    assert_eq!(totals.len(), 100_000);
    assert!(totals.values().all(|&samples| samples == 1));
}
