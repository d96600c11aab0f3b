//! The sums of all chunks, merged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use jfr_format::read::ParsedChunk;

use super::chunk::{ChunkSums, OtherChunks, collect_chunk_each};
use super::counters::FileCounters;
use super::process::ProcessFacts;
use super::query::{ATTRIBUTE_PREFIX, BUILT_IN, Query, key_of};
use super::recorders::RecorderSearch;
use super::scopes::ScopeSearch;
use super::stacks::{FrameName, StackList, StackTable};
use super::sums::{Sum, TypeSums, Values, add_all};
use super::terms::Terms;
use super::type_work::ChunkGroup;
use crate::filter::{ALLOCATIONS, EXECUTION, Events, Filter, glob_match, matches_type};
use crate::input::{self, Outcome};
use crate::output::{self, Failure, Output};
use crate::text;

/// Everything a pass gives.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) outcome: Outcome,
    /// By file and event type.
    pub(crate) types: BTreeMap<usize, BTreeMap<Arc<str>, TypeSums>>,
    pub(crate) frames: Vec<FrameName>,
    frame_places: HashMap<FrameName, u32>,
    stacks: StackTable,
    /// Names of the attributes whose values the groups have behind those of the query's keys, if it
    /// wants every attribute. A group's values may end before.
    pub(crate) attribute_keys: Vec<Arc<str>>,
    texts: HashSet<Arc<str>>,
    pub(crate) counters: FileCounters,
    /// Sampling interval, if the recording has it.
    pub(crate) interval_nanos: Option<u64>,
    /// Whether a chunk with samples has no interval.
    pub(crate) interval_guessed: bool,
    /// First and last moment of each chunk.
    spans: Vec<(i64, i64)>,
    /// Samples of sleeping threads that were left out of the CPU time.
    pub(crate) sleeping: u64,
    is_of_wall_time: bool,
    /// Samples of other recorders of what ours has, too.
    repeated: u64,
    /// Samples `jdk.CPUTimeSample` that were left out of the CPU time of files with
    /// `jdk.ExecutionSample`.
    second_kind: u64,
    /// Whether there was a sample of a wanted type, passing or not.
    pub(crate) types_seen: bool,
    /// What each `--where` makes of the samples.
    pub(crate) terms: Terms,
    /// Names of event types that the files declare and that have a stack.
    pub(crate) sample_types: BTreeSet<Arc<str>>,
    /// What the recording says about its process.
    pub(crate) process: ProcessFacts,
}

impl Collected {
    /// The sums of the event types that count, as one. A recording can hold one CPU usage, or one
    /// allocation, twice, by two kinds of samples: then one kind counts, which is decided for each
    /// file.
    pub(crate) fn into_total(mut self, filter: &Filter) -> (TypeSums, Vec<String>, Self) {
        let samples = |types: &BTreeMap<Arc<str>, TypeSums>, name: &str| {
            types.get(name).map_or(0, |sums| sums.total.samples)
        };
        let wants_cpu = matches!(filter.events, Events::Cpu);
        let wants_allocations =
            matches!(&filter.events, Events::Named(names) if *names == ALLOCATIONS);
        let mut total = TypeSums::default();
        let mut names = BTreeSet::new();
        for mut types in std::mem::take(&mut self.types).into_values() {
            if wants_cpu
                && samples(&types, EXECUTION) > 0
                && samples(&types, "jdk.CPUTimeSample") > 0
            {
                self.second_kind += samples(&types, "jdk.CPUTimeSample");
                types.remove("jdk.CPUTimeSample");
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
        let names = names.iter().map(ToString::to_string).collect();
        (total, names, self)
    }

    /// Remarks on the samples that were left out of what [`into_total`](Self::into_total) gave, for
    /// commands with `--event`.
    pub(crate) fn warn_left_out(&self) {
        warn_repeated(std::slice::from_ref(self));
        if self.second_kind > 0 {
            output::warn(
                "the recording holds jdk.ExecutionSample and jdk.CPUTimeSample; the first is used, --event jdk.CPUTimeSample takes the other",
            );
        }
        if self.sleeping > 0 {
            let event = if self.is_of_wall_time {
                "wall"
            } else {
                EXECUTION
            };
            output::warn(&format!(
                "left out, as it is not CPU time: {} of sleeping threads ({EXECUTION}); --event {event} counts them",
                text::count(self.sleeping, "sample")
            ));
        }
    }

    /// Nanoseconds that at least one chunk covers.
    pub(crate) fn covered_nanos(&self) -> u64 {
        union_nanos(self.spans.clone())
    }

    /// First and last moment covered.
    pub(crate) fn span_nanos(&self) -> Option<(i64, i64)> {
        let last = self.spans.iter().map(|&(_, last)| last).max();
        self.first_nanos().zip(last)
    }

    /// The first moment covered.
    pub(crate) fn first_nanos(&self) -> Option<i64> {
        self.spans.iter().map(|&(first, _)| first).min()
    }

    /// The stacks, as places in [`Self::frames`].
    pub(crate) fn stacks(&self) -> &StackList {
        &self.stacks.list
    }

    /// The same, to keep.
    pub(crate) fn take_stacks(&mut self) -> StackList {
        std::mem::take(&mut self.stacks).list
    }

    fn text(&mut self, text: Arc<str>) -> Arc<str> {
        if let Some(known) = self.texts.get(&text) {
            return known.clone();
        }
        self.texts.insert(text.clone());
        text
    }

    fn attribute_place(&mut self, name: &Arc<str>) -> usize {
        let known = self.attribute_keys.iter().position(|key| key == name);
        known.unwrap_or_else(|| {
            let name = self.text(name.clone());
            self.attribute_keys.push(name);
            self.attribute_keys.len() - 1
        })
    }

    pub(crate) fn merge(&mut self, chunk: ChunkSums) {
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
        let mut stack_frames: Vec<u32> = Vec::new();
        let stacks = chunk.stacks.iter().map(|stack| {
            stack_frames.clear();
            stack_frames.extend(stack.iter().map(|&frame| frames[frame as usize]));
            self.stacks.number(&stack_frames)
        });
        let stacks: Vec<u32> = stacks.collect();
        self.types_seen |= !chunk.types.is_empty();
        for (name, sums) in chunk.types {
            let places: Vec<usize> = sums
                .attribute_keys
                .iter()
                .map(|name| self.attribute_place(name))
                .collect();
            let groups: Vec<ChunkGroup> = sums
                .groups
                .into_iter()
                .map(|(mut key, sum, stacks)| {
                    for value in key.values.iter_mut().flatten() {
                        *value = self.text(value.clone());
                    }
                    rearrange(&mut key.values, &places);
                    (key, sum, stacks)
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
            for (key, sum, by_stack) in groups {
                let group = into.groups.entry(key).or_default();
                group.0.add(&sum);
                for (stack, sum) in by_stack {
                    let stack = group.1.by_stack.entry(stacks[stack as usize]);
                    stack.or_default().add(sum);
                }
            }
            for name in sums.described.into_iter().chain(sums.attribute_keys) {
                into.attributes.entry(name).or_default();
            }
            for (name, value, sum) in attributes {
                let attribute = into.attributes.entry(name).or_default();
                attribute.set.add(&sum);
                attribute.values.entry(value).or_default().add(&sum);
            }
        }
        self.terms.add(chunk.samples_seen, chunk.terms);
        self.counters.add(chunk.file, chunk.stats);
        self.sleeping += chunk.sleeping;
        self.repeated += chunk.repeated;
        self.is_of_wall_time |= chunk.is_of_wall_time;
        self.interval_nanos = self.interval_nanos.or(chunk.interval_nanos);
        self.interval_guessed |= chunk.interval_guessed;
        if chunk.first_nanos <= chunk.last_nanos {
            self.spans.push((chunk.first_nanos, chunk.last_nanos));
        }
        self.sample_types.extend(chunk.sample_types);
        self.process.merge(chunk.process);
    }
}

/// Reads the files and sums up.
pub(crate) fn collect(
    files: &[PathBuf],
    query: &Query,
    output: &Output,
) -> Result<Collected, Failure> {
    let (mut all, outcome) = collect_each(files, std::slice::from_ref(query), output)?;
    let mut collected = all.pop().unwrap_or_default();
    collected.outcome = outcome;
    // Damage may be why something is not there.
    collected.check(query, files).inspect_err(|_| {
        collected.outcome.warn_damages();
    })?;
    Ok(collected)
}

/// Says in one line what was left out, as our recordings have it, too.
pub(crate) fn warn_repeated(all: &[Collected]) {
    let repeated = all.iter().map(|collected| collected.repeated).sum();
    if repeated > 0 {
        output::warn(&format!(
            "left out: {} of another recorder, as ctxagent recorded the same of this process then",
            text::count(repeated, "sample")
        ));
    }
}

/// Sums up for each of the queries, without a check that they make sense. Reads the files once, and
/// again if they have scopes that label other events, or two recorders had one process.
pub(crate) fn collect_each(
    files: &[PathBuf],
    queries: &[Query],
    output: &Output,
) -> Result<(Vec<Collected>, Outcome), Failure> {
    let search = ScopeSearch::new(files, queries);
    let recorders = RecorderSearch::default();
    let collected = pass(files, queries, output, |file, chunk| {
        recorders.add(file, chunk);
        if search.add(file, chunk) {
            return Vec::new(); // there will be another pass
        }
        collect_chunk_each(file, chunk, queries, &OtherChunks::default())
    })?;
    let own_times = recorders.into_own_times();
    let has_scopes = search.has_found();
    if own_times.is_none() && !has_scopes {
        return Ok(collected);
    }
    if files.iter().any(|file| input::is_stdin(file)) {
        output::warn(
            "two recorders had this process, so its CPU time, allocations and waits may count twice; stdin cannot be read again, give the file",
        );
        return Ok(collected);
    }
    let scopes = has_scopes
        .then(|| search.into_index(&collected.1))
        .flatten();
    let others = OtherChunks {
        scopes: scopes.map(Arc::new),
        own_times,
    };
    pass(files, queries, output, |file, chunk| {
        collect_chunk_each(file, chunk, queries, &others)
    })
}

/// Reads the files and merges what `work` gives for each chunk.
fn pass(
    files: &[PathBuf],
    queries: &[Query],
    output: &Output,
    work: impl Fn(usize, &ParsedChunk<'_>) -> Vec<ChunkSums> + Sync,
) -> Result<(Vec<Collected>, Outcome), Failure> {
    let mut all: Vec<Collected> = queries.iter().map(|_| Collected::default()).collect();
    let outcome = input::for_each_chunk(files, output, work, |sums| {
        for (collected, sums) in all.iter_mut().zip(sums) {
            collected.merge(sums);
        }
    })?;
    Ok((all, outcome))
}

impl Collected {
    /// Fails if the query names an event type or a key that the files do not have.
    pub(crate) fn check(&self, query: &Query, files: &[PathBuf]) -> Result<(), Failure> {
        let is_declared = |names: &[String]| {
            let mut types = self.sample_types.iter();
            types.any(|ty| names.iter().any(|name| matches_type(ty, name)))
        };
        if let Events::Named(names) = &query.filter.events
            && !self.types_seen
            && !is_declared(names)
        {
            let known: Vec<&str> = self.sample_types.iter().map(|ty| &**ty).collect();
            return Err(Failure::Finding(format!(
                "no event type '{}' with a stack; there are: {}",
                names.join(", "),
                known.join(", ")
            )));
        }
        // Without samples nothing can be said about names.
        if !self.types_seen {
            return Ok(());
        }
        let terms = query.filter.terms.iter().map(|term| &term.key);
        let mut keys = query.keys.iter().chain(terms);
        keys.try_for_each(|key| self.check_key(key, files))
    }

    /// A key that no chunk knows is a mistake worth an error, not an empty table.
    fn check_key(&self, key: &str, files: &[PathBuf]) -> Result<(), Failure> {
        let mut known: Vec<&str> = self
            .types
            .values()
            .flat_map(BTreeMap::values)
            .flat_map(|sums| &sums.attributes)
            .map(|(name, _)| &**name)
            .collect();
        if BUILT_IN.contains(&key) {
            if known.contains(&key) {
                output::warn(&format!(
                    "'{key}' is the {key} of the sample; the attribute of that name is '{}'",
                    key_of(key)
                ));
            }
            return Ok(());
        }
        let attribute = key.strip_prefix(ATTRIBUTE_PREFIX).unwrap_or(key);
        if known.contains(&attribute) || known.contains(&key) {
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
            .find(|name| glob_match(name, &format!("*{key}*")) || key.contains(**name));
        let hint = near.map_or_else(
            || ";".to_owned(),
            |name| format!("; did you mean '{name}'?"),
        );
        Err(Failure::Finding(format!(
            "no attribute '{key}' in {file}{hint} there are: {}; and {}",
            known
                .iter()
                .map(|name| key_of(name))
                .collect::<Vec<_>>()
                .join(", "),
            BUILT_IN.join(", ")
        )))
    }
}

/// Puts the last values, which are those of a chunk's attributes, at the places that the attributes
/// have in all chunks.
fn rearrange(values: &mut Values, places: &[usize]) {
    if places.is_empty() {
        return;
    }
    let of_attributes = values.split_off(values.len() - places.len());
    let keys = values.len();
    for (value, place) in of_attributes.into_iter().zip(places) {
        if value.is_some() {
            let len = values.len().max(keys + place + 1);
            values.resize(len, None);
            values[keys + place] = value;
        }
    }
}

/// Length of what the spans cover together.
fn union_nanos(mut spans: Vec<(i64, i64)>) -> u64 {
    spans.sort_unstable();
    let mut covered = 0u64;
    let mut reached = i64::MIN;
    for (first, last) in spans {
        let from = first.max(reached);
        let more = last.saturating_sub(from).max(0).unsigned_abs();
        covered = covered.saturating_add(more);
        reached = reached.max(last);
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spans_cover_is_counted_once_and_gaps_are_not() {
        assert_eq!(union_nanos(vec![]), 0);
        assert_eq!(union_nanos(vec![(5, 8), (0, 3), (2, 4), (2, 3)]), 7);
        assert_eq!(union_nanos(vec![(3, 1), (0, 2), (2, 2)]), 2);
        assert_eq!(
            union_nanos(vec![(i64::MIN, 0), (0, i64::MAX)]),
            i64::MAX.unsigned_abs() * 2
        );
    }
}
