//! One chunk's samples, summed with its own numbers for stacks and frames.

use std::sync::Arc;

use hashbrown::HashMap;
use jfr_format::read::{ActiveSetting, ParsedChunk, Sample, Type, TypeIndex};

use super::counters::ChunkStats;
use super::interval::{FALLBACK_INTERVAL_NANOS, interval_nanos};
use super::joined::JoinedLabels;
use super::labelled::LabelledSample;
use super::late::LateLabels;
use super::pauses::Pauses;
use super::process::ProcessFacts;
use super::query::Query;
use super::recorders::{OwnTimes, is_in};
use super::scopes::ScopeIndex;
use super::sources::{value, value_number, wants_thread_of};
use super::stacks::{FrameName, StackList, StackNumbers};
use super::terms::ChunkTerm;
use super::thread_names::ThreadNames;
use super::type_work::{ChunkTypeSums, TypeWork};
use crate::filter::{EXECUTION, Events, Unit};
use crate::shared::SharedTexts;

/// Sums of one chunk, with its own frame and stack numbers.
pub(crate) struct ChunkSums {
    pub(super) file: usize,
    pub(super) types: Vec<(Arc<str>, ChunkTypeSums)>,
    pub(super) frames: Vec<FrameName>,
    pub(super) stacks: StackList,
    pub(super) stats: ChunkStats,
    /// Samples of sleeping threads, which are not CPU time.
    pub(super) sleeping: u64,
    /// Samples of another recorder of what ours has, too.
    pub(super) repeated: u64,
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

/// Whether a recording is one of wall-clock time by `jdk.ExecutionSample`, as async-profiler's were
/// before it had an event of its own for that.
fn is_of_wall_time(settings: &[ActiveSetting]) -> bool {
    settings
        .iter()
        .any(|setting| setting.name == "event" && setting.value == "wall")
}

/// What a chunk's sums depend on outside of it.
#[derive(Default)]
pub(super) struct OtherChunks {
    pub(super) scopes: Option<Arc<ScopeIndex>>,
    pub(super) own_times: Option<OwnTimes>,
}

/// What all queries need of a chunk.
struct ChunkFacts<'c> {
    settings: Vec<ActiveSetting>,
    stats: ChunkStats,
    pauses: Pauses<'c>,
    late: LateLabels<'c>,
    joined: JoinedLabels,
    own_times: Option<&'c OwnTimes>,
}

impl<'c> ChunkFacts<'c> {
    fn of(chunk: &'c ParsedChunk<'c>, others: &'c OtherChunks) -> Self {
        let settings = chunk.settings();
        Self {
            stats: ChunkStats::of(chunk, &settings),
            settings,
            pauses: Pauses::of(chunk),
            late: LateLabels::of(chunk),
            joined: JoinedLabels::of(chunk, others.scopes.as_ref()),
            own_times: others.own_times.as_ref(),
        }
    }
}

/// The sums of a chunk, one for each query.
pub(super) fn collect_chunk_each(
    file: usize,
    chunk: &ParsedChunk<'_>,
    queries: &[Query],
    others: &OtherChunks,
) -> Vec<ChunkSums> {
    collect_each_from(Start::of(chunk), file, chunk, queries, others)
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
    let queries = std::slice::from_ref(query);
    let mut sums = collect_each_from(start, file, chunk, queries, &OtherChunks::default());
    sums.swap_remove(0)
}

/// One pass over the samples, whatever the number of queries.
fn collect_each_from(
    start: Start,
    file: usize,
    chunk: &ParsedChunk<'_>,
    queries: &[Query],
    others: &OtherChunks,
) -> Vec<ChunkSums> {
    let facts = ChunkFacts::of(chunk, others);
    let collectors = queries.iter();
    let collectors = collectors.map(|query| Collector::new(start, file, chunk, &facts, query));
    let mut collectors: Vec<Collector<'_>> = collectors.collect();
    let wants = |ty: &Type| collectors.iter().any(|collector| collector.wants(ty));
    let mut samples = chunk.samples(wants);
    let mut joined_values = Vec::new();
    let names_threads = queries.iter().any(Query::names_threads);
    let mut thread_names = ThreadNames::default();
    // What cannot be read is among the chunk's damages.
    while let Some(sample) = samples.next_readable() {
        if sample.offset >= start.offset {
            facts.joined.join(sample, &mut joined_values);
            let labelled = LabelledSample {
                sample,
                thread_name: names_threads.then(|| thread_names.number(sample)).flatten(),
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
    chunk: &'c ParsedChunk<'c>,
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
            repeated: 0,
            is_of_wall_time,
            interval_nanos: interval,
            interval_guessed: false,
            first_nanos: start.nanos.max(*query.filter.span().start()),
            last_nanos: end.min(query.filter.span().end().saturating_add(1)),
            sample_types,
            process: ProcessFacts::of(chunk),
            samples_seen: 0,
            terms: terms.map(|_| ChunkTerm::default()).collect(),
        };
        Self {
            query,
            facts,
            chunk,
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
                let mut work = TypeWork::new(sample, joined, self.query, &mut self.texts);
                if let Some(own_times) = self.facts.own_times {
                    work.repeats = own_times.beside(self.chunk, sample.ty(), self.query);
                }
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
        if !self.query.filter.span().contains(&sample.start_nanos) {
            return;
        }
        let Self {
            query, facts, sums, ..
        } = self;
        let work = &mut self.types[place];
        if is_in(sample, work.repeats) {
            sums.repeated += 1;
            return;
        }
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
        (Unit::Lock, _) => {
            let nanos = sample.duration_nanos.unwrap_or(0).max(0);
            nanos.unsigned_abs().saturating_mul(weight)
        }
        (_, Some(period)) => period.max(0).unsigned_abs(),
        (_, None) => weight.saturating_mul(interval.unwrap_or(FALLBACK_INTERVAL_NANOS)),
    }
}
