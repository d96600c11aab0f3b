//! The reader on recordings of the JDK: every event to its last byte, and the same values as the
//! JDK's own tool gives.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::wildcard_imports,
    reason = "tests, and what they share"
)]

#[path = "common/jdk.rs"]
#[allow(dead_code, reason = "shared with tests that use more of it")]
mod jdk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jdk::Jdk;
use jfr_format::read::{ChunkStream, Chunks, ParsedChunk, Value};

const PROGRAM: &str = r#"
import java.util.*;
public class Work {
  static volatile long sink;
  static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + 1_500_000_000L;
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Thread thread = new Thread(() -> { while (System.nanoTime() < end) { sink += fib(24) + ("é日" + sink).hashCode(); } }, "wörker-" + i);
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) thread.join();
    System.gc();
  }
}
"#;

/// A recording of a JDK.
struct Recorded {
    jdk: Jdk,
    file: PathBuf,
    bytes: Vec<u8>,
}

/// One test, as each has a process of its own and would make all recordings again.
#[test]
fn recordings_of_the_jdk_are_read_as_its_own_tool_reads_them() {
    let directory = tempfile::tempdir().unwrap();
    if !compile(directory.path()) {
        println!("SKIP: no JDK of 17, 21, 25 can compile");
        return;
    }
    for jdk in jdk::all() {
        let recorded = record(jdk, directory.path());
        events_are_consumed_to_the_byte(&recorded);
        samples_have_the_values_that_jfr_print_gives(&recorded);
        settings_and_strings_from_the_pool_are_resolved(&recorded);
        truncation_and_streams_do_no_harm(&recorded);
        chunks_can_be_read_side_by_side(&recorded);
    }
}

/// Compiles the program; returns whether there is a compiler.
fn compile(directory: &Path) -> bool {
    let source = directory.join("Work.java");
    std::fs::write(&source, PROGRAM).unwrap();
    let Some(compiler) = jdk::all().into_iter().find(Jdk::has_compiler) else {
        return false;
    };
    let mut javac = compiler.short_lived("javac");
    javac.args(["--release", "17", "-encoding", "UTF-8", "-d"]);
    let output = javac.args([directory, &source]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "javac: {errors}");
    true
}

fn record(jdk: Jdk, directory: &Path) -> Recorded {
    let file = directory.join(format!("jdk{}.jfr", jdk.version));
    let option = format!(
        "-XX:StartFlightRecording=filename={},settings=profile",
        file.display()
    );
    let mut java = jdk.java();
    let output = java.arg(option).arg("-cp").arg(directory).arg("Work");
    let output = output.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let bytes = std::fs::read(&file).unwrap();
    Recorded { jdk, file, bytes }
}

/// Events per type name, as `jfr summary` counts.
fn counts(bytes: &[u8]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut chunks = Chunks::new(bytes);
    for chunk in chunks.by_ref() {
        let open = ParsedChunk::new(&chunk).unwrap();
        assert!(open.corruptions().is_empty(), "{:?}", open.corruptions());
        for event in open.raw_events() {
            let event = event.unwrap();
            let name = match event.type_id {
                0 => "jdk.Metadata",
                1 => "jdk.CheckPoint",
                id => &open.metadata().type_by_id(id).unwrap().name,
            };
            *counts.entry(name.to_lowercase()).or_default() += 1;
            if let Some(event) = open.event(&event).filter(|event| event.ty().is_event()) {
                assert_eq!(event.bytes_left_over().unwrap(), 0, "{}", event.ty().name);
            }
        }
    }
    assert!(chunks.corruptions().is_empty());
    counts
}

fn events_are_consumed_to_the_byte(Recorded { jdk, file, bytes }: &Recorded) {
    let counts = counts(bytes);
    let summary = jdk.jfr_ok(&["summary", &file.to_string_lossy()]);
    let mut compared = 0;
    for line in summary
        .lines()
        .skip_while(|line| !line.starts_with("===="))
        .skip(1)
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, count, _] = words[..] else {
            continue;
        };
        let count: usize = count.parse().unwrap();
        assert_eq!(
            counts.get(&name.to_lowercase()).copied().unwrap_or(0),
            count,
            "{name} of JDK {}",
            jdk.version
        );
        compared += 1;
    }
    assert!(compared > 50, "{summary}");
    println!(
        "JDK {}: {compared} types, {} events",
        jdk.version,
        counts.values().sum::<usize>()
    );
}

/// One sample as text: `thread|top method|line|depth`.
fn ours(bytes: &[u8]) -> Vec<String> {
    let mut samples = Vec::new();
    for chunk in Chunks::new(bytes) {
        let open = ParsedChunk::new(&chunk).unwrap();
        for sample in open.samples(|ty| &*ty.name == "jdk.ExecutionSample") {
            let sample = sample.unwrap();
            let thread = sample.thread().unwrap();
            let stack = sample.stack().unwrap();
            let top = stack.frames().next().unwrap();
            samples.push(format!(
                "{}|{}|{}.{}{}|{}|{}|{}|{}",
                thread.java_name().unwrap(),
                thread.java_id,
                top.class(),
                top.method(),
                top.descriptor(),
                top.line().unwrap_or(0),
                top.kind(),
                stack.frames().len(),
                sample.state().unwrap(),
            ));
        }
    }
    samples.sort();
    samples
}

fn theirs(jdk: &Jdk, file: &Path) -> Vec<String> {
    let json = jdk.jfr_ok(&[
        "print",
        "--json",
        "--stack-depth",
        "2000",
        "--events",
        "jdk.ExecutionSample",
        &file.to_string_lossy(),
    ]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut samples: Vec<String> = json["recording"]["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let values = &event["values"];
            let thread = &values["sampledThread"];
            let frames = values["stackTrace"]["frames"].as_array().unwrap();
            let top = &frames[0];
            format!(
                "{}|{}|{}.{}{}|{}|{}|{}|{}",
                thread["javaName"].as_str().unwrap(),
                thread["javaThreadId"],
                top["method"]["type"]["name"].as_str().unwrap(),
                top["method"]["name"].as_str().unwrap(),
                top["method"]["descriptor"].as_str().unwrap(),
                top["lineNumber"].as_i64().unwrap().max(0),
                top["type"].as_str().unwrap(),
                frames.len(),
                values["state"].as_str().unwrap(),
            )
        })
        .collect();
    samples.sort();
    samples
}

fn samples_have_the_values_that_jfr_print_gives(Recorded { jdk, file, bytes }: &Recorded) {
    let (ours, theirs) = (ours(bytes), theirs(jdk, file));
    assert!(!ours.is_empty(), "JDK {}: no samples", jdk.version);
    assert_eq!(ours, theirs, "JDK {}", jdk.version);
}

fn settings_and_strings_from_the_pool_are_resolved(Recorded { jdk, bytes, .. }: &Recorded) {
    let chunk = Chunks::new(bytes).next().unwrap();
    let open = ParsedChunk::new(&chunk).unwrap();
    let settings = open.settings();
    let period = settings
        .iter()
        .find(|s| s.event.as_deref() == Some("jdk.ExecutionSample") && s.name == "period");
    assert!(
        period.is_some_and(|s| s.value.ends_with("ms")),
        "JDK {}: {period:?}",
        jdk.version
    );
    // Every field of every event has a readable value; references with a key of this chunk
    // resolve.
    let mut dangling = 0;
    for event in open.events() {
        for (field, value) in event.unwrap().fields() {
            if let Value::Ref(reference) = value.unwrap()
                && reference.key != 0
                // A thread that is gone before its chunk ends is missing in the JDK's own
                // files: `jfr print` says N/A.
                && reference.ty().is_none_or(|ty| &*ty.name != "java.lang.Thread")
                && reference.resolve().is_none()
            {
                println!("{} {}", field.name, reference.key);
                dangling += 1;
            }
        }
    }
    assert_eq!(dangling, 0, "JDK {}", jdk.version);
}

fn truncation_and_streams_do_no_harm(Recorded { jdk, bytes, .. }: &Recorded) {
    let whole = ours(bytes).len();
    for step in 1..60 {
        let cut = &bytes[..bytes.len() * step / 60];
        let mut stream = ChunkStream::new(cut);
        let mut samples = 0;
        while let Some(chunk) = stream.next_chunk().unwrap() {
            if let Ok(open) = ParsedChunk::new(&chunk.as_chunk()) {
                samples += open
                    .samples(|ty| &*ty.name == "jdk.ExecutionSample")
                    .flatten()
                    .count();
            }
        }
        assert!(
            samples <= whole && !stream.corruptions().is_empty(),
            "JDK {} cut at {}",
            jdk.version,
            cut.len()
        );
    }
    // Two recordings end to end.
    assert_eq!(ours(&bytes.repeat(2)).len(), 2 * whole);
}

fn chunks_can_be_read_side_by_side(Recorded { bytes, .. }: &Recorded) {
    let file = bytes.repeat(3);
    let chunks: Vec<_> = Chunks::new(&file).collect();
    let counts: Vec<usize> = std::thread::scope(|scope| {
        let threads: Vec<_> = chunks
            .iter()
            .map(|chunk| {
                scope.spawn(move || ParsedChunk::new(chunk).unwrap().events().flatten().count())
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| panic!("a reader panicked"))
            })
            .collect()
    });
    assert_eq!(counts.len(), chunks.len());
    assert!(counts.iter().all(|&count| count > 0));
}
