#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::Write;
use std::time::Duration;

use ctxagent_events::{ProfileConfig, ProfileEvents as _, Sample};
use jfr_format::read::is_execution_sample;
use jfr_format::write::{
    Attribute, AttributeKey, Clock, Columns, MemoryStorage, Operation, Recording, Thread, Ticks,
};

use super::*;

/// Ticks between two samples, and samples of a flush.
const STEP: u64 = 10_000;
const SAMPLES: u64 = 20;

/// A recording that remembers what was done to its file: flushes, other chunks, growth, the end.
struct Recorded {
    recording: Recording<MemoryStorage>,
    at: u64,
    samples: u64,
}

impl Recorded {
    fn new() -> Self {
        let config = ProfileConfig {
            clock: Clock {
                start_epoch_nanos: 1_700_000_000_000_000_000,
                start_monotonic_nanos: 0,
            },
            columns: Columns::Auto,
            interval: Duration::from_millis(10),
            // So that the file has to grow.
            reserve_bytes: 16 << 10,
            ..ProfileConfig::default()
        };
        let recording = Recording::create(MemoryStorage::recording(), config).unwrap();
        let mut recorded = Self {
            recording,
            at: 10,
            samples: 0,
        };
        recorded.name_column(0, "number");
        recorded
    }

    fn name_column(&mut self, slot: usize, name: &str) {
        let attribute = Attribute {
            name: name.into(),
            ..Attribute::default()
        };
        let at = Ticks(self.at);
        self.recording.attribute(at, slot, &attribute).unwrap();
    }

    /// Samples with a number each, and stacks that all chunks have in common.
    fn sample(&mut self) {
        for _ in 0..SAMPLES {
            let r = &mut self.recording;
            self.at += STEP;
            let at = Ticks(self.at);
            let mut values = [AttributeKey::NONE; 8];
            values[0] = r.attribute_value(&self.samples.to_string());
            let context = r.context(at, &values);
            let thread = r.thread(&Thread::native("worker", 70));
            let stack = r.synthetic_stack(&format!("method{}", self.samples % 3));
            let state = r.state("STATE_RUNNABLE");
            r.execution_sample(&Sample {
                at,
                thread,
                stack,
                state,
                context,
                weight: 1,
            });
            self.samples += 1;
        }
    }

    fn flush(&mut self) {
        self.sample();
        self.recording.flush(Ticks(self.at)).unwrap();
    }

    fn rotate(&mut self) {
        self.sample();
        self.recording.rotate(Ticks(self.at)).unwrap();
    }
}

/// Does to a file what was done to the one in memory.
fn repeat(operation: &Operation, file: &File) {
    match operation {
        Operation::Write(at, bytes) => file.write_all_at(bytes, *at).unwrap(),
        Operation::SetLen(len) => file.set_len(*len).unwrap(),
        Operation::Append(bytes) => {
            let len = file.metadata().unwrap().len();
            file.write_all_at(bytes, len).unwrap();
        }
        Operation::Publish => {}
    }
}

/// What a reader has seen: numbers of samples, and the moments that it was told about.
#[derive(Default)]
struct SeenSamples {
    numbers: Vec<String>,
    nanos: u64,
    complete: bool,
}

impl SeenSamples {
    fn read(&mut self, live: &mut LiveFile) {
        let state = live.read_new(|chunk, start| {
            assert!(chunk.corruptions().is_empty(), "{:?}", chunk.corruptions());
            for sample in chunk.samples(is_execution_sample) {
                let sample = sample.unwrap();
                if sample.offset >= start.offset {
                    assert!(sample.stack().is_some() && sample.thread().is_some());
                    self.numbers.push(sample.value(0).unwrap().to_owned());
                }
            }
            let covered = end_of(chunk.header()) - start.nanos;
            self.nanos += u64::try_from(covered).unwrap();
        });
        self.complete = state.unwrap() == FileState::Complete;
    }
}

/// Between any two writes of the agent a reader sees whole samples, each once and in order.
#[test]
fn each_sample_is_seen_once_whenever_the_file_is_read() {
    let mut recorded = Recorded::new();
    for slot in 1..4 {
        (0..5).for_each(|_| recorded.flush());
        // Other metadata, in the closed chunks too.
        recorded.name_column(slot, &format!("late{slot}"));
        recorded.flush();
        recorded.rotate();
    }
    (0..60).for_each(|_| recorded.flush());
    recorded.sample();
    let end = Ticks(recorded.at);
    recorded.recording.finish(end).unwrap();
    let expected: Vec<String> = (0..recorded.samples).map(|n| n.to_string()).collect();
    let operations = recorded.recording.storage().operations();
    let published = operations.iter().position(|o| *o == Operation::Publish);
    let (before, after) = operations.split_at(published.unwrap() + 1);
    let is_growth = |operation: &&Operation| matches!(operation, Operation::Append(_));
    assert!(
        after.iter().filter(is_growth).count() > 1,
        "it did not grow"
    );

    let file = tempfile::tempfile().unwrap();
    for operation in before {
        repeat(operation, &file);
    }
    let mut live = LiveFile::at_begin(file.try_clone().unwrap());
    let (mut seen, mut late) = (SeenSamples::default(), None);
    for (number, operation) in after.iter().enumerate() {
        seen.read(&mut live);
        assert!(!seen.complete && expected.starts_with(&seen.numbers));
        repeat(operation, &file);
        if number == after.len() / 2 {
            let live = LiveFile::at_end(file.try_clone().unwrap()).unwrap();
            late = Some((live, seen.numbers.len()));
        }
    }
    seen.read(&mut live);
    assert!(seen.complete);
    assert_eq!(seen.numbers, expected);
    assert_eq!(seen.nanos, recorded.at * 1000);
    // One that came in between has seen only what followed.
    let (mut live, before) = late.unwrap();
    let mut rest = SeenSamples::default();
    rest.read(&mut live);
    let skipped = expected.len() - rest.numbers.len();
    assert!(before <= skipped && skipped < expected.len());
    assert!(expected.ends_with(&rest.numbers));
}

#[test]
fn what_is_no_recording_is_an_error() {
    for bytes in [&b""[..], b"no recording", &[0; 200]] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let read = LiveFile::at_begin(file).read_new(|_, _| ());
        assert!(read.unwrap_err().to_string().contains("no recording"));
    }
}

/// The JVM's user may be hostile, and we may be root.
#[test]
fn changed_bytes_give_a_result() {
    let mut recorded = Recorded::new();
    (0..2).for_each(|_| recorded.flush());
    recorded.rotate();
    recorded.flush();
    let bytes = recorded.recording.storage().bytes();
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(bytes, 0).unwrap();
    let mut results = [0, 0];
    for at in (0..bytes.len()).filter(|at| *at < 200 || at % 97 == 0) {
        for byte in [0, 0x7f, 0xff] {
            file.write_all_at(&[byte], at as u64).unwrap();
            let mut live = LiveFile::at_begin(file.try_clone().unwrap());
            let read = live.read_new(|_, _| ());
            results[usize::from(read.is_ok())] += 1;
            let _end = LiveFile::at_end(file.try_clone().unwrap());
        }
        file.write_all_at(&bytes[at..=at], at as u64).unwrap();
    }
    assert!(results[0] > 10 && results[1] > 100, "{results:?}");
}
