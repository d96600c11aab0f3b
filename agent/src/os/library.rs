//! A loaded library: its file and its address.
//!
//! Rules:
//! 1. The loader's strings are copied at once. The libraries in question, the agent's and the VM's,
//!    are never unloaded.
//! 2. `dladdr` accepts any address, and writes a structure of the caller, for which zero is a
//!    value.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;

/// A loaded library.
#[derive(Debug)]
pub(crate) struct Library {
    /// As the loader knows it.
    pub(crate) path: PathBuf,
    /// Where its file begins in memory.
    pub(crate) base: usize,
}

impl Library {
    /// The library that holds `address`.
    pub(crate) fn of(address: usize) -> Option<Self> {
        // SAFETY: rule 2.
        let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
        let pointer: *const c_void = ptr::with_exposed_provenance(address);
        // SAFETY: rule 2.
        if unsafe { libc::dladdr(pointer, &raw mut info) } == 0 || info.dli_fname.is_null() {
            return None;
        }
        // SAFETY: rule 1.
        let path = unsafe { CStr::from_ptr(info.dli_fname) };
        Some(Self {
            path: OsStr::from_bytes(path.to_bytes()).into(),
            base: info.dli_fbase.expose_provenance(),
        })
    }
}
