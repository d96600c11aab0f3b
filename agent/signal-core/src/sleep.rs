//! Whether the interrupted thread slept. A handler is not told, so it is judged by the instruction
//! that the thread was about to execute.

use crate::handler_state::HandlerState;
use crate::ucontext::InterruptedContext;
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

/// Signal-safe: whether the signal has woken this thread: it ended a system call that waited. A
/// thread that it met at work in a system call comes out of it with the call's own result.
#[cfg(target_arch = "x86_64")]
pub(crate) fn was_woken(_handler: &HandlerState, context: InterruptedContext<'_>) -> bool {
    let call = context.system_call();
    // `syscall` keeps the address behind it in rcx.
    let is_restarted = call.return_address == call.pc.wrapping_add(2);
    is_restarted || (call.return_address == call.pc && call.is_interrupted)
}

/// The same. The instruction that enters the kernel keeps no address, so it is looked for.
#[cfg(target_arch = "aarch64")]
pub(crate) fn was_woken(handler: &HandlerState, context: InterruptedContext<'_>) -> bool {
    const ENTER: u32 = 0xd400_0001;
    let Some(memory) = handler.stack_walker().map(|walker| walker.memory()) else {
        return false;
    };
    let call = context.system_call();
    let is_restarted = memory.u32(call.pc) == Some(ENTER);
    let is_behind = memory.u32(call.pc.wrapping_sub(4)) == Some(ENTER);
    is_restarted || (is_behind && call.is_interrupted)
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
