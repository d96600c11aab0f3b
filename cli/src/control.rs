//! `start`, `stop`, `dump`, `status`, `pause`, `resume`: a command for the agent in a running JVM.

use crate::args::{CommandArgs, StartArgs, StatusArgs};
use crate::output::{Failure, Output};
use crate::target::{self, Agent};

/// Starts a recording, in a JVM without the agent too.
pub(crate) fn start(args: &StartArgs, output: &mut Output) -> Result<bool, Failure> {
    let jvm = target::find(&args.jvm)?;
    let agent = Agent::new(&jvm, args.agent.as_deref())?;
    if agent.is_short_lived() {
        return Err(Failure::Finding(format!(
            "process {} uses musl, with which a lent agent could not be stopped: record and top \
             work, or --agent with a library that stays where the JVM sees it",
            jvm.pid()
        )));
    }
    agent.warn_of_other_release()?;
    let answer = agent.command(&with_options("start", &args.options))?;
    print(&answer.into_result(jvm.pid())?, output)
}

/// Asks a loaded agent what it does.
pub(crate) fn status(args: &StatusArgs, output: &mut Output) -> Result<bool, Failure> {
    let command = if args.json {
        target::STATUS_AS_JSON
    } else {
        "status"
    };
    run(command, &args.command, output)
}

/// Gives a loaded agent a command.
pub(crate) fn run(command: &str, args: &CommandArgs, output: &mut Output) -> Result<bool, Failure> {
    let jvm = target::find(&args.jvm)?;
    if target::loaded(&jvm).is_none() {
        return Err(Failure::Finding(format!(
            "process {} has no agent loaded; ctxjfr start {} begins a recording",
            jvm.pid(),
            jvm.pid()
        )));
    }
    let agent = Agent::new(&jvm, None)?;
    agent.warn_of_other_release()?;
    let answer = agent.command(&with_options(command, &args.options))?;
    print(&answer.into_result(jvm.pid())?, output)
}

fn with_options(command: &str, options: &[String]) -> String {
    let words = std::iter::once(command).chain(options.iter().map(String::as_str));
    words.collect::<Vec<_>>().join(",")
}

fn print(answer: &str, output: &mut Output) -> Result<bool, Failure> {
    for line in answer.lines() {
        let line = output.clean(line);
        output.line(line)?;
    }
    Ok(true)
}
