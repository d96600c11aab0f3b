//! One counter per cause. What cannot be done in a handler is counted here, never logged.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// What is counted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Counter { $($(#[doc = $doc])+ $variant,)+ }

        /// Names of all counters, in the order of [`Counter`]; they appear in `status` and in
        /// `ctxagent.Stats`.
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
    /// Weight of the samples that were lost, in intervals.
    WeightLost = "weight.lost",
    /// Weight of the samples that were not wanted.
    WeightFiltered = "weight.filtered",
    /// Lost: no free slot within the bounded tries.
    LostNoSlot = "lost.no_slot",
    /// Lost: the thread has no record (before ThreadStart, after ThreadEnd).
    LostUnknownThread = "lost.unknown_thread",
    /// Lost: a signal arrived inside our handler.
    LostReentry = "lost.reentry",
    /// Lost: the handler was still at work when the recording before ended.
    LostLate = "lost.late",
    /// Not wanted: the context's filter leaves the sample's event type out.
    LostFiltered = "lost.filtered",
    /// Not ours: passed on to the handler that was there before, or dropped if there was none.
    Foreign = "signals.foreign",
    /// Not ours, and come back to us from the handler it was passed on to: the two pass on to each
    /// other. Dropped.
    ForeignCycle = "signals.foreign_cycle",
    /// Without the value that would tell whose they are, and not waited for: at the limit of
    /// pending signals. Or without all that the kernel tells, because our action was put back
    /// without its flags. Dropped.
    WithoutValue = "signals.without_value",
    /// Ours, after stop or before start.
    AfterStop = "signals.after_stop",
    /// Not samples: the engine's own wake-ups on the way to a sample point.
    EngineWakeups = "signals.engine",
    /// Samples of threads left to the poll that their coarse timer took, on a tick: the poll had
    /// missed them.
    PollMissed = "poll.missed",
    /// Wall-clock signals that found us recording.
    WallSignals = "wall.signals",
    /// Wall-clock samples lost: no record, inside our handler, or no free slot.
    WallLost = "wall.lost",
    /// Wall-clock samples not wanted: the context's filter leaves them out.
    WallFiltered = "wall.filtered",
    /// Wall-clock samples not wanted: `wallthreads=context`, and the thread had none.
    WallNoContext = "wall.no_context",
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
    /// Walked by our own walker, to the root or to the depth limit.
    OwnOk = "walk.own.ok",
    /// Walked by our own walker down to a frame whose caller was not found; written as truncated.
    OwnPartial = "walk.own.partial",
    /// Walked by our own walker down to the frames that are frozen in the heap.
    OwnFrozen = "walk.own.frozen",
    /// Our own walker failed, AsyncGetCallTrace did not.
    OwnRescued = "walk.own.rescued",
    /// CPU nanoseconds in our own walker, over the walks that are timed (one in 16).
    OwnNanos = "walk.own.timed_nanos",
    /// Walks that were timed.
    OwnTimed = "walk.own.timed",
    /// Compiled frames of our own walks that were known from an earlier walk.
    OwnSitesKnown = "walk.own.sites.known",
    /// Compiled frames of our own walks that were decoded: first seen, forgotten, or too many
    /// methods inlined.
    OwnSitesDecoded = "walk.own.sites.decoded",
    /// CPU nanoseconds in AsyncGetCallTrace, over the walks that shadow mode compares.
    AsgctNanos = "walk.asgct.timed_nanos",
    /// Own walk ended: frames are being rebuilt by the VM.
    OwnDeoptimization = "walk.own.failed.deoptimization",
    /// Own walk ended: native code called by Java without a record.
    OwnNative = "walk.own.failed.native",
    /// Own walk ended: in a stub.
    OwnStub = "walk.own.failed.stub",
    /// Own walk ended: compiled code whose frame was not understood.
    OwnCompiled = "walk.own.failed.compiled",
    /// Own walk ended: no plausible interpreter frame.
    OwnInterpreter = "walk.own.failed.interpreter",
    /// Own walk ended: a return address that is none.
    OwnCaller = "walk.own.failed.caller",
    /// Own walk ended: no debug information.
    OwnScope = "walk.own.failed.scope",
    /// Own walk ended: not a method.
    OwnMethod = "walk.own.failed.method",
    /// Own walk ended: stack pointer out of order.
    OwnStack = "walk.own.failed.stack",
    /// Own walk ended: no plausible entry frame.
    OwnEntry = "walk.own.failed.entry",
    /// Own walk ended: a word that could not be read.
    OwnFault = "walk.own.failed.fault",
    /// Own walk ended: too many steps.
    OwnSteps = "walk.own.failed.steps",
    /// Shadow: same methods and indices; begun in the interpreter.
    AgreeInterpreter = "shadow.agree.interpreter",
    /// Shadow: same methods and indices; begun in compiled code.
    AgreeCompiled = "shadow.agree.compiled",
    /// Shadow: same methods and indices; begun in a stub.
    AgreeStub = "shadow.agree.stub",
    /// Shadow: same methods and indices; begun in native code without anchor.
    AgreeNative = "shadow.agree.native",
    /// Shadow: same methods and indices; begun at an anchor.
    AgreeAnchor = "shadow.agree.anchor",
    /// Shadow: equal but for the methods and index of the topmost physical frame; begun in the
    /// interpreter.
    TopInterpreter = "shadow.top.interpreter",
    /// Shadow: equal but for the methods and index of the topmost physical frame; begun in compiled
    /// code.
    TopCompiled = "shadow.top.compiled",
    /// Shadow: equal but for the methods and index of the topmost physical frame; begun in a stub.
    TopStub = "shadow.top.stub",
    /// Shadow: equal but for the methods and index of the topmost physical frame; begun in native
    /// code without anchor.
    TopNative = "shadow.top.native",
    /// Shadow: equal but for the methods and index of the topmost physical frame; begun at an
    /// anchor.
    TopAnchor = "shadow.top.anchor",
    /// Shadow: one stack is the lower part of the other; begun in the interpreter.
    PrefixInterpreter = "shadow.prefix.interpreter",
    /// Shadow: one stack is the lower part of the other; begun in compiled code.
    PrefixCompiled = "shadow.prefix.compiled",
    /// Shadow: one stack is the lower part of the other; begun in a stub.
    PrefixStub = "shadow.prefix.stub",
    /// Shadow: one stack is the lower part of the other; begun in native code without anchor.
    PrefixNative = "shadow.prefix.native",
    /// Shadow: one stack is the lower part of the other; begun at an anchor.
    PrefixAnchor = "shadow.prefix.anchor",
    /// Shadow: different below the topmost frame; begun in the interpreter.
    DifferInterpreter = "shadow.differ.interpreter",
    /// Shadow: different below the topmost frame; begun in compiled code.
    DifferCompiled = "shadow.differ.compiled",
    /// Shadow: different below the topmost frame; begun in a stub.
    DifferStub = "shadow.differ.stub",
    /// Shadow: different below the topmost frame; begun in native code without anchor.
    DifferNative = "shadow.differ.native",
    /// Shadow: different below the topmost frame; begun at an anchor.
    DifferAnchor = "shadow.differ.anchor",
    /// Shadow: only our own walker has a stack.
    OnlyOwn = "shadow.only_own",
    /// Shadow: only AsyncGetCallTrace has a stack.
    OnlyAsgct = "shadow.only_asgct",
    /// Shadow: neither has a stack.
    Neither = "shadow.neither",
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
