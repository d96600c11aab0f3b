//! Labels of events that have no attribute columns, like those of the JDK, from scopes of the Java
//! API (`ctxagent.Scope`): an event has the values of the scope that its thread had open meanwhile. The
//! scopes may be in another file of the same JVM.
//!
//! Rule: never a guess. Where no scope covers an event, or a value may have changed unseen, the
//! value is [`UNKNOWN`].

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ctxagent_events::SCOPE;
use hashbrown::HashMap;
use jfr_format::read::{ParsedChunk, Sample};

use super::query::Query;
use super::scope_clock::{ClockPair, JdkClock, Process, Reach, span};
use crate::filter::Events;
use crate::input::{self, Outcome};
use crate::shared::{MAX_COLUMNS, cut};

/// The value of an attribute that is not known for certain.
pub(crate) const UNKNOWN: &str = "(unknown)";
/// Attributes of a scope.
const SLOTS: usize = 8;
/// All of them, a bit each.
const ALL: u8 = 0xff;
/// Scopes that are asked for one event, from the innermost on.
const MAX_DEPTH: usize = 64;
/// Chunks that are further apart than this do not follow each other.
const MAX_GAP_NANOS: i64 = 500_000_000;
/// Events during which their thread runs no code that could open or close a scope.
const BLOCKING: [&str; 10] = [
    "jdk.FileForce",
    "jdk.FileRead",
    "jdk.FileWrite",
    "jdk.JavaMonitorEnter",
    "jdk.JavaMonitorWait",
    "jdk.SocketRead",
    "jdk.SocketWrite",
    "jdk.ThreadPark",
    "jdk.ThreadSleep",
    "jdk.VirtualThreadPinned",
];

/// Numbers of values by slot; `None`: no value.
type Values = [Option<u32>; SLOTS];

/// A scope, in nanoseconds of the JVM's clock.
#[derive(Debug)]
struct Scope {
    first: i64,
    last: i64,
    /// Slots that it set, and that changed in it unseen.
    slots: u8,
    changed: u8,
    values: Values,
    /// The last one before it that was open when it began.
    outer: Option<usize>,
}

/// The scopes of all files.
#[derive(Debug, Default)]
pub(crate) struct ScopeIndex {
    /// Names of the attributes by slot.
    names: Vec<Arc<str>>,
    /// [`UNKNOWN`] first.
    values: Vec<Arc<str>>,
    /// By slot: whether a scope has a value.
    has_values: [bool; SLOTS],
    by_thread: HashMap<i64, Vec<Scope>>,
    clock: Vec<ClockPair>,
    process: Option<Process>,
}

/// A scope as a chunk has it.
#[derive(Debug)]
struct ChunkScope {
    thread: i64,
    /// Without its values.
    scope: Scope,
    values: Vec<Option<Arc<str>>>,
}

/// What one chunk has.
#[derive(Debug, Default)]
struct ChunkScopes {
    names: Vec<Arc<str>>,
    scopes: Vec<ChunkScope>,
    clock: Vec<ClockPair>,
    process: Option<Process>,
    /// Begin and end of a chunk that may have scopes, on the JVM's clock.
    span: Option<(i64, i64)>,
    /// Scopes that the agent could not write.
    unwritten: bool,
}

impl ChunkScopes {
    fn of(chunk: &ParsedChunk<'_>) -> Self {
        let mut found = Self::default();
        if chunk.metadata().index_of_name(SCOPE.name).is_none() {
            return found;
        }
        for event in chunk.events_named(SCOPE.name) {
            let Ok(Some(sample)) = chunk.sample(&event) else {
                continue;
            };
            let number = |field| event.long(field).ok().flatten();
            let (Some(thread), Some(first), Some(last), Some(slots), Some(changed)) = (
                sample.thread().map(|thread| thread.java_id),
                number("beginNanos"),
                number("endNanos"),
                number("slots"),
                number("changed"),
            ) else {
                continue;
            };
            if found.names.is_empty() {
                let names = sample.columns().names().take(SLOTS);
                found.names = names.map(|name| cut(name).into()).collect();
            }
            let values = (0..SLOTS).map(|slot| sample.value(slot).map(|text| cut(text).into()));
            let values = values.collect();
            let scope = Scope {
                first,
                last,
                slots: low_byte(slots),
                changed: low_byte(changed | changed >> u8::BITS),
                values: Values::default(),
                outer: None,
            };
            found.scopes.push(ChunkScope {
                thread,
                scope,
                values,
            });
        }
        found.clock = ClockPair::all(chunk);
        found.process = Process::of(chunk);
        found.span = span(chunk);
        found.unwritten = chunk.events_named("ctxagent.Stats").any(|event| {
            let name = event.text("name").ok().flatten();
            name.is_some_and(|name| name == "scopes.unwritten")
                && event.long("total").ok().flatten() != Some(0)
        });
        found
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bits"
)]
fn low_byte(bits: i64) -> u8 {
    bits as u8
}

/// Whether events may be wanted that have no columns in any recording of ours.
fn wants_others(query: &Query) -> bool {
    let Events::Named(names) = &query.filter.events else {
        return false;
    };
    let is_ours =
        |name: &String| name.starts_with("profiler.") || name.starts_with("jdk.ObjectAllocation");
    !names.iter().all(is_ours)
}

/// The scopes of the chunks that a pass reads. Most recordings have none: then its sums are whole,
/// and nothing is read twice.
#[derive(Debug, Default)]
pub(crate) struct ScopeSearch {
    is_wanted: bool,
    has_found: AtomicBool,
    /// With file and offset, as threads find them in any order.
    chunks: Mutex<Vec<(usize, u64, ChunkScopes)>>,
}

impl ScopeSearch {
    /// Searches if events may be wanted that have no labels of their own.
    pub(super) fn new(files: &[PathBuf], queries: &[Query]) -> Self {
        let is_readable_twice = !files.iter().any(|file| input::is_stdin(file));
        Self {
            is_wanted: is_readable_twice && queries.iter().any(wants_others),
            ..Self::default()
        }
    }

    /// Searches in any case.
    pub(crate) fn of_all() -> Self {
        Self {
            is_wanted: true,
            ..Self::default()
        }
    }

    /// Takes a chunk's scopes. Returns whether any chunk so far has some.
    pub(crate) fn add(&self, file: usize, chunk: &ParsedChunk<'_>) -> bool {
        if !self.is_wanted {
            return false;
        }
        let found = ChunkScopes::of(chunk);
        if !found.scopes.is_empty() {
            self.has_found.store(true, Ordering::Relaxed); // only saves work
        }
        let chunks = self.chunks.lock();
        let mut chunks = chunks.unwrap_or_else(PoisonError::into_inner);
        chunks.push((file, chunk.offset(), found));
        self.has_found()
    }

    /// Whether the sums need another pass.
    pub(super) fn has_found(&self) -> bool {
        self.has_found.load(Ordering::Relaxed)
    }

    /// The scopes that a pass with this outcome found, if they can be used.
    pub(crate) fn into_index(self, outcome: &Outcome) -> Option<ScopeIndex> {
        let chunks = self.chunks.into_inner();
        let mut chunks = chunks.unwrap_or_else(PoisonError::into_inner);
        chunks.sort_unstable_by_key(|&(file, offset, _)| (file, offset));
        let chunks: Vec<ChunkScopes> = chunks.into_iter().map(|(_, _, found)| found).collect();
        let is_whole = outcome.damages.is_empty() && !chunks.iter().any(|chunk| chunk.unwritten);
        ScopeIndex::of(chunks, is_whole)
    }
}

impl ScopeIndex {
    /// `is_whole`: no scope is missing between those that are there.
    fn of(chunks: Vec<ChunkScopes>, is_whole: bool) -> Option<Self> {
        let mut process = None;
        let mut spans = Vec::new();
        for chunk in chunks.iter().filter(|chunk| chunk.span.is_some()) {
            // Of several JVMs nobody knows whose the other events are.
            if chunk.process.is_none() || process.is_some_and(|it| Some(it) != chunk.process) {
                return None;
            }
            process = chunk.process;
            spans.extend(chunk.span);
        }
        let spans = joined(spans);
        let mut index = Self {
            values: vec![UNKNOWN.into()],
            process: Some(process?),
            ..Self::default()
        };
        let mut numbers: HashMap<Arc<str>, u32> = HashMap::new();
        for chunk in chunks {
            if chunk.names.len() > index.names.len() {
                index.names = chunk.names;
            }
            index.clock.extend(chunk.clock);
            for ChunkScope {
                thread,
                mut scope,
                values,
            } in chunk.scopes
            {
                for (slot, value) in values.into_iter().enumerate() {
                    index.has_values[slot] |= value.is_some();
                    scope.values[slot] = value.map(|value| index.number(&mut numbers, value));
                }
                let is_covered =
                    |&(begin, end): &(i64, i64)| begin <= scope.first && scope.last <= end;
                if !is_whole || !spans.iter().any(is_covered) {
                    scope.changed = ALL;
                }
                index.by_thread.entry(thread).or_default().push(scope);
            }
        }
        index.by_thread.values_mut().for_each(|scopes| nest(scopes));
        index.clock.sort_unstable_by_key(|pair| pair.nanos);
        (!index.by_thread.is_empty()).then_some(index)
    }

    fn number(&mut self, numbers: &mut HashMap<Arc<str>, u32>, value: Arc<str>) -> u32 {
        *numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            u32::try_from(self.values.len() - 1).unwrap_or(0)
        })
    }

    /// Names of the attributes that its scopes can give.
    pub(super) fn names(&self) -> &[Arc<str>] {
        &self.names[..self.names.len().min(MAX_COLUMNS)]
    }

    /// Slots of which a scope has a value, with their names.
    pub(crate) fn slots_with_values(&self) -> impl Iterator<Item = (usize, &Arc<str>)> {
        let slots = self.names().iter().enumerate();
        slots.filter(|&(slot, _)| self.has_values[slot])
    }

    /// Texts of all values.
    pub(crate) fn values(&self) -> &[Arc<str>] {
        &self.values
    }

    /// The clock of a chunk that another recorder of the same JVM wrote.
    pub(crate) fn clock_of(&self, chunk: &ParsedChunk<'_>) -> Option<JdkClock> {
        let is_named = self.process.is_some_and(|it| it.is_named_in(chunk));
        is_named.then(|| JdkClock::new(&self.clock, chunk.header()))?
    }

    /// The values of an event by slot.
    pub(crate) fn values_of(&self, clock: Option<&JdkClock>, sample: &Sample<'_>) -> Values {
        let known = || {
            let first = sample.start_nanos;
            let last = first.saturating_add(sample.duration_nanos.unwrap_or(0).max(0));
            let mut reach = clock?.reach(first, last)?;
            if BLOCKING.contains(&&*sample.ty().name) && last - first > 2 * reach.slack {
                // It is in a scope or not; its middle tells for certain.
                let middle = reach.first.midpoint(reach.last);
                reach = Reach {
                    first: middle,
                    last: middle,
                    slack: 0,
                };
            }
            values_in(self.by_thread.get(&sample.thread()?.java_id)?, reach)
        };
        known().unwrap_or([Some(0); SLOTS])
    }
}

/// What a thread had all the time of an event; `None`: that is not known.
fn values_in(scopes: &[Scope], reach: Reach) -> Option<Values> {
    let Reach { first, last, slack } = reach;
    let begun = scopes.partition_point(|scope| scope.first <= last.saturating_add(slack));
    // Those that begin in its time, and those that were open before.
    let inside = scopes[..begun]
        .iter()
        .rposition(|scope| scope.first < first - slack);
    let open = std::iter::successors(inside, |&place| scopes[place].outer);
    let places = (inside.map_or(0, |place| place + 1)..begun)
        .rev()
        .chain(open);
    let (mut unknown, mut named) = (0, 0);
    let mut values: Option<Values> = None;
    for (depth, scope) in places.map(|place| &scopes[place]).enumerate() {
        if depth >= MAX_DEPTH {
            return None;
        }
        if scope.last < first - slack {
            continue;
        }
        let covers = scope.first + slack <= first && last + slack <= scope.last;
        match &mut values {
            _ if !covers => unknown |= scope.slots | scope.changed,
            None => {
                values = Some(scope.values);
                unknown |= scope.changed;
                named = scope.slots;
            }
            // A scope around it may know a better value by now, as of a request's route.
            Some(values) => {
                for slot in bits(scope.slots & !scope.changed & !named) {
                    values[slot] = scope.values[slot];
                }
                named |= scope.slots;
            }
        }
    }
    let mut values = values?;
    for slot in bits(unknown) {
        values[slot] = Some(0);
    }
    Some(values)
}

fn bits(set: u8) -> impl Iterator<Item = usize> {
    (0..SLOTS).filter(move |slot| set >> slot & 1 != 0)
}

/// Spans of chunks that follow each other as one.
pub(super) fn joined(mut spans: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    spans.sort_unstable();
    let mut all: Vec<(i64, i64)> = Vec::new();
    for (begin, end) in spans {
        match all.last_mut() {
            Some(last) if begin <= last.1.saturating_add(MAX_GAP_NANOS) => last.1 = last.1.max(end),
            _ => all.push((begin, end)),
        }
    }
    all
}

/// Orders the scopes of a thread, and gives each the one around it.
fn nest(scopes: &mut [Scope]) {
    scopes.sort_by_key(|scope| (scope.first, std::cmp::Reverse(scope.last)));
    let mut open: Vec<usize> = Vec::new();
    for place in 0..scopes.len() {
        while open
            .last()
            .is_some_and(|&outer| scopes[outer].last < scopes[place].first)
        {
            open.pop();
        }
        scopes[place].outer = open.last().copied();
        open.push(place);
    }
}

#[cfg(test)]
mod tests;
