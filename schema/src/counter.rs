//! Every counter, declared once: its name, unit, class and meaning.
//!
//! `docs/operations.md` lists the same names; `tests/tests/docs.rs` compares them.

/// What a counter counts, as the documentation prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Context blocks.
    Blocks,
    /// Bytes.
    Bytes,
    /// Copies of the Java API.
    Copies,
    /// Events of a kind: allocations, lock contentions, GC pauses.
    Events,
    /// Stack frames.
    Frames,
    /// Weight: sampling intervals of CPU time.
    Intervals,
    /// Java methods.
    Methods,
    /// Names of attributes.
    Names,
    /// Nanoseconds of CPU time.
    Nanoseconds,
    /// Reads of a thread's state by a sampler.
    Probes,
    /// CPU or wall-clock samples.
    Samples,
    /// Signals of the kernel.
    Signals,
    /// Threads.
    Threads,
    /// Occurrences.
    Times,
    /// Attribute values.
    Values,
    /// Visits of a thread by the wall-clock sampler: one per thread and period.
    Visits,
    /// Stack walks.
    Walks,
}

/// What a counter belongs to, and so how a recording reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// About the recording: `status` reports its growth since the start.
    Recording,
    /// About the process: `status` reports its value since the agent was loaded.
    Process,
    /// A current value, not a count: neither `status` nor a recording reports its growth.
    Gauge,
}

macro_rules! counters {
    ($(
        $(#[doc = $meaning:literal])+
        $variant:ident = $name:literal, $unit:ident, $class:ident;
    )+) => {
        /// A counter of the agent.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(usize)]
        pub enum Counter { $($(#[doc = $meaning])+ $variant,)+ }

        impl Counter {
            /// All counters, in the order in which `status` prints them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name in `status` and in `ctxagent.Stats`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What it counts.
            pub const fn unit(self) -> Unit {
                match self { $(Self::$variant => Unit::$unit,)+ }
            }

            /// What it belongs to.
            pub const fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class,)+ }
            }

            /// The sentences that the documentation has on it, with a space in front.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($meaning),+),)+ }
            }

            /// The counter of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

counters! {
    // The signal handler.
    /// Sampling signals that the handler took while recording.
    Signals = "signals", Signals, Recording;
    /// Samples that the handler handed to the writer.
    Captured = "captured", Samples, Recording;
    /// Timer expiries beyond the first of each signal; they are kept as weight.
    Overruns = "overruns", Intervals, Recording;
    /// Weight of the CPU samples that were lost.
    WeightLost = "weight.lost", Intervals, Recording;
    /// Weight of the CPU samples that a filter left out.
    WeightFiltered = "weight.filtered", Intervals, Recording;
    /// CPU samples lost because all sample slots were full.
    LostNoSlot = "lost.no_slot", Samples, Recording;
    /// CPU samples lost because the signal arrived inside the handler.
    LostReentry = "lost.reentry", Samples, Recording;
    /// CPU samples lost because the handler was still at work when the previous recording ended.
    LostLate = "lost.late", Samples, Recording;
    /// CPU samples that a filter left out.
    LostFiltered = "lost.filtered", Samples, Recording;
    /// Signals of another sender: passed on to the previous handler, or dropped if there was none.
    Foreign = "signals.foreign", Signals, Recording;
    /// Signals dropped because the previous handler passed them back to this one.
    ForeignCycle = "signals.foreign_cycle", Signals, Recording;
    /// Signals dropped because they came without the value that identifies the sender: the limit of
    /// pending signals was reached, or the signal action was restored without its flags.
    WithoutValue = "signals.without_value", Signals, Recording;
    /// Own signals that came before the start or after the stop of a recording.
    AfterStop = "signals.after_stop", Signals, Recording;
    /// Probes of the timers per CPU whose signal was taken while recording.
    Probes = "probes", Probes, Recording;
    /// Probes that met a thread of the application at work: each asks for a sample.
    ProbesMet = "probes.met", Probes, Recording;
    /// CPU samples of threads that had no record when their sample was written: they had just
    /// started, or had ended.
    Unregistered = "threads.unregistered", Samples, Recording;
    /// Probes that met a thread of the agent.
    ProbesAgent = "probes.agent", Probes, Recording;
    /// Probes that met nobody of this process: the CPU was idle, or busy for another process.
    ProbesMissed = "probes.missed", Probes, Recording;
    /// System calls that waited and that a probe has ended early, in other threads than the main one.
    ProbesInterrupted = "probes.interrupted", Times, Recording;
    /// Probes whose signal came too late to say whom they met.
    ProbesLate = "probes.late", Probes, Recording;
    /// Signals of timers that were armed again since; their probe is counted by itself.
    ProbesOutdated = "probes.outdated", Signals, Recording;
    /// Probes whose signal never came: the thread was about to exit, or something else took it.
    ProbesLost = "probes.lost", Probes, Recording;
    /// Intervals of a CPU without a probe, because no timer could be armed in time.
    ProbesSkipped = "probes.skipped", Intervals, Recording;
    /// Wall-clock signals that the handler took while recording.
    WallSignals = "wall.signals", Signals, Recording;
    /// Wall-clock samples lost: no thread record, a signal inside the handler, no free slot, or a
    /// file that could not be written.
    WallLost = "wall.lost", Samples, Recording;
    /// Wall-clock samples that a filter left out.
    WallFiltered = "wall.filtered", Samples, Recording;
    /// Wall-clock samples left out by `wallthreads=context` because the thread had no context.
    WallNoContext = "wall.no_context", Samples, Recording;
    /// Samples without context because the signal interrupted the thread while it wrote its block.
    ContextTorn = "context.torn", Samples, Recording;
    /// Samples without context because another thread had closed a scope of this one.
    ContextForeign = "context.foreign_close", Samples, Recording;
    /// Samples with at least one attribute.
    ContextPresent = "context.present", Samples, Recording;
    /// Samples of a mounted virtual thread.
    Virtual = "virtual", Samples, Recording;
    /// Stacks not walked because the walker is off: `cstack=no`, or a JVM on the deny list.
    WalkOff = "walk.off", Walks, Recording;
    /// Stacks not walked because too little of the thread's stack was left.
    WalkHeadroom = "walk.headroom", Walks, Recording;
    /// Stacks not walked because the thread was in a VM state that has no walkable stack.
    WalkState = "walk.thread_state", Walks, Recording;
    /// Stacks not walked because a garbage collection had stopped the VM.
    WalkGc = "walk.gc", Walks, Recording;
    /// Walks that found no Java frame.
    WalkNoFrame = "walk.no_java_frame", Walks, Recording;
    /// Walks that ended with an error.
    WalkFailed = "walk.failed", Walks, Recording;
    /// Walks that gave a stack.
    WalkOk = "walk.ok", Walks, Recording;
    /// Walks of the own walker down to the root or the depth limit.
    OwnOk = "walk.own.ok", Walks, Recording;
    /// Walks of the own walker down to a frame whose caller was not found; written as truncated.
    OwnPartial = "walk.own.partial", Walks, Recording;
    /// Walks of the own walker down to the root of a virtual thread with frames in the heap.
    OwnHeap = "walk.own.heap", Walks, Recording;
    /// Walks of the own walker that ended at frames of a virtual thread in the heap.
    OwnFrozen = "walk.own.frozen", Walks, Recording;
    /// Frames in the heap not read: the VM does not tell their layout, or it is not proven yet.
    FrozenOff = "walk.own.frozen.off", Walks, Recording;
    /// Frames in the heap not read, as a pause of the VM may have moved them.
    FrozenPause = "walk.own.frozen.pause", Walks, Recording;
    /// Frames in the heap not read, as the collector had not updated a reference yet.
    FrozenStale = "walk.own.frozen.stale", Walks, Recording;
    /// Frames in the heap not read, as an object was not what it should be.
    FrozenObject = "walk.own.frozen.object", Walks, Recording;
    /// Frames in the heap of which one was not what it should be.
    FrozenFrame = "walk.own.frozen.frame", Walks, Recording;
    /// Walks in which the own walker failed and `AsyncGetCallTrace` did not.
    OwnRescued = "walk.own.rescued", Walks, Recording;
    /// CPU time of the own walker in the walks that are timed, one in 16.
    OwnNanos = "walk.own.timed_nanos", Nanoseconds, Recording;
    /// Walks that were timed.
    OwnTimed = "walk.own.timed", Walks, Recording;
    /// Compiled frames that the own walker found in its cache of call sites.
    OwnSitesCached = "walk.own.sites.cached", Frames, Recording;
    /// Compiled frames that the own walker decoded: new, evicted from the cache, or with too many
    /// inlined methods.
    OwnSitesDecoded = "walk.own.sites.decoded", Frames, Recording;
    /// CPU time of `AsyncGetCallTrace` in the walks that shadow mode compares.
    AsgctNanos = "walk.asgct.timed_nanos", Nanoseconds, Recording;
    /// Own walks ended because the VM was rebuilding frames.
    OwnDeoptimization = "walk.own.failed.deoptimization", Walks, Recording;
    /// Own walks ended in native code that Java had called without leaving an anchor.
    OwnNative = "walk.own.failed.native", Walks, Recording;
    /// Own walks ended in a stub.
    OwnStub = "walk.own.failed.stub", Walks, Recording;
    /// Own walks ended in compiled code with an unknown frame layout.
    OwnCompiled = "walk.own.failed.compiled", Walks, Recording;
    /// Own walks ended because no plausible interpreter frame was found.
    OwnInterpreter = "walk.own.failed.interpreter", Walks, Recording;
    /// Own walks ended at an implausible return address.
    OwnCaller = "walk.own.failed.caller", Walks, Recording;
    /// Own walks ended because compiled code had no debug information.
    OwnScope = "walk.own.failed.scope", Walks, Recording;
    /// Own walks ended at a pointer that is no method.
    OwnMethod = "walk.own.failed.method", Walks, Recording;
    /// Own walks ended because the stack pointer went backwards.
    OwnStack = "walk.own.failed.stack", Walks, Recording;
    /// Own walks ended because no plausible entry frame was found.
    OwnEntry = "walk.own.failed.entry", Walks, Recording;
    /// Own walks ended at a word that could not be read.
    OwnFault = "walk.own.failed.fault", Walks, Recording;
    /// Own walks ended because they took too many steps.
    OwnSteps = "walk.own.failed.steps", Walks, Recording;
    /// Shadow mode: same methods and bytecode indices; begun in the interpreter.
    AgreeInterpreter = "shadow.agree.interpreter", Walks, Recording;
    /// Shadow mode: same methods and bytecode indices; begun in compiled code.
    AgreeCompiled = "shadow.agree.compiled", Walks, Recording;
    /// Shadow mode: same methods and bytecode indices; begun in a stub.
    AgreeStub = "shadow.agree.stub", Walks, Recording;
    /// Shadow mode: same methods and bytecode indices; begun in native code without an anchor.
    AgreeNative = "shadow.agree.native", Walks, Recording;
    /// Shadow mode: same methods and bytecode indices; begun at an anchor.
    AgreeAnchor = "shadow.agree.anchor", Walks, Recording;
    /// Shadow mode: equal except for the topmost physical frame; begun in the interpreter.
    TopInterpreter = "shadow.top.interpreter", Walks, Recording;
    /// Shadow mode: equal except for the topmost physical frame; begun in compiled code.
    TopCompiled = "shadow.top.compiled", Walks, Recording;
    /// Shadow mode: equal except for the topmost physical frame; begun in a stub.
    TopStub = "shadow.top.stub", Walks, Recording;
    /// Shadow mode: equal except for the topmost physical frame; begun in native code without an
    /// anchor.
    TopNative = "shadow.top.native", Walks, Recording;
    /// Shadow mode: equal except for the topmost physical frame; begun at an anchor.
    TopAnchor = "shadow.top.anchor", Walks, Recording;
    /// Shadow mode: one stack is the lower part of the other; begun in the interpreter.
    PrefixInterpreter = "shadow.prefix.interpreter", Walks, Recording;
    /// Shadow mode: one stack is the lower part of the other; begun in compiled code.
    PrefixCompiled = "shadow.prefix.compiled", Walks, Recording;
    /// Shadow mode: one stack is the lower part of the other; begun in a stub.
    PrefixStub = "shadow.prefix.stub", Walks, Recording;
    /// Shadow mode: one stack is the lower part of the other; begun in native code without an
    /// anchor.
    PrefixNative = "shadow.prefix.native", Walks, Recording;
    /// Shadow mode: one stack is the lower part of the other; begun at an anchor.
    PrefixAnchor = "shadow.prefix.anchor", Walks, Recording;
    /// Shadow mode: different below the topmost frame; begun in the interpreter.
    DifferInterpreter = "shadow.differ.interpreter", Walks, Recording;
    /// Shadow mode: different below the topmost frame; begun in compiled code.
    DifferCompiled = "shadow.differ.compiled", Walks, Recording;
    /// Shadow mode: different below the topmost frame; begun in a stub.
    DifferStub = "shadow.differ.stub", Walks, Recording;
    /// Shadow mode: different below the topmost frame; begun in native code without an anchor.
    DifferNative = "shadow.differ.native", Walks, Recording;
    /// Shadow mode: different below the topmost frame; begun at an anchor.
    DifferAnchor = "shadow.differ.anchor", Walks, Recording;
    /// Shadow mode: only the own walker found a stack.
    OnlyOwn = "shadow.only_own", Walks, Recording;
    /// Shadow mode: only `AsyncGetCallTrace` found a stack.
    OnlyAsgct = "shadow.only_asgct", Walks, Recording;
    /// Shadow mode: neither walker found a stack.
    Neither = "shadow.neither", Walks, Recording;
    /// Test builds: samples inside an oracle bracket.
    OracleBracketed = "oracle.bracketed", Samples, Recording;

    // The writer; these begin at 0 with each recording.
    /// CPU samples written.
    Written = "written", Samples, Recording;
    /// Weight of the CPU samples written.
    WrittenWeight = "written.weight", Intervals, Recording;
    /// Events beyond the first that samples of a weight above 1 were written as.
    WrittenSplit = "written.split", Events, Recording;
    /// CPU samples left out by `ratelimit`; the weight of others stands for them.
    Ratelimited = "ratelimited", Samples, Recording;
    /// Wall-clock samples left out by `ratelimit`, without repeats.
    WallRatelimited = "wall.ratelimited", Samples, Recording;
    /// Sampled allocations left out by `ratelimit`.
    AllocRatelimited = "alloc.ratelimited", Events, Recording;
    /// Wall-clock samples written, without repeats.
    WallWritten = "wall.written", Samples, Recording;
    /// Visits that the written repeats stand for.
    WallRepeatsWritten = "wall.repeats_written", Visits, Recording;
    /// Wall-clock samples written of virtual threads that no carrier ran.
    WallUnmountedWritten = "wall.unmounted.written", Samples, Recording;
    /// The same, left out by `ratelimit`.
    WallUnmountedRatelimited = "wall.unmounted.ratelimited", Samples, Recording;
    /// Sampled allocations written.
    AllocWritten = "alloc.written", Events, Recording;
    /// Lock contentions written.
    LockWritten = "lock.written", Events, Recording;
    /// Parks written.
    ParkWritten = "park.written", Events, Recording;
    /// Exceptions written.
    ExceptionWritten = "exception.written", Events, Recording;
    /// Labels written that became known after their request had been sampled.
    LateWritten = "late.written", Events, Recording;
    /// Scopes written.
    ScopesWritten = "scopes.written", Events, Recording;
    /// Marks and measures of the application written.
    MarksWritten = "marks.written", Events, Recording;
    /// GC pauses written.
    GcWritten = "gc.written", Events, Recording;
    /// CPU samples discarded because the file could not be written for too long.
    LostWrite = "lost.write", Samples, Recording;
    /// Stacks cut where the frames of a virtual thread are frozen in the heap.
    StackTruncatedVirtual = "stack.truncated_virtual", Samples, Recording;
    /// Stacks cut at the depth limit.
    StackTruncatedDepth = "stack.truncated_depth", Samples, Recording;
    /// Frames whose method had no id when the stack was walked.
    StackNullMethods = "stack.null_methods", Frames, Recording;
    /// Methods whose class was unloaded before its name was read.
    StackUnresolvedMethods = "stack.unresolved_methods", Methods, Recording;
    /// Writes that failed.
    WriteErrors = "write.errors", Times, Recording;
    /// Times the recording became less than requested: the file could not be written, or the own
    /// walker was switched off.
    StateDegraded = "state.degraded", Times, Recording;
    /// Times sampling stopped because something else took the sampling signal.
    SignalLost = "signal.lost", Times, Recording;
    /// Times the recording was paused by command.
    StatePaused = "state.paused", Times, Recording;
    /// Test builds: samples with the context that the program declared.
    OracleRight = "oracle.right", Samples, Recording;
    /// Test builds: samples with a context that the program did not declare.
    OracleWrong = "oracle.wrong", Samples, Recording;
    /// Test builds: samples without context though one was declared.
    OracleMissed = "oracle.missed", Samples, Recording;
    /// Test builds: samples without context that say that the block was being written.
    OracleTorn = "oracle.torn", Samples, Recording;
    /// Test builds: compared samples taken while the program changed its context.
    OracleChanging = "oracle.changing", Samples, Recording;
    /// Test builds: compared samples of virtual threads.
    OracleVirtual = "oracle.virtual", Samples, Recording;
    /// Test builds: logical threads with at least one compared sample.
    OracleThreads = "oracle.threads", Threads, Recording;

    // JVMTI events: allocations, lock contention, GC pauses.
    /// Sampled allocations.
    AllocSeen = "alloc.seen", Events, Recording;
    /// Sampled allocations that a filter left out.
    AllocFiltered = "alloc.filtered", Events, Recording;
    /// Sampled allocations lost: the queue to the writer was full, or the file could not be
    /// written.
    AllocLost = "alloc.lost", Events, Recording;
    /// Bytes that the lost allocations stand for.
    AllocLostBytes = "alloc.lost_bytes", Bytes, Recording;
    /// Bytes of lost allocations that a later allocation of the same thread and context stands for.
    AllocCarriedBytes = "alloc.carried_bytes", Bytes, Recording;
    /// Lock contentions.
    LockSeen = "lock.seen", Events, Recording;
    /// Lock contentions shorter than the option `lock` asks for.
    LockShort = "lock.short", Events, Recording;
    /// Lock contentions that had begun before the recording, or before the end of a pause: nothing
    /// else is known of them, and none is recorded.
    LockBefore = "lock.before", Events, Recording;
    /// Lock contentions that a filter left out.
    LockFiltered = "lock.filtered", Events, Recording;
    /// Lock contentions lost: the queue to the writer was full, too many threads waited, or the
    /// file could not be written.
    LockLost = "lock.lost", Events, Recording;
    /// Parks that took as long as the option `park` asks for.
    ParkSeen = "park.seen", Events, Recording;
    /// Such parks that had begun before the recording, or before the end of a pause: none is
    /// recorded.
    ParkBefore = "park.before", Events, Recording;
    /// Such parks that a filter left out.
    ParkFiltered = "park.filtered", Events, Recording;
    /// Such parks left out by `ratelimit`; others stand for them.
    ParkRatelimited = "park.ratelimited", Events, Recording;
    /// Such parks lost: the queue to the writer was full, or the file could not be written.
    ParkLost = "park.lost", Events, Recording;
    /// Exceptions created.
    ExceptionSeen = "exception.seen", Events, Recording;
    /// Exceptions that a filter left out.
    ExceptionFiltered = "exception.filtered", Events, Recording;
    /// Exceptions left out by `ratelimit`; others stand for them.
    ExceptionRatelimited = "exception.ratelimited", Events, Recording;
    /// Exceptions lost: the queue to the writer was full, or the file could not be written.
    ExceptionLost = "exception.lost", Events, Recording;
    /// Labels that became known after their request had been sampled.
    LateSeen = "late.seen", Events, Recording;
    /// Such labels lost: the queue to the writer was full, the thread had no context any more, or
    /// the file could not be written.
    LateLost = "late.lost", Events, Recording;
    /// Scopes that took as long as the option `scopes` asks for.
    ScopesSeen = "scopes.seen", Events, Recording;
    /// Scopes lost: the queue to the writer was full, or the values were not clear.
    ScopesLost = "scopes.lost", Events, Recording;
    /// Scopes lost because the file could not be written for too long.
    ScopesUnwritten = "scopes.unwritten", Events, Recording;
    /// Marks and measures of the application.
    MarksSeen = "marks.seen", Events, Recording;
    /// Marks and measures lost: the queue to the writer was full, or the file could not be written.
    MarksLost = "marks.lost", Events, Recording;
    /// GC pauses.
    GcSeen = "gc.seen", Events, Recording;
    /// GC pauses lost: the queue to the writer was full, or the file could not be written.
    GcLost = "gc.lost", Events, Recording;

    // The wall-clock sampler.
    /// Visits: one per thread and period.
    WallScheduled = "wall.scheduled", Visits, Recording;
    /// Probes of a thread; one probe of a long sleeper serves several visits.
    WallProbes = "wall.probes", Probes, Recording;
    /// Visits for which a signal was sent.
    WallSent = "wall.sent", Visits, Recording;
    /// Visits of threads that have not run since they were found asleep; their last sample counts
    /// again.
    WallRepeated = "wall.repeated", Visits, Recording;
    /// Visits of threads without a context, left out by `wallthreads=context`.
    WallUnlabelled = "wall.unlabelled", Visits, Recording;
    /// Visits of threads that had not yet run to take the previous signal; its sample counts again.
    WallPending = "wall.pending", Visits, Recording;
    /// Visits of threads that had ended.
    WallExited = "wall.exited", Visits, Recording;
    /// Visits left out because the thread slept for long or the CPUs were too busy; its next sample
    /// counts again.
    WallMissed = "wall.missed", Visits, Recording;
    /// Pending, missed or repeated visits that no sample stands for: it was filtered, lost, or
    /// never came.
    WallLeftOut = "wall.left_out", Visits, Recording;
    /// Visits whose repeats were lost: the queue was full, or the file could not be written.
    WallRepeatsLost = "wall.repeats_lost", Visits, Recording;
    /// Looks at virtual threads that no carrier ran.
    WallUnmounted = "wall.unmounted", Samples, Recording;
    /// Looks that a filter left out, or `wallthreads=context`.
    WallUnmountedFiltered = "wall.unmounted.filtered", Samples, Recording;
    /// Looks at threads that a carrier began to run meanwhile.
    WallUnmountedChanged = "wall.unmounted.changed", Samples, Recording;
    /// Samples of them lost: the queue to the writer was full, or the file could not be written.
    WallUnmountedLost = "wall.unmounted.lost", Samples, Recording;

    // Misuse of the Java API.
    /// Scopes that were closed twice.
    ApiDoubleClose = "api.double_close", Times, Process;
    /// Scopes that were closed while a later scope had a value in one of their slots.
    ApiCloseOutOfOrder = "api.close_out_of_order", Times, Process;
    /// Scopes that were closed by a thread that had not opened them.
    ApiCloseOnOtherThread = "api.close_on_other_thread", Times, Process;
    /// Contexts not set because no block was free.
    ApiNoFreeBlock = "api.no_free_block", Times, Process;
    /// Uses of a key that has no slot: the ninth and later.
    ApiNoSlot = "api.no_slot", Times, Process;
    /// Values cut to the length limit.
    ApiValueCut = "api.value_cut", Values, Process;
    /// Values shown as `(other)` because the raw area of the block was full.
    ApiRawAreaFull = "api.raw_area_full", Values, Process;
    /// Values that the full dictionary did not take.
    ApiValueOther = "api.value_other", Values, Process;
    /// Values with a lone surrogate, which was replaced.
    ApiTextReplaced = "api.text_replaced", Values, Process;
    /// Number of the contract that nothing counts at present.
    ApiFiltered = "api.filtered", Times, Process;
    /// Times all scopes of a thread were ended because it was unknown which were open.
    ApiAllEnded = "api.all_ended", Times, Process;
    /// Scopes not recorded because their builder was made before the agent was loaded.
    ApiMadeBeforeAgent = "api.made_before_agent", Times, Process;

    // The thread directory.
    /// Threads that the agent knows now.
    ThreadsKnown = "threads.known", Threads, Gauge;
    /// Timers on the CPU clocks of threads created (`engine=tick`).
    ThreadsTimersMade = "threads.timers_made", Times, Process;
    /// Threads without such a timer; their CPU time is not sampled.
    ThreadsWithoutTimer = "threads.without_timer", Threads, Gauge;
    /// Threads that got no record because there were too many.
    ThreadsWithoutRecord = "threads.without_record", Threads, Process;

    // Attribute names and the value dictionary.
    /// Values in the dictionary.
    DictionaryValues = "dictionary.values", Values, Process;
    /// Text of the values in the dictionary.
    DictionaryBytes = "dictionary.bytes", Bytes, Process;
    /// Values that the full dictionary did not take.
    DictionaryFull = "dictionary.full", Values, Process;
    /// Attribute names that got no slot.
    KeysRefused = "keys.refused", Names, Process;

    // The process.
    /// Copies of the Java API in this process that the agent cannot serve.
    ApiRefused = "api.refused", Copies, Gauge;
    /// Blocks reclaimed from virtual threads that ended without releasing them.
    BlocksFreed = "blocks.freed", Blocks, Process;
    /// CPU time of the process.
    CpuProcess = "cpu.process", Nanoseconds, Recording;
    /// CPU time of the agent's own threads and of probes that met nobody, part of `cpu.process`.
    CpuAgent = "cpu.agent", Nanoseconds, Recording;
    /// 1 if an internal error has switched the agent off.
    StateOffByError = "state.off_by_error", Times, Process;
    /// Reads of the own walker that faulted and were contained.
    OwnFaults = "walk.own.faults", Times, Recording;
    /// Panics of the agent that were caught.
    AgentPanics = "agent.panics", Times, Process;
}

impl Counter {
    /// How many counters there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The place in an array with one cell per counter.
    pub const fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_indices_are_dense() {
        for (index, counter) in Counter::ALL.iter().enumerate() {
            assert_eq!(counter.index(), index);
            assert_eq!(Counter::from_name(counter.name()), Some(*counter));
        }
        assert_eq!(Counter::from_name("no.such"), None);
    }
}
