//! The command line, declared: the commands here, their arguments by what they are about.

mod files;
mod running;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use files::{
    ConvertArgs, CountersArgs, CoverageArgs, ExportFormat, FilesArgs, FilterArgs, FlameArgs,
    FlameFormat, LabelsArgs, MergeArgs, NumericLabel, PrintArgs, ReportArgs,
};
pub(crate) use running::{
    CommandArgs, DoctorArgs, PsArgs, RecordArgs, StartArgs, StatusArgs, TopArgs,
};

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
    /// One recording of several, with the JDK's beside ours in our times, for any reader.
    Merge(MergeArgs),
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
    Status(StatusArgs),
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
    /// Write this program with the agent's libraries in it; the build does.
    #[command(name = PACK, hide = true)]
    Pack {
        /// The new program.
        output: PathBuf,
        /// The library for glibc, and that for musl.
        #[arg(required = true, num_args = 1..=2)]
        libraries: Vec<PathBuf>,
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
