//! Stubs, native code that Java calls without a record, and the frame in which the VM calls Java.

use super::{
    ActiveWalk, Frame, FrameExit, MAX_FRAME, MAX_SAVED_WORDS, Step, called, called_natively,
    failed, is_within,
};
use crate::arch::frame_state::{Arch, Caller};
use crate::arch::registers::Registers;
use crate::code_cache::{Blob, BlobKind, Code};
use crate::memory::Memory;
use crate::outcome::{End, Failure};

/// Frames of native code that are followed by their frame pointers.
const MAX_NATIVE: usize = 32;
/// Words of native code's frames searched for the call that led there.
const MAX_NATIVE_WORDS: usize = 512;
/// Bytes between the stack pointer and the frame pointer of a stub.
const MAX_STUB_FRAME: usize = 4096;
/// Bytes of arguments that adapters move, as a rule: to save all registers takes more.
const MAX_MOVED: usize = 128;
/// What the stub that compiled methods call at their entry keeps between the saved frame pointer and
/// the return address on x86-64, until the VM writes a stack pointer there.
const ENTRY_BARRIER_WORD: usize = usize::MAX;

impl<M: Memory, A: Arch> ActiveWalk<'_, M, A> {
    #[inline(never)]
    pub(super) fn stub(&mut self, frame: Frame, blob: &Blob) -> Step {
        let sized = self.complete(frame, blob.frame_size).ok();
        if frame.exit == FrameExit::Call {
            return sized.ok_or(End::Failed(Failure::Caller));
        }
        let known = match (frame.exit, blob.kind) {
            (FrameExit::LeafCall, BlobKind::Adapter) => self.adapted(frame).map(called),
            (FrameExit::LeafCall, _) => self.calling_stub(frame, blob),
            (_, BlobKind::Adapter) => self.adapting(frame).map(called),
            _ => None,
        };
        if let Some(next) = known {
            return Ok(next);
        }
        let sp = frame.sp;
        let sized = sized.map(|f| Caller {
            pc: f.pc,
            sp: f.sp,
            fp: f.fp,
        });
        let pushed = self.stack(sp).ok().zip(self.stack(sp.wrapping_add(8)).ok());
        let pushed = pushed.map(|(fp, pc)| Caller {
            pc: A::plain(pc),
            sp: sp.wrapping_add(16),
            fp,
        });
        let guesses = [sized, self.frameless(frame), pushed, self.framed(frame)];
        for caller in guesses.into_iter().flatten() {
            if let Some(next) = self.stub_caller(caller, blob) {
                return Ok(next);
            }
        }
        if let Some(caller) = self.scanned(frame, blob) {
            return Ok(called_natively(caller));
        }
        if let Some(caller) = self.polling(frame) {
            return Ok(called(caller));
        }
        // The stub by which the VM calls Java: on its way in or out.
        self.entry(frame).map_err(|end| {
            if end == End::Root {
                end
            } else {
                End::Failed(Failure::Stub)
            }
        })
    }

    /// The caller of a stub that has called native code, by the frame pointer that it has saved.
    fn calling_stub(&self, frame: Frame, blob: &Blob) -> Option<Frame> {
        let framed = self.framed(frame);
        let framed = framed.filter(|caller| self.calls_into(caller.pc, blob));
        framed.map(called_natively)
    }

    /// The caller of an adapter at a register that it has: the stack pointer before it saves all
    /// registers, or that of the caller above the arguments that it has moved.
    fn adapting(&self, frame: Frame) -> Option<Caller> {
        let at = self.thread.registers.sender_sp;
        let is_saving = at.wrapping_sub(frame.sp) > MAX_MOVED;
        let caller = if is_saving {
            Caller {
                pc: A::plain(self.stack(at).ok()?),
                sp: at.wrapping_add(8),
                fp: frame.fp,
            }
        } else {
            self.at_sender_sp(self.frameless(frame)?)?
        };
        let is_near = is_within(caller.sp, frame.sp, MAX_STUB_FRAME);
        (is_near && self.confirmed(&caller)).then_some(caller)
    }

    /// The same caller at the stack pointer that a register keeps: between the two are arguments.
    pub(super) fn at_sender_sp(&self, caller: Caller) -> Option<Caller> {
        let sp = self.thread.registers.sender_sp;
        is_within(sp, caller.sp, MAX_FRAME).then_some(Caller { sp, ..caller })
    }

    fn stub_caller(&self, caller: Caller, blob: &Blob) -> Option<Frame> {
        if !self.tables.in_code_cache(caller.pc) {
            return None;
        }
        if self.calls_into(caller.pc, blob) {
            return Some(called_natively(caller));
        }
        self.confirmed(&caller).then_some(called(caller))
    }

    /// The caller of an adapter that calls the VM. It has saved all registers, with room between them
    /// for larger ones: what lies there is left from earlier calls.
    #[inline(never)]
    fn adapted(&self, frame: Frame) -> Option<Caller> {
        (0..MAX_SAVED_WORDS)
            .map(|words| frame.sp.wrapping_add(words.wrapping_mul(8)))
            .find_map(|at| A::adapted(|address| self.stack(address).ok(), at))
            .filter(|caller| self.is_call_site(caller))
    }

    /// By the first word above the stack pointer that is the return address of a call into `blob`.
    fn scanned(&self, frame: Frame, blob: &Blob) -> Option<Caller> {
        // Code that has built a frame has saved the caller's frame pointer there.
        let own_frame = if frame.fp.is_multiple_of(8) {
            self.stack(frame.fp).ok()
        } else {
            None
        };
        for words in 0..MAX_SAVED_WORDS {
            let at = frame.sp.wrapping_add(words.wrapping_mul(8));
            let pc = A::plain(self.stack(at).ok()?);
            if !self.calls_into(pc, blob) {
                continue;
            }
            let fp = own_frame
                .filter(|_| (frame.sp..at).contains(&frame.fp))
                .unwrap_or(frame.fp);
            return Some(Caller {
                pc,
                sp: at.wrapping_add(8),
                fp,
            });
        }
        None
    }

    /// The caller of code without a frame of its own, at this frame's stack pointer.
    pub(super) fn frameless(&self, frame: Frame) -> Option<Caller> {
        // The link register is of no use for code that has made a call since.
        let link = if frame.exit == FrameExit::Signal {
            self.thread.registers.link
        } else {
            0
        };
        let registers = Registers {
            sp: frame.sp,
            fp: frame.fp,
            link,
            ..self.thread.registers
        };
        A::frameless(self.memory, &registers)
    }

    /// The caller by the frame pointer, if that can belong to the interrupted code.
    fn framed(&self, frame: Frame) -> Option<Caller> {
        if !is_within(frame.fp, frame.sp, MAX_STUB_FRAME) {
            return None;
        }
        let saved = self.stack(frame.fp).ok()?;
        let mut at = frame.fp.wrapping_add(8);
        let mut pc = self.stack(at).ok()?;
        if pc == ENTRY_BARRIER_WORD {
            at = at.wrapping_add(8);
            pc = self.stack(at).ok()?;
        }
        Some(Caller {
            pc: A::plain(pc),
            sp: at.wrapping_add(8),
            fp: saved,
        })
    }

    /// The compiled code that has polled for a safepoint. While the stub saves its registers, the slot
    /// of its return address is still empty.
    #[inline(never)]
    fn polling(&self, frame: Frame) -> Option<Caller> {
        let caller = self.framed(frame)?;
        let pc = self
            .thread
            .java_thread
            .wrapping_add(self.tables.saved_exception_pc);
        let caller = Caller {
            pc: self.load(pc).ok()?,
            ..caller
        };
        let Code::Blob(blob) = self.tables.code_at(self.memory, caller.pc) else {
            return None;
        };
        if blob.kind != BlobKind::Nmethod {
            return None;
        }
        self.described(&blob, caller.pc, FrameExit::Call)?;
        let above = self.complete(called(caller), blob.frame_size).ok()?;
        self.is_call_site(&above.caller()).then_some(caller)
    }

    /// Native code that Java calls without a record: its frames by their frame pointers, but not
    /// past a call that led out of Java.
    pub(super) fn native(&self, frame: Frame) -> Step {
        let is_return = |c: &Caller| self.call_before(c.pc).is_some() || self.is_call_site(c);
        if let Some(caller) = self.vm_caller(frame).filter(is_return) {
            return Ok(called_natively(caller));
        }
        let chained = self.chained(frame.sp, frame.fp);
        if let Some(caller) = A::frameless(self.memory, &self.thread.registers)
            && self.calls_leaf(caller.pc)
        {
            return Ok(called_natively(caller));
        }
        let limit = chained.map_or(usize::MAX, |caller| caller.sp.wrapping_sub(8));
        for words in 0..MAX_NATIVE_WORDS {
            let at = frame.sp.wrapping_add(words.wrapping_mul(8));
            if at >= limit {
                break;
            }
            let Ok(pc) = self.stack(at) else { break };
            let pc = A::plain(pc);
            if self.tables.in_code_cache(pc) && self.calls_leaf(pc) {
                return Ok(Frame {
                    pc,
                    sp: at.wrapping_add(8),
                    fp: frame.fp,
                    exit: FrameExit::LeafCall,
                });
            }
        }
        let Some(caller) = chained.filter(is_return) else {
            return failed(Failure::Native);
        };
        Ok(called_natively(caller))
    }

    /// Whether the call in front of `pc` leads to native code that Java calls without a record. That
    /// of a native method has one: its return address, met here, is left from an earlier call.
    fn calls_leaf(&self, pc: usize) -> bool {
        let is_native_method = || {
            let code = self.tables.code_at(self.memory, pc);
            matches!(code, Code::Blob(blob) if blob.kind == BlobKind::NativeWrapper)
        };
        self.calls_out(pc) && (self.calls_library(pc) || !is_native_method())
    }

    /// Whether the call in front of `pc` leads into the VM's library.
    fn calls_library(&self, pc: usize) -> bool {
        let target = self.call_target(pc);
        target.is_some_and(|target| self.in_library(target))
    }

    fn in_library(&self, pc: usize) -> bool {
        (self.tables.library.0..self.tables.library.1).contains(&pc)
    }

    /// The first frame in the code cache that frame pointers lead to from `fp` on.
    fn chained(&self, mut below: usize, mut fp: usize) -> Option<Caller> {
        for _ in 0..MAX_NATIVE {
            if fp & 7 != 0 || fp < below {
                return None;
            }
            let saved = self.stack(fp).ok()?;
            let pc = A::plain(self.stack(fp.wrapping_add(8)).ok()?);
            below = fp.wrapping_add(16);
            if self.tables.in_code_cache(pc) {
                return Some(Caller {
                    pc,
                    sp: below,
                    fp: saved,
                });
            }
            fp = saved;
        }
        None
    }

    /// What called the VM's own code from the code cache: that code keeps frame pointers, and what
    /// else lies on the stack below is left from earlier calls. `None` if it cannot be told that
    /// the thread was interrupted there, or in a library function that it called.
    pub(super) fn vm_caller(&self, frame: Frame) -> Option<Caller> {
        let registers = &self.thread.registers;
        if self.in_library(frame.pc) {
            return match A::unframed(self.memory, registers) {
                Some(caller) if self.tables.in_code_cache(caller.pc) => Some(caller),
                Some(caller) => self.chained(caller.sp, caller.fp),
                None => self.chained(frame.sp, frame.fp),
            };
        }
        let chained = self.chained(frame.sp, frame.fp)?;
        let is_leaf = || {
            let caller = A::frameless(self.memory, registers)?;
            // What is no address of the library may be none at all: it is not read.
            Some(self.in_library(caller.pc) && A::call_before(self.memory, caller.pc).is_some())
        };
        (is_leaf() == Some(true) || self.calls_library(chained.pc)).then_some(chained)
    }

    /// The frame in which the VM called Java: the Java frames before are in the anchor that it
    /// saved.
    pub(super) fn entry(&mut self, frame: Frame) -> Step {
        let wrapper = self
            .stack(frame.fp.wrapping_sub(self.tables.frame_wrapper))
            .map_err(|_| End::Failed(Failure::Entry))?;
        if wrapper & 7 != 0 || wrapper <= frame.fp || wrapper >= self.thread.stack_high {
            return failed(Failure::Entry);
        }
        let next = self.anchor(wrapper, self.tables.wrapper_anchor, frame.fp)?;
        next.ok_or(End::Root)
    }

    /// The frame in which native code called Java: the same.
    #[inline(never)]
    pub(super) fn upcall(&mut self, frame: Frame, blob: &Blob) -> Step {
        let upcall = self.tables.upcall.ok_or(End::Failed(Failure::Entry))?;
        let offset = self.memory.u32(blob.start.wrapping_add(upcall.data));
        let offset = offset.ok_or(End::Failed(Failure::Fault))? as usize;
        let data = frame.sp.wrapping_add(offset);
        if !is_within(data, frame.sp, MAX_FRAME) {
            return failed(Failure::Entry);
        }
        self.anchor(data, upcall.anchor, frame.sp)?.ok_or(End::Root)
    }
}
