//! What a walk found and how it ended.

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At the thread's first Java frame.
    Root,
    /// At the frame in which a virtual thread runs on its carrier.
    VirtualRoot,
    /// At frames of a virtual thread that are in the heap and could not be read; [`Walk::heap`] says
    /// why.
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
    /// What became of frames in the heap.
    pub heap: HeapFrames,
    /// The VM is suspending or resuming the virtual thread: its newest frames may be missing.
    pub is_switching: bool,
    /// In which kind of code it began.
    pub top: Top,
    /// Compiled frames whose call site was cached by an earlier walk.
    pub cached: u32,
    /// Compiled frames whose call site was decoded.
    pub decoded: u32,
}

/// What became of the frames that a virtual thread has in the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeapFrames {
    /// The walk met none.
    NotMet,
    /// They were read down to the root.
    Whole,
    /// At least the oldest were not read.
    Cut(HeapFailure),
}

/// Why frames in the heap were not read, or not all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeapFailure {
    /// The layout is unknown or was refused.
    Off,
    /// A pause of the VM was seen: objects may have moved.
    Pause,
    /// The collector has not updated a reference yet.
    Stale,
    /// An object is not what it should be.
    Object,
    /// A frame is not what it should be.
    Frame,
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
    /// The heap: no carrier runs the thread.
    Heap,
}
