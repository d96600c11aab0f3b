//! `labels`: which attributes there are, how many values, how much they cover.

use std::sync::Arc;

use serde_json::json;

use crate::args::LabelsArgs;
use crate::collect::{self, Query, Sum};
use crate::filter::Filter;
use crate::output::{Failure, Output};
use crate::statistics::share;
use crate::text;

/// Name, sum of the samples that have it, values with their sums.
type Attribute<'a> = (&'a Arc<str>, &'a Sum, Vec<(&'a Arc<str>, &'a Sum)>);

/// Runs the command; gives whether everything is fine.
pub(crate) fn run(args: &LabelsArgs, output: &mut Output) -> Result<bool, Failure> {
    let filter = Filter::new(&args.filter)?;
    let query = Query::by(Vec::new(), filter.clone());
    let collected = collect::collect(&args.files.files, &query, output)?;
    let (total, types, collected) = collected.into_total(&filter);
    collected.warn_left_out();
    let complete = collected.outcome.warn_damages();
    let nothing = (total.total.samples == 0).then(|| collected.terms.nothing_passes(&filter));
    let nothing = nothing.flatten();
    let all = total.total.value;
    let attributes: Vec<Attribute<'_>> = total
        .attributes
        .iter()
        .map(|(name, sums)| {
            let mut values: Vec<(&Arc<str>, &Sum)> = sums.values.iter().collect();
            values.sort_by(|a, b| b.1.value.cmp(&a.1.value).then_with(|| a.0.cmp(b.0)));
            (name, &sums.set, values)
        })
        .collect();
    if args.files.json {
        let attributes: Vec<serde_json::Value> = attributes
            .iter()
            .map(|(name, set, values)| {
                let top: Vec<serde_json::Value> = values
                    .iter()
                    .take(args.limit)
                    .map(|(value, sum)| {
                        json!({"text": &***value, "samples": sum.samples,
                        "value": sum.value, "share": share(sum.value, all)})
                    })
                    .collect();
                json!({"name": &***name, "values": values.len(),
                    "coverage": total.coverage(set.value), "samples": set.samples, "top": top})
            })
            .collect();
        output.json(&json!({
            "schema": "ctxjfr.labels.1", "events": types, "unit": filter.unit().name(),
            "total": {"samples": total.total.samples, "weight": total.total.weight, "value": all},
            "attributes": attributes, "damages": collected.outcome.damages,
        }))?;
        return nothing.map_or(Ok(complete), |why| Err(Failure::Finding(why)));
    }
    if let Some(why) = nothing {
        return Err(Failure::Finding(why));
    }
    if attributes.is_empty() {
        output.line(format!(
            " {}, none of them with attributes",
            text::count(total.total.samples, "sample")
        ))?;
        output.line(output.dim(" hint: the application sets attributes with RecordingContext.where(\"name\", value).build()"))?;
        return Ok(complete);
    }
    let mut rows = vec![
        ["attribute", "top values", "coverage", "values"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (name, set, values) in &attributes {
        let top: Vec<String> = values
            .iter()
            .take(args.limit)
            .map(|(value, sum)| {
                format!(
                    "{} {}",
                    text::cut(&output.clean(value), 30),
                    text::percent(share(sum.value, all))
                )
            })
            .collect();
        rows.push(vec![
            text::cut(&output.clean(name), 40),
            text::cut(&top.join(", "), 100),
            text::percent(total.coverage(set.value)),
            text::thousands(values.len() as u64),
        ]);
    }
    output.print_table(&rows, 2)?;
    if let Some((name, ..)) = attributes.iter().max_by_key(|(_, set, _)| set.value) {
        let files: Vec<String> = args
            .files
            .files
            .iter()
            .map(|file| text::shell(&file.display().to_string()))
            .collect();
        output.line("")?;
        output.line(format!(
            "{} ctxjfr report {}{} --by {}",
            output.dim(" next:"),
            files.join(" "),
            args.filter.words(),
            text::shell(&collect::key_of(name))
        ))?;
    }
    Ok(complete)
}
