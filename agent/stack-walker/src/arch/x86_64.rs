//! x86-64: `push rbp; sub rsp, n` at the beginning, `add rsp, n; pop rbp; poll; ret` at the end.

use super::frame_state::{
    Arch, CallInstruction, Caller, CompiledCode, FrameState, SignalFrame, bytes,
};
use super::registers::Registers;
use crate::memory::Memory;
use core::ops::Range;

/// Instructions of a prologue at most.
const MAX_PROLOGUE: usize = 16;
/// All flags that Linux gives the context of a handler, `UC_FP_XSTATE` to `UC_STRICT_RESTORE_SS`.
const MAX_CONTEXT_FLAGS: usize = 7;

/// See the module.
#[derive(Debug)]
pub(crate) struct X86_64;

/// An instruction of a prologue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// `push rbp`.
    Push,
    /// `sub rsp, n`.
    Sub,
    /// `mov [rsp + n], rbp`.
    Save,
    /// Stack bang, `mov rbp, rsp`, no-operation.
    Neutral,
}

impl Arch for X86_64 {
    fn build(memory: &impl Memory, method: &CompiledCode, registers: &Registers) -> FrameState {
        let build = if registers.pc < method.complete {
            prologue(memory, method, registers)
        } else {
            epilogue(memory, registers)
        };
        build.unwrap_or(FrameState::Unknown)
    }

    fn frameless(memory: &impl Memory, registers: &Registers) -> Option<Caller> {
        returning(memory, registers.sp, registers.fp)
    }

    fn unframed(memory: &impl Memory, registers: &Registers) -> Option<Caller> {
        let Registers { pc, sp, fp, .. } = *registers;
        match bytes(memory, pc)? {
            // push rbp; ret; endbr64
            [0x55 | 0xc3, ..] | [0xf3, 0x0f, 0x1e, 0xfa, ..] => returning(memory, sp, fp),
            // mov rbp, rsp
            [0x48, 0x89, 0xe5, ..] | [0x48, 0x8b, 0xec, ..] => {
                returning(memory, sp.wrapping_add(8), memory.word(sp)?)
            }
            _ => None,
        }
    }

    fn registers(saved: impl Fn(usize) -> Option<usize>) -> Option<Registers> {
        Some(Registers {
            pc: saved(16)?,
            sp: saved(15)?,
            fp: saved(10)?,
            method: saved(11)?,
            bcp: saved(5)?,
            sender_sp: saved(5)?,
            link: 0,
        })
    }

    fn signal_frame(
        memory: &impl Memory,
        stack: Range<usize>,
        restorer: usize,
    ) -> Option<SignalFrame> {
        // Words of the frame: where the handler returns to, flags of the context, a link that is
        // not used, three of the signal stack, 32 of registers, blocked signals, `siginfo_t`.
        let word = |index: usize| memory.word(stack.start.wrapping_add(index.wrapping_mul(8)));
        if word(0)? != restorer || word(1)? > MAX_CONTEXT_FLAGS || word(2)? != 0 {
            return None;
        }
        let registers = Self::registers(|number| word(number.wrapping_add(6)))?;
        let frame = SignalFrame {
            signal: memory.u32(stack.start.wrapping_add(39 * 8))?,
            registers,
            blocked_signals: word(38)? as u64,
        };
        stack.contains(&registers.sp).then_some(frame)
    }

    fn pushed(memory: &impl Memory, pc: usize) -> usize {
        // push rsi; push rdi; call stub; pop rdi; pop rsi: those that follow `pc`.
        let [pushes, call] = repeated(memory, pc, PUSH);
        let behind = match memory.u8(call) {
            Some(CALL) => call.wrapping_add(CALL_LENGTH),
            _ if pushes == 0 => pc,
            _ => return 0,
        };
        let [pops, _] = repeated(memory, behind, POP);
        pops.saturating_sub(pushes)
    }

    fn adapted(stack: impl Fn(usize) -> Option<usize>, at: usize) -> Option<Caller> {
        // Words: r15 to rax, a gap, the flags; then the stack pointer was aligned to 16 bytes. Its
        // value before is in r13, the return address that it pointed to in rax.
        const FLAGS_END: usize = 18 * 8;
        let register = |word: usize| stack(at.wrapping_add(word.wrapping_mul(8)));
        let saved_sp = register(2)?;
        let is_near = [FLAGS_END, FLAGS_END + 8].contains(&saved_sp.wrapping_sub(at));
        let pc = is_near.then(|| register(15)).flatten()?;
        (stack(saved_sp)? == pc).then_some(Caller {
            pc,
            sp: saved_sp.wrapping_add(8),
            fp: register(10)?,
        })
    }

    fn call_before(memory: &impl Memory, return_pc: usize) -> Option<CallInstruction> {
        let before = bytes(memory, return_pc.wrapping_sub(8))?;
        match before {
            [_, _, _, 0xe8, a, b, c, d] => {
                let distance = i32::from_le_bytes([a, b, c, d]) as isize;
                Some(CallInstruction::Target(
                    return_pc.wrapping_add_signed(distance),
                ))
            }
            // mov r10, imm64; call r10
            [_, _, _, _, _, 0x41, 0xff, 0xd2]
                if memory.u16(return_pc.wrapping_sub(13)) == Some(0xba49) =>
            {
                memory
                    .word(return_pc.wrapping_sub(11))
                    .map(CallInstruction::Target)
            }
            [.., 0xff, 0xd0..=0xd7 | 0x10..=0x13 | 0x16 | 0x17]
            | [.., 0xff, 0x50..=0x57, _]
            | [.., 0xff, 0x54, _, _]
            | [_, _, 0xff, 0x90..=0x97 | 0x15, _, _, _, _]
            | [_, 0xff, 0x94, _, _, _, _, _] => Some(CallInstruction::Indirect),
            _ => None,
        }
    }

    fn plain(return_pc: usize) -> usize {
        return_pc
    }
}

/// First bytes of `push` and `pop` with the number of the register, and of a call.
const PUSH: u8 = 0x50;
const POP: u8 = 0x58;
const CALL: u8 = 0xe8;
const CALL_LENGTH: usize = 5;
/// Arguments of a stub on the stack at most.
const MAX_PUSHED: usize = 4;

/// How often `code` follows at `at`, each time with any register, and what is behind.
fn repeated(memory: &impl Memory, mut at: usize, code: u8) -> [usize; 2] {
    for count in 0..MAX_PUSHED {
        let length = match bytes(memory, at) {
            Some([first, ..]) if first & 0xf8 == code => 1,
            Some([0x41, second, ..]) if second & 0xf8 == code => 2,
            _ => return [count, at],
        };
        at = at.wrapping_add(length);
    }
    [MAX_PUSHED, at]
}

/// The caller of code whose return address is at `at`.
fn returning(memory: &impl Memory, at: usize, fp: usize) -> Option<Caller> {
    Some(Caller {
        pc: memory.word(at)?,
        sp: at.wrapping_add(8),
        fp,
    })
}

/// Follows the prologue up to the interrupted instruction.
fn prologue(
    memory: &impl Memory,
    method: &CompiledCode,
    registers: &Registers,
) -> Option<FrameState> {
    let Registers { pc, sp, fp, .. } = *registers;
    let (mut at, mut pushed, mut sized, mut saved) = (method.entry, false, false, false);
    // In front of the verified entry the receiver's class is compared: no frame yet.
    for _ in 0..MAX_PROLOGUE {
        if at >= pc {
            break;
        }
        let Some((step, length)) = step(bytes(memory, at)?) else {
            // Something else: the entry barrier, which comes when the frame is there, or code in
            // front of the frame that we do not know.
            return Some(if sized && (pushed || saved) {
                FrameState::Complete
            } else {
                FrameState::Unknown
            });
        };
        match step {
            Step::Push => pushed = true,
            Step::Sub => sized = true,
            Step::Save => saved = true,
            Step::Neutral => {}
        }
        at = at.wrapping_add(length);
    }
    if at > pc && pc >= method.entry {
        return Some(FrameState::Unknown); // in the middle of an instruction: misread
    }
    Some(match (pushed, sized, saved) {
        (true, true, _) | (_, true, true) => FrameState::Complete,
        (true, false, _) => {
            FrameState::Open(returning(memory, sp.wrapping_add(8), memory.word(sp)?)?)
        }
        // The frame is there, the frame pointer still in its register.
        (false, true, false) => FrameState::Open(returning(
            memory,
            sp.wrapping_add(method.frame_size).wrapping_sub(8),
            fp,
        )?),
        (false, false, _) => FrameState::Open(returning(memory, sp, fp)?),
    })
}

fn step(code: [u8; 8]) -> Option<(Step, usize)> {
    Some(match code {
        [0x55, ..] => (Step::Push, 1),
        [0x48, 0x83, 0xec, ..] => (Step::Sub, 4),
        [0x48, 0x81, 0xec, ..] => (Step::Sub, 7),
        [0x48, 0x89, 0x6c, 0x24, ..] => (Step::Save, 5),
        [0x48, 0x89, 0xac, 0x24, ..] => (Step::Save, 8),
        // mov [rsp + n], eax: stack bang; and a nop as long
        [0x89, 0x84, 0x24, ..] | [0x0f, 0x1f, 0x80, ..] => (Step::Neutral, 7),
        // mov rbp, rsp in both encodings, and a nop
        [0x48, 0x8b, 0xec, ..] | [0x48, 0x89, 0xe5, ..] | [0x0f, 0x1f, 0x00, ..] => {
            (Step::Neutral, 3)
        }
        [0x90, ..] => (Step::Neutral, 1),
        [0x66, 0x90, ..] => (Step::Neutral, 2),
        [0x0f, 0x1f, 0x40, ..] => (Step::Neutral, 4),
        [0x0f, 0x1f, 0x44, ..] => (Step::Neutral, 5),
        [0x66, 0x0f, 0x1f, 0x44, ..] => (Step::Neutral, 6),
        [0x0f, 0x1f, 0x84, ..] => (Step::Neutral, 8),
        _ => return None,
    })
}

/// Looks at the interrupted instruction: behind `add rsp, n` the frame is gone.
fn epilogue(memory: &impl Memory, registers: &Registers) -> Option<FrameState> {
    let Registers { pc, sp, fp, .. } = *registers;
    let gone = match bytes(memory, pc)? {
        // pop rbp
        [0x5d, ..] => FrameState::Open(returning(memory, sp.wrapping_add(8), memory.word(sp)?)?),
        // ret; and cmp rsp, [r15 + n]: the poll of a return (JDK 25 has n in one byte, older ones in
        // four). C1 and C2 compare nothing else with the stack pointer.
        [0xc3 | 0xc2, ..] | [0xf3, 0xc3, ..] | [0x49, 0x3b, 0x67 | 0xa7, ..] => {
            FrameState::Open(returning(memory, sp, fp)?)
        }
        // ja stub, between that and ret
        [0x0f, 0x87, ..] if bytes(memory, pc.wrapping_add(6))?.first() == Some(&0xc3) => {
            FrameState::Open(returning(memory, sp, fp)?)
        }
        // The stub of that poll: lea r10, [poll]; mov [r15 + n], r10; jmp
        [0x4c, 0x8d, 0x15, _, _, _, _, 0x4d] if memory.u16(pc.wrapping_add(8)) == Some(0x9789) => {
            FrameState::Open(returning(memory, sp, fp)?)
        }
        [0x4d, 0x89, 0x97, _, _, _, _, 0xe9] => FrameState::Open(returning(memory, sp, fp)?),
        [0xe9, ..] if matches!(bytes(memory, pc.wrapping_sub(7))?, [0x4d, 0x89, 0x97, ..]) => {
            FrameState::Open(returning(memory, sp, fp)?)
        }
        _ => second_prologue(memory, registers)?,
    };
    Some(gone)
}

/// Where an interpreted loop goes on in compiled code, C1 builds the frame again, behind the one of
/// the method's entry: stack bang, `push rbp`, `sub rsp, n`. Nothing else pushes `rbp` in front of
/// a `sub`.
fn second_prologue(memory: &impl Memory, registers: &Registers) -> Option<FrameState> {
    const PUSH: u8 = 0x55;
    let Registers { pc, sp, fp, .. } = *registers;
    let is_sub = |at| Some(matches!(step(bytes(memory, at)?), Some((Step::Sub, _))));
    Some(match bytes(memory, pc)? {
        [PUSH, ..] if is_sub(pc.wrapping_add(1))? => FrameState::Open(returning(memory, sp, fp)?),
        // mov [rsp - n], eax, once or more often
        [0x89, 0x84, 0x24, _, _, _, 0x80..=0xff, PUSH | 0x89] => {
            FrameState::Open(returning(memory, sp, fp)?)
        }
        [0x48, 0x81 | 0x83, 0xec, ..] if memory.u8(pc.wrapping_sub(1))? == PUSH => {
            FrameState::Open(returning(memory, sp.wrapping_add(8), memory.word(sp)?)?)
        }
        _ => FrameState::Complete,
    })
}

#[cfg(test)]
mod tests;
