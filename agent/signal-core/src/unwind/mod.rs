//! Our own stack walk over the VM's structures: from the registers of the interrupted thread to the methods on its stack.
//!
//! Rules, besides those of the room: (1) every word is read through [`Memory`](crate::checked::Memory); a stack word only between the
//! interrupted stack pointer and the stack's end; (2) nothing is written but the caller's array of frames; (3) each frame's stack pointer is higher
//! than the one before, so the walk ends; loops have constant bounds besides; (4) a return address counts only if it lies where Java code
//! can be called from, a method only if it stood the test of `method`; (5) on doubt the walk ends and says why.
//!
//! Reading order: `tables` (offsets), `code` (what is at a pc), `scopes` (what was inlined there), `method`, `arch` (prologue,
//! epilogue, calls), `sites`, `ids` and `trail` (what was found before), `walker` (from frame to frame).

pub(crate) mod arch;
mod code;
pub mod ids;
mod method;
mod scopes;
pub mod sites;
pub mod tables;
pub mod trail;
mod walker;

pub use arch::Registers;
pub(crate) use walker::{Input, Past, walk};

/// What walks remember for later ones.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Addresses in compiled code.
    pub sites: sites::Sites,
    /// Methods.
    pub ids: ids::MethodIds,
}

/// Places that handlers share: what is known of an address lies in the one place that the address leads to.
#[derive(Debug)]
struct Table<T: 'static> {
    places: &'static [T],
}

// Not derived: that would ask `T` for it, and only the reference is copied.
impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Table<T> {}

/// Set-up methods.
impl<T> Table<T> {
    /// A table over free places; their number must be a power of two, else nothing is remembered.
    fn new(places: &'static [T]) -> Self {
        let usable = places.len().is_power_of_two();
        Self {
            places: if usable { places } else { &[] },
        }
    }
}

/// Signal-safe methods.
impl<T> Table<T> {
    /// The place of `address`.
    fn place(self, address: usize) -> Option<&'static T> {
        self.places.get(self.index(address)?)
    }

    /// The number of that place.
    fn index(self, address: usize) -> Option<usize> {
        // Fibonacci hashing: addresses lie close together.
        let mixed = (address as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_shr(32);
        let last = self.places.len().checked_sub(1)?;
        Some(usize::try_from(mixed).ok()? & last)
    }
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At the thread's first Java frame.
    Root,
    /// At the frame in which a virtual thread runs on its carrier.
    VirtualRoot,
    /// At a virtual thread's last frame that is not frozen in the heap.
    Frozen,
    /// The array is full.
    Full,
    /// The thread has no Java frames.
    NoJava,
    /// In between; the frames so far are right.
    Failed(Failure),
}

/// Why a walk did not reach the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Failure {
    /// Frames are being torn down or rebuilt by the VM.
    Deoptimization,
    /// In native code called by Java without a frame anchor, and no Java caller found.
    Native,
    /// In a stub, and no Java caller found.
    Stub,
    /// In compiled code whose frame is neither complete nor understood.
    Compiled,
    /// In the interpreter, without a plausible frame.
    Interpreter,
    /// A return address does not point to code that can have called.
    Caller,
    /// A compiled frame without debug information at its call.
    Scope,
    /// What should be a method is none.
    Method,
    /// A stack pointer outside the stack, or not above the one before.
    Stack,
    /// An entry frame without a plausible anchor.
    Entry,
    /// A word that could not be read.
    Fault,
    /// More frames without methods than a stack can have.
    Steps,
}

impl Failure {
    /// All failures, in order.
    pub const ALL: [Self; 12] = [
        Self::Deoptimization,
        Self::Native,
        Self::Stub,
        Self::Compiled,
        Self::Interpreter,
        Self::Caller,
        Self::Scope,
        Self::Method,
        Self::Stack,
        Self::Entry,
        Self::Fault,
        Self::Steps,
    ];
}

/// What a walk found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    /// Frames written.
    pub frames: usize,
    /// How many of them belong to the topmost physical frame.
    pub top_frames: usize,
    /// How it ended.
    pub end: End,
    /// In which kind of code it began.
    pub top: Top,
    /// Call sites that were known from an earlier walk.
    pub known: u32,
    /// Call sites that were decoded.
    pub decoded: u32,
}

/// In which kind of code a walk began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Top {
    /// The interpreter.
    Interpreter,
    /// Compiled code.
    Compiled,
    /// A stub.
    Stub,
    /// Native code called by Java without an anchor.
    Native,
    /// The VM or native code, which left an anchor.
    Anchor,
}

#[cfg(test)]
mod tests;
