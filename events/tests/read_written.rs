//! What the writer writes, the reader gives back.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_imports,
    reason = "tests, and what they share"
)]

mod common;

use std::io::{Read, Write};

use common::scenario::{EPOCH_NANOS, config, named, odd_texts, write_full};
use ctxagent_events::*;
use jfr_format::read::{
    Chunk, ChunkParser, ChunkStream, Chunks, ParsedChunk, Shape, is_execution_sample,
};
use jfr_format::write::*;
use proptest::prelude::*;

const EIGHT: [&str; 8] = ["http.route", "tenant", "c", "d", "e", "f", "g", "h"];

fn finished(mut r: Recording<MemoryStorage>, now: Ticks) -> Vec<u8> {
    r.finish(now).unwrap();
    r.storage().bytes().to_vec()
}

#[test]
fn full_scenario_comes_back_with_every_value() {
    let mut r = Recording::create(MemoryStorage::new(), config(named(&EIGHT))).unwrap();
    let written = write_full(&mut r);
    let file = finished(r, Ticks(300_000));
    let texts = odd_texts();
    let (mut chunk_count, mut execution) = (0, 0);
    let mut chunks = Chunks::new(&file);
    for chunk in chunks.by_ref() {
        let open = ParsedChunk::new(&chunk).unwrap();
        assert!(open.corruptions().is_empty(), "{:?}", open.corruptions());
        for event in open.events() {
            let event = event.unwrap();
            assert_eq!(event.bytes_left_over().unwrap(), 0, "{}", event.ty().name);
            assert!(event.fields().all(|(_, value)| value.is_ok()));
        }
        for (in_chunk, sample) in open.samples(is_execution_sample).enumerate() {
            let sample = sample.unwrap();
            let i = in_chunk / 2;
            let thread = sample.thread().unwrap();
            assert_eq!(
                thread.java_name(),
                Some(format!("worker-{chunk_count}-{i}").as_str())
            );
            assert_eq!(thread.os_id, 100 + i64::try_from(i).unwrap());
            assert_eq!(thread.is_virtual, i.is_multiple_of(2));
            let at = chunk_count * 100_000 + i as u64 * 10_000 + 1_000;
            assert_eq!(
                sample.start_nanos.cast_unsigned(),
                EPOCH_NANOS + at * 1_000,
                "ticks are microseconds"
            );
            let stack = sample.stack().unwrap();
            let context: Vec<_> = sample.context().collect();
            match (&*sample.ty().name, sample.weight) {
                ("jdk.ExecutionSample", weight) => {
                    execution += 1;
                    assert!(sample.context_id != 0);
                    // No attribute was described, so the column has its field's name.
                    let expected = [("http_route", texts[i].as_str()), ("tenant", "acme")];
                    assert_eq!(context, expected);
                    if weight == 2 {
                        assert_eq!(stack.frames().next().unwrap().class(), "ctxagent/NoStack");
                    } else {
                        assert_eq!(stack.frames().len(), 4 + i);
                        assert_eq!(stack.is_truncated(), i % 2 == 1);
                        let lines: Vec<_> = stack.frames().map(|f| f.line()).take(3).collect();
                        assert_eq!(lines, [Some(12), Some(70_000), None]);
                    }
                }
                other => unreachable!("{other:?}"),
            }
        }
        chunk_count += 1;
    }
    assert!(
        chunks.corruptions().is_empty(),
        "{:?}",
        chunks.corruptions()
    );
    assert_eq!(usize::try_from(chunk_count).unwrap(), written.chunks);
    assert_eq!(execution, written.execution_samples);
}

#[test]
fn open_file_is_read_without_corruption() {
    let mut r = Recording::create(MemoryStorage::new(), config(named(&EIGHT))).unwrap();
    write_full(&mut r);
    r.flush(Ticks(290_000)).unwrap();
    let file = r.storage().bytes().to_vec();
    let mut chunks = Chunks::new(&file);
    let mut samples = 0;
    for chunk in chunks.by_ref() {
        let open = ParsedChunk::new(&chunk).unwrap();
        assert!(open.corruptions().is_empty());
        samples += open
            .samples(is_execution_sample)
            .map(Result::unwrap)
            .count();
    }
    assert!(
        chunks.corruptions().is_empty(),
        "{:?}",
        chunks.corruptions()
    );
    assert_eq!(samples, 3 * 2 * odd_texts().len());
}

#[test]
fn counters_settings_and_attributes_are_found() {
    let mut r = Recording::create(MemoryStorage::new(), config(Columns::Auto)).unwrap();
    let attribute = Attribute {
        name: "http.route".into(),
        context_type: "app.Route".into(),
        ..Attribute::default()
    };
    r.attribute(Ticks(1), 2, &attribute).unwrap();
    let value = r.attribute_value("GET /");
    let mut values = [AttributeKey::NONE; 8];
    values[2] = value;
    let context = r.context(Ticks(1), &values);
    let thread = r.thread(&Thread::native("native", 3));
    let (stack, state) = (r.synthetic_stack("none"), r.state("STATE_RUNNABLE"));
    let sample = Sample {
        at: Ticks(3),
        thread,
        stack,
        state,
        context,
        weight: 5,
    };
    r.execution_sample(&sample);
    r.stat(Ticks(4), "signals", 7, 9);
    let file = finished(r, Ticks(9));
    let chunk = Chunks::new(&file).next().unwrap();
    let open = ParsedChunk::new(&chunk).unwrap();
    let attributes = open.context_attributes();
    assert_eq!(attributes.len(), 1);
    assert_eq!(
        (
            attributes[0].slot,
            &*attributes[0].name,
            &*attributes[0].context_type
        ),
        (2, "http.route", "app.Route")
    );
    let counters = open.stats();
    assert_eq!(
        (&*counters[0].name, counters[0].value, counters[0].total),
        ("signals", 7, 9)
    );
    let settings = open.settings();
    assert!(
        settings
            .iter()
            .any(|s| s.name == "interval" && s.value == "20000000"),
        "{settings:?}"
    );
    let sample = open.samples(is_execution_sample).next().unwrap().unwrap();
    // The column is called as the attribute, though a field cannot have a dot in its name.
    assert_eq!(
        sample.context().collect::<Vec<_>>(),
        [("http.route", "GET /")]
    );
    assert_eq!(sample.weight, 5);
}

#[test]
fn every_prefix_of_what_was_written_is_an_error_or_a_prefix() {
    let mut r = Recording::create(MemoryStorage::new(), config(named(&["a"]))).unwrap();
    write_full(&mut r);
    let file = finished(r, Ticks(300_000));
    let step = if cfg!(debug_assertions) { 131 } else { 7 };
    for cut in (1..file.len()).step_by(step) {
        let mut chunks = Chunks::new(&file[..cut]);
        for chunk in chunks.by_ref() {
            if let Ok(open) = ParsedChunk::new(&chunk) {
                open.samples(|_| true).for_each(drop);
                open.events()
                    .flatten()
                    .for_each(|event| event.fields().for_each(drop));
            }
        }
    }
}

/// All three levels: bytes of the chunk, values of all events, samples with what they refer to.
fn all_levels(parser: &mut ChunkParser, chunk: &Chunk<'_>) -> String {
    let open = parser.parse(chunk).unwrap();
    let events = open.events().flatten();
    let values = events.map(|event| {
        let values = event.fields().map(|(_, value)| value.unwrap().as_long());
        format!("{} {:?}", event.ty().name, values.collect::<Vec<_>>())
    });
    let values: Vec<String> = values.collect();
    let samples = open.samples(|_| true).flatten().map(|sample| {
        let frames = sample.stack().into_iter().flat_map(|stack| stack.frames());
        let frames: Vec<_> = frames
            .map(|frame| (frame.class(), frame.method()))
            .collect();
        let context: Vec<_> = sample.context().collect();
        format!("{:?} {context:?} {frames:?}", sample.thread())
    });
    let samples: Vec<String> = samples.collect();
    format!(
        "{} {} {values:?} {samples:?}",
        chunk.offset,
        chunk.bytes.len()
    )
}

fn of_stream(input: impl Read) -> Vec<String> {
    let (mut chunks, mut parser) = (ChunkStream::new(input), ChunkParser::new());
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next_chunk().unwrap() {
        all.push(all_levels(&mut parser, &chunk.as_chunk()));
    }
    assert!(chunks.corruptions().is_empty());
    all
}

#[test]
fn memory_map_stream_and_packed_file_read_alike() {
    let mut r = Recording::create(MemoryStorage::new(), config(named(&EIGHT))).unwrap();
    write_full(&mut r);
    let bytes = finished(r, Ticks(300_000));
    let of_slice = |bytes: &[u8]| -> Vec<String> {
        let mut parser = ChunkParser::new();
        let chunks = Chunks::new(bytes);
        chunks
            .map(|chunk| all_levels(&mut parser, &chunk))
            .collect()
    };
    let expected = of_slice(&bytes);
    assert_eq!(expected.len(), 3);
    assert!(
        expected
            .iter()
            .all(|chunk| chunk.contains("worker-") && chunk.contains("acme"))
    );
    assert_eq!(of_stream(&bytes[..]), expected);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    // SAFETY: the file has no name, so nobody else can shorten it while it is mapped.
    let mapped = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    assert_eq!(of_slice(&mapped), expected);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    let gzip = gzip.finish().unwrap();
    assert_eq!(
        of_stream(flate2::read::MultiGzDecoder::new(&gzip[..])),
        expected
    );
    let zstd = zstd::encode_all(&bytes[..], 1).unwrap();
    assert_eq!(of_stream(zstd::Decoder::new(&zstd[..]).unwrap()), expected);
    // Packed and cut: what could be unpacked is read, and the stream's error is not swallowed.
    let mut cut = ChunkStream::new(flate2::read::MultiGzDecoder::new(&gzip[..gzip.len() / 2]));
    let outcome = std::iter::from_fn(|| cut.next_chunk().transpose()).find_map(Result::err);
    assert!(outcome.is_some());
}

/// The smallest metadata that the format page prints: one type, a padded size, texts as UTF-8.
#[test]
fn metadata_bytes_of_the_format_page_read_as_it_says() {
    let mut event = vec![0xf7, 0x80, 0x80, 0x00, 0x00, 0xe8, 0x07, 0x00];
    event.extend([0x81, 0xb0, 0xd1, 0x9a, 0x04, 0x0d]);
    let texts = [
        "root",
        "metadata",
        "class",
        "name",
        "int",
        "id",
        "7",
        "region",
        "locale",
        "en_US",
        "gmtOffset",
        "0",
        "dst",
    ];
    for text in texts {
        event.extend([3, u8::try_from(text.len()).unwrap()]);
        event.extend(text.as_bytes());
    }
    event.extend([0, 0, 2, 1, 0, 1]);
    event.extend([2, 2, 3, 4, 5, 6, 0]);
    event.extend([7, 3, 8, 9, 0x0a, 0x0b, 0x0c, 0x0b, 0]);
    assert_eq!(event.len(), 119);
    let mut bytes = b"FLR\0\0\x02\0\x01".to_vec();
    for long in [
        68 + 119,
        0,
        68,
        1_700_000_000_000_000_000,
        0,
        0,
        1_000_000_000i64,
    ] {
        bytes.extend(long.to_be_bytes());
    }
    bytes.extend([0, 0, 0, 1]);
    bytes.extend(event);
    let chunk = Chunks::new(&bytes).next().unwrap();
    let open = ParsedChunk::new(&chunk).unwrap();
    let metadata = open.metadata();
    assert_eq!((metadata.id, metadata.gmt_offset_millis), (0x4354_5801, 0));
    let types: Vec<_> = metadata
        .types()
        .iter()
        .map(|ty| (&*ty.name, ty.id))
        .collect();
    assert_eq!(types, [("int", 7)]);
    assert_eq!(metadata.types()[0].shape, Shape::Int);
}

/// A step of a recording, as the property test draws it.
#[derive(Debug, Clone)]
enum Step {
    Sample {
        thread: String,
        frames: Vec<(u8, i32)>,
        values: Vec<Option<String>>,
        weight: u32,
    },
    Flush,
    Rotate,
}

fn step() -> impl Strategy<Value = Step> {
    let values = prop::collection::vec(prop::option::of("[a-cé😀 ]{0,3}"), 3);
    let frames = prop::collection::vec((0..6u8, -1..70_000i32), 1..5);
    let sample = ("[a-c ]{1,2}", frames, values, 1..100u32);
    let sample = sample.prop_map(|(thread, frames, values, weight)| Step::Sample {
        thread,
        frames,
        values,
        weight,
    });
    prop_oneof![8 => sample, 1 => Just(Step::Flush), 1 => Just(Step::Rotate)]
}

/// A sample as a line: when, thread, frames, context, weight.
fn line(
    at: u64,
    thread: &str,
    frames: &[(String, i32)],
    context: &[String],
    weight: u64,
) -> String {
    format!("{at} {thread:?} {frames:?} {context:?} {weight}")
}

const THREE: [&str; 3] = ["x", "y", "z"];

/// Writes the steps; gives the file, and what must be read.
fn written(steps: &[Step]) -> (Vec<u8>, Vec<String>) {
    let mut r = Recording::create(MemoryStorage::new(), config(named(&THREE))).unwrap();
    let mut expected = Vec::new();
    for (at, step) in (1u64..).zip(steps) {
        let (thread, drawn, values, weight) = match step {
            Step::Flush => {
                r.flush(Ticks(at)).unwrap();
                continue;
            }
            Step::Rotate => {
                r.rotate(Ticks(at)).unwrap();
                continue;
            }
            Step::Sample {
                thread,
                frames,
                values,
                weight,
            } => (thread, frames, values, *weight),
        };
        let mut frames = Vec::new();
        let mut names = Vec::new();
        for &(n, line) in drawn {
            let method = r.method(&Method::new(&format!("a/C{n}"), "m", "()V", 1));
            frames.push(Frame {
                method,
                line,
                bci: 0,
                kind: FrameKind::Jit,
            });
            names.push((format!("a/C{n}.m"), line.max(0)));
        }
        let mut keys = [AttributeKey::NONE; 8];
        let mut context = Vec::new();
        for ((key, value), name) in keys.iter_mut().zip(values).zip(THREE) {
            if let Some(value) = value {
                *key = r.attribute_value(value);
                context.push(format!("{name}={value}"));
            }
        }
        let sample = Sample {
            at: Ticks(at),
            thread: r.thread(&Thread::native(thread, 1)),
            stack: r.stack(&StackTrace {
                truncated: false,
                frames: &frames,
            }),
            state: r.state("STATE_RUNNABLE"),
            context: r.context(Ticks(at), &keys),
            weight,
        };
        r.execution_sample(&sample);
        expected.push(line(at, thread, &names, &context, weight.into()));
    }
    (finished(r, Ticks(steps.len() as u64 + 1)), expected)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_written_is_read_again(steps in prop::collection::vec(step(), 1..60)) {
        let (file, expected) = written(&steps);
        let (mut chunks, mut parser) = (Chunks::new(&file), ChunkParser::new());
        let mut found = Vec::new();
        for chunk in chunks.by_ref() {
            let open = parser.parse(&chunk).unwrap();
            prop_assert!(open.corruptions().is_empty());
            for sample in open.samples(is_execution_sample) {
                let sample = sample.unwrap();
                let frames = sample.stack().unwrap().frames().map(|frame| {
                    let line = frame.line().map_or(0, |line| i32::try_from(line).unwrap());
                    (format!("{}.{}", frame.class(), frame.method()), line)
                });
                let frames: Vec<_> = frames.collect();
                let context: Vec<_> = sample.context().map(|(n, v)| format!("{n}={v}")).collect();
                let since = sample.start_nanos.cast_unsigned() - EPOCH_NANOS;
                let thread = sample.thread().unwrap();
                found.push(line(since / 1_000, thread.name(), &frames, &context, sample.weight));
            }
        }
        prop_assert!(chunks.corruptions().is_empty());
        prop_assert_eq!(found, expected);
    }
}
