//! Rule 1: `errno` of the interrupted code is put back when the handler returns.

/// Restores `errno` when dropped.
#[derive(Debug)]
pub(crate) struct ErrnoGuard(i32);

impl ErrnoGuard {
    pub(crate) fn new() -> Self {
        // SAFETY: returns the address of this thread's errno, valid while the thread lives; no
        // lock, no allocation.
        let address = unsafe { libc::__errno_location() };
        // SAFETY: `address` is this thread's errno, see above.
        Self(unsafe { *address })
    }
}

impl Drop for ErrnoGuard {
    fn drop(&mut self) {
        // SAFETY: as in `new`.
        let address = unsafe { libc::__errno_location() };
        // SAFETY: `address` is this thread's errno; no other thread writes it.
        unsafe { *address = self.0 };
    }
}
