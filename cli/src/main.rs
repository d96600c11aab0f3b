//! `ctxjfr`: who used the CPU, where, how sure, from running JVMs and from recordings with thread
//! context.
//!
//! | module | duty |
//! |---|---|
//! | [`args`] | the command line, declared |
//! | [`text`], [`output`] | escaping, one function per format; the only place that writes |
//! | [`input`] | files, plain or packed, to chunks; several threads |
//! | [`filter`], [`collect`] | which samples count; their sums by attribute and stack |
//! | [`shared`] | texts that outlive their chunk, each copied once |
//! | [`statistics`], [`accounting`] | how sure a share is; whether all samples are accounted for |
//! | [`report`], [`labels`], [`coverage`], [`summary`], [`check`], [`mod@print`], [`flame`], [`convert`] | a command each |
//! | [`merge`] | several recordings as one file, chunk by chunk |
//! | [`counters`], [`shell_help`] | commands that read no file |
//! | [`record`], [`top`], [`control`], [`ps`], [`doctor`] | commands about running JVMs |
//! | [`target`], [`exchange`], [`agent_library`] | the JVM and its agent; the files that pass to and from it |
//! | [`guard`], [`interrupt`] | end a recording if `ctxjfr` is killed; Ctrl-C |
//! | [`facts`] | what `summary` and `check` gather in one pass |

mod accounting;
mod agent_library;
mod args;
mod check;
mod collect;
mod control;
mod convert;
mod counters;
mod coverage;
mod doctor;
mod exchange;
mod facts;
mod filter;
mod flame;
mod guard;
mod input;
mod interrupt;
mod labels;
mod merge;
mod output;
mod print;
mod ps;
mod record;
mod report;
mod shared;
mod shell_help;
mod statistics;
mod summary;
mod target;
mod text;
mod top;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use output::{Failure, Output};

const FINDING: u8 = 1;
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Command::AsOwner { task } = &cli.command {
        return help(task);
    }
    let mut output = Output::new(cli.raw);
    let result = match &cli.command {
        Command::Report(args) => report::run(args, &mut output),
        Command::Flame(args) => flame::run(args, &mut output),
        Command::Convert(args) => convert::run(args, &mut output),
        Command::Merge(args) => merge::run(args, &mut output),
        Command::Summary(args) => summary::run(args, &mut output),
        Command::Labels(args) => labels::run(args, &mut output),
        Command::Print(args) => print::run(args, &mut output),
        Command::Check(args) => check::run(args, &mut output),
        Command::Coverage(args) => coverage::run(args, &mut output),
        Command::Counters(args) => counters::run(args, &mut output),
        Command::Record(args) => record::run(args, &mut output),
        Command::Top(args) => top::run(args, &mut output),
        Command::Ps(args) => ps::run(args, &mut output),
        Command::Doctor(args) => doctor::run(args, &mut output),
        Command::Start(args) => control::start(args, &mut output),
        Command::Stop(args) => control::run("stop", args, &mut output),
        Command::Dump(args) => control::run("dump", args, &mut output),
        Command::Status(args) => control::status(args, &mut output),
        Command::Pause(args) => control::run("pause", args, &mut output),
        Command::Resume(args) => control::run("resume", args, &mut output),
        Command::Completions { shell } => shell_help::completions(*shell, &mut output),
        Command::Man { directory } => shell_help::man(directory),
        Command::Pack { output, libraries } => agent_library::pack(output, libraries),
        Command::Guard { pid, parent, name } => guard::run(*pid, parent, name),
        Command::AsOwner { .. } => Ok(true), // above
    };
    match result.and_then(|fine| output.flush().map(|()| fine)) {
        // Who closes our stdout has seen enough.
        Ok(true) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FINDING),
        Err(Failure::Finding(message)) => {
            let _ = output.flush();
            output::warn(&message);
            ExitCode::from(FINDING)
        }
        Err(Failure::Usage(message)) => {
            output::warn(&message);
            ExitCode::from(USAGE)
        }
    }
}

/// The helper's part of an attach; its exit code is the number of the error.
fn help(task: &[String]) -> ExitCode {
    let Err(error) = hotspot_attach::run_helper(task) else {
        return ExitCode::SUCCESS;
    };
    let number = error
        .raw_os_error()
        .and_then(|number| u8::try_from(number).ok());
    ExitCode::from(number.unwrap_or(u8::MAX))
}
