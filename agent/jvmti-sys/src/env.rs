//! The environment: a pointer to a pointer to the table of functions.
//!
//! Rules of this module and of [`methods`](crate::methods), cited by number in the `SAFETY`
//! comments:
//!
//! 1. A [`JvmtiEnv`] comes from `GetEnv` of a live VM (or is passed by the VM) and is not used
//!    after `DisposeEnvironment`; its maker promises that.
//! 2. The table it points to is constant and has [`TABLE_LEN`] entries, each a null or a function
//!    with the signature of the specification for its number. The test `matches_the_header`
//!    compares every signature with the C type.
//! 3. Each method is `unsafe`: thread, phase, references and pointers are the caller's duty, as the
//!    specification says.

use crate::function::{Function, TABLE_LEN};
use core::ffi::c_void;
use core::ptr;
use jni_sys::{JNI_OK, JavaVM, jint};

/// The table of functions; entry `n - 1` is function `n`.
#[repr(C)]
#[derive(Debug)]
pub struct FunctionTable {
    entries: [*const c_void; TABLE_LEN],
}

const _: () = assert!(
    size_of::<FunctionTable>() == TABLE_LEN * size_of::<usize>(),
    "nothing but pointers"
);

impl FunctionTable {
    /// The entry of `function`; null if the VM left it empty or the number is past the table.
    pub const fn entry(&self, function: Function) -> *const c_void {
        match function.index() {
            Some(index) => self.entries[index],
            None => ptr::null(),
        }
    }
}

/// A JVMTI environment: what C calls `jvmtiEnv *`. Has the size and the calling convention of a
/// pointer, so it can stand in the signature of a callback.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JvmtiEnv(*mut *const FunctionTable);

// SAFETY: the specification allows an environment to be used from any thread; the VM does its own
// locking, and the pointer and the table are never written by us.
unsafe impl Send for JvmtiEnv {}
// SAFETY: as for `Send`.
unsafe impl Sync for JvmtiEnv {}

impl JvmtiEnv {
    /// Asks the VM for a new environment of `version`, for example
    /// [`VERSION_11`](crate::types::VERSION_11).
    ///
    /// # Errors
    /// The code of `GetEnv`: `JNI_EVERSION` for a version the VM does not have, `JNI_EDETACHED` on
    /// a thread the VM does not know.
    ///
    /// # Safety
    /// `vm` is the pointer the VM passed to `Agent_OnLoad`, `Agent_OnAttach` or `JNI_OnLoad`, and
    /// the VM has not ended.
    pub unsafe fn from_vm(vm: *mut JavaVM, version: jint) -> Result<Self, jint> {
        let mut raw: *mut c_void = ptr::null_mut();
        // SAFETY: the caller says that `vm` is a live VM, so it points to the pointer to its table.
        let table = unsafe { *vm };
        // SAFETY: the table of a live VM is constant and outlives this call.
        let table = unsafe { &*table };
        // SAFETY: every VM since 1.2 has this part of the union.
        let get_env = unsafe { table.v1_2.GetEnv };
        // SAFETY: a function of the VM with its own pointer; `raw` is ours and writable.
        let code = unsafe { get_env(vm, &raw mut raw, version) };
        match Self::from_raw(raw) {
            Some(env) if code == JNI_OK => Ok(env),
            _ => Err(code),
        }
    }

    /// Wraps the C pointer; `None` if it is null. Using the result is bound by rule 1.
    pub const fn from_raw(raw: *mut c_void) -> Option<Self> {
        if raw.is_null() {
            None
        } else {
            Some(Self(raw.cast()))
        }
    }

    /// The C pointer.
    pub const fn as_raw(self) -> *mut c_void {
        self.0.cast()
    }

    /// The table of functions.
    ///
    /// # Safety
    /// Rule 1: the environment is live.
    pub unsafe fn table(self) -> *const FunctionTable {
        // SAFETY: rule 1: the environment points to the pointer to its table.
        unsafe { *self.0 }
    }

    /// The entry of `function`.
    ///
    /// # Safety
    /// Rule 1: the environment is live.
    pub(crate) unsafe fn entry(self, function: Function) -> *const c_void {
        // SAFETY: passed on to the caller.
        let table = unsafe { self.table() };
        // SAFETY: rule 2: the table is constant and has all entries.
        unsafe { &*table }.entry(function)
    }
}
