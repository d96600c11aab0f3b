//! A Java frame as a walk writes it.

use core::ffi::c_void;

/// One frame, in the layout of `AsyncGetCallTrace`, which leaves the padding unused; a walk stores
/// the kind there.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CallFrame {
    /// Bytecode index; -1 unknown, -3 native method.
    pub bci: i32,
    /// A [`FrameKind`] as a number.
    pub kind: u32,
    /// The `jmethodID`, may be null.
    pub method: *mut c_void,
}

const _: () = assert!(
    size_of::<CallFrame>() == 16,
    "the layout that AsyncGetCallTrace writes on 64 bits"
);

/// What code a frame belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum FrameKind {
    /// Not known: a frame of `AsyncGetCallTrace`.
    Unknown = 0,
    /// Interpreter.
    Interpreted = 1,
    /// First compiler.
    C1 = 2,
    /// Second compiler.
    C2 = 3,
    /// Inlined by either compiler.
    Inlined = 4,
    /// Compiled wrapper of a native method.
    Native = 5,
}
