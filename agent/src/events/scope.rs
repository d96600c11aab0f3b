//! Scopes of the Java API that took long, if a recording wants them (`scopes`).
//!
//! Rule: Java relies on the answer. A scope that is kept is in the recording, or counts as
//! `scopes.unwritten`; of one that is not, the scope around it says what may have changed.

use super::queue::{EventQueue, Payload, ScopeTimes};
use crate::options::Options;
use signal_core::block::ReadOutcome;
use signal_core::counters::Counter;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};

/// No recording wants scopes.
const OFF: i64 = -1;

/// What Java is told of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeAnswer {
    /// No recording wants scopes.
    Off,
    /// The recording does not tell of it.
    NotKept,
    /// `is_redacted`: no value may be seen elsewhere.
    Kept { is_redacted: bool },
}

/// Which scopes are wanted.
#[derive(Debug)]
pub(super) struct Scopes {
    threshold_nanos: AtomicI64,
    /// Scopes that began before are not kept: the copies of the API may not all have timed them.
    since_nanos: AtomicU64,
    /// The recording redacts values.
    is_redacted: AtomicBool,
}

impl Default for Scopes {
    fn default() -> Self {
        Self {
            threshold_nanos: AtomicI64::new(OFF),
            since_nanos: AtomicU64::new(u64::MAX),
            is_redacted: AtomicBool::new(false),
        }
    }
}

impl Scopes {
    /// A recording comes, or none any more: what the API is to time. Before it is asked to.
    pub(super) fn want(&self, options: Option<&Options>) {
        let threshold = options.and_then(|options| options.scopes);
        let nanos = threshold.map(|time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        let is_redacted = options.is_some_and(|options| !options.redact.is_empty());
        self.is_redacted.store(is_redacted, Relaxed);
        self.threshold_nanos.store(nanos.unwrap_or(OFF), Relaxed);
        self.since_nanos.store(u64::MAX, Relaxed);
    }

    /// Scopes that begin from now on are kept; `u64::MAX`: none.
    pub(super) fn keep_since(&self, nanos: u64) {
        self.since_nanos.store(nanos, Relaxed);
    }

    pub(super) fn threshold_nanos(&self) -> i64 {
        self.threshold_nanos.load(Relaxed)
    }

    /// Queues it with the values that the calling thread has now.
    pub(super) fn queue(
        &self,
        queue: &EventQueue,
        end_nanos: u64,
        scope: ScopeTimes,
    ) -> ScopeAnswer {
        if self.threshold_nanos() == OFF {
            return ScopeAnswer::Off;
        }
        if scope.begin_nanos < self.since_nanos.load(Relaxed) {
            return ScopeAnswer::NotKept;
        }
        let counters = &queue.handler.counters;
        counters.add(Counter::ScopesSeen);
        let (event, found) = queue.current_event(end_nanos, Payload::Scope(scope));
        if found != ReadOutcome::Values || !queue.push(event) {
            counters.add(Counter::ScopesLost);
            return ScopeAnswer::NotKept;
        }
        let is_redacted = self.is_redacted.load(Relaxed);
        ScopeAnswer::Kept { is_redacted }
    }
}
