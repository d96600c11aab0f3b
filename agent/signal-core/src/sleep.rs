//! Whether the interrupted thread slept. A handler is not told, so it is judged by the instruction
//! that the thread was about to execute.

use crate::handler_state::HandlerState;
use crate::ucontext::{InterruptedContext, SystemCall};
use stack_walker::{Memory, Registers};

/// HotSpot's thread states: in native code, blocked in the VM.
const IN_NATIVE: i32 = 4;
const BLOCKED: i32 = 10;

/// Signal-safe: whether the thread was blocked in the VM, or in native code inside a system call
/// that the signal interrupted. The kernel leaves such a thread at the instruction that enters it
/// (to be restarted) or right behind it (with `EINTR`).
pub(crate) fn is_asleep(
    handler: &HandlerState,
    vm_state: i32,
    context: InterruptedContext<'_>,
) -> bool {
    match vm_state {
        BLOCKED => true,
        IN_NATIVE => handler
            .stack_walker()
            .is_some_and(|walker| at_system_call(walker.memory(), &context.registers())),
        _ => false,
    }
}

/// A system call that the signal has ended, or that took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndedCall {
    /// None, or one that has come to its own end.
    None,
    /// One that waited: it was woken, or on its way into the wait.
    Wait,
    /// One that set the signal mask: it looks for signals that wait for any thread.
    SignalMask,
}

/// Signal-safe: the system call out of which the thread comes into the handler.
pub(crate) fn ended_call(handler: &HandlerState, context: InterruptedContext<'_>) -> EndedCall {
    let call = context.system_call();
    let (is_restarted, is_behind) = place(handler, call);
    if is_restarted || (is_behind && call.is_interrupted) {
        EndedCall::Wait
    } else if is_behind && call.has_set_mask {
        EndedCall::SignalMask
    } else {
        EndedCall::None
    }
}

/// Whether the thread is at the instruction that enters the kernel, and right behind it.
#[cfg(target_arch = "x86_64")]
fn place(_handler: &HandlerState, call: SystemCall) -> (bool, bool) {
    // `syscall` keeps the address behind it in rcx.
    let is_restarted = call.return_address == call.pc.wrapping_add(2);
    (is_restarted, call.return_address == call.pc)
}

/// The same. The instruction that enters the kernel keeps no address, so it is looked for.
#[cfg(target_arch = "aarch64")]
fn place(handler: &HandlerState, call: SystemCall) -> (bool, bool) {
    const ENTER: u32 = 0xd400_0001;
    let Some(memory) = handler.stack_walker().map(|walker| walker.memory()) else {
        return (false, false);
    };
    let is_enter = |pc| memory.u32(pc) == Some(ENTER);
    (is_enter(call.pc), is_enter(call.pc.wrapping_sub(4)))
}

#[cfg(target_arch = "x86_64")]
fn at_system_call(memory: &impl Memory, registers: &Registers) -> bool {
    /// `syscall`.
    const ENTER: u16 = 0x050f;
    memory.u16(registers.pc) == Some(ENTER)
        || memory.u16(registers.pc.wrapping_sub(2)) == Some(ENTER)
}

#[cfg(target_arch = "aarch64")]
fn at_system_call(memory: &impl Memory, registers: &Registers) -> bool {
    /// `svc #0`.
    const ENTER: u32 = 0xd400_0001;
    memory.u32(registers.pc) == Some(ENTER)
        || memory.u32(registers.pc.wrapping_sub(4)) == Some(ENTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word of code at address 0x10000.
    struct Code(usize);

    impl Memory for Code {
        fn word(&self, address: usize) -> Option<usize> {
            (address == 0x1_0000).then_some(self.0)
        }
    }

    #[cfg(target_arch = "x86_64")]
    const CODE: usize = 0x9090_050f_9090_9090;
    /// At 0x10004, and four bytes long.
    #[cfg(target_arch = "aarch64")]
    const CODE: usize = 0xd400_0001_d503_201f;
    /// Where the entering instruction ends.
    const BEHIND: usize = if cfg!(target_arch = "aarch64") {
        0x1_0008
    } else {
        0x1_0006
    };

    #[test]
    fn a_thread_at_or_behind_the_entering_instruction_is_in_a_system_call() {
        let code = Code(CODE);
        let at = |pc| {
            at_system_call(
                &code,
                &Registers {
                    pc,
                    ..Registers::default()
                },
            )
        };
        assert!(at(0x1_0004), "to be restarted");
        assert!(at(BEHIND), "interrupted");
        assert!(!at(0x1_0000));
        assert!(!at(0x5000), "unreadable is not asleep");
    }
}
