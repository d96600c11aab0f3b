//! `filter=`: only samples whose context meets the conditions are recorded, whatever thread they
//! are of; the others are counted.

use e2e::recording::Event;
use e2e::{Jdk, Jvm, TestDir, record};

/// Samples and counters of `Split` under a filter.
fn filtered(filter: &str) -> (Vec<Event>, i64) {
    let (_, recording) = record(
        Jdk::main(),
        &format!("interval=2ms,filter={filter}"),
        "Split platform 2 200",
    );
    let (totals, samples) = recording.reconcile();
    println!(
        "filter={filter}: {} samples, {} filtered out, {} signals",
        samples.len(),
        totals["lost.filtered"],
        totals["signals"]
    );
    let settings = recording.events("jdk.ActiveSetting");
    let told = settings.iter().find(|s| s.text("name") == Some("filter"));
    assert_eq!(told.and_then(|s| s.text("value")), Some(filter));
    (samples, totals["lost.filtered"])
}

#[test]
fn other_values_are_excluded_and_counted() {
    let (samples, out) = filtered("endpoint=/checkout");
    assert!(samples.len() > 50 && out > 50);
    for sample in &samples {
        assert_eq!(sample.text("endpoint"), Some("/checkout"));
    }
}

#[test]
fn all_conditions_must_hold() {
    let (samples, out) = filtered("@context+tenant+endpoint=/search");
    assert!(samples.len() > 10 && out > 50);
    for sample in &samples {
        assert_eq!(sample.text("endpoint"), Some("/search"));
        assert!(sample.text("tenant").is_some());
    }
    let (none, out) = filtered("endpoint=/search+tenant=nobody");
    assert!(none.is_empty() && out > 50, "{}", none.len());
}

#[test]
fn filter_applies_to_threads_without_context() {
    // The JIT and the collector never had a block.
    let (without, out) = filtered("@none");
    assert!(out > 50);
    for sample in &without {
        assert_eq!(sample.text("endpoint"), None);
    }
    assert!(!without.is_empty());
    let (with, out) = filtered("@context");
    assert!(with.len() > 100 && out > 0);
    for sample in &with {
        assert!(sample.text("endpoint").is_some(), "{:?}", sample.values);
    }
}

#[test]
fn impossible_filter_is_refused() {
    for (filter, reason) in [
        ("@any", "@context, @none"),
        ("tenant=100%", "%25"),
        ("@none+tenant", "no other condition"),
    ] {
        let test_dir = TestDir::new();
        let run = Jvm::new(Jdk::main(), &test_dir)
            .agent(&format!("start,file=app.jfr,filter={filter}"))
            .program("Hello 10")
            .may_warn("option 'filter' cannot be ")
            .run_ok();
        let lines = run.agent_lines();
        assert!(
            matches!(lines[..], [line] if line.contains("'filter'") && line.contains(reason)),
            "{filter}: {lines:?}"
        );
        assert!(test_dir.recordings().is_empty());
    }
}
