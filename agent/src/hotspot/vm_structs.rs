//! HotSpot's table of its own structures (`gHotSpotVMStructs`): an exported array that names type,
//! field and offset.
//!
//! Rules:
//! 1. `dlsym` finds every symbol, and the result is checked for null.
//! 2. Strings and entries belong to libjvm, which is never unloaded.
//! 3. The table ends at the entry without a type name, and is never read beyond [`MAX_ENTRIES`].

#![expect(unsafe_code, reason = "boundary to the structures of HotSpot")]

use super::symtab;
use crate::os::library::Library;
use std::ffi::{CStr, CString, c_char};
use std::ptr;

/// Far beyond the largest table seen (about 1 200 entries in 25).
const MAX_ENTRIES: usize = 20_000;

/// Offsets of the words of an entry.
#[derive(Debug, Clone, Copy)]
struct Shape {
    stride: usize,
    type_name: usize,
    field_name: usize,
    is_static: usize,
    offset: usize,
}

/// A table of entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VmStructs {
    base: usize,
    shape: Shape,
}

impl VmStructs {
    /// The exported table, `None` if this VM has none.
    pub(crate) fn exported() -> Option<Self> {
        let word = |name: &str| read_word(symbol(name)?);
        let shape = Shape {
            stride: word("gHotSpotVMStructEntryArrayStride")?,
            type_name: word("gHotSpotVMStructEntryTypeNameOffset")?,
            field_name: word("gHotSpotVMStructEntryFieldNameOffset")?,
            is_static: word("gHotSpotVMStructEntryIsStaticOffset")?,
            offset: word("gHotSpotVMStructEntryOffsetOffset")?,
        };
        let plausible = (24..=256).contains(&shape.stride)
            && [
                shape.type_name,
                shape.field_name,
                shape.is_static,
                shape.offset,
            ]
            .iter()
            .all(|o| *o < shape.stride);
        let base = word("gHotSpotVMStructs")?;
        (plausible && base != 0).then_some(Self { base, shape })
    }

    /// The table of the JVMCI compiler interface. It is not exported, so the symbol table of libjvm
    /// locates it. It has the shape of the exported one.
    pub(crate) fn jvmci(self) -> Option<Self> {
        const NAME: &str = "_ZN14JVMCIVMStructs21localHotSpotVMStructsE";
        let library = Library::of(self.base)?;
        let offset = symtab::variables(&library.path, &[NAME]).remove(NAME)?;
        Some(Self {
            base: library.base.checked_add(offset)?,
            shape: self.shape,
        })
    }

    /// Offset of an instance field, tried under each of `types`.
    pub(crate) fn offset(&self, types: &[&str], field: &str) -> Option<usize> {
        for index in 0..MAX_ENTRIES {
            let entry = self
                .base
                .checked_add(index.checked_mul(self.shape.stride)?)?;
            let type_name = text(read_word(entry + self.shape.type_name)?)?;
            let field_name = text(read_word(entry + self.shape.field_name)?);
            if field_name == Some(field)
                && types.contains(&type_name)
                && read_i32(entry + self.shape.is_static) == 0
            {
                return read_word(entry + self.shape.offset);
            }
        }
        None
    }
}

/// Address of a dynamic symbol of the process.
pub(crate) fn symbol(name: &str) -> Option<usize> {
    let name = CString::new(name).ok()?;
    // SAFETY: rule 1: a valid name, searched in all loaded libraries.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then(|| address.expose_provenance())
}

pub(super) fn read_word(address: usize) -> Option<usize> {
    let word: *const usize = ptr::with_exposed_provenance(address);
    // SAFETY: rule 2: an exported 8-byte word, or a word inside an entry of the table.
    (address != 0).then(|| unsafe { word.read_unaligned() })
}

pub(super) fn read_i32(address: usize) -> i32 {
    let value: *const i32 = ptr::with_exposed_provenance(address);
    // SAFETY: rule 2: inside an entry of the table.
    unsafe { value.read_unaligned() }
}

pub(super) fn read_u8(address: usize) -> u8 {
    let value: *const u8 = ptr::with_exposed_provenance(address);
    // SAFETY: rule 2: a variable of libjvm, whose address the table has.
    unsafe { value.read() }
}

pub(super) fn text(address: usize) -> Option<&'static str> {
    if address == 0 {
        return None;
    }
    let string: *const c_char = ptr::with_exposed_provenance(address);
    // SAFETY: rule 2: a string of libjvm, which it keeps.
    unsafe { CStr::from_ptr(string) }.to_str().ok()
}
