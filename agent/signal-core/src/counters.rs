//! One counter per cause. What cannot be done in a handler is counted here, never logged.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// What is counted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Counter { $($(#[doc = $doc])+ $variant,)+ }

        /// Names of all counters, in the order of [`Counter`]; they appear in `status` and in `ctxagent.Stats`.
        pub const NAMES: &[&str] = &[$($name,)+];
        /// All counters, in order.
        pub const ALL: &[Counter] = &[$(Counter::$variant,)+];
    };
}

counters! {
    /// Signals that carried our cookie and found us recording.
    Signals = "signals",
    /// Samples handed to the writer (ready slots).
    Captured = "captured",
    /// Timer expiries that one signal stood for beyond the first; kept as weight.
    Overruns = "overruns",
    /// Lost: no free slot within the bounded tries.
    LostNoSlot = "lost.no_slot",
    /// Lost: the thread has no record (before ThreadStart, after ThreadEnd).
    LostUnknownThread = "lost.unknown_thread",
    /// Lost: a signal arrived inside our handler.
    LostReentry = "lost.reentry",
    /// Not ours: passed on to the handler that was there before, or dropped if there was none.
    Foreign = "signals.foreign",
    /// Ours, after stop or before start.
    AfterStop = "signals.after_stop",
    /// Not samples: the engine's own wake-ups on the way to a sample point.
    EngineWakeups = "signals.engine",
    /// Samples without context because the owner was interrupted while writing its block.
    ContextTorn = "context.torn",
    /// Samples without context because a scope was closed by a foreign thread.
    ContextForeign = "context.foreign_close",
    /// Samples with at least one attribute.
    ContextPresent = "context.present",
    /// Samples of a virtual thread (mounted at the signal).
    Virtual = "virtual",
    /// Stack not walked: walker off (deny-listed JVM, or `cstack=no`).
    WalkOff = "walk.off",
    /// Stack not walked: too little room on the thread's stack.
    WalkHeadroom = "walk.headroom",
    /// Stack not walked: thread state outside native..blocked.
    WalkState = "walk.thread_state",
    /// Stack not walked: a garbage collection had the VM stopped.
    WalkGc = "walk.gc",
    /// The walker found no Java frame.
    WalkNoFrame = "walk.no_java_frame",
    /// The walker answered with an error code.
    WalkFailed = "walk.failed",
    /// Stack walked.
    WalkOk = "walk.ok",
    /// Test builds: samples inside an oracle bracket.
    OracleChecked = "oracle.bracketed",
}

const COUNT: usize = ALL.len();

/// The counters of a process.
#[derive(Debug)]
pub struct Counters {
    cells: [AtomicU64; COUNT],
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}

/// Set-up methods.
impl Counters {
    /// All zero.
    pub const fn new() -> Self {
        Self {
            cells: [const { AtomicU64::new(0) }; COUNT],
        }
    }
}

/// Signal-safe methods.
impl Counters {
    /// Adds one. Relaxed: only counted, never decides.
    pub fn add(&self, counter: Counter) {
        self.add_many(counter, 1);
    }

    /// Adds `n`.
    pub fn add_many(&self, counter: Counter, n: u64) {
        if let Some(cell) = self.cells.get(counter as usize) {
            cell.fetch_add(n, Relaxed);
        }
    }

    /// The count so far.
    pub fn get(&self, counter: Counter) -> u64 {
        self.cells
            .get(counter as usize)
            .map_or(0, |cell| cell.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_its_own_name_and_cell() {
        assert_eq!(NAMES.len(), ALL.len());
        let c = Counters::new();
        for (i, counter) in ALL.iter().enumerate() {
            assert_eq!(*counter as usize, i);
            c.add_many(*counter, i as u64 + 1);
        }
        for (i, counter) in ALL.iter().enumerate() {
            assert_eq!(c.get(*counter), i as u64 + 1);
            assert_eq!(NAMES.iter().filter(|n| **n == NAMES[i]).count(), 1);
        }
    }
}
