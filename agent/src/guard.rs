//! The guard at every entry from the JVM and at the top of the agent's threads: a panic becomes a
//! counted failure by the policy that the entry names, never an unwind into C.
//!
//! Rules: (1) each `extern` function of this crate is one call of [`enter`]; (2) what the JVM sees
//! on failure is chosen by [`OnFailure`], not by each function.

use crate::os::agent_thread::{self, BlockedSignals};
use crate::{log, panics};
use signal_core::handler_state;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;

/// After this many failures of any kind the agent switches itself off.
const MAX_PANICS: u64 = 10;

/// A failure of the agent has switched it off.
static DISABLED: AtomicBool = AtomicBool::new(false);

/// What happens after a panic of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// Count it; the caller gets the default value. The tenth one ends sampling.
    IgnoreAndCount,
    /// Count it and end sampling: the recording ends here, the application runs on.
    DisableAgent,
}

/// Runs `body`; after a panic returns `default` and applies `policy`.
pub(crate) fn enter<T>(policy: OnFailure, entry: &str, default: T, body: impl FnOnce() -> T) -> T {
    panics::catch(body).unwrap_or_else(|why| {
        log::error(&format!("internal error in {entry}: {why}"));
        if policy == OnFailure::DisableAgent || panics::caught() >= MAX_PANICS {
            disable();
        }
        default
    })
}

/// Starts a guarded thread of the agent; error messages use `name`, too.
pub(crate) fn spawn(
    policy: OnFailure,
    name: &'static str,
    blocked: BlockedSignals,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    agent_thread::spawn(name, blocked, move || {
        enter(policy, &format!("thread '{name}'"), (), body);
    })
}

/// Ends sampling after an internal error. Callable from anywhere but a handler; takes no lock.
fn disable() {
    if let Some(handler) = handler_state::published() {
        handler.enabled.store(false, Relaxed);
    }
    if !DISABLED.swap(true, Relaxed) {
        log::error(
            "sampling is switched off after an internal error; the application is not affected",
        );
    }
}

/// Whether a failure of the agent has switched it off.
pub(crate) fn is_disabled() -> bool {
    DISABLED.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::panic, reason = "the test is about a panic")]
    fn a_panic_is_counted_and_returns_the_default() {
        let before = panics::caught();
        assert_eq!(
            enter(OnFailure::IgnoreAndCount, "test", 7, || -> i32 {
                panic!("on purpose")
            }),
            7
        );
        assert_eq!(enter(OnFailure::IgnoreAndCount, "test", 7, || 8), 8);
        assert!(panics::caught() > before);
    }
}
