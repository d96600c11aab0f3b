//! What depends on the CPU architecture. Each module reads prologues, epilogues and calls of
//! compiled code; both are tested on either host.

#[cfg(any(test, target_arch = "aarch64"))]
pub(crate) mod aarch64;
pub(crate) mod frame_state;
pub(crate) mod registers;
#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) mod x86_64;

/// The architecture this is compiled for.
#[cfg(target_arch = "aarch64")]
pub(crate) type HostArch = aarch64::Aarch64;
/// The architecture this is compiled for.
#[cfg(target_arch = "x86_64")]
pub(crate) type HostArch = x86_64::X86_64;
