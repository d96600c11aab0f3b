//! The end of the process.
//!
//! Rule for `unsafe`: (1) the call does not return.

#![expect(unsafe_code, reason = "boundary to the operating system")]

/// Ends the process at once, without exit handlers.
pub(crate) fn end(code: i32) -> ! {
    // SAFETY: rule 1.
    unsafe { libc::_exit(code) }
}
