//! Copies of the Java API that this agent cannot serve: one of another contract, or one whose
//! package a build renamed (relocation). Java code with such a copy runs, but the agent never sees
//! its contexts. So the agent reports it: once in the log, in `status`, and as a counter in the
//! recording.

use crate::log;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The class whose natives this library has.
pub(crate) const NATIVES: &str = "Lio/ctxagent/internal/agent/Native;";
/// The same class in any package.
const RENAMED_NATIVES: &str = "/ctxagent/internal/agent/Native;";
/// Maximum number of reported reasons; a JVM has a few copies, not dozens.
const MAX_REASONS: usize = 16;

/// Whether a copy has bound a key: its contexts are on. A request for the slab proves nothing: our
/// own threads cause one when they prepare the API.
static IN_USE: AtomicBool = AtomicBool::new(false);
/// The reasons of refusals, each once.
static REFUSALS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn refusals() -> MutexGuard<'static, Vec<String>> {
    REFUSALS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A copy of the API binds a key.
pub(crate) fn is_served() {
    IN_USE.store(true, Relaxed);
}

/// A copy of the API speaks contract `wanted` only, this agent contract `ours`.
pub(crate) fn refuse_contract(wanted: i32, ours: i32) {
    let newer = if wanted > ours { "agent" } else { "API" };
    refuse(format!(
        "a copy of the Java API needs contract {wanted} of the agent, this one has {ours}: its \
         contexts are off; use a newer {newer}, or both of one release"
    ));
}

/// A copy of the API could not be prepared.
pub(crate) fn refuse_failed(why: &str) {
    refuse(format!(
        "a copy of the Java API cannot be used, {}: its contexts are off",
        why.escape_debug()
    ));
}

/// Checks the signature of a loaded class:
/// `Lcom/acme/shaded/io/ctxagent/internal/agent/Native;` is a copy whose natives the VM does not
/// find.
pub(crate) fn check_class(signature: &str) {
    if signature != NATIVES && signature.ends_with(RENAMED_NATIVES) {
        let package = signature
            .trim_start_matches('L')
            .trim_end_matches("/internal/agent/Native;")
            .replace('/', ".");
        refuse(format!(
            "a copy of the Java API is in package {package}: its contexts are off; the package \
             io.ctxagent must keep its name (exclude it from relocation)"
        ));
    }
}

fn refuse(why: String) {
    let mut reasons = refusals();
    if reasons.len() < MAX_REASONS && !reasons.contains(&why) {
        log::warn(&why);
        reasons.push(why);
    }
}

/// Number of refused copies.
pub(crate) fn refused() -> u64 {
    refusals().len() as u64
}

/// The line of `status` about the API.
pub(crate) fn status() -> Vec<String> {
    let reasons = refusals();
    let state = match (IN_USE.load(Relaxed), reasons.is_empty()) {
        (true, _) => Some("in use".to_owned()),
        (false, true) => Some("not in use yet".to_owned()),
        (false, false) => None,
    };
    let refused = reasons.iter().map(|why| format!("refused ({why})"));
    state.into_iter().chain(refused).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_logged_once_and_the_api_itself_is_fine() {
        check_class(NATIVES);
        check_class("Ljava/lang/Object;");
        assert_eq!(refused(), 0);
        for _ in 0..3 {
            refuse_contract(2, 1);
            check_class("Lcom/acme/io/ctxagent/internal/agent/Native;");
        }
        assert_eq!(refused(), 2);
        let status = status();
        assert!(status.iter().any(|line| line.contains("contract 2")));
        assert!(
            status
                .iter()
                .any(|line| line.contains("package com.acme.io.ctxagent:"))
        );
        for other in 0..100 {
            refuse_contract(other, 1);
        }
        assert_eq!(refused(), MAX_REASONS as u64);
    }
}
