//! The readers that people have, as judges: the JDK's API and tools (17, 21, 25), JDK Mission
//! Control's parser and rules, async-profiler's converter, Grafana's parser. Each tells of each
//! sample what it shows: type, thread, state, stack with lines, weight, context. That must be what
//! was written, line by line. Differences are listed in `docs/limitations.md`.
//!
//! A reader that cannot be had here is left out, and said so.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::checker::{self, Event, Value};
use common::extra_events::ALL_EVENTS;
use common::jdk::{self, Jdk};
use common::scenario::{config, named, odd_texts, write_full};
use ctxagent_events::*;
use jfr_format::write::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../jfr-format/tests/interop");
const EIGHT: [&str; 8] = ["http.route", "tenant", "c", "d", "e", "f", "g", "h"];

// ---- what is written

/// Files with no, one and eight columns, with attribute keys and weights of all sizes, odd texts,
/// several chunks; each finished, and as a killed process would leave it.
fn write_files(folder: &Path) -> Vec<PathBuf> {
    let columns = [
        named(&[]),
        named(&["http.route"]),
        named(&EIGHT),
        Columns::Auto,
    ];
    let write = |(n, columns): (usize, Columns)| {
        let path = folder.join(format!("{n}.jfr"));
        let mut r =
            Recording::create(FileStorage::create(&path).unwrap(), config(columns)).unwrap();
        many_keys_and_weights(&mut r);
        r.rotate(Ticks(500)).unwrap();
        if r.column_count() > 4 {
            // A column that is named when a chunk is closed already, where columns are named as
            // they come.
            let name = "late.name".to_owned();
            let attribute = Attribute {
                name,
                ..Attribute::default()
            };
            r.attribute(Ticks(501), 4, &attribute).unwrap();
        }
        write_full(&mut r);
        allocations_of_arrays(&mut r);
        r.flush(Ticks(390_000)).unwrap();
        let unfinished = folder.join(format!("{n}.unfinished.jfr"));
        std::fs::copy(&path, &unfinished).unwrap();
        r.finish(Ticks(400_000)).unwrap();
        [path, unfinished]
    };
    let mut files: Vec<PathBuf> = columns.into_iter().enumerate().flat_map(write).collect();
    files.extend(write_growing(folder));
    files
}

/// As a process leaves a file that is killed while it makes it longer: pages behind the last chunk,
/// each an empty chunk; then pages in that chunk, behind its padding; and one that is killed as it
/// removes the hole: an empty chunk in its place.
fn write_growing(folder: &Path) -> Vec<PathBuf> {
    let mut small = config(named(&EIGHT));
    small.reserve_bytes = 64;
    let mut r = Recording::create(MemoryStorage::recording(), small).unwrap();
    write_full(&mut r);
    r.finish(Ticks(400_000)).unwrap();
    let mut bytes = Vec::new();
    let (mut files, mut pages) = (Vec::new(), 0);
    for operation in r.storage().operations() {
        let is_page = matches!(operation, Operation::Append(_));
        if let Operation::SetLen(0..) = operation
            && !bytes.is_empty()
        {
            files.push(("cut", bytes.clone()));
        }
        if pages > 1 && !is_page {
            files.push(("pages", bytes.clone()));
        }
        match operation {
            Operation::Write(at, content) => {
                let at = usize::try_from(*at).unwrap();
                bytes[at..at + content.len()].copy_from_slice(content);
            }
            Operation::Append(page) => bytes.extend_from_slice(page),
            Operation::SetLen(len) => bytes.resize(usize::try_from(*len).unwrap(), 0),
            Operation::Publish => {}
        }
        if pages > 1 && !is_page {
            files.push(("taken in", bytes.clone()));
        }
        pages = if is_page { pages + 1 } else { 0 };
    }
    // The last of each kind has most before it.
    let last = |kind: &str| {
        let state = files.iter().rfind(|(k, _)| *k == kind).unwrap();
        let path = folder.join(format!("{kind}.jfr").replace(' ', "_"));
        std::fs::write(&path, &state.1).unwrap();
        path
    };
    ["pages", "taken in", "cut"].map(last).to_vec()
}

/// What most allocations are.
fn allocations_of_arrays(r: &mut Recording<FileStorage>) {
    let thread = r.thread(&Thread::native("t", 1));
    let stack = r.synthetic_stack("none");
    let classes = [
        "[B",
        "[[J",
        "[Ljava/lang/String;",
        "[[Lapp/Order;",
        "[LOrder;",
    ];
    for (at, class) in (380_000..).zip(classes) {
        let class = r.class(class);
        r.allocation_sample(&Allocation {
            at: Ticks(at),
            thread,
            stack,
            class,
            bytes: 1 << 20,
            size_bytes: 4096,
            context: Context::NONE,
        });
    }
}

/// Small files whose last event ends at every place of an eight-byte word, once with a weight that
/// looks like a filler's type.
fn write_every_length(folder: &Path) -> Vec<PathBuf> {
    let write = |n: usize| {
        let path = folder.join(format!("length{n}.jfr"));
        let storage = FileStorage::create(&path).unwrap();
        let mut r = Recording::create(storage, config(named(&[]))).unwrap();
        let thread = r.thread(&Thread::native("t", 1));
        let (stack, state) = (r.synthetic_stack("none"), r.state("STATE_RUNNABLE"));
        let context = Context::NONE;
        // The constants come first, so that a sample is the last event.
        for (at, weight) in [(1, 1), (300, 76)] {
            let at = Ticks(at);
            r.stat(at, &"n".repeat(1 + n), 1, 1);
            r.execution_sample(&Sample {
                at,
                thread,
                stack,
                state,
                context,
                weight,
            });
            r.flush(at).unwrap();
        }
        r.finish(Ticks(400)).unwrap();
        path
    };
    (0..8).map(write).collect()
}

/// Every attribute key, and weight, that could be mistaken for the id of an event; every odd text
/// in every column.
fn many_keys_and_weights(r: &mut Recording<FileStorage>) {
    let odd = odd_texts();
    for i in 0..300u32 {
        let at = Ticks(u64::from(i));
        let mut values = [r.attribute_value(&format!("value {i}")); 8];
        for (column, value) in values.iter_mut().enumerate().skip(3) {
            *value = r.attribute_value(&odd[(i as usize + column) % odd.len()]);
        }
        let context = r.context(at, &values);
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
            samples: i + 1,
        });
    }
}

// ---- what is expected

/// What a reader says: numbers by name, samples as lines, other statements.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    counts: BTreeMap<String, i64>,
    samples: Vec<String>,
    other: Vec<String>,
}

impl Seen {
    /// The statements of a reader, file by file.
    fn parse(text: &str) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').unwrap();
            if kind == "file" {
                all.push(Self::default());
                continue;
            }
            let seen = all.last_mut().unwrap();
            match kind {
                "count" => {
                    let (name, count) = rest.split_once(' ').unwrap();
                    seen.counts.insert(name.into(), count.parse().unwrap());
                }
                "sample" => seen.samples.push(rest.into()),
                _ => seen.other.push(line.into()),
            }
        }
        for seen in &mut all {
            seen.samples.sort();
        }
        all
    }

    fn count(&self, name: &str) -> i64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Counts under a prefix, without it.
    fn under(&self, prefix: &str) -> BTreeMap<String, i64> {
        let stripped =
            |(name, count): (&String, &i64)| Some((name.strip_prefix(prefix)?.to_owned(), *count));
        self.counts.iter().filter_map(stripped).collect()
    }
}

/// What a reader shows of a sample besides type, thread, state and stack.
#[derive(Debug, Clone, Copy)]
struct Shows {
    types: &'static [&'static str],
    /// The name it has for all types, if it does not tell them apart.
    one_type: Option<&'static str>,
    /// Else only that of `profiler.WallClockSample`, other samples count as 1.
    weight: bool,
    context: bool,
    /// Bits of a line number.
    line_bits: u32,
}

const ALL: Shows = Shows {
    types: &[],
    one_type: None,
    weight: true,
    context: true,
    line_bits: 32,
};
const CPU_AND_WALL: &[&str] = &[
    "jdk.ExecutionSample",
    "jdk.NativeMethodSample",
    "profiler.WallClockSample",
];
const CONVERTER: Shows = Shows {
    types: CPU_AND_WALL,
    one_type: Some("ExecutionSample"),
    weight: false,
    context: false,
    line_bits: 16,
};
const GRAFANA: Shows = Shows {
    types: &["jdk.ExecutionSample", "profiler.WallClockSample"],
    one_type: None,
    weight: false,
    context: false,
    line_bits: 32,
};

/// Letters, digits and a few signs; every other byte becomes %XX.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-$/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").unwrap();
        }
    }
    out
}

fn optional(event: &Event, name: &str) -> Option<Value> {
    let found = event.fields.iter().find(|(n, _)| n == name)?;
    Some(found.1.clone())
}

fn counts_by_type(ours: &checker::Recording) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for event in &ours.events {
        *counts.entry(event.name.clone()).or_insert(0) += 1;
    }
    counts
}

/// The lines that a reader must print.
fn expected(ours: &checker::Recording, shows: Shows) -> Vec<String> {
    let wanted = |e: &&Event| {
        let listed = shows.types.is_empty() || shows.types.contains(&e.name.as_str());
        listed && optional(e, "stackTrace").is_some()
    };
    let mut lines: Vec<String> = ours
        .events
        .iter()
        .filter(wanted)
        .map(|event| line(ours, event, shows))
        .collect();
    lines.sort();
    lines
}

fn line(ours: &checker::Recording, event: &Event, shows: Shows) -> String {
    let thread =
        optional(event, "sampledThread").unwrap_or_else(|| event.get("eventThread").clone());
    let name =
        ["javaName", "osName"]
            .into_iter()
            .find_map(|name| match ours.field(&thread, name) {
                Value::Text(text) => text,
                other => panic!("{other:?}"),
            });
    let state = optional(event, "state").map_or_else(
        || "-".to_owned(),
        |state| escape(&ours.simple_text(&state).unwrap()),
    );
    let number = |name| optional(event, name).map(|_| event.number(name));
    let weight = match (number("samples"), number("weight")) {
        (Some(n), _) => n.to_string(),
        (_, Some(n)) if shows.weight => n.to_string(),
        _ if shows.weight => "-".into(),
        _ => "1".into(),
    };
    let kind = shows.one_type.unwrap_or(&event.name);
    let frames = frames(ours, event.get("stackTrace"), shows.line_bits);
    let mut line = format!(
        "{kind} {} {state} {frames} {weight}",
        escape(&name.unwrap())
    );
    if shows.context {
        let is_column = |value: &Value| matches!(value, Value::Reference(ty, _) if ours.types[ty].name == "ctxagent.types.AttributeValue");
        let mut context: Vec<String> = event
            .fields
            .iter()
            .filter(|(_, value)| is_column(value))
            .filter_map(|(name, value)| {
                Some(format!("{name}={}", escape(&ours.simple_text(value)?)))
            })
            .collect();
        context.sort();
        write!(line, " [{}]", context.join(",")).unwrap();
    }
    line
}

fn frames(ours: &checker::Recording, stack: &Value, line_bits: u32) -> String {
    let names = ours.frames(stack);
    let Value::Array(frames) = ours.field(stack, "frames") else {
        panic!("frames")
    };
    let line = |frame: &Value| match frame {
        Value::Struct(fields) => match &fields.iter().find(|(n, _)| n == "lineNumber").unwrap().1 {
            Value::Number(n) if line_bits < 32 => n & ((1 << line_bits) - 1),
            Value::Number(n) => *n,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let frame = |(name, frame): (&String, &Value)| {
        let (class, method) = name.rsplit_once('.').unwrap();
        let name = format!("{}.{method}", class.replace('/', "."));
        format!("{}:{}", escape(&name), line(frame))
    };
    let all: Vec<String> = names.iter().zip(&frames).map(frame).collect();
    all.join(";")
}

/// Samples of the converter and of Grafana: a wall-clock sample counts as often as it says.
fn total(ours: &checker::Recording, types: &[&str]) -> i64 {
    let weight = |e: &Event| optional(e, "samples").map_or(1, |_| e.number("samples"));
    let wanted = ours
        .events
        .iter()
        .filter(|e| types.contains(&e.name.as_str()));
    wanted.map(weight).sum()
}

// ---- running the readers

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
    let output = Command::new(Path::new(FOLDER).join("fetch.sh"))
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
    let folder = tempfile::tempdir().unwrap();
    let classes = folder.path().join("classes");
    let all: Vec<&str> = class_paths.iter().map(|(_, path)| path.as_str()).collect();
    let sources = Path::new(FOLDER).read_dir().unwrap();
    let sources = sources
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "java"));
    let outcome = compiler
        .tool("javac")
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
        _folder: folder,
    })
}

/// Standard output of a reader. One that loses its place may loop for ever: the time limit is a
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
    judge: impl Fn(&Seen, &checker::Recording, &Path),
) {
    each_file_of(write_files, jdk, main, class_path, work, judge);
}

fn each_file_of(
    write: fn(&Path) -> Vec<PathBuf>,
    jdk: &Jdk,
    main: &str,
    class_path: &str,
    work: bool,
    judge: impl Fn(&Seen, &checker::Recording, &Path),
) {
    let readers = readers().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files = write(folder.path());
    let mut java = jdk.java();
    java.args([
        "-XX:TieredStopAtLevel=1",
        "--add-opens",
        "jdk.jfr/jdk.jfr.internal.tool=ALL-UNNAMED",
        "-cp",
    ]);
    java.arg(format!("{}:{class_path}", readers.classes.display()))
        .arg(main);
    if work {
        java.arg(folder.path());
    }
    java.args(&files);
    judge_all(&run(&java), &files, judge);
}

fn judge_all(printed: &str, files: &[PathBuf], judge: impl Fn(&Seen, &checker::Recording, &Path)) {
    let seen = Seen::parse(printed);
    assert_eq!(seen.len(), files.len());
    for (seen, file) in seen.iter().zip(files) {
        judge(seen, &checker::read(&std::fs::read(file).unwrap()), file);
    }
}

/// Compares line by line, so that a failure names the first sample that differs.
fn same_samples(seen: &Seen, ours: &checker::Recording, shows: Shows, file: &Path) {
    let expected = expected(ours, shows);
    for (seen, expected) in seen.samples.iter().zip(&expected) {
        assert_eq!(seen, expected, "{}", file.display());
    }
    assert_eq!(seen.samples.len(), expected.len(), "{}", file.display());
    println!("  {}: {} samples alike", file.display(), expected.len());
}

// ---- the readers

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
    let folder = tempfile::tempdir().unwrap();
    let files = write_files(folder.path());
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
            let expected = ours.events.iter().flat_map(|e| &e.fields);
            let expected = expected.filter(|(_, value)| set(value)).count();
            assert_eq!(values, expected, "JDK {}: {}", jdk.version, file.display());
        }
    }
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
            assert_eq!(counts, counts_by_type(ours), "also: no type is split");
            assert!(
                counts
                    .keys()
                    .all(|name| ALL_EVENTS.iter().any(|e| e.name == name))
            );
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
                let allocations = [
                    "jdk.ObjectAllocationSample",
                    "jdk.ObjectAllocationInNewTLAB",
                    "jdk.ObjectAllocationOutsideTLAB",
                ];
                assert_eq!(seen.count("AllocationSample"), of(&allocations));
                let locks = ["jdk.JavaMonitorEnter", "jdk.ThreadPark"];
                assert_eq!(seen.count("ContendedLock"), of(&locks));
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
fn async_profilers_converter_reads_files_of_every_length() {
    let Some(readers) = readers() else { return };
    for (name, path) in readers.class_paths.iter().filter(|(name, _)| name != "jmc") {
        println!("{name}");
        let jdk = &readers.compiler;
        let judge = |seen: &Seen, ours: &checker::Recording, file: &Path| {
            same_samples(seen, ours, CONVERTER, file);
        };
        each_file_of(write_every_length, jdk, "AsyncProfiler", path, true, judge);
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
        go.current_dir(Path::new(FOLDER).join("grafana"))
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
            "jdk.ObjectAllocationInNewTLAB",
            "jdk.ObjectAllocationOutsideTLAB",
            "jdk.JavaMonitorEnter",
            "jdk.ThreadPark",
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
