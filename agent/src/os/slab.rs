//! Memory that is mapped once and stays: blocks, records, slots.
//!
//! Rules:
//! 1. A slab is anonymous, private, zeroed, page-aligned, and reserves no swap.
//! 2. A slab is leaked: a late handler or a Java buffer may touch it as long as the process lives.
//! 3. Pages given back stay mapped, and read as zero afterwards.
//! 4. All access is through atomics, of which zero is a value. The exception are frames, which
//!    belong to the owner of their slot.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use memmap2::MmapOptions;
use signal_core::engine::probes::CpuProbes;
use signal_core::layout::Block;
use signal_core::record::ThreadRecord;
use signal_core::slots::{SlotHeader, SlotTable};
use stack_walker::CallFrame;
use std::io;
use std::sync::atomic::AtomicU32;

/// A huge page: 2 MiB on x86-64, and on aarch64 with pages of 4 KiB.
const HUGE_PAGE: usize = 2 << 20;

/// What follows the blocks.
const SPARE: usize = 4096;

/// Types that consist of atomics, for which all-zero bytes are a value.
///
/// # Safety
/// Both must hold.
pub(crate) unsafe trait ZeroIsValid {}
// SAFETY: rule 4.
unsafe impl ZeroIsValid for Block {}
// SAFETY: rule 4.
unsafe impl ZeroIsValid for ThreadRecord {}
// SAFETY: rule 4.
unsafe impl ZeroIsValid for CpuProbes {}
// SAFETY: rule 4.
unsafe impl ZeroIsValid for SlotHeader {}
// SAFETY: rule 4.
unsafe impl ZeroIsValid for AtomicU32 {}

/// `count` zeroed values that live as long as the process.
pub(crate) fn array<T: ZeroIsValid>(count: usize) -> io::Result<&'static [T]> {
    let base: *const T = map(count.saturating_mul(size_of::<T>()))?.cast();
    // SAFETY: rules 1, 2 and 4.
    Ok(unsafe { std::slice::from_raw_parts(base, count) })
}

/// One zeroed value that lives as long as the process, in huge pages if the system grants them: for
/// tables that a handler reads at random, where small pages would miss the TLB at each access.
pub(crate) fn huge<T: ZeroIsValid>() -> io::Result<&'static T> {
    let bytes = size_of::<T>().next_multiple_of(HUGE_PAGE);
    let mapped = map(bytes.saturating_add(HUGE_PAGE))?;
    let before = mapped.addr().next_multiple_of(HUGE_PAGE) - mapped.addr();
    let base = mapped.wrapping_add(before);
    // SAFETY: rule 1: within the mapping. If the system refuses, the pages are small.
    let _refused = unsafe { libc::madvise(base.cast(), bytes, libc::MADV_HUGEPAGE) };
    // Now, so that no handler waits until the system has zeroed a huge page.
    // SAFETY: rule 1: the first byte of a mapping that no other code knows.
    unsafe { base.write_volatile(0) };
    let value: *const T = base.cast();
    // SAFETY: rules 1, 2 and 4, aligned for any type.
    Ok(unsafe { &*value })
}

/// Bytes of the memory that begins with so many bytes of blocks: a power of two, since
/// `DirectMemory` checks addresses by a shift. Nothing else lies there.
pub(crate) fn span(bytes: usize) -> usize {
    bytes.checked_next_power_of_two().unwrap_or(usize::MAX)
}

/// `blocks` as an array, at an address that is a multiple of its [`span`]; behind the span a page
/// that nothing else uses.
pub(crate) fn blocks(count: usize) -> io::Result<&'static [Block]> {
    let span = span(count.saturating_mul(size_of::<Block>()));
    let mapped = map(span.saturating_mul(2).saturating_add(SPARE))?;
    let before = mapped.addr().next_multiple_of(span) - mapped.addr();
    let base: *const Block = mapped.wrapping_add(before).cast();
    // SAFETY: rules 1, 2 and 4; `before` is less than `span`, which the blocks fit into.
    Ok(unsafe { std::slice::from_raw_parts(base, count) })
}

/// Memory for `count` frames.
pub(crate) fn frames(count: usize) -> io::Result<*mut CallFrame> {
    Ok(map(count.saturating_mul(size_of::<CallFrame>()))?.cast())
}

/// Slots that keep the memory of their frames while a recording runs: enough for an ordinary load,
/// at most 4 MiB.
const KEPT_SLOTS: usize = 128;

/// As [`give_back`], if a burst of samples has used more slots than a recording keeps. For the
/// writer thread.
pub(crate) fn give_back_many(slots: &SlotTable) {
    if slots.used() > KEPT_SLOTS {
        give_back(slots);
    }
}

/// Gives the memory of frames without a sample back to the system. For the writer thread, as
/// [`SlotTable::give_back`].
pub(crate) fn give_back(slots: &SlotTable) {
    // SAFETY: rule 4: the table's own frames, from which it excludes handlers meanwhile.
    slots.give_back(|frames, count| unsafe { discard(frames, count) });
}

/// Gives the whole pages within `count` frames back to the system.
///
/// # Safety
/// The frames are part of a slab, and no other code touches them until this returns.
unsafe fn discard(frames: *mut CallFrame, count: usize) {
    // SAFETY: no rule is concerned: the call touches no memory.
    let answer = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Ok(page @ 1..) = usize::try_from(answer) else {
        return;
    };
    let before = frames.addr().next_multiple_of(page) - frames.addr();
    let bytes = (count * size_of::<CallFrame>()).saturating_sub(before) / page * page;
    if bytes > 0 {
        let first = frames.wrapping_byte_add(before);
        // SAFETY: rule 3; zero is a frame, and the pages are within the caller's frames. If the
        // system refuses, the memory stays as it is.
        let _refused = unsafe { libc::madvise(first.cast(), bytes, libc::MADV_DONTNEED) };
    }
}

fn map(bytes: usize) -> io::Result<*mut u8> {
    let mut mapping = MmapOptions::new()
        .len(bytes.max(1))
        .no_reserve_swap()
        .map_anon()?;
    let base = mapping.as_mut_ptr();
    Box::leak(Box::new(mapping)); // rule 2
    Ok(base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn a_slab_is_zeroed_and_writable_to_its_end() {
        let cells: &[AtomicU32] = array(100_000).expect("memory");
        assert_eq!(cells.len(), 100_000);
        assert!(cells.iter().all(|c| c.load(Relaxed) == 0));
        cells[99_999].store(7, Relaxed);
    }

    #[test]
    fn discarded_frames_are_zero_and_their_neighbours_unchanged() {
        const ALL: usize = 1024 * 16;
        let base = frames(ALL).expect("memory");
        let kind = |index: usize| {
            // SAFETY: rule 4: this test owns the frames.
            unsafe { &mut (*base.wrapping_add(index)).kind }
        };
        (0..ALL).for_each(|index| *kind(index) = 7);
        // SAFETY: as above.
        unsafe { discard(base.wrapping_add(100), ALL - 200) };
        let kept = (0..ALL).filter(|index| *kind(*index) == 7).count();
        assert!((0..100).all(|index| *kind(index) == 7 && *kind(ALL - 1 - index) == 7));
        assert!(kept < ALL / 2, "{kept} of {ALL} frames were kept");
        // Less than a page: nothing happens.
        // SAFETY: as above.
        unsafe { discard(base.wrapping_add(1), 10) };
        assert_eq!((0..ALL).filter(|index| *kind(*index) == 7).count(), kept);
        *kind(ALL / 2) = 8;
        assert_eq!(*kind(ALL / 2), 8);
    }

    /// Two tables, larger than a huge page.
    #[repr(C)]
    struct Tables([AtomicU32; 100_000], [AtomicU32; 500_000]);

    // SAFETY: atomics only.
    unsafe impl ZeroIsValid for Tables {}

    #[test]
    fn a_value_in_huge_pages_is_zeroed_and_aligned() {
        let tables: &Tables = huge().expect("memory");
        assert_eq!(std::ptr::from_ref(tables).addr() % HUGE_PAGE, 0);
        assert!(
            tables
                .0
                .iter()
                .chain(&tables.1)
                .all(|c| c.load(Relaxed) == 0)
        );
        tables.1[499_999].store(7, Relaxed);
    }

    #[test]
    fn blocks_are_aligned_to_their_span() {
        for count in [32, 1 << 16] {
            let blocks = super::blocks(count).expect("memory");
            let span = span(size_of_val(blocks));
            assert_eq!(blocks.len(), count);
            assert!(span.is_power_of_two() && span >= size_of_val(blocks));
            assert_eq!(blocks.as_ptr().addr() % span, 0);
        }
    }

    #[test]
    fn an_array_beyond_the_address_space_is_an_error() {
        assert!(array::<Block>(1 << 55).is_err());
        assert!(super::blocks(1 << 55).is_err());
    }
}
