//! One chunk's samples, summed with its own numbers for stacks and frames.

use std::ops::Range;
use std::sync::Arc;

use ctxagent_events::{VmThreadKind, whole_name};
use hashbrown::HashMap;
use jfr_format::read::{
    ActiveSetting, EntryIndex, ParsedChunk, Sample, SampleColumns, Thread, Type,
};

use super::counters::ChunkStats;
use super::interval::{FALLBACK_INTERVAL_NANOS, interval_nanos};
use super::late::LateLabels;
use super::pauses::Pauses;
use super::query::{ATTRIBUTE_PREFIX, Query};
use super::stacks::{FrameName, StackNumbers};
use super::sums::{GroupKey, Moment, StackSum, Sum};
use super::terms::ChunkTerm;
use crate::filter::{EXECUTION, Events, Filter, Unit};
use crate::shared::{MAX_COLUMNS, SharedTexts, cut};

/// Sums of one chunk, with its own frame and stack numbers.
pub(crate) struct ChunkSums {
    pub(super) file: usize,
    pub(super) types: Vec<(Arc<str>, ChunkTypeSums)>,
    pub(super) frames: Vec<FrameName>,
    pub(super) stacks: Vec<Vec<u32>>,
    pub(super) stats: ChunkStats,
    /// Samples of sleeping threads, which are not CPU time.
    pub(super) sleeping: u64,
    /// Whether the samples of running threads are of wall-clock time.
    pub(super) is_of_wall_time: bool,
    pub(super) interval_nanos: Option<u64>,
    pub(super) interval_guessed: bool,
    pub(super) first_nanos: i64,
    pub(super) last_nanos: i64,
    pub(super) sample_types: Vec<Arc<str>>,
    /// Samples of the wanted types, and what each `--where` makes of them.
    pub(super) samples_seen: u64,
    pub(super) terms: Vec<ChunkTerm>,
}

/// What virtual threads are called that have no name in the recording.
const NAMELESS_VIRTUAL: &str = "(virtual)";
/// State of threads that wait; CPU time is of others.
const SLEEPING: &str = "STATE_SLEEPING";

/// Sums by the stack's number in the chunk.
pub(super) type StackNumberSums = Vec<(u32, StackSum)>;
/// Values of the keys and kind of VM thread, their sum, the sums of their stacks.
pub(super) type ChunkGroup<S> = (GroupKey, Sum, S);
/// Places of the values of the keys, and kind of VM thread: the same as a [`GroupKey`], within a
/// chunk.
type GroupPlaces = (Box<[Option<EntryIndex>]>, Option<VmThreadKind>);

#[derive(Default)]
pub(super) struct ChunkTypeSums {
    pub(super) total: Sum,
    pub(super) not_java: [Sum; 4],
    pub(super) groups: Vec<ChunkGroup<StackNumberSums>>,
    /// Names of the attributes that the groups have values of, behind those of the keys.
    pub(super) attribute_keys: Vec<Arc<str>>,
    /// Names of the attributes that the chunk describes, set or not.
    pub(super) described: Vec<Arc<str>>,
    pub(super) attributes: Vec<(Arc<str>, Arc<str>, Sum)>,
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
    let column = |name: &str| {
        let mut names = columns.names().take(MAX_COLUMNS);
        names.position(|known| &**known == name).map(Source::Column)
    };
    if let Some(column) = key.strip_prefix(ATTRIBUTE_PREFIX).and_then(column) {
        return column;
    }
    // An attribute called like one of these must not take its place: what a report means cannot
    // depend on names in the file.
    match key {
        "thread" => Source::Thread,
        "state" => Source::State,
        "event" => Source::Event,
        key => column(key).unwrap_or(Source::Absent),
    }
}

fn value<'c>(late: &LateLabels<'_>, sample: &Sample<'c>, source: Source) -> Option<&'c str> {
    match source {
        Source::Column(column) => late.value(sample, column),
        Source::Thread => sample.thread().map(|thread| name_of(&thread)),
        Source::State => sample.state(),
        Source::Event => Some(&sample.ty().name),
        Source::Absent => None,
    }
}

/// A thread's name. Cut, because a hostile file can give one endless text to a million threads; so
/// are frames.
fn name_of<'c>(thread: &Thread<'c>) -> &'c str {
    match thread.name() {
        "" if thread.is_virtual => NAMELESS_VIRTUAL,
        name => whole_name(cut(name)),
    }
}

/// Whether the sample's thread is wanted, by its whole name or as the kernel cut it.
fn wants_thread_of(filter: &Filter, sample: &Sample<'_>) -> bool {
    let Some(thread) = sample.thread() else {
        return filter.wants_thread("");
    };
    let names = [name_of(&thread), cut(thread.name())];
    names.into_iter().any(|name| filter.wants_thread(name))
}

/// Whether a recording is one of wall-clock time by `jdk.ExecutionSample`, as async-profiler's were
/// before it had an event of its own for that.
fn is_of_wall_time(settings: &[ActiveSetting]) -> bool {
    settings
        .iter()
        .any(|setting| setting.name == "event" && setting.value == "wall")
}

/// The kind of the sample's thread, if that is not a Java thread. In a pause the VM's own thread
/// works for the collector: with the serial one it does all of it.
fn vm_kind_of(sample: &Sample<'_>, pauses: &Pauses<'_>) -> Option<VmThreadKind> {
    let thread = sample.thread().filter(|thread| thread.java_id == 0)?;
    Some(match VmThreadKind::of(thread.name()) {
        VmThreadKind::Vm if pauses.contain(sample.start_nanos) => VmThreadKind::Gc,
        vm_kind => vm_kind,
    })
}

/// What identifies a value without its text: a place in a pool, or nothing.
fn value_place(late: &LateLabels<'_>, sample: &Sample<'_>, source: Source) -> Option<EntryIndex> {
    match source {
        Source::Column(column) => late.value_entry(sample, column),
        Source::Thread => sample.thread_entry(),
        Source::State => sample.state_entry(),
        Source::Event | Source::Absent => None,
    }
}

/// How one event type of a chunk is summed.
struct TypeWork<'c> {
    columns: &'c SampleColumns,
    keys: Vec<Source>,
    /// Names of the last keys, those that are not of the query.
    attribute_keys: Vec<Arc<str>>,
    moments: bool,
    terms: Vec<Source>,
    total: Sum,
    not_java: [Sum; 4],
    groups: HashMap<GroupPlaces, usize>,
    sums: Vec<ChunkGroup<HashMap<u32, StackSum>>>,
    attributes: HashMap<(usize, EntryIndex), (Sum, Arc<str>)>,
    name: Arc<str>,
    last: Option<SplitSample>,
}

/// A sample that the next event may continue: a large weight is written as several events.
#[derive(Clone, Copy)]
struct SplitSample {
    start_nanos: i64,
    thread: Option<EntryIndex>,
    stack: Option<EntryIndex>,
    value: f64,
}

/// What all queries need of a chunk; each part takes a look at every event.
struct ChunkFacts<'c> {
    settings: Vec<ActiveSetting>,
    stats: ChunkStats,
    pauses: Pauses<'c>,
    late: LateLabels<'c>,
}

impl<'c> ChunkFacts<'c> {
    fn of(chunk: &'c ParsedChunk<'c>) -> Self {
        let settings = chunk.settings();
        Self {
            stats: ChunkStats::of(chunk, &settings),
            settings,
            pauses: Pauses::of(chunk),
            late: LateLabels::of(chunk),
        }
    }
}

/// The sums of a chunk, one for each query.
pub(super) fn collect_chunk_each(
    file: usize,
    chunk: &ParsedChunk<'_>,
    queries: &[Query],
) -> Vec<ChunkSums> {
    let facts = ChunkFacts::of(chunk);
    let start = Start::of(chunk);
    let queries = queries.iter();
    queries
        .map(|query| sums(start, file, chunk, &facts, query))
        .collect()
}

pub(crate) fn collect_chunk(file: usize, chunk: &ParsedChunk<'_>, query: &Query) -> ChunkSums {
    collect_chunk_from(Start::of(chunk), file, chunk, query)
}

/// Where the part of a chunk begins that is not known yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// Offset of the first event from the chunk's start.
    pub(crate) offset: u64,
    /// The moment, in nanoseconds since 1970.
    pub(crate) nanos: i64,
}

impl Start {
    /// Nothing is known yet.
    fn of(chunk: &ParsedChunk<'_>) -> Self {
        Self {
            offset: 0,
            nanos: chunk.header().start_nanos,
        }
    }
}

/// The sums of the samples from `start` on. Counters and settings are of the whole chunk.
pub(crate) fn collect_chunk_from(
    start: Start,
    file: usize,
    chunk: &ParsedChunk<'_>,
    query: &Query,
) -> ChunkSums {
    sums(start, file, chunk, &ChunkFacts::of(chunk), query)
}

fn sums<'c>(
    start: Start,
    file: usize,
    chunk: &'c ParsedChunk<'c>,
    facts: &ChunkFacts<'c>,
    query: &Query,
) -> ChunkSums {
    let unit = query.filter.unit();
    let interval = interval_nanos(&facts.settings, unit);
    let sleepers_count = !matches!(query.filter.events, Events::Cpu);
    let is_of_wall_time = is_of_wall_time(&facts.settings);
    let takes_execution = unit == Unit::Wall && is_of_wall_time;
    let wants_type =
        |ty: &Type| query.filter.wants_type(ty) || takes_execution && &*ty.name == EXECUTION;
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
        stats: facts.stats.clone(),
        sleeping: 0,
        is_of_wall_time,
        interval_nanos: interval,
        interval_guessed: false,
        first_nanos: start.nanos,
        last_nanos: end,
        sample_types: chunk
            .metadata()
            .types()
            .iter()
            .filter(|ty| ty.is_event() && ty.field_position("stackTrace").is_some())
            .map(|ty| texts.name(&ty.name))
            .collect(),
        samples_seen: 0,
        terms: Vec::new(),
    };
    let terms = &query.filter.terms;
    sums.terms.resize_with(terms.len(), ChunkTerm::default);
    let mut types: Vec<TypeWork<'_>> = Vec::new();
    let mut type_places = HashMap::new();
    let mut stacks = StackNumbers::default();
    // What cannot be read is among the chunk's damages.
    for sample in chunk.samples(wants_type).flatten() {
        if sample.offset < start.offset {
            continue;
        }
        let place = *type_places
            .entry(sample.columns().type_index())
            .or_insert_with(|| {
                types.push(TypeWork::new(&sample, query, &mut texts));
                types.len() - 1
            });
        let work = &mut types[place];
        sums.samples_seen += 1;
        let mut passes = true;
        for ((term, &source), counts) in terms.iter().zip(&work.terms).zip(&mut sums.terms) {
            let found = value(&facts.late, &sample, source);
            let passes_this = term.passes(found);
            let text = || texts.value(found.unwrap_or_default());
            let entry = value_place(&facts.late, &sample, source).map(|entry| (place, entry));
            counts.count(passes_this, entry, text);
            passes &= passes_this;
        }
        if !passes {
            continue;
        }
        if query.filter.wants_threads() && !wants_thread_of(&query.filter, &sample) {
            continue;
        }
        if !sleepers_count && &*work.name == EXECUTION && sample.state() == Some(SLEEPING) {
            sums.sleeping += 1;
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
            facts,
            &mut texts,
        );
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
        let mut keys: Vec<Source> = query.keys.iter().map(|key| source(columns, key)).collect();
        let mut attribute_keys: Vec<Arc<str>> = Vec::new();
        if query.every_attribute {
            for (column, name) in columns.names().take(MAX_COLUMNS).enumerate() {
                let name = texts.name(name);
                // Of columns with one name the first has it, as for `source`.
                if !attribute_keys.contains(&name) {
                    attribute_keys.push(name);
                    keys.push(Source::Column(column));
                }
            }
        }
        Self {
            columns,
            keys,
            attribute_keys,
            moments: query.moments,
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
            last: None,
        }
    }

    /// Places of the attribute columns that are read.
    fn columns(&self) -> Range<usize> {
        0..self.columns.names().len().min(MAX_COLUMNS)
    }

    /// What a sample's value adds to the sum of squares, which is about samples, not about the
    /// events that they are written as.
    #[expect(clippy::cast_precision_loss, reason = "feeds a statistic")]
    fn square(&mut self, sample: &Sample<'_>, value: u64) -> f64 {
        let mut written = SplitSample {
            start_nanos: sample.start_nanos,
            thread: sample.thread_entry(),
            stack: sample.stack_entry(),
            value: value as f64,
        };
        let before = self.last.take().filter(|last| {
            (last.start_nanos, last.thread, last.stack)
                == (written.start_nanos, written.thread, written.stack)
        });
        let before = before.map_or(0.0, |last| last.value);
        written.value += before;
        let more = written.value.powi(2) - before.powi(2);
        self.last = Some(written);
        more
    }

    fn add(
        &mut self,
        sample: &Sample<'c>,
        unit: Unit,
        interval: Option<u64>,
        stack: Option<u32>,
        ChunkFacts { pauses, late, .. }: &ChunkFacts<'_>,
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
            value: measured,
            value_squares: self.square(sample, measured),
        };
        self.total.add(&sum);
        let place: Box<[Option<EntryIndex>]> = self
            .keys
            .iter()
            .map(|&source| value_place(late, sample, source))
            .collect();
        // A label of any name tells that it is a thread that can have one, so that coverage is the
        // same whatever the keys are.
        let is_unlabelled = place.iter().all(Option::is_none)
            && self
                .columns()
                .all(|column| sample.value_entry(column).is_none());
        let vm_kind = if is_unlabelled {
            vm_kind_of(sample, pauses)
        } else {
            None
        };
        if let Some(vm_kind) = vm_kind {
            self.not_java[vm_kind as usize].add(&sum);
        }
        let places = (place, vm_kind);
        let group = if let Some(&group) = self.groups.get(&places) {
            group
        } else {
            let text = |&source: &Source| value(late, sample, source).map(|text| texts.value(text));
            let values = self.keys.iter().map(text).collect();
            let key = GroupKey { values, vm_kind };
            self.sums.push((key, Sum::default(), HashMap::new()));
            self.groups.insert(places, self.sums.len() - 1);
            self.sums.len() - 1
        };
        let (_, group, by_stack) = &mut self.sums[group];
        group.add(&sum);
        if let Some(stack) = stack {
            let of_stack = by_stack.entry(stack).or_default();
            of_stack.sum.add(&sum);
            if self.moments {
                of_stack.moments.push(Moment {
                    nanos: sample.start_nanos,
                    value: sum.value,
                });
            }
        }
        if !self.attribute_keys.is_empty() {
            return; // the groups have the values
        }
        for column in self.columns() {
            if let Some(entry) = late.value_entry(sample, column) {
                let (set, _) = self.attributes.entry((column, entry)).or_insert_with(|| {
                    let value = sample.value_at(column, entry).unwrap_or_default();
                    (Sum::default(), texts.value(value))
                });
                set.add(&sum);
            }
        }
    }

    fn finish(self, texts: &mut SharedTexts<'c>) -> (Arc<str>, ChunkTypeSums) {
        let names = self.columns.names().take(MAX_COLUMNS);
        let names: Vec<Arc<str>> = names.map(|name| texts.name(name)).collect();
        let attributes = self
            .attributes
            .into_iter()
            .map(|((column, _), (sum, value))| (names[column].clone(), value, sum))
            .collect();
        let described = (0..names.len()).filter(|&column| self.columns.is_described(column));
        let described = described.map(|column| names[column].clone()).collect();
        let groups = self
            .sums
            .into_iter()
            .map(|(key, sum, stacks)| (key, sum, stacks.into_iter().collect()))
            .collect();
        (
            self.name,
            ChunkTypeSums {
                total: self.total,
                not_java: self.not_java,
                groups,
                described,
                attribute_keys: self.attribute_keys,
                attributes,
            },
        )
    }
}
