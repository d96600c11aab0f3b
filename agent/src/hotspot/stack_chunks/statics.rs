//! Static variables of libjvm, by their symbols.

use super::names;
use crate::hotspot::symtab;
use crate::hotspot::vm_dictionary::VmDictionary;
use crate::hotspot::vm_structs::symbol;
use crate::os::library::Library;
use stack_walker::Memory;
use stack_walker::safe_fetch::SafeFetch;
use std::collections::HashMap;

/// Objects that the walk reads are smaller than this, the frames in a chunk aside.
const MAX_OFFSET: i32 = 1024;

/// Static variables of libjvm.
pub(super) struct Statics {
    memory: SafeFetch,
    addresses: HashMap<&'static str, usize>,
}

impl Statics {
    pub(super) fn read(memory: SafeFetch) -> Result<Self, String> {
        let library = symbol("gHotSpotVMStructs").and_then(Library::of);
        let library = library.ok_or("libjvm is not found among the loaded libraries")?;
        let offsets = symtab::variables(&library.path, &names::ALL);
        let address = |(name, offset)| (name, library.base.wrapping_add(offset));
        Ok(Self {
            memory,
            addresses: offsets.into_iter().map(address).collect(),
        })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.addresses.contains_key(name)
    }

    pub(super) fn address(&self, name: &str) -> Result<usize, String> {
        let address = self.addresses.get(name).copied();
        address.ok_or_else(|| format!("libjvm has no symbol {name}"))
    }

    /// The value of a flag.
    pub(super) fn flag(&self, name: &str) -> bool {
        let value = self.address(name).ok().and_then(|at| self.memory.u8(at));
        value == Some(1)
    }

    /// The value of an offset of a Java field.
    pub(super) fn offset(&self, name: &str) -> Result<usize, String> {
        let value = self.memory.i32(self.address(name)?).unwrap_or(0);
        match usize::try_from(value) {
            Ok(offset) if offset > 0 && value < MAX_OFFSET => Ok(offset),
            _ => Err(format!("{name} of libjvm is {value}: no offset of a field")),
        }
    }

    /// Base and shift of compressed pointers: two static fields, up to 21 those of `within`.
    pub(super) fn encoding(
        &self,
        d: &VmDictionary,
        of: &'static str,
        within: [&'static str; 2],
    ) -> Result<(usize, u32), String> {
        let field = |name, nested| d.address(of, name).or_else(|_| d.address(of, nested));
        let base = self.memory.word(field("_base", within[0])?);
        let shift = self.memory.u32(field("_shift", within[1])?);
        match (base, shift) {
            (Some(base), Some(shift @ 0..=16)) => Ok((base, shift)),
            found => Err(format!("base and shift of {of} are {found:?}")),
        }
    }

    /// The word in a static variable.
    pub(super) fn word(&self, name: &str) -> Result<usize, String> {
        self.word_at(self.address(name)?)
    }

    pub(super) fn word_at(&self, address: usize) -> Result<usize, String> {
        let word = self.memory.word(address);
        word.ok_or_else(|| "a static field cannot be read".into())
    }

    /// A table of pages begins with the number of its entries.
    pub(super) fn check_size(&self, pages: usize, expected: usize) -> Result<(), String> {
        match self.memory.word(pages) {
            Some(size) if size == expected => Ok(()),
            found => Err(format!(
                "the table of ZGC's pages has {found:?} entries instead of {expected}"
            )),
        }
    }
}
