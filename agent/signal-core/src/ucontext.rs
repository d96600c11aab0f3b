//! The registers of the interrupted thread, out of the `ucontext_t` that the kernel gives the handler.

use core::ffi::c_void;
use stack_walker::Registers;

/// The interrupted thread's registers; all zero if there are none.
pub(crate) fn registers(ucontext: *mut c_void) -> Registers {
    let context: *mut libc::ucontext_t = ucontext.cast();
    if context.is_null() {
        return Registers::default();
    }
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: the kernel gives an SA_SIGINFO handler a valid ucontext; nobody else writes it while we read.
        let saved = unsafe { &(*context).uc_mcontext.gregs };
        let get = |index: i32| {
            let value = usize::try_from(index).ok().and_then(|i| saved.get(i));
            value.map_or(0, |value| address(value.cast_unsigned()))
        };
        Registers {
            pc: get(libc::REG_RIP),
            sp: get(libc::REG_RSP),
            fp: get(libc::REG_RBP),
            method: get(libc::REG_RBX),
            bcp: get(libc::REG_R13),
            sender_sp: get(libc::REG_R13),
            link: 0,
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: the kernel gives an SA_SIGINFO handler a valid ucontext; nobody else writes it while we read.
        let saved = unsafe { &(*context).uc_mcontext };
        let get = |index: usize| saved.regs.get(index).map_or(0, |value| address(*value));
        Registers {
            pc: address(saved.pc),
            sp: address(saved.sp),
            fp: get(29),
            method: get(12),
            bcp: get(22),
            sender_sp: 0,
            link: get(30),
        }
    }
}

/// A register's value; both sizes are the same here.
fn address(value: u64) -> usize {
    usize::try_from(value).unwrap_or(0)
}
