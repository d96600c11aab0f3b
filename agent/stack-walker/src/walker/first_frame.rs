//! Where a walk begins.

use super::{ActiveWalk, Frame, FrameExit, Step, failed};
use crate::arch::frame_state::Arch;
use crate::arch::registers::Registers;
use crate::code_cache::{Blob, BlobKind, Code};
use crate::memory::Memory;
use crate::outcome::{End, Failure, Top};
use crate::tables::Anchor;

impl<M: Memory, A: Arch> ActiveWalk<'_, M, A> {
    /// The first frame: the interrupted one, or the one that the VM recorded when the thread left
    /// Java.
    pub(super) fn start(&self) -> (Top, Step) {
        let Registers { pc, sp, fp, .. } = self.thread.registers;
        let java_thread = self.thread.java_thread;
        let interrupted = Ok(Frame {
            pc,
            sp,
            fp,
            exit: FrameExit::Signal,
        });
        match self
            .memory
            .word(java_thread.wrapping_add(self.tables.vframe_array_head))
        {
            Some(0) => {}
            Some(_) => return (Top::Stub, failed(Failure::Deoptimization)),
            None => return (Top::Stub, failed(Failure::Fault)),
        }
        let in_code = self.tables.in_code_cache(pc);
        let top = match self.interrupted_code {
            Code::Interpreter => Top::Interpreter,
            Code::Blob(Blob {
                kind: BlobKind::Nmethod | BlobKind::NativeWrapper,
                ..
            }) => Top::Compiled,
            Code::Blob(_) | Code::CallStub => Top::Stub,
            Code::Outside => Top::Native,
        };
        if self.thread.in_java && in_code {
            return (top, interrupted);
        }
        match self.anchor(java_thread, self.tables.thread_anchor, sp) {
            Ok(Some(frame)) => (Top::Anchor, Ok(frame)),
            Ok(None) if in_code || self.thread.in_java => (top, interrupted),
            Ok(None) => (Top::Anchor, Err(End::NoJava)),
            Err(end) => (Top::Anchor, Err(end)),
        }
    }

    /// The frame that an anchor names, `None` if it names none.
    pub(super) fn anchor(
        &self,
        base: usize,
        anchor: Anchor,
        above: usize,
    ) -> Result<Option<Frame>, End> {
        let sp = self.load(base.wrapping_add(anchor.sp))?;
        if sp == 0 {
            return Ok(None);
        }
        if sp & 7 != 0 || sp < above || sp >= self.thread.stack_high {
            return failed(Failure::Entry);
        }
        let pc = match self.load(base.wrapping_add(anchor.pc))? {
            // The word below is the return address of the call that left Java.
            0 => A::plain(self.stack(sp.wrapping_sub(8))?),
            pc => pc,
        };
        let fp = self.load(base.wrapping_add(anchor.fp))?;
        Ok(Some(Frame {
            pc,
            sp,
            fp,
            exit: FrameExit::Call,
        }))
    }
}
