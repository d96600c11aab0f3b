//! The Java API has its own constants: they are those of this crate.

#![allow(clippy::unwrap_used, reason = "a test panics on failure")]

use schema::{event_mask, limits, misuse};
use std::fs;
use std::path::Path;

/// The text of a class below `io.ctxagent.internal`.
fn source(class: &str) -> String {
    let packages = "../java-api/src/main/java/io/ctxagent/internal";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(packages);
    fs::read_to_string(path.join(class).with_extension("java")).unwrap()
}

/// Names and values of the `static final int` constants of a class, in order.
fn constants(class: &str) -> Vec<(String, usize)> {
    let text = source(class);
    let lines = text.lines().filter_map(|line| {
        let (_, constant) = line.split_once("static final int ")?;
        let (name, value) = constant.trim_end_matches(';').split_once(" = ")?;
        Some((name.to_owned(), value.parse().ok()?))
    });
    lines.collect()
}

fn constant(class: &str, name: &str) -> usize {
    let all = constants(class);
    all.iter().find(|(n, _)| n == name).unwrap().1
}

#[test]
fn limits_are_the_same() {
    assert_eq!(constant("agent/Layout", "SLOTS"), limits::ATTRIBUTE_SLOTS);
    assert_eq!(
        constant("intern/AttributeNames", "MAX_LENGTH"),
        limits::MAX_ATTRIBUTE_NAME_BYTES
    );
}

#[test]
fn misuse_has_the_same_numbers_and_names() {
    let mut java = constants("agent/Misuse");
    assert_eq!(java.pop(), Some(("COUNT".into(), misuse::COUNTERS.len())));
    let rust = misuse::COUNTERS.iter().enumerate();
    let rust: Vec<_> = rust
        .map(|(number, counter)| (counter.name().replace("api.", "").to_uppercase(), number))
        .collect();
    assert_eq!(java, rust);
}

#[test]
fn event_bits_are_the_same() {
    let text = source("agent/EventBits");
    let cases = text.split("case ").skip(1).map(|case| {
        let (number, rest) = case.split_once(':').unwrap();
        let name = rest.split('"').nth(1).unwrap();
        (name, 1 << number.parse::<u32>().unwrap())
    });
    let java: Vec<(&str, u32)> = cases.collect();
    let rust = [
        ("jdk.ExecutionSample", event_mask::EXECUTION_SAMPLE_BIT),
        (
            "profiler.WallClockSample",
            event_mask::WALL_CLOCK_SAMPLE_BIT,
        ),
        (
            "jdk.ObjectAllocationSample",
            event_mask::ALLOCATION_SAMPLE_BIT,
        ),
        ("jdk.JavaMonitorEnter", event_mask::MONITOR_ENTER_BIT),
        ("jdk.ThreadPark", event_mask::PARK_BIT),
        ("jdk.JavaExceptionThrow", event_mask::EXCEPTION_BIT),
    ];
    assert_eq!(java, rust);
}
