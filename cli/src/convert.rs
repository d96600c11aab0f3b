//! `convert`: the samples with their labels, for other tools.
//!
//! | module | duty |
//! |---|---|
//! | [`profile`] | what every format is made of: sums by labels and stack |
//! | [`protobuf`], [`thrift`] | messages in these encodings |
//! | [`parts`] | an export in several files |
//! | [`pprof`], [`otlp`] with [`resource`], [`collapsed`], [`speedscope`], [`firefox`], [`csv`], [`parquet`] | a format each |

mod collapsed;
mod csv;
mod firefox;
mod otlp;
mod parquet;
mod parts;
mod pprof;
mod profile;
mod protobuf;
mod resource;
mod speedscope;
mod thrift;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::args::{ConvertArgs, ExportFormat};
use crate::input;
use crate::output::{self, Failure, Output};
use crate::text;
use profile::{Profile, Wanted};

/// What distinguishes a format for those who gather the samples.
struct Writer {
    /// Of the file's name.
    ending: &'static str,
    is_binary: bool,
    wanted: Wanted,
    write: WriteFormat,
}

type WriteFormat = fn(&Profile, &mut dyn Write) -> io::Result<()>;

/// Labels, lines and all kinds.
const ALL: Wanted = Wanted {
    labels: true,
    lines: true,
    kinds: true,
    moments: false,
};
/// The same of each event.
const EVENTS: Wanted = Wanted {
    moments: true,
    ..ALL
};
/// All kinds with labels, in texts where lines are a choice.
const ROWS: Wanted = Wanted {
    lines: false,
    ..ALL
};
/// All kinds, each with stacks.
const STACKS: Wanted = Wanted {
    labels: false,
    ..ROWS
};
/// The stacks of one kind.
const ONE_KIND: Wanted = Wanted {
    kinds: false,
    ..STACKS
};

fn writer(format: ExportFormat) -> Writer {
    let (ending, is_binary, wanted, write): (_, _, _, WriteFormat) = match format {
        ExportFormat::Pprof => ("pb.gz", true, ALL, pprof::write),
        ExportFormat::Otlp => ("otlp", true, EVENTS, otlp::write),
        ExportFormat::Collapsed => ("collapsed", false, ONE_KIND, collapsed::write),
        ExportFormat::Speedscope => ("speedscope.json", false, STACKS, speedscope::write),
        ExportFormat::Firefox => ("firefox.json", false, EVENTS, firefox::write),
        ExportFormat::Csv => ("csv", false, ROWS, csv::write),
        ExportFormat::Parquet => ("parquet", true, EVENTS, parquet::write),
    };
    Writer {
        ending,
        is_binary,
        wanted,
        write,
    }
}

/// The file to write; `None` is stdout.
fn target(args: &ConvertArgs, ending: &str) -> Option<PathBuf> {
    let target = match (&args.output.target, args.files.first()) {
        (Some(target), _) => target.clone(),
        (None, Some(first)) if !input::is_stdin(first) => first.with_extension(ending),
        (None, _) => return None,
    };
    (target != Path::new(input::STDIN)).then_some(target)
}

/// Runs the command. Returns whether the files were read completely.
pub(crate) fn run(args: &ConvertArgs, output: &mut Output) -> Result<bool, Failure> {
    let mut writer = writer(args.output.format);
    writer.wanted.lines |= args.lines;
    if writer.wanted.labels && !args.by.is_empty() {
        return Err(Failure::Usage(
            "--by makes roots, in formats without labels; this one has all labels".to_owned(),
        ));
    }
    if !args.numeric.is_empty() && args.output.format != ExportFormat::Pprof {
        return Err(Failure::Usage(
            "--numeric is for pprof: labels of other formats are texts".to_owned(),
        ));
    }
    let target = target(args, writer.ending);
    if args.max_message.is_some() && (args.output.format != ExportFormat::Otlp || target.is_none())
    {
        return Err(Failure::Usage(
            "--max-message is for files of otlp: they alone have parts".to_owned(),
        ));
    }
    match &target {
        Some(path) if args.files.iter().any(|file| input::same_file(file, path)) => {
            return Err(Failure::Usage(format!("{} is an input", path.display())));
        }
        Some(path) => output::check_target(path, args.force)?,
        None if writer.is_binary && output.columns().is_some() => {
            return Err(Failure::Usage(
                "this format is not for a terminal; -o FORMAT=FILE says where to".to_owned(),
            ));
        }
        None => {}
    }
    let (profile, outcome) = profile::read(args, &writer.wanted, output)?;
    let keys = profile.keys();
    for label in args
        .numeric
        .iter()
        .filter(|label| !keys.contains(&*label.key))
    {
        output::warn(&format!("--numeric: no sample has a label '{}'", label.key));
    }
    match target {
        None => (writer.write)(&profile, output.writer())?,
        Some(path) => {
            let more = write_files(args, &writer, &profile, &path)?;
            let amounts = profile.kinds.iter();
            let amounts: Vec<String> = amounts
                .map(|kind| kind.unit.amount(kind.total.value))
                .collect();
            let mut path = output.clean(&path.display().to_string());
            if let Some(last) = more.last() {
                let last = output.clean(&last.display().to_string());
                let more = text::count(more.len() as u64, "more file");
                path = format!("{path} and {more}, to {last}");
            }
            let samples = text::count(profile.samples(), "sample");
            output.line(format!(" {path} ({samples}: {})", amounts.join(", ")))?;
        }
    }
    Ok(outcome.warn_damages())
}

/// Writes the file. Returns those beside it that have the rest.
fn write_files(
    args: &ConvertArgs,
    writer: &Writer,
    profile: &Profile,
    path: &Path,
) -> Result<Vec<PathBuf>, Failure> {
    if args.output.format == ExportFormat::Otlp {
        return parts::write(args, profile, path);
    }
    output::write_file_with(path, args.force, |file| {
        let mut file = BufWriter::with_capacity(256 << 10, file);
        (writer.write)(profile, &mut file)?;
        file.flush()
    })?;
    Ok(Vec::new())
}
