//! `report`: who used the CPU, and how sure that is.

use std::fmt::Write as _;
use std::iter::once;
use std::path::PathBuf;

use ctxagent_events::VmThreadKind;
use serde_json::json;

use crate::accounting::{Accounting, accounts_of};
use crate::args::ReportArgs;
use crate::collect::{self, Collected, FALLBACK_INTERVAL_NANOS, Query, TypeSums};
use crate::filter::{Filter, Unit};
use crate::output::{Failure, Output};
use crate::statistics::{mean_value, share};
use crate::text;

mod rows;
mod table;

pub(crate) use rows::{Row, coverage, rows, rows_json};
pub(crate) use table::{Column, Table};

/// Runs the command; gives whether everything is fine.
pub(crate) fn run(args: &ReportArgs, output: &mut Output) -> Result<bool, Failure> {
    let filter = Filter::new(&args.filter)?;
    let query = Query::by(args.by.clone(), filter.clone());
    let collected = collect::collect(&args.files, &query, output)?;
    let (total, types, collected) = collected.into_total(&filter);
    collected.warn_left_out();
    let accounting = Accounting::new(&collected.counters);
    let rows = rows(&total, filter.unit());
    let complete = collected.outcome.warn_damages();
    if args.json {
        output.json(&as_json(
            args,
            filter.unit(),
            &total,
            &rows,
            &types,
            &collected,
            &accounting,
        ))?;
    } else if args.csv {
        print_csv(args, &rows, output)?;
    } else {
        print_table(
            args,
            filter.unit(),
            &total,
            &rows,
            &collected,
            &accounting,
            output,
        )?;
    }
    if total.total.samples == 0
        && let Some(message) = collected.terms.nothing_passes(&filter)
    {
        return Err(Failure::Finding(message));
    }
    Ok(complete && accounting.is_balanced(accounts_of(filter.unit())) != Some(false))
}

/// The intervals that the samples of each group of threads stand for on average, in nanoseconds.
/// They are longer than the one asked for where a sample weighs more than one.
fn reached_intervals(total: &TypeSums) -> Vec<(&'static str, f64)> {
    let java = total.total.without(&total.not_java());
    let groups = VmThreadKind::ALL.map(VmThreadKind::group).into_iter();
    let sums = groups.zip(total.not_java);
    once(("Java", java))
        .chain(sums)
        .filter_map(|(group, sum)| Some((group, mean_value(sum.value, sum.value_squares)?)))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "nanoseconds of an interval"
)]
fn whole(nanos: f64) -> u64 {
    nanos.round() as u64
}

/// Where they are not the one asked for, to the percent: a line that says so.
fn interval_line(total: &TypeSums, asked_nanos: u64) -> Option<String> {
    let reached = reached_intervals(total);
    #[expect(clippy::cast_precision_loss, reason = "compared to the percent")]
    let asked = asked_nanos as f64;
    if reached
        .iter()
        .all(|(_, nanos)| (nanos / asked - 1.0).abs() < 0.01)
    {
        return None;
    }
    let reached = reached
        .iter()
        .map(|(group, nanos)| format!("{group} {:.1} ms", nanos / 1e6));
    Some(format!(
        " interval: {} asked; reached: {}",
        text::duration(asked_nanos),
        reached.collect::<Vec<_>>().join(", ")
    ))
}

fn as_json(
    args: &ReportArgs,
    unit: Unit,
    total: &TypeSums,
    rows: &[Row],
    types: &[String],
    collected: &Collected,
    accounting: &Accounting,
) -> serde_json::Value {
    let reached: Vec<_> = reached_intervals(total)
        .into_iter()
        .filter(|_| unit == Unit::Cpu)
        .map(|(group, nanos)| json!([group, whole(nanos)]))
        .collect();
    json!({
        "schema": "ctxjfr.report.1",
        "files": args.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "by": args.by, "events": types, "unit": unit.name(),
        "interval_ns": collected.interval_nanos, "interval_assumed": collected.interval_guessed,
        "intervals_reached_ns": reached,
        "covered_ns": collected.covered_nanos(), "chunks": collected.outcome.chunks,
        "total": total.total.json(),
        "coverage": coverage(rows, total),
        "rows": rows_json(rows),
        "accounting": accounting.json(accounts_of(unit)), "sleeping_left_out": collected.sleeping,
        "damages": collected.outcome.damages,
    })
}

fn print_csv(args: &ReportArgs, rows: &[Row], output: &mut Output) -> Result<(), Failure> {
    let mut head: Vec<String> = args.by.iter().map(|key| text::csv(key)).collect();
    head.extend(
        [
            "samples",
            "weight",
            "value",
            "share",
            "share_low",
            "share_high",
        ]
        .map(str::to_owned),
    );
    output.line(head.join(","))?;
    for row in rows {
        let mut cells: Vec<String> = (0..args.by.len())
            .map(|place| text::csv(&row.key.value_or_name(place)))
            .collect();
        cells.extend(
            [row.sum.samples, row.sum.weight, row.sum.value].map(|number| number.to_string()),
        );
        let (low, high) = row.interval.unzip();
        cells.extend(
            [Some(row.share), low, high]
                .map(|number| number.map_or_else(String::new, |number| format!("{number:.6}"))),
        );
        output.line(cells.join(","))?;
    }
    Ok(())
}

fn print_table(
    args: &ReportArgs,
    unit: Unit,
    total: &TypeSums,
    rows: &[Row],
    collected: &Collected,
    accounting: &Accounting,
    output: &mut Output,
) -> Result<(), Failure> {
    output.line(headline(&args.files, unit, total, collected))?;
    if total.total.samples == 0 {
        let why = match collected.terms.samples() {
            0 => "no samples of these events in the recording",
            _ if args.filter.threads.is_some() => {
                "no sample passes; names of threads: ctxjfr report FILE --by thread"
            }
            _ => "no sample passes; the recording's attributes: ctxjfr labels FILE",
        };
        output.line(format!(" {why}"))?;
        output.line("")?;
        return accounting.print(accounts_of(unit), output);
    }
    if collected.interval_guessed {
        let note = format!(
            " note: no sampling interval in the recording, {} assumed",
            text::duration(FALLBACK_INTERVAL_NANOS)
        );
        output.line(output.style_warning(&note))?;
    }
    if unit == Unit::Cpu
        && let Some(asked) = collected.interval_nanos
        && let Some(line) = interval_line(total, asked)
    {
        output.line(line)?;
    }
    output.line(coverage_line(&args.by, unit, rows, total, output))?;
    output.line("")?;
    for line in Table::new(&args.by, Column::Sum(unit)).lines(rows, args.limit, output) {
        output.line(line)?;
    }
    output.line("")?;
    accounting.print(accounts_of(unit), output)?;
    let named = rows.iter().find(|row| row.is_known());
    print_next(args, named, total, output)
}

/// How much of the whole has one of the keys.
pub(crate) fn coverage_line(
    keys: &[String],
    unit: Unit,
    rows: &[Row],
    total: &TypeSums,
    output: &Output,
) -> String {
    let of_java = if total.not_java().samples > 0 {
        " of Java threads"
    } else {
        ""
    };
    format!(
        " coverage: {} of the {}{of_java} has {}",
        text::percent(coverage(rows, total)),
        unit.whole(),
        output.clean(&keys.join(" or "))
    )
}

fn headline(files: &[PathBuf], unit: Unit, total: &TypeSums, collected: &Collected) -> String {
    let names = match files {
        [file] => file.display().to_string(),
        files => format!("{} files", files.len()),
    };
    let covered = collected.covered_nanos();
    let mut line = format!(
        " {}: {} in {}",
        text::terminal(&names),
        unit.amount(total.total.value),
        text::duration(covered)
    );
    if unit == Unit::Cpu {
        let _ = write!(line, " = {:.2} cores", share(total.total.value, covered));
    }
    let _ = write!(line, "; {}", text::count(total.total.samples, "sample"));
    if let Some(nanos) = collected.interval_nanos.filter(|_| unit.is_time()) {
        let _ = write!(line, ", one per {}", text::duration(nanos));
    }
    line
}

fn print_next(
    args: &ReportArgs,
    top: Option<&Row>,
    total: &TypeSums,
    output: &mut Output,
) -> Result<(), Failure> {
    let files: Vec<String> = args
        .files
        .iter()
        .map(|file| text::shell(&file.display().to_string()))
        .collect();
    // What the samples were chosen by holds for what comes next.
    let files = format!("{}{}", files.join(" "), args.filter.words());
    let mut commands = Vec::new();
    if let Some(top) = top
        && let Some((key, value)) = args
            .by
            .iter()
            .zip(&top.key.values)
            .find_map(|(key, value)| Some((key, value.as_deref()?)))
    {
        let term = text::shell(&format!("{key}={value}"));
        commands.push(format!(
            "ctxjfr flame {files} --where {term} -o flame-top.html"
        ));
        if let Some(other) = total.attributes.iter().find(|(name, sums)| {
            let is_shown = args.by.iter().any(|key| *key == collect::key_of(name));
            !is_shown && !sums.values.is_empty()
        }) {
            commands.push(format!(
                "ctxjfr report {files} --by {} --where {term}",
                text::shell(&collect::key_of(other.0))
            ));
        }
    }
    let by = text::shell(&args.by.join(","));
    commands.push(format!("ctxjfr flame {files} --by {by} -o flame.html"));
    if top.is_none() || total.attributes.len() > args.by.len() {
        commands.push(format!("ctxjfr labels {files}"));
    }
    output.line("")?;
    for (number, command) in commands.iter().take(3).enumerate() {
        let head = if number == 0 { " next:" } else { "      " };
        output.line(format!("{} {command}", output.dim(head)))?;
    }
    Ok(())
}
