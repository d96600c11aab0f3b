//! The task with our reader.

use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use jfr_format::read::{Chunk, ChunkParser, ChunkStream, Chunks, OwnedChunk, Sample};

pub(crate) const STREAM: &str = "stream";
pub(crate) const WHOLE: &str = "whole";
pub(crate) const PARALLEL: &str = "parallel";

#[derive(Debug, Default, Clone, Copy)]
struct ReadTotals {
    samples: u64,
    /// Names of frames, and lines: what all readers can tell.
    sum: u64,
    /// Names of threads, and values of attributes.
    more: u64,
}

impl ReadTotals {
    fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.sum += other.sum;
        self.more += other.more;
    }
}

/// Reads the file for some seconds, once at least; prints best time in ns (see `main.rs`), samples,
/// sum, peak memory in KiB.
pub(crate) fn measure(mode: &str, file: &Path, limit: Duration) {
    let (mut best, mut seen) = (u64::MAX, ReadTotals::default());
    let begin = Instant::now();
    while best == u64::MAX || begin.elapsed() < limit {
        let (start, cpu) = (Instant::now(), cpu_nanos());
        seen = match mode {
            STREAM => stream(file),
            WHOLE => whole(file),
            _ => parallel(file),
        };
        let wall = u64::try_from(start.elapsed().as_nanos()).unwrap();
        let is_long = mode != PARALLEL && wall > 200_000_000;
        best = best.min(if is_long { cpu_nanos() - cpu } else { wall });
    }
    black_box(seen.more);
    println!("{best} {} {} {}", seen.samples, seen.sum, peak_kib());
}

/// CPU time of this thread: a busy machine cannot spoil it.
fn cpu_nanos() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn stream(file: &Path) -> ReadTotals {
    let mut chunks = ChunkStream::new(File::open(file).unwrap());
    let (mut parser, mut seen) = (ChunkParser::new(), ReadTotals::default());
    while let Some(next) = chunks.next_chunk().unwrap() {
        seen.add(chunk(&mut parser, &next.as_chunk()));
    }
    seen
}

fn whole(file: &Path) -> ReadTotals {
    let bytes = std::fs::read(file).unwrap();
    let (mut parser, mut seen) = (ChunkParser::new(), ReadTotals::default());
    for next in Chunks::new(&bytes) {
        seen.add(chunk(&mut parser, &next));
    }
    seen
}

/// One thread cuts, the others read a chunk each; as many chunks are in memory as there are
/// threads, and two.
fn parallel(file: &Path) -> ReadTotals {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (sender, receiver) = mpsc::sync_channel::<OwnedChunk>(1);
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        let work = || {
            let (mut parser, mut seen) = (ChunkParser::new(), ReadTotals::default());
            loop {
                let next = receiver.lock().unwrap().recv();
                let Ok(next) = next else { return seen };
                seen.add(chunk(&mut parser, &next.as_chunk()));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut chunks = ChunkStream::new(File::open(file).unwrap());
        while let Some(next) = chunks.next_chunk().unwrap() {
            sender.send(next).unwrap();
        }
        drop(sender);
        let mut seen = ReadTotals::default();
        for worker in workers {
            seen.add(worker.join().unwrap());
        }
        seen
    })
}

fn chunk(parser: &mut ChunkParser, chunk: &Chunk<'_>) -> ReadTotals {
    let open = parser.parse(chunk).unwrap();
    let mut seen = ReadTotals::default();
    for next in open.samples(|ty| &*ty.name == "jdk.ExecutionSample") {
        sample(&next.unwrap(), &mut seen);
    }
    seen
}

fn sample(sample: &Sample<'_>, seen: &mut ReadTotals) {
    seen.samples += 1;
    if let Some(thread) = sample.thread() {
        let name = thread.java_name().or(thread.os_name());
        seen.more += name.map_or(0, str::len) as u64;
    }
    for (_, value) in sample.context() {
        seen.more += value.len() as u64;
    }
    for frame in sample.stack().into_iter().flat_map(|stack| stack.frames()) {
        seen.sum += (frame.class().len() + frame.method().len()) as u64;
        let line = frame.line().unwrap_or(0);
        seen.sum += if line < 65_535 { u64::from(line) } else { 0 };
    }
}
