//! Arguments of the commands about recordings, and of `counters`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::text;

/// Arguments of `counters`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr counters\n  \
    ctxjfr counters lost.no_slot 'wall.*'")]
pub(crate) struct CountersArgs {
    /// Only counters whose name fits; `*` and `?` are wild.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

/// Files, and JSON instead of text.
#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// Recordings.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON (schema: docs/user-guide/ctxjfr.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which samples count.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FilterArgs {
    /// Only samples with this value; `!k=v` without it, `k` with any, `!k` with none. May be
    /// repeated.
    #[arg(
        long = "where",
        value_name = "[!]KEY[=VALUE]",
        allow_hyphen_values = true
    )]
    pub(crate) filters: Vec<String>,
    /// Event type: cpu (default), wall, alloc, lock, or a type's name.
    #[arg(long, value_name = "TYPE")]
    pub(crate) event: Option<String>,
    /// Only threads whose name fits; `*` and `?` are wild.
    #[arg(long, value_name = "GLOB")]
    pub(crate) threads: Option<String>,
    /// Only from this moment on, in UTC: 2026-11-26T16:30, or with seconds and a fraction.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Only before this moment.
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
}

impl FilterArgs {
    /// As words of a shell command, each with a blank in front.
    pub(crate) fn words(&self) -> String {
        let filters = self.filters.iter().map(|filter| ("--where", filter));
        let event = self.event.iter().map(|event| ("--event", event));
        let threads = self.threads.iter().map(|glob| ("--threads", glob));
        let from = self.from.iter().map(|from| ("--from", from));
        let to = self.to.iter().map(|to| ("--to", to));
        let words = filters.chain(event).chain(threads).chain(from).chain(to);
        words
            .map(|(option, value)| match value.strip_prefix('-') {
                None => format!(" {option} {}", text::shell(value)),
                // As a separate word it would be parsed as an option.
                Some(_) => format!(" {}", text::shell(&format!("{option}={value}"))),
            })
            .collect()
    }
}

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr report shop.jfr --by http.route\n  \
    ctxjfr report shop.jfr --by tenant,http.route --where tenant=acme\n  \
    ctxjfr report shop.jfr --by http.route --event wall --csv")]
pub(crate) struct ReportArgs {
    /// Recordings; several are added up.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Attribute names, or `thread`, `state`, `event`; several nest. `label:thread` is an attribute
    /// called thread.
    #[arg(long, value_name = "KEY[,KEY]", value_delimiter = ',', required = true)]
    pub(crate) by: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Most rows shown; 0 = all.
    #[arg(long, default_value_t = 25, value_name = "N")]
    pub(crate) limit: usize,
    /// Print JSON (schema: docs/user-guide/ctxjfr.md).
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV, all rows.
    #[arg(long)]
    pub(crate) csv: bool,
}

/// What `flame` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlameFormat {
    /// One self-contained page.
    Html,
    /// The tree as JSON.
    Json,
}

/// Arguments of `flame`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr flame shop.jfr --by http.route -o shop.html\n  \
    ctxjfr flame shop.jfr --where tenant=acme -o acme.html")]
pub(crate) struct FlameArgs {
    /// Recordings; several are added up.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Attribute names whose values become the roots.
    #[arg(long, value_name = "KEY[,KEY]", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Where to: NAME.html, NAME.json; `-` is stdout. Default: FILE.html.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format, where the file name does not tell.
    #[arg(long, value_enum)]
    pub(crate) format: Option<FlameFormat>,
    /// Title of the page.
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Frames with line numbers.
    #[arg(long)]
    pub(crate) lines: bool,
    /// Replace an existing file.
    #[arg(long)]
    pub(crate) force: bool,
    /// Tree as JSON, on stdout unless -o says otherwise.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// What `convert` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// For `go tool pprof` and other tools of that format, with gzip.
    Pprof,
    /// Profiles of OpenTelemetry.
    Otlp,
    /// One line for each stack.
    Collapsed,
    /// For speedscope.
    Speedscope,
    /// For the Firefox profiler.
    Firefox,
    /// A table of stacks with their labels.
    Csv,
    /// A table of events, for databases.
    Parquet,
}

/// A format, and where to.
#[derive(Debug, Clone)]
pub(crate) struct Export {
    pub(crate) format: ExportFormat,
    /// `None`: beside the first recording.
    pub(crate) target: Option<PathBuf>,
}

impl Export {
    fn parse(text: &str) -> Result<Self, String> {
        let (format, target) = match text.split_once('=') {
            Some((_, "")) => return Err("no file behind '='".to_owned()),
            Some((format, target)) => (format, Some(target.into())),
            None => (text, None),
        };
        let format = ExportFormat::from_str(format, false).map_err(|_| {
            let names = ExportFormat::value_variants().iter();
            let names = names.filter_map(ValueEnum::to_possible_value);
            let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
            format!("no format '{format}'; there are: {}", names.join(", "))
        })?;
        Ok(Self { format, target })
    }
}

/// A label whose values are numbers.
#[derive(Debug, Clone)]
pub(crate) struct NumericLabel {
    pub(crate) key: String,
    /// Empty: none is named.
    pub(crate) unit: String,
}

impl NumericLabel {
    fn parse(text: &str) -> Result<Self, String> {
        let (key, unit) = text.split_once('=').unwrap_or((text, ""));
        if key.is_empty() {
            return Err("no KEY in front of '='".to_owned());
        }
        let (key, unit) = (key.to_owned(), unit.to_owned());
        Ok(Self { key, unit })
    }
}

/// Size of a message: no smaller one has room for every sample.
const MIN_MESSAGE: u64 = 64 << 10;

/// A number of bytes, or with `k` or `m`; 0: no limit.
fn message_size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes() {
        [digits @ .., b'k'] => (digits.len(), 10),
        [digits @ .., b'm'] => (digits.len(), 20),
        digits => (digits.len(), 0),
    };
    let number: u64 = text[..digits].parse().map_err(|_| "no number of bytes")?;
    match number.checked_mul(1 << shift) {
        Some(0) => Ok(u64::MAX),
        Some(size) if size >= MIN_MESSAGE => Ok(size),
        Some(_) => Err("at least 64k, or 0 for no limit".to_owned()),
        None => Err("too large".to_owned()),
    }
}

/// Arguments of `convert`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr convert shop.jfr -o pprof\n  \
    ctxjfr convert shop.jfr -o collapsed=- --by http.route\n  \
    ctxjfr convert shop.jfr -o speedscope=shop.json --where tenant=acme")]
pub(crate) struct ConvertArgs {
    /// Recordings; several are added up. `-` is stdin.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// pprof, otlp, collapsed, speedscope, firefox, csv, parquet; `=FILE` says where to, `-` is stdout. Default:
    /// the name of the first recording with the format's ending.
    #[arg(short, long, value_name = "FORMAT[=FILE]", value_parser = Export::parse)]
    pub(crate) output: Export,
    /// Attribute names whose values become the roots, in formats that have no labels.
    #[arg(long, value_name = "KEY[,KEY]", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Line numbers, in formats where they tell stacks apart.
    #[arg(long)]
    pub(crate) lines: bool,
    /// In pprof, values of this label that are whole numbers become numbers, of this unit. May be repeated.
    #[arg(long, value_name = "KEY[=UNIT]", value_parser = NumericLabel::parse)]
    pub(crate) numeric: Vec<NumericLabel>,
    /// Largest message in otlp, 4m unless said otherwise; what is more goes to NAME-2.otlp, NAME-3.otlp, ...
    /// 0: no limit.
    #[arg(long, value_name = "BYTES", value_parser = message_size)]
    pub(crate) max_message: Option<u64>,
    /// Replace an existing file.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Arguments of `merge`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr merge app.jfr jdk.jfr -o both.jfr\n  \
    ctxjfr merge shop-*.jfr -o day.jfr && jfr summary day.jfr")]
pub(crate) struct MergeArgs {
    /// Recordings of any recorders, in any order.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The new file.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace an existing file.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Arguments of `labels`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr labels shop.jfr\n  \
    ctxjfr labels shop.jfr --limit 20 --json")]
pub(crate) struct LabelsArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Values shown per attribute.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) limit: usize,
}

/// Arguments of `coverage`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr coverage shop.jfr\n  \
    ctxjfr coverage shop.jfr --by http.route --limit 0")]
pub(crate) struct CoverageArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    /// Attribute names of which one labels; default: any.
    #[arg(long, value_name = "KEY[,KEY]", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Most rows shown; 0 = all.
    #[arg(long, default_value_t = 15, value_name = "N")]
    pub(crate) limit: usize,
}

/// Arguments of `print`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr print shop.jfr --events ExecutionSample\n  \
    ctxjfr print shop.jfr --events 'ctxagent.*' --json")]
pub(crate) struct PrintArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    /// Event types, by full name or the part after the last dot; `*` is wild.
    #[arg(long, value_name = "TYPE[,TYPE]", value_delimiter = ',')]
    pub(crate) events: Vec<String>,
    /// Frames shown per stack.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) stack_depth: usize,
}
