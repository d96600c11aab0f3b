//! Recordings of other writers: async-profiler, Datadog's profiler and Mission Control's writer,
//! made here by what their projects publish, and those that Grafana's parser is tested with
//! (async-profiler on JDK 8, 17 and 21, the JDK's own of 11, 17 and 21 with Datadog's events,
//! several chunks, keys of 64 bits, empty pools). Counts, stacks and attributes must be what the
//! JDK and Mission Control see.
//!
//! What cannot be had here is left out, and said so. No recording of a JDK 8 with its own JFR could
//! be found.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

#[allow(dead_code, reason = "shared, each test uses its part")]
#[path = "common/jdk.rs"]
mod jdk;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use jdk::Jdk;
use jfr_format::read::{ChunkParser, Chunks, EntryIndex, ParsedChunk, Sample};

const INTEROP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop");
/// Unpacked, it is 20 MB of what `goland-multichunk` has too.
const TOO_BIG: &str = "goland.jfr.gz";

/// What a reader sees, by name.
type Tallies = BTreeMap<String, i64>;

// ---- what our reader sees

fn hash(text: &str) -> i64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    hash.cast_signed()
}

fn add(seen: &mut Tallies, name: String, value: i64) {
    let sum = seen.entry(name).or_default();
    *sum = sum.wrapping_add(value);
}

/// Hash over the frames of a stack, and how many there are.
fn frames(sample: &Sample<'_>) -> (i64, i64) {
    let Some(stack) = sample.stack() else {
        return (0, 0);
    };
    let mut text = String::new();
    let mut count = 0;
    for frame in stack.frames() {
        let class = frame.class().replace('/', ".");
        let line = frame.line().unwrap_or(0);
        write!(text, "{class}.{}:{line};", frame.method()).unwrap();
        count += 1;
    }
    (hash(&text), count)
}

fn chunk(open: &ParsedChunk<'_>, seen: &mut Tallies) {
    for event in open.events() {
        let event = event.unwrap();
        add(seen, format!("count {}", event.ty().name), 1);
        for (_, value) in event.fields() {
            value.unwrap();
        }
    }
    let mut known: HashMap<Option<EntryIndex>, (i64, i64)> = HashMap::new();
    let has_stack = |ty: &jfr_format::read::Type| ty.field_position("stackTrace").is_some();
    for sample in open.samples(has_stack) {
        let sample = sample.unwrap();
        let thread = sample.thread();
        let name = thread.as_ref().and_then(|t| t.java_name().or(t.os_name()));
        let entry = known.entry(sample.stack_entry());
        let (stack, count) = *entry.or_insert_with(|| frames(&sample));
        let value = stack.wrapping_mul(31);
        let ty = &sample.ty().name;
        let value = value.wrapping_add(hash(name.unwrap_or("-")));
        add(seen, format!("sum {ty}"), value);
        add(seen, format!("frames {ty}"), count);
        for (name, text) in sample.context() {
            add(seen, format!("value {name}={}", text.replace(' ', "_")), 1);
        }
    }
}

/// The JDK takes a key that it met in an earlier chunk for what it was there, and some writers give
/// keys a new meaning in each chunk; so stacks are compared with it chunk by chunk.
fn is_one_chunk(file: &Path) -> bool {
    Chunks::new(&std::fs::read(file).unwrap()).count() == 1
}

/// The chunks of a file that has several, each as a file.
fn chunks_as_files(file: &Path) -> Vec<PathBuf> {
    if is_one_chunk(file) {
        return Vec::new();
    }
    let bytes = std::fs::read(file).unwrap();
    let chunks = Chunks::new(&bytes).enumerate();
    let one = |(n, chunk): (usize, jfr_format::read::Chunk<'_>)| {
        let target = file.with_extension(format!("{n}.jfr"));
        std::fs::write(&target, chunk.bytes).unwrap();
        target
    };
    chunks.map(one).collect()
}

/// All events, each field of them read; nothing may be damaged.
fn ours(file: &Path) -> Tallies {
    let bytes = std::fs::read(file).unwrap();
    let (mut chunks, mut parser) = (Chunks::new(&bytes), ChunkParser::new());
    let mut seen = Tallies::new();
    for next in chunks.by_ref() {
        let open = parser.parse(&next).unwrap();
        assert!(
            open.corruptions().is_empty(),
            "{}: {:?}",
            file.display(),
            open.corruptions()
        );
        chunk(&open, &mut seen);
    }
    assert!(
        chunks.corruptions().is_empty(),
        "{:?}",
        chunks.corruptions()
    );
    seen
}

// ---- what the others see

/// File by file; an error where a reader cannot read it.
fn parse(text: &str) -> Vec<Result<Tallies, String>> {
    let mut all: Vec<Result<Tallies, String>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("file ") {
            all.push(Ok(Tallies::new()));
        } else if let Some(error) = line.strip_prefix("error ") {
            *all.last_mut().unwrap() = Err(error.to_owned());
        } else if let Ok(seen) = all.last_mut().unwrap() {
            let (name, value) = line.rsplit_once(' ').unwrap();
            seen.insert(name.to_owned(), value.parse().unwrap());
        }
    }
    all
}

/// Both must have said the same under the prefixes that the other one knows, and both something.
fn compare(ours: &Tallies, theirs: &Tallies, prefixes: &[&str], what: &str) {
    // What has no frame at all the others do not mention.
    let of = |seen: &Tallies| -> Tallies {
        let named = seen.iter().filter(|(name, value)| {
            prefixes.iter().any(|prefix| name.starts_with(prefix))
                && !(name.starts_with("frames ") && **value == 0)
        });
        named.map(|(name, value)| (name.clone(), *value)).collect()
    };
    let (ours, theirs) = (of(ours), of(theirs));
    assert!(!ours.is_empty(), "{what}");
    for (name, value) in &ours {
        assert_eq!(theirs.get(name), Some(value), "{what}: {name}");
    }
    assert_eq!(ours.len(), theirs.len(), "{what}: {theirs:?}");
}

struct Tools {
    compiler: Jdk,
    newest: Jdk,
    classes: tempfile::TempDir,
    class_path: String,
    /// Jars of the other writers by name.
    jars: BTreeMap<String, PathBuf>,
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn tools() -> Option<Tools> {
    let jdks = jdk::all();
    let Some(compiler) = jdks.iter().find(|jdk| jdk.has_compiler()).cloned() else {
        println!("SKIP foreign recordings: no JDK with a compiler here");
        return None;
    };
    let readers = Command::new(format!("{INTEROP}/fetch.sh"))
        .output()
        .unwrap();
    let listed = text(&readers);
    let Some(mission_control) = listed.lines().find_map(|line| line.strip_prefix("jmc ")) else {
        let why = String::from_utf8_lossy(&readers.stderr);
        println!("SKIP foreign recordings: no second reader to compare with: {why}");
        return None;
    };
    let writers = Command::new(format!("{INTEROP}/foreign/fetch.sh"))
        .output()
        .unwrap();
    let why = String::from_utf8_lossy(&writers.stderr);
    assert!(writers.status.success(), "{why}");
    let mut jars = BTreeMap::new();
    for line in text(&writers).lines() {
        match line.split_once(' ') {
            Some(("SKIP", _)) => println!("{line}"),
            Some((name, jar)) => drop(jars.insert(name.to_owned(), PathBuf::from(jar))),
            None => panic!("{line}"),
        }
    }
    let mut class_path = mission_control.to_owned();
    for jar in jars.values() {
        write!(class_path, ":{}", jar.display()).unwrap();
    }
    let tools = Tools {
        newest: jdks.last().unwrap().clone(),
        compiler,
        classes: tempfile::tempdir().unwrap(),
        class_path,
        jars,
    };
    tools.compile(&["ReadJdk", "ReadMissionControl"]);
    Some(tools)
}

impl Tools {
    fn compile(&self, classes: &[&str]) {
        let sources = classes
            .iter()
            .map(|name| format!("{INTEROP}/foreign/{name}.java"));
        let mut javac = self.compiler.short_lived("javac");
        javac.args(["--release", "17", "-cp", &self.class_path, "-d"]);
        javac.arg(self.classes.path()).args(sources);
        let output = javac.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }

    /// Runs a class; one that hangs is a failure.
    fn run(&self, java: &Command, class: &str, arguments: &[&Path]) -> Output {
        let mut command = Command::new("timeout");
        command.arg("400").arg(java.get_program());
        let variables = java.get_envs();
        command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        command.arg("-cp");
        command.arg(format!(
            "{}:{}",
            self.classes.path().display(),
            self.class_path
        ));
        command.arg(class).args(arguments);
        command.output().unwrap()
    }

    /// Compares what both readers see of each file with what ours sees; one of them at least must
    /// read it.
    fn judge(&self, files: &[PathBuf]) {
        let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        let of = |class| {
            let java = self.newest.short_lived("java");
            let output = self.run(&java, class, &paths);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{class}: {errors}");
            let seen = parse(&text(&output));
            assert_eq!(seen.len(), files.len());
            seen
        };
        let (of_jdk, of_mission_control) = (of("ReadJdk"), of("ReadMissionControl"));
        for ((file, jdk), mission_control) in files.iter().zip(of_jdk).zip(of_mission_control) {
            let name = file.file_name().unwrap().to_string_lossy();
            let seen = ours(file);
            let events: i64 = seen
                .iter()
                .filter(|s| s.0.starts_with("count "))
                .map(|s| s.1)
                .sum();
            println!("{name}: {events} events");
            match &jdk {
                Ok(theirs) => {
                    let all = ["count ", "sum "];
                    let prefixes = if is_one_chunk(file) {
                        &all[..]
                    } else {
                        &all[..1]
                    };
                    compare(&seen, theirs, prefixes, &format!("{name}, JDK"));
                }
                Err(error) => println!("  the JDK cannot read it: {error}"),
            }
            match &mission_control {
                Ok(theirs) => {
                    let prefixes = ["count ", "frames ", "value "];
                    compare(
                        &seen,
                        theirs,
                        &prefixes,
                        &format!("{name}, Mission Control"),
                    );
                }
                Err(error) => println!("  Mission Control cannot read it: {error}"),
            }
            assert!(
                jdk.is_ok() || mission_control.is_ok(),
                "{name}: nobody else can read it"
            );
        }
    }

    /// Has a writer make a recording; `None`, and said so, if it cannot be had here or does not run
    /// here.
    fn record(&self, writer: &str, class: &str, library: Option<&str>, file: &Path) -> Option<()> {
        let jar = self.jars.get(writer)?;
        self.compile(&["Work", class]);
        let directory = tempfile::tempdir().unwrap();
        let mut arguments = Vec::new();
        let library = library.map(|entry| {
            let mut unpack = self.compiler.tool("jar");
            unpack.current_dir(directory.path());
            let status = unpack.arg("xf").arg(jar).arg(entry).status().unwrap();
            assert!(status.success(), "{entry} of {}", jar.display());
            directory.path().join(entry)
        });
        arguments.extend(library.as_deref());
        arguments.push(file);
        // On the oldest JDK here: all of these writers know it.
        let output = self.run(&jdk::all()[0].java(), class, &arguments);
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            println!("SKIP {writer}: it does not run here: {why}");
            return None;
        }
        Some(())
    }
}

// ---- the recordings

#[test]
fn recordings_made_here_by_other_writers() {
    let Some(tools) = tools() else { return };
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let is_x86 = cfg!(target_arch = "x86_64");
    let cpu = if is_x86 { "linux-x64" } else { "linux-arm64" };
    let mut files = Vec::new();
    let mut record = |writer: &str, class: &str, library: Option<String>| {
        let target = file(&format!("{writer}.jfr"));
        let made = tools.record(writer, class, library.as_deref(), &target);
        files.extend(made.map(|()| target));
    };
    let library = format!("{cpu}/libasyncProfiler.so");
    record("async-profiler", "WriteAsyncProfiler", Some(library));
    let library = format!("META-INF/native-libs/{cpu}/libjavaProfiler.so");
    record("datadog", "WriteDatadog", Some(library));
    record("mission-control", "WriteMissionControl", None);
    tools.judge(&files);
    for file in &files {
        let seen = ours(file);
        let has = |name: &str| assert!(seen.contains_key(name), "{name} in {seen:?}");
        match file.file_stem().unwrap().to_str().unwrap() {
            "async-profiler" => {
                has("count jdk.ExecutionSample");
                has("count profiler.WallClockSample");
            }
            "datadog" => {
                has("count datadog.ExecutionSample");
                has("value route=/checkout");
                has("value tenant=acme_é");
            }
            _ => assert_eq!(seen["count test.Event"], 200),
        }
    }
}

#[test]
fn recordings_that_grafanas_parser_is_tested_with() {
    let Some(tools) = tools() else { return };
    let mut go = Command::new("go");
    go.current_dir(format!("{INTEROP}/grafana"));
    go.args(["mod", "download", "-json", "github.com/grafana/jfr-parser"]);
    let listed = match go.output() {
        Ok(output) if output.status.success() => text(&output),
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr);
            println!("SKIP Grafana's recordings: they cannot be had here: {why}");
            return;
        }
        Err(error) => {
            println!("SKIP Grafana's recordings: no go here: {error}");
            return;
        }
    };
    let module: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let recordings = Path::new(module["Dir"].as_str().unwrap()).join("parser/testdata");
    let directory = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for entry in recordings.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if let Some(plain) = name.strip_suffix(".gz")
            && Path::new(plain)
                .extension()
                .is_some_and(|kind| kind == "jfr")
            && name != TOO_BIG
        {
            let target = directory.path().join(plain);
            let mut packed = flate2::read::MultiGzDecoder::new(File::open(&path).unwrap());
            std::io::copy(&mut packed, &mut File::create(&target).unwrap()).unwrap();
            files.push(target);
        }
    }
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    let parts: Vec<_> = files
        .iter()
        .flat_map(|file| chunks_as_files(file))
        .collect();
    files.extend(parts);
    tools.judge(&files);
}
