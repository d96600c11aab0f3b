//! `summary`: what is in the file. `check`: whether it is sound.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jfr_format::read::{EntryIndex, OpenChunk, Stat, TypeIndex, is_execution_sample};
use serde_json::json;

use crate::accounting::{Accounts, Totals};
use crate::args::FilesArgs;
use crate::collect::{has_stack, is_free_slot};
use crate::input::{self, Outcome};
use crate::output::{Failure, Output};
use crate::report::print_columns;
use crate::shared::{MOST_COLUMNS, SharedTexts, cut};
use crate::statistics::share;
use crate::text;

/// Event types shown; the rest with `--json`.
const SHOWN_TYPES: usize = 40;

#[derive(Default)]
struct ChunkFacts {
    file: usize,
    start_nanos: i64,
    end_nanos: i64,
    /// Name: events, bytes.
    types: BTreeMap<String, (u64, u64)>,
    threads: HashSet<(String, i64)>,
    samples: u64,
    /// Attribute: samples with a value, values.
    attributes: BTreeMap<Arc<str>, (u64, HashSet<Arc<str>>)>,
    stats: Vec<Stat>,
    /// Names that the JDK's tool cannot print.
    findings: Vec<String>,
}

#[derive(Default)]
struct Facts {
    start_nanos: Option<i64>,
    end_nanos: Option<i64>,
    types: BTreeMap<String, (u64, u64)>,
    threads: HashSet<(String, i64)>,
    samples: u64,
    attributes: BTreeMap<Arc<str>, (u64, HashSet<Arc<str>>)>,
    stats: Totals,
    findings: Vec<String>,
}

impl Facts {
    fn merge(&mut self, chunk: ChunkFacts) {
        self.start_nanos = Some(
            self.start_nanos
                .map_or(chunk.start_nanos, |start| start.min(chunk.start_nanos)),
        );
        self.end_nanos = Some(
            self.end_nanos
                .map_or(chunk.end_nanos, |end| end.max(chunk.end_nanos)),
        );
        for (name, (events, bytes)) in chunk.types {
            let row = self.types.entry(name).or_default();
            row.0 += events;
            row.1 += bytes;
        }
        self.threads.extend(chunk.threads);
        self.samples += chunk.samples;
        for (name, (set, values)) in chunk.attributes {
            let row = self.attributes.entry(name).or_default();
            row.0 += set;
            row.1.extend(values);
        }
        self.stats.add(chunk.file, chunk.stats);
        self.findings.extend(chunk.findings);
    }
}

/// Name of a type in the JDK's tool.
fn type_name(chunk: &OpenChunk<'_>, id: u64) -> String {
    match id {
        0 => "jdk.Metadata".to_owned(),
        1 => "jdk.CheckPoint".to_owned(),
        76 => "(padding)".to_owned(),
        id => chunk
            .metadata()
            .type_by_id(id)
            .map_or_else(|| format!("(type {id})"), |ty| cut(&ty.name).to_owned()),
    }
}

fn look_at(
    file: usize,
    chunk: &OpenChunk<'_>,
    deep: bool,
    damages: &mut Vec<String>,
) -> ChunkFacts {
    let header = chunk.header();
    let mut facts = ChunkFacts {
        file,
        start_nanos: header.start_nanos,
        end_nanos: header
            .start_nanos
            .saturating_add(header.duration_nanos.max(0)),
        stats: chunk.stats(),
        ..ChunkFacts::default()
    };
    let mut by_id: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut unreadable = 0u64;
    let mut left_over: BTreeMap<u64, u64> = BTreeMap::new();
    for event in chunk.raw_events() {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                damages.push(format!(
                    "chunk at {}, {error}; the rest of the chunk is left out",
                    chunk.offset()
                ));
                break;
            }
        };
        let row = by_id.entry(event.type_id).or_default();
        row.0 += 1;
        row.1 += event.size;
        if deep
            && event.type_id > 1
            && let Some(event) = chunk.event(&event)
        {
            match event.bytes_left_over() {
                Ok(0) => {}
                Ok(_) => *left_over.entry(event.ty().id).or_default() += 1,
                Err(error) => {
                    unreadable += 1;
                    if unreadable == 1 {
                        damages.push(format!(
                            "chunk at {}, {error} ({})",
                            chunk.offset(),
                            cut(&event.ty().name)
                        ));
                    }
                }
            }
        }
    }
    if unreadable > 1 {
        damages.push(format!(
            "chunk at {}: {unreadable} events could not be read",
            chunk.offset()
        ));
    }
    for (id, events) in left_over {
        facts.findings.push(format!(
            "chunk at {}: {events} events of {} are longer than their fields",
            chunk.offset(),
            type_name(chunk, id)
        ));
    }
    for (id, (events, bytes)) in by_id {
        let row = facts.types.entry(type_name(chunk, id)).or_default();
        row.0 += events;
        row.1 += bytes;
    }
    look_at_threads(chunk, &mut facts);
    look_at_samples(chunk, deep, &mut facts);
    facts
}

fn look_at_threads(chunk: &OpenChunk<'_>, facts: &mut ChunkFacts) {
    if let Some(threads) = chunk.metadata().index_of_name("java.lang.Thread") {
        for (_, thread) in chunk.pool(threads) {
            if let jfr_format::read::Value::Struct(thread) = thread {
                let text = |name| {
                    thread
                        .get(name)
                        .ok()
                        .flatten()
                        .and_then(jfr_format::read::Value::into_text)
                };
                let name = text("javaName")
                    .or_else(|| text("osName"))
                    .unwrap_or_default();
                let name = cut(&name).to_owned();
                let id = thread
                    .get("osThreadId")
                    .ok()
                    .flatten()
                    .and_then(|id| id.as_long())
                    .unwrap_or(0);
                facts.threads.insert((name, id));
            }
        }
    }
}

/// An attribute column of a type.
#[derive(Default)]
struct Column {
    name: Arc<str>,
    set: u64,
    met: HashSet<EntryIndex>,
}

fn look_at_samples(chunk: &OpenChunk<'_>, deep: bool, facts: &mut ChunkFacts) {
    let mut texts = SharedTexts::default();
    let mut columns: HashMap<TypeIndex, Vec<Column>> = HashMap::new();
    for sample in chunk.samples(is_execution_sample).flatten() {
        facts.samples += 1;
        let columns = columns
            .entry(sample.columns().type_index())
            .or_insert_with(|| {
                let names = sample.columns().names().take(MOST_COLUMNS);
                let names = names.map(|name| Column {
                    name: texts.name(name),
                    ..Column::default()
                });
                names.collect()
            });
        for (place, column) in columns.iter_mut().enumerate() {
            if let (Some(entry), Some(value)) = (sample.value_entry(place), sample.value(place)) {
                column.set += 1;
                if column.met.insert(entry) {
                    let row = facts.attributes.entry(column.name.clone()).or_default();
                    row.1.insert(texts.value(value));
                }
            }
        }
        if deep && !has_stack(&sample) {
            *left_stackless(facts) += 1;
        }
    }
    for column in columns.into_values().flatten() {
        facts.attributes.entry(column.name).or_default().0 += column.set;
    }
}

/// Counter of samples without a stack, kept among the types under a name of its own.
fn left_stackless(facts: &mut ChunkFacts) -> &mut u64 {
    &mut facts
        .types
        .entry("(samples without stack)".to_owned())
        .or_default()
        .0
}

fn gather(args: &FilesArgs, deep: bool, output: &Output) -> Result<(Facts, Outcome), Failure> {
    let mut facts = Facts::default();
    let outcome = input::for_each_chunk(
        &args.files,
        output,
        |file, chunk, damages| look_at(file, chunk, deep, damages),
        |chunk| facts.merge(chunk),
    )?;
    facts
        .attributes
        .retain(|name, (_, values)| !(values.is_empty() && is_free_slot(name)));
    Ok((facts, outcome))
}

/// Runs `summary`; gives whether everything is fine.
pub(crate) fn run(args: &FilesArgs, output: &mut Output) -> Result<bool, Failure> {
    let (facts, outcome) = gather(args, false, output)?;
    let complete = outcome.tell();
    let accounts = Accounts::new(&facts.stats);
    let mut types: Vec<(&String, &(u64, u64))> = facts.types.iter().collect();
    types.sort_by(|a, b| b.1.0.cmp(&a.1.0).then_with(|| a.0.cmp(b.0)));
    let start = facts.start_nanos.unwrap_or(0);
    let duration = facts
        .end_nanos
        .unwrap_or(start)
        .saturating_sub(start)
        .max(0)
        .unsigned_abs();
    if args.json {
        let types: Vec<serde_json::Value> = types
            .iter()
            .map(|(name, (events, bytes))| json!({"name": name, "events": events, "bytes": bytes}))
            .collect();
        let attributes: Vec<serde_json::Value> = facts
            .attributes
            .iter()
            .map(|(name, (set, values))| json!({"name": &**name, "values": values.len(), "samples": set, "coverage": share(*set, facts.samples)}))
            .collect();
        output.json(&json!({
            "schema": "ctxjfr.summary.1", "chunks": outcome.chunks, "bytes": outcome.bytes,
            "start_epoch_ns": start, "duration_ns": duration, "threads": facts.threads.len(), "samples": facts.samples,
            "types": types, "attributes": attributes, "accounting": accounts.json(), "damages": outcome.damages,
        }))?;
        return Ok(complete);
    }
    output.line(format!(
        " {} chunks, {} bytes, from {} for {}, {} threads, {} CPU samples",
        text::thousands(outcome.chunks),
        text::thousands(outcome.bytes),
        utc(start),
        text::duration(duration),
        text::thousands(facts.threads.len() as u64),
        text::thousands(facts.samples),
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
    if facts.attributes.is_empty() {
        output.line(" attributes: none")?;
    } else {
        let mut rows = vec![
            ["attribute", "values", "coverage"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for (name, (set, values)) in &facts.attributes {
            rows.push(vec![
                text::cut(&output.clean(name), 60),
                text::thousands(values.len() as u64),
                text::percent(share(*set, facts.samples)),
            ]);
        }
        print_columns(&rows, 1, output)?;
    }
    output.line("")?;
    accounts.print(output)?;
    Ok(complete)
}

/// Runs `check`; gives whether everything is fine.
pub(crate) fn check(args: &FilesArgs, output: &mut Output) -> Result<bool, Failure> {
    let (facts, outcome) = gather(args, true, output)?;
    let accounts = Accounts::new(&facts.stats);
    let mut findings: Vec<String> = outcome.damages.clone();
    findings.extend(facts.findings.iter().cloned());
    if accounts.holds() == Some(false) {
        findings.push("accounting: signals are not written + lost (ctxagent.Stats)".to_owned());
    }
    let events: u64 = facts
        .types
        .iter()
        .filter(|(name, _)| !name.starts_with('('))
        .map(|(_, row)| row.0)
        .sum();
    let stackless = facts
        .types
        .get("(samples without stack)")
        .map_or(0, |row| row.0);
    if args.json {
        output.json(&json!({
            "schema": "ctxjfr.check.1", "ok": findings.is_empty(), "chunks": outcome.chunks, "events": events, "samples": facts.samples,
            "samples_without_stack": stackless, "findings": findings, "accounting": accounts.json(),
        }))?;
        return Ok(findings.is_empty());
    }
    output.line(format!(
        " {} chunks, {} events, {} CPU samples ({} without a stack)",
        text::thousands(outcome.chunks),
        text::thousands(events),
        text::thousands(facts.samples),
        text::thousands(stackless)
    ))?;
    accounts.print(output)?;
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

/// Date and time of nanoseconds since 1970, UTC.
pub(crate) fn utc(nanos: i64) -> String {
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
    let millis = nanos.rem_euclid(1_000_000_000) / 1_000_000;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{millis:03}Z",
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
        assert_eq!(utc(951_782_400_000_000_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(utc(-1), "1969-12-31T23:59:59.999Z");
        assert!(!utc(i64::MIN).is_empty() && !utc(i64::MAX).is_empty());
    }
}
