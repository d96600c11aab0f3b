//! The code cache: which piece of code holds a pc.

use crate::memory::Memory;
use crate::tables::{AddressField, CodeHeap, VmTables};

/// Steps through the segment map at most; each goes back up to 254 segments.
const MAX_HOPS: usize = 4096;
/// Largest blob that is believed (the interpreter has about 200 KiB, the largest stub buffers
/// less).
const MAX_BLOB: usize = 16 << 20;

/// Cache lines of the head of an `nmethod`, most of which are read next.
const HEAD_LINES: usize = 5;

/// What a blob is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlobKind {
    /// Compiled Java code.
    Nmethod,
    /// The compiled wrapper of a native method.
    NativeWrapper,
    /// Stub routines of continuations: their only pc on a stack below Java frames is the return
    /// barrier.
    Continuation,
    /// Frames are being torn down or rebuilt.
    Deoptimization,
    /// Native code calls Java there, by `java.lang.foreign`.
    Upcall,
    /// Between compiled and interpreted code, whose arguments are in different places.
    Adapter,
    /// Anything else.
    Stub,
}

/// A blob as far as the walk needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blob {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) code: usize,
    pub(crate) kind: BlobKind,
    /// Bytes, 0 = none.
    pub(crate) frame_size: usize,
}

/// What is at a pc.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Code {
    Interpreter,
    /// Where Java code called by the VM returns to.
    CallStub,
    Blob(Blob),
    /// Not in the code cache, or in no blob of it.
    Outside,
}

impl VmTables {
    /// Whether `pc` lies between the lowest and the highest code address. Cheap: no load.
    #[inline]
    pub(crate) fn in_code_cache(&self, pc: usize) -> bool {
        (self.code.0..self.code.1).contains(&pc)
    }

    /// The code heap that `pc` lies in, behind the header of its first block and where it is mapped.
    pub(crate) fn heap_of(&self, memory: &impl Memory, pc: usize) -> Option<&CodeHeap> {
        let behind = |heap: &CodeHeap| heap.low.wrapping_add(self.block_header);
        let mut heaps = self.heaps.iter();
        let heap = heaps.find(|heap| (behind(heap)..heap.high).contains(&pc))?;
        (pc < memory.word(heap.end)?).then_some(heap)
    }

    /// What is at `pc`.
    pub(crate) fn code_at(&self, memory: &impl Memory, pc: usize) -> Code {
        if !self.in_code_cache(pc) {
            return Code::Outside;
        }
        if pc == self.call_stub_return {
            return Code::CallStub;
        }
        if (self.interpreter.0..self.interpreter.1).contains(&pc) {
            return Code::Interpreter;
        }
        self.blob_at(memory, pc).map_or(Code::Outside, Code::Blob)
    }

    /// The blob whose code holds `pc`.
    pub(crate) fn blob_at(&self, memory: &impl Memory, pc: usize) -> Option<Blob> {
        let heap = self.heap_of(memory, pc)?;
        let block = block_start(memory, heap, pc)?;
        if memory.u8(block.wrapping_add(self.block_used))? == 0 {
            return None;
        }
        let start = block.wrapping_add(self.block_header);
        for line in 0..HEAD_LINES {
            memory.prefetch(start.wrapping_add(line.wrapping_mul(64)));
        }
        let size = memory.u32(start.wrapping_add(self.blob.size))? as usize;
        if size == 0 || size > MAX_BLOB {
            return None;
        }
        let end = start.wrapping_add(size);
        let code = resolve(memory, start, start, self.blob.code)?;
        if !(code..end).contains(&pc) || code < start {
            return None;
        }
        let words = memory.i32(start.wrapping_add(self.blob.frame_size))?;
        let frame_size = usize::try_from(words).unwrap_or(0).wrapping_mul(8);
        let kind = kind_of(memory, memory.word(start.wrapping_add(self.blob.name))?)?;
        Some(Blob {
            start,
            end,
            code,
            kind,
            frame_size,
        })
    }
}

/// The address that `field` names, in the blob at `start` whose code begins at `code`.
pub(crate) fn resolve(
    memory: &impl Memory,
    start: usize,
    code: usize,
    field: AddressField,
) -> Option<usize> {
    let small = |offset: usize| {
        memory
            .i32(start.wrapping_add(offset))
            .and_then(|n| usize::try_from(n).ok())
    };
    Some(match field {
        AddressField::Pointer(offset) => memory.word(start.wrapping_add(offset))?,
        AddressField::FromBlob(offset) => start.wrapping_add(small(offset)?),
        AddressField::FromCode(offset) => {
            code.wrapping_add(usize::from(memory.u16(start.wrapping_add(offset))?))
        }
        AddressField::FromPointer(base, offset) => memory
            .word(start.wrapping_add(base))?
            .wrapping_add(small(offset)?),
    })
}

/// First byte of the block that holds `pc`: the segment map says for each segment how many to go
/// back.
pub(crate) fn block_start(memory: &impl Memory, heap: &CodeHeap, pc: usize) -> Option<usize> {
    let mut segment = pc.wrapping_sub(heap.low).wrapping_shr(heap.segment_shift);
    for _ in 0..MAX_HOPS {
        match memory.u8(heap.segments.wrapping_add(segment))? {
            0xff => return None, // free
            0 => {
                return Some(
                    heap.low
                        .wrapping_add(segment.wrapping_shl(heap.segment_shift)),
                );
            }
            back => segment = segment.checked_sub(usize::from(back))?,
        }
    }
    None
}

/// Two words of a name.
const fn name(text: [u8; 8]) -> usize {
    usize::from_le_bytes(text)
}

fn kind_of(memory: &impl Memory, text: usize) -> Option<BlobKind> {
    const NMETHOD: usize = name(*b"nmethod\0");
    const NATIVE: usize = name(*b"native n");
    const STUB_ROUTINES: usize = name(*b"StubRout");
    const CONTINUATION: usize = name(*b"ines (co");
    const CONTI: usize = name(*b"ntinuati");
    const DEOPTIMIZATION: usize = name(*b"Deoptimi");
    const UNCOMMON: usize = name(*b"Uncommon");
    const UPCALL: usize = name(*b"upcall_s");
    const ADAPTER: usize = name(*b"I2C/C2I ");
    Some(match memory.word(text)? {
        NMETHOD => BlobKind::Nmethod,
        NATIVE => BlobKind::NativeWrapper,
        ADAPTER => BlobKind::Adapter,
        UPCALL => BlobKind::Upcall,
        DEOPTIMIZATION | UNCOMMON => BlobKind::Deoptimization,
        STUB_ROUTINES
            if memory.word(text.wrapping_add(8)) == Some(CONTINUATION)
                && memory.word(text.wrapping_add(16)) == Some(CONTI) =>
        {
            BlobKind::Continuation
        }
        _ => BlobKind::Stub,
    })
}
