//! From samples to sums: one pass over the files, grouped by attribute values and, where wanted, by stack.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use jfr_format::family::Family;
use jfr_format::read::{EntryIndex, Frame, OpenChunk, Sample, SampleColumns, Stat, Thread};

use crate::accounting::Totals;
use crate::filter::{ALLOCATIONS, Events, Filter, Unit, fits};
use crate::input::{self, Outcome};
use crate::output::{self, Failure, Output};
use crate::shared::{MOST_COLUMNS, SharedTexts, cut};

/// Used where the recording does not tell.
pub(crate) const FALLBACK_INTERVAL_NANOS: u64 = 10_000_000;
/// Class of the frame that stands for a stack that could not be walked; its method is the reason.
const NO_STACK_CLASS: &str = "ctxagent/NoStack";
/// Keys that are no attributes, unless the recording has one of that name.
const BUILT_IN: [&str; 3] = ["thread", "state", "event"];

/// What is asked of the files.
#[derive(Debug)]
pub(crate) struct Query {
    /// Attribute names to group by.
    pub(crate) keys: Vec<String>,
    pub(crate) filter: Filter,
    /// Whether stacks are wanted.
    pub(crate) stacks: bool,
    /// Whether frames carry line numbers.
    pub(crate) lines: bool,
}

/// A sum of samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) samples: u64,
    /// Sampling intervals, or bytes, that the samples stand for.
    pub(crate) weight: u64,
    /// Sum of the squares of the weights: tells how much the weights thin the evidence.
    pub(crate) weight_squares: f64,
    /// What is measured, in the unit of [`crate::filter::Unit`].
    pub(crate) value: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.weight = self.weight.saturating_add(other.weight);
        self.weight_squares += other.weight_squares;
        self.value = self.value.saturating_add(other.value);
    }
}

impl Sum {
    /// Without a part of it.
    pub(crate) fn without(&self, part: &Self) -> Self {
        Self {
            samples: self.samples.saturating_sub(part.samples),
            weight: self.weight.saturating_sub(part.weight),
            weight_squares: (self.weight_squares - part.weight_squares).max(0.0),
            value: self.value.saturating_sub(part.value),
        }
    }
}

/// Adds up place by place.
fn add_all(into: &mut [Sum; 4], more: &[Sum; 4]) {
    for (into, more) in into.iter_mut().zip(more) {
        into.add(more);
    }
}

impl TypeSums {
    fn add(&mut self, other: Self) {
        self.total.add(&other.total);
        add_all(&mut self.not_java, &other.not_java);
        for (values, (sum, stacks)) in other.groups {
            let group = self.groups.entry(values).or_default();
            group.0.add(&sum);
            for (stack, sum) in stacks.by_stack {
                group.1.by_stack.entry(stack).or_default().add(&sum);
            }
        }
        for (name, attribute) in other.attributes {
            let into = self.attributes.entry(name).or_default();
            into.set.add(&attribute.set);
            for (value, sum) in attribute.values {
                into.values.entry(value).or_default().add(&sum);
            }
        }
    }

    /// All threads that are not Java threads.
    pub(crate) fn not_java(&self) -> Sum {
        let mut sum = Sum::default();
        for part in &self.not_java {
            sum.add(part);
        }
        sum
    }
}

/// Values of the keys, in their order; `None` = not set.
pub(crate) type Values = Vec<Option<Arc<str>>>;

/// A frame's text and its kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FrameName {
    pub(crate) text: Arc<str>,
    pub(crate) kind: FrameKind,
}

/// Kinds of frames, in the order of the colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FrameKind {
    Label = 0,
    Compiled = 1,
    Inlined = 2,
    Interpreted = 3,
    Native = 4,
    Cpp = 5,
    Kernel = 6,
    Missing = 7,
}

impl FrameKind {
    fn of(frame: &Frame<'_>) -> Self {
        if frame.class() == NO_STACK_CLASS {
            return Self::Missing;
        }
        match frame.kind() {
            "JIT compiled" | "C1 compiled" => Self::Compiled,
            "Inlined" => Self::Inlined,
            "Interpreted" => Self::Interpreted,
            "C++" => Self::Cpp,
            "Kernel" => Self::Kernel,
            _ => Self::Native,
        }
    }
}

/// Stacks as lists of places in [`Collected::frames`], innermost first.
#[derive(Debug, Default)]
pub(crate) struct StackSums {
    pub(crate) by_stack: HashMap<Arc<[u32]>, Sum>,
}

/// One event type's sums.
#[derive(Debug, Default)]
pub(crate) struct TypeSums {
    pub(crate) total: Sum,
    /// Parts of the total: threads that are not Java threads and so can have no label, by [`Family`].
    pub(crate) not_java: [Sum; 4],
    pub(crate) groups: HashMap<Values, (Sum, StackSums)>,
    /// Per attribute of the recording: how much of the total has a value, and the values.
    pub(crate) attributes: BTreeMap<Arc<str>, AttributeSums>,
}

/// An attribute's sums.
#[derive(Debug, Default)]
pub(crate) struct AttributeSums {
    pub(crate) set: Sum,
    pub(crate) values: HashMap<Arc<str>, Sum>,
}

/// Everything a pass gives.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) outcome: Outcome,
    /// By file and event type.
    pub(crate) types: BTreeMap<usize, BTreeMap<Arc<str>, TypeSums>>,
    pub(crate) frames: Vec<FrameName>,
    frame_places: HashMap<FrameName, u32>,
    texts: HashSet<Arc<str>>,
    pub(crate) stats: Totals,
    /// Sampling interval, where the recording tells.
    pub(crate) interval_nanos: Option<u64>,
    /// Whether a chunk with samples did not tell its interval.
    pub(crate) interval_guessed: bool,
    pub(crate) first_nanos: Option<i64>,
    pub(crate) last_nanos: Option<i64>,
    /// Whether there was a sample of a wanted type, passing or not.
    pub(crate) types_seen: bool,
    /// Names of event types that the files declare and that have a stack.
    pub(crate) sample_types: BTreeSet<Arc<str>>,
}

impl Collected {
    /// The sums of the event types that count, as one. A recording can hold one CPU usage, or one allocation, twice, by two kinds of samples: then
    /// one kind counts, which is decided for each file.
    pub(crate) fn into_total(mut self, filter: &Filter) -> (TypeSums, Vec<String>, Self) {
        let samples = |types: &BTreeMap<Arc<str>, TypeSums>, name: &str| {
            types.get(name).map_or(0, |sums| sums.total.samples)
        };
        let wants_cpu = matches!(filter.events, Events::Cpu);
        let wants_allocations =
            matches!(&filter.events, Events::Named(names) if *names == ALLOCATIONS);
        let mut total = TypeSums::default();
        let mut names = BTreeSet::new();
        let mut cpu_twice = false;
        for mut types in std::mem::take(&mut self.types).into_values() {
            if wants_cpu
                && samples(&types, "jdk.ExecutionSample") > 0
                && samples(&types, "jdk.CPUTimeSample") > 0
            {
                types.remove("jdk.CPUTimeSample");
                cpu_twice = true;
            }
            if wants_allocations && samples(&types, ALLOCATIONS[0]) > 0 {
                types.retain(|name, _| &**name == ALLOCATIONS[0]);
            }
            for (name, sums) in types {
                if sums.total.samples > 0 {
                    names.insert(name);
                }
                total.add(sums);
            }
        }
        if cpu_twice {
            output::remark(
                "the recording holds jdk.ExecutionSample and jdk.CPUTimeSample; the first is used, --event jdk.CPUTimeSample takes the other",
            );
        }
        total
            .attributes
            .retain(|name, sums| !(sums.values.is_empty() && is_free_slot(name)));
        let names = names.iter().map(ToString::to_string).collect();
        (total, names, self)
    }

    /// Nanoseconds from the first to the last moment covered.
    pub(crate) fn covered_nanos(&self) -> u64 {
        match (self.first_nanos, self.last_nanos) {
            (Some(first), Some(last)) => last.saturating_sub(first).max(0).unsigned_abs(),
            _ => 0,
        }
    }

    fn text(&mut self, text: Arc<str>) -> Arc<str> {
        if let Some(known) = self.texts.get(&text) {
            return known.clone();
        }
        self.texts.insert(text.clone());
        text
    }

    fn merge(&mut self, chunk: ChunkSums) {
        let frames: Vec<u32> = chunk
            .frames
            .into_iter()
            .map(|frame| {
                if let Some(&place) = self.frame_places.get(&frame) {
                    return place;
                }
                let place = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
                self.frames.push(frame.clone());
                self.frame_places.insert(frame, place);
                place
            })
            .collect();
        let stacks: Vec<Arc<[u32]>> = chunk
            .stacks
            .into_iter()
            .map(|stack| stack.iter().map(|&frame| frames[frame as usize]).collect())
            .collect();
        self.types_seen |= !chunk.types.is_empty();
        for (name, sums) in chunk.types {
            let groups: Vec<ChunkGroup<StackNumberSums>> = sums
                .groups
                .into_iter()
                .map(|(values, sum, stacks)| {
                    (
                        values
                            .into_iter()
                            .map(|value| value.map(|value| self.text(value)))
                            .collect(),
                        sum,
                        stacks,
                    )
                })
                .collect();
            let attributes: Vec<(Arc<str>, Arc<str>, Sum)> = sums
                .attributes
                .into_iter()
                .map(|(name, value, sum)| (name, self.text(value), sum))
                .collect();
            let of_file = self.types.entry(chunk.file).or_default();
            let into = of_file.entry(name).or_default();
            into.total.add(&sums.total);
            add_all(&mut into.not_java, &sums.not_java);
            for (values, sum, by_stack) in groups {
                let group = into.groups.entry(values).or_default();
                group.0.add(&sum);
                for (stack, sum) in by_stack {
                    group
                        .1
                        .by_stack
                        .entry(stacks[stack as usize].clone())
                        .or_default()
                        .add(&sum);
                }
            }
            for name in sums.columns {
                into.attributes.entry(name).or_default();
            }
            for (name, value, sum) in attributes {
                let attribute = into.attributes.entry(name).or_default();
                attribute.set.add(&sum);
                attribute.values.entry(value).or_default().add(&sum);
            }
        }
        self.stats.add(chunk.file, chunk.stats);
        self.interval_nanos = self.interval_nanos.or(chunk.interval_nanos);
        self.interval_guessed |= chunk.interval_guessed;
        self.first_nanos = Some(
            self.first_nanos
                .map_or(chunk.first_nanos, |first| first.min(chunk.first_nanos)),
        );
        self.last_nanos = Some(
            self.last_nanos
                .map_or(chunk.last_nanos, |last| last.max(chunk.last_nanos)),
        );
        self.sample_types.extend(chunk.sample_types);
    }
}

/// Sums of one chunk, with its own frame and stack numbers.
struct ChunkSums {
    file: usize,
    types: Vec<(Arc<str>, ChunkTypeSums)>,
    frames: Vec<FrameName>,
    stacks: Vec<Vec<u32>>,
    stats: Vec<Stat>,
    interval_nanos: Option<u64>,
    interval_guessed: bool,
    first_nanos: i64,
    last_nanos: i64,
    sample_types: Vec<Arc<str>>,
}

/// Sums by the stack's number in the chunk.
type StackNumberSums = Vec<(u32, Sum)>;
/// Values of the keys, their sum, the sums of their stacks.
type ChunkGroup<S> = (Values, Sum, S);

#[derive(Default)]
struct ChunkTypeSums {
    total: Sum,
    not_java: [Sum; 4],
    groups: Vec<ChunkGroup<StackNumberSums>>,
    /// Names of the columns, set or not.
    columns: Vec<Arc<str>>,
    attributes: Vec<(Arc<str>, Arc<str>, Sum)>,
}

/// Reads the files and sums up.
pub(crate) fn collect(
    files: &[PathBuf],
    query: &Query,
    output: &Output,
) -> Result<Collected, Failure> {
    let mut collected = Collected::default();
    let outcome = input::for_each_chunk(
        files,
        output,
        |file, chunk, damages| collect_chunk(file, chunk, query, damages),
        |chunk| collected.merge(chunk),
    )?;
    collected.outcome = outcome;
    if let Events::Named(names) = &query.filter.events
        && !collected.sample_types.iter().any(|ty| {
            names
                .iter()
                .any(|name| crate::filter::matches_type(ty, name))
        })
    {
        let known: Vec<&str> = collected.sample_types.iter().map(|ty| &**ty).collect();
        return Err(Failure::Finding(format!(
            "no event type '{}' with a stack; there are: {}",
            names.join(", "),
            known.join(", ")
        )));
    }
    // Without samples nothing can be said about names.
    if !collected.types_seen {
        return Ok(collected);
    }
    let keys = query
        .keys
        .iter()
        .chain(query.filter.terms.iter().map(|term| &term.key));
    for key in keys {
        collected.check_key(key, files)?;
    }
    Ok(collected)
}

impl Collected {
    /// A key that no chunk knows is a mistake worth an error, not an empty table.
    fn check_key(&self, key: &str, files: &[PathBuf]) -> Result<(), Failure> {
        let mut known: Vec<&str> = self
            .types
            .values()
            .flat_map(BTreeMap::values)
            .flat_map(|sums| sums.attributes.keys())
            .map(|name| &**name)
            .collect();
        if known.contains(&key) || BUILT_IN.contains(&key) {
            return Ok(());
        }
        known.sort_unstable();
        known.dedup();
        let file = files
            .first()
            .map(|file| file.display().to_string())
            .unwrap_or_default();
        if known.is_empty() {
            return Err(Failure::Finding(format!(
                "no attribute '{key}': the samples of {file} carry no context (other keys: {})",
                BUILT_IN.join(", ")
            )));
        }
        let near = known
            .iter()
            .find(|name| fits(name, &format!("*{key}*")) || key.contains(**name));
        let hint = near.map_or_else(
            || ";".to_owned(),
            |name| format!("; did you mean '{name}'?"),
        );
        Err(Failure::Finding(format!(
            "no attribute '{key}' in {file}{hint} there are: {}; and {}",
            known.join(", "),
            BUILT_IN.join(", ")
        )))
    }
}

/// Where a key's value comes from, for one event type.
#[derive(Clone, Copy)]
enum Source {
    Column(usize),
    Thread,
    State,
    Event,
    Absent,
}

fn source(columns: &SampleColumns, key: &str) -> Source {
    let mut names = columns.names().take(MOST_COLUMNS);
    if let Some(column) = names.position(|name| &**name == key) {
        return Source::Column(column);
    }
    match key {
        "thread" => Source::Thread,
        "state" => Source::State,
        "event" => Source::Event,
        _ => Source::Absent,
    }
}

fn value<'c>(sample: &Sample<'c>, source: Source) -> Option<&'c str> {
    match source {
        Source::Column(column) => sample.value(column),
        Source::Thread => sample.thread().map(|thread| name_of(&thread)),
        Source::State => sample.state(),
        Source::Event => Some(&sample.ty().name),
        Source::Absent => None,
    }
}

/// A thread's name. Cut, because a hostile file can give one endless text to a million threads; so are frames.
pub(crate) fn name_of<'c>(thread: &Thread<'c>) -> &'c str {
    cut(thread.name())
}

/// What identifies a value without its text: a place in a pool, or nothing.
fn value_place(sample: &Sample<'_>, source: Source) -> Option<EntryIndex> {
    match source {
        Source::Column(column) => sample.value_entry(column),
        Source::Thread => sample.thread_entry(),
        Source::State => sample.state_entry(),
        Source::Event | Source::Absent => None,
    }
}

/// How one event type of a chunk is summed.
struct TypeWork<'c> {
    columns: &'c SampleColumns,
    keys: Vec<Source>,
    terms: Vec<Source>,
    total: Sum,
    not_java: [Sum; 4],
    groups: HashMap<Box<[Option<EntryIndex>]>, usize>,
    sums: Vec<ChunkGroup<HashMap<u32, Sum>>>,
    attributes: HashMap<(usize, EntryIndex), (Sum, Arc<str>)>,
    name: Arc<str>,
}

fn collect_chunk(
    file: usize,
    chunk: &OpenChunk<'_>,
    query: &Query,
    damages: &mut Vec<String>,
) -> ChunkSums {
    let unit = query.filter.unit();
    let interval = interval_nanos(chunk, unit);
    let mut texts = SharedTexts::default();
    let header = chunk.header();
    let end = header
        .start_nanos
        .saturating_add(header.duration_nanos.max(0));
    let mut sums = ChunkSums {
        file,
        types: Vec::new(),
        frames: Vec::new(),
        stacks: Vec::new(),
        stats: chunk.stats(),
        interval_nanos: interval,
        interval_guessed: false,
        first_nanos: header.start_nanos,
        last_nanos: end,
        sample_types: chunk
            .metadata()
            .types()
            .iter()
            .filter(|ty| ty.is_event() && ty.field_position("stackTrace").is_some())
            .map(|ty| texts.name(&ty.name))
            .collect(),
    };
    let mut types: Vec<TypeWork<'_>> = Vec::new();
    let mut type_places = HashMap::new();
    let mut stacks = StackNumbers::default();
    let mut bad_events = 0u64;
    for sample in chunk.samples(|ty| query.filter.wants_type(ty)) {
        let sample = match sample {
            Ok(sample) => sample,
            Err(error) => {
                bad_events += 1;
                if bad_events == 1 {
                    damages.push(format!("chunk at {}, {error}", chunk.offset()));
                }
                continue;
            }
        };
        let place = *type_places
            .entry(sample.columns().type_index())
            .or_insert_with(|| {
                types.push(TypeWork::new(&sample, query, &mut texts));
                types.len() - 1
            });
        let work = &mut types[place];
        let passes = query
            .filter
            .terms
            .iter()
            .zip(&work.terms)
            .all(|(term, &source)| term.passes(value(&sample, source)));
        if !passes {
            continue;
        }
        if query.filter.wants_threads()
            && !query
                .filter
                .wants_thread(sample.thread().map_or("", |thread| thread.name()))
        {
            continue;
        }
        if unit.is_time() && sample.period_nanos.is_none() && interval.is_none() {
            sums.interval_guessed = true;
        }
        work.add(
            &sample,
            unit,
            interval,
            query.stacks.then(|| stacks.number(&sample, query.lines)),
            &mut texts,
        );
    }
    if bad_events > 1 {
        damages.push(format!(
            "chunk at {}: {bad_events} samples could not be read",
            chunk.offset()
        ));
    }
    for work in types {
        sums.types.push(work.finish(&mut texts));
    }
    sums.frames = stacks.frames;
    sums.stacks = stacks.stacks;
    sums
}

impl<'c> TypeWork<'c> {
    fn new(sample: &Sample<'c>, query: &Query, texts: &mut SharedTexts<'c>) -> Self {
        let columns = sample.columns();
        Self {
            columns,
            keys: query.keys.iter().map(|key| source(columns, key)).collect(),
            terms: query
                .filter
                .terms
                .iter()
                .map(|term| source(columns, &term.key))
                .collect(),
            total: Sum::default(),
            not_java: Default::default(),
            groups: HashMap::new(),
            sums: Vec::new(),
            attributes: HashMap::new(),
            name: texts.name(&sample.ty().name),
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "weights are small, and the sum feeds a statistic"
    )]
    fn add(
        &mut self,
        sample: &Sample<'c>,
        unit: Unit,
        interval: Option<u64>,
        stack: Option<u32>,
        texts: &mut SharedTexts<'c>,
    ) {
        let weight = sample.weight;
        let measured = match (unit, sample.period_nanos) {
            (Unit::Bytes | Unit::Samples, _) => weight,
            (Unit::Lock, _) => sample.duration_nanos.unwrap_or(0).max(0).unsigned_abs(),
            (_, Some(period)) => period.max(0).unsigned_abs(),
            (_, None) => weight.saturating_mul(interval.unwrap_or(FALLBACK_INTERVAL_NANOS)),
        };
        let sum = Sum {
            samples: 1,
            weight,
            weight_squares: (weight as f64).powi(2),
            value: measured,
        };
        self.total.add(&sum);
        let place: Box<[Option<EntryIndex>]> = self
            .keys
            .iter()
            .map(|&source| value_place(sample, source))
            .collect();
        if place.iter().all(Option::is_none)
            && let Some(thread) = sample.thread().filter(|thread| thread.java_id == 0)
        {
            self.not_java[Family::of(thread.name()) as usize].add(&sum);
        }
        let group = if let Some(&group) = self.groups.get(&place) {
            group
        } else {
            let text = |&source: &Source| value(sample, source).map(|text| texts.value(text));
            let values = self.keys.iter().map(text).collect();
            self.sums.push((values, Sum::default(), HashMap::new()));
            self.groups.insert(place, self.sums.len() - 1);
            self.sums.len() - 1
        };
        let (_, group, by_stack) = &mut self.sums[group];
        group.add(&sum);
        if let Some(stack) = stack {
            by_stack.entry(stack).or_default().add(&sum);
        }
        for column in 0..self.columns.names().len().min(MOST_COLUMNS) {
            if let Some(entry) = sample.value_entry(column) {
                let (set, _) = self.attributes.entry((column, entry)).or_insert_with(|| {
                    let value = sample.value(column).unwrap_or_default();
                    (Sum::default(), texts.value(value))
                });
                set.add(&sum);
            }
        }
    }

    fn finish(self, texts: &mut SharedTexts<'c>) -> (Arc<str>, ChunkTypeSums) {
        let names = self.columns.names().take(MOST_COLUMNS);
        let columns: Vec<Arc<str>> = names.map(|name| texts.name(name)).collect();
        let attributes = self
            .attributes
            .into_iter()
            .map(|((column, _), (sum, value))| (columns[column].clone(), value, sum))
            .collect();
        let groups = self
            .sums
            .into_iter()
            .map(|(values, sum, stacks)| (values, sum, stacks.into_iter().collect()))
            .collect();
        (
            self.name,
            ChunkTypeSums {
                total: self.total,
                not_java: self.not_java,
                groups,
                columns,
                attributes,
            },
        )
    }
}

/// Gives stacks and frames of a chunk numbers; equal texts of frames get equal numbers later, when chunks are merged.
#[derive(Default)]
struct StackNumbers {
    frames: Vec<FrameName>,
    stacks: Vec<Vec<u32>>,
    by_entry: HashMap<Option<EntryIndex>, u32>,
    by_frame: HashMap<(Option<EntryIndex>, Option<EntryIndex>, u32), u32>,
}

impl StackNumbers {
    fn number(&mut self, sample: &Sample<'_>, lines: bool) -> u32 {
        let entry = sample.stack_entry();
        if let Some(&number) = self.by_entry.get(&entry) {
            return number;
        }
        let mut frames: Vec<u32> = Vec::new();
        if let Some(stack) = sample.stack() {
            for frame in stack.frames() {
                frames.push(self.frame(&frame, lines));
            }
            if stack.is_truncated() {
                frames.push(self.named("(truncated)", FrameKind::Missing));
            }
        }
        if frames.is_empty() {
            frames.push(self.named("(no stack)", FrameKind::Missing));
        }
        let number = u32::try_from(self.stacks.len()).unwrap_or(u32::MAX);
        self.stacks.push(frames);
        self.by_entry.insert(entry, number);
        number
    }

    fn push(&mut self, text: &str, kind: FrameKind) -> u32 {
        let number = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.frames.push(FrameName {
            text: text.into(),
            kind,
        });
        number
    }

    /// A frame of ours; there are few per chunk.
    fn named(&mut self, text: &str, kind: FrameKind) -> u32 {
        match self
            .frames
            .iter()
            .rposition(|frame| &*frame.text == text && frame.kind == kind)
        {
            Some(place) => u32::try_from(place).unwrap_or(u32::MAX),
            None => self.push(text, kind),
        }
    }

    fn frame(&mut self, frame: &Frame<'_>, lines: bool) -> u32 {
        let line = if lines { frame.line().unwrap_or(0) } else { 0 };
        let key = (frame.method_entry(), frame.kind_entry(), line);
        if let Some(&number) = self.by_frame.get(&key) {
            return number;
        }
        let kind = FrameKind::of(frame);
        let mut text = frame_text(frame);
        if line > 0 {
            text = format!("{text}:{line}");
        }
        let number = self.push(&text, kind);
        self.by_frame.insert(key, number);
        number
    }
}

/// Whether a column is one of ours that no attribute has taken.
pub(crate) fn is_free_slot(name: &str) -> bool {
    name.strip_prefix("context")
        .is_some_and(|digit| matches!(digit.as_bytes(), [b'0'..=b'7']))
}

/// Whether a sample tells where it was taken: ours without a stack has one frame that says why.
pub(crate) fn has_stack(sample: &Sample<'_>) -> bool {
    let first = sample.stack().and_then(|stack| stack.frames().next());
    first.is_some_and(|frame| frame.class() != NO_STACK_CLASS)
}

/// `java.lang.String.length`; a native frame without class is its name.
pub(crate) fn frame_text(frame: &Frame<'_>) -> String {
    let (class, method) = (cut(frame.class()), cut(frame.method()));
    if class == NO_STACK_CLASS {
        return format!("(no stack: {method})");
    }
    match (class.is_empty(), method.is_empty()) {
        (true, true) => "(unknown)".to_owned(),
        (true, false) => method.to_owned(),
        (false, true) => class.replace('/', "."),
        (false, false) => format!("{}.{method}", class.replace('/', ".")),
    }
}

/// Sampling interval as the settings tell: `interval` (ours, async-profiler) or `period` (JDK) of the samples; of wall-clock samples `interval` of
/// their own event (ours) or `wall` (async-profiler), else the same.
fn interval_nanos(chunk: &OpenChunk<'_>, unit: Unit) -> Option<u64> {
    const WALL: Option<&str> = Some("profiler.WallClockSample");
    let settings = chunk.settings();
    let named = |name: &'static str| settings.iter().filter(move |setting| setting.name == name);
    let of_wall = named("interval")
        .filter(|setting| setting.event.as_deref() == WALL)
        .chain(named("wall"))
        .filter(|_| unit == Unit::Wall);
    let of_samples =
        named("period").filter(|setting| setting.event.as_deref() == Some("jdk.ExecutionSample"));
    let of_any = named("interval").filter(|setting| setting.event.as_deref() != WALL);
    of_wall
        .chain(of_any)
        .chain(of_samples)
        .find_map(|setting| parse_interval(&setting.value))
}

/// `10 ms`, `10ms`, `10000000` (nanoseconds).
fn parse_interval(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "" | "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit).filter(|&nanos| nanos > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_the_producers_write_them() {
        for (text, expected) in [
            ("10 ms", Some(10_000_000)),
            ("10ms", Some(10_000_000)),
            ("10000000", Some(10_000_000)),
            ("500 us", Some(500_000)),
            ("1 s", Some(1_000_000_000)),
            ("everyChunk", None),
            ("0 ms", None),
            ("99999999999999999999 s", None),
            ("", None),
        ] {
            assert_eq!(parse_interval(text), expected, "{text}");
        }
    }
}
