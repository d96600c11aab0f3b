//! Ctrl-C, and the end of the JVM: what ends a command before its time.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hotspot_attach::JvmProcess;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::output::Failure;

/// Exit code after a second Ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;

/// Why a command ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EarlyEnd {
    /// Ctrl-C, or a request to end.
    Interrupt,
    /// The JVM has ended.
    Process,
}

/// Ctrl-C, or a request to end.
#[derive(Debug)]
pub(crate) struct Interrupt {
    wake: UnixStream,
}

impl Interrupt {
    /// From now on the first one is noted, and a second one ends the program at once.
    pub(crate) fn new() -> Result<Self, Failure> {
        Self::register()
            .map_err(|error| Failure::Finding(format!("cannot wait for Ctrl-C: {error}")))
    }

    fn register() -> io::Result<Self> {
        let (wake, sender) = UnixStream::pair()?;
        let once = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, once.clone())?;
            signal_hook::flag::register(signal, once.clone())?;
            signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
        }
        Ok(Self { wake })
    }

    /// Waits for one of the ends, at most for this time.
    pub(crate) fn wait(&self, jvm: &JvmProcess, limit: Duration) -> Option<EarlyEnd> {
        let end = jvm.end_signal();
        let mut handles = [
            PollFd::new(&end, PollFlags::IN),
            PollFd::new(&self.wake, PollFlags::IN),
        ];
        let limit = Timespec::try_from(limit).unwrap_or_default();
        // A failure is an interruption by a signal, of which the next call hears.
        let _ = poll(&mut handles, Some(&limit));
        if !handles[1].revents().is_empty() {
            return Some(EarlyEnd::Interrupt);
        }
        (!handles[0].revents().is_empty()).then_some(EarlyEnd::Process)
    }
}
