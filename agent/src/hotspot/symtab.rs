//! Finds a symbol in the symbol table of a library on disk.
//!
//! Rule for `unsafe`: (1) the file is mapped, not read: the table has some 60 000 entries. It is
//! the file of a library that this process runs from; truncating it would break the VM itself as
//! well.

#![expect(unsafe_code, reason = "boundary to the structures of HotSpot")]

use memmap2::Mmap;
use object::elf::PF_X;
use object::read::elf::{ElfFile64, ElfSymbol64};
use object::{Object, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolKind};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// Offset of a function from the load base, local or global; `None` if the library is stripped or
/// cannot be read.
pub(super) fn function(path: &Path, name: &'static str) -> Option<usize> {
    find(path, SymbolKind::Text, &[name])?.remove(name)
}

/// The same of variables, in one pass; what is not found is left out.
pub(super) fn variables(path: &Path, names: &[&'static str]) -> FxHashMap<&'static str, usize> {
    find(path, SymbolKind::Data, names).unwrap_or_default()
}

/// Looks at the names of one kind of symbols only: most of the time goes into names.
fn find(
    path: &Path,
    kind: SymbolKind,
    names: &[&'static str],
) -> Option<FxHashMap<&'static str, usize>> {
    let names = names.iter().map(|name| (name.as_bytes(), *name));
    let mut wanted: FxHashMap<&[u8], &'static str> = names.collect();
    with_library(path, |elf| {
        let mut found = FxHashMap::default();
        let of_kind = |symbol: &ElfSymbol64<'_, '_, _>| symbol.kind() == kind;
        let mut symbols = elf.symbols().filter(of_kind);
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
    use super::{function, variables};
    use std::path::Path;

    #[unsafe(no_mangle)]
    static OF_THE_TEST_OF_SYMBOLS: u32 = 1;

    #[test]
    fn only_existing_symbols_are_found() {
        let me = std::env::current_exe().expect("a path");
        assert!(function(&me, "main").is_some());
        assert!(function(&me, "no_such_symbol_here").is_none());
        assert!(function(Path::new("/nonexistent"), "main").is_none());
        let no_library = Path::new("/proc/self/cmdline");
        assert!(function(no_library, "main").is_none());
        let names = ["no_such_symbol_here", "OF_THE_TEST_OF_SYMBOLS", "main"];
        let found = variables(&me, &names);
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            [&names[1]],
            "{OF_THE_TEST_OF_SYMBOLS}"
        );
    }
}
