//! `completions`, and the man pages: what is made of the declared command line.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::output::{Failure, Output};

const NAME: &str = "ctxjfr";

/// The command line without what users do not call.
fn visible() -> Command {
    let all = Cli::command();
    let commands = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    Command::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .about(all.get_about().cloned().unwrap_or_default())
        .after_help(all.get_after_help().cloned().unwrap_or_default())
        .args(all.get_arguments().cloned())
        .subcommands(commands.cloned())
}

/// Runs the command.
pub(crate) fn completions(shell: Shell, output: &mut Output) -> Result<bool, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(), NAME, &mut script);
    output.bytes(&script)?;
    Ok(true)
}

/// The hidden command of the build: a page for `ctxjfr` and for each command, `ctxjfr-record.1`.
pub(crate) fn man(directory: &Path) -> Result<bool, Failure> {
    let written = clap_mangen::generate_to(visible(), directory);
    let failed = |error| Failure::Finding(format!("{}: {error}", directory.display()));
    written.map(|()| true).map_err(failed)
}
