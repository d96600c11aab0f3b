//! What depends on the processor: registers, and how far a compiled method has built or taken down its frame at a given instruction.
//!
//! Both processors share the layout of a complete frame: the return address in its highest word, the caller's frame pointer below it.

#[cfg(any(test, target_arch = "aarch64"))]
pub(crate) mod aarch64;
#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) mod x86_64;

use crate::checked::Memory;

/// The processor this is compiled for.
#[cfg(target_arch = "x86_64")]
pub(crate) type Here = x86_64::X86_64;
/// The processor this is compiled for.
#[cfg(target_arch = "aarch64")]
pub(crate) type Here = aarch64::Aarch64;

/// Registers of the interrupted thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Registers {
    /// Program counter.
    pub pc: usize,
    /// Stack pointer.
    pub sp: usize,
    /// Frame pointer (`rbp`, `x29`).
    pub fp: usize,
    /// Where the interpreter keeps the method at its entry (`rbx`, `x12`).
    pub method: usize,
    /// Where the interpreter keeps its bytecode pointer (`r13`, `x22`).
    pub bcp: usize,
    /// Where the interpreter finds the sender's stack pointer at its entry (`r13`; 0 = not known: two registers in use on aarch64).
    pub sender_sp: usize,
    /// Link register; 0 where there is none.
    pub link: usize,
}

/// A frame's state at the interrupted instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
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
pub(crate) enum CallSite {
    /// A call of this address.
    Target(usize),
    /// A call through a register or memory.
    Indirect,
}

/// A piece of code and the place in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Method {
    /// Verified entry point.
    pub(crate) entry: usize,
    /// From here on the frame is complete.
    pub(crate) complete: usize,
    /// Bytes of the frame, return address included.
    pub(crate) frame_size: usize,
}

/// See the module.
pub(crate) trait Arch {
    /// The state of a compiled method's frame at `registers.pc`.
    fn build(memory: &impl Memory, method: &Method, registers: &Registers) -> Build;

    /// Where a piece of code without a frame of its own returns to.
    fn frameless(memory: &impl Memory, registers: &Registers) -> Option<Caller>;

    /// The call that ends at `return_pc`, `None` if there is none.
    fn call_before(memory: &impl Memory, return_pc: usize) -> Option<CallSite>;

    /// A return address without the bits that authenticate it.
    fn plain(return_pc: usize) -> usize;
}

/// Eight bytes from `pc` on.
#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) fn bytes(memory: &impl Memory, pc: usize) -> Option<[u8; 8]> {
    memory.word(pc).map(usize::to_le_bytes)
}
