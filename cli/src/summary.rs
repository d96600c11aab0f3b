//! `summary`: what is in the file. `check`: whether it is sound.

use std::collections::{BTreeMap, HashSet};

use jfr_format::books::KINDS;
use jfr_format::chunk::HEADER_TYPE;
use jfr_format::read::{ParsedChunk, Value, is_execution_sample};
use serde_json::json;

use crate::accounting::Accounts;
use crate::args::FilesArgs;
use crate::collect::{ChunkSums, Collected, Query, TypeSums, collect_chunk, has_stack};
use crate::filter::Filter;
use crate::input::{self, Outcome};
use crate::output::{Failure, Output};
use crate::report::print_columns;
use crate::shared::cut;
use crate::text;

/// Event types shown; the rest with `--json`.
const SHOWN_TYPES: usize = 40;

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
}

#[derive(Default)]
struct Facts {
    collected: Collected,
    types: BTreeMap<String, (u64, u64)>,
    threads: HashSet<ThreadFacts>,
    findings: Vec<String>,
    samples: u64,
    stackless: u64,
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
    }
}

/// Name of a type in the JDK's tool.
fn type_name(chunk: &ParsedChunk<'_>, id: u64) -> String {
    match id {
        0 => "jdk.Metadata".to_owned(),
        1 => "jdk.CheckPoint".to_owned(),
        // Of recordings until 0.1: ours have paddings of the type of metadata now.
        HEADER_TYPE => "(padding)".to_owned(),
        id => chunk
            .metadata()
            .type_by_id(id)
            .map_or_else(|| format!("(type {id})"), |ty| cut(&ty.name).to_owned()),
    }
}

fn look_at(file: usize, chunk: &ParsedChunk<'_>, query: &Query, deep: bool) -> ChunkFacts {
    let mut facts = ChunkFacts {
        sums: collect_chunk(file, chunk, query),
        types: BTreeMap::new(),
        threads: HashSet::new(),
        findings: Vec::new(),
        samples: 0,
        stackless: 0,
    };
    let mut by_id: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut left_over: BTreeMap<u64, u64> = BTreeMap::new();
    // What cannot be read is among the chunk's damages.
    for event in chunk.raw_events().map_while(Result::ok) {
        let id = if event.is_padding() {
            HEADER_TYPE
        } else {
            event.type_id
        };
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
        let row = facts.types.entry(type_name(chunk, id)).or_default();
        row.0 += events;
        row.1 += bytes;
    }
    look_at_threads(chunk, &mut facts);
    if deep {
        for sample in chunk.samples(is_execution_sample).flatten() {
            facts.samples += 1;
            facts.stackless += u64::from(!has_stack(&sample));
        }
    }
    facts
}

fn look_at_threads(chunk: &ParsedChunk<'_>, facts: &mut ChunkFacts) {
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

fn gather(args: &FilesArgs, deep: bool, output: &Output) -> Result<(Facts, Outcome), Failure> {
    let query = Query {
        keys: Vec::new(),
        filter: Filter::cpu(),
        stacks: false,
        lines: false,
    };
    let mut facts = Facts::default();
    let outcome = input::for_each_chunk(
        &args.files,
        output,
        |file, chunk| look_at(file, chunk, &query, deep),
        |chunk| facts.merge(chunk),
    )?;
    Ok((facts, outcome))
}

/// Runs `summary`; gives whether everything is fine.
pub(crate) fn run(args: &FilesArgs, output: &mut Output) -> Result<bool, Failure> {
    let (facts, outcome) = gather(args, false, output)?;
    let complete = outcome.tell();
    let (total, _, collected) = facts.collected.into_total(&Filter::cpu());
    let accounts = Accounts::new(&collected.stats);
    let mut types: Vec<(&String, &(u64, u64))> = facts.types.iter().collect();
    types.sort_by(|a, b| b.1.0.cmp(&a.1.0).then_with(|| a.0.cmp(b.0)));
    let start = collected.first_nanos().unwrap_or(0);
    let duration = collected.covered_nanos();
    let samples = total.total.samples;
    if args.json {
        let types: Vec<serde_json::Value> = types
            .iter()
            .map(|(name, (events, bytes))| json!({"name": name, "events": events, "bytes": bytes}))
            .collect();
        let attributes: Vec<serde_json::Value> = total
            .attributes
            .iter()
            .map(|(name, sums)| json!({"name": &**name, "values": sums.values.len(), "samples": sums.set.samples, "coverage": total.coverage(sums.set.value)}))
            .collect();
        output.json(&json!({
            "schema": "ctxjfr.summary.1", "chunks": outcome.chunks, "bytes": outcome.bytes,
            "start_epoch_ns": start, "duration_ns": duration, "threads": facts.threads.len(), "samples": samples,
            "types": types, "attributes": attributes, "accounting": accounts.json(&KINDS), "damages": outcome.damages,
        }))?;
        return Ok(complete);
    }
    output.line(format!(
        " {}, {}, from {} for {}, {}, {}",
        text::count(outcome.chunks, "chunk"),
        text::count(outcome.bytes, "byte"),
        utc(start),
        text::duration(duration),
        text::count(facts.threads.len() as u64, "thread"),
        text::count(samples, "CPU sample"),
    ))?;
    output.line("")?;
    let mut rows = vec![
        ["event type", "events", "bytes"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (name, (events, bytes)) in types.iter().take(SHOWN_TYPES) {
        rows.push(vec![
            text::cut(&output.clean(name), 60),
            text::thousands(*events),
            text::thousands(*bytes),
        ]);
    }
    print_columns(&rows, 1, output)?;
    if types.len() > SHOWN_TYPES {
        output.line(output.dim(&format!(
            " ... and {} more types (--json shows all)",
            types.len() - SHOWN_TYPES
        )))?;
    }
    output.line("")?;
    print_attributes(&total, output)?;
    output.line("")?;
    accounts.print(&KINDS, output)?;
    Ok(complete)
}

fn print_attributes(total: &TypeSums, output: &mut Output) -> Result<(), Failure> {
    if total.attributes.is_empty() {
        return output.line(" attributes: none");
    }
    let mut rows = vec![
        ["attribute", "values", "coverage"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (name, sums) in &total.attributes {
        rows.push(vec![
            text::cut(&output.clean(name), 60),
            text::thousands(sums.values.len() as u64),
            text::percent(total.coverage(sums.set.value)),
        ]);
    }
    print_columns(&rows, 1, output)
}

/// Runs `check`; gives whether everything is fine.
pub(crate) fn check(args: &FilesArgs, output: &mut Output) -> Result<bool, Failure> {
    let (facts, outcome) = gather(args, true, output)?;
    outcome.tell_in_a_line();
    let accounts = Accounts::new(&facts.collected.stats);
    let mut findings: Vec<String> = outcome.damages.clone();
    findings.extend(facts.findings.iter().cloned());
    findings.extend(accounts.findings());
    let events: u64 = facts
        .types
        .iter()
        .filter(|(name, _)| !name.starts_with('('))
        .map(|(_, row)| row.0)
        .sum();
    let (samples, stackless) = (facts.samples, facts.stackless);
    if args.json {
        output.json(&json!({
            "schema": "ctxjfr.check.1", "ok": findings.is_empty(), "chunks": outcome.chunks, "events": events, "samples": samples,
            "samples_without_stack": stackless, "findings": findings, "accounting": accounts.json(&KINDS), "damages": outcome.damages,
        }))?;
        return Ok(findings.is_empty());
    }
    output.line(format!(
        " {}, {}, {} ({} without a stack)",
        text::count(outcome.chunks, "chunk"),
        text::count(events, "event"),
        text::count(samples, "CPU sample"),
        text::thousands(stackless)
    ))?;
    accounts.print(&KINDS, output)?;
    for finding in &findings {
        output.line(format!(
            " {} {}",
            output.warm("finding:"),
            output.clean(finding)
        ))?;
    }
    if findings.is_empty() {
        output.line(" ok: every event is readable to its last byte")?;
    }
    Ok(findings.is_empty())
}

/// Date and time of nanoseconds since 1970, UTC, to the millisecond.
pub(crate) fn utc(nanos: i64) -> String {
    let millis = nanos.rem_euclid(1_000_000_000) / 1_000_000;
    format!("{}.{millis:03}Z", utc_seconds(nanos))
}

/// The same to the nanosecond.
pub(crate) fn utc_exact(nanos: i64) -> String {
    let below = nanos.rem_euclid(1_000_000_000);
    format!("{}.{below:09}Z", utc_seconds(nanos))
}

fn utc_seconds(nanos: i64) -> String {
    let seconds = nanos.div_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days to a date of the Gregorian calendar, by eras of 400 years that begin on 1 March of the year 0.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(utc(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(utc(1_700_000_000_123_456_789), "2023-11-14T22:13:20.123Z");
        assert_eq!(
            utc_exact(1_700_000_000_123_456_789),
            "2023-11-14T22:13:20.123456789Z"
        );
        assert_eq!(utc_exact(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(utc(951_782_400_000_000_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(utc(-1), "1969-12-31T23:59:59.999Z");
        assert!(!utc(i64::MIN).is_empty() && !utc(i64::MAX).is_empty());
    }
}
