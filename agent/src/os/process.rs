//! The end of the process.

#![expect(unsafe_code, reason = "boundary to the operating system")]

/// Ends the process at once, without anything that is to run at its end.
pub(crate) fn end(code: i32) -> ! {
    // SAFETY: nothing of this process runs any more.
    unsafe { libc::_exit(code) }
}
