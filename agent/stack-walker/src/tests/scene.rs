//! A made-up VM: code heap, compiled methods, debug information, classes and a stack, laid out in a
//! sparse memory.

use crate::arch::frame_state::Arch;
use crate::arch::registers::Registers;
use crate::arch::x86_64::X86_64;
use crate::cache::method_ids::{MethodIdBucket, MethodIdCache};
use crate::cache::prefetch_hints::PrefetchHints;
use crate::cache::{WalkCaches, call_sites};
use crate::frame::{CallFrame, FrameKind};
use crate::memory::{Memory, plausible};
use crate::outcome::Walk;
use crate::tables::{
    AddressField, Anchor, BlobLayout, CodeHeap, MethodLayout, NmethodLayout, VmTables,
};
use crate::walker::{InterruptedThread, StackWalker};
use core::cell::Cell;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::vec::Vec;

/// Bytes at addresses; everything else is not there.
#[derive(Default)]
pub(super) struct Image {
    bytes: BTreeMap<usize, u8>,
    /// One load in this many goes wrong; 0 = none.
    pub(super) faults: u64,
    pub(super) seed: Cell<u64>,
    /// Loads of addresses that belong to no part of the scene.
    pub(super) strays: Cell<u32>,
}

impl Image {
    pub(super) fn put(&mut self, at: usize, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            self.bytes.insert(at + i, *byte);
        }
    }

    pub(super) fn word_at(&mut self, at: usize, value: usize) {
        self.put(at, &value.to_le_bytes());
    }

    pub(super) fn u32_at(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    pub(super) fn u16_at(&mut self, at: usize, value: u16) {
        self.put(at, &value.to_le_bytes());
    }

    /// A random number for a load that goes wrong.
    pub(super) fn wrong(&self) -> Option<u64> {
        let next = self
            .seed
            .get()
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.seed.set(next);
        (self.faults != 0 && (next >> 33).is_multiple_of(self.faults)).then_some(next >> 13)
    }
}

impl Memory for &Image {
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
        if !any && plausible(address) && !is_mapped(address) {
            self.strays.set(self.strays.get() + 1);
        }
        any.then_some(usize::from_le_bytes(word))
    }
}

pub(super) const HEAP: usize = 0x7f00_0000_0000;
/// Where the heap says how much of it is mapped.
const HEAP_END: usize = 0x7f10_0000_0000;
pub(super) const SEGMENTS: usize = 0x7e00_0000_0000;
pub(super) const STACK: usize = 0x7d00_0000_0000;
pub(super) const STACK_HIGH: usize = STACK + 0x1_0000;
pub(super) const META: usize = 0x7c00_0000_0000;
pub(super) const THREAD: usize = 0x7b00_0000_0000;
pub(super) const CALL_STUB_RETURN: usize = HEAP + 0x100;
pub(super) const INTERPRETER: (usize, usize) = (HEAP + 0x1000, HEAP + 0x2000);
pub(super) const SEGMENT_SHIFT: u32 = 7;

/// Whether a part of the scene is there.
fn is_mapped(address: usize) -> bool {
    [
        (HEAP, 24),
        (SEGMENTS, 16),
        (STACK, 16),
        (META, 28),
        (THREAD, 12),
    ]
    .into_iter()
    .any(|(start, bits)| (address ^ start) >> bits == 0)
}

pub(super) fn tables() -> VmTables {
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
        saved_exception_pc: 0x18,
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
            code: AddressField::FromBlob(20),
        },
        nmethod: NmethodLayout {
            method: 24,
            compile_id: 80,
            comp_level: 32,
            orig_pc: 36,
            verified_entry: AddressField::FromCode(40),
            deopt_handler: AddressField::FromBlob(44),
            deopt_mh_handler: Some(AddressField::FromBlob(84)),
            pcs: AddressField::Pointer(48),
            pcs_end: AddressField::Pointer(56),
            scopes: AddressField::Pointer(64),
            metadata: AddressField::Pointer(72),
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
            numbered_ids: false,
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
        end: HEAP_END,
        segments: SEGMENTS,
        segment_shift: SEGMENT_SHIFT,
    };
    t
}

/// A method with the given number; answers its address. Its id is [`id`].
pub(super) fn method(image: &mut Image, number: usize) -> usize {
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

pub(super) fn id(number: usize) -> usize {
    META + number * 0x1000 + 0x900
}

/// What a made-up nmethod has.
pub(super) struct Compiled<'a> {
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

pub(super) const HEADER: usize = 0x100;

/// Lays an nmethod out; answers where its code begins.
pub(super) fn nmethod(image: &mut Image, n: &Compiled<'_>) -> usize {
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

/// The stub that the oldest frame on the stack of a resumed virtual thread returns to; answers an
/// address in it.
pub(super) fn return_barrier(image: &mut Image, number: usize) -> usize {
    let method = method(image, number);
    code_named(
        image,
        0xc000,
        0,
        method,
        b"StubRoutines (continuation stubs)\0",
    )
}

/// The compiled wrapper of a native method, with a frame of four words; answers an address at which
/// its frame is complete.
pub(super) fn native_wrapper(image: &mut Image, number: usize, name: &[u8]) -> usize {
    let method = method(image, number);
    name_method(image, number, name);
    code_named(image, 0x1_0000, 4, method, b"native nmethod\0")
}

/// Code of the VM that has called a function of it; answers the address to which that returns.
pub(super) fn stub(image: &mut Image, number: usize, name: &[u8]) -> usize {
    let method = method(image, number);
    let at = code_named(image, 0x1_4000, 0, method, name);
    call(image, at, at - 0x1000_0000);
    at
}

/// Code of another kind than compiled Java, which its name says; answers an address in it.
fn code_named(image: &mut Image, at: usize, frame_words: u32, method: usize, name: &[u8]) -> usize {
    let code = nmethod(
        image,
        &Compiled {
            at,
            frame_words,
            method,
            pcs: &[],
            scopes: &[],
            metadata: &[],
            code: &[0x90; 16],
            frame_complete: 0,
        },
    );
    let text = META + 0x200_0000 + at;
    image.put(text, name);
    image.word_at(code - HEADER, text);
    code + 8
}

/// Gives method `number` a name.
pub(super) fn name_method(image: &mut Image, number: usize, name: &[u8]) {
    let base = META + number * 0x1000;
    let symbol_at = base + 0xa00;
    image.u16_at(base + 0x100 + 34, 3);
    image.word_at(base + 0x200 + 72 + 3 * 8, symbol_at);
    symbol(image, symbol_at, name);
}

/// A symbol of the VM.
pub(super) fn symbol(image: &mut Image, at: usize, text: &[u8]) {
    image.u16_at(at + 4, text.len() as u16);
    image.put(at + 6, text);
}

/// Two compiled methods, the outer one with an inlined one, called by the VM: what every test
/// walks.
pub(super) struct Scene {
    pub(super) image: Image,
    pub(super) tables: VmTables,
    caches: WalkCaches,
    pub(super) hints: PrefetchHints,
    pub(super) inner: usize,
    pub(super) outer_return: usize,
}

pub(super) const SP: usize = STACK + 0x8000;

pub(super) fn scene() -> Scene {
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
    // scope at 1: no sender, method 1 of the table, bci 7 (written as 8); each number one more for
    // the excluded zero.
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
    call(&mut image, outer + 0x40, inner);
    image.word_at(HEAP_END, HEAP + 0x10_0000);
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
        caches: WalkCaches {
            call_sites: call_sites::tests::cache(64),
            method_ids: MethodIdCache::new(Box::leak(Box::new(core::array::from_fn::<_, 16, _>(
                |_| MethodIdBucket::default(),
            )))),
        },
        hints: PrefetchHints::default(),
        inner,
        outer_return: outer + 0x40,
    }
}

/// Puts a call of `target` in front of `return_pc`.
pub(super) fn call(image: &mut Image, return_pc: usize, target: usize) {
    image.put(return_pc - 5, &[0xe8]);
    image.u32_at(return_pc - 4, target.wrapping_sub(return_pc) as u32);
}

/// The scene with a call of aarch64: bl.
pub(super) fn call_by_link(s: &mut Scene) {
    s.image.u32_at(s.outer_return - 4, 0x9400_0000);
}

/// The thread of the scene, interrupted in Java code.
pub(super) fn thread_in_java(registers: Registers) -> InterruptedThread {
    InterruptedThread {
        registers,
        stack_high: STACK_HIGH,
        java_thread: THREAD,
        in_java: true,
        blocked_signals: 0,
        restorer: 0,
        may_be_in_pause: false,
    }
}

impl Scene {
    pub(super) fn walk(
        &self,
        pc: usize,
        sp: usize,
        fp: usize,
        depth: usize,
    ) -> (Walk, Vec<CallFrame>) {
        let registers = Registers {
            pc,
            sp,
            fp,
            ..Registers::default()
        };
        self.walk_from::<X86_64>(registers, depth)
    }

    pub(super) fn walk_from<A: Arch>(
        &self,
        registers: Registers,
        depth: usize,
    ) -> (Walk, Vec<CallFrame>) {
        self.walk_thread::<A>(&thread_in_java(registers), depth)
    }

    pub(super) fn walk_thread<A: Arch>(
        &self,
        thread: &InterruptedThread,
        depth: usize,
    ) -> (Walk, Vec<CallFrame>) {
        let mut frames =
            std::vec![CallFrame { bci: 0, kind: 99, method: core::ptr::null_mut() }; depth];
        let walk = self.walker().walk_on::<A>(thread, &self.hints, &mut frames);
        frames.truncate(walk.frames);
        if self.image.faults == 0 {
            assert_eq!(self.image.strays.get(), 0, "loads where nothing is");
        }
        (walk, frames)
    }

    /// A walker that knows nothing of stack chunks.
    pub(super) fn walker(&self) -> StackWalker<&Image> {
        StackWalker::new(self.tables, &self.image, self.caches)
    }
}

/// What the frames say: method id, bytecode index, kind.
pub(super) fn seen(frames: &[CallFrame]) -> Vec<(usize, i32, u32)> {
    frames
        .iter()
        .map(|f| (f.method.addr(), f.bci, f.kind))
        .collect()
}

pub(super) const C2: u32 = FrameKind::C2 as u32;
pub(super) const INLINED: u32 = FrameKind::Inlined as u32;

/// The frames of the scene.
pub(super) fn expected() -> Vec<(usize, i32, u32)> {
    std::vec![(id(1), 7, C2), (id(3), 5, INLINED), (id(2), 3, C2)]
}

/// Where the interpreted method of [`interpreted`] keeps its frame.
/// Gives the methods of the scene ids that are numbers, from `first` on. Answers the frames.
pub(super) fn number_ids(s: &mut Scene, first: usize) -> Vec<(usize, i32, u32)> {
    s.tables.method.numbered_ids = true;
    for number in 1..=3 {
        let ids = META + number * 0x1000 + 0x800;
        s.image.word_at(ids + 3 * 8, first + number);
    }
    // As `expected`, of methods 1, 3 and 2.
    let numbers = [1, 3, 2].into_iter().zip(expected());
    numbers
        .map(|(number, (_, bci, kind))| (first + number, bci, kind))
        .collect()
}

pub(super) const INTERPRETED_FP: usize = SP + 16;

/// The scene with method 1 interpreted at index 9, called by the outer compiled one.
pub(super) fn interpreted() -> Scene {
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
pub(super) fn in_interpreter() -> Registers {
    Registers {
        pc: INTERPRETER.0 + 0x80,
        sp: INTERPRETED_FP - 0x60,
        fp: INTERPRETED_FP,
        ..Registers::default()
    }
}
