//! One question to the symbol table of a library on disk: where is this symbol?

use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol, ReadCache};
use std::fs::File;
use std::io::BufReader;

/// Offset of a local or global data symbol from the load base, `None` if the library was stripped or cannot be read.
pub(super) fn find(path: &str, mangled: &str) -> Option<usize> {
    let file = ReadCache::new(BufReader::new(File::open(path).ok()?));
    let elf: ElfFile64<'_, object::Endianness, _> = ElfFile64::parse(&file).ok()?;
    let symbol = elf
        .symbols()
        .find(|s| s.name_bytes().is_ok_and(|n| n == mangled.as_bytes()))?;
    usize::try_from(symbol.address()).ok().filter(|a| *a != 0)
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn a_symbol_of_this_test_is_found_and_nonsense_is_not() {
        let me = std::env::current_exe().expect("a path");
        let me = me.to_str().expect("utf-8");
        assert!(find(me, "main").is_some());
        assert!(find(me, "no_such_symbol_here").is_none());
        assert!(find("/nonexistent", "main").is_none());
        assert!(
            find("/proc/self/cmdline", "main").is_none(),
            "not an ELF file"
        );
    }
}
