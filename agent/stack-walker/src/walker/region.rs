//! The memory in which a walk is: the thread's stack, or a stack chunk in the heap.

/// Words above the oldest frame of a chunk: its return address and saved frame pointer.
const FRAME_METADATA: usize = 16;

/// The memory that frames lie in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    /// Lowest address that is read.
    pub(super) low: usize,
    /// First address that is not read.
    pub(super) high: usize,
    /// `None` = the thread's stack.
    pub(super) chunk: Option<Chunk>,
}

/// The stack chunk in which a walk is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    pub(super) object: usize,
    /// First address behind its oldest frame.
    pub(super) end: usize,
}

impl Region {
    /// The stack of a thread that was interrupted at `sp`.
    pub(super) const fn stack(sp: usize, high: usize) -> Self {
        Self {
            low: sp.wrapping_sub(8),
            high,
            chunk: None,
        }
    }

    /// Whether a frame at `sp` is beyond the oldest one of a chunk.
    pub(super) fn is_left_at(&self, sp: usize) -> bool {
        self.chunk
            .is_some_and(|chunk| sp >= chunk.end.wrapping_sub(FRAME_METADATA))
    }

    /// What the word `saved` at `slot` points to.
    pub(super) fn linked(&self, slot: usize, saved: usize) -> usize {
        match self.chunk {
            Some(_) => slot.wrapping_add(saved.wrapping_mul(8)),
            None => saved,
        }
    }
}

/// The heap's part of a walk.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeapPart {
    /// Methods noted before the first frame in the heap.
    pub(super) stack_count: usize,
    /// The `Method` of the last of these.
    pub(super) last_on_stack: usize,
    /// The `Method` of the first frame in the heap, 0 before it.
    pub(super) newest: usize,
    /// Chunks that may still follow.
    pub(super) chunks_left: usize,
    /// Pauses of the VM before, if they matter.
    pub(super) pauses: Option<usize>,
}
