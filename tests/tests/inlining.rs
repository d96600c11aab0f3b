//! Inlined methods: a sample names the one that ran, and its line.

use e2e::workspace::root;
use e2e::{Jdk, Jvm, TestDir, assert_contains};
use std::collections::HashMap;
use std::fs;
use std::ops::RangeInclusive;

/// First and last line of each method, by the names that the source gives them.
fn lines_of_methods() -> HashMap<String, RangeInclusive<i64>> {
    let source = fs::read_to_string(root().join("tests/java/sampling/Neighbours.java")).unwrap();
    let mut methods = HashMap::new();
    for (number, line) in (1..).zip(source.lines()) {
        if let Some((_, name)) = line.split_once("{ // ") {
            methods.insert(name.to_owned(), number..=number + 2);
        }
    }
    assert_eq!(methods.len(), 12);
    methods
}

#[test]
fn inlined_method_and_line_are_those_that_ran() {
    let methods = lines_of_methods();
    for jdk in Jdk::all() {
        for collector in ["-XX:+UseG1GC", "-XX:+UseZGC"] {
            let (_, recording) = Jvm::recording(jdk, "interval=1ms")
                .flag(collector)
                .program("Neighbours 4000")
                .record();
            let (mut right, mut wrong, mut other_line) = (0, 0, 0);
            for sample in recording.samples() {
                let Some(label) = sample.text("method") else {
                    continue;
                };
                let frames = sample.placed_frames().iter();
                for frame in frames.filter(|frame| methods.contains_key(&frame.name)) {
                    let is_there = |line| methods[label].contains(&line);
                    match frame.name == label {
                        true if frame.line.is_some_and(is_there) => right += 1,
                        true => other_line += 1,
                        false => wrong += 1,
                    }
                }
            }
            println!("{jdk}, {collector}: {right}, {wrong} of another method, {other_line} lines");
            assert!(right > 300, "{right} samples");
            // One in a thousand, and three by chance; without the event it is one in ten.
            assert!(wrong * 1000 <= right + 3000, "{wrong} wrong of {right}");
            assert!(other_line * 100 <= right, "{other_line} of {right}");
        }
    }
}

/// After an attach, code that is compiled already keeps what it has.
#[test]
fn since_when_inlining_is_exact_is_told() {
    let test_dir = TestDir::new();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .agent("start,file=app.jfr")
        .program("Lifecycle status")
        .run_ok();
    assert_contains!(run.stdout, "inlining: exact\n");
    assert_eq!(setting(&test_dir), "exact");
    let test_dir = TestDir::new();
    let jvm = Jvm::new(Jdk::main(), &test_dir).serve();
    jvm.agent_command_ok("start,file=app.jfr");
    jvm.agent_command_ok("stop");
    let told = setting(&test_dir);
    assert!(
        told.starts_with("exact in code compiled later than "),
        "{told}"
    );
    jvm.end();
}

/// What the recording says.
fn setting(test_dir: &TestDir) -> String {
    let settings = test_dir.recording().events("jdk.ActiveSetting");
    let inlining = settings
        .iter()
        .find(|setting| setting.text("name") == Some("inlining"));
    inlining.unwrap().text("value").unwrap().to_owned()
}
