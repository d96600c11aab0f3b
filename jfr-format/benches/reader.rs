//! How fast the reader is beside the JDK's `RecordingFile`, on one file: every event, and every name behind every sample.
//!
//! `cargo bench -p jfr-format --bench reader -- [FILE...]`; without files, on a recording of a million samples made here.
//! The JDK gets three rounds in one process, so that its best is compiled code.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a bench"
)]

#[allow(dead_code, reason = "shared with the tests, each uses its part")]
#[path = "../tests/common/jdk.rs"]
mod jdk;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jfr_format::read::{Chunks, OpenChunk, Type};
use jfr_format::write::{
    AttributeKey, Columns, Config, Frame, FrameKind, MemoryStorage, Method, Recording, Sample,
    StackTrace, Thread, Ticks,
};

const SAMPLES: u64 = 1_000_000;

fn recording() -> Vec<u8> {
    let config = Config {
        columns: Columns::Named(vec!["route".into(), "tenant".into()]),
        reserve_bytes: 256 << 20,
        ..Config::default()
    };
    let mut r = Recording::create(MemoryStorage::new(), config).unwrap();
    for chunk in 0..10u64 {
        let methods: Vec<_> = (0..200)
            .map(|m| {
                r.method(&Method::new(
                    &format!("app/shop/Service{}", m % 40),
                    &format!("method{m}"),
                    "(I)V",
                    1,
                ))
            })
            .collect();
        for sample in 0..SAMPLES / 10 {
            let at = Ticks((chunk * SAMPLES / 10 + sample) * 10);
            let mut values = [AttributeKey::NONE; 8];
            values[0] = r.attribute_value(
                ["/checkout", "/search", "/cart"][usize::try_from(sample % 3).unwrap()],
            );
            values[1] = r.attribute_value(&format!("tenant-{}", sample % 50));
            let context = r.context(at, &values);
            let thread = r.thread(&Thread {
                java_name: Some(&format!("worker-{}", sample % 50)),
                java_id: 1 + sample % 50,
                ..Thread::native("worker", 100 + sample % 50)
            });
            let frames: Vec<Frame> = (0..20)
                .map(|depth| Frame {
                    method: methods[usize::try_from((sample % 300 + depth * 7) % 200).unwrap()],
                    line: i32::try_from(depth).unwrap() + 1,
                    bci: 3,
                    kind: FrameKind::Jit,
                })
                .collect();
            let stack = r.stack(&StackTrace {
                truncated: false,
                frames: &frames,
            });
            let state = r.state("STATE_RUNNABLE");
            r.execution_sample(&Sample {
                at,
                thread,
                stack,
                state,
                context,
                weight: 1,
            });
        }
        r.flush(Ticks((chunk + 1) * SAMPLES)).unwrap();
        if chunk < 9 {
            r.rotate(Ticks((chunk + 1) * SAMPLES)).unwrap();
        }
    }
    r.finish(Ticks(10 * SAMPLES)).unwrap();
    r.storage().bytes().to_vec()
}

fn is_sample(ty: &Type) -> bool {
    ty.name.ends_with("Sample") && ty.field_position("sampledThread").is_some()
}

/// Level 3 for samples, level 2 for the rest, as the Java program does.
fn work(bytes: &[u8]) -> u64 {
    let mut sum = 0u64;
    for chunk in Chunks::new(bytes) {
        let Ok(open) = OpenChunk::new(&chunk) else {
            continue;
        };
        for event in open.events().flatten() {
            sum += 1;
            if !is_sample(event.ty()) {
                sum += event.fields().filter(|(_, value)| value.is_err()).count() as u64;
            }
        }
        for sample in open.samples(is_sample).flatten() {
            if let Some(name) = sample.thread().and_then(|thread| thread.java_name()) {
                sum += name.encode_utf16().count() as u64;
            }
            for frame in sample.stack().into_iter().flat_map(|stack| stack.frames()) {
                sum += (frame.class().len() + frame.method().len()) as u64;
                sum = sum.wrapping_add(frame.line().map_or(0, u64::from));
            }
        }
    }
    sum
}

/// The same on all processors, a chunk at a time.
fn work_parallel(bytes: &[u8]) -> u64 {
    let chunks: Vec<_> = Chunks::new(bytes).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut sum = 0u64;
                    // Relaxed: each number is given out once, nothing else is shared.
                    while let Some(chunk) =
                        chunks.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                    {
                        sum = sum.wrapping_add(work(chunk.bytes));
                    }
                    sum
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .fold(0, u64::wrapping_add)
    })
}

fn best(rounds: u32, mut run: impl FnMut() -> u64) -> Duration {
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed()
        })
        .min()
        .unwrap()
}

fn compare(file: &Path) {
    let bytes = std::fs::read(file).unwrap();
    let megabytes = bytes.len() >> 20;
    let ours = best(5, || work(&bytes));
    println!(
        "{}: {megabytes} MiB, {} chunks",
        file.display(),
        Chunks::new(&bytes).count()
    );
    println!(
        "  reader, one thread   {:>9.1} ms",
        ours.as_secs_f64() * 1e3
    );
    println!(
        "  reader, all threads  {:>9.1} ms",
        best(5, || work_parallel(&bytes)).as_secs_f64() * 1e3
    );
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ReadRecording.java");
    for jdk in jdk::all().into_iter().filter(jdk::Jdk::has_compiler) {
        let output = jdk
            .java()
            .arg(&program)
            .arg(file)
            .arg("3")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(nanos) = text
            .split_whitespace()
            .next()
            .and_then(|n| n.parse::<u64>().ok())
        else {
            println!(
                "  JDK {} failed: {}",
                jdk.version,
                String::from_utf8_lossy(&output.stderr)
            );
            continue;
        };
        let theirs = Duration::from_nanos(nanos);
        let factor = theirs.as_secs_f64() / ours.as_secs_f64();
        println!(
            "  RecordingFile of {}  {:>9.1} ms = {factor:.1} times ours on one thread",
            jdk.version,
            theirs.as_secs_f64() * 1e3
        );
    }
}

fn main() {
    let files: Vec<PathBuf> = std::env::args_os()
        .skip(1)
        .filter(|a| a != "--bench")
        .map(PathBuf::from)
        .collect();
    if files.is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("million.jfr");
        std::fs::write(&file, recording()).unwrap();
        compare(&file);
    }
    for file in files {
        compare(&file);
    }
}
