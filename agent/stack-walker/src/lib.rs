#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::expect_used,
        clippy::panic,
        clippy::decimal_bitwise_operands,
        reason = "the rules hold for what runs in a handler, not for its tests"
    )
)]

#[cfg(test)]
extern crate std;

mod arch;
pub mod cache;
mod code_cache;
mod debug_info;
mod frame;
pub mod heap;
mod memory;
mod method;
mod outcome;
pub mod safe_fetch;
pub mod tables;
mod walker;

pub use arch::registers::Registers;
pub use frame::{CallFrame, FrameKind};
pub use memory::{Memory, prefetch};
pub use outcome::{End, Failure, HeapFailure, HeapFrames, Top, Walk};
pub use walker::{InterruptedThread, StackWalker, UnmountedThread};

#[cfg(test)]
mod tests;
