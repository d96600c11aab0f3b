//! A `Method`: is it one, which id has it, is it native.

use super::tables::VmTables;
use crate::checked::{Memory, plausible};

const NATIVE: u16 = 0x0100;
/// Bytecode indices that are believed: the class file format ends there.
const MAX_IDNUM: usize = 65_536;

/// A method that stood all tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValidMethod {
    pub(crate) method: usize,
    /// Its `jmethodID`, 0 if it has none yet.
    pub(crate) id: usize,
}

impl VmTables {
    /// Checks that `method` is a `Method`: its constants belong to a class whose table of ids points back, or whose constants they are.
    pub(crate) fn method(&self, memory: &impl Memory, method: usize) -> Option<ValidMethod> {
        let l = &self.method;
        let const_method = pointer(memory, method, l.const_method)?;
        let constants = pointer(memory, const_method, l.constants)?;
        let holder = pointer(memory, constants, l.holder)?;
        let valid = |id| ValidMethod { method, id };
        let ids = memory.word(holder.wrapping_add(l.ids))?;
        let idnum = usize::from(memory.u16(const_method.wrapping_add(l.idnum))?);
        if ids != 0
            && let Some(id) = id_in(memory, ids, idnum)
        {
            let owner = memory.word(id)?;
            if owner == method {
                return Some(valid(id));
            }
            // Redefined: the id names the newest version, whose class must be the same.
            let newest = pointer(memory, owner, l.const_method)?;
            let same = pointer(memory, pointer(memory, newest, l.constants)?, l.holder)? == holder;
            return same.then_some(valid(id));
        }
        // No id yet (a class that is being loaded), or an obsolete version.
        (memory.word(holder.wrapping_add(l.klass_constants))? == constants).then(|| valid(0))
    }

    /// Whether the method is native.
    pub(crate) fn is_native(&self, memory: &impl Memory, method: usize) -> bool {
        memory
            .u16(method.wrapping_add(self.method.access_flags))
            .is_some_and(|flags| flags & NATIVE != 0)
    }

    /// The bytecode index of a bytecode pointer, `None` if it points elsewhere.
    pub(crate) fn bci(
        &self,
        memory: &impl Memory,
        method: &ValidMethod,
        bcp: usize,
    ) -> Option<i32> {
        let const_method = pointer(memory, method.method, self.method.const_method)?;
        let index = bcp.checked_sub(const_method.wrapping_add(self.method.bytecodes))?;
        let size = usize::from(memory.u16(const_method.wrapping_add(self.method.code_size))?);
        (index < size).then(|| i32::try_from(index).unwrap_or(-1))
    }

    /// Whether this is `enterSpecial`, where a virtual thread's frames end. Asked for native wrappers only.
    pub(crate) fn is_enter_special(&self, memory: &impl Memory, method: &ValidMethod) -> bool {
        const LENGTH: u16 = 12;
        let l = &self.method;
        let same = || {
            let const_method = pointer(memory, method.method, l.const_method)?;
            let constants = pointer(memory, const_method, l.constants)?;
            let index = usize::from(memory.u16(const_method.wrapping_add(l.name_index))?);
            let symbol = pointer(
                memory,
                constants,
                l.entries.wrapping_add(index.wrapping_mul(8)),
            )?;
            let body = symbol.wrapping_add(l.symbol_body);
            Some(
                memory.u16(symbol.wrapping_add(l.symbol_length))? == LENGTH
                    && memory.word(body)? == usize::from_le_bytes(*b"enterSpe")
                    && memory.u32(body.wrapping_add(8))? == u32::from_le_bytes(*b"cial"),
            )
        };
        self.virtual_threads && same().unwrap_or(false)
    }
}

/// The id of number `idnum` in a class's table: its length first.
fn id_in(memory: &impl Memory, ids: usize, idnum: usize) -> Option<usize> {
    let length = memory.word(ids)?;
    if idnum >= length || length > MAX_IDNUM {
        return None;
    }
    let id = memory.word(ids.wrapping_add(idnum.wrapping_add(1).wrapping_mul(8)))?;
    aligned(id).then_some(id)
}

/// The pointer at `base + offset`, if both can be ones.
fn pointer(memory: &impl Memory, base: usize, offset: usize) -> Option<usize> {
    if !aligned(base) {
        return None;
    }
    memory
        .word(base.wrapping_add(offset))
        .filter(|found| aligned(*found))
}

fn aligned(address: usize) -> bool {
    address.is_multiple_of(8) && plausible(address)
}
