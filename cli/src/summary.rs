//! `summary`: what is in the files.

use schema::account::BY_NUMBER;
use serde_json::json;

use crate::accounting::Accounting;
use crate::args::FilesArgs;
use crate::collect::TypeSums;
use crate::facts::gather_facts;
use crate::filter::Filter;
use crate::output::{Failure, Output};
use crate::text;

/// Event types shown; the rest with `--json`.
const MAX_SHOWN_TYPES: usize = 40;

/// Runs `summary`; gives whether everything is fine.
pub(crate) fn run(args: &FilesArgs, output: &mut Output) -> Result<bool, Failure> {
    let (facts, outcome) = gather_facts(args, false, output)?;
    let complete = outcome.warn_damages();
    let (total, _, collected) = facts.collected.into_total(&Filter::cpu());
    let accounting = Accounting::new(&collected.counters);
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
            .map(|(name, sums)| {
                json!({"name": &**name, "values": sums.values.len(),
                "samples": sums.set.samples, "coverage": total.coverage(sums.set.value)})
            })
            .collect();
        output.json(&json!({
            "schema": "ctxjfr.summary.1", "chunks": outcome.chunks, "bytes": outcome.bytes,
            "start_epoch_ns": start, "duration_ns": duration, "threads": facts.threads.len(),
                "samples": samples,
            "types": types, "attributes": attributes, "accounting": accounting.json(&BY_NUMBER),
                "damages": outcome.damages,
        }))?;
        return Ok(complete);
    }
    output.line(format!(
        " {}, {}, from {} for {}, {}, {}",
        text::count(outcome.chunks, "chunk"),
        text::count(outcome.bytes, "byte"),
        text::utc(start),
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
    for (name, (events, bytes)) in types.iter().take(MAX_SHOWN_TYPES) {
        rows.push(vec![
            text::cut(&output.clean(name), 60),
            text::thousands(*events),
            text::thousands(*bytes),
        ]);
    }
    output.print_table(&rows, 1)?;
    if types.len() > MAX_SHOWN_TYPES {
        output.line(output.dim(&format!(
            " ... and {} more types (--json shows all)",
            types.len() - MAX_SHOWN_TYPES
        )))?;
    }
    output.line("")?;
    print_attributes(&total, output)?;
    output.line("")?;
    accounting.print(&BY_NUMBER, output)?;
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
    output.print_table(&rows, 1)
}
