//! The walk over a made-up VM: code heap, compiled methods, debug information, classes and a stack, laid out in a sparse memory.

#![expect(
    clippy::cast_possible_truncation,
    reason = "small numbers of a made-up VM"
)]

use super::arch::aarch64::Aarch64;
use super::arch::x86_64::X86_64;
use super::code::block_start;
use super::ids::{MethodIds, Pair};
use super::scopes::Unsigned5;
use super::sites;
use super::tables::{Anchor, BlobLayout, CodeHeap, MethodLayout, NmethodLayout, Place, VmTables};
use super::trail::Trail;
use super::walker::{Input, Past, walk_on};
use super::{End, Failure, Known, Registers, Walk};
use crate::checked::Memory;
use crate::slots::{CallFrame, FrameKind};
use core::cell::Cell;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::vec::Vec;

/// Bytes at addresses; everything else is not there.
#[derive(Default)]
struct Image {
    bytes: BTreeMap<usize, u8>,
    /// One load in this many goes wrong; 0 = none.
    faults: u64,
    seed: Cell<u64>,
}

impl Image {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            self.bytes.insert(at + i, *byte);
        }
    }

    fn word_at(&mut self, at: usize, value: usize) {
        self.put(at, &value.to_le_bytes());
    }

    fn u32_at(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    fn u16_at(&mut self, at: usize, value: u16) {
        self.put(at, &value.to_le_bytes());
    }

    /// A random number for a load that goes wrong.
    fn wrong(&self) -> Option<u64> {
        let next = self
            .seed
            .get()
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.seed.set(next);
        (self.faults != 0 && (next >> 33).is_multiple_of(self.faults)).then_some(next >> 13)
    }
}

impl Memory for Image {
    fn word(&self, address: usize) -> Option<usize> {
        match self.wrong() {
            Some(n) if n.is_multiple_of(4) => return None,
            Some(n) => {
                return Some((n as usize) & if n & 4 == 0 { 0x7fff_ffff_fff8 } else { 0xffff });
            }
            None => {}
        }
        let mut word = [0; 8];
        let mut any = false;
        for (i, byte) in word.iter_mut().enumerate() {
            if let Some(found) = self.bytes.get(&address.wrapping_add(i)) {
                *byte = *found;
                any = true;
            }
        }
        any.then_some(usize::from_le_bytes(word))
    }
}

const HEAP: usize = 0x7f00_0000_0000;
const SEGMENTS: usize = 0x7e00_0000_0000;
const STACK: usize = 0x7d00_0000_0000;
const STACK_HIGH: usize = STACK + 0x1_0000;
const META: usize = 0x7c00_0000_0000;
const THREAD: usize = 0x7b00_0000_0000;
const CALL_STUB_RETURN: usize = HEAP + 0x100;
const INTERPRETER: (usize, usize) = (HEAP + 0x1000, HEAP + 0x2000);
const SEGMENT_SHIFT: u32 = 7;

fn tables() -> VmTables {
    let mut t = VmTables {
        thread_anchor: Anchor {
            sp: 0x20,
            pc: 0x28,
            fp: 0x30,
        },
        wrapper_anchor: Anchor {
            sp: 0x20,
            pc: 0x28,
            fp: 0x30,
        },
        vframe_array_head: 0x10,
        call_stub_return: CALL_STUB_RETURN,
        interpreter: INTERPRETER,
        code: (HEAP, HEAP + 0x10_0000),
        block_header: 16,
        block_used: 8,
        blob: BlobLayout {
            name: 0,
            size: 8,
            frame_size: 12,
            frame_complete: 16,
            code: Place::FromBlob(20),
        },
        nmethod: NmethodLayout {
            method: 24,
            compile_id: 80,
            comp_level: 32,
            orig_pc: 36,
            verified_entry: Place::FromCode(40),
            deopt_handler: Place::FromBlob(44),
            deopt_mh_handler: Some(Place::FromBlob(84)),
            pcs: Place::Pointer(48),
            pcs_end: Place::Pointer(56),
            scopes: Place::Pointer(64),
            metadata: Place::Pointer(72),
        },
        method: MethodLayout {
            const_method: 8,
            access_flags: 40,
            constants: 8,
            code_size: 32,
            idnum: 38,
            name_index: 34,
            signature_index: 36,
            bytecodes: 48,
            holder: 24,
            entries: 72,
            klass_constants: 32,
            ids: 344,
            methods: 336,
            array_length: 0,
            array_data: 8,
            symbol_length: 4,
            symbol_body: 6,
        },
        unsigned5_excluded: 1,
        frame_bcp: 64,
        frame_wrapper: 48,
        virtual_threads: true,
        ..VmTables::default()
    };
    t.heaps[0] = CodeHeap {
        low: HEAP,
        high: HEAP + 0x10_0000,
        segments: SEGMENTS,
        segment_shift: SEGMENT_SHIFT,
    };
    t
}

/// A method with the given number; answers its address. Its id is [`id`].
fn method(image: &mut Image, number: usize) -> usize {
    let base = META + number * 0x1000;
    let (method, constant, pool, klass, ids, id) = (
        base,
        base + 0x100,
        base + 0x200,
        base + 0x400,
        base + 0x800,
        id(number),
    );
    image.word_at(method + 8, constant);
    image.u16_at(method + 40, 0);
    image.word_at(constant + 8, pool);
    image.u16_at(constant + 32, 100);
    image.u16_at(constant + 38, 2);
    image.word_at(pool + 24, klass);
    image.word_at(klass + 344, ids);
    image.word_at(klass + 32, pool);
    image.word_at(ids, 5);
    image.word_at(ids + 3 * 8, id);
    image.word_at(id, method);
    method
}

fn id(number: usize) -> usize {
    META + number * 0x1000 + 0x900
}

/// What a made-up nmethod has.
struct Compiled<'a> {
    /// Distance of its block from the start of the heap, a multiple of the segment size.
    at: usize,
    frame_words: u32,
    method: usize,
    /// (distance of the pc from the code, offset of the scope).
    pcs: &'a [(i32, u32)],
    scopes: &'a [u8],
    metadata: &'a [usize],
    code: &'a [u8],
    frame_complete: u16,
}

const HEADER: usize = 0x100;

/// Lays an nmethod out; answers where its code begins.
fn nmethod(image: &mut Image, n: &Compiled<'_>) -> usize {
    let block = HEAP + n.at;
    image.put(block + 8, &[1]);
    let blob = block + 16;
    let tables = META + 0x100_0000 + n.at * 16;
    image.put(tables, b"nmethod\0");
    image.word_at(blob, tables);
    image.u32_at(blob + 8, 0x380);
    image.u32_at(blob + 12, n.frame_words);
    image.u16_at(blob + 16, n.frame_complete);
    image.u32_at(blob + 20, HEADER as u32);
    image.word_at(blob + 24, n.method);
    image.put(blob + 32, &[4]);
    image.u32_at(blob + 80, n.at as u32);
    image.u16_at(blob + 40, 0);
    image.u32_at(blob + 44, 0x300);
    image.word_at(blob + 48, tables + 0x100);
    image.word_at(blob + 56, tables + 0x100 + 16 * n.pcs.len());
    image.word_at(blob + 64, tables + 0x200);
    image.word_at(blob + 72, tables + 0x300);
    for (i, (pc, scope)) in n.pcs.iter().enumerate() {
        image.u32_at(tables + 0x100 + 16 * i, pc.cast_unsigned());
        image.u32_at(tables + 0x100 + 16 * i + 4, *scope);
    }
    image.put(tables + 0x200, n.scopes);
    for (i, method) in n.metadata.iter().enumerate() {
        image.word_at(tables + 0x300 + 8 * i, *method);
    }
    let code = blob + HEADER;
    image.put(code, n.code);
    // Eight segments of 128 bytes: the first says 0, the others how far back it is.
    for segment in 0..8 {
        image.put(
            SEGMENTS + (n.at >> SEGMENT_SHIFT) + segment,
            &[segment as u8],
        );
    }
    code
}

/// Two compiled methods, the outer one with an inlined one, called by the VM: what every test walks.
struct Scene {
    image: Image,
    tables: VmTables,
    past: Known,
    trail: Trail,
    inner: usize,
    outer_return: usize,
}

const SP: usize = STACK + 0x8000;

fn scene() -> Scene {
    let mut image = Image::default();
    let (one, two, three) = (
        method(&mut image, 1),
        method(&mut image, 2),
        method(&mut image, 3),
    );
    // push rbp; sub rsp, 16; nop...; add rsp, 16; pop rbp; ret
    let code = [
        0x55, 0x48, 0x83, 0xec, 0x10, 0x90, 0x90, 0x90, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3,
    ];
    // scope at 1: no sender, method 1 of the table, bci 7 (written as 8); each number one more for the excluded zero.
    let inner = nmethod(
        &mut image,
        &Compiled {
            at: 0x4000,
            frame_words: 4,
            method: one,
            pcs: &[(-1, 0), (14, 1)],
            scopes: &[0xff, 1, 2, 9],
            metadata: &[one],
            code: &code,
            frame_complete: 5,
        },
    );
    // scope at 1: method 2 at bci 3; scope at 4: inlined method 3 at bci 5, its sender is at 1.
    let outer = nmethod(
        &mut image,
        &Compiled {
            at: 0x8000,
            frame_words: 6,
            method: two,
            pcs: &[(-1, 0), (0x40, 4), (0x60, 1)],
            scopes: &[0xff, 1, 2, 5, 2, 3, 7],
            metadata: &[two, three],
            code: &code,
            frame_complete: 5,
        },
    );
    image.word_at(THREAD + 0x10, 0);
    image.word_at(THREAD + 0x20, 0);
    // Stack: inner's frame of 4 words, outer's of 6, the entry frame.
    let entry_fp = SP + 32 + 48 + 0x40;
    let wrapper = entry_fp + 0x100;
    image.word_at(SP + 24, outer + 0x40);
    image.word_at(SP + 16, 0xdead_0000);
    image.word_at(SP + 32 + 40, CALL_STUB_RETURN);
    image.word_at(SP + 32 + 32, entry_fp);
    image.word_at(entry_fp - 48, wrapper);
    image.word_at(wrapper + 0x20, 0);
    for at in (SP..STACK_HIGH).step_by(8) {
        if !image.bytes.contains_key(&at) {
            image.word_at(at, 0);
        }
    }
    Scene {
        image,
        tables: tables(),
        past: Known {
            sites: sites::tests::table(64),
            ids: MethodIds::new(Box::leak(Box::new(core::array::from_fn::<_, 16, _>(
                |_| Pair::default(),
            )))),
        },
        trail: Trail::default(),
        inner,
        outer_return: outer + 0x40,
    }
}

impl Scene {
    fn past(&self) -> Past<'_> {
        Past {
            known: &self.past,
            trail: &self.trail,
        }
    }

    fn walk(&self, pc: usize, sp: usize, fp: usize, handler: usize) -> (Walk, Vec<CallFrame>) {
        let registers = Registers {
            pc,
            sp,
            fp,
            ..Registers::default()
        };
        self.walk_from::<X86_64>(registers, handler)
    }

    fn walk_from<A: super::arch::Arch>(
        &self,
        registers: Registers,
        handler: usize,
    ) -> (Walk, Vec<CallFrame>) {
        let input = Input {
            registers,
            stack_high: STACK_HIGH,
            java_thread: THREAD,
            in_java: true,
        };
        let mut frames =
            std::vec![CallFrame { bci: 0, kind: 99, method: core::ptr::null_mut() }; handler];
        let walk = walk_on::<A>(&self.tables, &self.image, self.past(), &input, &mut frames);
        frames.truncate(walk.frames);
        (walk, frames)
    }
}

fn seen(frames: &[CallFrame]) -> Vec<(usize, i32, u32)> {
    frames
        .iter()
        .map(|f| (f.method.addr(), f.bci, f.kind))
        .collect()
}

const C2: u32 = FrameKind::C2 as u32;
const INLINED: u32 = FrameKind::Inlined as u32;

fn expected() -> Vec<(usize, i32, u32)> {
    std::vec![(id(1), 7, C2), (id(3), 5, INLINED), (id(2), 3, C2)]
}

#[test]
fn a_complete_compiled_frame_leads_through_inlined_methods_to_the_root() {
    let s = scene();
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(walk.end, End::Root);
    assert_eq!(seen(&frames), expected());
}

#[test]
fn the_same_stack_is_found_at_every_instruction_of_prologue_and_epilogue() {
    let s = scene();
    // (instruction, stack pointer there): before push, before sub, after it, before add, before pop, before ret.
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
fn a_leaf_on_aarch64_returns_to_its_link_register() {
    let mut s = scene();
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

/// Where the interpreted method of [`interpreted`] keeps its frame.
const INTERPRETED_FP: usize = SP + 16;

/// The scene with method 1 interpreted at index 9, called by the outer compiled one.
fn interpreted() -> Scene {
    let mut s = scene();
    let bytecodes = META + 0x1000 + 0x100 + 48;
    s.image.word_at(INTERPRETED_FP + 8, s.outer_return);
    s.image.word_at(INTERPRETED_FP, 0xdead_0000);
    s.image.word_at(INTERPRETED_FP - 8, SP + 32);
    s.image.word_at(INTERPRETED_FP - 24, META + 0x1000);
    s.image.word_at(INTERPRETED_FP - 64, bytecodes + 9);
    s
}

/// Somewhere in the interpreter, below the frame of [`interpreted`].
fn in_interpreter() -> Registers {
    Registers {
        pc: INTERPRETER.0 + 0x80,
        sp: INTERPRETED_FP - 0x60,
        fp: INTERPRETED_FP,
        ..Registers::default()
    }
}

fn expected_interpreted() -> Vec<(usize, i32, u32)> {
    let top = (id(1), 9, FrameKind::Interpreted as u32);
    [&[top], &expected()[1..]].concat()
}

#[test]
fn an_interpreted_frame_leads_to_its_compiled_caller() {
    let s = interpreted();
    let (walk, frames) = s.walk_from::<X86_64>(in_interpreter(), 16);
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Root, expected_interpreted())
    );
}

#[test]
fn an_interpreted_method_that_has_called_nothing_yet_is_not_taken_for_one_that_has_left() {
    let s = interpreted();
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
fn a_full_array_ends_the_walk_and_is_not_overrun() {
    let s = scene();
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 2);
    assert_eq!((walk.end, walk.frames), (End::Full, 2));
    assert_eq!(seen(&frames), expected()[..2]);
    assert_eq!(s.walk(s.inner + 6, SP, 0, 0).0.frames, 0);
}

#[test]
fn a_replaced_return_address_is_looked_up_in_the_frame() {
    let mut s = scene();
    let blob = s.outer_return - 0x40 - HEADER;
    s.image.word_at(SP + 24, blob + 0x300); // the deoptimization handler
    s.image.u32_at(blob + 36, 8);
    s.image.word_at(SP + 32 + 8, s.outer_return);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
}

#[test]
fn one_that_was_replaced_for_a_call_by_a_method_handle_is_looked_up_too() {
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
fn a_vm_without_a_second_handler_and_code_without_one_are_walked() {
    for at in [None, Some(Place::FromBlob(84))] {
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
fn while_frames_are_rebuilt_nothing_is_walked() {
    let mut s = scene();
    s.image.word_at(THREAD + 0x10, 0x1000);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(walk.end, End::Failed(Failure::Deoptimization));
    assert!(frames.is_empty());
}

#[test]
fn an_anchor_is_followed_when_the_thread_is_not_in_java() {
    let mut s = scene();
    s.image.word_at(THREAD + 0x20, SP + 32);
    s.image.word_at(THREAD + 0x28, s.outer_return);
    s.image.word_at(THREAD + 0x30, 0);
    let registers = Registers {
        pc: 0x5555_0000_0000,
        sp: SP,
        ..Registers::default()
    };
    let input = Input {
        registers,
        stack_high: STACK_HIGH,
        java_thread: THREAD,
        in_java: false,
    };
    let mut frames = [CallFrame {
        bci: 0,
        kind: 0,
        method: core::ptr::null_mut(),
    }; 8];
    let walk = walk_on::<X86_64>(&s.tables, &s.image, s.past(), &input, &mut frames);
    assert_eq!((walk.end, walk.frames), (End::Root, 2));
    s.image.word_at(THREAD + 0x20, 0);
    let walk = walk_on::<X86_64>(&s.tables, &s.image, s.past(), &input, &mut frames);
    assert_eq!((walk.end, walk.frames), (End::NoJava, 0));
}

/// The frames of a walk after the walk of the scene as it was, with `change` in between.
fn second_walk(change: impl Fn(&mut Scene)) -> (End, Vec<(usize, i32, u32)>) {
    let mut s = scene();
    s.walk(s.inner + 6, SP, 0, 16);
    change(&mut s);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    (walk.end, seen(&frames))
}

/// Debug information that is wrong from now on: who looks into it finds no methods.
fn without_debug_information(s: &mut Scene) {
    let outer = s.outer_return - 0x40 - HEADER;
    s.image.word_at(outer + 64, 0);
}

#[test]
fn a_call_site_is_decoded_once() {
    assert_eq!(
        second_walk(without_debug_information),
        (End::Root, expected())
    );
}

#[test]
fn a_walk_leaves_a_trail_of_its_sites_and_of_nothing_before() {
    let s = scene();
    let (inner, outer) = (s.inner - HEADER, s.outer_return - 0x40 - HEADER);
    s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(s.trail.blobs(), [inner, outer]);
    s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(s.trail.blobs(), [inner, outer], "of sites that were known");
    let (walk, _) = s.walk(s.outer_return - 0x40 + 6, SP + 32, 0, 16);
    assert_eq!(walk.end, End::Root);
    assert_eq!(s.trail.blobs(), [outer], "a shorter one ends before");
}

#[test]
fn a_call_site_is_forgotten_when_other_code_lies_there() {
    for offset in [24, 80] {
        // Method, compile id.
        let (end, frames) = second_walk(|s| {
            without_debug_information(s);
            let outer = s.outer_return - 0x40 - HEADER;
            let other = if offset == 24 {
                method(&mut s.image, 1)
            } else {
                77
            };
            s.image.word_at(outer + offset, other);
        });
        assert_eq!(
            (end, frames),
            (End::Failed(Failure::Scope), expected()[..1].to_vec())
        );
    }
}

#[test]
fn a_call_site_of_a_method_without_an_id_is_decoded_until_it_has_one() {
    let mut s = scene();
    let ids = META + 3 * 0x1000 + 0x800;
    s.image.word_at(ids + 3 * 8, 0);
    let (_, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(frames[1].method.addr(), 0);
    s.image.word_at(ids + 3 * 8, id(3));
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
}

#[test]
fn a_full_array_ends_the_walk_at_a_remembered_site_too() {
    let s = scene();
    s.walk(s.inner + 6, SP, 0, 16);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 2);
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Full, expected()[..2].to_vec())
    );
}

#[test]
fn a_method_whose_id_names_another_class_is_refused() {
    let mut s = scene();
    let other = method(&mut s.image, 9);
    s.image.word_at(id(1), other);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(walk.end, End::Failed(Failure::Method));
    assert!(frames.is_empty());
}

#[test]
fn a_method_without_an_id_is_a_frame_without_an_id() {
    let mut s = scene();
    s.image.word_at(META + 0x1000 + 0x400 + 344, 0); // the class has no table yet
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(
        (walk.end, frames[0].method.addr(), frames[0].bci),
        (End::Root, 0, 7)
    );
}

/// Method `number` is an old version now: the class has another method of that name, with other code and other constants. Answers the id of
/// that one.
fn redefine(s: &mut Scene, number: usize) -> usize {
    let old = META + number * 0x1000;
    let (constant, pool, klass, ids) = (old + 0x100, old + 0x200, old + 0x400, old + 0x800);
    let (new, new_constant, new_pool) = (old + 0xa00, old + 0xb00, old + 0xc00);
    let (symbols, array) = (old + 0xd00, old + 0xe00);
    let (name, signature, other) = (symbols + 0x40, symbols + 0x80, symbols);
    let image = &mut s.image;
    image.put(signature + 6, b"()V");
    image.put(other + 6, b"(I)V");
    // The VM's own order of events: the id goes to the new method, the old one gets a number without an id.
    image.word_at(new + 8, new_constant);
    image.word_at(new_constant + 8, new_pool);
    image.u16_at(new_constant + 38, 2);
    image.word_at(new_pool + 24, klass);
    image.word_at(klass + 32, new_pool);
    image.word_at(id(number), new);
    image.u16_at(constant + 38, 77);
    for (constant, pool, from) in [(constant, pool, 4), (new_constant, new_pool, 9)] {
        image.u16_at(constant + 34, from);
        image.u16_at(constant + 36, from + 1);
        image.word_at(pool + 72 + 8 * usize::from(from), name);
        image.word_at(pool + 72 + 8 * usize::from(from) + 8, signature);
    }
    // The methods of the class: one with a lower name, an overload, the one looked for.
    image.word_at(klass + 336, array);
    image.u32_at(array, 3);
    for (index, (name, signature)) in [(other, signature), (name, other)].iter().enumerate() {
        let method = old + 0x600 + index * 0x80;
        let (constant, pool) = (method + 0x10, method + 0x10);
        image.word_at(method + 8, constant);
        image.word_at(constant + 8, pool - 24);
        image.u16_at(constant + 34, 0);
        image.u16_at(constant + 36, 1);
        image.word_at(pool - 24 + 72, *name);
        image.word_at(pool - 24 + 80, *signature);
        image.word_at(array + 8 + 8 * index, method);
    }
    image.word_at(array + 24, new);
    image.word_at(ids, 5);
    id(number)
}

#[test]
fn an_obsolete_method_has_the_id_of_the_one_in_its_place_and_no_index() {
    let mut s = scene();
    for number in [1, 2, 3] {
        redefine(&mut s, number);
    }
    let without_index: Vec<_> = expected()
        .iter()
        .map(|(id, _, kind)| (*id, -1, *kind))
        .collect();
    for _ in 0..2 {
        let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
        assert_eq!(
            (walk.end, seen(&frames)),
            (End::Root, without_index.clone())
        );
    }
}

#[test]
fn an_obsolete_interpreted_method_is_a_caller() {
    let mut s = interpreted();
    redefine(&mut s, 1);
    let (walk, frames) = s.walk_from::<X86_64>(in_interpreter(), 16);
    let top = (id(1), -1, FrameKind::Interpreted as u32);
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Root, [&[top], &expected()[1..]].concat())
    );
}

#[test]
fn an_obsolete_method_that_its_class_has_no_other_for_is_a_frame_without_an_id() {
    let mut s = scene();
    redefine(&mut s, 1);
    s.image.u32_at(META + 0x1000 + 0xe00, 2); // deleted
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(walk.end, End::Root);
    assert_eq!(seen(&frames)[0], (0, -1, C2));
    assert_eq!(seen(&frames)[1..], expected()[1..]);
}

#[test]
fn what_only_looks_like_an_obsolete_method_is_refused() {
    // A signature that is none; constants that lead to another class.
    for (at, word) in [(0xd00 + 0x80, 0), (0xc00 + 24, META + 0x2000 + 0x400)] {
        let mut s = scene();
        redefine(&mut s, 1);
        s.image.word_at(META + 0x1000 + at, word);
        let (walk, _) = s.walk(s.inner + 6, SP, 0, 16);
        assert_eq!(walk.end, End::Failed(Failure::Method));
    }
}

#[test]
fn a_known_site_of_code_that_was_freed_is_no_caller_for_a_guess() {
    // A slow path has pushed a register: the return address is one word further up than the frame says.
    let guess = |s: &Scene| s.walk(s.inner + 6, SP - 8, 0, 16);
    let mut s = scene();
    let (walk, frames) = guess(&s);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
    s.image.put(HEAP + 0x8000 + 8, &[0]);
    let (walk, frames) = guess(&s);
    // The word behind it is a return address as well.
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Root, expected()[..1].to_vec())
    );
}

#[test]
fn no_wrong_word_makes_a_walk_run_away_or_panic() {
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

#[test]
fn numbers_are_read_in_both_encodings() {
    // The same numbers, written by the rules of JDK 17 and of JDK 20 and later.
    let vectors: &[(u32, &[u8], &[u8])] = &[
        (0, &[0], &[1]),
        (1, &[1], &[2]),
        (190, &[190], &[191]),
        (191, &[191], &[192, 1]),
        (192, &[192, 0], &[193, 1]),
        (255, &[255, 0], &[192, 2]),
        (256, &[192, 1], &[193, 2]),
        (12_345, &[249, 189], &[250, 190]),
        (
            u32::MAX,
            &[255, 252, 252, 252, 252],
            &[255, 253, 253, 253, 253],
        ),
    ];
    for (number, old, new) in vectors {
        for (bytes, excluded) in [(old, 0), (new, 1)] {
            let decoded = decode(bytes, excluded);
            // The last vector is only checked for its length: its sum wraps.
            if *number == u32::MAX {
                assert_eq!(decoded.1, 5);
            } else {
                assert_eq!(
                    decoded,
                    (Some(*number), bytes.len()),
                    "{number} with {excluded} excluded"
                );
            }
        }
    }
    assert_eq!(
        decode(&[0], 1).0,
        None,
        "the excluded byte ends nothing and begins nothing"
    );
}

/// The number and how many bytes it took.
fn decode(bytes: &[u8], excluded: u8) -> (Option<u32>, usize) {
    let mut image = Image::default();
    image.put(0x10_0003, bytes);
    // What follows is a number of one byte: if it is read next, the first one took what it should.
    image.put(0x10_0003 + bytes.len(), &[77 + excluded]);
    let mut numbers = Unsigned5::new(&image, 0x10_0003, excluded);
    let first = numbers.next();
    let next = numbers.next();
    (
        first,
        if next == Some(77) || first.is_none() {
            bytes.len()
        } else {
            0
        },
    )
}

#[test]
fn the_segment_map_is_followed_in_hops_and_free_space_has_no_block() {
    let heap = CodeHeap {
        low: HEAP,
        high: HEAP + 0x100_0000,
        segments: SEGMENTS,
        segment_shift: 7,
    };
    let mut image = Image::default();
    // A block of 600 segments from segment 10 on: hops of at most 254.
    for i in 0..600usize {
        let hop = if i == 0 { 0 } else { (i - 1) % 254 + 1 };
        image.put(SEGMENTS + 10 + i, &[hop as u8]);
    }
    image.put(SEGMENTS + 700, &[0xff]);
    let at = |segment: usize| block_start(&image, &heap, HEAP + (segment << 7) + 5);
    for segment in [10, 11, 263, 264, 265, 600, 609] {
        assert_eq!(at(segment), Some(HEAP + (10 << 7)), "segment {segment}");
    }
    assert_eq!(at(700), None);
    assert_eq!(at(5_000), None, "not readable");
}
