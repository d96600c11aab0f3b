//! The events that the agent hands over.

use jfr_format::write::{AttributeKey, ClassKey, Context, StackKey, StateKey, ThreadKey, Ticks};

/// A CPU sample: `jdk.ExecutionSample`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub at: Ticks,
    /// Which thread.
    pub thread: ThreadKey,
    /// Its stack.
    pub stack: StackKey,
    /// Its state.
    pub state: StateKey,
    /// Its context.
    pub context: Context,
    /// Sampling intervals it stands for. Above 99 the sample is written as several events.
    pub weight: u32,
}

/// A wall-clock sample: `profiler.WallClockSample`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallSample {
    /// When.
    pub at: Ticks,
    /// Which thread.
    pub thread: ThreadKey,
    /// Its stack.
    pub stack: StackKey,
    /// Its state.
    pub state: StateKey,
    /// Its context.
    pub context: Context,
    /// Sampling intervals it stands for.
    pub samples: u32,
}

/// An allocation: `jdk.ObjectAllocationSample`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// When.
    pub at: Ticks,
    /// Which thread.
    pub thread: ThreadKey,
    /// Its stack.
    pub stack: StackKey,
    /// Class of the object.
    pub class: ClassKey,
    /// Bytes it stands for; its size where nothing stands for others.
    pub bytes: u64,
    /// Size of the object, where `bytes` is something else.
    pub size_bytes: u64,
    /// The thread's context.
    pub context: Context,
}

/// A wait for a monitor: `jdk.JavaMonitorEnter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorEnter {
    /// When the wait began.
    pub at: Ticks,
    /// How long it took.
    pub duration: Ticks,
    /// Which thread.
    pub thread: ThreadKey,
    /// Its stack.
    pub stack: StackKey,
    /// Class of the monitor.
    pub class: ClassKey,
    /// Thread that held it, or [`ThreadKey::NONE`].
    pub previous_owner: ThreadKey,
    /// The context of that thread when the wait began, by its number; 0 = none, or not known.
    pub owner_context: u32,
    /// Address of the monitor, or another number that tells monitors apart.
    pub address: u64,
    /// The thread's context.
    pub context: Context,
}

/// A parked thread: `jdk.ThreadPark`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadPark {
    /// When it was parked.
    pub at: Ticks,
    /// How long.
    pub duration: Ticks,
    /// Which thread.
    pub thread: ThreadKey,
    /// Its stack.
    pub stack: StackKey,
    /// Class of what it waited for.
    pub class: ClassKey,
    /// Number that tells what it waited for apart from others; 0 = not known.
    pub address: u64,
    /// The thread's context.
    pub context: Context,
    /// Parks that this one stands for.
    pub weight: u64,
}

/// A created exception: `jdk.JavaExceptionThrow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceptionThrow {
    /// When.
    pub at: Ticks,
    /// Which thread.
    pub thread: ThreadKey,
    /// Its stack.
    pub stack: StackKey,
    /// Class of the exception.
    pub class: ClassKey,
    /// The thread's context.
    pub context: Context,
    /// Exceptions that this one stands for.
    pub weight: u64,
}

/// A pause of a garbage collection: `jdk.GCPhasePause`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcPhasePause<'a> {
    /// When it began.
    pub at: Ticks,
    /// How long it took.
    pub duration: Ticks,
    /// Thread that saw it, or [`ThreadKey::NONE`].
    pub thread: ThreadKey,
    /// Number of the collection.
    pub gc_id: u32,
    /// Name of the phase.
    pub name: &'a str,
}

/// A label that became known while its request ran: `ctxagent.LateLabel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateLabel<'a> {
    /// When the request began.
    pub at: Ticks,
    /// How long it ran until the label was known.
    pub duration: Ticks,
    /// The thread that it ran on.
    pub thread: ThreadKey,
    /// Name of the attribute.
    pub attribute: &'a str,
    /// The value that samples have until then.
    pub before: AttributeKey,
    /// The value that they should have.
    pub value: AttributeKey,
}

/// A scope of the Java API that took long: `ctxagent.Scope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// When it was opened.
    pub at: Ticks,
    /// How long it was open.
    pub duration: Ticks,
    /// The thread that opened and closed it.
    pub thread: ThreadKey,
    /// When it was opened, in nanoseconds of the monotonic clock.
    pub begin_nanos: u64,
    /// When it was closed, in nanoseconds of the monotonic clock.
    pub end_nanos: u64,
    /// The slots that it set, a bit each.
    pub slots: u32,
    /// Slots that had another value meanwhile, of which no other event tells: bits 0 to 7 by
    /// shorter scopes, bits 8 to 15 in another way.
    pub changed: u32,
    /// The context at its end.
    pub context: Context,
}

/// The clock of the JDK's own recorder: `ctxagent.JfrClock`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JfrClock {
    /// When both were read.
    pub at: Ticks,
    /// The monotonic clock.
    pub nanos: u64,
    /// The JDK's, in its own ticks.
    pub ticks: i64,
    /// How far `nanos` may be off.
    pub uncertainty_nanos: u64,
}

/// A moment or a span of time that the application noted: `ctxagent.Mark`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark<'a> {
    /// When it began.
    pub at: Ticks,
    /// How long it lasted; zero for a moment.
    pub duration: Ticks,
    /// The thread that noted it.
    pub thread: ThreadKey,
    /// Its name.
    pub name: &'a str,
    /// The context at its end.
    pub context: Context,
}
