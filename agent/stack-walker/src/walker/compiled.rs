//! Frames of compiled code.

use super::chunks::YIELD_METHOD;
use super::{
    ActiveWalk, Frame, FrameExit, MAX_FRAME, MAX_SAVED_WORDS, NATIVE_BCI, Step, called, failed,
};
use crate::arch::frame_state::{Arch, Caller, CompiledCode, FrameState};
use crate::code_cache::{Blob, BlobKind, resolve};
use crate::debug_info::{PcDesc, Scopes};
use crate::frame::FrameKind;
use crate::memory::Memory;
use crate::method::ValidMethod;
use crate::outcome::{End, Failure};

/// Methods inlined into one call at most.
const MAX_INLINED: usize = 128;
/// Bytes of the deoptimization handler's code.
const DEOPT_HANDLER: usize = 32;
/// Bytes, at most, of the stub by which a compiled call reaches code that it does not name.
const CALL_STUB: usize = 40;

impl<M: Memory, A: Arch> ActiveWalk<'_, M, A> {
    pub(super) fn compiled(&mut self, frame: Frame, blob: &Blob) -> Step {
        let method = self.load(blob.start.wrapping_add(self.tables.nmethod.method))?;
        let Some(method) = self.method(method) else {
            return failed(Failure::Method);
        };
        if blob.kind == BlobKind::NativeWrapper {
            self.note(&method, NATIVE_BCI, FrameKind::Native)?;
            if self.is_virtual(&method, b"enterSpecial") {
                return self.continuation_entry(frame, blob);
            }
            self.is_blocking = self.count == 1 && self.is_virtual(&method, YIELD_METHOD);
            if self.is_blocking {
                // The frames above may be gone or in the heap: what a search finds is not the caller.
                return self.known_caller(frame, blob);
            }
            return self.caller(frame, blob);
        }
        let handlers = self.deopt_handlers(blob)?;
        let mut pc = frame.pc;
        let inside = |at: usize| (at..at.wrapping_add(DEOPT_HANDLER)).contains(&pc);
        if frame.exit == FrameExit::Signal && handlers.into_iter().any(inside) {
            return failed(Failure::Deoptimization);
        }
        if frame.exit != FrameExit::Signal && handlers.contains(&pc) {
            // The return address was replaced; the frame keeps the real one.
            let offset = self
                .memory
                .u32(blob.start.wrapping_add(self.tables.nmethod.orig_pc))
                .ok_or(End::Failed(Failure::Fault))?;
            pc = self.stack(frame.sp.wrapping_add(offset as usize))?;
        }
        let described = self.described(blob, pc, frame.exit);
        if described.is_none()
            && let Some(call) = self.call_stub(frame, blob)
        {
            return Ok(called(call));
        }
        self.note_scopes(&method, blob, described, frame.exit)?;
        self.caller(frame, blob)
    }

    /// Whether this is the method `name` of the JDK's continuations. Asked for native wrappers only.
    pub(super) fn is_virtual(&self, method: &ValidMethod, name: &[u8]) -> bool {
        self.tables.virtual_threads && self.tables.is_named(self.memory, method.method, name)
    }

    /// Whether `pc` is one that a return address into this code was replaced by.
    pub(super) fn is_deopt_handler(&self, blob: &Blob, pc: usize) -> bool {
        self.deopt_handlers(blob)
            .is_ok_and(|handlers| handlers.contains(&pc))
    }

    /// Where calls return to when the frame is to be rebuilt: other calls, and those by method
    /// handles (0 = the code has none).
    fn deopt_handlers(&self, blob: &Blob) -> Result<[usize; 2], End> {
        let at = |field| resolve(self.memory, blob.start, blob.code, field);
        let nmethod = &self.tables.nmethod;
        let handler = at(nmethod.deopt_handler).ok_or(End::Failed(Failure::Fault))?;
        let by_handle = nmethod.deopt_mh_handler.and_then(at);
        Ok([handler, by_handle.unwrap_or(0)])
    }

    /// The description of the code at `pc`, with the tables that it is in.
    pub(super) fn described(
        &self,
        blob: &Blob,
        pc: usize,
        exit: FrameExit,
    ) -> Option<(Scopes, PcDesc)> {
        // A description belongs to the end of an instruction; the interrupted one has not ended.
        let wanted = if exit == FrameExit::Signal {
            pc.wrapping_add(1)
        } else {
            pc
        };
        let scopes = Scopes::of(self.tables, self.memory, blob)?;
        let desc = scopes.at_or_behind(self.memory, wanted)?;
        let is_usable = desc.scope != 0 && (desc.exact || exit != FrameExit::Call);
        is_usable.then_some((scopes, desc))
    }

    /// The call whose stub is interrupted: code in the same block, by which the call reaches what
    /// it does not name itself. The called method is not known there.
    #[inline(never)]
    fn call_stub(&self, frame: Frame, blob: &Blob) -> Option<Caller> {
        if frame.exit != FrameExit::Signal {
            return None;
        }
        let caller = self.frameless(frame)?;
        let entered = self.call_target(caller.pc)?;
        let is_here = (blob.code..blob.end).contains(&caller.pc)
            && frame.pc.wrapping_sub(entered) < CALL_STUB;
        (is_here && self.is_call_site(&caller)).then_some(caller)
    }

    /// Notes the methods inlined there, innermost first.
    fn note_scopes(
        &mut self,
        outer: &ValidMethod,
        blob: &Blob,
        described: Option<(Scopes, PcDesc)>,
        exit: FrameExit,
    ) -> Result<(), End> {
        let Some((scopes, desc)) = described else {
            if exit == FrameExit::Call {
                return failed(Failure::Scope);
            }
            return self.note(outer, -1, self.own_kind(blob));
        };
        if let Some(site) = self.cached_site(desc.pc) {
            return self.note_cached(&site);
        }
        self.note_hint(desc.pc, blob.start);
        self.decoded = self.decoded.wrapping_add(1);
        let own_kind = self.own_kind(blob);
        let first = self.count;
        let mut offset = desc.scope;
        let mut innermost = 0;
        for depth in 0..MAX_INLINED {
            let scope = scopes.scope(self.memory, offset, self.tables.unsigned5_excluded);
            let inlined = scope.and_then(|scope| Some((scope, self.method(scope.method)?)));
            let Some((scope, method)) = inlined else {
                return if depth == 0 && exit != FrameExit::Call {
                    self.note(outer, -1, own_kind)
                } else {
                    failed(Failure::Scope)
                };
            };
            if depth == 0 {
                innermost = method.method;
            }
            let kind = if scope.sender == 0 {
                own_kind
            } else {
                FrameKind::Inlined
            };
            self.note(&method, scope.bci, kind)?;
            if scope.sender == 0 {
                let _too_many_methods = self.remember(desc.pc, first, innermost, blob);
                return Ok(());
            }
            // A caller is described before those inlined into it.
            if scope.sender >= offset {
                return failed(Failure::Scope);
            }
            offset = scope.sender;
        }
        failed(Failure::Scope)
    }

    /// What the code at `blob` was compiled by.
    fn own_kind(&self, blob: &Blob) -> FrameKind {
        let level = self
            .memory
            .u8(blob.start.wrapping_add(self.tables.nmethod.comp_level));
        if level == Some(4) {
            FrameKind::C2
        } else {
            FrameKind::C1
        }
    }

    /// The caller of a compiled frame.
    pub(super) fn caller(&self, frame: Frame, blob: &Blob) -> Step {
        match self.known_caller(frame, blob) {
            Err(End::Failed(Failure::Caller)) => self.searched(frame, blob),
            known => known,
        }
    }

    /// The same, only by the frame's size and state.
    fn known_caller(&self, frame: Frame, blob: &Blob) -> Step {
        let next = match frame.exit {
            FrameExit::Call => return self.complete(frame, blob.frame_size),
            FrameExit::LeafCall => self.above_arguments(frame, blob),
            FrameExit::Signal => match self.build(blob) {
                FrameState::Open(caller) => Some(called(caller)),
                FrameState::Complete => self.above_arguments(frame, blob),
                FrameState::Unknown => None,
            },
        };
        let known = next.filter(|next| self.can_call(&next.caller(), blob));
        known.ok_or(End::Failed(Failure::Caller))
    }

    /// The caller of a complete frame below which arguments of a stub may lie.
    fn above_arguments(&self, frame: Frame, blob: &Blob) -> Option<Frame> {
        let words = A::pushed(self.memory, frame.pc);
        let sp = frame.sp.wrapping_add(words.wrapping_mul(8));
        self.complete(Frame { sp, ..frame }, blob.frame_size).ok()
    }

    /// Where the method's code begins, behind the check of the receiver's class.
    pub(super) fn verified_entry(&self, blob: &Blob) -> Option<usize> {
        let field = self.tables.nmethod.verified_entry;
        resolve(self.memory, blob.start, blob.code, field)
    }

    fn build(&self, blob: &Blob) -> FrameState {
        let entry = self.verified_entry(blob);
        let offset = self
            .memory
            .u16(blob.start.wrapping_add(self.tables.blob.frame_complete));
        let (Some(entry), Some(offset)) = (entry, offset) else {
            return FrameState::Unknown;
        };
        let complete = blob.code.wrapping_add(usize::from(offset));
        A::build(
            self.memory,
            &CompiledCode {
                entry,
                complete,
                frame_size: blob.frame_size,
            },
            &self.thread.registers,
        )
    }

    /// The caller of a complete frame.
    pub(super) fn complete(&self, frame: Frame, size: usize) -> Step {
        if !(16..=MAX_FRAME).contains(&size) {
            return failed(Failure::Compiled);
        }
        let sp = frame.sp.wrapping_add(size);
        let pc = A::plain(self.stack(sp.wrapping_sub(8))?);
        let fp_slot = sp.wrapping_sub(16);
        Ok(Frame {
            pc,
            sp,
            fp: self.region.linked(fp_slot, self.stack(fp_slot)?),
            exit: FrameExit::Call,
        })
    }

    /// A frame on which a slow path has pushed registers, or whose first instructions are unknown:
    /// the return address is where one fits exactly.
    #[inline(never)]
    fn searched(&self, frame: Frame, blob: &Blob) -> Step {
        if frame.exit == FrameExit::Signal
            && let Some(caller) = A::frameless(self.memory, &self.thread.registers)
            && self.can_call(&caller, blob)
        {
            return Ok(called(caller));
        }
        for words in 0..MAX_SAVED_WORDS {
            let moved = Frame {
                sp: frame.sp.wrapping_add(words.wrapping_mul(8)),
                ..frame
            };
            let next = self.complete(moved, blob.frame_size)?;
            if self.tables.in_code_cache(next.pc) && self.can_call(&next.caller(), blob) {
                return Ok(next);
            }
        }
        failed(Failure::Compiled)
    }
}
