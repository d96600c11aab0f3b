//! Rows of the ecosystem's feature table (1.3, 1.4) that only a recording can show. Each test names its rows.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]

use std::collections::BTreeMap;
use std::fs;

use e2e::{Jdk, Jvm, Room};

/// Runs a part of `Rows` under the agent.
fn recorded(jdk: Jdk, room: &Room, part: &str) {
    Jvm::new(jdk, room)
        .agent("start,interval=2ms,file=app.jfr")
        .main("Rows", &[part])
        .run()
        .success();
}

/// Rows C9, C21, C24: a sample holds one number for its context; one context has one number, whatever thread had it; what the number means
/// is in the same file, and its strings are there once a chunk and not once a sample.
#[test]
fn c9_c21_c24_a_context_is_one_number_whose_strings_are_in_the_file_once() {
    let room = Room::new();
    recorded(Jdk::main(), &room, "contexts");
    let recording = room.recording();
    let samples = recording.samples(Jdk::main());
    let mut values_by_id = BTreeMap::new();
    let mut ids_by_value = BTreeMap::new();
    let mut labelled: usize = 0;
    for sample in samples.iter().filter(|s| s.text("kind") == Some("row")) {
        let id = sample.number("contextId").unwrap();
        assert_ne!(id, 0, "a context has a number");
        let tenant = sample.text("tenant").unwrap().to_owned();
        assert_eq!(
            *values_by_id.entry(id).or_insert_with(|| tenant.clone()),
            tenant
        );
        assert_eq!(*ids_by_value.entry(tenant).or_insert(id), id);
        labelled += 1;
    }
    assert_eq!(ids_by_value.len(), 3, "{ids_by_value:?}");
    let described = recording.events(Jdk::main(), "ctxagent.Context");
    for (id, tenant) in &values_by_id {
        let meant = described
            .iter()
            .find(|event| event.number("contextId") == Some(*id))
            .unwrap();
        assert_eq!(meant.text("tenant"), Some(tenant.as_str()));
        assert_eq!(meant.text("kind"), Some("row"));
    }
    let none = samples.iter().find(|s| s.text("kind").is_none());
    assert_eq!(none.map_or(0, |s| s.number("contextId").unwrap()), 0);
    let file = fs::read(recording.path()).unwrap();
    let copies = file
        .windows(15)
        .filter(|w| *w == b"tenant-of-row-1")
        .count();
    println!("{labelled} samples, one tenant {copies} times in the file");
    assert!(labelled > 100 && copies >= 1 && copies * 10 < labelled);
}

/// Row C22: samples carry the context whether the thread runs Java code or native code, which the handler reads without asking the VM.
/// (Both are `jdk.ExecutionSample`: the thread used CPU time. `jdk.NativeMethodSample` is not written.)
#[test]
fn c22_samples_in_native_code_carry_the_context_too() {
    for jdk in Jdk::all() {
        let room = Room::new();
        recorded(jdk, &room, "native");
        let samples = room.recording().samples(Jdk::main());
        let count = |label: &str, method: &str| {
            samples
                .iter()
                .filter(|s| s.text("kind") == Some(label))
                .filter(|s| s.frames().first().is_some_and(|top| top.contains(method)))
                .count()
        };
        let native = count("native", "Deflater.deflateBytes");
        let java = count("java", "Rows.burn");
        println!(
            "JDK {}: {native} in native code, {java} in Java",
            jdk.version
        );
        assert!(native > 10, "{native} of {}", samples.len());
        assert!(java > 10, "{java} of {}", samples.len());
    }
}

/// Row C25: opening and closing writes no event.
#[test]
fn c25_scopes_write_no_events() {
    let room = Room::new();
    recorded(Jdk::main(), &room, "scopes");
    let counts = room.recording().counts(Jdk::main());
    let all: u64 = counts.values().sum();
    println!("{all} events for 400 000 scopes: {counts:?}");
    assert!(all < 40_000, "{counts:?}");
    for (kind, _) in counts.iter().filter(|(_, count)| **count > 0) {
        assert!(!kind.contains("Span") && !kind.contains("Scope"), "{kind}");
    }
}

/// Row D1: a scope that does not escape allocates nothing, with the agent recording.
#[test]
fn d1_scopes_allocate_nothing_once_they_are_compiled() {
    for jdk in Jdk::all() {
        let room = Room::new();
        let run = Jvm::new(jdk, &room)
            .agent("start,interval=10ms,file=app.jfr")
            .main("Rows", &["allocation"])
            .run()
            .success();
        assert_eq!(
            run.stdout.trim(),
            "bytes per scope below one: true",
            "JDK {}",
            jdk.version
        );
    }
}
