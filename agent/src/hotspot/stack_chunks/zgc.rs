//! Where ZGC keeps its state and its tables of moved objects. The VM's tables do not tell where a
//! generation keeps its table of pages; a number in the table shows that it is one.

use super::names;
use super::statics::Statics;
use crate::hotspot::vm_dictionary::VmDictionary;
use stack_walker::heap::{Coloured, HighBits, Relocation};

/// `ZGeneration::_forwarding_table`, in 21 and 25.
const FORWARDING_TABLE: usize = 32;
/// Bytes that one entry of a table of pages stands for (log2).
const GRANULE_SHIFT: u32 = 21;

/// Generational ZGC.
pub(super) fn coloured(d: &VmDictionary, vm: &Statics) -> Result<Coloured, String> {
    let table = FORWARDING_TABLE + d.offset("ZForwardingTable", "_map")?;
    let size = vm.word(names::MAX_ADDRESS)? >> GRANULE_SHIFT;
    let pages = |generation| {
        let pages = vm.word(generation)?.wrapping_add(table);
        vm.check_size(pages, size).map(|()| pages)
    };
    Ok(Coloured {
        bad_mask: vm.address(names::LOAD_BAD_MASK)?,
        young_mask: vm.address(names::YOUNG_MASK)?,
        old_mask: vm.address(names::OLD_MASK)?,
        offset_mask: vm.address(names::OFFSET_MASK)?,
        heap_base: vm.address(names::HEAP_BASE)?,
        pages: (pages(names::YOUNG)?, pages(names::OLD)?),
        relocation: relocation(
            d,
            &RelocationTypes {
                pages: "ZGranuleMapForForwarding",
                page: "ZForwarding",
                memory: "ZVirtualMemory",
                entries: "ZAttachedArrayForForwarding",
            },
        )?,
    })
}

/// ZGC of 21 without generations.
pub(super) fn high_bits(d: &VmDictionary, vm: &Statics) -> Result<HighBits, String> {
    let heap = vm.word_at(d.address("Universe", "_collectedHeap")?)?;
    let pages = heap
        + d.offset("XCollectedHeap", "_heap")?
        + d.offset("XHeap", "_forwarding_table")?
        + d.offset("XForwardingTable", "_map")?;
    let size = (vm.word(names::HIGH_OFFSET_MASK)? + 1) >> GRANULE_SHIFT;
    vm.check_size(pages, size)?;
    Ok(HighBits {
        bad_mask: vm.address(names::BAD_MASK)?,
        weak_bad_mask: vm.address(names::WEAK_BAD_MASK)?,
        offset_mask: vm.address(names::HIGH_OFFSET_MASK)?,
        good_mask: vm.address(names::GOOD_MASK)?,
        pages,
        relocation: relocation(
            d,
            &RelocationTypes {
                pages: "XGranuleMapForForwarding",
                page: "XForwarding",
                memory: "XVirtualMemory",
                entries: "XAttachedArrayForForwarding",
            },
        )?,
    })
}

/// Names of the types of a page that is being emptied.
struct RelocationTypes {
    pages: &'static str,
    page: &'static str,
    memory: &'static str,
    entries: &'static str,
}

fn relocation(d: &VmDictionary, types: &RelocationTypes) -> Result<Relocation, String> {
    Ok(Relocation {
        pages: d.offset(types.pages, "_map")?,
        start: d.offset(types.page, "_virtual")? + d.offset(types.memory, "_start")?,
        alignment_shift: d.offset(types.page, "_object_alignment_shift")?,
        length: d.offset(types.page, "_entries")? + d.offset(types.entries, "_length")?,
        entries: d.size(types.page)?.next_multiple_of(8),
    })
}
