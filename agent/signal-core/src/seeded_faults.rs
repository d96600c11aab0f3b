//! Test builds: what no handler may do, for the faults of [`fault_injection`].

use core::ffi::c_void;

/// What no handler may do.
pub(crate) fn allocate() {
    // SAFETY: any size; the memory stays where it is.
    let memory = unsafe { libc::malloc(64) };
    core::hint::black_box(memory);
}

/// Leaves the interrupted code with another value in a register that it uses.
pub(crate) fn change_a_register(ucontext: *mut c_void) {
    let context: *mut libc::ucontext_t = ucontext.cast();
    // SAFETY: the kernel's own context of this signal, writable until the handler returns.
    if let Some(context) = unsafe { context.as_mut() } {
        #[cfg(target_arch = "x86_64")]
        if let Some(register) = context.uc_mcontext.gregs.get_mut(libc::REG_RBX as usize) {
            *register ^= 1;
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(register) = context.uc_mcontext.regs.get_mut(19) {
            *register ^= 1;
        }
    }
}
