//! Memory that is mapped once and stays: blocks, records, slots.
//!
//! Rules: (1) a slab is anonymous, private, zeroed, without reserved swap; (2) it is leaked: a late handler or a Java buffer may
//! touch it as long as the process lives.

use memmap2::MmapOptions;
use signal_core::layout::Block;
use signal_core::record::ThreadRecord;
use signal_core::slots::{CallFrame, SlotHeader};
use std::io;
use std::sync::atomic::AtomicU32;

/// Types for which all-zero bytes are a value, and which may be changed through a shared reference.
///
/// # Safety
/// Both must hold.
pub(crate) unsafe trait ZeroIsValid {}
// SAFETY: atomics only.
unsafe impl ZeroIsValid for Block {}
// SAFETY: atomics only.
unsafe impl ZeroIsValid for ThreadRecord {}
// SAFETY: atomics only.
unsafe impl ZeroIsValid for SlotHeader {}
// SAFETY: an atomic.
unsafe impl ZeroIsValid for AtomicU32 {}

/// `count` zeroed values that live as long as the process.
pub(crate) fn array<T: ZeroIsValid>(count: usize) -> io::Result<&'static [T]> {
    let base: *const T = map(count.saturating_mul(size_of::<T>()))?.cast();
    // SAFETY: rule 1 and 2: mapped, zeroed, page-aligned, for ever; zero is valid and all access is through atomics.
    Ok(unsafe { std::slice::from_raw_parts(base, count) })
}

/// Room for `count` frames.
pub(crate) fn frames(count: usize) -> io::Result<*mut CallFrame> {
    Ok(map(count.saturating_mul(size_of::<CallFrame>()))?.cast())
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
    fn more_than_the_address_space_is_an_error_not_a_crash() {
        assert!(array::<Block>(1 << 55).is_err());
    }
}
