use super::super::frame_state::{Arch, CallInstruction, CompiledCode, FrameState};
use super::super::registers::Registers;
use super::X86_64;
use crate::memory::Memory;

/// Code at this address; the stack is one word that is always the same.
const CODE: usize = 0x10_0000;
const RETURN: usize = 0x77_0000;

struct Code<'a>(&'a [u8]);

impl Memory for Code<'_> {
    fn word(&self, address: usize) -> Option<usize> {
        let Some(offset) = address.checked_sub(CODE - 64) else {
            return Some(RETURN);
        };
        if offset >= 4096 {
            return Some(RETURN);
        }
        let mut word = [0xcc; 8];
        for (i, byte) in word.iter_mut().enumerate() {
            if let Some(found) = (offset + i).checked_sub(64).and_then(|i| self.0.get(i)) {
                *byte = *found;
            }
        }
        Some(usize::from_le_bytes(word))
    }
}

fn at(code: &[u8], complete: usize, offset: usize) -> FrameState {
    let method = CompiledCode {
        entry: CODE,
        complete: CODE + complete,
        frame_size: 0x30,
    };
    let registers = Registers {
        pc: CODE + offset,
        sp: 0x5000_0000,
        fp: 0x42,
        ..Registers::default()
    };
    X86_64::build(&Code(code), &method, &registers)
}

/// How far above the stack pointer the caller's begins; `None` if the frame is complete.
fn above(build: FrameState) -> Option<usize> {
    match build {
        FrameState::Open(caller) => {
            assert_eq!(caller.pc, RETURN);
            Some(caller.sp - 0x5000_0000)
        }
        FrameState::Complete => None,
        FrameState::Unknown => panic!("not decided"),
    }
}

#[test]
fn with_stack_bang_and_push() {
    // mov [rsp-0x14000], eax; push rbp; sub rsp, 0x20
    let code = [
        0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20,
    ];
    assert_eq!(
        [0, 7, 8, 12].map(|o| above(at(&code, 12, o))),
        [Some(8), Some(8), Some(16), None]
    );
}

#[test]
fn without_bang_saves_rbp_by_a_move() {
    // sub rsp, 0x18; mov [rsp+0x10], rbp
    let code = [
        0x48, 0x81, 0xec, 0x18, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x10,
    ];
    assert_eq!(
        [0, 7, 12].map(|o| above(at(&code, 13, o))),
        [Some(8), Some(0x30), None]
    );
}

#[test]
fn behind_the_frame_the_entry_barrier_is_complete_and_before_it_unknown_code_is_not_guessed() {
    // push rbp; sub rsp, 0x20; cmp [r15+0x20], 1
    let code = [
        0x55, 0x48, 0x83, 0xec, 0x20, 0x41, 0x81, 0x7f, 0x20, 1, 0, 0, 0, 0x75, 0x00,
    ];
    assert_eq!(at(&code, 20, 13), FrameState::Complete);
    assert_eq!(
        at(&[0x49, 0xba, 1, 2, 3, 4, 5, 6, 7, 8, 0x55], 20, 10),
        FrameState::Unknown
    );
    assert_eq!(
        at(&[0x48, 0x83, 0xec, 0x20], 20, 2),
        FrameState::Unknown,
        "inside an instruction"
    );
}

#[test]
fn epilogue_instructions() {
    let cases: &[(&[u8], Option<usize>)] = &[
        (&[0x48, 0x83, 0xc4, 0x20, 0x5d], None),
        (&[0x5d], Some(16)),
        (&[0x49, 0x3b, 0xa7, 0x58, 4, 0, 0], Some(8)),
        (&[0x49, 0x3b, 0x67, 0x28, 0x0f, 0x87], Some(8)),
        (&[0x0f, 0x87, 1, 0, 0, 0, 0xc3], Some(8)),
        (&[0x0f, 0x87, 1, 0, 0, 0, 0x90], None),
        (&[0xc3], Some(8)),
        (&[0x4c, 0x8d, 0x15, 1, 0, 0, 0, 0x4d, 0x89, 0x97], Some(8)),
        (&[0x48, 0x8b, 0x45, 0x10], None),
    ];
    for (code, expected) in cases {
        assert_eq!(above(at(code, 0, 0)), *expected, "{code:02x?}");
    }
}

#[test]
fn the_stub_of_a_return_poll_has_no_frame_at_any_of_its_instructions() {
    // lea r10, [poll]; mov [r15 + n], r10; jmp
    let code = [
        0x4c, 0x8d, 0x15, 1, 0, 0, 0, 0x4d, 0x89, 0x97, 0x58, 4, 0, 0, 0xe9, 1, 0, 0, 0,
    ];
    assert_eq!([0, 7, 14].map(|o| above(at(&code, 0, o))), [Some(8); 3]);
    // Another jump is none.
    assert_eq!(above(at(&[0x90, 0xe9, 1, 0, 0, 0], 0, 1)), None);
}

#[test]
fn a_frame_is_built_a_second_time_where_a_loop_goes_on_in_compiled_code() {
    // nop; mov [rsp-0x14000], eax; push rbp; sub rsp, 0x20; nop
    let code = [
        0x90, 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20, 0x90,
    ];
    assert_eq!(
        [0, 1, 8, 9, 13].map(|o| above(at(&code, 0, o))),
        [None, Some(8), Some(8), Some(16), None]
    );
    // A store into the frame, and a register saved on the way out of the fast path.
    let store = [0x89, 0x84, 0x24, 0x10, 0, 0, 0, 0x89];
    assert_eq!(above(at(&store, 0, 0)), None);
    assert_eq!(above(at(&[0x55, 0x51, 0x52], 0, 0)), None);
}

#[test]
fn calls_are_recognised_by_the_bytes_before_the_return_address() {
    let before = |code: &[u8]| X86_64::call_before(&Code(code), CODE + code.len());
    assert_eq!(
        before(&[0xe8, 0x10, 0, 0, 0]),
        Some(CallInstruction::Target(CODE + 5 + 0x10))
    );
    assert_eq!(
        before(&[0xe8, 0xf0, 0xff, 0xff, 0xff]),
        Some(CallInstruction::Target(CODE + 5 - 0x10))
    );
    let through_r10 = [
        0x49, 0xba, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0, 0, 0x41, 0xff, 0xd2,
    ];
    assert_eq!(
        before(&through_r10),
        Some(CallInstruction::Target(0x3344_5566_7788))
    );
    for indirect in [
        &[0xff, 0xd0][..],
        &[0xff, 0x50, 8],
        &[0xff, 0x90, 8, 0, 0, 0],
        &[0xff, 0x15, 8, 0, 0, 0],
    ] {
        assert_eq!(
            before(indirect),
            Some(CallInstruction::Indirect),
            "{indirect:02x?}"
        );
    }
    assert_eq!(before(&[0x90; 13]), None);
}

#[test]
fn arguments_of_a_stub_are_counted_at_each_instruction_around_its_call() {
    let words = |code: &[u8], offset: usize| X86_64::pushed(&Code(code), CODE + offset);
    // push rsi; push rdi; call; pop rdi; pop rsi
    let code = [0x56, 0x57, 0xe8, 0, 0, 0, 0, 0x5f, 0x5e, 0x90];
    assert_eq!(
        [0, 1, 2, 7, 8, 9].map(|at| words(&code, at)),
        [0, 1, 2, 2, 1, 0]
    );
    // push r11; push r13; call; pop r13; pop r11
    let code = [
        0x41, 0x53, 0x41, 0x55, 0xe8, 0, 0, 0, 0, 0x41, 0x5d, 0x41, 0x5b, 0x90,
    ];
    assert_eq!(
        [0, 2, 4, 9, 11, 13].map(|at| words(&code, at)),
        [0, 1, 2, 2, 1, 0]
    );
    // A push without a call is something else.
    assert_eq!(words(&[0x56, 0x90, 0x5e], 0), 0);
}
