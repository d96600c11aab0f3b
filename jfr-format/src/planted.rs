//! Bugs that a test build has when the variable `CTXAGENT_PLANTED` names them: each must be found by a test (`make selftest`).
//!
//! The agent and the command line ask here too. In other builds [`is`] is the constant `false`, and neither the names nor the variable are in them.

/// Whether this build has the bug of this name now.
#[cfg(not(feature = "planted"))]
#[inline]
pub const fn is(_bug: &str) -> bool {
    false
}

/// Whether this build has the bug of this name now.
#[cfg(feature = "planted")]
pub fn is(bug: &str) -> bool {
    chosen() == Some(bug)
}

/// The bug that this process was told to have.
#[cfg(feature = "planted")]
pub fn chosen() -> Option<&'static str> {
    static CHOSEN: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let name = CHOSEN.get_or_init(|| std::env::var("CTXAGENT_PLANTED").ok());
    name.as_deref().filter(|name| !name.is_empty())
}
