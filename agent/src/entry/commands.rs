//! Commands: the same option string from the command line, from attach and from Java.

use crate::entry::agent::Agent;
use crate::entry::status;
use crate::log;
use crate::options::{self, Command, Options, OptionsError};

/// Why a command was not carried out. The code of each is what `jcmd` prints as `return code`
/// (docs/user-guide/options.md, "What jcmd prints").
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The string is wrong.
    Option(String),
    /// The string is right, but not now.
    State(String),
    /// The agent cannot be in this JVM.
    Unusable(String),
}

impl Refusal {
    /// One line for the user.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Option(line) | Self::State(line) | Self::Unusable(line) => line.clone(),
        }
    }

    /// What an attach answers to the VM.
    pub(crate) const fn code(&self) -> i32 {
        match self {
            Self::Option(_) => 1,
            Self::State(_) => 2,
            Self::Unusable(_) => 3,
        }
    }
}

/// Parses and carries out a command; answers what there is to say.
pub(crate) fn execute(agent: &'static Agent, text: &str) -> Result<String, Refusal> {
    let options = understood(agent, text).map_err(|error| Refusal::Option(error.to_string()))?;
    configure_log(&options, text)?;
    run(agent, &options)
}

/// `log` and `loglevel` of a command; one whose log cannot be written is not carried out, so that its answer is not lost.
pub(crate) fn configure_log(options: &Options, text: &str) -> Result<(), Refusal> {
    log::configure(options, |name| options::gives(text, name))
        .map_err(|why| Refusal::Option(format!("{why}; nothing was done")))
}

/// The options of a command to an agent that is there: a start means what it would mean at the load, but for what only a load can set.
fn understood(agent: &Agent, text: &str) -> Result<Options, OptionsError> {
    let options = options::parse(text)?;
    // Nothing else looks at the environment, and nothing at all is not a start now, whatever it says.
    if options.command != Command::Start {
        return Ok(options);
    }
    let environment = std::env::var(options::ENVIRONMENT).ok();
    let mut options = options::parse_with_environment(text, environment.as_deref())?;
    options.keep_what_a_load_sets(&agent.options, text)?;
    Ok(options)
}

/// Carries out a parsed command.
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
            Ok(status::text(session))
        }
        Command::Start => session.start(options).map_err(Refusal::State),
        Command::Stop => session.stop().map_err(Refusal::State),
        Command::Pause => session.pause().map_err(Refusal::State),
        Command::Resume => session.resume().map_err(Refusal::State),
        Command::Dump => session.dump(options).map_err(Refusal::State),
    }
}
