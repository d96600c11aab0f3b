//! The JVM that a command is about, and the agent in it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hotspot_attach::{AttachError, JvmProcess};

use crate::agent_library;
use crate::args::AS_OWNER;
use crate::exchange::Exchange;
use crate::output::Failure;

/// The file with the agent's answer.
const REPLY: &str = "reply";
/// How a copy of the agent names the active one.
const OTHER_COPY: &str = "another copy of the agent, ";
/// What `Agent_OnAttach` returns for wrong options.
const WRONG_OPTIONS: i32 = 1;

/// The JVM with this process id, or the only one whose main class has this part.
pub(crate) fn find(word: &str) -> Result<JvmProcess, Failure> {
    if let Ok(pid) = word.parse::<u32>() {
        return JvmProcess::open(pid).map_err(|error| failed(pid, &error));
    }
    let (mut all, closed) =
        JvmProcess::all().map_err(|error| Failure::Finding(format!("/proc: {error}")))?;
    all.retain(|jvm| jvm.main_class().is_some_and(|main| main.contains(word)));
    let is_named = |jvm: &JvmProcess| {
        let main = jvm.main_class().unwrap_or_default();
        main == word || main.rsplit(['.', '/']).next() == Some(word)
    };
    if all.iter().filter(|jvm| is_named(jvm)).count() == 1 {
        all.retain(is_named);
    }
    match all.len() {
        1 => Ok(all.remove(0)),
        0 => {
            let others = match closed {
                0 => String::new(),
                count => format!("; {count} JVMs of other users cannot be seen, but by root"),
            };
            Err(Failure::Finding(format!(
                "no JVM has a main class with '{word}'; ctxjfr ps lists them{others}"
            )))
        }
        _ => {
            let name = |jvm: &JvmProcess| {
                format!("{} {}", jvm.pid(), jvm.main_class().unwrap_or_default())
            };
            let names: Vec<String> = all.iter().map(name).collect();
            Err(Failure::Usage(format!(
                "'{word}' is part of several main classes; give the process id: {}",
                names.join(", ")
            )))
        }
    }
}

/// Why a process cannot be attached to, in a line.
pub(crate) fn failed(pid: u32, error: &AttachError) -> Failure {
    let line = format!("process {pid} {error}");
    match error {
        AttachError::TooLong(..) => Failure::Usage(line),
        _ => Failure::Finding(line),
    }
}

/// What the agent said, and whether it has done what was asked.
#[derive(Debug, Default)]
pub(crate) struct AgentReply {
    code: i32,
    text: String,
}

impl AgentReply {
    /// The agent of this JVM, where it was not the one asked: the JVM may have loaded another copy,
    /// which stays, and does nothing.
    fn active_copy(&self) -> Option<&str> {
        let rest = self.text.strip_prefix(OTHER_COPY)?;
        rest.split_once(", is active").map(|(path, _)| path)
    }

    /// The text, or why it was refused.
    pub(crate) fn into_result(self, pid: u32) -> Result<String, Failure> {
        let line = || format!("process {pid}: {}", self.text.trim_end());
        match self.code {
            0 => Ok(self.text),
            WRONG_OPTIONS => Err(Failure::Usage(line())),
            _ => Err(Failure::Finding(line())),
        }
    }
}

/// A JVM with an agent that takes commands.
#[derive(Debug)]
pub(crate) struct Agent<'j> {
    jvm: &'j JvmProcess,
    exchange: Exchange,
    /// Path of its library, as the JVM sees it.
    library: String,
    /// Whether the library is our copy in the exchange.
    is_lent: bool,
}

impl<'j> Agent<'j> {
    /// The agent that the JVM has, or will have with the first command: that at `own`, a path as
    /// the JVM sees it, or that which comes with `ctxjfr`.
    pub(crate) fn new(jvm: &'j JvmProcess, own: Option<&Path>) -> Result<Self, Failure> {
        let loaded = loaded(jvm).or(own.map(Path::to_owned));
        let file = if loaded.is_some() {
            None
        } else {
            if jvm.is_musl() {
                return Err(Failure::Finding(format!(
                    "process {} uses musl; the agent needs glibc",
                    jvm.pid()
                )));
            }
            Some(agent_library::open()?)
        };
        let lent = file.as_ref().map(|file| (agent_library::NAME, file));
        let exchange = Exchange::create(jvm, lent, &helper).map_err(|reasons| {
            let what = if lent.is_some() {
                "take the agent; put libctxagent.so where the JVM can load it, and name it with \
                 --agent"
            } else {
                "take its answer"
            };
            Failure::Finding(format!(
                "no directory of process {} can {what} ({reasons})",
                jvm.pid()
            ))
        })?;
        let library = match loaded {
            Some(path) => path.display().to_string(),
            None => exchange.path_of(agent_library::NAME),
        };
        Ok(Self {
            jvm,
            exchange,
            library,
            is_lent: lent.is_some(),
        })
    }

    /// The directory in the target.
    pub(crate) fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Gives the agent a command and waits for its answer. The first one loads the agent, whose
    /// library is removed then: the JVM keeps what it has loaded.
    pub(crate) fn command(&self, options: &str) -> Result<AgentReply, Failure> {
        let answer = self.ask(&self.library, options)?;
        match answer.active_copy() {
            Some(other) => self.ask(other, options),
            None => Ok(answer),
        }
    }

    fn ask(&self, library: &str, options: &str) -> Result<AgentReply, Failure> {
        let pid = self.jvm.pid();
        let text = format!("{options},reply={}", self.exchange.path_of(REPLY));
        let limit = limit_of(options);
        let code = self.jvm.load_agent(library, &text, limit, &helper);
        if self.is_lent {
            self.exchange.remove(agent_library::NAME);
        }
        let code = code.map_err(|error| failed(pid, &error))?;
        let answer = self.exchange.read_text(REPLY);
        self.exchange.remove(REPLY);
        let text = answer.map_err(|error| {
            Failure::Finding(format!(
                "process {pid}: the agent returned {code} and wrote no answer ({error}); it may be \
                 of another release: its messages are on the JVM's stderr"
            ))
        })?;
        Ok(AgentReply { code, text })
    }
}

/// The path of the agent that the JVM has loaded.
pub(crate) fn loaded(jvm: &JvmProcess) -> Option<PathBuf> {
    jvm.loaded_library(agent_library::is_agent)
        .map(Path::to_owned)
}

/// Whether the agent records: its writer lives as long as a recording.
pub(crate) fn is_recording(jvm: &JvmProcess) -> bool {
    jvm.has_thread("ctxagent writer")
}

/// What the agent itself may take, and time to load it.
fn limit_of(options: &str) -> Duration {
    let command = options.split([',', '=']).next().unwrap_or_default();
    Duration::from_secs(match command {
        "status" | "pause" | "resume" => 20,
        "stop" => 60,
        "dump" => 90,
        _ => 40,
    })
}

/// This program, as a helper.
fn helper() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(AS_OWNER);
    command
}
