//! What each architecture must answer: how much of a frame is there at an instruction, where it
//! returns to, and what called it.
//!
//! Both share the layout of a complete frame: the return address in its highest word, the caller's
//! frame pointer below it.

use super::registers::Registers;
use crate::memory::Memory;
use core::ops::Range;

/// A frame's state at the interrupted instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameState {
    /// Complete: the return address is in its highest word.
    Complete,
    /// Not built yet or taken down: this is where it returns to.
    Open(Caller),
    /// Not decidable.
    Unknown,
}

/// Where a frame returns to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) pc: usize,
    /// The caller's stack pointer after the return.
    pub(crate) sp: usize,
    pub(crate) fp: usize,
}

/// The call in front of a return address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallInstruction {
    /// A call of this address.
    Target(usize),
    /// A call through a register or memory.
    Indirect,
}

/// Compiled code, as far as its prologue matters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CompiledCode {
    /// Verified entry point.
    pub(crate) entry: usize,
    /// From here on the frame is complete.
    pub(crate) complete: usize,
    /// Bytes of the frame, return address included.
    pub(crate) frame_size: usize,
}

/// What the kernel saves when it calls a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignalFrame {
    /// The signal.
    pub(crate) signal: u32,
    /// Of the code that it interrupted.
    pub(crate) registers: Registers,
    /// The signals that this code had blocked, signal 1 in the lowest bit.
    pub(crate) blocked_signals: u64,
}

/// An architecture.
pub(crate) trait Arch {
    /// The state of a compiled method's frame at `registers.pc`.
    fn build(memory: &impl Memory, method: &CompiledCode, registers: &Registers) -> FrameState;

    /// Where a piece of code without a frame of its own returns to.
    fn frameless(memory: &impl Memory, registers: &Registers) -> Option<Caller>;

    /// The caller of a function that keeps frame pointers, at its first or its last instructions,
    /// when the frame pointer is the caller's.
    fn unframed(memory: &impl Memory, registers: &Registers) -> Option<Caller>;

    /// The registers of a walk out of those of the kernel's `sigcontext`, by their numbers there.
    fn registers(saved: impl Fn(usize) -> Option<usize>) -> Option<Registers>;

    /// What the kernel saved when it called a handler, if it did that at the beginning of `stack`.
    /// The saved stack pointer is one further up in it. No word of the stack is taken for an
    /// address: handlers return to `restorer`, where that is on the stack.
    fn signal_frame(
        memory: &impl Memory,
        stack: Range<usize>,
        restorer: usize,
    ) -> Option<SignalFrame>;

    /// Words that compiled code has pushed at `pc` for a stub, besides its frame.
    fn pushed(memory: &impl Memory, pc: usize) -> usize;

    /// Where an adapter between compiled and interpreted code returns to, if it has saved its
    /// registers at `at` of the stack. `None` also if its frame pointer tells it.
    fn adapted(stack: impl Fn(usize) -> Option<usize>, at: usize) -> Option<Caller>;

    /// The call that ends at `return_pc`, `None` if there is none.
    fn call_before(memory: &impl Memory, return_pc: usize) -> Option<CallInstruction>;

    /// A return address without the bits that authenticate it.
    fn plain(return_pc: usize) -> usize;
}

/// Eight bytes from `pc` on.
#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) fn bytes(memory: &impl Memory, pc: usize) -> Option<[u8; 8]> {
    memory.word(pc).map(usize::to_le_bytes)
}
