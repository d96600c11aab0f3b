//! The time limit of a recording (`timeout`): a thread waits for that moment and then does the same
//! as `stop`.
//!
//! A recording that ends earlier drops its [`Timeout`], which ends the thread. If another command
//! runs at that moment, the thread then finds another recording, or none, and does nothing.

use crate::guard::{self, OnFailure};
use crate::jvm::jni::Vm;
use crate::log;
use crate::os::agent_thread::BlockedSignals;
use std::convert::Infallible;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// The reply of the stop; `None` if the recording had ended.
type StopReply = Option<Result<String, String>>;

/// Held by the recording; see the module.
#[derive(Debug)]
pub(super) struct Timeout {
    _alive: Sender<Infallible>,
    due: Instant,
}

impl Timeout {
    /// Calls `stop` after this time.
    pub(super) fn spawn(
        vm: Vm,
        after: Duration,
        stop: impl FnOnce() -> StopReply + Send + 'static,
    ) -> Result<Self, String> {
        let (alive, ended) = mpsc::channel();
        guard::spawn(
            OnFailure::IgnoreAndCount,
            "ctxagent timeout",
            BlockedSignals::All,
            move || wait(vm, after, stop, &ended),
        )
        .map_err(|error| format!("no thread for the timeout: {error}"))?;
        Ok(Self {
            _alive: alive,
            due: Instant::now() + after,
        })
    }

    /// Time until the recording ends.
    pub(super) fn time_left(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }
}

fn wait(vm: Vm, after: Duration, stop: impl FnOnce() -> StopReply, ended: &Receiver<Infallible>) {
    if ended.recv_timeout(after) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    // Attaches only now: until then the JVM sees no thread of the agent. It refuses some calls of a
    // stop on a thread that is not attached.
    if vm.attach_daemon(c"ctxagent timeout").is_none() {
        return log::warn("timeout: its thread cannot attach to the JVM; the recording continues");
    }
    match stop() {
        None => {}
        Some(Ok(answer)) => log::notice(&format!("timeout: {answer}")),
        Some(Err(why)) => log::warn(&format!("timeout: {why}")),
    }
    vm.detach();
}
