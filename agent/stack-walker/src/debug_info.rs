//! Debug information of compiled code: from a pc to the methods inlined there.

use crate::code_cache::{Blob, resolve};
use crate::memory::Memory;
use crate::tables::{PC_DESC_SIZE, VmTables};

/// `PcDesc`s of one nmethod at most.
const MAX_PC_DESCS: usize = 1 << 20;
/// Steps of a binary search over that many, and one to spare.
const MAX_HALVINGS: usize = 21;

/// A stream of numbers in the VM's variable-length encoding, UNSIGNED5: a byte below a limit ends a
/// number, each further one counts 64 times more.
#[derive(Debug)]
pub(crate) struct Unsigned5<'a, M> {
    memory: &'a M,
    at: usize,
    excluded: u8,
    /// The aligned word that was read last, with its address.
    word: (usize, usize),
}

impl<'a, M: Memory> Unsigned5<'a, M> {
    pub(crate) fn new(memory: &'a M, at: usize, excluded: u8) -> Self {
        Self {
            memory,
            at,
            excluded,
            word: (0, 0),
        }
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> Option<u32> {
        // 64 of the byte values mean "and one more"; those that are left, less the excluded ones,
        // end a number.
        let limit = 192u32.wrapping_sub(u32::from(self.excluded));
        let mut sum: u32 = 0;
        for shift in [0, 6, 12, 18, 24] {
            let byte = u32::from(self.byte()?).checked_sub(u32::from(self.excluded))?;
            sum = sum.wrapping_add(byte.wrapping_shl(shift));
            if byte < limit {
                break;
            }
        }
        Some(sum)
    }

    fn byte(&mut self) -> Option<u8> {
        let aligned = self.at & !7;
        if self.word.0 != aligned {
            self.word = (aligned, self.memory.word(aligned)?);
        }
        let byte = self.word.1.to_le_bytes().get(self.at & 7).copied();
        self.at = self.at.wrapping_add(1);
        byte
    }
}

/// Tables of one nmethod.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scopes {
    pcs: usize,
    count: usize,
    stream: usize,
    metadata: usize,
    code: usize,
}

/// One method at a pc; several if the compiler inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Where the caller's scope is, 0 = this is the compiled method itself.
    pub(crate) sender: u32,
    pub(crate) method: usize,
    pub(crate) bci: i32,
}

/// A found `PcDesc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PcDesc {
    /// The address it describes.
    pub(crate) pc: usize,
    /// Whether it belongs to exactly this pc.
    pub(crate) exact: bool,
    /// Its scope, 0 = none.
    pub(crate) scope: u32,
}

impl Scopes {
    pub(crate) fn of(tables: &VmTables, memory: &impl Memory, blob: &Blob) -> Option<Self> {
        let at = |field| resolve(memory, blob.start, blob.code, field);
        let pcs = at(tables.nmethod.pcs)?;
        let count = at(tables.nmethod.pcs_end)?
            .checked_sub(pcs)?
            .wrapping_div(PC_DESC_SIZE);
        if count > MAX_PC_DESCS {
            return None;
        }
        let stream = at(tables.nmethod.scopes)?;
        let metadata = at(tables.nmethod.metadata)?;
        Some(Self {
            pcs,
            count,
            stream,
            metadata,
            code: blob.code,
        })
    }

    /// The first `PcDesc` at or behind `pc`.
    pub(crate) fn at_or_behind(&self, memory: &impl Memory, pc: usize) -> Option<PcDesc> {
        let wanted = i32::try_from(pc.wrapping_sub(self.code)).ok()?;
        let (mut low, mut high) = (0, self.count);
        for _ in 0..MAX_HALVINGS {
            if low >= high {
                break;
            }
            let half = high.wrapping_sub(low).wrapping_div(2);
            let middle = low.wrapping_add(half);
            // One of these two is read next.
            let quarter = half.wrapping_div(2);
            memory.prefetch(self.desc(low.wrapping_add(quarter)));
            memory.prefetch(self.desc(middle.wrapping_add(quarter)));
            if self.pc_of(memory, middle)? < wanted {
                low = middle.wrapping_add(1);
            } else {
                high = middle;
            }
        }
        if low >= self.count {
            return None;
        }
        let found = self.pc_of(memory, low)?;
        let scope = memory.u32(self.desc(low).wrapping_add(4))?;
        Some(PcDesc {
            pc: self.code.wrapping_add_signed(found as isize),
            exact: found == wanted,
            scope,
        })
    }

    fn pc_of(&self, memory: &impl Memory, index: usize) -> Option<i32> {
        memory.i32(self.desc(index))
    }

    fn desc(&self, index: usize) -> usize {
        self.pcs.wrapping_add(index.wrapping_mul(PC_DESC_SIZE))
    }

    /// The scope at an offset of the stream.
    pub(crate) fn scope(&self, memory: &impl Memory, offset: u32, excluded: u8) -> Option<Scope> {
        let mut numbers =
            Unsigned5::new(memory, self.stream.wrapping_add(offset as usize), excluded);
        let sender = numbers.next()?;
        // 0 = no method; the table counts from one.
        let index = numbers.next()?.checked_sub(1)? as usize;
        // -1 (entry of the method) is written as 0.
        let bci = numbers.next()?.cast_signed().wrapping_sub(1);
        let method = memory.word(self.metadata.wrapping_add(index.wrapping_mul(8)))?;
        Some(Scope {
            sender,
            method,
            bci,
        })
    }
}
