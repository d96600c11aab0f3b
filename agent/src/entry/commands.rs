//! Commands: the same option string from the command line, from attach and from Java.

use crate::entry::agent::Agent;
use crate::entry::status::Status;
use crate::log;
use crate::options::{self, Command, Options, OptionsError};

/// Why a command failed. `jcmd` prints the code as `return code`
/// (docs/user-guide/options.md, "What jcmd prints").
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The option string is wrong.
    Option(String),
    /// The command is not possible in the current state.
    State(String),
    /// The agent cannot run in this JVM.
    Unusable(String),
}

impl Refusal {
    /// One line for the user.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Option(line) | Self::State(line) | Self::Unusable(line) => line.clone(),
        }
    }

    /// The return code of an attach.
    pub(crate) const fn code(&self) -> i32 {
        match self {
            Self::Option(_) => 1,
            Self::State(_) => 2,
            Self::Unusable(_) => 3,
        }
    }
}

/// Parses and executes a command. Returns the text for the user.
pub(crate) fn execute(agent: &'static Agent, text: &str) -> Result<String, Refusal> {
    let options = parse(agent, text).map_err(|error| Refusal::Option(error.to_string()))?;
    configure_log(&options, text)?;
    if options.command == Command::Start
        && let Some(line) = agent.session().and_then(|session| session.has_begun(text))
    {
        return Ok(format!("already {line}"));
    }
    run(agent, &options)
}

/// The answer to code of the application: a start that is refused in this state is a warning there,
/// as it is at load, unless it is `strict`.
pub(crate) fn for_code(text: &str, answer: Result<String, Refusal>) -> Result<String, Refusal> {
    match answer {
        Err(Refusal::State(why) | Refusal::Unusable(why)) if is_lenient_start(text) => {
            let line = format!("not started: {why}");
            log::warn(&line);
            Ok(line)
        }
        other => other,
    }
}

/// Applies `log` and `loglevel` of a command. A command whose log cannot be written is not
/// executed, because its answer would be lost.
pub(crate) fn configure_log(options: &Options, text: &str) -> Result<(), Refusal> {
    log::configure(options, |name| options::gives(text, name))
        .map_err(|why| Refusal::Option(format!("{why}; nothing was done")))
}

fn is_lenient_start(text: &str) -> bool {
    parse_with_environment(text)
        .is_ok_and(|options| options.command == Command::Start && !options.strict)
}

/// The options of a command, with those of the environment if it is a start.
pub(crate) fn parse_with_environment(text: &str) -> Result<Options, OptionsError> {
    let environment = std::env::var(options::ENVIRONMENT).ok();
    options::parse_with_environment(text, environment.as_deref())
}

/// The options of a command to a loaded agent. A start has the same meaning as at load, except for
/// options that only a load can set.
fn parse(agent: &Agent, text: &str) -> Result<Options, OptionsError> {
    let options = options::parse(text)?;
    // Only a start reads the environment, which cannot turn an empty command into a start.
    if options.command != Command::Start {
        return Ok(options);
    }
    let mut options = parse_with_environment(text)?;
    options.keep_what_a_load_sets(&agent.options, text)?;
    Ok(options)
}

/// Executes a parsed command.
pub(crate) fn run(agent: &'static Agent, options: &Options) -> Result<String, Refusal> {
    let command = match options.command {
        Command::Load => return Ok(String::new()),
        Command::Help => return Ok(options::help()),
        Command::Version => return Ok(format!("ctxagent {}", env!("CARGO_PKG_VERSION"))),
        command => command,
    };
    let Some(session) = agent.session() else {
        let not_up = "the JVM is not up yet".to_owned();
        return match command {
            Command::Status => Ok(not_up),
            _ => Err(Refusal::State(not_up)),
        };
    };
    match command {
        Command::Load | Command::Help | Command::Version | Command::Status => {
            Ok(Status::of(session).written(options.status_format))
        }
        Command::Start => session.start(options).map_err(Refusal::State),
        Command::Stop => session.stop().map_err(Refusal::State),
        Command::Pause => session.pause().map_err(Refusal::State),
        Command::Resume => session.resume().map_err(Refusal::State),
        Command::Dump => session.dump(options).map_err(Refusal::State),
    }
}
