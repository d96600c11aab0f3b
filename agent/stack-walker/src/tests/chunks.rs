//! Frames of a virtual thread in the heap, under each collector and with damage.

use super::scene::{
    INTERPRETER, META, SP, Scene, THREAD, expected, id, name_method, native_wrapper, number_ids,
    return_barrier, scene, seen, symbol, thread_in_java,
};
use crate::arch::registers::Registers;
use crate::arch::x86_64::X86_64;
use crate::frame::{CallFrame, FrameKind};
use crate::heap::{
    ChunkLayout, ChunkState, ChunkTables, ClassPointer, Collector, Coloured, Relocation, Width,
};
use crate::outcome::{End, HeapFailure, HeapFrames, Walk};
use crate::walker::{InterruptedThread, StackWalker, UnmountedThread};
use std::vec::Vec;

const OBJECTS: usize = 0x7a00_0000_0000;
const HANDLE: usize = OBJECTS;
const CARRIER: usize = OBJECTS + 0x100;
const CONTINUATION: usize = OBJECTS + 0x200;
/// The virtual thread.
const UNMOUNTED: usize = OBJECTS + 0x400;
const CHUNK: usize = OBJECTS + 0x1000;
const PARENT: usize = OBJECTS + 0x2000;
const CHUNK_CLASS: usize = META + 0x300_0000;
const CONTINUATION_CLASS: usize = META + 0x300_1000;
const PAUSE: usize = META + 0x300_2000;
/// Distance of a chunk's stack from the chunk.
const STACK_IN_CHUNK: usize = 0x40;

fn layout() -> ChunkTables {
    ChunkTables {
        thread_object: 0x40,
        thread_continuation: 0x20,
        virtual_continuation: 0x28,
        continuation_parent: 0x10,
        continuation_tail: 0x18,
        chunk: ChunkLayout {
            parent: 0x10,
            size: 0x18,
            sp: 0x1c,
            bottom: 0x20,
            pc: 0x28,
            stack: STACK_IN_CHUNK,
        },
        class_name: 0x18,
        width: Width::Full,
        collector: Collector::InPauses,
        class_pointer: ClassPointer::Full,
        pause_state: PAUSE,
        pause_counter: PAUSE + 8,
    }
}

/// The newest frame on the stack, its two callers in the heap: the compiled ones in the first chunk.
fn resumed() -> Scene {
    let mut s = scene();
    let barrier = return_barrier(&mut s.image, 9);
    s.image.word_at(SP + 24, barrier);
    name_method(&mut s.image, 2, b"enter");
    for (class, text) in [
        (CHUNK_CLASS, &b"jdk/internal/vm/StackChunk"[..]),
        (
            CONTINUATION_CLASS,
            b"java/lang/VirtualThread$VThreadContinuation",
        ),
    ] {
        s.image.word_at(class + 0x18, class + 0x100);
        symbol(&mut s.image, class + 0x100, text);
    }
    s.image.word_at(PAUSE, 0);
    s.image.word_at(PAUSE + 8, 6);
    s.image.word_at(THREAD + 0x40, HANDLE);
    s.image.word_at(HANDLE, CARRIER);
    s.image.word_at(CARRIER + 0x20, CONTINUATION);
    s.image.word_at(UNMOUNTED + 0x28, CONTINUATION);
    s.image.word_at(CONTINUATION + 8, CONTINUATION_CLASS);
    s.image.word_at(CONTINUATION + 0x10, 0);
    s.image.word_at(CONTINUATION + 0x18, CHUNK);
    // The frame of six words, and two more for the return address of the chunk's newest frame.
    let caller = s.outer_return;
    chunk(&mut s, CHUNK, 0, caller, (2, 8));
    s
}

/// A chunk whose newest frame returns to `pc`; `words` are its stack pointer and its bottom.
fn chunk(s: &mut Scene, at: usize, parent: usize, pc: usize, words: (u32, u32)) {
    for word in (0..STACK_IN_CHUNK + 0x200).step_by(8) {
        s.image.word_at(at + word, 0);
    }
    let (sp, bottom) = words;
    s.image.word_at(at + 8, CHUNK_CLASS);
    s.image.word_at(at + 0x10, parent);
    s.image.u32_at(at + 0x18, bottom + 4);
    s.image.u32_at(at + 0x1c, sp);
    s.image.u32_at(at + 0x20, bottom);
    s.image.word_at(at + 0x28, pc);
    if sp > 0 {
        s.image
            .word_at(at + STACK_IN_CHUNK + 8 * (sp as usize - 1), pc);
    }
}

fn walk_with(
    walker: &StackWalker<&super::scene::Image>,
    s: &Scene,
    may_be_in_pause: bool,
) -> (Walk, Vec<CallFrame>) {
    let registers = Registers {
        pc: s.inner + 6,
        sp: SP,
        ..Registers::default()
    };
    walk_from(walker, s, registers, may_be_in_pause)
}

fn walk_from(
    walker: &StackWalker<&super::scene::Image>,
    s: &Scene,
    registers: Registers,
    may_be_in_pause: bool,
) -> (Walk, Vec<CallFrame>) {
    let thread = InterruptedThread {
        may_be_in_pause,
        ..thread_in_java(registers)
    };
    let nothing = CallFrame {
        bci: 0,
        kind: 99,
        method: core::ptr::null_mut(),
    };
    let mut frames = std::vec![nothing; 16];
    let walk = walker.walk_on::<X86_64>(&thread, &s.hints, &mut frames);
    frames.truncate(walk.frames);
    (walk, frames)
}

fn walk(s: &Scene, tables: ChunkTables) -> (Walk, Vec<CallFrame>) {
    walk_with(&s.walker().with_chunks(tables), s, false)
}

/// The walk ends at the stack's last frame for the reason `why`.
fn assert_cut(s: &Scene, tables: ChunkTables, why: HeapFailure) {
    let (walk, frames) = walk(s, tables);
    assert_eq!((walk.end, walk.heap), (End::Frozen, HeapFrames::Cut(why)));
    assert_eq!(seen(&frames), expected()[..1]);
}

#[test]
fn callers_in_a_chunk_are_read_to_the_root() {
    let s = resumed();
    let (walk, frames) = walk(&s, layout());
    assert_eq!((walk.end, walk.heap), (End::VirtualRoot, HeapFrames::Whole));
    assert_eq!(seen(&frames), expected());
}

/// As in 26. The second walk knows the call sites from the first one.
#[test]
fn root_is_found_where_ids_are_numbers() {
    let mut s = resumed();
    let numbered = number_ids(&mut s, 7);
    for _ in 0..2 {
        let (walk, frames) = walk(&s, layout());
        assert_eq!((walk.end, walk.heap), (End::VirtualRoot, HeapFrames::Whole));
        assert_eq!(seen(&frames), numbered);
    }
}

#[test]
fn without_layout_the_walk_ends_at_the_barrier() {
    let s = resumed();
    let (walk, frames) = walk_with(&s.walker(), &s, false);
    assert_eq!(walk.heap, HeapFrames::Cut(HeapFailure::Off));
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Frozen, expected()[..1].to_vec())
    );
}

/// An interpreted frame alone in the newest chunk, which an empty one precedes.
#[test]
fn interpreted_frame_and_empty_chunk() {
    let mut s = resumed();
    let middle = OBJECTS + 0x3000;
    super::scene::method(&mut s.image, 3);
    chunk(&mut s, CHUNK, middle, 0, (4, 4));
    let root = s.outer_return;
    chunk(&mut s, PARENT, 0, root, (2, 8));
    chunk(&mut s, middle, PARENT, INTERPRETER.0 + 0x40, (2, 16));
    let word = |index: usize| middle + STACK_IN_CHUNK + 8 * index;
    // Its frame pointer is ten words above the slot that holds it, its locals reach to the bottom.
    let fp = word(10);
    let bytecodes = META + 0x3000 + 0x100 + 48;
    s.image.word_at(word(0), 10);
    s.image.word_at(fp - 8, 2);
    s.image.word_at(fp - 24, META + 0x3000);
    s.image.word_at(fp - 56, 5);
    s.image.word_at(fp - 64, bytecodes + 9);
    let (walk, frames) = walk(&s, layout());
    assert_eq!(walk.heap, HeapFrames::Whole);
    let interpreted = (id(3), 9, FrameKind::Interpreted as u32);
    let all = [&expected()[..1], &[interpreted], &expected()[1..]].concat();
    assert_eq!((walk.end, seen(&frames)), (End::VirtualRoot, all));
}

#[test]
fn doubtful_objects_are_not_read() {
    let damages: [(usize, usize, HeapFailure); 6] = [
        (CONTINUATION + 8, CHUNK_CLASS, HeapFailure::Object),
        (CHUNK + 8, CONTINUATION_CLASS, HeapFailure::Object),
        // A continuation within another one.
        (CONTINUATION + 0x10, CONTINUATION, HeapFailure::Object),
        // Bottom beyond the size, and a stack pointer beyond the bottom.
        (CHUNK + 0x20, 99, HeapFailure::Object),
        (CHUNK + 0x18, 9 << 32 | 12, HeapFailure::Object),
        // The VM is taking the newest frame out.
        (CHUNK + 0x28, 0x1234, HeapFailure::Frame),
    ];
    for (at, word, why) in damages {
        let mut s = resumed();
        s.image.word_at(at, word);
        assert_cut(&s, layout(), why);
    }
}

fn native(number: usize) -> (usize, i32, u32) {
    (id(number), -3, FrameKind::Native as u32)
}

#[test]
fn blocking_thread_is_followed_to_where_its_frames_are() {
    let mut s = resumed();
    s.inner = native_wrapper(&mut s.image, 8, b"doYield") - 6;
    s.image.word_at(SP + 24, s.outer_return);
    let all = [&[native(8)], &expected()[1..]].concat();
    let (moved, frames) = walk(&s, layout());
    assert_eq!(
        (moved.end, moved.heap),
        (End::VirtualRoot, HeapFrames::Whole)
    );
    assert_eq!(seen(&frames), all);
    // The chunk begins with another caller: the frames are still on the stack.
    s.image.word_at(CHUNK + 0x28, s.inner);
    s.image.word_at(CHUNK + STACK_IN_CHUNK + 8, s.inner);
    let (walk, frames) = walk(&s, layout());
    assert_eq!((walk.end, walk.heap), (End::Root, HeapFrames::NotMet));
    assert_eq!(seen(&frames), all);
}

#[test]
fn only_one_method_calls_the_one_in_which_a_thread_blocks() {
    let mut s = resumed();
    s.inner = native_wrapper(&mut s.image, 8, b"doYield") - 6;
    s.image.word_at(SP + 24, s.outer_return);
    s.image.word_at(CHUNK + 0x28, s.inner);
    assert!(walk(&s, layout()).0.is_switching);
    name_method(&mut s.image, 3, b"yield0");
    assert!(!walk(&s, layout()).0.is_switching);
}

#[test]
fn thread_about_to_run_has_all_frames_in_the_heap() {
    let mut s = resumed();
    s.inner = native_wrapper(&mut s.image, 8, b"enterSpecial") - 6;
    let (whole, frames) = walk(&s, layout());
    assert_eq!(whole.heap, HeapFrames::Whole);
    assert_eq!(seen(&frames), expected()[1..]);
    // It begins: there is no chunk.
    s.image.word_at(CONTINUATION + 0x18, 0);
    let (walk, frames) = walk(&s, layout());
    assert_eq!(
        (walk.end, walk.heap),
        (End::VirtualRoot, HeapFrames::NotMet)
    );
    assert_eq!(seen(&frames), [native(8)]);
}

/// A continuation on the stack that runs within that of [`resumed`].
fn nested() -> Scene {
    let inner = OBJECTS + 0x600;
    let entry = SP + 32;
    let mut s = resumed();
    let barrier = return_barrier(&mut s.image, 9);
    let enter = native_wrapper(&mut s.image, 8, b"enterSpecial");
    s.image.word_at(SP + 24, enter);
    s.image.word_at(entry + 8, entry + 0x40);
    s.image.word_at(entry + 24, barrier);
    s.image.word_at(entry + 0x40 + 16, CONTINUATION);
    s.image.word_at(CARRIER + 0x20, inner);
    s.image.word_at(inner + 0x10, CONTINUATION);
    s
}

#[test]
fn continuation_within_another_has_callers() {
    let mut s = nested();
    let (whole, frames) = walk(&s, layout());
    assert_eq!(
        (whole.end, whole.heap),
        (End::VirtualRoot, HeapFrames::Whole)
    );
    let all = [&expected()[..1], &[native(8)], &expected()[1..]].concat();
    assert_eq!(seen(&frames), all);
    // The carrier is about to run a third one.
    let innermost = OBJECTS + 0x700;
    s.image.word_at(CARRIER + 0x20, innermost);
    s.image.word_at(innermost + 0x10, OBJECTS + 0x600);
    let (cut, frames) = walk(&s, layout());
    assert_eq!(cut.heap, HeapFrames::Cut(HeapFailure::Object));
    assert_eq!(seen(&frames), all[..2]);
    // Not within another one.
    s.image.word_at(SP + 32 + 8, 0);
    let (root, frames) = walk(&s, layout());
    assert_eq!(
        (root.end, root.heap),
        (End::VirtualRoot, HeapFrames::NotMet)
    );
    assert_eq!(seen(&frames), all[..2]);
}

/// Where the outermost entry names another continuation, its fields are others: nothing below counts.
#[test]
fn entries_of_another_layout_end_the_walk() {
    let mut s = nested();
    s.image.word_at(SP + 32 + 0x40 + 16, CONTINUATION + 8);
    let (cut, frames) = walk(&s, layout());
    assert_eq!(cut.heap, HeapFrames::Cut(HeapFailure::Object));
    assert_eq!(seen(&frames), [expected()[0], native(8)]);
}

/// Three continuations: the middle one has callers in the heap.
#[test]
fn walk_goes_on_below_callers_of_a_continuation_within_another() {
    let (middle, inner_chunk) = (OBJECTS + 0x800, OBJECTS + 0x4000);
    let mut s = nested();
    let barrier = return_barrier(&mut s.image, 9);
    let enter = native_wrapper(&mut s.image, 8, b"enterSpecial");
    let caller = s.outer_return;
    s.image.word_at(OBJECTS + 0x600 + 0x10, middle);
    s.image.word_at(middle + 0x10, CONTINUATION);
    s.image.word_at(middle + 0x18, inner_chunk);
    chunk(&mut s, inner_chunk, 0, caller, (2, 8));
    // Behind the innermost entry: a frame of six words, the middle entry, the outermost one.
    let entry = SP + 64 + 48;
    s.image.word_at(SP + 32 + 8, entry);
    s.image.word_at(SP + 56, caller);
    s.image.word_at(entry - 8, barrier);
    s.image.word_at(entry + 8, entry + 32);
    s.image.word_at(entry + 16, middle);
    s.image.word_at(entry + 24, enter);
    s.image.word_at(entry + 32 + 8, 0);
    s.image.word_at(entry + 32 + 16, CONTINUATION);
    let (whole, frames) = walk(&s, layout());
    assert_eq!(
        (whole.end, whole.heap),
        (End::VirtualRoot, HeapFrames::Whole)
    );
    let (newest, callers, entry_frame) = (&expected()[..1], &expected()[1..], &[native(8)]);
    let below = [entry_frame[0]; 2];
    let all = [newest, entry_frame, callers, callers, &below].concat();
    assert_eq!(seen(&frames), all);
    // What is at the middle entry has no caller.
    s.image.word_at(entry + 24, 0x1234);
    let (cut, frames) = walk(&s, layout());
    assert_eq!(cut.heap, HeapFrames::Cut(HeapFailure::Frame));
    // The layout is not proven by this one.
    assert_eq!(seen(&frames), all[..4]);
}

/// The VM's own code, interrupted while it takes frames out of the heap; a stack pointer below its
/// frame.
const LIBRARY: (usize, usize) = (0x7900_0000_0000, 0x7900_0000_1000);
const VM_SP: usize = SP - 0x80;

/// The scene with a thread in the VM's code, called from the code of continuations; a word on the
/// stack below is left from an earlier call of the VM by compiled code.
fn moving() -> (Scene, Registers) {
    let mut s = resumed();
    s.tables.library = LIBRARY;
    let barrier = return_barrier(&mut s.image, 9);
    for word in (VM_SP - 8..SP).step_by(8) {
        s.image.word_at(word, 0);
    }
    let stale = s.inner + 6;
    s.image.put(s.inner + 1, &[0xe8]);
    let distance = LIBRARY.0.wrapping_sub(stale) as u32;
    s.image.u32_at(s.inner + 2, distance);
    s.image.word_at(VM_SP + 8, stale);
    s.image.word_at(SP - 0x38, barrier);
    let inside = Registers {
        pc: LIBRARY.0 + 0x100,
        sp: VM_SP,
        fp: SP - 0x40,
        ..Registers::default()
    };
    s.image.put(inside.pc, &[0x90; 8]);
    (s, inside)
}

fn walk_in_vm(s: &Scene, registers: Registers) -> (Walk, Vec<CallFrame>) {
    walk_from(&s.walker().with_chunks(layout()), s, registers, false)
}

#[test]
fn only_frame_pointers_lead_out_of_the_vm() {
    let (mut s, inside) = moving();
    let (walk, frames) = walk_in_vm(&s, inside);
    assert_eq!(walk.heap, HeapFrames::Whole);
    assert_eq!(seen(&frames), expected()[1..]);
    // At its first instruction the function has no frame yet: `push rbp`.
    s.image.put(inside.pc, &[0x55; 8]);
    let first = Registers {
        sp: SP - 0x38,
        fp: 0x1234,
        ..inside
    };
    let (walk, frames) = walk_in_vm(&s, first);
    assert_eq!(
        (walk.heap, seen(&frames)),
        (HeapFrames::Whole, expected()[1..].to_vec())
    );
}

#[test]
fn frames_that_are_being_moved_are_told() {
    let (mut s, inside) = moving();
    assert!(walk_in_vm(&s, inside).0.is_switching);
    // The newest one is there: nothing has been moved.
    name_method(&mut s.image, 3, b"yield0");
    assert!(!walk_in_vm(&s, inside).0.is_switching);
}

#[test]
fn frames_above_the_one_at_rest_are_from_an_earlier_run() {
    let mut s = resumed();
    name_method(&mut s.image, 3, b"yield0");
    let numbered = number_ids(&mut s, 7);
    for _ in 0..2 {
        let (rested, frames) = walk(&s, layout());
        assert_eq!(seen(&frames), numbered[1..]);
        assert!(!rested.is_switching);
    }
}

#[test]
fn oldest_method_must_be_the_root() {
    let mut s = resumed();
    name_method(&mut s.image, 2, b"other");
    assert_cut(&s, layout(), HeapFailure::Frame);
}

#[test]
fn wrong_layout_is_refused_and_never_gives_a_frame() {
    let s = resumed();
    let mut wrong = layout();
    wrong.chunk.sp = wrong.chunk.size;
    let walker = s.walker().with_chunks(wrong);
    assert_eq!(walker.chunk_state(), ChunkState::OnTrial);
    for _ in 0..64 {
        let (walk, frames) = walk_with(&walker, &s, false);
        assert_eq!(
            (walk.end, seen(&frames)),
            (End::Frozen, expected()[..1].to_vec())
        );
    }
    assert_eq!(walker.chunk_state(), ChunkState::Refused);
    let (walk, _) = walk_with(&walker, &s, false);
    assert_eq!(walk.heap, HeapFrames::Cut(HeapFailure::Off));
}

#[test]
fn thread_in_native_code_is_not_read_in_a_pause() {
    let mut s = resumed();
    let native = |s: &Scene| walk_with(&s.walker().with_chunks(layout()), s, true).0;
    assert_eq!(native(&s).heap, HeapFrames::Whole);
    s.image.word_at(PAUSE, 1);
    assert_eq!(native(&s).heap, HeapFrames::Cut(HeapFailure::Pause));
    assert_eq!(walk(&s, layout()).0.heap, HeapFrames::Whole, "in Java");
}

/// The walk of the scene's thread while no carrier runs it; its address was known after so many
/// pauses.
fn walk_unmounted(
    walker: &StackWalker<&super::scene::Image>,
    s: &Scene,
    pauses: usize,
) -> (Walk, Vec<CallFrame>) {
    let thread = UnmountedThread {
        object: UNMOUNTED,
        pauses,
    };
    let nothing = CallFrame {
        bci: 0,
        kind: 99,
        method: core::ptr::null_mut(),
    };
    let mut frames = std::vec![nothing; 16];
    let walk = walker.walk_unmounted_on::<X86_64>(&thread, &s.hints, &mut frames);
    frames.truncate(walk.frames);
    (walk, frames)
}

#[test]
fn unmounted_thread_is_read_from_its_newest_frame() {
    let s = resumed();
    let walker = s.walker().with_chunks(layout());
    assert_eq!(walker.pauses(), Some(6));
    let (walk, frames) = walk_unmounted(&walker, &s, 6);
    assert_eq!((walk.end, walk.heap), (End::VirtualRoot, HeapFrames::Whole));
    assert_eq!(seen(&frames), expected()[1..]);
    let (walk, frames) = walk_unmounted(&walker, &s, 5);
    assert_eq!(walk.heap, HeapFrames::Cut(HeapFailure::Pause));
    assert_eq!(seen(&frames), []);
    let (walk, _) = walk_unmounted(&s.walker(), &s, 6);
    assert_eq!(walk.heap, HeapFrames::Cut(HeapFailure::Off));
}

/// A carrier may just begin to run the thread.
#[test]
fn unmounted_thread_does_not_put_the_layout_in_doubt() {
    let mut s = resumed();
    s.image.word_at(CHUNK + 0x28, 0x1234);
    let walker = s.walker().with_chunks(layout());
    for _ in 0..100 {
        let (walk, frames) = walk_unmounted(&walker, &s, 6);
        assert_eq!(walk.heap, HeapFrames::Cut(HeapFailure::Frame));
        assert_eq!(seen(&frames), []);
    }
    assert_eq!(walker.chunk_state(), ChunkState::OnTrial);
}

#[test]
fn narrow_references_and_classes() {
    let mut s = resumed();
    let narrow = |address: usize| ((address - OBJECTS) >> 3) as u32;
    s.image.u32_at(CARRIER + 0x20, narrow(CONTINUATION));
    s.image.u32_at(CONTINUATION + 0x10, 0);
    s.image.u32_at(CONTINUATION + 0x18, narrow(CHUNK));
    s.image.u32_at(CHUNK + 0x10, 0);
    for (object, class) in [(CONTINUATION, CONTINUATION_CLASS), (CHUNK, CHUNK_CLASS)] {
        s.image.u32_at(object + 8, (class - META) as u32);
    }
    let tables = ChunkTables {
        width: Width::Narrow {
            base: OBJECTS,
            shift: 3,
        },
        class_pointer: ClassPointer::Narrow {
            base: META,
            shift: 0,
        },
        ..layout()
    };
    assert_eq!(walk(&s, tables).0.heap, HeapFrames::Whole);
    for (object, class) in [(CONTINUATION, CONTINUATION_CLASS), (CHUNK, CHUNK_CLASS)] {
        s.image.u32_at(object + 8, 0);
        s.image.word_at(object, ((class - META) >> 8) << 42 | 1);
    }
    let class_pointer = ClassPointer::InHeader {
        base: META,
        shift: 8,
    };
    let tables = ChunkTables {
        class_pointer,
        ..tables
    };
    assert_eq!(walk(&s, tables).0.heap, HeapFrames::Whole);
}

#[test]
fn forwarded_objects_are_followed() {
    let mut s = resumed();
    let old = OBJECTS + 0x8000;
    s.image.word_at(old, CHUNK | 3);
    s.image.word_at(CONTINUATION + 0x18, old);
    for object in [CARRIER, CONTINUATION, CHUNK] {
        s.image.word_at(object, 1);
    }
    let tables = ChunkTables {
        collector: Collector::Forwarding,
        ..layout()
    };
    assert_eq!(walk(&s, tables).0.heap, HeapFrames::Whole);
}

/// Words of generational ZGC's state, and a table of pages with one page that is being emptied.
const ZGC: usize = META + 0x400_0000;
const PAGES: usize = ZGC + 0x100;
const PAGE: usize = ZGC + 0x200;
const OFFSETS: usize = (1 << 42) - 1;

fn zgc() -> ChunkTables {
    let coloured = Coloured {
        bad_mask: ZGC,
        young_mask: ZGC + 8,
        old_mask: ZGC + 0x10,
        offset_mask: ZGC + 0x18,
        heap_base: ZGC + 0x20,
        pages: (PAGES, PAGES + 0x40),
        relocation: Relocation {
            pages: 8,
            start: 0,
            alignment_shift: 8,
            length: 0x10,
            entries: 0x18,
        },
    };
    ChunkTables {
        collector: Collector::Coloured(coloured),
        ..layout()
    }
}

/// The scene under ZGC, with a stale reference to the chunk at `offset` of the heap.
fn stale(offset: usize) -> Scene {
    let mut s = resumed();
    let base = OBJECTS & !OFFSETS;
    let coloured =
        |address: usize, remapped: usize| address << (13 + remapped.ilog2()) | remapped << 12;
    for (at, word) in [
        (0, 0xe000),
        (8, 0xa000),
        (0x10, 0xc000),
        (0x18, OFFSETS),
        (0x20, base),
    ] {
        s.image.word_at(ZGC + at, word);
    }
    s.image.word_at(HANDLE, coloured(CARRIER, 1));
    s.image.word_at(CARRIER + 0x20, coloured(CONTINUATION, 1));
    s.image
        .word_at(CONTINUATION + 0x18, coloured(base | offset, 4));
    // The young generation's table names the page at this offset.
    let array = ZGC + 0x1000;
    s.image.word_at(PAGES + 8, array);
    s.image.word_at(PAGES + 0x48, array + 0x100_0000);
    s.image.word_at(array + 8 * (offset >> 21), PAGE);
    s.image.word_at(PAGE, offset & !0x1f_ffff);
    s.image.word_at(PAGE + 8, 3);
    s.image.word_at(PAGE + 0x10, 4);
    for entry in 0..4 {
        s.image.word_at(PAGE + 0x18 + 8 * entry, 0);
    }
    s
}

#[test]
fn stale_reference_is_followed_to_the_new_place() {
    let old = (CHUNK & OFFSETS) ^ 0x2020_0000;
    let mut s = stale(old);
    let number = (old & 0x1f_ffff) >> 3;
    // The number of the object, its new offset, and a bit that says so.
    let entry = number << 46 | (CHUNK & OFFSETS) << 1 | 1;
    for index in 0..4 {
        s.image.word_at(PAGE + 0x18 + 8 * index, entry);
    }
    assert_eq!(walk(&s, zgc()).0.heap, HeapFrames::Whole);
    // The page's table is not one.
    s.image.word_at(PAGE + 0x10, 3);
    assert_cut(&s, zgc(), HeapFailure::Stale);
}

#[test]
fn object_that_has_not_moved_yet_is_read_where_it_is() {
    let s = stale(CHUNK & OFFSETS);
    assert_eq!(walk(&s, zgc()).0.heap, HeapFrames::Whole);
}

#[test]
fn damage_neither_panics_nor_runs_away() {
    let mut s = stale(CHUNK & OFFSETS);
    for seed in 0..4_000 {
        s.image.faults = 1 + seed % 60;
        s.image.seed.set(seed * 77_777 + 1);
        let (walk, frames) = walk(&s, zgc());
        assert!(walk.frames <= 16 && frames.len() == walk.frames);
    }
}
