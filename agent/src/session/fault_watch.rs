//! Switches the agent's stack walker off if its loads fault again and again: then it does not
//! understand this VM. Each fault is contained (`stack_walker::safe_fetch`), but it costs
//! microseconds in a handler, and many of them are a reason for doubt.
//!
//! After that, AsyncGetCallTrace walks the stacks if it is allowed, else nothing does. The walker
//! stays off for the rest of the process.

use crate::log;
use signal_core::counters::Counter;
use signal_core::handler_state::{HandlerState, OwnWalker, WalkMode};
use stack_walker::heap::ChunkState;
use stack_walker::safe_fetch;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Limit of faults within [`WINDOW`]; they must also be more than one in [`WALKS`] walks. A search
/// that finds nothing does not fault; what is left are threads that end and code that is freed, at
/// most once in 10 000 walks.
const LIMIT: u64 = 200;
const WALKS: u64 = 50;
const WINDOW: Duration = Duration::from_secs(10);

/// Set once, never cleared.
static TRIPPED: AtomicBool = AtomicBool::new(false);

/// The log says that no stack chunk is read.
static CHUNKS_REPORTED: AtomicBool = AtomicBool::new(false);

/// Whether the agent's walker was switched off.
pub(crate) fn has_tripped() -> bool {
    TRIPPED.load(Relaxed)
}

/// Faults and walks up to one moment.
#[derive(Debug, Clone, Copy)]
struct FaultCount {
    faults: u64,
    walks: u64,
}

impl FaultCount {
    fn now(handler: &HandlerState) -> Self {
        let walks = [Counter::Captured, Counter::WallSignals];
        Self {
            faults: safe_fetch::contained_faults(),
            walks: walks.map(|c| handler.counters.get(c)).iter().sum(),
        }
    }
}

/// Counts faults per window.
#[derive(Debug)]
pub(crate) struct FaultWatch {
    limit: u64,
    before: FaultCount,
    since: Instant,
}

impl FaultWatch {
    pub(crate) fn new(handler: &HandlerState) -> Self {
        Self {
            limit: limit(),
            before: FaultCount::now(handler),
            since: Instant::now(),
        }
    }

    /// Switches the walker off if there were too many faults; `true` if it just did. Says so if
    /// the walker has stopped to read stack chunks.
    pub(crate) fn check(&mut self, handler: &HandlerState) -> bool {
        warn_of_refused_chunks(handler);
        let now = FaultCount::now(handler);
        if !self.too_many(now, Instant::now()) || TRIPPED.swap(true, Relaxed) {
            return false;
        }
        // Relaxed: a handler that sees it late walks once more.
        handler.walk_mode.store(WalkMode::Asgct as u32, Relaxed);
        let left = if handler.asgct() == 0 {
            "samples have no stacks from now on"
        } else {
            "AsyncGetCallTrace goes on alone"
        };
        log::warn(&format!(
            "our own stack walker is switched off: {} of its loads failed within {} s; {left}. \
             Please report this",
            now.faults - self.before.faults,
            WINDOW.as_secs()
        ));
        true
    }

    fn too_many(&mut self, now: FaultCount, at: Instant) -> bool {
        if at.duration_since(self.since) > WINDOW {
            self.since = at;
            self.before = now;
        }
        let faults = now.faults.saturating_sub(self.before.faults);
        let walks = now.walks.saturating_sub(self.before.walks);
        faults >= self.limit && faults * WALKS > walks
    }
}

/// Says once that the layout of stack chunks is not the expected one.
fn warn_of_refused_chunks(handler: &HandlerState) {
    let state = handler.stack_walker().map(OwnWalker::chunk_state);
    if state == Some(ChunkState::Refused) && !CHUNKS_REPORTED.swap(true, Relaxed) {
        log::warn(
            "the stack of a virtual thread that has blocked ends where it was resumed: the frames \
             that this JVM keeps in the heap are not where they should be. Please report this",
        );
    }
}

#[cfg(not(feature = "faults"))]
const fn limit() -> u64 {
    LIMIT
}

/// Test builds: with `CTXAGENT_FAULTS_KEEP` there is no limit, so that a whole run has faults.
#[cfg(feature = "faults")]
fn limit() -> u64 {
    if std::env::var_os("CTXAGENT_FAULTS_KEEP").is_some() {
        u64::MAX
    } else {
        LIMIT
    }
}

/// Test builds: one load in `CTXAGENT_FAULTS` faults.
#[cfg(feature = "faults")]
pub(crate) fn begin_faults() {
    let one_in = std::env::var("CTXAGENT_FAULTS").ok();
    let one_in = one_in.and_then(|number| number.parse().ok());
    safe_fetch::faults::ONE_IN.store(one_in.unwrap_or(0), Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_burst_of_faults_is_too_many() {
        let begin = Instant::now();
        let count = |faults| FaultCount { faults, walks: 500 };
        let mut watch = FaultWatch {
            limit: 200,
            before: count(1000),
            since: begin,
        };
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert!(!watch.too_many(count(1199), at(9)));
        assert!(watch.too_many(count(1200), at(9)));
        let walks = 500 + 200 * WALKS;
        let many = FaultCount {
            faults: 1200,
            walks,
        };
        assert!(!watch.too_many(many, at(9)), "few for so many walks");
        assert!(!watch.too_many(count(1250), at(11)), "a new window");
        assert!(!watch.too_many(count(1449), at(20)));
        assert!(watch.too_many(count(1450), at(20)));
    }
}
