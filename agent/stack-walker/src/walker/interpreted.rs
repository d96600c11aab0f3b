//! Frames of the interpreter.

use super::{ActiveWalk, Frame, FrameExit, MAX_FRAME, NATIVE_BCI, Step, called, failed, is_within};
use crate::arch::frame_state::{Arch, Caller};
use crate::code_cache::Code;
use crate::frame::FrameKind;
use crate::memory::Memory;
use crate::method::ValidMethod;
use crate::outcome::{End, Failure};
use crate::tables::{FRAME_METHOD, FRAME_SENDER_SP};

/// Bytes at the beginning of the code that interpreted callers are returned to: then it has its own
/// registers again.
const RETURN_ENTRY: usize = 64;

impl<M: Memory, A: Arch> ActiveWalk<'_, M, A> {
    pub(super) fn interpreted(&mut self, frame: Frame) -> Step {
        if frame.exit == FrameExit::Signal
            && let Some(next) = self.interpreter_edge(frame)?
        {
            return Ok(next);
        }
        if let Some(step) = self.half_built(frame) {
            return step;
        }
        let fp = frame.fp;
        let Some((method, sender_sp)) = self.interpreted_method(fp, frame.sp) else {
            return self.frameless_intrinsic(frame);
        };
        let bci = self.bci(&method, frame)?;
        let next = Frame {
            pc: A::plain(self.stack(fp.wrapping_add(8))?),
            sp: sender_sp,
            fp: self.region.linked(fp, self.stack(fp)?),
            exit: FrameExit::Call,
        };
        self.note(&method, bci, FrameKind::Interpreted)?;
        Ok(next)
    }

    /// The method of the interpreted frame at a frame pointer, and its sender's stack pointer. The
    /// first is followed only if the second can be one.
    pub(super) fn interpreted_method(&self, fp: usize, sp: usize) -> Option<(ValidMethod, usize)> {
        if !is_within(fp, sp, MAX_FRAME) {
            return None;
        }
        let sender_sp = self.sender_sp(fp).ok()?;
        let has_sender = is_within(sender_sp, fp.wrapping_add(8), MAX_FRAME);
        let method = self.stack(fp.wrapping_sub(FRAME_METHOD)).ok()?;
        let method = has_sender.then(|| self.method(method)).flatten()?;
        Some((method, sender_sp))
    }

    /// The interpreter's code for mathematical functions calls a stub without having built a frame.
    fn frameless_intrinsic(&self, frame: Frame) -> Step {
        let caller = self
            .frameless(frame)
            .filter(|caller| frame.exit == FrameExit::LeafCall && self.is_call_site(caller));
        let Some(caller) = caller else {
            return failed(Failure::Interpreter);
        };
        Ok(called(self.at_sender_sp(caller).unwrap_or(caller)))
    }

    /// A frame of which only the first words are there.
    fn half_built(&mut self, frame: Frame) -> Option<Step> {
        let fp = frame.fp;
        if frame.exit == FrameExit::Call || !is_within(fp, frame.sp, self.tables.frame_bcp) {
            return None;
        }
        let in_frame = self
            .stack(fp.wrapping_sub(FRAME_SENDER_SP))
            .ok()
            .filter(|_| fp > frame.sp);
        let above = fp.wrapping_add(16);
        let sp = [in_frame, Some(self.thread.registers.sender_sp)]
            .into_iter()
            .flatten()
            .find(|sp| is_within(*sp, above, MAX_FRAME))
            .unwrap_or(above);
        let caller = Caller {
            pc: A::plain(self.stack(fp.wrapping_add(8)).ok()?),
            sp,
            fp: self.stack(fp).ok()?,
        };
        if !self.confirmed(&caller) {
            return None;
        }
        if frame.exit == FrameExit::Signal
            && let Some(method) = self.method(self.thread.registers.method)
        {
            let bci = if self.tables.is_native(self.memory, method.method) {
                NATIVE_BCI
            } else {
                0
            };
            if let Err(end) = self.note(&method, bci, FrameKind::Interpreted) {
                return Some(Err(end));
            }
        }
        Some(Ok(called(caller)))
    }

    fn bci(&self, method: &ValidMethod, frame: Frame) -> Result<i32, End> {
        if self.tables.is_native(self.memory, method.method) {
            return Ok(NATIVE_BCI);
        }
        let in_register = if frame.exit == FrameExit::Signal {
            self.tables
                .bci(self.memory, method, self.thread.registers.bcp)
        } else {
            None
        };
        if let Some(bci) = in_register {
            return Ok(bci);
        }
        let bcp = self.stack(frame.fp.wrapping_sub(self.tables.frame_bcp))?;
        self.tables
            .bci(self.memory, method, bcp)
            .ok_or(End::Failed(Failure::Interpreter))
    }

    /// Whether the link register still holds what the frame at the frame pointer returns to: the
    /// method has built that frame and called nothing since.
    fn link_is_old(&self, frame: Frame) -> bool {
        let link = self.thread.registers.link;
        let fp = frame.fp;
        let returns_there = || {
            self.stack(fp.wrapping_add(8))
                .is_ok_and(|pc| A::plain(pc) == A::plain(link))
        };
        let is_built = || {
            let (method, _) = self.interpreted_method(fp, frame.sp)?;
            self.bci(&method, frame).ok()
        };
        link != 0 && returns_there() && is_built().is_some()
    }

    /// At the first and last instructions of an interpreted method the frame pointer is its
    /// caller's. Then, and only then, the word at the stack pointer is a return address.
    fn interpreter_edge(&mut self, frame: Frame) -> Result<Option<Frame>, End> {
        let registers = &self.thread.registers;
        let Some(caller) = A::frameless(self.memory, registers) else {
            return Ok(None);
        };
        if !self.is_call_site(&caller) || self.link_is_old(frame) {
            return Ok(None);
        }
        let sender_sp = registers.sender_sp;
        let from_interpreter = matches!(
            self.tables.code_at(self.memory, caller.pc),
            Code::Interpreter
        );
        // A compiled method has returned there, and left its return address a second time, as an
        // adapter does. The register of a method holds anything.
        if frame.pc.wrapping_sub(caller.pc) < RETURN_ENTRY {
            return Ok(None);
        }
        let known = is_within(sender_sp, caller.sp, MAX_FRAME);
        let entering = known
            .then(|| self.tables.method(self.memory, registers.method))
            .flatten();
        let Some(method) = entering else {
            // Leaving: only believed if the caller is not interpreted; else the frame pointer is
            // the better evidence. On x86-64 the register of the method has the sender's stack
            // pointer then.
            let next = Frame {
                pc: caller.pc,
                sp: if is_within(registers.method, caller.sp, MAX_FRAME) {
                    registers.method
                } else {
                    caller.sp
                },
                fp: frame.fp,
                exit: FrameExit::Call,
            };
            return Ok((!from_interpreter).then_some(next));
        };
        let bci = if self.tables.is_native(self.memory, method.method) {
            NATIVE_BCI
        } else {
            0
        };
        self.note(&method, bci, FrameKind::Interpreted)?;
        Ok(Some(Frame {
            pc: caller.pc,
            sp: sender_sp,
            fp: frame.fp,
            exit: FrameExit::Call,
        }))
    }
}
