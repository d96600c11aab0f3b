//! The values and events that callers hand over.

use super::config::Ticks;
use super::keys::{
    AttributeKey, ClassKey, GcCauseKey, GcNameKey, MethodKey, StackKey, StateKey, ThreadGroupKey,
    ThreadKey,
};
use crate::events::MAX_COLUMNS;

/// A thread, as it is at the time of its events; renamed, it is another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread<'a> {
    /// Name that the operating system knows; `None` = not known.
    pub os_name: Option<&'a str>,
    /// Id that the operating system gave, 0 for a virtual thread.
    pub os_id: u64,
    /// Java name; `None` = not a Java thread.
    pub java_name: Option<&'a str>,
    /// Java id; 0 = not a Java thread.
    pub java_id: u64,
    /// Group, or [`ThreadGroupKey::NONE`].
    pub group: ThreadGroupKey,
    /// Whether it is a virtual thread.
    pub is_virtual: bool,
}

impl<'a> Thread<'a> {
    /// A thread that is not known to Java.
    pub fn native(os_name: &'a str, os_id: u64) -> Self {
        let group = ThreadGroupKey::NONE;
        let os_name = Some(os_name);
        Self {
            os_name,
            os_id,
            java_name: None,
            java_id: 0,
            group,
            is_virtual: false,
        }
    }
}

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method<'a> {
    /// Class name with slashes: `java/lang/String`.
    pub class: &'a str,
    /// Name.
    pub name: &'a str,
    /// Descriptor: `(I)V`. One that is not well-formed is written as `()V`; it would break `jfr print`.
    pub descriptor: &'a str,
    /// Access flags of the class file.
    pub modifiers: u32,
    /// Whether viewers should leave the method out.
    pub hidden: bool,
}

impl<'a> Method<'a> {
    /// A method that viewers show.
    pub fn new(class: &'a str, name: &'a str, descriptor: &'a str, modifiers: u32) -> Self {
        Self {
            class,
            name,
            descriptor,
            modifiers,
            hidden: false,
        }
    }
}

/// How a frame was executed. The numbers are fixed: async-profiler's converter goes by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FrameKind {
    /// Interpreter.
    Interpreted = 0,
    /// Compiled code.
    Jit = 1,
    /// Inlined into compiled code.
    Inlined = 2,
    /// Native code.
    Native = 3,
    /// C++ code of the JVM.
    Cpp = 4,
    /// Kernel.
    Kernel = 5,
    /// Compiled by C1.
    C1 = 6,
}

impl FrameKind {
    /// Every kind and the text that the recording has for it.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Interpreted, "Interpreted"),
        (Self::Jit, "JIT compiled"),
        (Self::Inlined, "Inlined"),
        (Self::Native, "Native"),
        (Self::Cpp, "C++"),
        (Self::Kernel, "Kernel"),
        (Self::C1, "C1 compiled"),
    ];
}

/// A frame of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// The method.
    pub method: MethodKey,
    /// Line in the source; -1 = not known.
    pub line: i32,
    /// Index of the byte code; -1 = not known.
    pub bci: i32,
    /// How it was executed.
    pub kind: FrameKind,
}

/// A stack, innermost frame first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackTrace<'a> {
    /// Whether the walk hit the depth limit; not for a walk that failed.
    pub truncated: bool,
    /// The frames; none at all = [`StackKey::NONE`].
    pub frames: &'a [Frame],
}

/// The context of an event. Made by [`context`](super::Recording::context).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Context {
    pub(crate) values: [AttributeKey; MAX_COLUMNS],
    pub(crate) id: u32,
}

impl Context {
    /// No context.
    pub const NONE: Self = Self {
        values: [AttributeKey::NONE; MAX_COLUMNS],
        id: 0,
    };

    /// The number that readers see as `contextId`; 0 = none.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The values by column.
    pub fn values(&self) -> &[AttributeKey; MAX_COLUMNS] {
        &self.values
    }
}

/// A CPU sample: `jdk.ExecutionSample`, `jdk.NativeMethodSample`.
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

/// An allocation: `jdk.ObjectAllocationSample`, `jdk.ObjectAllocationOutsideTLAB`.
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

/// An allocation that took a new buffer: `jdk.ObjectAllocationInNewTLAB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlabAllocation {
    /// The allocation.
    pub allocation: Allocation,
    /// Size of the buffer.
    pub tlab_bytes: u64,
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
pub struct Park {
    /// When it began.
    pub at: Ticks,
    /// How long it took.
    pub duration: Ticks,
    /// Which thread.
    pub thread: ThreadKey,
    /// Its stack.
    pub stack: StackKey,
    /// Class of the blocker.
    pub class: ClassKey,
    /// Time limit in nanoseconds; `None` = none.
    pub timeout_nanos: Option<u64>,
    /// Deadline, milliseconds since 1970 UTC; `None` = none.
    pub until_epoch_millis: Option<u64>,
    /// Address of the blocker, or another number that tells blockers apart.
    pub address: u64,
    /// The thread's context.
    pub context: Context,
}

/// A garbage collection: `jdk.GarbageCollection`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GarbageCollection {
    /// When it began.
    pub at: Ticks,
    /// How long it took.
    pub duration: Ticks,
    /// Thread that saw it, or [`ThreadKey::NONE`].
    pub thread: ThreadKey,
    /// Number of the collection.
    pub gc_id: u32,
    /// Collector.
    pub name: GcNameKey,
    /// Cause.
    pub cause: GcCauseKey,
    /// Sum of its pauses.
    pub sum_of_pauses: Ticks,
    /// Longest of its pauses.
    pub longest_pause: Ticks,
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

/// A context and the time it was installed: `ctxagent.ContextSpan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// When it was installed.
    pub at: Ticks,
    /// How long it stayed.
    pub duration: Ticks,
    /// Which thread.
    pub thread: ThreadKey,
    /// The context.
    pub context: Context,
}

/// A named moment: `ctxagent.Mark`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark<'a> {
    /// When.
    pub at: Ticks,
    /// Which thread, or [`ThreadKey::NONE`].
    pub thread: ThreadKey,
    /// Name.
    pub name: &'a str,
    /// More text; may be empty.
    pub text: &'a str,
    /// The thread's context.
    pub context: Context,
}
