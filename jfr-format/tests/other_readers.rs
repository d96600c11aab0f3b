//! JDK Mission Control's parser and async-profiler's converter as judges. Left out, and said so, where
//! they or a JDK cannot be had.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::checker;
use common::jdk;
use common::scenario::{config, named, write_full};
use jfr_format::events::EVENTS;
use jfr_format::write::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop");

/// Class path of the other readers.
fn readers() -> Option<String> {
    let output = Command::new(Path::new(FOLDER).join("fetch.sh"))
        .output()
        .unwrap();
    let folder = String::from_utf8(output.stdout).unwrap();
    output
        .status
        .success()
        .then(|| format!("{}/*", folder.trim()))
}

/// Files with no, one and eight columns, with attribute keys and weights of all sizes; each finished,
/// and as a killed process would leave it.
fn write_files(folder: &Path) -> Vec<PathBuf> {
    let columns = [named(&[]), named(&["http.route"]), Columns::Auto];
    let write = |(n, columns): (usize, Columns)| {
        let path = folder.join(format!("{n}.jfr"));
        let mut r =
            Recording::create(FileStorage::create(&path).unwrap(), config(columns)).unwrap();
        many_keys_and_weights(&mut r);
        r.rotate(Ticks(500)).unwrap();
        write_full(&mut r);
        r.flush(Ticks(390_000)).unwrap();
        let unfinished = folder.join(format!("{n}.unfinished.jfr"));
        std::fs::copy(&path, &unfinished).unwrap();
        r.finish(Ticks(400_000)).unwrap();
        [path, unfinished]
    };
    columns.into_iter().enumerate().flat_map(write).collect()
}

/// Every attribute key, and weight, that could be mistaken for the id of an event.
fn many_keys_and_weights(r: &mut Recording<FileStorage>) {
    for i in 0..300u32 {
        let at = Ticks(u64::from(i));
        let value = r.attribute_value(&format!("value {i}"));
        let context = r.context(at, &[value; 8]);
        let thread = r.thread(&Thread::native("t", u64::from(i)));
        let (stack, state) = (r.synthetic_stack("none"), r.state("STATE_RUNNABLE"));
        r.execution_sample(&Sample {
            at,
            thread,
            stack,
            state,
            context,
            weight: i,
        });
        r.wall_sample(&WallSample {
            at,
            thread,
            stack,
            state,
            context,
            samples: i,
        });
    }
}

type Counts = BTreeMap<(String, String), usize>;

fn run(class_path: &str, file: &Path) -> Counts {
    let jdk = jdk::all().into_iter().find(|j| j.has_compiler()).unwrap();
    let mut command = jdk.java();
    // A reader that loses its place may loop for ever: the time limit is a part of the test.
    command.args([
        "-cp",
        class_path,
        &format!("{FOLDER}/Readers.java"),
        file.to_str().unwrap(),
    ]);
    let mut limited = Command::new("timeout");
    limited
        .arg("120")
        .arg(command.get_program())
        .args(command.get_args());
    let output = limited.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", file.display());
    let parse = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let key = (words.next().unwrap(), words.next().unwrap());
        (key, words.next().unwrap().parse().unwrap())
    };
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(parse)
        .collect()
}

#[test]
fn other_readers_see_every_event() {
    let Some(class_path) = readers() else {
        println!("left out: the other readers cannot be had here");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for file in write_files(folder.path()) {
        let counts = run(&class_path, &file);
        let ours = checker::read(&std::fs::read(&file).unwrap());
        mission_control(&counts, &ours);
        async_profiler(&counts, &ours);
    }
}

fn mission_control(counts: &Counts, ours: &checker::Recording) {
    for event in EVENTS {
        let expected = Some(ours.named(event.name).count()).filter(|n| *n > 0);
        let found = counts.get(&("jmc".into(), event.name.into())).copied();
        assert_eq!(found, expected, "{}", event.name);
    }
    let known = |name: &str| EVENTS.iter().any(|e| e.name == name);
    let foreign: Vec<_> = counts
        .keys()
        .filter(|k| k.0 == "jmc" && !known(&k.1))
        .collect();
    assert!(foreign.is_empty(), "types that were split: {foreign:?}");
}

fn async_profiler(counts: &Counts, ours: &checker::Recording) {
    let found = |what: &str| {
        counts
            .get(&("ap".to_owned(), what.to_owned()))
            .copied()
            .unwrap_or(0)
    };
    let samples = [
        "jdk.ExecutionSample",
        "jdk.NativeMethodSample",
        "profiler.WallClockSample",
    ];
    let samples: Vec<_> = samples.iter().flat_map(|name| ours.named(name)).collect();
    assert_eq!(found("ExecutionSample"), samples.len());
    assert_eq!(found("threads"), samples.len());
    let frames: usize = samples
        .iter()
        .map(|e| ours.frames(e.get("stackTrace")).len())
        .sum();
    assert_eq!(found("frames"), frames);
    let allocations = [
        "jdk.ObjectAllocationSample",
        "jdk.ObjectAllocationInNewTLAB",
        "jdk.ObjectAllocationOutsideTLAB",
    ];
    let expected: usize = allocations
        .iter()
        .map(|name| ours.named(name).count())
        .sum();
    assert_eq!(found("AllocationSample"), expected);
    let expected =
        ours.named("jdk.JavaMonitorEnter").count() + ours.named("jdk.ThreadPark").count();
    assert_eq!(found("ContendedLock"), expected);
}
