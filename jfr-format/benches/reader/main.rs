//! How fast the reader is beside the other readers that people have, on the same files in the same
//! run.
//!
//! `cargo bench -p jfr-format --bench reader -- [FILE...]`, or `scripts/bench-reader.sh`, which
//! brings the readers along. Files given are measured as they are and, end to end with themselves,
//! as a file of 200 MB or more.
//!
//! The task, the same for all: of every `jdk.ExecutionSample` the thread's name, and of every frame
//! of its stack the names of class and method and the line; ours also reads the value of every
//! attribute column. Each reader prints the samples and a sum over names and lines; where a
//! reader's differ from ours its row says so. Each reads from the file, in a process of its own,
//! for some seconds, once at least; the best counts, so that a JVM is warm. Time is wall-clock time
//! where a round is shorter than 0.2 s, else CPU time of the reading thread: both hold on a busy
//! machine. What a JVM's or Go's other threads do for it (collection, compilation) is not counted
//! in the latter, to their advantage.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "a bench"
)]

#[allow(dead_code, reason = "shared with the tests, each uses its part")]
#[path = "../../tests/common/jdk.rs"]
mod jdk;

mod files;
mod ours;
mod peers;
#[path = "../sample_event/mod.rs"]
mod sample_event;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use peers::Peer;

/// How long a reader reads a file again and again: enough for a JVM to compile everything.
const SECONDS: &str = "8";
/// First argument of a process that measures our reader.
const ONE: &str = "--one";

/// What a reader's process tells.
#[derive(Debug, Clone, Copy)]
struct Measured {
    nanos: u64,
    samples: u64,
    sum: u64,
    peak_kib: u64,
}

impl Measured {
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(|n| n.parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Self {
            nanos: next()?,
            samples: next()?,
            sum: next()?,
            peak_kib: next()?,
        })
    }
}

/// Runs a reader's process.
fn measure(command: &mut Command) -> Result<Measured, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    match Measured::parse(&text) {
        Some(measured) if output.status.success() => Ok(measured),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Err(errors.lines().next().unwrap_or("no answer").to_owned())
        }
    }
}

fn compare(file: &Path, peers: &[Peer]) {
    let len = std::fs::metadata(file).unwrap().len();
    let myself = std::env::current_exe().unwrap();
    let ours = |mode: &str| {
        let mut command = Command::new(&myself);
        command.arg(ONE).arg(mode).arg(file).arg(SECONDS);
        measure(&mut command).unwrap_or_else(|error| panic!("our reader, {mode}: {error}"))
    };
    let reference = ours(ours::STREAM);
    println!(
        "\n{}: {:.1} MB, {} samples",
        file.file_name().unwrap().to_string_lossy(),
        len as f64 / 1e6,
        reference.samples
    );
    println!(
        "  {:<44} {:>10} {:>8} {:>10}",
        "reader", "ms", "times", "peak MiB"
    );
    row("ours, one thread, stream", reference, reference);
    row(
        "ours, one thread, whole file in memory",
        ours(ours::WHOLE),
        reference,
    );
    row(
        "ours, all processors, stream (wall clock)",
        ours(ours::PARALLEL),
        reference,
    );
    for peer in peers {
        match measure(&mut peer.command(file, SECONDS)) {
            Ok(theirs) => row(&peer.name, theirs, reference),
            Err(error) => println!("  {:<44} cannot read it: {error}", peer.name),
        }
    }
}

fn row(name: &str, measured: Measured, reference: Measured) {
    let same = if (measured.samples, measured.sum) == (reference.samples, reference.sum) {
        String::new()
    } else {
        format!("  (other work: {} samples)", measured.samples)
    };
    println!(
        "  {name:<44} {:>10.1} {:>8.2} {:>10.0}{same}",
        measured.nanos as f64 / 1e6,
        measured.nanos as f64 / reference.nanos as f64,
        measured.peak_kib as f64 / 1024.0
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    if let [one, mode, file, seconds] = &arguments[..]
        && one == ONE
    {
        ours::measure(
            mode,
            Path::new(file),
            Duration::from_secs(seconds.parse().unwrap()),
        );
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let peers = peers::all(directory.path());
    let given: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    for file in files::make(directory.path(), given) {
        compare(&file, &peers);
        if file.starts_with(directory.path()) {
            std::fs::remove_file(file).unwrap();
        }
    }
}
