//! What `summary` and `check` gather in one pass: events by type, threads, sums of CPU samples.

use std::collections::{BTreeMap, HashSet};

use jfr_format::read::{ParsedChunk, Value, is_execution_sample};

use crate::args::FilesArgs;
use crate::collect::{ChunkSums, Collected, Query, collect_chunk, has_stack};
use crate::filter::Filter;
use crate::input::{self, Outcome};
use crate::output::{Failure, Output};
use crate::shared::cut;
use crate::statistics;
use crate::text;

/// A thread: name, id that the operating system gave, Java id.
type ThreadFacts = (String, i64, i64);

struct ChunkFacts {
    /// Of CPU samples, as `report` and `labels` sum them.
    sums: ChunkSums,
    /// Name: events, bytes.
    types: BTreeMap<String, (u64, u64)>,
    threads: HashSet<ThreadFacts>,
    /// Names that the JDK's tool cannot print.
    findings: Vec<String>,
    /// CPU samples of all types, and those of them without a stack.
    samples: u64,
    stackless: u64,
    /// Sum of the weights.
    weight: u64,
}

#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) collected: Collected,
    pub(crate) types: BTreeMap<String, (u64, u64)>,
    pub(crate) threads: HashSet<ThreadFacts>,
    pub(crate) findings: Vec<String>,
    pub(crate) samples: u64,
    pub(crate) stackless: u64,
    pub(crate) weight: u64,
}

impl Facts {
    fn merge(&mut self, chunk: ChunkFacts) {
        self.collected.merge(chunk.sums);
        for (name, (events, bytes)) in chunk.types {
            let row = self.types.entry(name).or_default();
            row.0 += events;
            row.1 += bytes;
        }
        self.threads.extend(chunk.threads);
        self.findings.extend(chunk.findings);
        self.samples += chunk.samples;
        self.stackless += chunk.stackless;
        self.weight = self.weight.saturating_add(chunk.weight);
    }
}

impl Facts {
    /// The part of all weight that a viewer misses which counts each sample once.
    pub(crate) fn share_beyond_count(&self) -> f64 {
        let beyond = self.weight.saturating_sub(self.samples);
        statistics::share(beyond, self.weight)
    }
}

/// Name of a type in the JDK's tool.
fn type_name(chunk: &ParsedChunk<'_>, id: u64) -> String {
    match id {
        0 => "jdk.Metadata".to_owned(),
        1 => "jdk.CheckPoint".to_owned(),
        id => chunk
            .metadata()
            .type_by_id(id)
            .map_or_else(|| format!("(type {id})"), |ty| cut(&ty.name).to_owned()),
    }
}

fn chunk_facts(file: usize, chunk: &ParsedChunk<'_>, query: &Query, deep: bool) -> ChunkFacts {
    let mut facts = ChunkFacts {
        sums: collect_chunk(file, chunk, query),
        types: BTreeMap::new(),
        threads: HashSet::new(),
        findings: Vec::new(),
        samples: 0,
        stackless: 0,
        weight: 0,
    };
    let mut by_id: BTreeMap<Option<u64>, (u64, u64)> = BTreeMap::new();
    let mut left_over: BTreeMap<u64, u64> = BTreeMap::new();
    // What cannot be read is among the chunk's damages.
    for event in chunk.raw_events().map_while(Result::ok) {
        let id = (!event.is_padding()).then_some(event.type_id);
        let row = by_id.entry(id).or_default();
        row.0 += 1;
        row.1 += event.size;
        if deep
            && event.type_id > 1
            && let Some(event) = chunk.event(&event)
            && event.bytes_left_over().is_ok_and(|bytes| bytes > 0)
        {
            *left_over.entry(event.ty().id).or_default() += 1;
        }
    }
    for (id, events) in left_over {
        facts.findings.push(format!(
            "chunk at {}: {} of {} longer than the fields",
            chunk.offset(),
            text::count(events, "event"),
            type_name(chunk, id)
        ));
    }
    for (id, (events, bytes)) in by_id {
        let name = id.map_or_else(|| "(padding)".to_owned(), |id| type_name(chunk, id));
        let row = facts.types.entry(name).or_default();
        row.0 += events;
        row.1 += bytes;
    }
    add_threads(chunk, &mut facts);
    if deep {
        for sample in chunk.samples(is_execution_sample).flatten() {
            facts.samples += 1;
            facts.stackless += u64::from(!has_stack(&sample));
            facts.weight = facts.weight.saturating_add(sample.weight);
        }
    }
    facts
}

fn add_threads(chunk: &ParsedChunk<'_>, facts: &mut ChunkFacts) {
    let Some(threads) = chunk.metadata().index_of_name("java.lang.Thread") else {
        return;
    };
    for (_, thread) in chunk.pool(threads) {
        let Value::Struct(thread) = thread else {
            continue;
        };
        let text = |name| thread.get(name).ok().flatten().and_then(Value::into_text);
        let id = |name| {
            let id = thread.get(name).ok().flatten();
            id.and_then(|id| id.as_long()).unwrap_or(0)
        };
        let name = text("javaName")
            .or_else(|| text("osName"))
            .unwrap_or_default();
        // Virtual threads have no id of the operating system, and many no name.
        let ids = (id("osThreadId"), id("javaThreadId"));
        facts.threads.insert((cut(&name).to_owned(), ids.0, ids.1));
    }
}

pub(crate) fn gather_facts(
    args: &FilesArgs,
    deep: bool,
    output: &Output,
) -> Result<(Facts, Outcome), Failure> {
    let query = Query::by(Vec::new(), Filter::cpu());
    let mut facts = Facts::default();
    let outcome = input::for_each_chunk(
        &args.files,
        output,
        |file, chunk| chunk_facts(file, chunk, &query, deep),
        |chunk| facts.merge(chunk),
    )?;
    Ok((facts, outcome))
}
