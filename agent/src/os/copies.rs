//! Detects another copy of this library in the process: a second file with its own statics.
//!
//! Rules:
//! 1. An active copy has 1 in an exported byte, which lives as long as its library.
//! 2. `dlopen` is called with `RTLD_NOLOAD`: it loads nothing.
//! 3. The C library walks the list of libraries under its own lock. The callback only copies names.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use super::library::Library;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// 1 once this copy is the agent of the process.
#[unsafe(no_mangle)]
pub(crate) static ctxagent_active: AtomicU8 = AtomicU8::new(0);

/// Makes this copy the agent of the process.
pub(crate) fn mark_active() {
    ctxagent_active.store(1, Relaxed);
}

/// Name of the file that this copy was loaded from.
pub(crate) fn own_name() -> Option<String> {
    let here = (&raw const ctxagent_active).expose_provenance();
    let path = Library::of(here)?.path;
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// Path of another copy that is active.
pub(crate) fn active_copy() -> Option<String> {
    let mut names: Vec<CString> = Vec::new();
    // SAFETY: rule 3; `names` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut names).cast()) };
    names
        .iter()
        .find(|name| is_other_active(name))
        .map(|name| name.to_string_lossy().into_owned())
}

unsafe extern "C" fn collect(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    names: *mut c_void,
) -> c_int {
    // SAFETY: rule 3: the C library passes a valid entry.
    let name = unsafe { (*info).dlpi_name };
    if !name.is_null() {
        // SAFETY: rule 3: a string of the loader, valid during the callback.
        let name = unsafe { CStr::from_ptr(name) }.to_owned();
        // SAFETY: rule 3: the vector that `active_copy` passed.
        let names = unsafe { &mut *names.cast::<Vec<CString>>() };
        if !name.is_empty() {
            names.push(name);
        }
    }
    0
}

fn is_other_active(name: &CStr) -> bool {
    // SAFETY: rule 2; a valid name.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return false;
    }
    // SAFETY: rule 1: a loaded library and a valid name. The search includes the library's
    // dependencies; none of them has the symbol.
    let flag: *const AtomicU8 = unsafe { libc::dlsym(library, c"ctxagent_active".as_ptr()) }.cast();
    // SAFETY: rule 1: null, or the byte.
    let active = !ptr::eq(flag, &raw const ctxagent_active)
        && unsafe { flag.as_ref() }.is_some_and(|f| f.load(Relaxed) == 1);
    // SAFETY: rule 2: releases the reference that `dlopen` took.
    unsafe { libc::dlclose(library) };
    active
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_copy_does_not_count_as_another() {
        super::mark_active();
        assert_eq!(super::active_copy(), None);
    }

    #[test]
    fn this_copy_knows_its_file() {
        let test = std::env::current_exe().expect("this test");
        let name = test.file_name().expect("a file").to_string_lossy();
        assert_eq!(super::own_name().as_deref(), Some(&*name));
    }
}
