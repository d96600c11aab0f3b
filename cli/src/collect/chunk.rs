//! One chunk's samples, summed with its own numbers for stacks and frames.

use std::sync::Arc;

use ctxagent_events::{VmThreadKind, whole_name};
use hashbrown::HashMap;
use jfr_format::read::{
    ActiveSetting, EntryIndex, ParsedChunk, Sample, SampleColumns, Thread, Type, TypeIndex,
};

use super::counters::ChunkStats;
use super::interval::{FALLBACK_INTERVAL_NANOS, interval_nanos};
use super::joined::JoinedLabels;
use super::labelled::LabelledSample;
use super::late::LateLabels;
use super::pauses::Pauses;
use super::process::ProcessFacts;
use super::query::{ATTRIBUTE_PREFIX, Query};
use super::stacks::{FrameName, StackList, StackNumbers};
use super::sums::{GroupKey, Moment, StackSum, Sum};
use super::terms::ChunkTerm;
use crate::filter::{EXECUTION, Events, Filter, Unit};
use crate::shared::{MAX_COLUMNS, SharedTexts, cut};

/// Sums of one chunk, with its own frame and stack numbers.
pub(crate) struct ChunkSums {
    pub(super) file: usize,
    pub(super) types: Vec<(Arc<str>, ChunkTypeSums)>,
    pub(super) frames: Vec<FrameName>,
    pub(super) stacks: StackList,
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
    pub(super) process: ProcessFacts,
    /// Samples of the wanted types, and what each `--where` makes of them.
    pub(super) samples_seen: u64,
    pub(super) terms: Vec<ChunkTerm>,
}

/// What virtual threads are called that have no name in the recording.
const NAMELESS_VIRTUAL: &str = "(virtual)";
/// State of threads that wait; CPU time is of others.
const SLEEPING: &str = "STATE_SLEEPING";

/// Values of the keys and kind of VM thread, their sum, the sums of their stacks by the stack's
/// number in the chunk.
pub(super) type ChunkGroup = (GroupKey, Sum, Vec<(u32, StackSum)>);
/// Stands for a value that is not set.
const NO_VALUE: u32 = u32::MAX;

/// Numbers of a group and of a stack in one, which is hashed faster than two.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupStack(u64);

impl GroupStack {
    fn new(group: u32, stack: u32) -> Self {
        Self(u64::from(group) << 32 | u64::from(stack))
    }

    fn group(self) -> usize {
        (self.0 >> 32) as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    fn stack(self) -> u32 {
        self.0 as u32
    }
}

#[derive(Default)]
pub(super) struct ChunkTypeSums {
    pub(super) total: Sum,
    pub(super) not_java: [Sum; 4],
    pub(super) groups: Vec<ChunkGroup>,
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
    /// Place of a joined label.
    Joined(usize),
    Thread,
    State,
    Event,
    Absent,
}

fn source(columns: &SampleColumns, joined: &JoinedLabels, key: &str) -> Source {
    let column = |name: &str| {
        let mut names = columns.names().take(MAX_COLUMNS);
        let column = names.position(|known| &**known == name).map(Source::Column);
        let label = || joined.names().iter().position(|known| &**known == name);
        column.or_else(|| label().map(Source::Joined))
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

fn value<'c>(labelled: &LabelledSample<'_, 'c>, source: Source) -> Option<&'c str> {
    let sample = labelled.sample;
    match source {
        Source::Column(column) => labelled.column_value(column),
        Source::Joined(label) => labelled.joined_value(label),
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

/// What identifies a value without its text within its source: a number, or nothing.
fn value_number(labelled: &LabelledSample<'_, '_>, source: Source) -> Option<u32> {
    match source {
        Source::Column(column) => labelled.column_entry(column).map(u32::from),
        Source::Joined(label) => labelled.joined_number(label),
        Source::Thread => labelled.sample.thread_entry().map(u32::from),
        Source::State => labelled.sample.state_entry().map(u32::from),
        Source::Event | Source::Absent => None,
    }
}

/// How one event type of a chunk is summed.
struct TypeWork<'c> {
    columns: &'c SampleColumns,
    keys: Vec<Source>,
    /// Names of the last keys, those that are not of the query.
    attribute_keys: Vec<Arc<str>>,
    /// The labels of any name.
    labels: Vec<(Arc<str>, Source)>,
    moments: bool,
    terms: Vec<Source>,
    total: Sum,
    not_java: [Sum; 4],
    /// Numbers of the groups, by numbers of the values of the keys, and kind of VM thread: the same
    /// as a [`GroupKey`], within a chunk.
    groups: HashMap<Box<[u32]>, u32>,
    /// What the sample at hand has in that place.
    numbers: Vec<u32>,
    group_sums: Vec<(GroupKey, Sum)>,
    /// By numbers of group and stack.
    stack_sums: HashMap<GroupStack, StackSum>,
    /// By place in `labels` and number of the value.
    attributes: HashMap<(usize, u32), (Sum, Arc<str>)>,
    name: Arc<str>,
    is_execution: bool,
    /// The last state that was compared with [`SLEEPING`], and whether it was.
    last_state: (Option<EntryIndex>, bool),
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
    joined: JoinedLabels,
}

impl<'c> ChunkFacts<'c> {
    fn of(chunk: &'c ParsedChunk<'c>) -> Self {
        let settings = chunk.settings();
        Self {
            stats: ChunkStats::of(chunk, &settings),
            settings,
            pauses: Pauses::of(chunk),
            late: LateLabels::of(chunk),
            joined: JoinedLabels::of(chunk),
        }
    }
}

/// The sums of a chunk, one for each query.
pub(super) fn collect_chunk_each(
    file: usize,
    chunk: &ParsedChunk<'_>,
    queries: &[Query],
) -> Vec<ChunkSums> {
    collect_each_from(Start::of(chunk), file, chunk, queries)
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
    let mut sums = collect_each_from(start, file, chunk, std::slice::from_ref(query));
    sums.swap_remove(0)
}

/// One pass over the samples, whatever the number of queries.
fn collect_each_from(
    start: Start,
    file: usize,
    chunk: &ParsedChunk<'_>,
    queries: &[Query],
) -> Vec<ChunkSums> {
    let facts = ChunkFacts::of(chunk);
    let queries = queries.iter();
    let collectors = queries.map(|query| Collector::new(start, file, chunk, &facts, query));
    let mut collectors: Vec<Collector<'_>> = collectors.collect();
    let wants = |ty: &Type| collectors.iter().any(|collector| collector.wants(ty));
    let mut samples = chunk.samples(wants);
    let mut joined_values = Vec::new();
    // What cannot be read is among the chunk's damages.
    while let Some(sample) = samples.next_readable() {
        if sample.offset >= start.offset {
            facts.joined.join(sample, &mut joined_values);
            let labelled = LabelledSample {
                sample,
                late: facts.late.near(sample),
                joined: &facts.joined,
                joined_values: &joined_values,
            };
            for collector in &mut collectors {
                collector.add(&labelled);
            }
        }
    }
    let collectors = collectors.into_iter();
    collectors.map(Collector::finish).collect()
}

/// Sums up a chunk's samples for one query.
struct Collector<'c> {
    query: &'c Query,
    facts: &'c ChunkFacts<'c>,
    unit: Unit,
    interval: Option<u64>,
    sleepers_count: bool,
    takes_execution: bool,
    types: Vec<TypeWork<'c>>,
    /// Places in `types`; `None` for a type that the query does not want.
    places: HashMap<TypeIndex, Option<usize>>,
    /// The last look-up in it: neighbours are often of one type.
    last_place: Option<(TypeIndex, Option<usize>)>,
    stacks: StackNumbers,
    texts: SharedTexts<'c>,
    sums: ChunkSums,
}

impl<'c> Collector<'c> {
    fn new(
        start: Start,
        file: usize,
        chunk: &'c ParsedChunk<'c>,
        facts: &'c ChunkFacts<'c>,
        query: &'c Query,
    ) -> Self {
        let unit = query.filter.unit();
        let interval = interval_nanos(&facts.settings, unit);
        let is_of_wall_time = is_of_wall_time(&facts.settings);
        let mut texts = SharedTexts::default();
        let header = chunk.header();
        let end = header
            .start_nanos
            .saturating_add(header.duration_nanos.max(0));
        let types = chunk.metadata().types().iter();
        let with_stack =
            types.filter(|ty| ty.is_event() && ty.field_position("stackTrace").is_some());
        let sample_types = with_stack.map(|ty| texts.name(&ty.name)).collect();
        let terms = query.filter.terms.iter();
        let sums = ChunkSums {
            file,
            types: Vec::new(),
            frames: Vec::new(),
            stacks: StackList::default(),
            stats: facts.stats.clone(),
            sleeping: 0,
            is_of_wall_time,
            interval_nanos: interval,
            interval_guessed: false,
            first_nanos: start.nanos,
            last_nanos: end,
            sample_types,
            process: ProcessFacts::of(chunk),
            samples_seen: 0,
            terms: terms.map(|_| ChunkTerm::default()).collect(),
        };
        Self {
            query,
            facts,
            unit,
            interval,
            sleepers_count: !matches!(query.filter.events, Events::Cpu),
            takes_execution: unit == Unit::Wall && is_of_wall_time,
            types: Vec::new(),
            places: HashMap::new(),
            last_place: None,
            stacks: StackNumbers::default(),
            texts,
            sums,
        }
    }

    fn wants(&self, ty: &Type) -> bool {
        self.query.filter.wants_type(ty) || self.takes_execution && &*ty.name == EXECUTION
    }

    /// Place in `types` of a sample's type, if that is wanted.
    fn place(&mut self, sample: &Sample<'c>) -> Option<usize> {
        let index = sample.columns().type_index();
        if let Some((last, place)) = self.last_place
            && last == index
        {
            return place;
        }
        let place = self.places.get(&index).copied().unwrap_or_else(|| {
            let place = self.wants(sample.ty()).then(|| {
                let joined = &self.facts.joined;
                let work = TypeWork::new(sample, joined, self.query, &mut self.texts);
                self.types.push(work);
                self.types.len() - 1
            });
            self.places.insert(index, place);
            place
        });
        self.last_place = Some((index, place));
        place
    }

    fn add(&mut self, labelled: &LabelledSample<'_, 'c>) {
        let sample = labelled.sample;
        let Some(place) = self.place(sample) else {
            return;
        };
        let Self {
            query, facts, sums, ..
        } = self;
        let work = &mut self.types[place];
        sums.samples_seen += 1;
        let mut passes = true;
        let terms = query.filter.terms.iter().zip(&work.terms);
        for ((term, &source), counts) in terms.zip(&mut sums.terms) {
            let found = value(labelled, source);
            let passes_this = term.passes(found);
            let text = || self.texts.value(found.unwrap_or_default());
            let number = value_number(labelled, source).map(|number| (place, number));
            counts.count(passes_this, number, text);
            passes &= passes_this;
        }
        if !passes {
            return;
        }
        if query.filter.wants_threads() && !wants_thread_of(&query.filter, sample) {
            return;
        }
        if !self.sleepers_count && work.is_sleeping(sample) {
            sums.sleeping += 1;
            return;
        }
        if self.unit.is_time() && sample.period_nanos.is_none() && self.interval.is_none() {
            sums.interval_guessed = true;
        }
        let value = measured(sample, self.unit, self.interval);
        let stack = query
            .stacks
            .then(|| self.stacks.number(sample, query.lines));
        work.add(labelled, value, stack, &facts.pauses, &mut self.texts);
    }

    fn finish(mut self) -> ChunkSums {
        let types = self.types.into_iter();
        self.sums.types = types.map(TypeWork::finish).collect();
        self.sums.frames = self.stacks.frames;
        self.sums.stacks = self.stacks.stacks;
        self.sums
    }
}

/// What a sample stands for, in the unit of the query.
fn measured(sample: &Sample<'_>, unit: Unit, interval: Option<u64>) -> u64 {
    let weight = sample.weight;
    match (unit, sample.period_nanos) {
        (Unit::Bytes | Unit::Samples, _) => weight,
        (Unit::Lock, _) => sample.duration_nanos.unwrap_or(0).max(0).unsigned_abs(),
        (_, Some(period)) => period.max(0).unsigned_abs(),
        (_, None) => weight.saturating_mul(interval.unwrap_or(FALLBACK_INTERVAL_NANOS)),
    }
}

impl<'c> TypeWork<'c> {
    fn new(
        sample: &Sample<'c>,
        joined: &'c JoinedLabels,
        query: &Query,
        texts: &mut SharedTexts<'c>,
    ) -> Self {
        let columns = sample.columns();
        let keys = query.keys.iter();
        let mut keys: Vec<Source> = keys.map(|key| source(columns, joined, key)).collect();
        let of_columns = columns.names().take(MAX_COLUMNS).enumerate();
        let of_columns = of_columns.map(|(column, name)| (name, Source::Column(column)));
        let of_events = joined.names().iter().enumerate();
        let of_events = of_events.map(|(label, name)| (name, Source::Joined(label)));
        let labels = of_columns.chain(of_events);
        let labels = labels.map(|(name, source)| (texts.name(name), source));
        let labels: Vec<(Arc<str>, Source)> = labels.collect();
        let mut attribute_keys: Vec<Arc<str>> = Vec::new();
        if query.every_attribute {
            for (name, source) in &labels {
                // Of columns with one name the first has it, as for `source`.
                if !attribute_keys.contains(name) {
                    attribute_keys.push(name.clone());
                    keys.push(*source);
                }
            }
        }
        Self {
            columns,
            keys,
            attribute_keys,
            labels,
            moments: query.moments,
            terms: query
                .filter
                .terms
                .iter()
                .map(|term| source(columns, joined, &term.key))
                .collect(),
            total: Sum::default(),
            not_java: Default::default(),
            groups: HashMap::new(),
            numbers: Vec::new(),
            group_sums: Vec::new(),
            stack_sums: HashMap::new(),
            attributes: HashMap::new(),
            name: texts.name(&sample.ty().name),
            is_execution: &*sample.ty().name == EXECUTION,
            last_state: (None, false),
            last: None,
        }
    }

    /// How many attribute columns are read.
    fn column_count(&self) -> usize {
        self.columns.names().len().min(MAX_COLUMNS)
    }

    /// Whether it is no sample of CPU time.
    fn is_sleeping(&mut self, sample: &Sample<'_>) -> bool {
        let state = sample.state_entry();
        if state != self.last_state.0 {
            let is_sleeping = self.is_execution && sample.state() == Some(SLEEPING);
            self.last_state = (state, is_sleeping);
        }
        self.last_state.1
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

    /// The number of the group that the sample at hand belongs to, by its numbers and kind.
    fn group(
        &mut self,
        labelled: &LabelledSample<'_, 'c>,
        vm_kind: Option<VmThreadKind>,
        texts: &mut SharedTexts<'c>,
    ) -> u32 {
        if let Some(&group) = self.groups.get(&*self.numbers) {
            return group;
        }
        let text = |&source: &Source| value(labelled, source).map(|text| texts.value(text));
        let values = self.keys.iter().map(text).collect();
        let group = u32::try_from(self.group_sums.len()).unwrap_or(u32::MAX);
        let key = GroupKey { values, vm_kind };
        self.group_sums.push((key, Sum::default()));
        self.groups.insert(self.numbers.as_slice().into(), group);
        group
    }

    fn add(
        &mut self,
        labelled: &LabelledSample<'_, 'c>,
        measured: u64,
        stack: Option<u32>,
        pauses: &Pauses<'_>,
        texts: &mut SharedTexts<'c>,
    ) {
        let sample = labelled.sample;
        let sum = Sum {
            samples: 1,
            weight: sample.weight,
            value: measured,
            value_squares: self.square(sample, measured),
        };
        self.total.add(&sum);
        let keys = self.keys.iter();
        let numbers = keys.map(|&source| value_number(labelled, source).unwrap_or(NO_VALUE));
        self.numbers.clear();
        self.numbers.extend(numbers);
        // A label of any name tells that it is a thread that can have one, so that coverage is the
        // same whatever the keys are.
        let is_unlabelled = self.numbers.iter().all(|&number| number == NO_VALUE)
            && !labelled.has_label(self.column_count());
        let vm_kind = if is_unlabelled {
            vm_kind_of(sample, pauses)
        } else {
            None
        };
        if let Some(vm_kind) = vm_kind {
            self.not_java[vm_kind as usize].add(&sum);
        }
        let kind_number = vm_kind.map_or(NO_VALUE, |vm_kind| vm_kind as u32);
        self.numbers.push(kind_number);
        let group = self.group(labelled, vm_kind, texts);
        self.group_sums[group as usize].1.add(&sum);
        if let Some(stack) = stack {
            let of_stack = self.stack_sums.entry(GroupStack::new(group, stack));
            let of_stack = of_stack.or_default();
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
        for (place, &(_, source)) in self.labels.iter().enumerate() {
            if let Some(number) = value_number(labelled, source) {
                let (set, _) = self.attributes.entry((place, number)).or_insert_with(|| {
                    let value = value(labelled, source).unwrap_or_default();
                    (Sum::default(), texts.value(value))
                });
                set.add(&sum);
            }
        }
    }

    fn finish(self) -> (Arc<str>, ChunkTypeSums) {
        let attributes = self.attributes.into_iter();
        let attributes =
            attributes.map(|((place, _), (sum, value))| (self.labels[place].0.clone(), value, sum));
        let attributes = attributes.collect();
        let labels = self.labels.into_iter();
        let described = labels.filter(|(_, source)| match source {
            Source::Column(column) => self.columns.is_described(*column),
            _ => true,
        });
        let described = described.map(|(name, _)| name).collect();
        let groups = self.group_sums.into_iter();
        let mut groups: Vec<ChunkGroup> = groups.map(|(key, sum)| (key, sum, Vec::new())).collect();
        for (key, sum) in self.stack_sums {
            groups[key.group()].2.push((key.stack(), sum));
        }
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
