//! Recordings of one process by two recorders: what another one sampled while ours ran does not
//! count beside ours, else one CPU usage, allocation or wait would count twice.
//!
//! Each kind of samples stands for itself: one that ours does not have counts from any recorder.

use std::sync::{Mutex, PoisonError};

use ctxagent_events::CONTEXT_EVENT;
use jfr_format::read::{ParsedChunk, Sample, Type, is_execution_sample};

use super::query::Query;
use super::scope_clock::Process;
use super::scopes::joined;
use crate::filter::{ALLOCATIONS, EXECUTION, Events, Unit, matches_type};

const WALL: &str = "profiler.WallClockSample";
/// The events of ours that samples of another recorder can repeat, one for each kind.
const KINDS: [&str; 6] = [
    EXECUTION,
    WALL,
    ALLOCATIONS[0],
    "jdk.JavaMonitorEnter",
    "jdk.ThreadPark",
    "jdk.JavaExceptionThrow",
];

/// The event of ours that has what samples of this type have, in a query with this unit.
fn kind_of(ty: &Type, unit: Unit) -> Option<usize> {
    let name = match &*ty.name {
        // Of a recording of wall-clock time, see `is_of_wall_time`.
        EXECUTION if unit == Unit::Wall => WALL,
        name if ALLOCATIONS.contains(&name) => ALLOCATIONS[0],
        _ if is_execution_sample(ty) => EXECUTION,
        name => name,
    };
    KINDS.iter().position(|kind| *kind == name)
}

/// A chunk, and who made it.
#[derive(Debug)]
struct Origin {
    file: usize,
    process: Process,
    span: (i64, i64),
    /// Whether it has each of [`KINDS`]; `None` if another recorder made it.
    own_kinds: Option<[bool; KINDS.len()]>,
}

impl Origin {
    /// `None` if nothing tells the process.
    fn of(file: usize, chunk: &ParsedChunk<'_>) -> Option<Self> {
        let header = chunk.header();
        let length = header.duration_nanos.max(0);
        let has = |name: &str| chunk.events_named(name).next().is_some();
        Some(Self {
            file,
            process: Process::of(chunk)?,
            span: (
                header.start_nanos,
                header.start_nanos.saturating_add(length),
            ),
            own_kinds: is_ours(chunk).then(|| KINDS.map(has)),
        })
    }
}

fn is_ours(chunk: &ParsedChunk<'_>) -> bool {
    chunk.metadata().index_of_name(CONTEXT_EVENT.name).is_some()
}

/// Who made the chunks that a pass reads.
#[derive(Debug, Default)]
pub(super) struct RecorderSearch(Mutex<Vec<Origin>>);

impl RecorderSearch {
    pub(super) fn add(&self, file: usize, chunk: &ParsedChunk<'_>) {
        let Some(origin) = Origin::of(file, chunk) else {
            return;
        };
        let chunks = self.0.lock();
        chunks.unwrap_or_else(PoisonError::into_inner).push(origin);
    }

    /// When ours recorded; `None` if no other recorder did then.
    pub(super) fn into_own_times(self) -> Option<OwnTimes> {
        let chunks = self.0.into_inner();
        let chunks = chunks.unwrap_or_else(PoisonError::into_inner);
        let times = OwnTimes::of(&chunks);
        let is_repeated = |chunk: &Origin| {
            let kinds = times.of_process(chunk.process);
            let mut spans = kinds.into_iter().flatten().flatten();
            spans.any(|span| span.0 <= chunk.span.1 && chunk.span.0 <= span.1)
        };
        let mut others = chunks.iter().filter(|chunk| chunk.own_kinds.is_none());
        others.any(is_repeated).then_some(times)
    }
}

/// Stretches of time for each of [`KINDS`], in their order.
type SpansByKind = [Vec<(i64, i64)>; KINDS.len()];

/// When our recordings had each kind of samples: by process, in their order.
#[derive(Debug, Default)]
pub(super) struct OwnTimes(Vec<(Process, SpansByKind)>);

impl OwnTimes {
    fn of(chunks: &[Origin]) -> Self {
        let own = chunks.iter().filter(|chunk| chunk.own_kinds.is_some());
        let mut own: Vec<&Origin> = own.collect();
        own.sort_by_key(|chunk| chunk.process.order());
        let processes = own.chunk_by_mut(|a, b| a.process == b.process);
        let times = processes.map(|chunks| (chunks[0].process, spans_of(chunks)));
        Self(times.collect())
    }

    fn of_process(&self, process: Process) -> Option<&SpansByKind> {
        let first = self
            .0
            .partition_point(|(known, _)| known.is_before_any(process));
        let (known, kinds) = self.0.get(first)?;
        known.may_be(process).then_some(kinds)
    }

    /// What samples of a type in a chunk must not repeat, if a query wants both.
    pub(super) fn beside(
        &self,
        chunk: &ParsedChunk<'_>,
        ty: &Type,
        query: &Query,
    ) -> &[(i64, i64)] {
        let spans = || {
            let kind = kind_of(ty, query.filter.unit()).filter(|_| !is_ours(chunk))?;
            let wants_ours = match &query.filter.events {
                Events::Cpu => KINDS[kind] == EXECUTION,
                Events::Named(names) => names.iter().any(|name| matches_type(KINDS[kind], name)),
            };
            let kinds = self.of_process(Process::of(chunk)?)?;
            wants_ours.then(|| &*kinds[kind])
        };
        spans().unwrap_or_default()
    }
}

/// When the files of a process have each kind.
fn spans_of(chunks: &mut [&Origin]) -> SpansByKind {
    chunks.sort_by_key(|chunk| chunk.file);
    let mut all = SpansByKind::default();
    for of_file in chunks.chunk_by(|a, b| a.file == b.file) {
        for (kind, spans) in all.iter_mut().enumerate() {
            // One chunk that has it is enough: an idle process has no sample in some.
            let mut kinds = of_file.iter().filter_map(|chunk| chunk.own_kinds);
            if kinds.any(|kinds| kinds[kind]) {
                spans.extend(of_file.iter().map(|chunk| chunk.span));
            }
        }
    }
    all.map(joined)
}

/// Whether a sample's time lies in one of the spans.
pub(super) fn is_in(sample: &Sample<'_>, spans: &[(i64, i64)]) -> bool {
    let at = sample.start_nanos;
    let next = spans.partition_point(|span| span.0 <= at);
    next.checked_sub(1).is_some_and(|last| at <= spans[last].1)
}
