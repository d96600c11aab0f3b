//! The context of the interrupted code, as the kernel gives it to a handler.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::ptr::NonNull;
use stack_walker::Registers;

/// `gregs` has the kernel's order, by which [`Registers::saved`] numbers them.
#[cfg(target_arch = "x86_64")]
const _: () = assert!(
    libc::REG_R13 == 5
        && libc::REG_RBP == 10
        && libc::REG_RBX == 11
        && libc::REG_RSP == 15
        && libc::REG_RIP == 16
);

/// The `ucontext_t` of a handler that runs: proof that it may be read (rule 6).
#[derive(Debug, Clone, Copy)]
pub(crate) struct InterruptedContext<'a> {
    ucontext: NonNull<libc::ucontext_t>,
    handler: PhantomData<&'a libc::ucontext_t>,
}

impl InterruptedContext<'_> {
    /// # Safety
    /// Rule 6: the kernel gave `ucontext` to a handler that does not return before this value is
    /// gone.
    pub(crate) const unsafe fn new(ucontext: NonNull<libc::ucontext_t>) -> Self {
        Self {
            ucontext,
            handler: PhantomData,
        }
    }

    /// For functions that take what the kernel gave.
    pub(crate) const fn as_ptr(self) -> *mut c_void {
        self.ucontext.as_ptr().cast()
    }

    /// The registers that a stack walk begins with.
    pub(crate) fn registers(self) -> Registers {
        // SAFETY: rule 6; nobody else writes it while the handler runs.
        let saved = unsafe { &self.ucontext.as_ref().uc_mcontext };
        #[cfg(target_arch = "x86_64")]
        let get = |index: usize| saved.gregs.get(index).map(|value| value.cast_unsigned());
        #[cfg(target_arch = "aarch64")]
        let get = |index: usize| match index {
            31 => Some(saved.sp),
            32 => Some(saved.pc),
            _ => saved.regs.get(index).copied(),
        };
        Registers::saved(|index| get(index).map(address))
    }

    /// Where x86-64 keeps the address that the handler returns to: in front of the context. Not
    /// there if somebody calls the handler with a copy of the context.
    pub(crate) fn restorer_slot(self) -> usize {
        let context = self.ucontext.addr().get();
        context.wrapping_sub(size_of::<usize>())
    }

    /// The signals that the interrupted code has blocked, signal 1 in the lowest bit.
    pub(crate) fn blocked_signals(self) -> u64 {
        // SAFETY: rule 6; nobody else writes it while the handler runs.
        let mask = unsafe { &raw const (*self.ucontext.as_ptr()).uc_sigmask };
        // SAFETY: rule 6; the kernel's set is the first word of the library's larger one.
        unsafe { mask.cast::<u64>().read() }
    }
}

/// What the registers say of a system call that the signal may have ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemCall {
    pub(crate) pc: usize,
    /// Where the last system call returns to; 0 on aarch64, which does not keep it.
    #[cfg_attr(target_arch = "aarch64", expect(dead_code, reason = "always 0 there"))]
    pub(crate) return_address: usize,
    /// It has returned `EINTR`.
    pub(crate) is_interrupted: bool,
    /// If it has just returned: it was `rt_sigprocmask`.
    pub(crate) has_set_mask: bool,
}

impl InterruptedContext<'_> {
    /// See [`SystemCall`].
    pub(crate) fn system_call(self) -> SystemCall {
        #[cfg(target_arch = "aarch64")]
        const SIGPROCMASK: u32 = 135;
        const INTERRUPTED: i64 = -(libc::EINTR as i64);
        // SAFETY: rule 6; nobody else writes it while the handler runs.
        let saved = unsafe { &self.ucontext.as_ref().uc_mcontext };
        #[cfg(target_arch = "x86_64")]
        {
            let get = |index: i32| {
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                saved.gregs.get(index).copied().unwrap_or(0)
            };
            SystemCall {
                pc: address(get(libc::REG_RIP).cast_unsigned()),
                return_address: address(get(libc::REG_RCX).cast_unsigned()),
                is_interrupted: get(libc::REG_RAX) == INTERRUPTED,
                // rt_sigprocmask(how, set, old set, 8) = 0. The other calls with this size have no
                // such first argument.
                has_set_mask: get(libc::REG_RAX) == 0
                    && get(libc::REG_R10) == 8
                    && (0..=2).contains(&get(libc::REG_RDI)),
            }
        }
        #[cfg(target_arch = "aarch64")]
        SystemCall {
            pc: address(saved.pc),
            return_address: 0,
            is_interrupted: saved.regs.first().map(|x0| x0.cast_signed()) == Some(INTERRUPTED),
            has_set_mask: saved.regs.get(8) == Some(&u64::from(SIGPROCMASK)),
        }
    }
}

/// A register's value; both sizes are the same here.
fn address(value: u64) -> usize {
    usize::try_from(value).unwrap_or(0)
}
