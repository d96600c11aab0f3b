//! Who runs the process.

#![expect(unsafe_code, reason = "boundary to the operating system")]

/// The user whose rights the process has.
pub(crate) fn effective_id() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() }
}
