//! The counters of a recording: `ctxagent.Stats` of each chunk, added up by file.

use std::collections::BTreeMap;

use ctxagent_events::{Reports as _, STATS, Stat};
use jfr_format::chunk::FLAG_FINAL;
use jfr_format::read::{ActiveSetting, ParsedChunk};
use schema::counter::{Class, Counter};

use super::interval::interval_nanos;
use crate::filter::Unit;

/// The counters of a chunk, and how far they reach.
#[derive(Debug, Default, Clone)]
pub(crate) struct ChunkStats {
    pub(crate) stats: Vec<Stat>,
    /// How long the chunk goes on behind its last counters, if there are samples there.
    pub(crate) unknown_nanos: Option<u64>,
    /// Whether the file was finished with this chunk.
    pub(crate) is_last: bool,
    /// Whether a rate limit makes samples weigh for others that are left out.
    pub(crate) is_rate_limited: bool,
    /// The interval of CPU samples, where the chunk has it.
    pub(crate) interval_nanos: Option<u64>,
}

impl ChunkStats {
    pub(super) fn of(chunk: &ParsedChunk<'_>, settings: &[ActiveSetting]) -> Self {
        Self {
            stats: chunk.stats(),
            unknown_nanos: unknown_nanos(chunk),
            is_last: chunk.header().flags & FLAG_FINAL != 0,
            is_rate_limited: settings.iter().any(|setting| setting.name == "ratelimit"),
            interval_nanos: interval_nanos(settings, Unit::Cpu),
        }
    }
}

/// How long one of our chunks goes on behind its last counters; `None` where no sample follows
/// them.
fn unknown_nanos(chunk: &ParsedChunk<'_>) -> Option<u64> {
    let metadata = chunk.metadata();
    let counters = metadata.index_of_name(STATS.name)?;
    let last_of = |index| chunk.event_offsets(index).last();
    let last_counters = last_of(counters);
    let types = metadata.types().iter();
    let samples = types.filter(|ty| ty.is_event() && ty.field_position("stackTrace").is_some());
    let mut samples = samples.filter_map(|ty| metadata.index_of(ty.id));
    let is_open = samples.any(|index| last_of(index) > last_counters);
    let header = chunk.header();
    let starts = chunk.events_named(STATS.name);
    let from = starts.filter_map(|event| event.start_nanos()).last();
    let from = from.unwrap_or(header.start_nanos);
    let end = header
        .start_nanos
        .saturating_add(header.duration_nanos.max(0));
    is_open.then(|| end.saturating_sub(from).max(0).unsigned_abs())
}

/// The counters of all chunks, in file order.
#[derive(Debug, Default)]
pub(crate) struct FileCounters {
    by_file: BTreeMap<usize, FileTotals>,
    pub(crate) is_rate_limited: bool,
}

/// The counters of a file.
#[derive(Debug, Default)]
pub(crate) struct FileTotals {
    by_name: BTreeMap<String, Total>,
    /// How long the file goes on behind its last counters.
    pub(crate) unknown_nanos: Option<u64>,
    /// Whether the file was finished.
    pub(crate) is_finished: bool,
    /// The interval of CPU samples.
    pub(crate) interval_nanos: Option<u64>,
}

impl FileTotals {
    /// All counters by name, also those that this version does not know.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        let totals = self.by_name.iter();
        totals.map(|(name, total)| (name.as_str(), total.total()))
    }

    /// A counter; 0 if the file does not have it.
    pub(crate) fn get(&self, counter: Counter) -> i64 {
        self.by_name.get(counter.name()).map_or(0, Total::total)
    }
}

/// A counter in a file.
#[derive(Debug, Default)]
struct Total {
    /// Of recordings in this file that have ended: a file may be several, joined.
    ended: i64,
    /// Last total of the current recording.
    last: i64,
}

impl Total {
    fn total(&self) -> i64 {
        self.ended.saturating_add(self.last)
    }
}

impl FileCounters {
    /// Adds the counters of a chunk; chunks of a file come in their order.
    pub(crate) fn add(&mut self, file: usize, chunk: ChunkStats) {
        self.is_rate_limited |= chunk.is_rate_limited;
        let of_file = self.by_file.entry(file).or_default();
        of_file.unknown_nanos = chunk.unknown_nanos;
        of_file.is_finished = chunk.is_last;
        of_file.interval_nanos = chunk.interval_nanos.or(of_file.interval_nanos);
        for Stat { name, value, total } in chunk.stats {
            let counter = Counter::from_name(&name);
            let is_gauge = counter.is_some_and(|counter| counter.class() == Class::Gauge);
            let counter = of_file.by_name.entry(name).or_default();
            // Within a recording totals only grow, and one that has just grown from 0 was 0.
            if !is_gauge && (total < counter.last || (total == value && counter.last != 0)) {
                counter.ended = counter.ended.saturating_add(counter.last);
            }
            counter.last = total;
        }
    }

    /// The files, in their order.
    pub(crate) fn files(&self) -> impl Iterator<Item = &FileTotals> {
        self.by_file.values()
    }
}
