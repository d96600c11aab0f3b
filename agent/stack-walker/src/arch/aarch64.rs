//! aarch64: `sub sp, sp, n; stp x29, x30, [sp, n - 16]` or `stp x29, x30, [sp, -16]!; sub sp, sp,
//! x9` at the beginning, `ldp x29, x30, ...; add sp, sp, n; poll; ret` at the end. Written from the
//! instruction encodings; not run on such a machine yet.

use super::frame_state::{Arch, CallInstruction, Caller, CompiledCode, FrameState, SignalFrame};
use super::registers::Registers;
use crate::memory::Memory;
use core::ops::Range;

/// Instructions of a prologue at most.
const MAX_PROLOGUE: usize = 16;
/// Bits of an address; those above may authenticate it.
const ADDRESS: usize = (1 << 48) - 1;

/// Bytes of a signal's frame in front of `x0`: `siginfo_t`, `ucontext_t` up to its registers, the
/// fault's address. `sp` and `pc` follow `x30`.
const SAVED_REGISTERS: usize = 128 + 176 + 8;
/// The blocked signals, behind flags, link and stack of the context.
const SAVED_MASK: usize = 128 + 40;
/// The first record behind them: that of the vector registers.
const SAVED_FLOATS: usize = 128 + 176 + 288;
/// `FPSIMD_MAGIC`, then the record's size.
const FLOATS_HEADER: usize = 0x0000_0210_4650_8001;

/// See the module.
#[derive(Debug)]
pub(crate) struct Aarch64;

impl Arch for Aarch64 {
    fn build(memory: &impl Memory, method: &CompiledCode, registers: &Registers) -> FrameState {
        let build = if registers.pc < method.complete {
            prologue(memory, method, registers)
        } else {
            epilogue(memory, registers)
        };
        build.unwrap_or(FrameState::Unknown)
    }

    fn frameless(_memory: &impl Memory, registers: &Registers) -> Option<Caller> {
        Some(linked(registers))
    }

    fn unframed(memory: &impl Memory, registers: &Registers) -> Option<Caller> {
        const PACIASP: u32 = 0xd503_233f;
        const BTI_C: u32 = 0xd503_245f;
        const RET: u32 = 0xd65f_03c0;
        let instruction = memory.u32(registers.pc)?;
        // stp x29, x30, [sp, #-n]!
        let saves = instruction & 0xffc0_7fff == 0xa980_7bfd;
        (saves || [PACIASP, BTI_C, RET].contains(&instruction)).then_some(Caller {
            pc: Self::plain(registers.link),
            sp: registers.sp,
            fp: registers.fp,
        })
    }

    fn registers(saved: impl Fn(usize) -> Option<usize>) -> Option<Registers> {
        Some(Registers {
            pc: saved(32)?,
            sp: saved(31)?,
            fp: saved(29)?,
            method: saved(12)?,
            bcp: saved(22)?,
            sender_sp: 0,
            link: saved(30)?,
        })
    }

    fn signal_frame(
        memory: &impl Memory,
        stack: Range<usize>,
        _restorer: usize,
    ) -> Option<SignalFrame> {
        let word = |offset: usize| memory.word(stack.start.wrapping_add(offset));
        if word(SAVED_FLOATS)? != FLOATS_HEADER {
            return None;
        }
        let saved = |number: usize| word(SAVED_REGISTERS.wrapping_add(number.wrapping_mul(8)));
        let registers = Self::registers(saved)?;
        let frame = SignalFrame {
            signal: memory.u32(stack.start)?,
            registers,
            blocked_signals: word(SAVED_MASK)? as u64,
        };
        stack.contains(&frame.registers.sp).then_some(frame)
    }

    fn pushed(_memory: &impl Memory, _pc: usize) -> usize {
        0
    }

    fn adapted(_stack: impl Fn(usize) -> Option<usize>, _at: usize) -> Option<Caller> {
        None
    }

    fn call_before(memory: &impl Memory, return_pc: usize) -> Option<CallInstruction> {
        let call = memory.u32(return_pc.wrapping_sub(4))?;
        if call & 0xfc00_0000 == 0x9400_0000 {
            // bl: a signed number of instructions in 26 bits.
            let distance =
                (call.wrapping_shl(6).cast_signed().wrapping_shr(6) as isize).wrapping_mul(4);
            return Some(CallInstruction::Target(
                return_pc.wrapping_sub(4).wrapping_add_signed(distance),
            ));
        }
        (call & 0xffff_fc1f == 0xd63f_0000).then_some(CallInstruction::Indirect)
    }

    fn plain(return_pc: usize) -> usize {
        return_pc & ADDRESS
    }
}

/// The link register holds the return address, the frame is not there.
fn linked(registers: &Registers) -> Caller {
    Caller {
        pc: Aarch64::plain(registers.link),
        sp: registers.sp,
        fp: registers.fp,
    }
}

const STP_PRE: u32 = 0xa9bf_7bfd; // stp x29, x30, [sp, #-16]!
const LDP_POST: u32 = 0xa8c1_7bfd; // ldp x29, x30, [sp], #16
const RET: u32 = 0xd65f_03c0;

fn is_sub_sp(code: u32) -> bool {
    // sub sp, sp, #n or sub sp, sp, x9 (extended register)
    code & 0xff80_03ff == 0xd100_03ff || code & 0xffe0_03ff == 0xcb20_03ff
}

fn is_add_sp(code: u32) -> bool {
    code & 0xff80_03ff == 0x9100_03ff || code & 0xffe0_03ff == 0x8b20_03ff
}

/// `stp x29, x30, [sp, #n]`.
fn is_stp(code: u32) -> bool {
    code & 0xffc0_7fff == 0xa900_7bfd
}

fn prologue(
    memory: &impl Memory,
    method: &CompiledCode,
    registers: &Registers,
) -> Option<FrameState> {
    let (mut at, mut pushed, mut sized, mut stored) = (method.entry, false, false, false);
    for _ in 0..MAX_PROLOGUE {
        if at >= registers.pc {
            break;
        }
        match memory.u32(at)? {
            STP_PRE => pushed = true,
            code if is_sub_sp(code) => sized = true,
            code if is_stp(code) => stored = true,
            // Stack bang and nops touch neither stack pointer nor link register.
            _ => {}
        }
        at = at.wrapping_add(4);
    }
    Some(match (pushed, sized, stored) {
        (true, true, _) | (_, true, true) => FrameState::Complete,
        (true, false, _) => FrameState::Open(Caller {
            pc: Aarch64::plain(memory.word(registers.sp.wrapping_add(8))?),
            sp: registers.sp.wrapping_add(16),
            fp: memory.word(registers.sp)?,
        }),
        (false, true, false) => FrameState::Open(Caller {
            sp: registers.sp.wrapping_add(method.frame_size),
            ..linked(registers)
        }),
        (false, false, _) => FrameState::Open(linked(registers)),
    })
}

/// Behind the load of x29 and x30 the link register is right; the stack pointer is behind `add sp`
/// or the post-indexed load.
fn epilogue(memory: &impl Memory, registers: &Registers) -> Option<FrameState> {
    let pc = registers.pc;
    let code = memory.u32(pc)?;
    if code == RET || is_return_poll(memory, pc)? {
        return Some(FrameState::Open(linked(registers)));
    }
    if code == LDP_POST {
        return Some(FrameState::Open(Caller {
            pc: Aarch64::plain(memory.word(registers.sp.wrapping_add(8))?),
            sp: registers.sp.wrapping_add(16),
            fp: memory.word(registers.sp)?,
        }));
    }
    if is_add_sp(code) && is_ldp(memory.u32(pc.wrapping_sub(4))?) {
        let size = if code & 0xff80_0000 == 0x9100_0000 {
            immediate(code)
        } else {
            return Some(FrameState::Unknown);
        };
        return Some(FrameState::Open(Caller {
            sp: registers.sp.wrapping_add(size),
            ..linked(registers)
        }));
    }
    second_prologue(memory, registers)
}

/// Where an interpreted loop goes on in compiled code, C1 builds the frame again, behind the one of
/// the method's entry.
fn second_prologue(memory: &impl Memory, registers: &Registers) -> Option<FrameState> {
    let pc = registers.pc;
    let code = memory.u32(pc)?;
    let immediate_sub = |code: u32| code & 0xff80_03ff == 0xd100_03ff;
    if code == STP_PRE || (immediate_sub(code) && is_stp(memory.u32(pc.wrapping_add(4))?)) {
        return Some(FrameState::Open(linked(registers)));
    }
    let before = memory.u32(pc.wrapping_sub(4))?;
    if is_stp(code) && immediate_sub(before) {
        return Some(FrameState::Open(Caller {
            sp: registers.sp.wrapping_add(immediate(before)),
            ..linked(registers)
        }));
    }
    Some(FrameState::Complete)
}

/// The number in `add sp, sp, #n` or `sub sp, sp, #n`.
fn immediate(code: u32) -> usize {
    let number = (code.wrapping_shr(10) & 0xfff) as usize;
    if code & (1 << 22) == 0 {
        number
    } else {
        number.wrapping_shl(12)
    }
}

/// `ldp x29, x30, [sp, #n]`.
fn is_ldp(code: u32) -> bool {
    code & 0xffc0_7fff == 0xa940_7bfd
}

/// `ldr x8, [x28, #n]; cmp sp, x8; b.hi stub` in front of `ret`: any of the three.
fn is_return_poll(memory: &impl Memory, pc: usize) -> Option<bool> {
    const CMP_SP_X8: u32 = 0xeb28_63ff;
    let here = memory.u32(pc)?;
    let next = memory.u32(pc.wrapping_add(4))?;
    let is_load = |code: u32| code & 0xffc0_03ff == 0xf940_0388;
    let is_branch = |code: u32| code & 0xff00_001f == 0x5400_0008;
    Some(
        (is_load(here) && next == CMP_SP_X8)
            || here == CMP_SP_X8
            || (is_branch(here) && next == RET),
    )
}

#[cfg(test)]
mod tests;
