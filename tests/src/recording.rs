//! A recording as the stock `jfr` tool and `ctxjfr` see it.

use std::collections::BTreeMap;
use std::ops::{Deref, Index};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use jfr_format::read::{Chunks, ParsedChunk, is_execution_sample};
use serde_json::Value;

use crate::build;
use crate::jdk::Jdk;
use crate::process::{ProcessOutput, run};
use crate::workspace::ScratchDir;

/// For a tool of the JDK that runs for a second: half the CPU time, as it compiles less and has one
/// collector thread.
pub(crate) const SHORT_LIVED: [&str; 2] = ["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"];

/// Events that are samples of CPU time.
pub const SAMPLES: &str = "jdk.ExecutionSample";

/// Events that hold the agent's counters.
const STATISTICS: &str = "ctxagent.Stats";

/// A recording on disk.
#[derive(Clone, Debug)]
pub struct Recording {
    path: PathBuf,
    /// Its directory, where that is to be removed with it.
    kept_dir: Option<Arc<ScratchDir>>,
}

/// The agent's counters; one that is missing is zero.
#[derive(Clone, Debug, Default)]
pub struct Totals(BTreeMap<String, i64>);

impl Index<&str> for Totals {
    type Output = i64;

    fn index(&self, name: &str) -> &i64 {
        self.0.get(name).unwrap_or(&0)
    }
}

impl Deref for Totals {
    type Target = BTreeMap<String, i64>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// One event as `jfr print --json` and `ctxjfr print --json` print it.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Type, like `jdk.ExecutionSample`.
    pub kind: String,
    /// Its fields, without the frames of its stack.
    pub values: Value,
    frames: Vec<Frame>,
}

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// `class.method`.
    pub name: String,
    /// Its line; `None` where it is not known.
    pub line: Option<i64>,
    /// Index of its byte code; `None` where it is not known: behind the last debug information of
    /// compiled code, or in an obsolete method.
    pub bytecode_index: Option<i64>,
}

impl Frame {
    /// A frame that has a method.
    fn of(frame: &Value) -> Option<Self> {
        let class = frame.pointer("/method/type/name")?.as_str()?;
        let method = frame.pointer("/method/name")?.as_str()?;
        let from = |least: i64, field: &str| frame.get(field)?.as_i64().filter(|n| *n >= least);
        Some(Self {
            name: format!("{}.{method}", class.replace('/', ".")),
            line: from(1, "lineNumber"),
            bytecode_index: from(0, "bytecodeIndex"),
        })
    }
}

/// Nanoseconds of a text that begins with a fraction of a second, like `.0051Z`, or with none.
pub fn fraction_nanos(text: &str) -> i64 {
    let digits = text.strip_prefix('.').unwrap_or("");
    let digits = digits.bytes().take_while(u8::is_ascii_digit).take(9);
    let padded = digits.chain(std::iter::repeat(b'0')).take(9);
    padded.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'))
}

impl Event {
    /// From its JSON. Of the frames, most of it, only what tests look at is kept.
    fn of(mut event: Value) -> Self {
        let frames = event.pointer_mut("/values/stackTrace/frames");
        let frames = frames.map_or(Value::Null, Value::take);
        let frames = frames.as_array().into_iter().flatten();
        Self {
            kind: event["type"].as_str().unwrap().to_owned(),
            frames: frames.filter_map(Frame::of).collect(),
            values: event["values"].take(),
        }
    }

    /// A field that holds text, or a structure whose only field does.
    pub fn text(&self, field: &str) -> Option<&str> {
        let mut value = self.values.get(field)?;
        while let Value::Object(inner) = value {
            value = inner.values().next()?;
        }
        value.as_str()
    }

    /// A field that holds a number.
    pub fn number(&self, field: &str) -> Option<i64> {
        self.values.get(field)?.as_i64()
    }

    /// When it began, in nanoseconds of its day.
    pub fn start_nanos(&self) -> i64 {
        let text = self.text("startTime").unwrap();
        let (_, time) = text.split_once('T').unwrap();
        let number = |range: std::ops::Range<usize>| time[range].parse::<i64>().unwrap();
        let seconds = (number(0..2) * 60 + number(3..5)) * 60 + number(6..8);
        seconds * 1_000_000_000 + fraction_nanos(&time[8..])
    }

    /// How long it took.
    pub fn duration_nanos(&self) -> i64 {
        self.number("duration").unwrap()
    }

    /// Intervals this sample stands for.
    pub fn weight(&self) -> i64 {
        self.number("weight").unwrap_or(1)
    }

    /// Methods of the stack, `class.method`, the innermost first.
    pub fn frames(&self) -> Vec<String> {
        self.frames.iter().map(|f| f.name.clone()).collect()
    }

    /// The method that ran.
    pub fn innermost(&self) -> Option<&str> {
        Some(&self.frames.first()?.name)
    }

    /// Whether this method is on the stack.
    pub fn is_in(&self, method: &str) -> bool {
        self.frames.iter().any(|frame| frame.name == method)
    }

    /// Whether a method of this class is on the stack.
    pub fn is_in_class(&self, class: &str) -> bool {
        let is_of = |frame: &Frame| frame.name.rsplit_once('.').is_some_and(|it| it.0 == class);
        self.frames.iter().any(is_of)
    }

    /// Whether the name of its thread begins so.
    pub fn is_of_thread(&self, prefix: &str) -> bool {
        self.thread().is_some_and(|name| name.starts_with(prefix))
    }

    /// Whether the stack was cut where it was taken.
    pub fn is_truncated(&self) -> Option<bool> {
        self.values.pointer("/stackTrace/truncated")?.as_bool()
    }

    /// The same with their places.
    pub fn placed_frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Name of the class in a field, as the JDK prints it.
    pub fn class(&self, field: &str) -> Option<&str> {
        self.values.pointer(&format!("/{field}/name"))?.as_str()
    }

    /// Java name of the sampled thread, or of the event's.
    pub fn thread(&self) -> Option<&str> {
        let thread = ["sampledThread", "eventThread"];
        let thread = thread
            .into_iter()
            .find_map(|field| self.values.get(field))?;
        let name = |key: &str| thread.get(key).and_then(Value::as_str);
        name("javaName").or_else(|| name("osName"))
    }
}

impl Recording {
    /// A recording at `path`.
    pub const fn new(path: PathBuf) -> Self {
        Self {
            path,
            kept_dir: None,
        }
    }

    /// As long as it is there, so is its directory.
    pub(crate) fn kept_by(mut self, dir: Option<Arc<ScratchDir>>) -> Self {
        self.kept_dir = dir;
        self
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `jfr ARGUMENTS FILE` of a JDK.
    pub fn jfr(&self, jdk: Jdk, arguments: &[&str]) -> ProcessOutput {
        let mut command = Command::new(jdk.tool("jfr"));
        command.args(SHORT_LIVED).args(arguments).arg(&self.path);
        run(command)
    }

    /// Runs `ctxjfr` with these words; `FILE` stands for the recording.
    pub fn ctxjfr(&self, arguments: &[&str]) -> ProcessOutput {
        let mut command = Command::new(build::ctxjfr());
        for &argument in arguments {
            if argument == "FILE" {
                command.arg(&self.path);
            } else {
                command.arg(argument);
            }
        }
        run(command)
    }

    /// Events of these types, comma separated, with whole stacks. `ctxjfr` reads them: it prints
    /// what the JDK prints (`tests/tests/jfr_tool.rs` compares), for a small part of the CPU time.
    pub fn events(&self, types: &str) -> Vec<Event> {
        let printed = self.ctxjfr(&["print", "--json", "--events", types, "FILE"]);
        let printed = printed.success();
        let lines = printed.stdout.lines();
        lines.map(|line| Event::of(line.parse().unwrap())).collect()
    }

    /// The same as `jfr print --json` of a JDK gives them.
    pub fn events_by_jdk(&self, jdk: Jdk, types: &str) -> Vec<Event> {
        let print = [
            "print",
            "--json",
            "--stack-depth",
            "4096",
            "--events",
            types,
        ];
        let printed = self.jfr(jdk, &print).success();
        let mut json: Value = printed.stdout.parse().unwrap();
        let events = json["recording"]["events"].as_array_mut().unwrap();
        events.iter_mut().map(|e| Event::of(e.take())).collect()
    }

    /// CPU samples.
    pub fn samples(&self) -> Vec<Event> {
        self.events(SAMPLES)
    }

    /// The agent's counters as the last chunk has them; those that are zero may be missing.
    pub fn totals(&self) -> Totals {
        highest(&self.events(STATISTICS))
    }

    /// [`totals`](Self::totals) and [`samples`](Self::samples) of one run of the tool.
    pub fn totals_and_samples(&self) -> (Totals, Vec<Event>) {
        let events = self.events(&format!("{STATISTICS},{SAMPLES}"));
        let (statistics, samples): (Vec<_>, Vec<_>) = events
            .into_iter()
            .partition(|event| event.kind == STATISTICS);
        (highest(&statistics), samples)
    }

    /// Its counters and samples, as [`totals`](Self::totals) and [`samples`](Self::samples), after
    /// a look whether they agree: the samples are those that count as written, and every signal is
    /// one of them or a loss with a cause.
    pub fn reconcile(&self) -> (Totals, Vec<Event>) {
        let (totals, samples) = self.totals_and_samples();
        let sum = |wanted: &dyn Fn(&str) -> bool| -> i64 {
            let all = totals.iter().filter(|(name, _)| wanted(name));
            all.map(|(_, total)| total).sum()
        };
        let file = self.path.display();
        let written = sum(&|name| name == "written");
        let events = written + sum(&|name| name == "written.split");
        assert_eq!(Ok(events), samples.len().try_into(), "{file}: {totals:?}");
        let lost = sum(&|name| name.starts_with("lost."));
        let thinned = sum(&|name| name == "ratelimited");
        let signals = sum(&|name| name == "signals");
        assert_eq!(signals, written + thinned + lost, "{file}: {totals:?}");
        (totals, samples)
    }

    /// Number of events by type, as `jfr summary` of a JDK tells it.
    pub fn counts(&self, jdk: Jdk) -> BTreeMap<String, u64> {
        let summary = self.jfr(jdk, &["summary"]).success();
        let rows = summary.stdout.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next()?;
            let count = words.next()?.parse().ok()?;
            name.contains('.').then(|| (name.to_owned(), count))
        });
        rows.collect()
    }
}

/// The highest value of each counter: they only grow.
fn highest(statistics: &[Event]) -> Totals {
    let rows = statistics
        .iter()
        .filter_map(|event| Some((event.text("name")?.to_owned(), event.number("total")?)));
    let mut totals = BTreeMap::new();
    for (name, total) in rows {
        let highest = totals.entry(name).or_insert(0);
        *highest = total.max(*highest);
    }
    Totals(totals)
}

/// Time in nanoseconds and weight of every sample of a file, in file order, as our reader sees
/// them; fails on any damage.
pub fn read_samples(bytes: &[u8]) -> Vec<(i64, u64)> {
    read_samples_by_chunk(bytes).concat()
}

/// The same, chunk by chunk.
pub fn read_samples_by_chunk(bytes: &[u8]) -> Vec<Vec<(i64, u64)>> {
    let mut read = Vec::new();
    let mut chunks = Chunks::new(bytes);
    for chunk in chunks.by_ref() {
        let mut all = Vec::new();
        let open = ParsedChunk::new(&chunk).unwrap();
        assert!(open.corruptions().is_empty(), "{:?}", open.corruptions());
        for sample in open.samples(is_execution_sample) {
            let sample = sample.unwrap();
            assert!(sample.thread().is_some() && sample.stack().is_some());
            all.push((sample.start_nanos, sample.weight));
        }
        read.push(all);
    }
    assert!(
        chunks.corruptions().is_empty(),
        "{:?}",
        chunks.corruptions()
    );
    read
}

/// CPU time in nanoseconds that samples stand for.
#[derive(Debug, Clone, Copy)]
pub struct CpuTime {
    /// By their weights.
    pub nanos: f64,
    /// Standard deviation by chance: each sample is drawn by itself, so the variance of the sum is
    /// at most the sum of the squares.
    pub deviation: f64,
}

impl CpuTime {
    /// Of these samples.
    pub fn of<'e>(samples: impl Iterator<Item = &'e Event>, interval_ms: u32) -> Self {
        let (sum, squares) = sum_and_squares(samples);
        let interval = f64::from(interval_ms) * 1e6;
        Self {
            nanos: sum * interval,
            deviation: squares.sqrt() * interval,
        }
    }

    /// Of the threads so named.
    pub fn of_threads(samples: &[Event], named: &str, interval_ms: u32) -> Self {
        let is_named = |s: &&Event| s.thread().is_some_and(|name| name.starts_with(named));
        Self::of(samples.iter().filter(is_named), interval_ms)
    }
}

/// Each sample once, in the order of a file: it can be several events, more of them the busier the
/// machine is.
pub fn distinct(mut samples: Vec<&Event>) -> Vec<&Event> {
    samples.dedup_by_key(|event| sample_of(event));
    samples
}

/// What tells one sample from another.
fn sample_of(event: &Event) -> (Option<&str>, i64) {
    (event.thread(), event.start_nanos())
}

/// Sum of the weights, and of their squares, as they were drawn: a sample of a small weight is
/// written as so many equal events.
#[expect(clippy::cast_precision_loss, reason = "some thousand samples")]
pub fn sum_and_squares<'e>(samples: impl Iterator<Item = &'e Event>) -> (f64, f64) {
    let mut drawn: BTreeMap<_, i64> = BTreeMap::new();
    for event in samples {
        *drawn.entry(sample_of(event)).or_default() += event.weight();
    }
    let weights = drawn.into_values().map(|weight| weight as f64);
    weights.fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w))
}

/// Sum of the weights by the value of an attribute; `None` = without.
pub fn weights_by(samples: &[Event], attribute: &str) -> BTreeMap<Option<String>, i64> {
    let mut sums = BTreeMap::new();
    for sample in samples {
        *sums
            .entry(sample.text(attribute).map(str::to_owned))
            .or_insert(0) += sample.weight();
    }
    sums
}

/// Standard deviations that a figure may be off: one in 1.7 million figures by chance alone, were the
/// samples drawn independently.
pub const SIGMAS: f64 = 5.0;

/// How far a share may be off when it is told by these samples: with unequal weights fewer count as
/// many.
pub fn share_tolerance(share: f64, samples: &[Event], attribute: &str) -> f64 {
    let with_value = samples.iter().filter(|s| s.text(attribute).is_some());
    let (sum, squares) = sum_and_squares(with_value);
    SIGMAS * (share * (1.0 - share) * squares / (sum * sum)).sqrt()
}
