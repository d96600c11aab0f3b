//! Stack chunks: objects in the Java heap that hold the frames of a virtual thread which has
//! blocked. Where their fields are, how the VM stores a reference, and whether to believe it.

mod relocation;

pub use relocation::Relocation;
pub(crate) use relocation::Unmoved;

use crate::memory::{Memory, plausible};
use crate::outcome::HeapFailure;
use crate::tables::VmTables;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

/// The class of stack chunks.
const CHUNK_CLASS: &[u8] = b"jdk/internal/vm/StackChunk";
/// The class of a virtual thread's continuation.
const CONTINUATION_CLASS: &[u8] = b"java/lang/VirtualThread$VThreadContinuation";
/// The first method on a virtual thread's stack, in the superclass of [`CONTINUATION_CLASS`].
const ROOT_METHOD: &[u8] = b"enter";

/// Walks that may be refused before the first whole one. The layout is taken for wrong then.
const MAX_TRIALS: u32 = 64;
/// [`StackChunks::trials`]: a walk reached the root.
const PROVEN: u32 = u32::MAX;

/// Bits of a coloured reference: in which phases of the two generations it was up to date.
const REMAPPED: usize = 0xf000;
/// Bits of a coloured reference: both remembered bits, which only the old generation sets.
const REMEMBERED: usize = 0x30;

/// How the VM stores a reference in a field of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Four bytes: `base + (value << shift)`.
    Narrow {
        /// `CompressedOops` base.
        base: usize,
        /// `CompressedOops` shift.
        shift: u32,
    },
    /// The address, eight bytes.
    Full,
}

/// What a collector does with references while Java runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collector {
    /// It moves objects in pauses only (Serial, Parallel, G1).
    InPauses,
    /// A moved object leaves its new address in its first word (Shenandoah).
    Forwarding,
    /// Generational ZGC: a reference holds its state in the low 16 bits.
    Coloured(Coloured),
    /// ZGC of 21 without generations: a reference holds its state in high bits, at which the heap
    /// is mapped too.
    HighBits(HighBits),
}

/// Addresses of the state of generational ZGC, and its tables of moved objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coloured {
    /// `ZPointerLoadBadMask`: a reference without these bits is up to date.
    pub bad_mask: usize,
    /// `ZPointerRemappedYoungMask`.
    pub young_mask: usize,
    /// `ZPointerRemappedOldMask`.
    pub old_mask: usize,
    /// `ZAddressOffsetMask`.
    pub offset_mask: usize,
    /// `ZAddressHeapBase`.
    pub heap_base: usize,
    /// Tables of pages (not addresses of addresses) of the young and the old generation.
    pub pages: (usize, usize),
    /// Fields of the tables.
    pub relocation: Relocation,
}

/// Addresses of the state of ZGC without generations, and its table of moved objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HighBits {
    /// `XAddressBadMask`: a reference without these bits is up to date.
    pub bad_mask: usize,
    /// `XAddressWeakBadMask`: the object of a reference without these bits has not moved.
    pub weak_bad_mask: usize,
    /// `XAddressOffsetMask`.
    pub offset_mask: usize,
    /// `XAddressGoodMask`.
    pub good_mask: usize,
    /// Table of pages.
    pub pages: usize,
    /// Fields of the tables.
    pub relocation: Relocation,
}

/// How an object names its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassPointer {
    /// Its address, in the second word.
    Full,
    /// Four bytes in the second word: `base + (value << shift)`.
    Narrow {
        /// `CompressedKlassPointers` base.
        base: usize,
        /// `CompressedKlassPointers` shift.
        shift: u32,
    },
    /// The upper 22 bits of the first word (compact object headers).
    InHeader {
        /// `CompressedKlassPointers` base.
        base: usize,
        /// `CompressedKlassPointers` shift.
        shift: u32,
    },
}

/// Fields of a `jdk.internal.vm.StackChunk`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkLayout {
    /// `parent`: the chunk with the callers.
    pub parent: usize,
    /// `size` of the stack, 4 bytes, in words.
    pub size: usize,
    /// `sp`: index of the newest frame, 4 bytes, in words.
    pub sp: usize,
    /// `bottom`: index behind the oldest frame, 4 bytes, in words.
    pub bottom: usize,
    /// `pc` of the newest frame.
    pub pc: usize,
    /// The stack itself.
    pub stack: usize,
}

/// All offsets on the way from a carrier's `JavaThread` to the chunks of the virtual thread that it
/// runs, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkTables {
    /// `JavaThread::_threadObj`: address of the handle of the carrier's `Thread`.
    pub thread_object: usize,
    /// `Thread.cont`: the continuation that the carrier runs.
    pub thread_continuation: usize,
    /// `VirtualThread.cont`: its continuation, also while no carrier runs it.
    pub virtual_continuation: usize,
    /// `Continuation.parent`: not null in a continuation within another one.
    pub continuation_parent: usize,
    /// `Continuation.tail`: the newest chunk.
    pub continuation_tail: usize,
    /// Fields of a chunk.
    pub chunk: ChunkLayout,
    /// `Klass::_name`.
    pub class_name: usize,
    /// References in objects.
    pub width: Width,
    /// What the collector does with them.
    pub collector: Collector,
    /// Class pointers.
    pub class_pointer: ClassPointer,
    /// Address of `SafepointSynchronize::_state`, 4 bytes, 0 outside of pauses.
    pub pause_state: usize,
    /// Address of `SafepointSynchronize::_safepoint_counter`, which each pause changes.
    pub pause_counter: usize,
}

impl ChunkTables {
    /// The number of pauses so far, `None` within one.
    pub(crate) fn pauses(&self, memory: &impl Memory) -> Option<usize> {
        let counter = memory.word(self.pause_counter)?;
        (memory.u32(self.pause_state)? == 0).then_some(counter)
    }
}

/// Whether the layout of chunks is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkState {
    /// The caller gave none: no chunk is read.
    Unknown,
    /// No walk has reached a root yet. Until then frames from chunks do not count.
    OnTrial,
    /// A walk has reached the root of a virtual thread.
    Proven,
    /// The first walks all failed: no chunk is read any more.
    Refused,
}

/// The chunks of one VM, shared by all walks.
#[derive(Debug)]
pub(crate) struct StackChunks {
    pub(crate) tables: ChunkTables,
    /// Class of chunks, once its name was compared.
    chunk_class: AtomicUsize,
    /// Class of continuations, likewise.
    continuation_class: AtomicUsize,
    /// `Continuation.enter`, likewise.
    root_method: AtomicUsize,
    /// Where the code of `Continuation.enterSpecial` is returned to, once that was met.
    pub(crate) entry_pc: AtomicUsize,
    /// Whether an entry was seen to be as expected.
    pub(crate) has_entries: AtomicBool,
    /// Walks refused so far, [`PROVEN`] after the first whole one.
    trials: AtomicU32,
}

impl StackChunks {
    pub(crate) const fn new(tables: ChunkTables) -> Self {
        Self {
            tables,
            chunk_class: AtomicUsize::new(0),
            continuation_class: AtomicUsize::new(0),
            root_method: AtomicUsize::new(0),
            entry_pc: AtomicUsize::new(0),
            has_entries: AtomicBool::new(false),
            trials: AtomicU32::new(0),
        }
    }

    pub(crate) fn state(&self) -> ChunkState {
        match self.trials.load(Relaxed) {
            PROVEN => ChunkState::Proven,
            MAX_TRIALS.. => ChunkState::Refused,
            _ => ChunkState::OnTrial,
        }
    }

    /// A walk reached the root.
    pub(crate) fn prove(&self) {
        self.trials.store(PROVEN, Relaxed);
    }

    /// A walk met an object or a frame that the layout does not explain.
    pub(crate) fn doubt(&self) {
        let trials = self.trials.load(Relaxed);
        if trials < MAX_TRIALS {
            // Two handlers at once may count one; PROVEN is never overwritten by a number.
            let _lost =
                self.trials
                    .compare_exchange(trials, trials.wrapping_add(1), Relaxed, Relaxed);
        }
    }
}

/// Loads from the heap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heap<'a, M> {
    pub(crate) chunks: &'a StackChunks,
    pub(crate) tables: &'a VmTables,
    pub(crate) memory: &'a M,
    pub(crate) unmoved: &'a Unmoved,
}

type HeapResult<T> = Result<T, HeapFailure>;

impl<M: Memory> Heap<'_, M> {
    /// The continuation of the virtual thread that runs on the carrier with this `JavaThread`, so
    /// many `levels` outside of the one that the carrier runs.
    pub(crate) fn continuation(&self, java_thread: usize, levels: u32) -> HeapResult<usize> {
        let tables = &self.chunks.tables;
        let handle = self.word(java_thread.wrapping_add(tables.thread_object))?;
        let thread = self.address(self.word(handle)?)?;
        let mut found = self.reference(thread.wrapping_add(tables.thread_continuation))?;
        for _ in 0..levels {
            found = self.reference(found.wrapping_add(tables.continuation_parent))?;
        }
        self.outermost(found)
    }

    /// The continuation of the virtual thread at this address, which the VM gave and which is up to
    /// date.
    pub(crate) fn continuation_of(&self, thread: usize) -> HeapResult<usize> {
        let tables = &self.chunks.tables;
        let thread = match tables.collector {
            Collector::Forwarding => self.forwarded(thread)?,
            _ => thread,
        };
        self.outermost(self.reference(thread.wrapping_add(tables.virtual_continuation))?)
    }

    /// The continuation that the VM names at `address` on the stack, which is up to date.
    pub(crate) fn continuation_at(&self, address: usize) -> HeapResult<usize> {
        let continuation = self.word(address)?;
        match self.chunks.tables.collector {
            Collector::Forwarding => self.forwarded(continuation),
            _ => Ok(continuation),
        }
    }

    /// Refuses what is no continuation of a virtual thread, and one within another.
    fn outermost(&self, continuation: usize) -> HeapResult<usize> {
        let tables = &self.chunks.tables;
        let class = self.class(continuation)?;
        self.is_named(class, &self.chunks.continuation_class, CONTINUATION_CLASS)?;
        match self.reference(continuation.wrapping_add(tables.continuation_parent))? {
            0 => Ok(continuation),
            _ => Err(HeapFailure::Object),
        }
    }

    /// The newest chunk of a continuation.
    pub(crate) fn newest_chunk(&self, continuation: usize) -> HeapResult<usize> {
        let tail = self.chunks.tables.continuation_tail;
        self.reference(continuation.wrapping_add(tail))
    }

    /// The chunk with the callers, 0 = none.
    pub(crate) fn parent(&self, chunk: usize) -> HeapResult<usize> {
        self.reference(chunk.wrapping_add(self.chunks.tables.chunk.parent))
    }

    /// Refuses what is no chunk.
    pub(crate) fn check_chunk(&self, chunk: usize) -> HeapResult<()> {
        let class = self.class(chunk)?;
        self.is_named(class, &self.chunks.chunk_class, CHUNK_CLASS)
    }

    /// Whether `method` is the first one on a virtual thread's stack.
    pub(crate) fn is_root(&self, method: usize) -> bool {
        let known = &self.chunks.root_method;
        if method != 0 && method == known.load(Relaxed) {
            return true;
        }
        let is_root = self.tables.is_named(self.memory, method, ROOT_METHOD);
        if is_root {
            known.store(method, Relaxed);
        }
        is_root
    }

    /// See [`ChunkTables::pauses`].
    pub(crate) fn pauses(&self) -> Option<usize> {
        self.chunks.tables.pauses(self.memory)
    }

    /// A 4-byte number of words in a chunk.
    pub(crate) fn words(&self, chunk: usize, field: usize) -> HeapResult<usize> {
        let words = self.memory.u32(chunk.wrapping_add(field));
        words.map(|n| n as usize).ok_or(HeapFailure::Object)
    }

    pub(crate) fn word(&self, address: usize) -> HeapResult<usize> {
        self.memory.word(address).ok_or(HeapFailure::Object)
    }

    /// The object that a field names, 0 = none.
    fn reference(&self, field: usize) -> HeapResult<usize> {
        match self.chunks.tables.width {
            Width::Narrow { base, shift } => {
                let value = self.memory.u32(field).ok_or(HeapFailure::Object)? as usize;
                match value {
                    0 => Ok(0),
                    value => self.address(base.wrapping_add(value.wrapping_shl(shift))),
                }
            }
            Width::Full => self.address(self.word(field)?),
        }
    }

    /// The address in a full reference.
    fn address(&self, reference: usize) -> HeapResult<usize> {
        let address = match self.chunks.tables.collector {
            Collector::InPauses => reference,
            Collector::Forwarding => self.forwarded(reference)?,
            Collector::Coloured(_) if reference >> 16 == 0 => 0,
            Collector::Coloured(z) => self.coloured(&z, reference)?,
            Collector::HighBits(_) if reference == 0 => 0,
            Collector::HighBits(z) => self.high_bits(&z, reference)?,
        };
        if address == 0 || (address.is_multiple_of(8) && plausible(address)) {
            Ok(address)
        } else {
            Err(HeapFailure::Object)
        }
    }

    fn coloured(&self, z: &Coloured, reference: usize) -> HeapResult<usize> {
        let address = reference.wrapping_shr(uncoloured_shift(reference)?);
        if reference & self.word(z.bad_mask)? == 0 {
            return Ok(address);
        }
        let offset = address & self.word(z.offset_mask)?;
        let remapped = reference & REMAPPED;
        let (young, old) = z.pages;
        let pages = if remapped & self.word(z.old_mask)? != 0 {
            young
        } else if remapped & self.word(z.young_mask)? != 0
            || reference & REMEMBERED == REMEMBERED
            || z.relocation.page(self.memory, young, offset)? == 0
        {
            old
        } else {
            young
        };
        let place = z
            .relocation
            .place(self.memory, pages, offset, self.unmoved)?;
        Ok(place | self.word(z.heap_base)?)
    }

    fn high_bits(&self, z: &HighBits, reference: usize) -> HeapResult<usize> {
        if reference & self.word(z.bad_mask)? == 0 {
            return Ok(reference);
        }
        let offset = reference & self.word(z.offset_mask)?;
        let place = if reference & self.word(z.weak_bad_mask)? == 0 {
            offset
        } else {
            z.relocation
                .place(self.memory, z.pages, offset, self.unmoved)?
        };
        Ok(place | self.word(z.good_mask)?)
    }

    /// Whether all objects that had not moved when they were read are still there.
    pub(crate) fn is_unmoved(&self) -> bool {
        match &self.chunks.tables.collector {
            Collector::Coloured(Coloured { relocation, .. })
            | Collector::HighBits(HighBits { relocation, .. }) => {
                relocation.is_unmoved(self.memory, self.unmoved)
            }
            _ => true,
        }
    }

    /// Where an object is that may have moved.
    fn forwarded(&self, object: usize) -> HeapResult<usize> {
        if object == 0 {
            return Ok(0);
        }
        let header = self.word(object)?;
        Ok(if header & 3 == 3 { header & !3 } else { object })
    }

    fn class(&self, object: usize) -> HeapResult<usize> {
        if object == 0 {
            return Err(HeapFailure::Object);
        }
        let expand =
            |base: usize, shift, value: usize| base.wrapping_add(value.wrapping_shl(shift));
        let second = object.wrapping_add(8);
        match self.chunks.tables.class_pointer {
            ClassPointer::Full => self.word(second),
            ClassPointer::Narrow { base, shift } => {
                let value = self.memory.u32(second).ok_or(HeapFailure::Object)?;
                Ok(expand(base, shift, value as usize))
            }
            ClassPointer::InHeader { base, shift } => {
                Ok(expand(base, shift, self.word(object)?.wrapping_shr(42)))
            }
        }
    }

    /// Refuses a class of another name; the name of a known class is not compared again.
    fn is_named(&self, class: usize, known: &AtomicUsize, name: &[u8]) -> HeapResult<()> {
        if class == known.load(Relaxed) {
            return Ok(());
        }
        let symbol = self.word(class.wrapping_add(self.chunks.tables.class_name))?;
        if !self.tables.symbol_is(self.memory, symbol, name) {
            return Err(HeapFailure::Object);
        }
        known.store(class, Relaxed);
        Ok(())
    }
}

/// Bits of a coloured reference below its address: which of four remap bits is set says so.
fn uncoloured_shift(reference: usize) -> HeapResult<u32> {
    match reference.wrapping_shr(12) & 0xf {
        1 => Ok(13),
        2 => Ok(14),
        4 => Ok(15),
        8 => Ok(16),
        _ => Err(HeapFailure::Object),
    }
}
