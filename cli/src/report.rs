//! `report`: who used the CPU, and how sure that is.

use std::fmt::Write as _;
use std::iter::once;
use std::path::PathBuf;

use ctxagent_events::VmThreadKind;
use serde_json::json;

use crate::accounting::{Accounting, accounts_of};
use crate::args::ReportArgs;
use crate::collect::{self, Collected, FALLBACK_INTERVAL_NANOS, GroupKey, Query, Sum, TypeSums};
use crate::filter::{Filter, Unit};
use crate::output::{Failure, Output};
use crate::statistics::{effective_samples, mean_value, share, wilson};
use crate::text;

/// Widest cell of a value.
const MAX_PLACES: usize = 60;

struct Row {
    key: GroupKey,
    sum: Sum,
    share: f64,
    /// `None` of what was not sampled.
    interval: Option<(f64, f64)>,
}

impl Row {
    fn is_unlabelled(&self) -> bool {
        self.key.values.iter().all(Option::is_none)
    }
}

fn rows(total: &TypeSums, unit: Unit) -> Vec<Row> {
    let all = &total.total;
    let samples = effective_samples(all.value, all.value_squares);
    let row = |(key, (sum, _)): (&GroupKey, &(Sum, _))| {
        let share = share(sum.value, all.value);
        Row {
            key: key.clone(),
            sum: *sum,
            share,
            interval: unit.is_sampled().then(|| wilson(share, samples)),
        }
    };
    let mut rows: Vec<Row> = total.groups.iter().map(row).collect();
    rows.sort_by(|a, b| {
        (a.is_unlabelled(), a.key.vm_kind.is_some())
            .cmp(&(b.is_unlabelled(), b.key.vm_kind.is_some()))
            .then(b.sum.value.cmp(&a.sum.value))
            .then_with(|| a.key.cmp(&b.key))
    });
    rows
}

/// Share of the Java threads' total that has one of the labels.
fn coverage(rows: &[Row], total: &TypeSums) -> f64 {
    let unlabelled = rows
        .iter()
        .filter(|row| row.is_unlabelled() && row.key.vm_kind.is_none());
    let unlabelled: u64 = unlabelled.map(|row| row.sum.value).sum();
    1.0 - total.coverage(unlabelled)
}

/// Runs the command; gives whether everything is fine.
pub(crate) fn run(args: &ReportArgs, output: &mut Output) -> Result<bool, Failure> {
    let filter = Filter::new(&args.filter)?;
    let query = Query {
        keys: args.by.clone(),
        filter: filter.clone(),
        stacks: false,
        lines: false,
    };
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

fn value_text(value: Option<&str>) -> &str {
    value.unwrap_or("-")
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
    let rows_json: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            json!({
                "values": row.key.values.iter().map(Option::as_deref).collect::<Vec<_>>(),
                "samples": row.sum.samples, "weight": row.sum.weight, "value": row.sum.value,
                "not_java": row.key.vm_kind.is_some(), "vm_kind": row.key.vm_kind.map(|_|
                    row.key.name_without_values()),
                "share": row.share, "share_low": row.interval.map(|i| i.0),
                    "share_high": row.interval.map(|i| i.1),
            })
        })
        .collect();
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
        "total": {"samples": total.total.samples, "weight": total.total.weight,
            "value": total.total.value},
        "coverage": coverage(rows, total),
        "rows": rows_json,
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
    let of_java = if total.not_java().samples > 0 {
        " of Java threads"
    } else {
        ""
    };
    output.line(format!(
        " coverage: {} of the {}{of_java} has {}",
        text::percent(coverage(rows, total)),
        unit.whole(),
        output.clean(&args.by.join(" or "))
    ))?;
    output.line("")?;
    let shown = if args.limit == 0 {
        rows.len()
    } else {
        args.limit
    };
    let (named, rest): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| !row.is_unlabelled());
    let mut table = Table::new(&args.by, unit);
    for row in named.iter().take(shown) {
        table.push(
            row.key
                .values
                .iter()
                .map(|value| output.clean(value_text(value.as_deref())))
                .collect(),
            row,
        );
    }
    let mut hidden = Sum::default();
    named
        .iter()
        .skip(shown)
        .for_each(|row| hidden.add(&row.sum));
    for row in rest {
        let mut cells = vec![String::new(); row.key.values.len()];
        cells[0] = row.key.name_without_values();
        table.push(cells, row);
    }
    table.print(output)?;
    if named.len() > shown {
        let more = format!(
            " ... and {} more rows with {} (--limit 0 shows all)",
            named.len() - shown,
            unit.show(hidden.value)
        );
        output.line(output.dim(&more))?;
    }
    output.line("")?;
    accounting.print(accounts_of(unit), output)?;
    print_next(args, &named, total, output)
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

struct Table {
    rows: Vec<Vec<String>>,
    left: usize,
    unit: Unit,
}

impl Table {
    fn new(keys: &[String], unit: Unit) -> Self {
        let mut head: Vec<String> = keys
            .iter()
            .map(|key| text::terminal(key).into_owned())
            .collect();
        head.extend([unit.head(), "share"].map(str::to_owned));
        if unit.is_sampled() {
            head.push("95 % interval".to_owned());
        }
        head.push("samples".to_owned());
        Self {
            rows: vec![head],
            left: keys.len(),
            unit,
        }
    }

    fn push(&mut self, mut cells: Vec<String>, row: &Row) {
        for cell in &mut cells {
            *cell = text::cut(cell, MAX_PLACES);
        }
        cells.push(self.unit.show(row.sum.value));
        cells.push(text::percent(row.share));
        if let Some((low, high)) = row.interval {
            cells.push(format!("{:.1} – {}", low * 100.0, text::percent(high)));
        }
        cells.push(text::thousands(row.sum.samples));
        self.rows.push(cells);
    }

    fn print(&self, output: &mut Output) -> Result<(), Failure> {
        output.columns(&self.rows, self.left)
    }
}

fn print_next(
    args: &ReportArgs,
    named: &[&Row],
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
    if let Some(top) = named.first()
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
    if named.is_empty() || total.attributes.len() > args.by.len() {
        commands.push(format!("ctxjfr labels {files}"));
    }
    output.line("")?;
    for (number, command) in commands.iter().take(3).enumerate() {
        let head = if number == 0 { " next:" } else { "      " };
        output.line(format!("{} {command}", output.dim(head)))?;
    }
    Ok(())
}
