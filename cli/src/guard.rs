//! A child process that ends a recording in order if `ctxjfr` is killed.
//!
//! It waits for its stdin to close. A `ctxjfr` that is done says so before; else the JVM would go
//! on recording, and the recording would stay where nobody looks.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hotspot_attach::JvmProcess;

use crate::args::GUARD;
use crate::exchange::{self, Exchange};
use crate::output::Failure;
use crate::target::{self, Agent, AgentReply};

/// What a `ctxjfr` says whose recording has begun, and one that is done.
const BEGUN: &[u8] = b"begun;";
const DONE: &[u8] = b"done;";

/// Begins a recording, which ends in order if this process is killed. Another one that runs is an
/// error, and goes on.
pub(crate) fn begin_recording(
    jvm: &JvmProcess,
    agent: &Agent<'_>,
    options: &str,
) -> Result<Guard, Failure> {
    let guard = Guard::start(jvm, agent.exchange())
        .map_err(|error| Failure::Finding(format!("cannot start a process: {error}")))?;
    agent.command(options)?.into_result(jvm.pid())?;
    guard.say(BEGUN);
    Ok(guard)
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Guard {
    child: Child,
}

impl Guard {
    fn start(jvm: &JvmProcess, exchange: &Exchange) -> io::Result<Self> {
        let (parent, name) = exchange.place();
        let child = Command::new("/proc/self/exe")
            .arg(GUARD)
            .arg(jvm.pid().to_string())
            .arg(parent)
            .arg(name)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C is for us alone.
            .process_group(0)
            .spawn()?;
        Ok(Self { child })
    }

    fn say(&self, what: &[u8]) {
        if let Some(mut stdin) = self.child.stdin.as_ref() {
            // It is gone if this fails.
            let _ = stdin.write_all(what);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.say(DONE);
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The hidden command: waits, ends the recording, removes the exchange.
pub(crate) fn run(pid: u32, parent: &Path, name: &str) -> Result<bool, Failure> {
    let open = || JvmProcess::open(pid).map_err(|error| target::failed(pid, &error));
    let at_begin = open()?;
    let mut said = Vec::new();
    let _ended = io::stdin().read_to_end(&mut said);
    if said.ends_with(DONE) {
        return Ok(true);
    }
    // Again, for the agent that it has loaded meanwhile.
    let jvm = open()?;
    if at_begin.has_ended() {
        return Ok(true); // and another process has its id
    }
    // Without a begin of ours, what is recorded is of somebody else.
    let stopped = if said.starts_with(BEGUN) {
        Agent::new(&jvm, None).and_then(|agent| agent.command("stop"))
    } else {
        Ok(AgentReply::default())
    };
    let removed = exchange::remove_left(&jvm, parent, name);
    stopped?;
    removed
        .map(|()| true)
        .map_err(|error| Failure::Finding(error.to_string()))
}
