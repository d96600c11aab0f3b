//! The command line, declared.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::text;

/// The hidden command that acts as the JVM's user, see [`hotspot_attach::Helper`].
pub(crate) const AS_OWNER: &str = "__as_owner";
/// The hidden command that ends a recording if `ctxjfr` is killed.
pub(crate) const GUARD: &str = "__guard";
/// The hidden command that writes man pages.
pub(crate) const MAN: &str = "__man";
/// The hidden command that makes one file of `ctxjfr` and the agent.
pub(crate) const PACK: &str = "__pack";

/// Who used the CPU, where, how sure: from running JVMs, and from JFR recordings with thread
/// context.
#[derive(Debug, Parser)]
#[command(
    name = "ctxjfr",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(
    after_help = "Reads recordings of ctxagent, of JDK 8 to 25 and of async-profiler, plain or packed (.gz, .zst).\n\
    Exit code: 0 = fine, 1 = a finding, an I/O error, a JVM that refuses, or a file that could only\n\
    be partly read, 2 = wrong call, 130 = a second Ctrl-C."
)]
pub(crate) struct Cli {
    /// Print control characters of the recording as they are; they can act on your terminal.
    #[arg(long, global = true)]
    pub(crate) raw: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Record a running JVM for a time, without any preparation, and print the report.
    Record(RecordArgs),
    /// Who uses the CPU of a running JVM now, a table each second, without any preparation.
    Top(TopArgs),
    /// CPU time by attribute values, with the certainty that sampling allows.
    Report(ReportArgs),
    /// A flame graph as one HTML page without network access.
    Flame(FlameArgs),
    /// The samples with their labels, for other tools: pprof, speedscope and others.
    Convert(ConvertArgs),
    /// Chunks, duration, events, threads, attributes, losses.
    #[command(after_help = "Examples:\n  \
    ctxjfr summary shop.jfr\n  \
    ctxjfr summary monday.jfr tuesday.jfr.gz --json")]
    Summary(FilesArgs),
    /// Attribute names with their number of values and coverage.
    Labels(LabelsArgs),
    /// What has no label, why, and what would label it.
    Coverage(CoverageArgs),
    /// Events as text or JSON.
    Print(PrintArgs),
    /// Structure of the file and the accounting of samples; exit code 1 on a finding.
    #[command(after_help = "Examples:\n  \
    ctxjfr check shop.jfr && echo whole\n  \
    ctxjfr check shop.jfr --json")]
    Check(FilesArgs),
    /// What each counter of `status` and of a recording counts.
    Counters(CountersArgs),
    /// JVMs of this machine and its containers, and what their agents do.
    Ps(PsArgs),
    /// What would work in a JVM and why not, without recording; exit code 1 if it would not.
    Doctor(DoctorArgs),
    /// Begin a recording in a running JVM.
    Start(StartArgs),
    /// End the recording of a JVM.
    #[command(after_help = "Examples:\n  \
    ctxjfr stop 4711")]
    Stop(CommandArgs),
    /// Write what a JVM recorded up to now; with file=NAME a copy.
    #[command(after_help = "Examples:\n  \
    ctxjfr dump 4711 file=/tmp/now.jfr")]
    Dump(CommandArgs),
    /// State and counters of a JVM's agent.
    #[command(after_help = "Examples:\n  \
    ctxjfr status 4711\n  \
    ctxjfr status shop.Shop | grep lost")]
    Status(CommandArgs),
    /// Take no samples until `resume`.
    #[command(after_help = "Examples:\n  \
    ctxjfr pause 4711")]
    Pause(CommandArgs),
    /// Take samples again.
    #[command(after_help = "Examples:\n  \
    ctxjfr resume 4711")]
    Resume(CommandArgs),
    /// Prints what a shell needs to complete commands and options.
    #[command(after_help = "Examples:\n  \
    ctxjfr completions bash > /usr/share/bash-completion/completions/ctxjfr\n  \
    ctxjfr completions zsh > \"${fpath[1]}/_ctxjfr\"\n  \
    ctxjfr completions fish > ~/.config/fish/completions/ctxjfr.fish")]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Writes a man page for each command; the build does.
    #[command(name = MAN, hide = true)]
    Man {
        /// Directory of the pages.
        directory: PathBuf,
    },
    /// What must be done as the JVM's user.
    #[command(name = AS_OWNER, hide = true)]
    AsOwner {
        /// Passed on to the library of the attach protocol.
        task: Vec<String>,
    },
    /// Write this program with the agent's library in it; the build does.
    #[command(name = PACK, hide = true)]
    Pack {
        /// The library.
        library: PathBuf,
        /// The new program.
        output: PathBuf,
    },
    /// The process that ends a recording if `ctxjfr` is killed.
    #[command(name = GUARD, hide = true)]
    Guard {
        /// Process id.
        pid: u32,
        /// Directory of the exchange, as the JVM sees it.
        parent: PathBuf,
        /// Name of the exchange in it.
        name: String,
    },
}

/// Arguments of `ps`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr ps\n  \
    ctxjfr ps --attributes --json")]
pub(crate) struct PsArgs {
    /// Also ask the agents for their attributes; this attaches to their JVMs.
    #[arg(long)]
    pub(crate) attributes: bool,
    /// Print JSON (schema: docs/user-guide/ctxjfr.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr doctor 4711\n  \
    ctxjfr doctor shop.Shop --trial --json")]
pub(crate) struct DoctorArgs {
    /// Process id, or a part of a main class or the begin of a container's id that one JVM has.
    #[arg(value_name = "JVM")]
    pub(crate) jvm: String,
    /// Load the agent and record for a second: what it chooses here, not what is to be expected.
    #[arg(long)]
    pub(crate) trial: bool,
    /// Print JSON (schema: docs/user-guide/ctxjfr.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of a command for a loaded agent.
#[derive(Debug, Args)]
pub(crate) struct CommandArgs {
    /// Process id, or a part of a main class or the begin of a container's id that one JVM has.
    #[arg(value_name = "JVM")]
    pub(crate) jvm: String,
    /// Options of the agent (docs/user-guide/options.md): NAME=VALUE,...
    #[arg(value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
}

/// Arguments of `start`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr start 4711 file=/tmp/shop-%t.jfr\n  \
    ctxjfr start shop.Shop event=cpu+wall,interval=5ms,loop=1h,file=/tmp/%n{24}.jfr")]
pub(crate) struct StartArgs {
    /// Process id, or a part of a main class or the begin of a container's id that one JVM has.
    #[arg(value_name = "JVM")]
    pub(crate) jvm: String,
    /// Options of the agent (docs/user-guide/options.md): NAME=VALUE,...
    #[arg(value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
    /// The agent's library as the JVM sees it; else the one beside ctxjfr is lent to the JVM.
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) agent: Option<PathBuf>,
}

/// Arguments of `record`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr record 4711 -d 30s --by http.route,tenant\n  \
    ctxjfr record shop.Shop -d 1m event=cpu+wall --flame shop.html")]
pub(crate) struct RecordArgs {
    /// Process id, or a part of a main class or the begin of a container's id that one JVM has.
    #[arg(value_name = "JVM")]
    pub(crate) jvm: String,
    /// Options of the agent (docs/user-guide/options.md): NAME=VALUE,...
    #[arg(value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
    /// How long: 30s, 5m, 1h; a number alone is seconds. Ctrl-C ends earlier.
    #[arg(short, long, value_name = "TIME", default_value = "30s", value_parser = time)]
    pub(crate) duration: Duration,
    /// The recording. Default: record-PID.jfr, or the next free name.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Keys of the report, as in `report`. Default: the attribute that most CPU time has, or
    /// `thread`.
    #[arg(long, value_name = "KEY[,KEY]", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    /// Also draw a flame graph, as `flame` does.
    #[arg(long, value_name = "FILE")]
    pub(crate) flame: Option<PathBuf>,
    /// Most rows shown; 0 = all.
    #[arg(long, default_value_t = 25, value_name = "N")]
    pub(crate) limit: usize,
    /// Print the report as JSON (schema: docs/user-guide/ctxjfr.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// Replace existing files.
    #[arg(long)]
    pub(crate) force: bool,
    /// The agent's library as the JVM sees it; else the one beside ctxjfr is lent to the JVM.
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) agent: Option<PathBuf>,
}

/// Arguments of `top`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr top 4711 --by http.route\n  \
    ctxjfr top shop.Shop --by tenant,http.route -i 10s\n  \
    ctxjfr top 4711 --by tenant -i 10s -n 6 --json")]
pub(crate) struct TopArgs {
    /// Process id, or a part of a main class or the begin of a container's id that one JVM has.
    #[arg(value_name = "JVM")]
    pub(crate) jvm: String,
    /// Options of the agent (docs/user-guide/options.md): NAME=VALUE,... Not for a JVM that is
    /// recorded already.
    #[arg(value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
    /// Keys of the table, as in `report`. Default: the attribute that most CPU time has, or
    /// `thread`.
    #[arg(long, value_name = "KEY[,KEY]", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    /// Time that a table is about: 1s, 10s, 1m; a number alone is seconds.
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = time)]
    pub(crate) interval: Duration,
    /// Ends after so many tables. Default: with Ctrl-C.
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Most rows shown; 0 = all.
    #[arg(long, default_value_t = 25, value_name = "N")]
    pub(crate) limit: usize,
    /// Print a line of JSON for each table (schema: docs/user-guide/ctxjfr.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// The agent's library as the JVM sees it; else the one beside ctxjfr is lent to the JVM.
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) agent: Option<PathBuf>,
}

/// A time from a second to a day.
fn time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let factor = match &text[digits.len()..] {
        "" | "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let seconds = digits.parse::<u64>().ok().zip(factor);
    let seconds = seconds.and_then(|(number, factor)| number.checked_mul(factor));
    let seconds = seconds.filter(|seconds| (1..=86_400).contains(seconds));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "a time from 1s to 24h, like 30s or 5m".to_owned())
}

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
}

impl FilterArgs {
    /// As words of a shell command, each with a blank in front.
    pub(crate) fn words(&self) -> String {
        let filters = self.filters.iter().map(|filter| ("--where", filter));
        let event = self.event.iter().map(|event| ("--event", event));
        let threads = self.threads.iter().map(|glob| ("--threads", glob));
        let words = filters.chain(event).chain(threads);
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
    /// As `convert -o collapsed`.
    #[value(hide = true)]
    Collapsed,
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
    /// One line for each stack.
    Collapsed,
    /// For speedscope.
    Speedscope,
    /// A table of stacks with their labels.
    Csv,
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
    /// pprof, collapsed, speedscope, csv; `=FILE` says where to, `-` is stdout. Default: the name
    /// of the first recording with the format's ending.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_or_are_seconds() {
        for (text, seconds) in [("30s", 30), ("30", 30), ("5m", 300), ("24h", 86_400)] {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "s",
            "0",
            "25h",
            "1d",
            "-1s",
            "1.5s",
            "1ss",
            "99999999999999999999h",
        ] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
