//! Bad input: the reader says what and where, gives what is good, and neither panics, loops nor
//! swallows memory.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod metadata;
mod pools;
#[path = "../read_common/mod.rs"]
mod read_common;

use std::time::Duration;

use jfr_format::error::ErrorKind;
use jfr_format::read::{ChunkParser, ChunkStream, Chunks, ParsedChunk, Value};
use jfr_format::varint;
use read_common::*;

/// What a reader that looks at everything gets.
#[derive(Debug, Default, PartialEq)]
struct ReadOutcome {
    chunks: usize,
    samples: usize,
    /// Samples with all of thread, stack, state and value.
    whole: usize,
    corruptions: usize,
}

fn walk(value: &Value<'_>, depth: u32, budget: &mut u32) {
    *budget = budget.saturating_sub(1);
    if depth > 70 || *budget == 0 {
        return;
    }
    match value {
        Value::Struct(value) => {
            value
                .fields()
                .for_each(|(_, v)| drop(v.map(|v| walk(&v, depth + 1, budget))));
        }
        Value::Array(array) => array
            .iter()
            .for_each(|v| drop(v.map(|v| walk(&v, depth + 1, budget)))),
        Value::Ref(reference) => drop(reference.resolve().map(|v| walk(&v, depth + 1, budget))),
        _ => {}
    }
}

/// Reads everything there is, by every way there is.
fn read_all(file: &[u8]) -> ReadOutcome {
    let mut seen = ReadOutcome::default();
    let mut chunks = Chunks::new(file);
    let mut parser = ChunkParser::new();
    for chunk in chunks.by_ref() {
        seen.chunks += 1;
        let open = match parser.parse(&chunk) {
            Ok(open) => open,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                seen.corruptions += 1;
                continue;
            }
        };
        seen.corruptions += open.corruptions().len();
        let mut budget = 50_000;
        for event in open.events() {
            match event {
                Ok(event) => {
                    seen.corruptions += usize::from(event.bytes_left_over().is_err());
                    event
                        .fields()
                        .for_each(|(_, v)| drop(v.map(|v| walk(&v, 0, &mut budget))));
                }
                Err(_) => seen.corruptions += 1,
            }
        }
        for sample in open.samples(|_| true).flatten() {
            seen.samples += 1;
            let named = sample.thread().is_some_and(|t| !t.name().is_empty());
            let frames: usize = sample.stack().map_or(0, |stack| {
                stack
                    .frames()
                    .map(|f| {
                        f.class().len() + f.method().len() + f.descriptor().len() + f.kind().len()
                    })
                    .sum()
            });
            let whole =
                named && frames > 0 && sample.state().is_some() && sample.context().count() > 0;
            seen.whole += usize::from(whole);
        }
        let _ = (
            open.settings(),
            copied_texts(&open, "ctxagent.Stats", &["name"]),
            copied_texts(&open, "ctxagent.ContextAttribute", &["name", "contextType"]),
        );
        assert!(
            open.verify()
                .iter()
                .all(|damage| !damage.to_string().is_empty())
        );
    }
    seen.corruptions += chunks.corruptions().len();
    let mut stream = ChunkStream::new(file);
    let mut streamed = 0;
    while let Some(chunk) = stream.next_chunk().unwrap() {
        streamed += 1;
        drop(chunk);
    }
    assert_eq!(streamed, seen.chunks, "slice and stream agree");
    seen
}

/// A chunk once opened may be read by several threads.
#[test]
fn parsed_chunks_are_send_and_sync() {
    let file = small();
    let chunk = Chunks::new(&file).next().unwrap();
    let open = ParsedChunk::new(&chunk).unwrap();
    let whole = |open: &ParsedChunk<'_>| {
        let samples = open.samples(|_| true).flatten();
        let texts = samples.map(|sample| {
            let frames = sample.stack().into_iter().flat_map(|stack| stack.frames());
            frames
                .map(|frame| frame.class().len() + frame.kind().len())
                .sum::<usize>()
        });
        texts.sum::<usize>()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| whole(&open))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), whole(&open));
        }
    });
    assert!(whole(&open) > 0);
}

fn open_error(file: &[u8]) -> String {
    let chunk = Chunks::new(file).next().unwrap();
    ParsedChunk::new(&chunk).unwrap_err().to_string()
}

/// CPU time of this thread: bounds on it hold on a busy machine too.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

fn since(start: Duration) -> Duration {
    cpu_time().saturating_sub(start)
}

#[test]
fn the_small_recording_is_sound() {
    let seen = read_all(&small());
    assert_eq!(
        seen,
        ReadOutcome {
            chunks: 1,
            samples: 2,
            whole: 2,
            corruptions: 0
        }
    );
    let file = small();
    let chunk = Chunks::new(&file).next().unwrap();
    let open = ParsedChunk::new(&chunk).unwrap();
    let sample = open.samples(|_| true).next().unwrap().unwrap();
    assert_eq!(sample.start_nanos, 1_700_000_000_000_000_100);
    let thread = sample.thread().unwrap();
    assert_eq!((thread.os_name(), thread.os_id), (Some("os"), 17));
    assert_eq!(
        (thread.java_name(), thread.java_id, thread.is_virtual),
        (Some("java"), 3, true)
    );
    let stack = sample.stack().unwrap();
    assert!(!stack.is_truncated());
    let frame = stack.frames().next().unwrap();
    assert_eq!(
        (frame.class(), frame.method(), frame.descriptor()),
        ("a/B", "run", "()V")
    );
    assert_eq!(
        (frame.line(), frame.bytecode_index(), frame.kind()),
        (Some(42), Some(7), "JIT compiled")
    );
    assert_eq!(sample.state(), Some("STATE_RUNNABLE"));
    assert_eq!(sample.context().collect::<Vec<_>>(), [("tenant", "acme")]);
}

#[test]
fn truncation_gives_an_error_or_a_prefix() {
    let file = small();
    for cut in 0..file.len() {
        let seen = read_all(&file[..cut]);
        assert!(seen.corruptions > 0 || cut == 0, "cut {cut}: {seen:?}");
        assert!(seen.samples <= 2);
    }
    // Behind a good chunk, and in front of one: the good one is whole.
    for cut in (1..file.len()).step_by(7) {
        let seen = read_all(&[&file[..], &file[..cut]].concat());
        assert!(
            seen.whole >= 2 && seen.corruptions > 0,
            "cut {cut}: {seen:?}"
        );
        let seen = read_all(&[&file[..cut], &file[..]].concat());
        assert!(
            seen.whole >= 2 && seen.corruptions > 0,
            "cut {cut} in front: {seen:?}"
        );
    }
}

#[test]
fn header_table_costs_at_most_that_chunk() {
    let good = small();
    let long = |at: usize, value: i64| {
        let mut bad = good.clone();
        bad[at..at + 8].copy_from_slice(&value.to_be_bytes());
        bad
    };
    let size = i64::try_from(good.len()).unwrap();
    let mut cases = Vec::new();
    for value in [0, 67, -1, 1 << 62, size + 1, i64::MIN] {
        cases.push((format!("size {value}"), long(8, value)));
    }
    for value in [0, 1, 67, -1, i64::MIN, size, size + 100, 68 + 3] {
        cases.push((format!("metadata {value}"), long(24, value)));
    }
    for value in [1, 67, 68, -1, size, i64::MAX] {
        cases.push((format!("checkpoint {value}"), long(16, value)));
    }
    for value in [0, -1, i64::MIN] {
        cases.push((format!("frequency {value}"), long(56, value)));
    }
    for (at, byte) in [(5, 0), (5, 3), (67, 0), (0, 0)] {
        let mut bad = good.clone();
        bad[at] = byte;
        cases.push((format!("byte {at} = {byte}"), bad));
    }
    for (what, bad) in cases {
        for file in [
            [&bad[..], &good].concat(),
            [&good[..], &bad].concat(),
            [&good[..], &bad, &good].concat(),
        ] {
            let good_ones = file.len() / good.len() - 1;
            let seen = read_all(&file);
            assert!(seen.whole >= 2 * good_ones, "{what}: {seen:?}");
            assert!(seen.corruptions > 0, "{what} goes unnoticed: {seen:?}");
        }
    }
    // Harmless oddities.
    for (at, byte) in [
        (7, 0),
        (7, 2),
        (64, 255),
        (64, 2),
        (66, 0xff),
        (67, 0xff),
        (5, 1),
    ] {
        let mut odd = good.clone();
        odd[at] = byte;
        assert_eq!(read_all(&odd).whole, 2, "byte {at} = {byte}");
    }
    // Offsets that lead nowhere are searched for.
    assert_eq!(read_all(&long(24, 0)).whole, 2);
    assert_eq!(read_all(&long(16, 1)).whole, 2);
}

#[test]
fn event_table() {
    let good = || vec![metadata(types()), checkpoint(0, &pools()), sample()];
    // A bad size ends the chunk there; what was before counts.
    for bad in [
        vec![0],
        vec![1],
        vec![2, 0x80],
        vec![0x80],
        vec![0xff; 9],
        vec![200, 76],
        vec![0x83, 0x80, 0x80, 0],
    ] {
        let mut events = good();
        events.push(bad.clone());
        events.push(sample());
        let seen = read_all(&chunk(&events));
        assert_eq!(seen.whole, 1, "{bad:?}");
        assert!(seen.corruptions > 0, "{bad:?}");
    }
    // Unknown types and padding are nobody's business.
    let mut events = good();
    events.extend([
        vec![2, 76],
        event(76, &[0; 100]),
        event(5_000_000_000, &[1, 2, 3]),
        sample(),
    ]);
    assert_eq!(
        read_all(&chunk(&events)),
        ReadOutcome {
            chunks: 1,
            samples: 2,
            whole: 2,
            corruptions: 0
        }
    );
    // Fields beyond the event's size: that event is lost, the next is not. No byte of the neighbour
    // is taken.
    let mut events = good();
    events.extend([
        event(ids::SAMPLE, &[0xcc, 8, 11, 1]),
        event(ids::SAMPLE, &[]),
        sample(),
    ]);
    let seen = read_all(&chunk(&events));
    assert_eq!((seen.whole, seen.samples), (2, 2));
    assert!(seen.corruptions >= 2);
    // Longer than its fields: read.
    let mut events = good();
    events.push(event(ids::SAMPLE, &[0xcc, 8, 11, 1, 1, 0x81, 1, 1, 2, 3]));
    assert_eq!(read_all(&chunk(&events)).whole, 2);
}

#[test]
fn arrays_and_strings_are_checked_against_what_is_left() {
    let mut types = types();
    types.push(class(
        101,
        "x.Bulk",
        &[EVENT],
        vec![
            field("startTime", ids::LONG, &[]),
            field("longs", ids::LONG, &[ARRAY]),
            field("text", ids::STRING, &[]),
        ],
    ));
    for count in [1 << 31, u64::MAX, 1 << 62, 100] {
        let mut array = vec![1];
        varint::put(&mut array, count);
        array.extend([1, 2, 3]);
        for tag in [3, 4, 5, 9, 2] {
            let mut string = vec![1, 0, tag];
            varint::put(&mut string, count);
            let events = [
                metadata(types.clone()),
                event(101, &array),
                event(101, &string),
            ];
            let seen = read_all(&chunk(&events));
            assert!(seen.corruptions >= 1, "{count} {tag}");
        }
    }
}

#[test]
fn many_false_headers_take_linear_time() {
    let started = cpu_time();
    for size in [1u64 << 40, 0, 4_000_000, 200] {
        let mut header = small()[..68].to_vec();
        header[8..16].copy_from_slice(&size.to_be_bytes());
        let seen = read_all(&header.repeat(100_000));
        assert!(seen.corruptions > 0, "{size}");
    }
    assert!(
        since(started) < Duration::from_secs(20),
        "{:?}",
        since(started)
    );
}

/// xorshift: the same numbers everywhere, by the seed that is printed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

#[test]
fn mutated_files_never_panic_or_hang() {
    let rounds: u64 = std::env::var("JFR_FUZZ_ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(3_000);
    let base = [small(), small()].concat();
    let started = cpu_time();
    let mut slowest = Duration::ZERO;
    for seed in 1..=rounds {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut file = base.clone();
        for _ in 0..=random.below(6) {
            let at = random.below(file.len());
            match random.below(6) {
                0 => file[at] = 0xff,
                1 => file[at] ^= 1 << random.below(8),
                2 => file[at] = u8::try_from(random.below(256)).unwrap(),
                3 => drop(file.drain(at..(at + random.below(40)).min(file.len()))),
                4 => {
                    let from = random.below(file.len());
                    let piece = file[from..(from + random.below(60)).min(file.len())].to_vec();
                    file.splice(at..at, piece);
                }
                _ => file[at] = [0, 1, 2, 3, 0x7f, 0x80][random.below(6)],
            }
            if file.is_empty() {
                break;
            }
        }
        let before = cpu_time();
        let outcome = std::panic::catch_unwind(|| read_all(&file));
        slowest = slowest.max(since(before));
        assert!(outcome.is_ok(), "seed {seed}");
    }
    println!(
        "seeds 1 to {rounds} in {:?}, slowest {slowest:?}",
        since(started)
    );
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
}

#[test]
fn random_bytes_give_no_chunk_and_no_panic() {
    for seed in 1..=200u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut file: Vec<u8> = (0..2_000)
            .map(|_| u8::try_from(random.below(256)).unwrap())
            .collect();
        read_all(&file);
        // With a sound header in front the walk gets further.
        file.splice(0..0, small()[..68].iter().copied());
        read_all(&file);
    }
}
