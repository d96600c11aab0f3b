//! Registers of an interrupted thread.

/// Those that a walk begins with.
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
    /// Where the interpreter finds the sender's stack pointer at its entry (`r13`; 0 = not known:
    /// two registers in use on aarch64).
    pub sender_sp: usize,
    /// Link register; 0 where there is none.
    pub link: usize,
}
