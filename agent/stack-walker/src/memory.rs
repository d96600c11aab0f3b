//! Memory as a walk reads it: word by word, any of which may not be there (rule 1).

/// Lowest address that is ever read: nothing is mapped below.
const LOWEST_ADDRESS: usize = 0x1_0000;
/// First address beyond user space (47 bits on x86-64, 48 on aarch64).
const USER_SPACE_END: usize = if cfg!(target_arch = "aarch64") {
    1 << 48
} else {
    1 << 47
};

/// Checked loads. An implementation answers `None` where nothing can be read; it never faults,
/// whatever the address is.
pub trait Memory {
    /// The 8 bytes at `address`, `None` if they cannot be read.
    fn word(&self, address: usize) -> Option<usize>;

    /// Hints that the cache line at `address` will be read. Reads nothing, so any address will do.
    fn prefetch(&self, _address: usize) {}

    /// Four bytes.
    fn u32(&self, address: usize) -> Option<u32> {
        u32::try_from(self.part(address, 4)? & 0xffff_ffff).ok()
    }

    /// Four bytes, signed.
    fn i32(&self, address: usize) -> Option<i32> {
        self.u32(address).map(u32::cast_signed)
    }

    /// Two bytes.
    fn u16(&self, address: usize) -> Option<u16> {
        u16::try_from(self.part(address, 2)? & 0xffff).ok()
    }

    /// One byte.
    fn u8(&self, address: usize) -> Option<u8> {
        u8::try_from(self.part(address, 1)? & 0xff).ok()
    }

    /// `size` bytes at `address` in the low bits, read with the aligned word around them: the last
    /// bytes of a page never touch the next page.
    fn part(&self, address: usize, size: usize) -> Option<usize> {
        let inside = address & 7;
        if inside.wrapping_add(size) > 8 {
            return self.word(address);
        }
        let bits = u32::try_from(inside.wrapping_mul(8)).unwrap_or(0);
        Some(self.word(address & !7)?.wrapping_shr(bits))
    }
}

/// Whether `address` can belong to this process at all.
#[inline]
pub(crate) fn plausible(address: usize) -> bool {
    (LOWEST_ADDRESS..USER_SPACE_END).contains(&address)
}

/// Signal-safe: the CPU's prefetch hint (`prefetcht0`, `prfm`) for `address`, see
/// [`Memory::prefetch`].
#[inline]
pub fn prefetch(address: usize) {
    // SAFETY: the instruction accesses no memory for the program and never faults, whatever the
    // address is.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!(
            "prefetcht0 [{0}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
    // SAFETY: the same for aarch64.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{0}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
}
