//! What depends on the CPU architecture. Each module reads prologues, epilogues and calls of
//! compiled code; both are tested on either host.

#[cfg(any(test, target_arch = "aarch64"))]
pub(crate) mod aarch64;
pub(crate) mod frame_state;
pub(crate) mod registers;
#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) mod x86_64;

use frame_state::Arch;
use registers::Registers;

/// The architecture this is compiled for.
#[cfg(target_arch = "aarch64")]
pub(crate) type HostArch = aarch64::Aarch64;
/// The architecture this is compiled for.
#[cfg(target_arch = "x86_64")]
pub(crate) type HostArch = x86_64::X86_64;

impl Registers {
    /// Those that the kernel has saved, `saved` by their numbers in its `sigcontext`: on x86-64
    /// indices of `gregs`, on aarch64 those of `regs`, then 31 = `sp`, 32 = `pc`. 0 where `saved`
    /// has one not.
    #[inline]
    pub fn saved(saved: impl Fn(usize) -> Option<usize>) -> Self {
        HostArch::registers(|number| Some(saved(number).unwrap_or(0))).unwrap_or_default()
    }
}
