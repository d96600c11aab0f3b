//! From frame to frame: what each step does, and what all kinds of frames share. In the directory
//! are the kinds themselves, `compiled`, `interpreted` and `stubs`, and `chunks`, frames in the heap;
//! `first_frame` is where a walk begins, `call_sites` says whether code can be a caller, `cached` is
//! what earlier walks found, `handlers` are those of other signals.
//!
//! The walk is generic over its loads, so it is compiled into the crate that uses it. What it calls
//! most is marked `#[inline]`, as it would else stay behind the crate boundary; what is rare is
//! marked `#[inline(never)]`, as each kind of walk would else have several copies of it.

mod cached;
mod call_sites;
mod chunks;
mod compiled;
mod first_frame;
mod handlers;
mod interpreted;
mod region;
mod stubs;

use crate::arch::HostArch;
use crate::arch::frame_state::{Arch, Caller};
use crate::arch::registers::Registers;
use crate::cache::WalkCaches;
use crate::cache::prefetch_hints::PrefetchHints;
use crate::code_cache::{BlobKind, Code};
use crate::frame::{CallFrame, FrameKind};
use crate::heap::{ChunkState, ChunkTables, StackChunks, Unmoved};
use crate::memory::{Memory, prefetch};
use crate::method::ValidMethod;
use crate::outcome::{End, Failure, HeapFrames, Top, Walk};
use crate::tables::VmTables;
use core::marker::PhantomData;
use core::ptr;
use region::{HeapPart, Region};

/// Physical frames at most; deeper stacks than the largest array of frames are cut before.
const MAX_STEPS: usize = 4096;
/// Words that slow paths inside compiled code push to save registers: 32 vector registers of 64
/// bytes, and the rest.
const MAX_SAVED_WORDS: usize = 352;
/// Largest frame that is believed.
const MAX_FRAME: usize = 1 << 20;
/// Bytecode index of native methods, as AsyncGetCallTrace writes it.
const NATIVE_BCI: i32 = -3;

/// The thread to walk, as the signal found it.
#[derive(Debug, Clone, Copy)]
pub struct InterruptedThread {
    /// Its registers.
    pub registers: Registers,
    /// First address behind its stack.
    pub stack_high: usize,
    /// Address of its `JavaThread`.
    pub java_thread: usize,
    /// The thread runs Java code, by its own state.
    pub in_java: bool,
    /// The signals that it has blocked, signal 1 in the lowest bit.
    pub blocked_signals: u64,
    /// Where the handlers of this process return to, as the kernel was told: the C library's code
    /// for it. 0 = it cannot be told.
    pub restorer: usize,
    /// A pause of the VM does not wait for the thread: it is in native code, or blocked.
    pub may_be_in_pause: bool,
}

/// A virtual thread that no carrier runs: all its frames are in the heap.
#[derive(Debug, Clone, Copy)]
pub struct UnmountedThread {
    /// Address of its `VirtualThread`.
    pub object: usize,
    /// What [`StackWalker::pauses`] returned before this address was known.
    pub pauses: usize,
}

/// Walks the threads of one VM; see the crate. Made once, outside of handlers, and shared by all of
/// them.
#[derive(Debug)]
pub struct StackWalker<M> {
    tables: VmTables,
    memory: M,
    caches: WalkCaches,
    chunks: Option<StackChunks>,
}

impl<M: Memory> StackWalker<M> {
    /// A walker for the VM that `tables` describe. Wrong tables give wrong frames, but nothing
    /// worse: each word is a checked load.
    pub const fn new(tables: VmTables, memory: M, caches: WalkCaches) -> Self {
        Self {
            tables,
            memory,
            caches,
            chunks: None,
        }
    }

    /// The same walker, which also reads the frames that virtual threads have in the heap.
    #[must_use]
    pub const fn with_chunks(mut self, tables: ChunkTables) -> Self {
        self.chunks = Some(StackChunks::new(tables));
        self
    }

    /// Whether it reads frames in the heap.
    pub fn chunk_state(&self) -> ChunkState {
        self.chunks
            .as_ref()
            .map_or(ChunkState::Unknown, StackChunks::state)
    }

    /// Whether the ids of methods are numbers, which lead to no memory.
    pub const fn has_numbered_ids(&self) -> bool {
        self.tables.method.numbered_ids
    }

    /// The checked loads that it uses.
    pub const fn memory(&self) -> &M {
        &self.memory
    }

    /// Signal-safe: prefetches what a walk of the thread with these hints will probably read, the
    /// walker itself included. Costs so little that it is worth asking before it is known whether
    /// there will be a walk.
    pub fn prefetch(&self, hints: &PrefetchHints) {
        let begin = ptr::from_ref(self).addr();
        for line in 0..size_of::<Self>().div_ceil(64) {
            prefetch(begin.wrapping_add(line.wrapping_mul(64)));
        }
        hints.prefetch(self.caches.call_sites, &self.tables);
    }

    /// Signal-safe: walks `thread` into `frames`, innermost first. `hints` are those of this
    /// thread.
    pub fn walk(
        &self,
        thread: &InterruptedThread,
        hints: &PrefetchHints,
        frames: &mut [CallFrame],
    ) -> Walk {
        self.walk_on::<HostArch>(thread, hints, frames)
    }

    /// Number of pauses of the VM so far; `None` within one, and without [chunks](Self::with_chunks).
    pub fn pauses(&self) -> Option<usize> {
        let chunks = self.chunks.as_ref()?;
        chunks.tables.pauses(&self.memory)
    }

    /// Walks a virtual thread that no carrier runs. If one begins to run it meanwhile, frames may be
    /// missing or wrong: the caller checks the thread's state afterwards, and compares two walks.
    pub fn walk_unmounted(
        &self,
        thread: &UnmountedThread,
        hints: &PrefetchHints,
        frames: &mut [CallFrame],
    ) -> Walk {
        self.walk_unmounted_on::<HostArch>(thread, hints, frames)
    }

    /// As [`StackWalker::walk_unmounted`], for a given architecture.
    pub(crate) fn walk_unmounted_on<A: Arch>(
        &self,
        thread: &UnmountedThread,
        hints: &PrefetchHints,
        frames: &mut [CallFrame],
    ) -> Walk {
        let has_no_stack = InterruptedThread {
            registers: Registers::default(),
            stack_high: 0,
            java_thread: 0,
            in_java: false,
            blocked_signals: 0,
            restorer: 0,
            may_be_in_pause: true,
        };
        self.run::<A>(&has_no_stack, hints, frames, |walk| {
            (Top::Heap, walk.start_in_heap(thread))
        })
    }

    /// As [`StackWalker::walk`], for a given architecture.
    pub(crate) fn walk_on<A: Arch>(
        &self,
        thread: &InterruptedThread,
        hints: &PrefetchHints,
        frames: &mut [CallFrame],
    ) -> Walk {
        let below = self.below_handlers::<A>(thread);
        self.run::<A>(below.as_ref().unwrap_or(thread), hints, frames, |walk| {
            walk.start()
        })
    }

    /// Walks from where `start` says.
    #[inline]
    fn run<'a, A: Arch>(
        &'a self,
        thread: &'a InterruptedThread,
        hints: &'a PrefetchHints,
        frames: &'a mut [CallFrame],
        start: impl FnOnce(&mut ActiveWalk<'_, M, A>) -> (Top, Step),
    ) -> Walk {
        let unmoved = Unmoved::default();
        let mut walk = ActiveWalk {
            tables: &self.tables,
            memory: &self.memory,
            caches: &self.caches,
            chunks: self.chunks.as_ref(),
            hints,
            thread,
            frames,
            count: 0,
            oldest: 0,
            top_count: 0,
            cached: 0,
            decoded: 0,
            interrupted_code: self.tables.code_at(&self.memory, thread.registers.pc),
            region: Region::stack(thread.registers.sp, thread.stack_high),
            heap_part: None,
            unmoved: &unmoved,
            heap_frames: HeapFrames::NotMet,
            entries_passed: 0,
            inner_entry: None,
            is_blocking: false,
            misses_caller: false,
            arch: PhantomData::<A>,
        };
        let (top, start) = start(&mut walk);
        let end = walk.run(start);
        let end = walk.judge_heap(end);
        hints.end(walk.compiled_frames());
        Walk {
            frames: walk.count,
            top_frames: walk.top_count,
            end: if walk.count == 0 && end == End::Root {
                End::NoJava
            } else {
                end
            },
            heap: walk.heap_frames,
            is_switching: walk.is_switching(),
            top,
            cached: walk.cached,
            decoded: walk.decoded,
        }
    }
}

/// How a frame was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrameExit {
    /// By the signal: any instruction.
    Signal,
    /// By a call of Java code, or one that the VM can walk from.
    Call,
    /// By a call of a stub or of native code that the VM keeps no record of.
    LeafCall,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    pc: usize,
    sp: usize,
    fp: usize,
    exit: FrameExit,
}

impl Frame {
    fn caller(&self) -> Caller {
        Caller {
            pc: self.pc,
            sp: self.sp,
            fp: self.fp,
        }
    }
}

/// The next frame, or how the walk ends.
type Step = Result<Frame, End>;

/// One walk and how far it is.
struct ActiveWalk<'a, M, A> {
    tables: &'a VmTables,
    memory: &'a M,
    caches: &'a WalkCaches,
    chunks: Option<&'a StackChunks>,
    hints: &'a PrefetchHints,
    thread: &'a InterruptedThread,
    frames: &'a mut [CallFrame],
    count: usize,
    /// The `Method` of the last of them. An id that is a number does not lead to it.
    oldest: usize,
    /// Methods of the topmost physical frame.
    top_count: usize,
    cached: u32,
    decoded: u32,
    /// What is at the interrupted pc: both the beginning and the first step need it.
    interrupted_code: Code,
    /// The memory of the present frame.
    region: Region,
    /// Set at the first frame in the heap.
    heap_part: Option<HeapPart>,
    unmoved: &'a Unmoved,
    heap_frames: HeapFrames,
    /// Entries of continuations within others that are passed.
    entries_passed: u32,
    /// Entry of the continuation within another one whose frames in the heap are walked.
    inner_entry: Option<usize>,
    /// The first method is the one in which a virtual thread blocks.
    is_blocking: bool,
    /// The same, and the second one is not the one that calls it: frames between are missing.
    misses_caller: bool,
    arch: PhantomData<A>,
}

/// Whether `address` can be in a frame of at most `size` bytes that begins at `low`.
fn is_within(address: usize, low: usize, size: usize) -> bool {
    address.is_multiple_of(8) && address.wrapping_sub(low) < size
}

const fn failed<T>(why: Failure) -> Result<T, End> {
    Err(End::Failed(why))
}

impl<M: Memory, A: Arch> ActiveWalk<'_, M, A> {
    /// Compiled frames met so far.
    fn compiled_frames(&self) -> usize {
        self.cached.saturating_add(self.decoded) as usize
    }

    fn run(&mut self, start: Step) -> End {
        let mut frame = match start {
            Ok(frame) => frame,
            Err(end) => return end,
        };
        for _ in 0..MAX_STEPS {
            let step = self.step(frame);
            if self.top_count == 0 {
                self.top_count = self.count;
            }
            let next = match step {
                Ok(next) if self.is_blocking && self.count == 1 => {
                    match self.moved_to_heap(next.pc) {
                        Some(moved) => Ok(moved),
                        None => self.checked(frame, next),
                    }
                }
                Ok(next) => self.checked(frame, next),
                Err(End::Frozen) if self.may_enter_heap() => self.enter_heap(Some(frame.sp)),
                Err(End::VirtualRoot) if self.count == 1 => match self.blocking() {
                    Some(frame) => Ok(frame),
                    None => self.resumed(),
                },
                Err(end) => Err(end),
            };
            match next {
                Ok(next) => frame = next,
                Err(end) if self.heap_part.is_some() => return self.end_in_heap(end),
                Err(end) => return end,
            }
        }
        End::Failed(Failure::Steps)
    }

    /// The caller `next` of `frame`, if it lies above (rule 3).
    fn checked(&mut self, frame: Frame, next: Frame) -> Step {
        if self.region.is_left_at(next.sp) {
            return self.next_chunk();
        }
        if next.sp > self.region.high || next.sp & 7 != 0 || !higher(frame, next) {
            return failed(Failure::Stack);
        }
        Ok(next)
    }

    /// Notes the methods of `frame` and finds its caller.
    fn step(&mut self, frame: Frame) -> Step {
        if frame.exit == FrameExit::Call
            && let Some(site) = self.cached_site(frame.pc)
        {
            self.note_cached(&site)?;
            return self.complete(frame, site.frame_size as usize);
        }
        let code = if frame.exit == FrameExit::Signal {
            self.interrupted_code
        } else {
            self.tables.code_at(self.memory, frame.pc)
        };
        match code {
            Code::Interpreter => self.interpreted(frame),
            Code::CallStub => self.entry(frame),
            Code::Blob(blob) => match blob.kind {
                BlobKind::Nmethod | BlobKind::NativeWrapper => self.compiled(frame, &blob),
                BlobKind::Continuation => Err(End::Frozen),
                BlobKind::Upcall if frame.exit == FrameExit::Call => self.upcall(frame, &blob),
                BlobKind::Deoptimization if frame.exit == FrameExit::Signal => {
                    failed(Failure::Deoptimization)
                }
                _ => self.stub(frame, &blob),
            },
            Code::Outside if frame.exit == FrameExit::Signal => self.native(frame),
            Code::Outside => failed(Failure::Caller),
        }
    }

    fn load(&self, address: usize) -> Result<usize, End> {
        self.memory.word(address).ok_or(End::Failed(Failure::Fault))
    }

    /// A word of the stack, or of the stack chunk in which the walk is: rule 1.
    fn stack(&self, address: usize) -> Result<usize, End> {
        let Region { low, high, .. } = self.region;
        if address & 7 != 0 || address < low || address >= high {
            return failed(Failure::Stack);
        }
        self.load(address)
    }

    fn note(&mut self, method: &ValidMethod, bci: i32, kind: FrameKind) -> Result<(), End> {
        let Some(next) = self.frames.get_mut(self.count) else {
            return Err(End::Full);
        };
        let has_no_index = method.obsolete && bci >= 0;
        *next = CallFrame {
            bci: if has_no_index { -1 } else { bci },
            kind: kind as u32,
            method: ptr::with_exposed_provenance_mut(method.id),
        };
        self.pass(method.method);
        Ok(())
    }

    /// Counts a frame that was noted, of the `Method` at this address.
    fn pass(&mut self, method: usize) {
        if let Some(part) = &mut self.heap_part
            && part.stack_count == self.count
        {
            part.newest = method;
        }
        if self.count == 1 && self.is_blocking {
            self.misses_caller = !self.is_resting(method);
        }
        self.oldest = method;
        self.count = self.count.wrapping_add(1);
    }
}

/// Rule 3. Code that was interrupted before it built a frame has none of its own where a link
/// register holds the return address.
fn higher(frame: Frame, next: Frame) -> bool {
    next.sp > frame.sp || (next.sp == frame.sp && frame.exit == FrameExit::Signal)
}

fn called(caller: Caller) -> Frame {
    Frame {
        pc: caller.pc,
        sp: caller.sp,
        fp: caller.fp,
        exit: FrameExit::Call,
    }
}

/// The caller of native code.
fn called_natively(caller: Caller) -> Frame {
    Frame {
        exit: FrameExit::LeafCall,
        ..called(caller)
    }
}
