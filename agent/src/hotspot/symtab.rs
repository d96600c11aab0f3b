//! Finds a symbol in the symbol table of a library on disk.
//!
//! Rule for `unsafe`: (1) the file is mapped, not read: the table has some 60 000 entries. It is
//! the file of a library that this process runs from; truncating it would break the VM itself as
//! well.

#![expect(unsafe_code, reason = "boundary to the structures of HotSpot")]

use memmap2::Mmap;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol};
use std::fs::File;
use std::path::Path;

/// Offset of a local or global symbol from the load base; `None` if the library is stripped or
/// cannot be read.
pub(super) fn find(path: &Path, mangled: &str) -> Option<usize> {
    let file = File::open(path).ok()?;
    // SAFETY: rule 1.
    let bytes = unsafe { Mmap::map(&file) }.ok()?;
    let elf: ElfFile64<'_, object::Endianness, _> = ElfFile64::parse(&*bytes).ok()?;
    let symbol = elf
        .symbols()
        .find(|s| s.name_bytes().is_ok_and(|n| n == mangled.as_bytes()))?;
    usize::try_from(symbol.address()).ok().filter(|a| *a != 0)
}

#[cfg(test)]
mod tests {
    use super::find;
    use std::path::Path;

    #[test]
    fn only_existing_symbols_are_found() {
        let me = std::env::current_exe().expect("a path");
        assert!(find(&me, "main").is_some());
        assert!(find(&me, "no_such_symbol_here").is_none());
        assert!(find(Path::new("/nonexistent"), "main").is_none());
        assert!(
            find(Path::new("/proc/self/cmdline"), "main").is_none(),
            "not an ELF file"
        );
    }
}
