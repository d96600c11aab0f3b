//! The end of a recording that has a limit of time (`timeout`): a thread of its own waits for that moment and then does what `stop` does.
//!
//! A recording that ends before drops its [`Timeout`], which ends the thread. A thread whose moment has come while another command is at work finds another
//! recording, or none, and does nothing: each recording has a number.

use crate::entry::agent::Agent;
use crate::guard::{self, OnFailure};
use crate::log;
use crate::os::agent_thread::BlockedSignals;
use std::convert::Infallible;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Held by the recording; see the module.
#[derive(Debug)]
pub(crate) struct Timeout {
    _alive: Sender<Infallible>,
    due: Instant,
}

impl Timeout {
    /// Ends recording `number` after this time.
    pub(crate) fn spawn(
        agent: &'static Agent,
        number: u64,
        after: Duration,
    ) -> Result<Self, String> {
        let (alive, ended) = mpsc::channel();
        let wait = move || wait(agent, number, after, &ended);
        guard::spawn(
            OnFailure::IgnoreAndCount,
            "ctxagent timeout",
            BlockedSignals::All,
            wait,
        )
        .map_err(|error| format!("no thread for the timeout: {error}"))?;
        Ok(Self {
            _alive: alive,
            due: Instant::now() + after,
        })
    }

    /// Time until the recording ends.
    pub(crate) fn left(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }
}

fn wait(agent: &'static Agent, number: u64, after: Duration, ended: &Receiver<Infallible>) {
    if ended.recv_timeout(after) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    // Only now: until then no Java thread of ours is seen. The VM refuses what a stop needs to a thread that is not attached.
    if agent.vm.attach_daemon(c"ctxagent timeout").is_none() {
        return log::warn("timeout: its thread cannot attach to the JVM; the recording goes on");
    }
    match agent.session.stop_recording(agent, number) {
        None => {}
        Some(Ok(answer)) => log::notice(&format!("timeout: {answer}")),
        Some(Err(why)) => log::warn(&format!("timeout: {why}")),
    }
    agent.vm.detach();
}
