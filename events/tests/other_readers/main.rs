//! The readers that people have, as judges: the JDK's API and tools (17, 21, 25), JDK Mission
//! Control's parser and rules, async-profiler's converter, Grafana's parser. Each tells of each
//! sample what it shows: type, thread, state, stack with lines, weight, context. That must be what
//! was written, line by line. Differences are listed in `docs/operations.md`.
//!
//! A reader that cannot be had here is left out, and said so.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

#[path = "../common/mod.rs"]
mod common;
mod expected;
mod files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::checker::{self, Value};
use common::jdk::{self, Jdk};
use ctxagent_events::LATE_LABEL;
use expected::*;
use files::*;

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../jfr-format/tests/interop");

struct Readers {
    compiler: Jdk,
    /// Name and class path.
    class_paths: Vec<(String, String)>,
    classes: PathBuf,
    /// Holds the classes for as long as the tests run.
    _folder: tempfile::TempDir,
}

/// The readers in Java, compiled once; `None`, and said so, if they cannot be had.
fn readers() -> Option<&'static Readers> {
    static READERS: OnceLock<Option<Readers>> = OnceLock::new();
    READERS.get_or_init(fetch).as_ref()
}

fn fetch() -> Option<Readers> {
    let Some(compiler) = jdk::all().into_iter().find(Jdk::has_compiler) else {
        println!("SKIP: no JDK with a compiler here");
        return None;
    };
    let output = Command::new(Path::new(DIRECTORY).join("fetch.sh"))
        .output()
        .unwrap();
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        println!("SKIP: the other readers cannot be had here: {why}");
        return None;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let class_paths: Vec<(String, String)> = text
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, path)| (name.to_owned(), path.to_owned()))
        .collect();
    let directory = tempfile::tempdir().unwrap();
    let classes = directory.path().join("classes");
    let all: Vec<&str> = class_paths.iter().map(|(_, path)| path.as_str()).collect();
    let sources = Path::new(DIRECTORY).read_dir().unwrap();
    let sources = sources
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "java"));
    let outcome = compiler
        .short_lived("javac")
        .args(["--release", "17", "-cp", &all.join(":"), "-d"])
        .arg(&classes)
        .args(sources)
        .output()
        .unwrap();
    assert!(
        outcome.status.success(),
        "{}",
        String::from_utf8_lossy(&outcome.stderr)
    );
    Some(Readers {
        compiler,
        class_paths,
        classes,
        _folder: directory,
    })
}

/// Standard output of a reader. One that loses its place may loop endlessly: the time limit is a
/// part of the test.
fn run(command: &Command) -> String {
    let mut limited = Command::new("timeout");
    limited
        .arg("180")
        .arg(command.get_program())
        .args(command.get_args());
    let output = limited.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        String::from_utf8_lossy(&output.stderr),
        text.get(text.len().saturating_sub(3000)..).unwrap_or("")
    );
    // What JMC logs for each event of an unknown type: none but the headers of pages in the file
    // that a process left just as it grew.
    let said = String::from_utf8_lossy(&output.stderr);
    let unknown = said.matches("was not declared").count();
    assert!(unknown < 10, "{unknown} events: {said:.2000}");
    text
}

/// Runs a class over the files on `jdk`; `judge` gets what it saw of each, and what the checker
/// says is in it.
fn each_file(
    jdk: &Jdk,
    main: &str,
    class_path: &str,
    work: bool,
    judge: impl Fn(&ReaderResult, &checker::Recording, &Path),
) {
    each_file_of(write_files, jdk, main, class_path, work, judge);
}

fn each_file_of(
    write: fn(&Path) -> Vec<PathBuf>,
    jdk: &Jdk,
    main: &str,
    class_path: &str,
    work: bool,
    judge: impl Fn(&ReaderResult, &checker::Recording, &Path),
) {
    let directory = tempfile::tempdir().unwrap();
    let files = write(directory.path());
    let work = work.then(|| directory.path());
    judge_all(&read_by(jdk, main, class_path, work, &files), &files, judge);
}

/// What a class prints of the files.
fn read_by(
    jdk: &Jdk,
    main: &str,
    class_path: &str,
    work: Option<&Path>,
    files: &[PathBuf],
) -> String {
    let readers = readers().unwrap();
    let mut java = jdk.java();
    java.args([
        "-XX:TieredStopAtLevel=1",
        "--add-opens",
        "jdk.jfr/jdk.jfr.internal.tool=ALL-UNNAMED",
        "-cp",
    ]);
    java.arg(format!("{}:{class_path}", readers.classes.display()))
        .arg(main);
    java.args(work).args(files);
    run(&java)
}

fn judge_all(
    printed: &str,
    files: &[PathBuf],
    judge: impl Fn(&ReaderResult, &checker::Recording, &Path),
) {
    let seen = ReaderResult::parse(printed);
    assert_eq!(seen.len(), files.len());
    for (seen, file) in seen.iter().zip(files) {
        judge(seen, &checker::read(&std::fs::read(file).unwrap()), file);
    }
}

/// Compares line by line, so that a failure names the first sample that differs.
fn same_samples(seen: &ReaderResult, ours: &checker::Recording, shows: Shows, file: &Path) {
    let expected = expected(ours, shows);
    for (seen, expected) in seen.samples.iter().zip(&expected) {
        assert_eq!(seen, expected, "{}", file.display());
    }
    assert_eq!(seen.samples.len(), expected.len(), "{}", file.display());
    println!("  {}: {} samples alike", file.display(), expected.len());
}

#[test]
fn the_jdks_api_and_tools() {
    if readers().is_none() {
        return;
    }
    for jdk in jdk::all() {
        println!("JDK {}", jdk.version);
        each_file(&jdk, "JdkReader", "", true, |seen, ours, file| {
            let counts = counts_by_type(ours);
            let of_api: BTreeMap<String, i64> = seen
                .counts
                .iter()
                .filter(|(name, _)| !name.contains(':'))
                .map(|(name, count)| (name.clone(), *count))
                .collect();
            assert_eq!(of_api, counts, "RecordingFile");
            same_samples(seen, ours, ALL, file);
            let summary = seen.under("summary:");
            for (name, count) in &counts {
                assert_eq!(summary.get(name), Some(count), "summary: {name}");
            }
            assert!(seen.count("metadata:types") >= 20);
            let same = seen.other.contains(&"same true".to_owned());
            assert!(same, "assemble gives back what disassemble was given");
            if jdk.version >= 21 {
                assert!(seen.other.contains(&"view true".to_owned()));
                let scrubbed = seen.under("scrub:");
                for name in ["jdk.ExecutionSample", "profiler.WallClockSample"] {
                    assert_eq!(scrubbed.get(name), counts.get(name), "scrub: {name}");
                }
            }
        });
    }
}

#[test]
fn printed_contexts() {
    let directory = tempfile::tempdir().unwrap();
    let files = write_files(directory.path());
    for jdk in jdk::all() {
        for file in files
            .iter()
            .filter(|f| !f.to_str().unwrap().contains("unfinished"))
        {
            let ours = checker::read(&std::fs::read(file).unwrap());
            let printed = jdk.jfr_ok(&["print", file.to_str().unwrap()]);
            let mut events: BTreeMap<String, i64> = BTreeMap::new();
            let mut values = 0;
            for line in printed.lines() {
                if let Some(name) = line
                    .strip_suffix(" {")
                    .filter(|n| n.contains('.') && !n.contains(' '))
                {
                    *events.entry(name.to_owned()).or_insert(0) += 1;
                }
                let name = line.trim_start().split_once(" = \"").map_or("", |(n, _)| n);
                let is_column = EIGHT.iter().any(|c| c.replace('.', "_") == name)
                    || name == "late_name"
                    || name
                        .strip_prefix("context")
                        .is_some_and(|n| n.parse::<u8>().is_ok());
                values +=
                    usize::from(is_column && line.starts_with("  ") && !line.starts_with("   "));
            }
            assert_eq!(events, counts_by_type(&ours), "JDK {}", jdk.version);
            let set = |value: &Value| {
                matches!(value, Value::Reference(ty, key)
                    if *key != 0 && ours.types[ty].name == "ctxagent.types.AttributeValue")
            };
            // Its values are fields of its own.
            let with_columns = ours.events.iter().filter(|e| e.name != LATE_LABEL.name);
            let expected = with_columns.flat_map(|e| &e.fields);
            let expected = expected.filter(|(_, value)| set(value)).count();
            assert_eq!(values, expected, "JDK {}: {}", jdk.version, file.display());
        }
    }
}

/// Whether the columns of this file get their names as they come, so that some have none.
fn has_unnamed_columns(file: &Path) -> bool {
    file.file_name()
        .unwrap()
        .to_string_lossy()
        .starts_with("3.")
}

#[test]
fn mission_control_and_its_rules() {
    let Some(readers) = readers() else { return };
    let (_, path) = readers
        .class_paths
        .iter()
        .find(|(n, _)| n == "jmc")
        .unwrap();
    each_file(
        &readers.compiler,
        "MissionControl",
        path,
        false,
        |seen, ours, file| {
            let mut counts = seen.counts.clone();
            let rules = counts.remove("rules").unwrap();
            // JMC shows them on request only: `MissionControl.java` fails if one is shown otherwise.
            let unnamed = counts.remove("hidden").unwrap();
            assert_eq!(unnamed > 0, has_unnamed_columns(file), "{unnamed}");
            assert_eq!(counts, counts_by_type(ours), "also: no type is split");
            assert!(counts.keys().all(|name| {
                ctxagent_events::SCHEMA
                    .events
                    .iter()
                    .any(|e| e.name == name)
            }));
            same_samples(seen, ours, ALL, file);
            assert!(rules > 50, "{rules} rules");
        },
    );
}

#[test]
fn async_profilers_converter() {
    let Some(readers) = readers() else { return };
    for (name, path) in &readers.class_paths {
        if name == "jmc" {
            continue;
        }
        println!("{name}");
        each_file(
            &readers.compiler,
            "AsyncProfiler",
            path,
            true,
            |seen, ours, file| {
                same_samples(seen, ours, CONVERTER, file);
                let counts = counts_by_type(ours);
                let of =
                    |names: &[&str]| -> i64 { names.iter().filter_map(|n| counts.get(*n)).sum() };
                assert_eq!(seen.count("ExecutionSample"), of(CPU_AND_WALL));
                let allocations = of(&["jdk.ObjectAllocationSample"]);
                assert_eq!(seen.count("AllocationSample"), allocations);
                let locks = of(&["jdk.JavaMonitorEnter", "jdk.ThreadPark"]);
                assert_eq!(seen.count("ContendedLock"), locks);
                let total = total(ours, CPU_AND_WALL);
                for format in ["collapsed", "html", "pprof"] {
                    assert_eq!(seen.count(format), total, "{format} of {}", file.display());
                }
                // 4.1 knows no OTLP. The settings of our file, not what the converter takes where
                // it finds none.
                if name != "converter-4.1" {
                    assert_eq!(seen.count("otlp:period"), 20_000_000, "{}", file.display());
                    assert_eq!(seen.count("otlp:wall:period"), 40_000_000);
                }
                // The heatmap of 4.1 shows each event once, whatever it stands for.
                let heatmap = if name == "converter-4.1" {
                    of(CPU_AND_WALL)
                } else {
                    total
                };
                assert_eq!(seen.count("heatmap"), heatmap, "heatmap");
            },
        );
    }
}

#[test]
fn converter_reads_files_of_every_length() {
    let Some(readers) = readers() else { return };
    for (name, path) in readers.class_paths.iter().filter(|(name, _)| name != "jmc") {
        println!("{name}");
        let jdk = &readers.compiler;
        let judge = |seen: &ReaderResult, ours: &checker::Recording, file: &Path| {
            same_samples(seen, ours, CONVERTER, file);
        };
        each_file_of(write_every_length, jdk, "AsyncProfiler", path, true, judge);
    }
}

/// The keys of the two mean other values.
#[test]
fn readers_see_in_a_merged_file_what_is_in_its_parts() {
    let Some(readers) = readers() else { return };
    let directory = tempfile::tempdir().unwrap();
    let files = write_merged(directory.path());
    let compare = |jdk: &Jdk, main: &str, class_path: &str, work: Option<&Path>| {
        let seen = ReaderResult::parse(&read_by(jdk, main, class_path, work, &files));
        let [first, second, merged] = seen.try_into().unwrap();
        let mut parts = [first.samples, second.samples].concat();
        parts.sort();
        assert!(parts.len() > 600, "{main}: {} samples", parts.len());
        assert_eq!(merged.samples, parts, "{main}");
    };
    for jdk in jdk::all() {
        compare(&jdk, "JdkReader", "", Some(directory.path()));
    }
    for (name, path) in &readers.class_paths {
        let (main, work) = match &**name {
            "jmc" => ("MissionControl", None),
            _ => ("AsyncProfiler", Some(directory.path())),
        };
        compare(&readers.compiler, main, path, work);
    }
}

/// Grafana's conversion forgets to set the count back: behind a wall-clock sample, each CPU sample
/// of the file counts as often as that one.
fn pprof_cpu(ours: &checker::Recording) -> i64 {
    let (mut value, mut sum) = (1, 0);
    for event in &ours.events {
        match event.name.as_str() {
            "profiler.WallClockSample" => value = event.number("samples"),
            "jdk.ExecutionSample" => sum += value,
            _ => {}
        }
    }
    sum
}

#[test]
fn grafanas_parser() {
    let build = tempfile::tempdir().unwrap();
    let program = build.path().join("grafana");
    let go = |arguments: &[&str]| {
        let mut go = Command::new("go");
        go.current_dir(Path::new(DIRECTORY).join("grafana"))
            .args(arguments);
        go.output()
    };
    let Ok(fetched) = go(&["mod", "download"]) else {
        println!("SKIP: no go here");
        return;
    };
    if !fetched.status.success() {
        println!(
            "SKIP: Grafana's parser cannot be had here: {}",
            String::from_utf8_lossy(&fetched.stderr)
        );
        return;
    }
    let outcome = go(&["build", "-o", program.to_str().unwrap(), "."]).unwrap();
    assert!(
        outcome.status.success(),
        "{}",
        String::from_utf8_lossy(&outcome.stderr)
    );
    let files = write_files(build.path());
    let mut reader = Command::new(&program);
    reader.args(&files);
    judge_all(&run(&reader), &files, |seen, ours, file| {
        same_samples(seen, ours, GRAFANA, file);
        let counts = counts_by_type(ours);
        for name in [
            "jdk.ExecutionSample",
            "profiler.WallClockSample",
            "jdk.ObjectAllocationSample",
            "jdk.JavaMonitorEnter",
            "jdk.ActiveSetting",
        ] {
            assert_eq!(seen.count(name), counts[name], "{name}");
        }
        assert_eq!(seen.count("pprof:cpu"), pprof_cpu(ours));
        assert_eq!(
            seen.count("pprof:wall"),
            total(ours, &["profiler.WallClockSample"])
        );
    });
}
