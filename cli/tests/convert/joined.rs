//! Labels from events of other tools that enclose a sample. What a sample ran tells which events it
//! lay in: the methods of the recorded program are called within them and nowhere else.

use std::path::Path;

use crate::pprof::{Decoded, Sample};
use crate::{Totals, common::*, converted, reported};

/// A recording that a tool made of the program in the README of the fixtures.
fn fixture(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fixtures.join(name).to_str().unwrap().to_owned()
}

/// Datadog's profiler writes ids of spans as numbers with a sign; its tracer shows them without.
#[test]
fn samples_of_datadog_have_the_ids_of_their_spans() {
    let file = fixture("spans-ddprof.jfr.gz");
    let dir = TestDir::new();
    let profile = Decoded::new(&converted(&dir, &file, "pprof", &[]));
    let mut found = [0; 3];
    for sample in &profile.samples {
        let runs = |method: &str| sample.stack.iter().any(|frame| frame.0 == method);
        let (place, expected) = match () {
            () if runs("Traced.inA") => (0, Some(("42", "1234567890123456789"))),
            () if runs("Traced.inB") => (1, Some(("18446744073709551614", "17293822569102704641"))),
            () if runs("Traced.outside") => (2, None),
            () => continue, // between the begin of a span and of its work, or cut there
        };
        let label = |key: &str| {
            let label = sample.labels.iter().find(|label| label.0 == key);
            label.map(|label| label.1.as_str())
        };
        let ids = label("spanId").zip(label("localRootSpanId"));
        assert_eq!(ids, expected, "{sample:?}");
        found[place] += 1;
    }
    assert!(found.iter().all(|&count| count > 3), "{found:?}");
    for key in ["spanId", "localRootSpanId"] {
        let expected = reported(&dir, &file, "cpu", key);
        assert_eq!(profile.totals("cpu", key), expected, "{key}");
        assert_eq!(expected.len(), 3, "{expected:?}");
    }
}

/// Checks the labels of every sample of the program's threads. Returns how many had one.
fn check(file: &str, key: &str, step_key: Option<&str>) -> usize {
    let dir = TestDir::new();
    let profile = Decoded::new(&converted(&dir, file, "pprof", &[]));
    let (mut labelled, mut others) = (0, 0);
    for sample in &profile.samples {
        let runs = |method: &str| {
            let method = format!("Spans.{method}");
            sample.stack.iter().any(|(frame, _)| *frame == method)
        };
        let label = |sample: &Sample, key: &str| {
            let mut labels = sample.labels.iter();
            let label = labels.find(|(name, _)| name == key);
            label.map(|(_, value)| value.clone())
        };
        let expected = match () {
            () if runs("inA") => Some("a"),
            () if runs("inB") => Some("b"),
            () if runs("outside") || !runs("traced") => None,
            () => continue, // between the begin of an event and of its work
        };
        assert_eq!(label(sample, key).as_deref(), expected, "{sample:?}");
        if let Some(step_key) = step_key {
            let step = runs("inStep").then_some("7");
            if step.is_some() || !runs("step") {
                assert_eq!(label(sample, step_key).as_deref(), step, "{sample:?}");
            }
        }
        *(if expected.is_some() {
            &mut labelled
        } else {
            &mut others
        }) += 1;
    }
    assert!(
        labelled > 5 && others > 3,
        "{labelled} with, {others} without"
    );
    let totals = profile.totals("cpu", key);
    assert_eq!(totals, reported(&dir, file, "cpu", key));
    labelled
}

#[test]
fn contextual_fields_of_jdk_25_are_labels() {
    let file = fixture("contextual-jdk25.jfr.gz");
    check(&file, "joined:Trace.route", Some("joined:Step.number"));
    let dir = TestDir::new();
    let filtered = converted(&dir, &file, "pprof", &["--where", "joined:Step.number=7"]);
    let steps: Totals = Decoded::new(&filtered).totals("cpu", "joined:Trace.route");
    assert_eq!(
        steps.into_keys().collect::<Vec<_>>(),
        [Some("a".to_owned())]
    );
    // What is not marked is none.
    let labels = dir.ok(&["labels", &file]);
    assert!(
        labels.contains("joined:") && !labels.contains("other"),
        "{labels}"
    );
}

#[test]
fn spans_of_async_profiler_are_labels() {
    check(
        &fixture("spans-async-profiler.jfr.gz"),
        "joined:Span.tag",
        None,
    );
}

#[test]
fn own_events_with_attributes_join_nothing() {
    let mut shop = Shop::new();
    shop.sample(Some("/a"), None, "m", 1);
    shop.wait("/b", 1_000_000);
    shop.sample(None, None, "m", 1);
    let dir = TestDir::new().with("w.jfr", &shop.bytes());
    let csv = String::from_utf8(converted(&dir, "w.jfr", "csv", &[])).unwrap();
    assert!(!csv.contains("joined:"), "{csv}");
}
