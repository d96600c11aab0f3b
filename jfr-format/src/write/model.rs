//! The values that callers hand over.

use super::keys::{AttributeKey, MethodKey, ThreadGroupKey};
use crate::declare::MAX_COLUMNS;

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
    /// Descriptor: `(I)V`. One that is not well-formed is written as `()V`; it would break `jfr
    /// print`.
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
    /// The frames; none at all = [`StackKey::NONE`](super::StackKey::NONE).
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
