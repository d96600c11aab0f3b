//! `flame`: where the CPU time went, as a page or as JSON.

mod formats;
mod tree;

use std::path::{Path, PathBuf};

use crate::args::{ConvertArgs, Export, ExportFormat, FlameArgs, FlameFormat};
use crate::collect::{self, Query};
use crate::convert;
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

fn target(args: &FlameArgs) -> Result<(Target, FlameFormat), Failure> {
    let named = |path: &Path| match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Some(FlameFormat::Html),
        Some("collapsed" | "folded" | "txt") => Some(FlameFormat::Collapsed),
        Some("json") => Some(FlameFormat::Json),
        _ => None,
    };
    let wanted = if args.json {
        Some(FlameFormat::Json)
    } else {
        args.format
    };
    match args.output.as_deref() {
        Some(path) if path == Path::new("collapsed") => {
            Ok((Target::Stdout, FlameFormat::Collapsed))
        }
        Some(path) if path == Path::new("-") => {
            Ok((Target::Stdout, wanted.unwrap_or(FlameFormat::Html)))
        }
        Some(path) => match wanted.or_else(|| named(path)) {
            Some(format) => Ok((Target::File(path.to_owned()), format)),
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

/// The call of `convert` that gives collapsed stacks.
fn as_conversion(args: &FlameArgs, target: Target) -> ConvertArgs {
    let target = match target {
        Target::Stdout => PathBuf::from(input::STDIN),
        Target::File(path) => path,
    };
    ConvertArgs {
        files: args.files.clone(),
        output: Export {
            format: ExportFormat::Collapsed,
            target: Some(target),
        },
        by: args.by.clone(),
        filter: args.filter.clone(),
        lines: args.lines,
        force: args.force,
    }
}

/// Runs the command. Returns whether the files were read completely.
pub(crate) fn run(args: &FlameArgs, output: &mut Output) -> Result<bool, Failure> {
    let (target, format) = target(args)?;
    if format == FlameFormat::Collapsed {
        return convert::run(&as_conversion(args, target), output);
    }
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
        FlameFormat::Json | FlameFormat::Collapsed => {
            format!("{}\n", text::json(&formats::data(&graph)))
        }
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
