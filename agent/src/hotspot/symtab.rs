//! One question to the symbol table of a library on disk: where is this symbol?

#![expect(unsafe_code, reason = "boundary to the structures of HotSpot")]

//!
//! Rule: (1) the file is mapped, not read: a library's symbol table has some 60 000 entries. It is the file of a library that this process runs
//! from; who truncates it has pulled the code from under the VM as well.

use memmap2::Mmap;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol};
use std::fs::File;
use std::path::Path;

/// Offset of a local or global data symbol from the load base, `None` if the library was stripped or cannot be read.
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
    fn a_symbol_of_this_test_is_found_and_nonsense_is_not() {
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
