//! Finds a symbol in the symbol table of a library on disk.
//!
//! Rule for `unsafe`: (1) the file is mapped, not read: the table has some 60 000 entries. It is
//! the file of a library that this process runs from; truncating it would break the VM itself as
//! well.

#![expect(unsafe_code, reason = "boundary to the structures of HotSpot")]

use memmap2::Mmap;
use object::elf::PF_X;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSegment, ObjectSymbol, SegmentFlags};
use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// Offset of a local or global symbol from the load base; `None` if the library is stripped or
/// cannot be read.
pub(super) fn find(path: &Path, mangled: &'static str) -> Option<usize> {
    find_all(path, &[mangled]).get(mangled).copied()
}

/// The same for several symbols, in one pass; what is not found is left out.
pub(super) fn find_all(path: &Path, mangled: &[&'static str]) -> HashMap<&'static str, usize> {
    read_all(path, mangled).unwrap_or_default()
}

fn read_all(path: &Path, mangled: &[&'static str]) -> Option<HashMap<&'static str, usize>> {
    let names = mangled.iter().map(|name| (name.as_bytes(), *name));
    let mut wanted: HashMap<&[u8], &'static str> = names.collect();
    with_library(path, |elf| {
        let mut found = HashMap::new();
        let mut symbols = elf.symbols();
        while let Some(symbol) = symbols.next().filter(|_| !wanted.is_empty()) {
            let name = symbol.name_bytes().ok();
            let offset = usize::try_from(symbol.address()).unwrap_or(0);
            if offset != 0
                && let Some(name) = name.and_then(|name| wanted.remove(name))
            {
                found.insert(name, offset);
            }
        }
        Some(found)
    })
}

/// The code of a library, as offsets from the load base; `None` if it cannot be read.
pub(super) fn code(path: &Path) -> Option<Range<usize>> {
    let is_code = |flags| match flags {
        SegmentFlags::Elf { p_flags, .. } => p_flags.0 & PF_X.0 != 0,
        _ => false,
    };
    with_library(path, |elf| {
        let segment = elf.segments().find(|segment| is_code(segment.flags()))?;
        let begin = usize::try_from(segment.address()).ok()?;
        let size = usize::try_from(segment.size()).ok()?;
        Some(begin..begin.checked_add(size)?)
    })
}

type Library<'a> = ElfFile64<'a, object::Endianness, &'a [u8]>;

/// Reads a library's file.
fn with_library<T>(path: &Path, read: impl FnOnce(&Library<'_>) -> Option<T>) -> Option<T> {
    let file = File::open(path).ok()?;
    // SAFETY: rule 1.
    let bytes = unsafe { Mmap::map(&file) }.ok()?;
    read(&ElfFile64::parse(&*bytes).ok()?)
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
