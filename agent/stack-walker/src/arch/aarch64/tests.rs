use super::super::frame_state::{Arch, CallInstruction, CompiledCode, FrameState};
use super::super::registers::Registers;
use super::Aarch64;
use crate::memory::Memory;

const CODE: usize = 0x10_0000;
const SAVED: usize = 0x77_0000;

struct Code<'a>(&'a [u32]);

impl Memory for Code<'_> {
    fn word(&self, address: usize) -> Option<usize> {
        let Some(offset) = address.checked_sub(CODE) else {
            return Some(0);
        };
        if offset >= 4096 {
            return Some(SAVED);
        }
        let word = |i: usize| self.0.get(i).map_or(0, |w| *w as usize);
        Some(word(offset / 4) | word(offset / 4 + 1) << 32)
    }
}

fn at(code: &[u32], complete: usize, index: usize) -> FrameState {
    let method = CompiledCode {
        entry: CODE,
        complete: CODE + complete,
        frame_size: 0x40,
    };
    let registers = Registers {
        pc: CODE + 4 * index,
        sp: 0x5000_0000,
        fp: 0x42,
        link: 0x88_0000,
        ..Registers::default()
    };
    Aarch64::build(&Code(code), &method, &registers)
}

/// (return address, distance of the caller's stack pointer)
fn open(build: FrameState) -> Option<(usize, usize)> {
    match build {
        FrameState::Open(caller) => Some((caller.pc, caller.sp - 0x5000_0000)),
        FrameState::Complete => None,
        FrameState::Unknown => panic!("not decided"),
    }
}

const LINK: usize = 0x88_0000;

#[test]
fn small_frames_subtract_and_store() {
    // nop; sub sp, sp, #0x40; stp x29, x30, [sp, #0x30]
    let code = [0xd503_201f, 0xd101_03ff, 0xa903_7bfd];
    assert_eq!(
        [0, 1, 2, 3].map(|i| open(at(&code, 12, i))),
        [Some((LINK, 0)), Some((LINK, 0)), Some((LINK, 0x40)), None]
    );
}

#[test]
fn large_frames_push_then_subtract() {
    // stp x29, x30, [sp, #-16]!; sub sp, sp, x9
    let code = [0xa9bf_7bfd, 0xcb29_63ff];
    assert_eq!(
        [0, 1, 2].map(|i| open(at(&code, 8, i))),
        [Some((LINK, 0)), Some((SAVED, 16)), None]
    );
}

#[test]
fn a_frame_is_built_a_second_time_where_a_loop_goes_on_in_compiled_code() {
    // nop; sub sp, sp, #0x40; stp x29, x30, [sp, #0x30]; nop
    let code = [0xd503_201f, 0xd101_03ff, 0xa903_7bfd, 0xd503_201f];
    assert_eq!(
        [1, 2, 3].map(|i| open(at(&code, 0, i))),
        [Some((LINK, 0)), Some((LINK, 0x40)), None]
    );
    // nop; stp x29, x30, [sp, #-16]!
    assert_eq!(open(at(&[0xd503_201f, 0xa9bf_7bfd], 0, 1)), Some((LINK, 0)));
}

#[test]
fn epilogues() {
    // ldp x29, x30, [sp, #0x30]; add sp, sp, #0x40; ldr x8, [x28, #0x448]; cmp sp, x8; b.hi; ret
    let code = [
        0xa943_7bfd,
        0x9101_03ff,
        0xf942_2788,
        0xeb28_63ff,
        0x5400_0048,
        0xd65f_03c0,
    ];
    let found = [0, 1, 2, 3, 4, 5].map(|i| open(at(&code, 0, i)));
    let gone = Some((LINK, 0));
    assert_eq!(found, [None, Some((LINK, 0x40)), gone, gone, gone, gone]);
}

#[test]
fn calls_and_authenticated_addresses() {
    let before = |call: u32| Aarch64::call_before(&Code(&[call]), CODE + 4);
    assert_eq!(
        before(0x9400_0004),
        Some(CallInstruction::Target(CODE + 16))
    );
    assert_eq!(before(0x97ff_ffff), Some(CallInstruction::Target(CODE - 4)));
    assert_eq!(before(0xd63f_0100), Some(CallInstruction::Indirect));
    assert_eq!(before(0xd503_201f), None);
    assert_eq!(Aarch64::plain(0xabcd_7f00_1234_5678), 0x7f00_1234_5678);
}
