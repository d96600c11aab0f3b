//! `ctxjfr`: who used the CPU, where, how sure, from recordings with thread context.
//!
//! | module | duty |
//! |---|---|
//! | [`args`] | the command line, declared |
//! | [`text`], [`output`] | escaping, one function per format; the only place that writes |
//! | [`input`] | files, plain or packed, to chunks; several threads |
//! | [`filter`], [`collect`] | which samples count; their sums by attribute and stack |
//! | [`shared`] | texts that outlive their chunk, each copied once |
//! | [`statistics`], [`accounting`] | how sure a share is; whether all samples are accounted for |
//! | [`report`], [`labels`], [`summary`], [`check`], [`mod@print`], [`flame`] | a command each |
//! | [`counters`] | a command that reads no file |
//! | [`facts`] | what `summary` and `check` gather in one pass |

mod accounting;
mod args;
mod check;
mod collect;
mod counters;
mod facts;
mod filter;
mod flame;
mod input;
mod labels;
mod output;
mod print;
mod report;
mod shared;
mod statistics;
mod summary;
mod text;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use output::{Failure, Output};

const FINDING: u8 = 1;
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut output = Output::new(cli.raw);
    let result = match &cli.command {
        Command::Report(args) => report::run(args, &mut output),
        Command::Flame(args) => flame::run(args, &mut output),
        Command::Summary(args) => summary::run(args, &mut output),
        Command::Labels(args) => labels::run(args, &mut output),
        Command::Print(args) => print::run(args, &mut output),
        Command::Check(args) => check::run(args, &mut output),
        Command::Counters(args) => counters::run(args, &mut output),
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
