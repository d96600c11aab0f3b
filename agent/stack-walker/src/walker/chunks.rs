//! Frames of a virtual thread in its stack chunks.
//!
//! A chunk holds frames as they were on the stack. Two things differ: saved frame pointers and the
//! stack pointers of interpreted frames' senders are distances in words from where they stand, and
//! the oldest frame returns to the next chunk.
//!
//! Objects do not move while this thread is in Java or in the VM: every pause waits for it. While it
//! is in native code or blocked, frames count only if no pause was seen from the first load to the
//! last one.

use super::region::{Chunk, HeapPart, Region};
use super::{ActiveWalk, Frame, FrameExit, Step, UnmountedThread, called_natively, failed};
use crate::arch::frame_state::Arch;
use crate::arch::registers::Registers;
use crate::code_cache::{Blob, BlobKind, Code};
use crate::heap::{ChunkState, Heap, StackChunks};
use crate::memory::Memory;
use crate::outcome::{End, Failure, HeapFailure, HeapFrames};
use core::sync::atomic::Ordering::Relaxed;

/// Chunks of one virtual thread at most.
const MAX_CHUNKS: usize = 64;
/// The newest method of a virtual thread that has left its carrier by itself.
const RESTING_METHOD: &[u8] = b"yield0";
/// The native method that it calls.
pub(super) const YIELD_METHOD: &[u8] = b"doYield";
/// `ContinuationEntry::_parent`, in the frame of `Continuation.enterSpecial`: the entry of the
/// enclosing continuation, 0 = none.
const ENCLOSING_ENTRY: usize = 8;
/// `ContinuationEntry::_cont`: the continuation.
const ENTRY_CONTINUATION: usize = 16;
/// Continuations within one another at most, until their entries are known.
const MAX_LEVELS: u32 = 16;
/// Words of the largest chunk that is believed.
const MAX_CHUNK: usize = 1 << 24;

impl<'a, M: Memory, A: Arch> ActiveWalk<'a, M, A> {
    /// The caller of a continuation that runs within another one; else the walk is over.
    pub(super) fn continuation_entry(&mut self, frame: Frame, blob: &Blob) -> Step {
        if frame.exit != FrameExit::Call {
            return Err(End::VirtualRoot);
        }
        if let Some(chunks) = self.chunks
            && chunks.entry_pc.load(Relaxed) != frame.pc
        {
            chunks.entry_pc.store(frame.pc, Relaxed);
        }
        let has_entries = self.has_entries(frame.sp);
        if self.enclosing(frame.sp).is_none() {
            return Err(End::VirtualRoot);
        }
        if self.count == 1 || !has_entries {
            // The VM moves its frames, or the entry is another one than in the versions known.
            return self.cut(HeapFailure::Object);
        }
        self.entries_passed = self.entries_passed.wrapping_add(1);
        self.caller(frame, blob)
    }

    /// The entry of the continuation within which the one with this entry runs.
    fn enclosing(&self, entry: usize) -> Option<usize> {
        let at = self.stack(entry.wrapping_add(ENCLOSING_ENTRY)).ok()?;
        let above = entry.wrapping_add(8)..self.thread.stack_high;
        (at.is_multiple_of(8) && above.contains(&at)).then_some(at)
    }

    /// Whether the continuation with this entry is known to run within another one.
    fn is_nested(&self, entry: usize) -> bool {
        self.enclosing(entry).is_some() && self.has_entries(entry)
    }

    /// Whether the fields of entries are where they should be: once the outermost one around
    /// `entry` has named the continuation of the virtual thread.
    fn has_entries(&self, entry: usize) -> bool {
        let Some(heap) = self.heap() else {
            return false;
        };
        if heap.chunks.has_entries.load(Relaxed) {
            return true;
        }
        let (mut outermost, mut levels) = (entry, self.entries_passed);
        while let Some(enclosing) = self.enclosing(outermost)
            && levels < MAX_LEVELS
        {
            outermost = enclosing;
            levels = levels.wrapping_add(1);
        }
        let named = heap.continuation_at(outermost.wrapping_add(ENTRY_CONTINUATION));
        let known = heap.continuation(self.thread.java_thread, levels);
        let holds = known.is_ok() && known == named;
        if holds {
            heap.chunks.has_entries.store(true, Relaxed);
        }
        holds
    }

    /// Whether what was not read yet may be in the heap.
    pub(super) fn may_enter_heap(&self) -> bool {
        self.region.chunk.is_none() && !matches!(self.heap_frames, HeapFrames::Cut(_))
    }

    /// From the oldest frame on the stack, which ends at `entry`, to the newest one in the heap.
    pub(super) fn enter_heap(&mut self, entry: Option<usize>) -> Step {
        let Some(heap) = self.heap() else {
            return self.cut(HeapFailure::Off);
        };
        let pauses = match (self.thread.may_be_in_pause, heap.pauses()) {
            (true, None) => return self.cut(HeapFailure::Pause),
            (true, counted) => counted,
            (false, _) => None,
        };
        let continuation = heap.continuation(self.thread.java_thread, self.entries_passed);
        self.inner_entry = entry.filter(|at| continuation.is_err() && self.is_nested(*at));
        let continuation = match self.inner_entry {
            Some(entry) => heap.continuation_at(entry.wrapping_add(ENTRY_CONTINUATION)),
            None => continuation,
        };
        self.enter_chunks_of(continuation, pauses)
    }

    /// The newest frame of a thread that has none on a stack.
    pub(super) fn start_in_heap(&mut self, thread: &UnmountedThread) -> Step {
        let Some(heap) = self.heap() else {
            return self.cut(HeapFailure::Off);
        };
        let continuation = heap.continuation_of(thread.object);
        self.enter_chunks_of(continuation, Some(thread.pauses))
    }

    fn enter_chunks_of(
        &mut self,
        continuation: Result<usize, HeapFailure>,
        pauses: Option<usize>,
    ) -> Step {
        let Some(heap) = self.heap() else {
            return self.cut(HeapFailure::Off);
        };
        // Of a continuation within this one.
        let earlier = self.heap_part;
        self.heap_part = Some(HeapPart {
            stack_count: earlier.map_or(self.count, |part| part.stack_count),
            last_on_stack: earlier.map_or(self.oldest, |part| part.last_on_stack),
            newest: earlier.map_or(0, |part| part.newest),
            chunks_left: MAX_CHUNKS,
            pauses: earlier.map_or(pauses, |part| part.pauses),
        });
        self.enter_chunk(continuation.and_then(|found| heap.newest_chunk(found)))
    }

    /// Whether this is the code by which a virtual thread leaves its carrier.
    fn is_yield(&self, blob: &Blob) -> bool {
        let method = || {
            let nmethod = &self.tables.nmethod;
            self.method(self.memory.word(blob.start.wrapping_add(nmethod.method))?)
        };
        blob.kind == BlobKind::NativeWrapper
            && method().is_some_and(|method| self.is_virtual(&method, YIELD_METHOD))
    }

    /// The frame in which a virtual thread leaves its carrier, while the VM moves the frames above
    /// it: the thread's last recorded frame is the entry already.
    pub(super) fn blocking(&mut self) -> Option<Frame> {
        let Registers { pc, sp, fp, .. } = self.thread.registers;
        if self.tables.in_code_cache(pc) {
            return None;
        }
        let interrupted = Frame {
            pc,
            sp,
            fp,
            exit: FrameExit::Signal,
        };
        let caller = self.vm_caller(interrupted)?;
        match self.tables.code_at(self.memory, caller.pc) {
            Code::Blob(blob) if self.is_yield(&blob) => {
                self.count = 0;
                Some(called_natively(caller))
            }
            _ => None,
        }
    }

    /// Whether no frame was on the stack, and the newest one in the heap is not that in which a
    /// virtual thread rests; or what is on the stack cannot follow each other.
    pub(super) fn is_switching(&self) -> bool {
        if self.misses_caller {
            return true;
        }
        let part = self.heap_part.filter(|part| part.stack_count == 0);
        self.count > 0
            && self.thread.java_thread != 0
            && part.is_some_and(|part| !self.is_resting(part.newest))
    }

    /// Only the entry of a virtual thread is on the stack: the VM is about to run it or has just
    /// moved all its frames to the heap; unless it begins or ends.
    pub(super) fn resumed(&mut self) -> Step {
        self.count = 0;
        let newest = self.enter_heap(None);
        if newest.is_err() {
            self.count = 1;
            self.leave_heap();
            return Err(End::VirtualRoot);
        }
        newest
    }

    /// The caller of the method in which a virtual thread blocks, if the VM has moved it to the
    /// heap already. What is left on the stack does not count then.
    pub(super) fn moved_to_heap(&mut self, caller_pc: usize) -> Option<Frame> {
        let newest = self.enter_heap(None).ok();
        if newest.is_none_or(|frame| frame.pc != caller_pc) {
            self.leave_heap();
            return None;
        }
        newest
    }

    fn leave_heap(&mut self) {
        self.region = Region::stack(self.thread.registers.sp, self.thread.stack_high);
        self.heap_part = None;
        self.heap_frames = HeapFrames::NotMet;
    }

    /// From the oldest frame of a chunk to the newest one of the next chunk.
    pub(super) fn next_chunk(&mut self) -> Step {
        let chunk = self.region.chunk.map_or(0, |chunk| chunk.object);
        let parent = self.heap().map(|heap| heap.parent(chunk));
        self.enter_chunk(parent.unwrap_or(Err(HeapFailure::Off)))
    }

    /// The newest frame of `chunk`, or of its first parent that has one; without any the walk is
    /// over.
    fn enter_chunk(&mut self, chunk: Result<usize, HeapFailure>) -> Step {
        let (Some(heap), Some(mut part)) = (self.heap(), self.heap_part) else {
            return self.cut(HeapFailure::Off);
        };
        let mut next = chunk;
        while part.chunks_left > 0 {
            part.chunks_left = part.chunks_left.wrapping_sub(1);
            self.heap_part = Some(part);
            let chunk = match next {
                Ok(0) => return self.end_of_heap(),
                Ok(chunk) => chunk,
                Err(why) => return self.cut(why),
            };
            match newest_frame::<M, A>(&heap, chunk) {
                Ok(Some((region, frame))) => {
                    self.region = region;
                    return Ok(frame);
                }
                Ok(None) => next = heap.parent(chunk),
                Err(why) => return self.cut(why),
            }
        }
        self.cut(HeapFailure::Object)
    }

    /// The walk ends in the heap for the reason `end`: keeps what is right.
    pub(super) fn end_in_heap(&mut self, end: End) -> End {
        match end {
            End::Frozen | End::Full | End::VirtualRoot => end,
            _ => {
                self.heap_frames = HeapFrames::Cut(HeapFailure::Frame);
                End::Frozen
            }
        }
    }

    /// After the last load: what was read during a pause, or by a layout that is not proven yet,
    /// does not count.
    pub(super) fn judge_heap(&mut self, end: End) -> End {
        let (Some(heap), Some(part)) = (self.heap(), self.heap_part) else {
            return end;
        };
        let paused = part.pauses.is_some() && heap.pauses() != part.pauses;
        let moved = !heap.is_unmoved();
        if paused || moved {
            let why = if paused {
                HeapFailure::Pause
            } else {
                HeapFailure::Stale
            };
            self.heap_frames = HeapFrames::Cut(why);
        }
        match self.heap_frames {
            HeapFrames::Whole => heap.chunks.prove(),
            // A thread that no carrier ran may be on its way.
            HeapFrames::Cut(HeapFailure::Object | HeapFailure::Frame)
                if self.thread.java_thread != 0 =>
            {
                heap.chunks.doubt();
            }
            _ => {}
        }
        if paused || moved || heap.chunks.state() != ChunkState::Proven {
            self.count = part.stack_count;
            return End::Frozen;
        }
        self.drop_stale_frames(part);
        end
    }

    /// Nothing but the method by which it leaves its carrier is called by the frame in which a
    /// virtual thread rests: other frames on the stack are left from an earlier run.
    fn drop_stale_frames(&mut self, part: HeapPart) {
        let is_called = part.stack_count == 0 || self.is_method(part.last_on_stack, YIELD_METHOD);
        if is_called || !self.is_resting(part.newest) {
            return;
        }
        self.misses_caller = false;
        self.frames
            .copy_within(part.stack_count.min(self.count)..self.count, 0);
        self.count = self.count.saturating_sub(part.stack_count);
        self.heap_part = Some(HeapPart {
            stack_count: 0,
            ..part
        });
    }

    /// Whether it is the method in which a virtual thread rests.
    pub(super) fn is_resting(&self, method: usize) -> bool {
        self.is_method(method, RESTING_METHOD)
    }

    fn is_method(&self, method: usize, name: &[u8]) -> bool {
        self.tables.is_named(self.memory, method, name)
    }

    /// No chunk is left: the oldest method must be the root. Below a continuation within another one
    /// the stack goes on.
    fn end_of_heap(&mut self) -> Step {
        let is_root = |heap: Heap<'_, M>| heap.is_root(self.oldest);
        if self.count == 0 || !self.heap().is_some_and(is_root) {
            return self.cut(HeapFailure::Frame);
        }
        self.heap_frames = HeapFrames::Whole;
        match self.inner_entry.take() {
            Some(entry) => self.entry_frame(entry),
            None => Err(End::VirtualRoot),
        }
    }

    /// The frame of `Continuation.enterSpecial` at `entry`.
    fn entry_frame(&mut self, entry: usize) -> Step {
        let pc = self
            .chunks
            .map_or(0, |chunks| chunks.entry_pc.load(Relaxed));
        if pc == 0 {
            return self.cut(HeapFailure::Frame);
        }
        self.region = Region::stack(self.thread.registers.sp, self.thread.stack_high);
        Ok(Frame {
            pc,
            sp: entry,
            fp: 0,
            exit: FrameExit::Call,
        })
    }

    fn cut(&mut self, why: HeapFailure) -> Step {
        self.heap_frames = HeapFrames::Cut(why);
        Err(End::Frozen)
    }

    /// `None` if the layout of chunks is unknown or refused.
    fn heap(&self) -> Option<Heap<'a, M>> {
        let known = |chunks: &&StackChunks| chunks.state() != ChunkState::Refused;
        self.chunks.filter(known).map(|chunks| Heap {
            chunks,
            tables: self.tables,
            memory: self.memory,
            unmoved: self.unmoved,
        })
    }

    /// The stack pointer of an interpreted frame's caller. The oldest frame of a chunk has none: its
    /// locals reach to the chunk's end.
    pub(super) fn sender_sp(&self, fp: usize) -> Result<usize, End> {
        let slot = fp.wrapping_sub(crate::tables::FRAME_SENDER_SP);
        let saved = self.stack(slot)?;
        let Some(chunk) = self.region.chunk else {
            return Ok(saved);
        };
        let locals_slot = fp.wrapping_sub(self.tables.frame_bcp).wrapping_add(8);
        let locals = fp.wrapping_add(self.stack(locals_slot)?.wrapping_mul(8));
        if locals.wrapping_add(8) >= chunk.end {
            return Ok(chunk.end);
        }
        let sp = fp.wrapping_add(saved.wrapping_mul(8));
        if sp > self.region.high {
            return failed(Failure::Interpreter);
        }
        Ok(sp)
    }
}

/// The newest frame of a chunk, `None` if it is empty.
fn newest_frame<M: Memory, A: Arch>(
    heap: &Heap<'_, M>,
    chunk: usize,
) -> Result<Option<(Region, Frame)>, HeapFailure> {
    heap.check_chunk(chunk)?;
    let layout = &heap.chunks.tables.chunk;
    let size = heap.words(chunk, layout.size)?;
    let sp = heap.words(chunk, layout.sp)?;
    let bottom = heap.words(chunk, layout.bottom)?;
    if size > MAX_CHUNK || bottom > size || sp > bottom {
        return Err(HeapFailure::Object);
    }
    if sp == bottom {
        return Ok(None);
    }
    let at = |words: usize| {
        let stack = chunk.wrapping_add(layout.stack);
        stack.wrapping_add(words.wrapping_mul(8))
    };
    if sp < 2 {
        return Err(HeapFailure::Object);
    }
    let region = Region {
        low: at(0),
        high: at(size),
        chunk: Some(Chunk {
            object: chunk,
            end: at(bottom),
        }),
    };
    let (pc_slot, fp_slot) = (at(sp).wrapping_sub(8), at(sp).wrapping_sub(16));
    let pc = A::plain(heap.word(pc_slot)?);
    // They differ while the VM takes the newest frames out.
    if pc != A::plain(heap.word(chunk.wrapping_add(layout.pc))?) {
        return Err(HeapFailure::Frame);
    }
    let fp = region.linked(fp_slot, heap.word(fp_slot)?);
    let frame = Frame {
        pc,
        sp: at(sp),
        fp,
        exit: FrameExit::Call,
    };
    Ok(Some((region, frame)))
}
