//! The guard at every entry from the JVM and at the top of our own threads: a panic becomes a counted failure by the policy that the
//! entry names, never an unwind into C.
//!
//! Rules: (1) each `extern` function of this crate is one call of [`enter`]; (2) what the JVM sees on failure is chosen by
//! [`OnFailure`], not by each function.

use crate::log;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Panics caught since start.
static PANICS: AtomicU64 = AtomicU64::new(0);
/// After this many failures of any kind the agent switches itself off: something is wrong that counting does not cure.
const TOO_MANY: u64 = 10;

/// What happens after a panic of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// Count it; the caller gets the default value. The tenth one ends sampling.
    IgnoreAndCount,
    /// Count it and end sampling: the recording is lost from here on, the application is not.
    DisableAgent,
}

/// Runs `body`; after a panic answers `default` and does what `policy` says.
pub(crate) fn enter<T>(policy: OnFailure, entry: &str, default: T, body: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => value,
        Err(panic) => {
            let before = PANICS.fetch_add(1, Relaxed);
            log::error(&format!(
                "internal error in {entry}: {}",
                reason(panic.as_ref())
            ));
            if policy == OnFailure::DisableAgent || before + 1 >= TOO_MANY {
                crate::entry::agent::disable();
            }
            default
        }
    }
}

/// Panics caught so far; shown by `status`.
pub(crate) fn panics() -> u64 {
    PANICS.load(Relaxed)
}

fn reason(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::panic, reason = "the test is about a panic")]
    fn a_panic_is_counted_and_answered_with_the_default() {
        let before = panics();
        assert_eq!(
            enter(OnFailure::IgnoreAndCount, "test", 7, || -> i32 {
                panic!("planted")
            }),
            7
        );
        assert_eq!(enter(OnFailure::IgnoreAndCount, "test", 7, || 8), 8);
        assert!(panics() > before);
    }
}
