//! A `Method`: is it one, which id has it, is it native.

use crate::memory::{Memory, plausible};
use crate::tables::VmTables;

const NATIVE: u16 = 0x0100;
/// Bytecode indices that are believed: the class file format ends there.
const MAX_IDNUM: usize = 65_536;
/// Methods of a class at most, by the class file format.
const MAX_METHODS: usize = 65_535;
/// Steps of a binary search over that many, and one to spare.
const MAX_HALVINGS: usize = 17;
/// Methods of one name that are compared.
const MAX_OVERLOADS: usize = 64;

/// A method that passed all checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValidMethod {
    pub(crate) method: usize,
    /// Its `jmethodID`, 0 if it has none yet.
    pub(crate) id: usize,
    /// It runs code that its class does not have any more (redefined): its bytecode indices mean
    /// nothing in the method that the id names.
    pub(crate) obsolete: bool,
}

/// What distinguishes a method from the others of its class: addresses of its name and of its
/// signature. Methods that override each other have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    name: usize,
    signature: usize,
}

impl VmTables {
    /// Checks that `method` is a `Method`: its constants belong to a class whose table of ids
    /// points back, or whose constants they are, or that was redefined since (rule 4).
    pub(crate) fn method(&self, memory: &impl Memory, method: usize) -> Option<ValidMethod> {
        let l = &self.method;
        let const_method = pointer(memory, method, l.const_method)?;
        let constants = pointer(memory, const_method, l.constants)?;
        let holder = pointer(memory, constants, l.holder)?;
        let valid = |id| ValidMethod {
            method,
            id,
            obsolete: false,
        };
        let id = self.id_of(memory, const_method, holder);
        if let Some(id) = id.filter(|_| !l.numbered_ids) {
            let owner = memory.word(id)?;
            if owner == method {
                return Some(valid(id));
            }
            // Redefined: the id names the newest version, whose class must be the same.
            let newest = pointer(memory, owner, l.const_method)?;
            let same = pointer(memory, pointer(memory, newest, l.constants)?, l.holder)? == holder;
            return same.then_some(valid(id));
        }
        let newest = pointer(memory, holder, l.klass_constants)?;
        if newest == constants {
            // A number, or no id yet: a class that is being loaded.
            return Some(valid(id.unwrap_or(0)));
        }
        // Obsolete: the VM gave it a number without an id, and its class other constants. These
        // lead back to the class all the same.
        let key = self.key(memory, const_method, constants)?;
        let is_class = pointer(memory, newest, l.holder)? == holder;
        let is_method = memory.u8(key.signature.wrapping_add(l.symbol_body))? == b'(';
        (is_class && is_method).then(|| ValidMethod {
            method,
            id: self.id_by_key(memory, holder, key).unwrap_or(0),
            obsolete: true,
        })
    }

    /// The id that the class `holder` has for a method's number.
    fn id_of(&self, memory: &impl Memory, const_method: usize, holder: usize) -> Option<usize> {
        let ids = pointer(memory, holder, self.method.ids)?;
        let idnum = memory.u16(const_method.wrapping_add(self.method.idnum))?;
        let id = id_in(memory, ids, usize::from(idnum))?;
        (self.method.numbered_ids || aligned(id)).then_some(id)
    }

    /// Name and signature of a method with these constants.
    fn key(&self, memory: &impl Memory, const_method: usize, constants: usize) -> Option<Key> {
        let symbol = |index| self.constant(memory, const_method, constants, index);
        Some(Key {
            name: symbol(self.method.name_index)?,
            signature: symbol(self.method.signature_index)?,
        })
    }

    /// The same of `method`.
    pub(crate) fn key_of(&self, memory: &impl Memory, method: usize) -> Option<Key> {
        let (const_method, constants) = self.constants_of(memory, method)?;
        self.key(memory, const_method, constants)
    }

    /// The `ConstMethod` of `method` and its constants.
    fn constants_of(&self, memory: &impl Memory, method: usize) -> Option<(usize, usize)> {
        let const_method = pointer(memory, method, self.method.const_method)?;
        let constants = pointer(memory, const_method, self.method.constants)?;
        Some((const_method, constants))
    }

    /// The constant whose number the field `index` of a `ConstMethod` holds.
    fn constant(
        &self,
        memory: &impl Memory,
        const_method: usize,
        constants: usize,
        index: usize,
    ) -> Option<usize> {
        let index = usize::from(memory.u16(const_method.wrapping_add(index))?);
        let entry = self.method.entries.wrapping_add(index.wrapping_mul(8));
        pointer(memory, constants, entry)
    }

    /// The id of the method that the class has now under this name and signature.
    fn id_by_key(&self, memory: &impl Memory, holder: usize, key: Key) -> Option<usize> {
        let l = &self.method;
        let methods = pointer(memory, holder, l.methods)?;
        let length = memory.u32(methods.wrapping_add(l.array_length))? as usize;
        if length > MAX_METHODS {
            return None;
        }
        let data = methods.wrapping_add(l.array_data);
        let at = |index: usize| {
            let method = pointer(memory, data, index.wrapping_mul(8))?;
            let const_method = pointer(memory, method, l.const_method)?;
            Some((method, const_method, self.key_of(memory, method)?))
        };
        let (mut low, mut high) = (0, length);
        for _ in 0..MAX_HALVINGS {
            if low >= high {
                break;
            }
            let middle = low.wrapping_add(high.wrapping_sub(low).wrapping_div(2));
            if at(middle)?.2.name < key.name {
                low = middle.wrapping_add(1);
            } else {
                high = middle;
            }
        }
        for index in low..length.min(low.wrapping_add(MAX_OVERLOADS)) {
            let (method, const_method, found) = at(index)?;
            if found == key {
                return self
                    .id_of(memory, const_method, holder)
                    .filter(|id| l.numbered_ids || memory.word(*id) == Some(method));
            }
            if found.name != key.name {
                break;
            }
        }
        None
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

    /// Whether the method has this name.
    pub(crate) fn is_named(&self, memory: &impl Memory, method: usize, name: &[u8]) -> bool {
        let symbol = || {
            let (const_method, constants) = self.constants_of(memory, method)?;
            self.constant(memory, const_method, constants, self.method.name_index)
        };
        symbol().is_some_and(|symbol| self.symbol_is(memory, symbol, name))
    }

    /// Whether the VM's symbol at this address is this text.
    pub(crate) fn symbol_is(&self, memory: &impl Memory, symbol: usize, text: &[u8]) -> bool {
        let length = memory.u16(symbol.wrapping_add(self.method.symbol_length));
        let body = symbol.wrapping_add(self.method.symbol_body);
        length.is_some_and(|length| usize::from(length) == text.len())
            && text
                .iter()
                .zip(body..)
                .all(|(byte, at)| memory.u8(at) == Some(*byte))
    }
}

/// The id of number `idnum` in a class's table: its length first, and 0 for no id.
fn id_in(memory: &impl Memory, ids: usize, idnum: usize) -> Option<usize> {
    let length = memory.word(ids)?;
    if idnum >= length || length > MAX_IDNUM {
        return None;
    }
    let id = memory.word(ids.wrapping_add(idnum.wrapping_add(1).wrapping_mul(8)))?;
    (id != 0).then_some(id)
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
