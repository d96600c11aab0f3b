//! `check`: whether the files are sound.

use schema::account::BY_NUMBER;
use serde_json::json;

use crate::accounting::Accounting;
use crate::args::FilesArgs;
use crate::facts::gather_facts;
use crate::output::{Failure, Output};
use crate::text;

/// Runs `check`; gives whether everything is fine.
pub(crate) fn run(args: &FilesArgs, output: &mut Output) -> Result<bool, Failure> {
    let (facts, outcome) = gather_facts(args, true, output)?;
    outcome.warn_damages_in_one_line();
    let accounting = Accounting::new(&facts.collected.counters);
    let mut findings: Vec<String> = outcome.damages.clone();
    findings.extend(facts.findings.iter().cloned());
    findings.extend(accounting.findings());
    let events: u64 = facts
        .types
        .iter()
        .filter(|(name, _)| !name.starts_with('('))
        .map(|(_, row)| row.0)
        .sum();
    let (samples, stackless) = (facts.samples, facts.stackless);
    if args.json {
        output.json(&json!({
            "schema": "ctxjfr.check.1", "ok": findings.is_empty(), "chunks": outcome.chunks,
                "events": events, "samples": samples,
            "samples_without_stack": stackless,
                "share_beyond_count": facts.share_beyond_count(), "findings": findings,
                "accounting": accounting.json(&BY_NUMBER), "damages": outcome.damages,
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
    let beyond = 100.0 * facts.share_beyond_count();
    if beyond > 0.0 {
        output.line(format!(
            " weights: {beyond:.1} % of the CPU time is lost in a viewer that counts events"
        ))?;
    }
    accounting.print(&BY_NUMBER, output)?;
    for finding in &findings {
        output.line(format!(
            " {} {}",
            output.style_warning("finding:"),
            output.clean(finding)
        ))?;
    }
    if findings.is_empty() {
        output.line(" ok: every event is readable to its last byte")?;
    }
    Ok(findings.is_empty())
}
