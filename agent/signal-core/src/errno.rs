//! Rule 1: `errno` of the interrupted code is put back when the handler returns.

/// Restores `errno` when dropped.
#[derive(Debug)]
pub(crate) struct ErrnoGuard(i32);

impl ErrnoGuard {
    pub(crate) fn new() -> Self {
        // SAFETY: returns the address of this thread's errno, valid while the thread lives; no
        // lock, no allocation.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: `place` is this thread's errno, see above.
        Self(unsafe { *place })
    }
}

impl Drop for ErrnoGuard {
    fn drop(&mut self) {
        // SAFETY: as in `new`.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: `place` is this thread's errno; nobody else writes it.
        unsafe { *place = self.0 };
    }
}
