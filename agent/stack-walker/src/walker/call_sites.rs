//! Whether an address is one at which code goes on after a call.

use super::{ActiveWalk, Frame, FrameExit, called};
use crate::arch::frame_state::{Arch, CallInstruction, Caller};
use crate::code_cache::{Blob, BlobKind, Code};
use crate::debug_info::Scopes;
use crate::memory::{Memory, plausible};
use crate::method::Key;

impl<M: Memory, A: Arch> ActiveWalk<'_, M, A> {
    /// Whether Java code can have been called from in front of the caller's pc. An interpreted
    /// caller must have its frame at its frame pointer.
    pub(super) fn is_call_site(&self, caller: &Caller) -> bool {
        let pc = caller.pc;
        // Signal frames leave other described addresses on the stack: where threads were
        // interrupted.
        let is_call = || A::call_before(self.memory, pc).is_some();
        if self.cached_site(pc).is_some() {
            return is_call();
        }
        match self.tables.code_at(self.memory, pc) {
            Code::Interpreter => self.interpreted_method(caller.fp, caller.sp).is_some(),
            Code::CallStub => true,
            Code::Blob(blob) => match blob.kind {
                BlobKind::Nmethod => {
                    let desc = || {
                        Scopes::of(self.tables, self.memory, &blob)?.at_or_behind(self.memory, pc)
                    };
                    is_call() && desc().is_some_and(|desc| desc.exact)
                        || self.is_deopt_handler(&blob, pc)
                }
                BlobKind::NativeWrapper | BlobKind::Continuation | BlobKind::Upcall => true,
                BlobKind::Stub | BlobKind::Adapter | BlobKind::Deoptimization => false,
            },
            Code::Outside => false,
        }
    }

    /// Whether `caller` is a call site, and one whose own frame returns into the code cache: for
    /// guesses, which may meet what an earlier call has left on the stack.
    #[inline(never)]
    pub(super) fn confirmed(&self, caller: &Caller) -> bool {
        if !self.is_call_site(caller) {
            return false;
        }
        let blob = match self.tables.code_at(self.memory, caller.pc) {
            // The caller is in the heap, or native code.
            Code::Blob(Blob {
                kind: BlobKind::Continuation | BlobKind::Upcall,
                ..
            })
            | Code::Interpreter
            | Code::CallStub => return true,
            Code::Blob(blob) => blob,
            // A cached call site whose code was freed since.
            Code::Outside => return false,
        };
        let frame = Frame {
            exit: FrameExit::Call,
            ..called(*caller)
        };
        let above = self.complete(frame, blob.frame_size);
        above.is_ok_and(|above| self.tables.in_code_cache(above.pc))
    }

    /// Whether `caller` is confirmed, and calls the method that `code` belongs to, or what may
    /// lead there: nothing of another name or signature. What an earlier call left on the stack is
    /// a call site, too.
    #[inline(never)]
    pub(super) fn can_call(&self, caller: &Caller, code: &Blob) -> bool {
        self.confirmed(caller)
            && self
                .called_method(caller.pc)
                .is_none_or(|called| self.method_key(code) == Some(called))
    }

    /// The method into whose compiled code the call in front of `pc` leads; `None` if it leads to a
    /// stub, or if that cannot be told.
    fn called_method(&self, pc: usize) -> Option<Key> {
        let target = self.call_target(pc)?;
        let Code::Blob(entered) = self.tables.code_at(self.memory, target) else {
            return None;
        };
        // Behind the entry are the stubs by which this code calls others.
        if entered.kind != BlobKind::Nmethod || target > self.verified_entry(&entered)? {
            return None;
        }
        self.method_key(&entered)
    }

    /// Name and signature of the method that `code` belongs to.
    fn method_key(&self, code: &Blob) -> Option<Key> {
        let method = code.start.wrapping_add(self.tables.nmethod.method);
        self.tables.key_of(self.memory, self.memory.word(method)?)
    }

    /// The call in front of `pc`, if that lies in code.
    pub(super) fn call_before(&self, pc: usize) -> Option<CallInstruction> {
        self.tables.heap_of(self.memory, pc)?;
        A::call_before(self.memory, pc)
    }

    /// Whether the call in front of `pc` goes into `blob`.
    pub(super) fn calls_into(&self, pc: usize, blob: &Blob) -> bool {
        let target = self.call_target(pc);
        target.is_some_and(|target| (blob.code..blob.end).contains(&target))
    }

    /// Whether the call in front of `pc` leads out of the code cache.
    pub(super) fn calls_out(&self, pc: usize) -> bool {
        let target = self.call_target(pc);
        target.is_some_and(|target| !self.tables.in_code_cache(target) && plausible(target))
    }

    /// The address that the call in front of `pc` names, if `pc` lies in code.
    pub(super) fn call_target(&self, pc: usize) -> Option<usize> {
        match self.call_before(pc)? {
            CallInstruction::Target(target) => Some(target),
            CallInstruction::Indirect => None,
        }
    }
}
