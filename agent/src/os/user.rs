//! The user of the process.
//!
//! Rule for `unsafe`: (1) the call takes no arguments and cannot fail.

#![expect(unsafe_code, reason = "boundary to the operating system")]

/// The user whose rights the process has.
pub(crate) fn effective_id() -> u32 {
    // SAFETY: rule 1.
    unsafe { libc::geteuid() }
}
