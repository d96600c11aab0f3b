//! Who runs the process.

/// The user whose rights the process has.
pub(crate) fn effective_id() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() }
}
