//! `flame`: where the CPU time went, as a page or as JSON.

mod formats;
mod tree;

use std::path::{Path, PathBuf};

use crate::args::{FlameArgs, FlameFormat};
use crate::collect::{self, Query};
use crate::filter::Filter;
use crate::input;
use crate::output::{self, Failure, Output};
use crate::text;
use formats::Graph;

/// Where the result goes.
enum Target {
    Stdout,
    File(PathBuf),
}

/// Whether collapsed stacks are meant.
fn names_collapsed(path: &Path) -> bool {
    let ending = path.extension().or(path.file_name());
    let ending = ending.and_then(|ending| ending.to_str());
    matches!(ending, Some("collapsed" | "folded" | "txt"))
}

fn target(args: &FlameArgs) -> Result<(Target, FlameFormat), Failure> {
    let named = |path: &Path| match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Some(FlameFormat::Html),
        Some("json") => Some(FlameFormat::Json),
        _ => None,
    };
    let wanted = if args.json {
        Some(FlameFormat::Json)
    } else {
        args.format
    };
    match args.output.as_deref() {
        Some(path) if path == Path::new("-") => {
            Ok((Target::Stdout, wanted.unwrap_or(FlameFormat::Html)))
        }
        Some(path) => match wanted.or_else(|| named(path)) {
            Some(format) => Ok((Target::File(path.to_owned()), format)),
            None if names_collapsed(path) => Err(Failure::Usage(format!(
                "collapsed stacks are written by: ctxjfr convert {} -o collapsed={}",
                args.files
                    .first()
                    .map_or(Path::new("FILE"), PathBuf::as_path)
                    .display(),
                path.display()
            ))),
            None => Err(Failure::Usage(format!(
                "-o {}: no known ending (.html, .json); say --format",
                path.display()
            ))),
        },
        None => match (wanted, args.files.first()) {
            (None | Some(FlameFormat::Html), Some(file)) => {
                Ok((Target::File(file.with_extension("html")), FlameFormat::Html))
            }
            (wanted, _) => Ok((Target::Stdout, wanted.unwrap_or(FlameFormat::Html))),
        },
    }
}

/// Runs the command. Returns whether the files were read completely.
pub(crate) fn run(args: &FlameArgs, output: &mut Output) -> Result<bool, Failure> {
    let (target, format) = target(args)?;
    if let Target::File(path) = &target {
        if args.force && args.files.iter().any(|file| input::same_file(file, path)) {
            return Err(Failure::Usage(format!("{} is an input", path.display())));
        }
        output::check_target(path, args.force)?;
    }
    let filter = Filter::new(&args.filter)?;
    let unit = filter.unit();
    let query = Query {
        stacks: true,
        lines: args.lines,
        ..Query::by(args.by.clone(), filter.clone())
    };
    let collected = collect::collect(&args.files, &query, output)?;
    let (total, types, mut collected) = collected.into_total(&filter);
    collected.warn_left_out();
    if total.total.samples == 0 {
        collected.outcome.warn_damages();
        let why = collected.terms.nothing_passes(&filter);
        let why = why.unwrap_or_else(|| "no sample passes".to_owned());
        return Err(Failure::Finding(format!("{why}; nothing to draw")));
    }
    let mut frames = std::mem::take(&mut collected.frames);
    for frame in &mut frames {
        frame.text = frame.with_line();
    }
    let tree = tree::grow(&total, &args.by, frames, collected.stacks());
    let graph = Graph {
        args,
        unit,
        total: &total,
        types: &types,
        collected: &collected,
        tree: &tree,
    };
    let result = match format {
        FlameFormat::Html => formats::page(&graph),
        FlameFormat::Json => format!("{}\n", text::json(&formats::data(&graph))),
    };
    match target {
        Target::Stdout => output.bytes(result.as_bytes())?,
        Target::File(path) => {
            output::write_file(&path, result.as_bytes(), args.force)?;
            let samples = text::count(total.total.samples, "sample");
            output.line(format!(
                " {} ({samples}, {} KB)",
                output.clean(&path.display().to_string()),
                result.len() / 1024
            ))?;
        }
    }
    Ok(collected.outcome.warn_damages())
}
