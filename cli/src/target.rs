//! The JVM that a command is about, and the agent in it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hotspot_attach::{AttachError, JvmProcess};

use crate::agent_library::{self, Libc};
use crate::args::AS_OWNER;
use crate::exchange::Exchange;
use crate::output::{self, Failure};

/// The file with the agent's answer.
const REPLY: &str = "reply";
/// The command whose answer has names as they are.
pub(crate) const STATUS_AS_JSON: &str = "status,format=json";
/// How a copy of the agent names the active one.
const OTHER_COPY: &str = "another copy of the agent, ";
/// What `Agent_OnAttach` returns for wrong options.
const WRONG_OPTIONS: i32 = 1;

/// Hexadecimal digits of a container's id that are enough to name it.
const MIN_ID_DIGITS: usize = 4;
/// Digits of an id that are shown, as container engines do.
const SHOWN_ID_DIGITS: usize = 12;

/// The JVM with this process id; else the only one whose main class has this part, or that is in
/// the container whose id begins so.
pub(crate) fn find(word: &str) -> Result<JvmProcess, Failure> {
    let Ok(pid) = word.parse::<u32>() else {
        return find_by_word(word);
    };
    match JvmProcess::open(pid) {
        // An id of a container may have no letter.
        Err(error @ AttachError::NoProcess) if is_begin_of_id(word) => {
            find_by_word(word).map_err(|failure| match failure {
                Failure::Finding(_) => failed(pid, &error),
                several => several,
            })
        }
        found => found.map_err(|error| failed(pid, &error)),
    }
}

fn find_by_word(word: &str) -> Result<JvmProcess, Failure> {
    let (mut all, closed) =
        JvmProcess::all().map_err(|error| Failure::Finding(format!("/proc: {error}")))?;
    let is_id = is_begin_of_id(word);
    let begin = word.to_ascii_lowercase();
    let is_in_container =
        |jvm: &JvmProcess| is_id && jvm.container_id().is_some_and(|id| id.starts_with(&begin));
    let has_main = |jvm: &JvmProcess| jvm.main_class().is_some_and(|main| main.contains(word));
    all.retain(|jvm| has_main(jvm) || is_in_container(jvm));
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
            let or_container = if is_id { ", or a container" } else { "" };
            Err(Failure::Finding(format!(
                "no JVM has a main class{or_container} with '{word}'; ctxjfr ps lists them{others}"
            )))
        }
        _ => {
            let names: Vec<String> = all.iter().map(shown_with_container).collect();
            Err(Failure::Usage(format!(
                "'{word}' fits several JVMs; give the process id: {}",
                names.join(", ")
            )))
        }
    }
}

fn is_begin_of_id(word: &str) -> bool {
    word.len() >= MIN_ID_DIGITS && word.chars().all(|c| c.is_ascii_hexdigit())
}

/// The begin of a container's id.
pub(crate) fn short_id(id: &str) -> &str {
    id.get(..SHOWN_ID_DIGITS).unwrap_or(id)
}

fn shown_with_container(jvm: &JvmProcess) -> String {
    let main = jvm.main_class().unwrap_or_default();
    let container = jvm.container_id();
    let container = container.map(|id| format!(" in {}", short_id(&id)));
    format!("{} {main}{}", jvm.pid(), container.unwrap_or_default())
}

/// Refuses options of the agent that `command` sets itself.
pub(crate) fn check_options(
    command: &str,
    own: &[&str],
    options: &[String],
) -> Result<(), Failure> {
    let items = options.iter().flat_map(|text| text.split(','));
    let mut names = items.map(|item| item.split('=').next().unwrap_or(item));
    match names.find(|name| own.contains(name)) {
        Some(name) => Err(Failure::Usage(format!(
            "{command} sets '{name}' itself: ctxjfr start takes it"
        ))),
        None => Ok(()),
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
        if let Some(path) = &loaded
            && jvm.is_musl()
            && !jvm.has_file(path)
        {
            return Err(Failure::Finding(format!(
                "process {} has an agent whose file is gone: with musl it takes no commands until \
                 the JVM is restarted; --agent names a library that stays",
                jvm.pid()
            )));
        }
        let file = if loaded.is_some() {
            None
        } else {
            let libc = if jvm.is_musl() {
                Libc::Musl
            } else {
                Libc::Glibc
            };
            Some(agent_library::open(libc)?)
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

    /// Whether the agent can be asked nothing more when this is gone: musl opens the file of a
    /// library to see that it is loaded.
    pub(crate) fn is_short_lived(&self) -> bool {
        self.is_lent && self.jvm.is_musl()
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

    /// A line if the agent that the JVM has loaded is of another release. Commands that both know
    /// work.
    pub(crate) fn other_release(&self) -> Result<Option<String>, Failure> {
        if loaded(self.jvm).is_none() {
            return Ok(None);
        }
        let pid = self.jvm.pid();
        let answer = self.command("version")?.into_result(pid)?;
        let version = answer.trim().trim_start_matches("ctxagent ");
        let own = env!("CARGO_PKG_VERSION");
        Ok((version != own).then(|| {
            format!(
                "process {pid} has agent {version}, this is ctxjfr {own}; what both know works, \
                 and a restart of the JVM takes the new agent"
            )
        }))
    }

    /// The path of the file that the agent writes now, as the JVM sees it.
    pub(crate) fn recorded_file(&self) -> Result<PathBuf, Failure> {
        let pid = self.jvm.pid();
        let failed = |what: &str| Failure::Finding(format!("process {pid} {what}"));
        let status = self.command(STATUS_AS_JSON)?.into_result(pid)?;
        let status: serde_json::Value = serde_json::from_str(&status)
            .map_err(|error| failed(&format!("gives a state that cannot be read: {error}")))?;
        let file = status["file"].as_str().map(PathBuf::from);
        file.ok_or_else(|| failed("is not recorded any more"))
    }

    /// Warns of an agent of another release.
    pub(crate) fn warn_of_other_release(&self) -> Result<(), Failure> {
        if let Some(line) = self.other_release()? {
            output::warn(&line);
        }
        Ok(())
    }

    fn ask(&self, library: &str, options: &str) -> Result<AgentReply, Failure> {
        let pid = self.jvm.pid();
        let text = format!("{options},reply={}", self.exchange.path_of(REPLY));
        let limit = limit_of(options);
        let code = self.jvm.load_agent(library, &text, limit, &helper);
        if self.is_lent && !self.is_short_lived() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_a_command_sets_are_refused() {
        let own = ["file", "loop", "timeout"];
        let check = |text: &str| check_options("record", &own, &[text.to_owned()]).is_ok();
        assert!(check("event=cpu+wall,interval=5ms") && check("ctx=file"));
        assert!(!check("interval=5ms,file=x.jfr") && !check("loop=1m") && !check("timeout=1s"));
    }
}
