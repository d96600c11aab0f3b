//! Damage of any kind: every command reports it, with file and offset, and exits with 1.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../../jfr-format/tests/read_common/mod.rs"]
#[allow(dead_code, reason = "shared, each test uses its part")]
mod read_common;

use std::path::Path;
use std::process::{Command, Output};

use jfr_format::varint;
use read_common::*;

const COMMANDS: [&[&str]; 13] = [
    &["report", "--by", "thread"],
    &["report", "--by", "thread", "--json"],
    &["labels", "--json"],
    &["summary", "--json"],
    &["check", "--json"],
    &["flame", "--json"],
    &["convert", "-o", "pprof=-"],
    &["convert", "-o", "otlp=-"],
    &["convert", "-o", "csv=-"],
    &["convert", "-o", "parquet=-"],
    &["merge", "-o", "merged.jfr"],
    &["print"],
    &["print", "--json"],
];

fn run(command: &[&str], bytes: &[u8]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("d.jfr"), bytes).unwrap();
    Command::new(env!("CARGO_BIN_EXE_ctxjfr"))
        .args([command[0], "d.jfr"])
        .args(&command[1..])
        .current_dir(dir.path())
        .output()
        .unwrap()
}

/// Every command reads `bytes`, exits with 1 and reports `what` with its place in the file.
fn assert_every_command_reports(name: &str, bytes: &[u8], what: &str) {
    for command in COMMANDS {
        let output = run(command, bytes);
        let errors = String::from_utf8_lossy(&output.stderr);
        let shown = String::from_utf8_lossy(&output.stdout);
        let reported = errors.lines().any(|line| {
            line.contains("d.jfr: chunk at ") && line.contains("at byte ") && line.contains(what)
        });
        assert!(reported, "{name} {command:?}: {errors}");
        assert_eq!(output.status.code(), Some(1), "{name} {command:?}");
        assert!(!shown.contains("\"error\""), "{name} {command:?}: {shown}");
        if command.contains(&"--json") && command[0] != "print" {
            let json: serde_json::Value = serde_json::from_str(&shown).unwrap();
            let damages = json["damages"].as_array().unwrap();
            let reported = damages
                .iter()
                .any(|line| line.as_str().unwrap().contains(what));
            assert!(reported, "{name} {command:?}: {damages:?}");
        }
    }
}

/// An event type that no command asks for, with a text, an array and a time of its own.
const OTHER: u64 = 101;

fn with_other(payload: &[u8]) -> Vec<u8> {
    let mut types = types();
    let fields = vec![
        field("startTime", ids::LONG, &[]),
        field("duration", ids::LONG, &[]),
        field("text", ids::STRING, &[]),
        field("numbers", ids::INT, &[ARRAY]),
    ];
    types.push(class(OTHER, "x.Other", &[EVENT], fields));
    let other = event(OTHER, payload);
    chunk(&[metadata(types), checkpoint(0, &pools()), sample(), other])
}

/// An event of [`OTHER`] with times in ticks, a text and an array.
fn other_of(start: u64, duration: u64, tail: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    varint::put(&mut payload, start);
    varint::put(&mut payload, duration);
    payload.extend(tail);
    payload
}

#[test]
fn damage_of_other_events_is_reported() {
    let sound = with_other(&other_of(2_000, 5, &[3, 1, b'x', 2, 7, 7]));
    for command in COMMANDS {
        let output = run(command, &sound);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), &*errors),
            (Some(0), ""),
            "{command:?}"
        );
    }
    for (name, payload, what) in [
        ("text", other_of(2_000, 5, &[3, 120, b'x', 0]), "x.Other"),
        ("array", other_of(2_000, 5, &[1, 120, 7]), "x.Other"),
        ("encoding", other_of(2_000, 5, &[9, 0]), "string encoding 9"),
        ("late", other_of(u64::MAX / 4, 5, &[1, 0]), "start time"),
        ("early", other_of(u64::MAX << 62, 5, &[1, 0]), "start time"),
        ("long", other_of(2_000, u64::MAX / 4, &[1, 0]), "duration"),
        (
            "negative",
            other_of(2_000, u64::MAX, &[1, 0]),
            "duration of -1 ns",
        ),
    ] {
        assert_every_command_reports(name, &with_other(&payload), what);
    }
}

#[test]
fn missing_and_duplicate_types_are_reported() {
    let with = |types: Vec<Element>| {
        chunk(&[
            metadata(types),
            checkpoint(0, &pools()),
            sample(),
            event(150, &[1, 2]),
        ])
    };
    let mut all = types();
    all.push(class(
        150,
        "x.Event",
        &[EVENT],
        vec![field("a", ids::INT, &[])],
    ));
    let without_type: Vec<Element> = all[..all.len() - 1].to_vec();
    assert_every_command_reports(
        "undeclared event",
        &with(without_type),
        "type 150 is not declared",
    );
    let mut duplicate = all.clone();
    duplicate.push(class(
        ids::STATE,
        "x.Double",
        &[],
        vec![field("n", ids::STRING, &[])],
    ));
    assert_every_command_reports("duplicate", &with(duplicate), "is declared again");
    let mut undeclared = all;
    undeclared.push(class(
        151,
        "x.Lost",
        &[EVENT],
        vec![field("lost", 999, &[POOL])],
    ));
    assert_every_command_reports(
        "undeclared field",
        &with(undeclared),
        "field lost of x.Lost has type 999",
    );
}

#[test]
fn damaged_headers_are_reported() {
    let sound = chunk(&[metadata(types()), checkpoint(0, &pools()), sample()]);
    for (name, at, value, what) in [
        ("start", 32, i64::MAX, "chunk start"),
        ("start before 1970", 32, -1, "chunk start"),
        ("duration", 40, i64::MAX, "chunk duration"),
        ("negative duration", 40, -5, "chunk duration of -5 ns"),
        ("no checkpoint", 16, 0, "impossible offset 0"),
        ("impossible clock", 56, i64::MAX, "ticks per second"),
    ] {
        let mut bytes = sound.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_be_bytes());
        assert_every_command_reports(name, &bytes, what);
    }
}

/// Behind the metadata there are paddings, which have their type.
#[test]
fn metadata_are_found_without_their_offset() {
    let padding = vec![6, 0, 0, 0, 0, 0];
    let remains = event(0, &[1, 2, 3]);
    let mut bytes = chunk(&[
        metadata(types()),
        checkpoint(0, &pools()),
        sample(),
        padding,
        remains,
    ]);
    bytes[24..32].copy_from_slice(&7i64.to_be_bytes());
    assert_every_command_reports("place of the metadata", &bytes, "at byte 7: impossible");
    let output = run(&["summary", "--json"], &bytes);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["samples"], 1, "{json}");
    let types = json["types"].as_array().unwrap();
    let padding = types.iter().find(|ty| ty["name"] == "(padding)");
    assert_eq!(padding.unwrap()["events"], 1, "{json}");
}

/// As `kill -9` leaves a recording of the JDK: a state that is not 0, the size of the last flush or
/// none.
#[test]
fn unfinished_recordings_are_read_whole() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jfr-format/tests/fixtures");
    for file in ["jdk17.jfr", "jdk21.jfr", "jdk25.jfr"] {
        let finished = std::fs::read(fixtures.join(file)).unwrap();
        let samples = |bytes: &[u8]| {
            let output = run(&["summary", "--json"], bytes);
            let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            json["samples"].as_u64().unwrap()
        };
        for size in [finished.len() as u64, 0, 68] {
            let mut bytes = finished.clone();
            bytes[8..16].copy_from_slice(&size.to_be_bytes());
            bytes[64] = 4;
            assert_eq!(samples(&bytes), samples(&finished), "{file} size {size}");
            assert_every_command_reports(file, &bytes, "unfinished chunk");
        }
    }
}
