//! `ctxjfr`: who used the CPU, where, how sure, from recordings with thread context.
//!
//! | room | duty |
//! |---|---|
//! | [`args`] | the command line, declared |
//! | [`input`] | files, plain or packed, to chunks; several threads |
//! | [`filter`], [`collect`] | which samples count; their sums by attribute and stack |
//! | [`report`], [`labels`], [`summary`], [`mod@print`], [`flame`] | one command each (`check` is in `summary`) |
//! | [`statistics`], [`accounting`] | how sure a share is; whether the profiler's books balance |
//! | [`shared`] | texts that outlive their chunk, each copied once |
//! | [`text`], [`output`] | escaping, one function per format; the only place that writes |

mod accounting;
mod args;
mod collect;
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
    fault_injection::choose_from_environment();
    let cli = Cli::parse();
    let mut output = Output::new(cli.raw);
    let result = match &cli.command {
        Command::Report(args) => report::run(args, &mut output),
        Command::Flame(args) => flame::run(args, &mut output),
        Command::Summary(args) => summary::run(args, &mut output),
        Command::Labels(args) => labels::run(args, &mut output),
        Command::Print(args) => print::run(args, &mut output),
        Command::Check(args) => summary::check(args, &mut output),
    };
    match result.and_then(|fine| output.flush().map(|()| fine)) {
        // Who closes our stdout has seen enough.
        Ok(true) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FINDING),
        Err(Failure::Finding(message)) => {
            let _ = output.flush();
            output::remark(&message);
            ExitCode::from(FINDING)
        }
        Err(Failure::Usage(message)) => {
            output::remark(&message);
            ExitCode::from(USAGE)
        }
    }
}
