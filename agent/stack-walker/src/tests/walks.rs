//! From frame to frame: compiled and interpreted code, anchors, and what must end a walk.

use super::scene::{
    CALL_STUB_RETURN, HEADER, HEAP, INTERPRETER, SP, STACK_HIGH, Scene, THREAD, call, call_by_link,
    expected, id, in_interpreter, interpreted, scene, seen, stub, thread_in_java,
};
use crate::arch::aarch64::Aarch64;
use crate::arch::frame_state::Arch;
use crate::arch::registers::Registers;
use crate::arch::x86_64::X86_64;
use crate::frame::{CallFrame, FrameKind};
use crate::outcome::{End, Failure, Top, Walk};
use crate::tables::AddressField;
use crate::walker::InterruptedThread;
use std::vec::Vec;

#[test]
fn compiled_frame_with_inlined_methods_to_the_root() {
    let s = scene();
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(walk.end, End::Root);
    assert_eq!(seen(&frames), expected());
}

#[test]
fn same_stack_at_each_instruction_of_prologue_and_epilogue() {
    let s = scene();
    // (instruction, stack pointer there): before push, before sub, after it, before add, before
    // pop, before ret.
    for (offset, sp) in [
        (0, SP + 24),
        (1, SP + 16),
        (5, SP),
        (8, SP),
        (12, SP + 16),
        (13, SP + 24),
    ] {
        let (walk, frames) = s.walk(s.inner + offset, sp, 0x1234, 16);
        assert_eq!(
            (walk.end, seen(&frames)),
            (End::Root, expected()),
            "instruction at {offset}"
        );
    }
}

#[test]
fn aarch64_leaf_returns_to_its_link_register() {
    let mut s = scene();
    call_by_link(&mut s);
    // sub sp, sp, #32; stp x29, x30, [sp, #16]
    for (i, code) in [0xd100_83ffu32, 0xa901_7bfd].iter().enumerate() {
        s.image.u32_at(s.inner + 4 * i, *code);
    }
    let registers = Registers {
        pc: s.inner,
        sp: SP + 32,
        link: s.outer_return | 1 << 60,
        ..Registers::default()
    };
    let (walk, frames) = s.walk_from::<Aarch64>(registers, 16);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
    let registers = Registers {
        pc: s.inner + 4,
        sp: SP,
        ..registers
    };
    let (walk, frames) = s.walk_from::<Aarch64>(registers, 16);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
}

#[test]
fn arguments_that_were_pushed_for_a_stub_are_above_no_frame() {
    let mut s = scene();
    // Where the return address would be without them, an earlier call has left another one.
    s.image.word_at(SP + 8, s.outer_return);
    for at in [SP - 24, SP - 16, SP - 8] {
        s.image.word_at(at, 0);
    }
    let (walk, frames) = s.walk(s.inner + 6, SP - 16, 0, 16);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
}

#[test]
fn stub_of_a_call_is_in_its_caller() {
    let mut s = scene();
    let stub = s.outer_return + 0x100; // behind all code that is described
    let registers = |pc| Registers {
        pc,
        sp: SP + 24,
        ..Registers::default()
    };
    for at in [stub, stub + 10] {
        call(&mut s.image, s.outer_return, stub);
        assert_calling_frames(&s, registers(at));
    }
    // Other code there, such as a slow path, is the method's own.
    let (_, frames) = s.walk_from::<X86_64>(registers(stub + 0x40), 16);
    assert_eq!(seen(&frames)[0], (id(2), -1, FrameKind::C2 as u32));
}

/// The frames of the scene are all but the topmost one, which does not count.
fn assert_calling_frames(s: &Scene, registers: Registers) {
    let (walk, frames) = s.walk_from::<X86_64>(registers, 16);
    let calling = expected()[1..].to_vec();
    assert_eq!((walk.end, seen(&frames)), (End::Root, calling));
}

fn expected_interpreted() -> Vec<(usize, i32, u32)> {
    let top = (id(1), 9, FrameKind::Interpreted as u32);
    [&[top], &expected()[1..]].concat()
}

#[test]
fn interpreted_frame_to_its_compiled_caller() {
    let s = interpreted();
    let (walk, frames) = s.walk_from::<X86_64>(in_interpreter(), 16);
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Root, expected_interpreted())
    );
}

#[test]
fn method_that_the_interpreter_leaves_has_its_callers_stack_pointer_in_a_register() {
    let mut s = interpreted();
    let registers = Registers {
        sp: SP + 8,
        fp: 0xdead_0000,
        method: SP + 32,
        ..in_interpreter()
    };
    s.image.word_at(SP + 8, s.outer_return);
    s.image.word_at(SP + 16 + 40, CALL_STUB_RETURN);
    assert_calling_frames(&s, registers);
}

#[test]
fn interpreted_leaf_keeps_its_frame_despite_the_link_register() {
    let mut s = interpreted();
    call_by_link(&mut s);
    let registers = Registers {
        link: s.outer_return | 1 << 60,
        ..in_interpreter()
    };
    let (walk, frames) = s.walk_from::<Aarch64>(registers, 16);
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Root, expected_interpreted())
    );
    // Its frame is gone, the frame pointer is the caller's again.
    let registers = Registers {
        sp: SP + 32,
        fp: 0xdead_0000,
        ..registers
    };
    let (walk, frames) = s.walk_from::<Aarch64>(registers, 16);
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Root, expected()[1..].to_vec())
    );
}

#[test]
fn full_array_ends_the_walk() {
    let s = scene();
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 2);
    assert_eq!((walk.end, walk.frames), (End::Full, 2));
    assert_eq!(seen(&frames), expected()[..2]);
    assert_eq!(s.walk(s.inner + 6, SP, 0, 0).0.frames, 0);
}

#[test]
fn return_address_replaced_for_deoptimization() {
    let mut s = scene();
    let blob = s.outer_return - 0x40 - HEADER;
    s.image.word_at(SP + 24, blob + 0x300); // the deoptimization handler
    s.image.u32_at(blob + 36, 8);
    s.image.word_at(SP + 32 + 8, s.outer_return);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
}

#[test]
fn return_address_replaced_at_a_method_handle_call() {
    let mut s = scene();
    let blob = s.outer_return - 0x40 - HEADER;
    s.image.word_at(SP + 24, blob + 0x340);
    s.image.u32_at(blob + 84, 0x340);
    s.image.u32_at(blob + 36, 8);
    s.image.word_at(SP + 32 + 8, s.outer_return);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
    // A method that is in the handler itself is being rebuilt.
    let (walk, _) = s.walk(blob + 0x344, SP + 32, 0, 16);
    assert_eq!(walk.end, End::Failed(Failure::Deoptimization));
}

#[test]
fn vm_or_code_without_a_method_handle_deoptimization_handler() {
    for at in [None, Some(AddressField::FromBlob(84))] {
        let mut s = scene();
        s.tables.nmethod.deopt_mh_handler = at;
        for blob in [s.inner - HEADER, s.outer_return - 0x40 - HEADER] {
            s.image.u32_at(blob + 84, u32::MAX);
        }
        let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
        assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
    }
}

#[test]
fn no_walk_while_frames_are_rebuilt() {
    let mut s = scene();
    s.image.word_at(THREAD + 0x10, 0x1000);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(walk.end, End::Failed(Failure::Deoptimization));
    assert!(frames.is_empty());
}

#[test]
fn anchor_is_followed_outside_of_java() {
    let mut s = scene();
    s.image.word_at(THREAD + 0x20, SP + 32);
    s.image.word_at(THREAD + 0x28, s.outer_return);
    s.image.word_at(THREAD + 0x30, 0);
    let thread = InterruptedThread {
        in_java: false,
        may_be_in_pause: true,
        ..thread_in_java(in_vm(SP, 0))
    };
    let (walk, _) = s.walk_thread::<X86_64>(&thread, 8);
    assert_eq!((walk.end, walk.frames), (End::Root, 2));
    s.image.word_at(THREAD + 0x20, 0);
    let (walk, _) = s.walk_thread::<X86_64>(&thread, 8);
    assert_eq!((walk.end, walk.frames), (End::NoJava, 0));
}

/// In a function of the VM that keeps no frame.
fn in_vm(sp: usize, fp: usize) -> Registers {
    Registers {
        pc: 0x5555_0000_0000,
        sp,
        fp,
        ..Registers::default()
    }
}

#[test]
fn stub_that_calls_nothing_has_no_frame_pointer_of_its_own() {
    let mut s = scene();
    let stub = stub(&mut s.image, 9, b"vtable chunks\0");
    call(&mut s.image, s.outer_return, stub - 8);
    // The frame pointer of an older frame, which such a stub was called from, too.
    s.image.word_at(SP + 0x208, s.outer_return);
    let registers = Registers {
        pc: stub,
        ..in_vm(SP + 24, SP + 0x200)
    };
    assert_calling_frames(&s, registers);
}

#[test]
fn stub_that_saves_registers_at_a_poll_was_reached_from_where_the_thread_says() {
    let mut s = scene();
    let stub = stub(&mut s.image, 9, b"SafepointBlob\0");
    let fp = SP - 16;
    for at in (fp - 0x800..SP).step_by(8) {
        s.image.word_at(at, 0);
    }
    let registers = Registers {
        pc: stub,
        ..in_vm(fp - 0x800, fp)
    };
    let poll = s.inner + 14;
    s.image.word_at(THREAD + 0x18, poll);
    let (walk, frames) = s.walk_from::<X86_64>(registers, 16);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
    // No poll is there.
    s.image.word_at(THREAD + 0x18, poll - 1);
    let (walk, _) = s.walk_from::<X86_64>(registers, 16);
    assert_eq!((walk.frames, walk.end), (0, End::Failed(Failure::Stub)));
}

#[test]
fn barrier_at_the_entry_keeps_a_word_above_its_frame_pointer() {
    let mut s = scene();
    let barrier = stub(&mut s.image, 9, b"StubRoutines (1)\0");
    call(&mut s.image, s.outer_return, barrier - 8);
    let sp = SP - 0x100;
    s.image.word_at(sp - 8, barrier);
    // Room for registers, with the return address of an earlier call.
    for at in (sp..SP).step_by(8) {
        s.image.word_at(at, s.outer_return);
    }
    s.image.word_at(SP + 8, 0xdead_0000);
    s.image.word_at(SP + 16, usize::MAX);
    assert_calling_frames(&s, in_vm(sp - 8, SP + 8));
}

#[test]
fn adapter_that_has_moved_its_arguments_has_its_caller_above_them() {
    let mut s = scene();
    let adapter = stub(&mut s.image, 9, b"I2C/C2I adapters\0");
    s.image.word_at(SP + 8, s.outer_return);
    // A return address where the caller's would be without arguments.
    s.image.word_at(SP + 16 + 40, CALL_STUB_RETURN);
    let registers = Registers {
        pc: adapter,
        sender_sp: SP + 32,
        ..in_vm(SP + 8, 0x24f)
    };
    assert_calling_frames(&s, registers);
}

#[test]
fn adapter_that_saves_its_registers_has_its_caller_where_the_stack_pointer_was() {
    let mut s = scene();
    let adapter = stub(&mut s.image, 9, b"I2C/C2I adapters\0");
    for at in (SP - 0x200..SP).step_by(8) {
        s.image.word_at(at, s.outer_return); // left from earlier calls
    }
    let registers = Registers {
        pc: adapter,
        sender_sp: SP + 24,
        ..in_vm(SP - 0x200, 0x24f)
    };
    assert_calling_frames(&s, registers);
}

#[test]
fn adapter_that_calls_the_vm_returns_to_where_its_registers_say() {
    let mut s = scene();
    let adapter = stub(&mut s.image, 9, b"I2C/C2I adapters\0");
    let (return_slot, saved) = (SP + 24, SP + 24 - 0x98);
    let sp = saved - 0xa80; // with room for vector registers, of which only the first are saved
    s.image.word_at(sp - 8, adapter);
    for word in 0..(return_slot - sp) / 8 {
        s.image.word_at(sp + 8 * word, 0);
    }
    // A frame that an earlier call has left there.
    s.image.word_at(sp + 0x300, s.outer_return);
    s.image.word_at(sp + 0x308 + 40, CALL_STUB_RETURN);
    for (register, value) in [(2, return_slot), (10, 0xdead_0000), (15, s.outer_return)] {
        s.image.word_at(saved + 8 * register, value);
    }
    let in_vm = in_vm(sp - 8, 0x24f);
    assert_calling_frames(&s, in_vm);
    // Registers that do not fit to each other are no adapter's.
    s.image.word_at(saved + 8 * 15, s.outer_return + 1);
    let (walk, frames) = s.walk_from::<X86_64>(in_vm, 16);
    assert!(matches!(walk.end, End::Failed(_)), "{:?}", walk.end);
    assert_eq!(frames.len(), 0);
}

const HANDLED: u32 = 64;

/// Walks a thread in Java that runs a handler outside of the code cache.
fn walk_in_handler<A: Arch>(s: &Scene, blocked_signals: u64) -> (Walk, Vec<CallFrame>) {
    let thread = InterruptedThread {
        blocked_signals,
        restorer: RESTORER,
        ..thread_in_java(in_vm(SP - 0x500, 0x24f))
    };
    s.walk_thread::<A>(&thread, 16)
}

const RESTORER: usize = 0x5555_0000_1000;

/// What the kernel leaves at `frame` where it calls a handler that interrupts `pc`.
fn interrupt(s: &mut Scene, frame: usize, blocked_signals: usize, sp: usize, pc: usize) {
    s.image.word_at(frame, RESTORER);
    s.image.word_at(frame + 8, 7);
    s.image.word_at(frame + 16, 0);
    for register in 0..15 {
        s.image.word_at(frame + 48 + 8 * register, 0x1234);
    }
    s.image.word_at(frame + 48 + 8 * 15, sp);
    s.image.word_at(frame + 48 + 8 * 16, pc);
    s.image.word_at(frame + 304, blocked_signals);
    s.image.u32_at(frame + 312, HANDLED);
}

#[test]
fn handler_of_another_signal_is_stepped_over() {
    let mut s = scene();
    let frame = SP - 0x480;
    // What an earlier call has left: a return address of Java code.
    s.image.word_at(frame - 8, s.outer_return);
    s.image.word_at(frame + 0x300, s.outer_return);
    let inner = s.inner + 6;
    interrupt(&mut s, frame, 0, SP, inner);
    let (walk, frames) = walk_in_handler::<X86_64>(&s, 1 << 63);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
    assert_eq!(walk.top, Top::Compiled);
    // One that ran before.
    let (walk, _) = walk_in_handler::<X86_64>(&s, 1 << 62);
    assert_ne!(walk.top, Top::Compiled);
    // Something that only looks so.
    let sp = 48 + 8 * 15;
    for (at, right, wrong) in [
        (8, 7, 8),
        (16, 0, 1),
        (sp, SP, SP - 0x600),
        (0, RESTORER, RESTORER + 16),
    ] {
        s.image.word_at(frame + at, wrong);
        let (walk, _) = walk_in_handler::<X86_64>(&s, 1 << 63);
        assert_ne!(walk.top, Top::Compiled, "at {at}");
        s.image.word_at(frame + at, right);
    }
}

/// What lies on the stack may look like an address, where nothing is. Each walk asserts that it
/// loads no word there.
#[test]
fn words_of_the_stack_that_lead_nowhere_are_not_followed() {
    const LIBRARY: usize = 0x5555_0000_0000;
    // Behind the part of the code heap in use, at its beginning, and anywhere.
    for nowhere in [HEAP + 0x10_0000, HEAP, 0x7a00_0000_0000, LIBRARY - 0x1000] {
        let mut s = scene();
        s.tables.library = (LIBRARY, LIBRARY + 0x1000);
        s.image.put(LIBRARY - 16, &[0x90; 48]);
        s.tables.code.1 += 0x10_0000;
        s.tables.heaps[0].high += 0x10_0000;
        for at in (SP - 0x500..STACK_HIGH).step_by(8) {
            s.image.word_at(at, nowhere);
        }
        let (frame, inner) = (SP - 0x480, s.inner + 6);
        interrupt(&mut s, frame, 0, SP, inner);
        s.image.word_at(frame, nowhere);
        let (walk, _) = walk_in_handler::<X86_64>(&s, 1 << 63);
        assert_ne!(walk.top, Top::Compiled, "all but where it returns to");
        s.image.word_at(SP, SP + 0x20);
        s.image.word_at(SP + 0x28, s.outer_return);
        for pc in [inner, INTERPRETER.0 + 0x80, LIBRARY + 8, LIBRARY - 8] {
            let registers = Registers {
                pc,
                sp: SP - 0x40,
                fp: SP,
                method: nowhere,
                bcp: nowhere,
                sender_sp: nowhere,
                ..Registers::default()
            };
            let _any_end = s.walk_from::<X86_64>(registers, 16);
        }
    }
}

#[test]
fn frame_of_a_signal_that_lies_within_an_older_one_counts() {
    let mut s = scene();
    let (older, frame) = (SP - 0x4c0, SP - 0x300);
    let (inner, outer) = (s.inner + 6, s.outer_return);
    // A handler that ran before, when the stack was deeper, in front of the one that runs.
    interrupt(&mut s, older, 0, SP - 0x100, outer);
    interrupt(&mut s, frame, 0, SP, inner);
    let (walk, frames) = walk_in_handler::<X86_64>(&s, 1 << 63);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
}

#[test]
fn handler_within_a_handler_is_stepped_over() {
    let mut s = scene();
    let (within, frame) = (SP - 0x4c0, SP - 0x200);
    let inner = s.inner + 6;
    interrupt(&mut s, within, 1 << 63, SP - 0x280, RESTORER + 0x100);
    interrupt(&mut s, frame, 0, SP, inner);
    let (walk, frames) = walk_in_handler::<X86_64>(&s, 1 << 63);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
    // The one that the handler has interrupted is no handler: the other ran before.
    s.image.word_at(within + 304, 0);
    let (walk, _) = walk_in_handler::<X86_64>(&s, 1 << 63);
    assert_ne!(walk.top, Top::Compiled);
}

#[test]
fn aarch64_handler_of_another_signal_is_stepped_over() {
    let mut s = scene();
    call_by_link(&mut s);
    let frame = SP - 0x480;
    s.image.u32_at(frame, HANDLED);
    s.image
        .word_at(frame + 128 + 176 + 288, 528 << 32 | 0x4650_8001);
    for register in 0..31 {
        s.image.word_at(frame + 312 + 8 * register, 0x1234);
    }
    s.image.word_at(frame + 312 + 8 * 30, s.outer_return);
    s.image.word_at(frame + 312 + 8 * 31, SP + 32);
    s.image.word_at(frame + 312 + 8 * 32, s.inner);
    s.image.word_at(frame + 168, 0);
    let (walk, frames) = walk_in_handler::<Aarch64>(&s, 1 << 63);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
    s.image.word_at(frame + 128 + 176 + 288, 0x4650_8001);
    let (walk, _) = walk_in_handler::<Aarch64>(&s, 1 << 63);
    assert_ne!(walk.top, Top::Compiled);
}

#[test]
fn wrong_words_neither_panic_nor_run_away() {
    let mut s = scene();
    for seed in 0..2_000 {
        s.image.faults = 1 + seed % 40;
        s.image.seed.set(seed * 77_777 + 1);
        let (walk, frames) = s.walk(
            s.inner + (seed as usize % 14),
            SP + 8 * (seed as usize % 4),
            SP + 0x60,
            8,
        );
        assert!(walk.frames <= 8 && frames.len() == walk.frames);
    }
}
