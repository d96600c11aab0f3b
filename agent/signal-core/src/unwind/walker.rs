//! From frame to frame.

use super::arch::{Arch, Build, CallSite, Caller, Here, Method, Registers};
use super::code::{Blob, BlobKind, Code, place_at};
use super::method::ValidMethod;
use super::scopes::Scopes;
use super::sites::{MOST, Site};
use super::tables::{Anchor, FRAME_METHOD, FRAME_SENDER_SP, VmTables};
use super::{End, Failure, Known, Top, Walk};
use crate::checked::Memory;
use crate::slots::{CallFrame, FrameKind};
use core::marker::PhantomData;
use core::ptr;

/// Physical frames at most; deeper stacks than the largest array of frames are cut before.
const MAX_STEPS: usize = 2048;
/// Methods inlined into one call at most.
const MAX_INLINED: usize = 128;
/// Frames of native code followed by their frame pointers.
const MAX_NATIVE: usize = 32;
/// Words of native code's frames searched for the call that led there.
const MAX_NATIVE_WORDS: usize = 512;
/// Bytes between the stack pointer and the frame pointer of a stub.
const MAX_STUB_FRAME: usize = 4096;
/// Words that slow paths inside compiled code push to save registers: 32 vector registers of 64 bytes, and the rest.
const MAX_SAVED_WORDS: usize = 352;
/// Largest frame that is believed.
const MAX_FRAME: usize = 1 << 20;
/// Bytes of the deoptimization handler's code.
const DEOPT_HANDLER: usize = 32;
/// Bytecode index of native methods, as AsyncGetCallTrace writes it.
const NATIVE_BCI: i32 = -3;

/// What a walk begins with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input {
    pub(crate) registers: Registers,
    /// First address behind the stack.
    pub(crate) stack_high: usize,
    pub(crate) java_thread: usize,
    /// The thread runs Java code, by its own state.
    pub(crate) in_java: bool,
}

/// How a frame was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
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
    left: Left,
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

type Step = Result<Frame, End>;

struct Walker<'a, M, A> {
    tables: &'a VmTables,
    memory: &'a M,
    input: &'a Input,
    frames: &'a mut [CallFrame],
    count: usize,
    /// Methods of the topmost physical frame.
    top_count: usize,
    past: &'a Known,
    known: u32,
    decoded: u32,
    arch: PhantomData<A>,
}

/// Signal-safe: walks the thread that `input` describes into `frames`.
pub(crate) fn walk(
    tables: &VmTables,
    memory: &impl Memory,
    past: &Known,
    input: &Input,
    frames: &mut [CallFrame],
) -> Walk {
    walk_on::<Here>(tables, memory, past, input, frames)
}

/// As [`walk`], for a given processor.
pub(super) fn walk_on<A: Arch>(
    tables: &VmTables,
    memory: &impl Memory,
    past: &Known,
    input: &Input,
    frames: &mut [CallFrame],
) -> Walk {
    let mut walker = Walker {
        tables,
        memory,
        input,
        frames,
        count: 0,
        top_count: 0,
        past,
        known: 0,
        decoded: 0,
        arch: PhantomData::<A>,
    };
    let (top, start) = walker.start();
    let end = walker.run(start);
    let end = if walker.count == 0 && end == End::Root {
        End::NoJava
    } else {
        end
    };
    Walk {
        frames: walker.count,
        top_frames: walker.top_count,
        end,
        top,
        known: walker.known,
        decoded: walker.decoded,
    }
}

const fn failed<T>(why: Failure) -> Result<T, End> {
    Err(End::Failed(why))
}

impl<M: Memory, A: Arch> Walker<'_, M, A> {
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
            match step {
                // Rule 3.
                Ok(next)
                    if next.sp > self.input.stack_high
                        || next.sp & 7 != 0
                        || !higher(frame, next) =>
                {
                    return End::Failed(Failure::Stack);
                }
                Ok(next) => frame = next,
                Err(end) => return end,
            }
        }
        End::Failed(Failure::Steps)
    }

    /// The first frame: the interrupted one, or the one that the VM noted when it left Java.
    fn start(&self) -> (Top, Step) {
        let Registers { pc, sp, fp, .. } = self.input.registers;
        let thread = self.input.java_thread;
        let interrupted = Ok(Frame {
            pc,
            sp,
            fp,
            left: Left::Signal,
        });
        match self
            .memory
            .word(thread.wrapping_add(self.tables.vframe_array_head))
        {
            Some(0) => {}
            Some(_) => return (Top::Stub, failed(Failure::Deoptimization)),
            None => return (Top::Stub, failed(Failure::Fault)),
        }
        let in_code = self.tables.in_code_cache(pc);
        let top = match self.tables.code_at(self.memory, pc) {
            Code::Interpreter => Top::Interpreter,
            Code::Blob(Blob {
                kind: BlobKind::Nmethod | BlobKind::NativeWrapper,
                ..
            }) => Top::Compiled,
            Code::Blob(_) | Code::CallStub => Top::Stub,
            Code::Outside => Top::Native,
        };
        if self.input.in_java && in_code {
            return (top, interrupted);
        }
        match self.anchor(thread, self.tables.thread_anchor, sp) {
            Ok(Some(frame)) => (Top::Anchor, Ok(frame)),
            Ok(None) if in_code || self.input.in_java => (top, interrupted),
            Ok(None) => (Top::Anchor, Err(End::NoJava)),
            Err(end) => (Top::Anchor, Err(end)),
        }
    }

    /// The frame that an anchor names, `None` if it names none.
    fn anchor(&self, base: usize, anchor: Anchor, above: usize) -> Result<Option<Frame>, End> {
        let sp = self.load(base.wrapping_add(anchor.sp))?;
        if sp == 0 {
            return Ok(None);
        }
        if sp & 7 != 0 || sp < above || sp >= self.input.stack_high {
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
            left: Left::Call,
        }))
    }

    /// Notes the methods of `frame` and finds its caller.
    fn step(&mut self, frame: Frame) -> Step {
        if frame.left == Left::Call
            && let Some(site) = self.known_site(frame.pc)
        {
            self.note_known(&site)?;
            return self.complete(frame, site.frame_size as usize);
        }
        match self.tables.code_at(self.memory, frame.pc) {
            Code::Interpreter => self.interpreted(frame),
            Code::CallStub => self.entry(frame),
            Code::Blob(blob) => match blob.kind {
                BlobKind::Nmethod | BlobKind::NativeWrapper => self.compiled(frame, &blob),
                BlobKind::Continuation if frame.left != Left::Signal => Err(End::Frozen),
                BlobKind::Deoptimization if frame.left == Left::Signal => {
                    failed(Failure::Deoptimization)
                }
                _ => self.stub(frame, &blob),
            },
            Code::Outside if frame.left == Left::Signal => self.native(frame),
            Code::Outside => failed(Failure::Caller),
        }
    }

    // ---- what earlier walks found out

    /// The method at this address, if it is one.
    fn method(&self, method: usize) -> Option<ValidMethod> {
        if let Some(id) = self.past.ids.find(method)
            && self.memory.word(id) == Some(method)
        {
            return Some(ValidMethod { method, id });
        }
        let found = self.tables.method(self.memory, method)?;
        if found.id != 0 {
            self.past.ids.put(method, found.id);
        }
        Some(found)
    }

    /// What is remembered of `pc`, if the code that it was found in is still the one that lies there.
    fn known_site(&self, pc: usize) -> Option<Site> {
        let site = self.past.sites.find(pc)?;
        let at = |offset: usize| site.blob.wrapping_add(offset);
        let same = self.memory.word(at(self.tables.nmethod.method))? == site.method
            && self.memory.u32(at(self.tables.nmethod.compile_id))? == site.compile_id;
        same.then_some(site)
    }

    /// Notes the methods that were found there before.
    fn note_known(&mut self, site: &Site) -> Result<(), End> {
        self.known = self.known.wrapping_add(1);
        for known in site.frames.iter().take(site.count as usize) {
            let Some(place) = self.frames.get_mut(self.count) else {
                return Err(End::Full);
            };
            *place = *known;
            self.count = self.count.wrapping_add(1);
        }
        Ok(())
    }

    /// Keeps what was noted from `first` on, for walks that come here again.
    fn remember(&self, pc: usize, first: usize, blob: &Blob) -> Option<()> {
        let noted = self.frames.get(first..self.count)?;
        // A method gets its id later: then the site is worth remembering.
        if noted.is_empty() || noted.iter().any(|frame| frame.method.is_null()) {
            return None;
        }
        let mut site = Site {
            pc,
            blob: blob.start,
            compile_id: self
                .memory
                .u32(blob.start.wrapping_add(self.tables.nmethod.compile_id))?,
            method: self
                .memory
                .word(blob.start.wrapping_add(self.tables.nmethod.method))?,
            frame_size: u32::try_from(blob.frame_size).ok()?,
            count: u32::try_from(noted.len()).ok()?,
            frames: [*noted.first()?; MOST],
        };
        site.frames.get_mut(..noted.len())?.copy_from_slice(noted);
        self.past.sites.put(&site);
        Some(())
    }

    // ---- interpreter

    fn interpreted(&mut self, frame: Frame) -> Step {
        if frame.left == Left::Signal
            && let Some(next) = self.interpreter_edge(frame)?
        {
            return Ok(next);
        }
        if let Some(step) = self.half_built(frame) {
            return step;
        }
        let fp = frame.fp;
        let near = fp.is_multiple_of(8) && fp.wrapping_sub(frame.sp) < MAX_FRAME;
        let method = if near {
            self.stack(fp.wrapping_sub(FRAME_METHOD)).ok()
        } else {
            None
        };
        let Some(method) = method.and_then(|method| self.method(method)) else {
            return self.frameless_intrinsic(frame);
        };
        let bci = self.bci(&method, frame)?;
        let sender_sp = self.stack(fp.wrapping_sub(FRAME_SENDER_SP))?;
        let next = Frame {
            pc: A::plain(self.stack(fp.wrapping_add(8))?),
            sp: sender_sp,
            fp: self.stack(fp)?,
            left: Left::Call,
        };
        if sender_sp <= fp || sender_sp.wrapping_sub(fp) > MAX_FRAME {
            return failed(Failure::Interpreter);
        }
        self.note(&method, bci, FrameKind::Interpreted)?;
        Ok(next)
    }

    /// The interpreter's code for mathematical functions calls a stub without having built a frame.
    fn frameless_intrinsic(&self, frame: Frame) -> Step {
        let caller = self
            .frameless(frame)
            .filter(|caller| frame.left == Left::LeafCall && self.call_site(caller));
        let Some(caller) = caller else {
            return failed(Failure::Interpreter);
        };
        let sender_sp = self.input.registers.sender_sp;
        let known = sender_sp >= caller.sp && sender_sp.wrapping_sub(caller.sp) < MAX_FRAME;
        let sp = if known { sender_sp } else { caller.sp };
        Ok(called(Caller { sp, ..caller }))
    }

    /// A frame of which only the first words are there.
    fn half_built(&mut self, frame: Frame) -> Option<Step> {
        let fp = frame.fp;
        if frame.left == Left::Call
            || fp & 7 != 0
            || fp.wrapping_sub(frame.sp) >= self.tables.frame_bcp
        {
            return None;
        }
        let in_frame = self
            .stack(fp.wrapping_sub(FRAME_SENDER_SP))
            .ok()
            .filter(|_| fp > frame.sp);
        let above = fp.wrapping_add(16);
        let sp = [in_frame, Some(self.input.registers.sender_sp)]
            .into_iter()
            .flatten()
            .find(|sp| sp.is_multiple_of(8) && sp.wrapping_sub(above) < MAX_FRAME)
            .unwrap_or(above);
        let caller = Caller {
            pc: A::plain(self.stack(fp.wrapping_add(8)).ok()?),
            sp,
            fp: self.stack(fp).ok()?,
        };
        if !self.confirmed(&caller) {
            return None;
        }
        if frame.left == Left::Signal
            && let Some(method) = self.method(self.input.registers.method)
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
        let in_register = if frame.left == Left::Signal {
            self.tables
                .bci(self.memory, method, self.input.registers.bcp)
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

    /// At the first and last instructions of an interpreted method the frame pointer is still, or again, its caller's. Then the word at the stack
    /// pointer is a return address, which the interpreter has there at no other time.
    fn interpreter_edge(&mut self, frame: Frame) -> Result<Option<Frame>, End> {
        let registers = &self.input.registers;
        let Some(caller) = A::frameless(self.memory, registers) else {
            return Ok(None);
        };
        if !self.call_site(&caller) {
            return Ok(None);
        }
        let sender_sp = registers.sender_sp;
        let known = (caller.sp..caller.sp.wrapping_add(MAX_FRAME)).contains(&sender_sp)
            && sender_sp.is_multiple_of(8);
        let entering = self
            .tables
            .method(self.memory, registers.method)
            .filter(|_| known);
        let from_interpreter = matches!(
            self.tables.code_at(self.memory, caller.pc),
            Code::Interpreter
        );
        let Some(method) = entering else {
            // Leaving: only believed if the caller is not interpreted, else the frame pointer tells more.
            let next = Frame {
                pc: caller.pc,
                sp: caller.sp,
                fp: frame.fp,
                left: Left::Call,
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
            left: Left::Call,
        }))
    }

    // ---- compiled code

    fn compiled(&mut self, frame: Frame, blob: &Blob) -> Step {
        let method = self.load(blob.start.wrapping_add(self.tables.nmethod.method))?;
        let Some(method) = self.method(method) else {
            return failed(Failure::Method);
        };
        if blob.kind == BlobKind::NativeWrapper {
            self.note(&method, NATIVE_BCI, FrameKind::Native)?;
            if self.tables.is_enter_special(self.memory, &method) {
                return Err(End::VirtualRoot);
            }
            return self.caller(frame, blob);
        }
        let handler = self.deopt_handler(blob)?;
        let mut pc = frame.pc;
        if frame.left == Left::Signal
            && (handler..handler.wrapping_add(DEOPT_HANDLER)).contains(&pc)
        {
            return failed(Failure::Deoptimization);
        }
        if frame.left != Left::Signal && pc == handler {
            // The return address was replaced; the frame keeps the real one.
            let offset = self
                .memory
                .u32(blob.start.wrapping_add(self.tables.nmethod.orig_pc))
                .ok_or(End::Failed(Failure::Fault))?;
            pc = self.stack(frame.sp.wrapping_add(offset as usize))?;
        }
        self.note_scopes(&method, blob, pc, frame.left)?;
        self.caller(frame, blob)
    }

    fn deopt_handler(&self, blob: &Blob) -> Result<usize, End> {
        place_at(
            self.memory,
            blob.start,
            blob.code,
            self.tables.nmethod.deopt_handler,
        )
        .ok_or(End::Failed(Failure::Fault))
    }

    /// The methods inlined at `pc`, innermost first.
    fn note_scopes(
        &mut self,
        outer: &ValidMethod,
        blob: &Blob,
        pc: usize,
        left: Left,
    ) -> Result<(), End> {
        // A description belongs to the end of an instruction; the interrupted one has not ended.
        let wanted = if left == Left::Signal {
            pc.wrapping_add(1)
        } else {
            pc
        };
        let scopes = Scopes::of(self.tables, self.memory, blob);
        let found = scopes.and_then(|scopes| scopes.at_or_behind(self.memory, wanted));
        let usable = found.filter(|desc| desc.scope != 0 && (desc.exact || left != Left::Call));
        let (Some(scopes), Some(desc)) = (scopes, usable) else {
            if left == Left::Call {
                return failed(Failure::Scope);
            }
            return self.note(outer, -1, self.own_kind(blob));
        };
        if let Some(site) = self.known_site(desc.pc) {
            return self.note_known(&site);
        }
        self.decoded = self.decoded.wrapping_add(1);
        let own_kind = self.own_kind(blob);
        let first = self.count;
        let mut offset = desc.scope;
        for depth in 0..MAX_INLINED {
            let scope = scopes.scope(self.memory, offset, self.tables.unsigned5_excluded);
            let inlined = scope.and_then(|scope| Some((scope, self.method(scope.method)?)));
            let Some((scope, method)) = inlined else {
                return if depth == 0 && left != Left::Call {
                    self.note(outer, -1, own_kind)
                } else {
                    failed(Failure::Scope)
                };
            };
            let kind = if scope.sender == 0 {
                own_kind
            } else {
                FrameKind::Inlined
            };
            self.note(&method, scope.bci, kind)?;
            if scope.sender == 0 {
                let _too_many_methods = self.remember(desc.pc, first, blob);
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
    fn caller(&self, frame: Frame, blob: &Blob) -> Step {
        let complete = self.complete(frame, blob.frame_size);
        let next = match frame.left {
            Left::Call => return complete,
            Left::LeafCall => complete.ok(),
            Left::Signal => match self.build(blob) {
                Build::Open(caller) => Some(called(caller)),
                Build::Complete => complete.ok(),
                Build::Unknown => None,
            },
        };
        if let Some(next) = next.filter(|next| self.call_site(&next.caller())) {
            return Ok(next);
        }
        self.searched(frame, blob)
    }

    fn build(&self, blob: &Blob) -> Build {
        let entry = place_at(
            self.memory,
            blob.start,
            blob.code,
            self.tables.nmethod.verified_entry,
        );
        let offset = self
            .memory
            .u16(blob.start.wrapping_add(self.tables.blob.frame_complete));
        let (Some(entry), Some(offset)) = (entry, offset) else {
            return Build::Unknown;
        };
        let complete = blob.code.wrapping_add(usize::from(offset));
        A::build(
            self.memory,
            &Method {
                entry,
                complete,
                frame_size: blob.frame_size,
            },
            &self.input.registers,
        )
    }

    /// The caller of a complete frame.
    fn complete(&self, frame: Frame, size: usize) -> Step {
        if !(16..=MAX_FRAME).contains(&size) {
            return failed(Failure::Compiled);
        }
        let sp = frame.sp.wrapping_add(size);
        let pc = A::plain(self.stack(sp.wrapping_sub(8))?);
        let fp = self.stack(sp.wrapping_sub(16))?;
        Ok(Frame {
            pc,
            sp,
            fp,
            left: Left::Call,
        })
    }

    /// A frame on which a slow path has pushed registers, or whose first instructions are unknown: the return address is where one fits exactly.
    fn searched(&self, frame: Frame, blob: &Blob) -> Step {
        if frame.left == Left::Signal
            && let Some(caller) = A::frameless(self.memory, &self.input.registers)
            && self.confirmed(&caller)
        {
            return Ok(called(caller));
        }
        for words in 0..MAX_SAVED_WORDS {
            let moved = Frame {
                sp: frame.sp.wrapping_add(words.wrapping_mul(8)),
                ..frame
            };
            let next = self.complete(moved, blob.frame_size)?;
            if self.tables.in_code_cache(next.pc) && self.confirmed(&next.caller()) {
                return Ok(next);
            }
        }
        failed(Failure::Compiled)
    }

    // ---- stubs, native code, entry

    fn stub(&mut self, frame: Frame, blob: &Blob) -> Step {
        let sized = self.complete(frame, blob.frame_size).ok();
        if frame.left == Left::Call {
            return sized.ok_or(End::Failed(Failure::Caller));
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
        let strict = |caller: &Caller| self.calls_into(caller.pc, blob);
        if let Some(caller) = self.scanned(frame, strict) {
            return Ok(Frame {
                left: Left::LeafCall,
                ..called(caller)
            });
        }
        // An adapter that calls the VM has saved all registers; above them is the return address of a Java call.
        let adapted = |caller: &Caller| self.is_compiled(caller.pc) && self.confirmed(caller);
        if frame.left == Left::LeafCall
            && let Some(caller) = self.scanned(frame, adapted)
        {
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

    /// The first word above the stack pointer that is the return address looked for.
    fn scanned(&self, frame: Frame, wanted: impl Fn(&Caller) -> bool) -> Option<Caller> {
        // Code that has built a frame has saved the caller's frame pointer there.
        let own_frame = if frame.fp.is_multiple_of(8) {
            self.stack(frame.fp).ok()
        } else {
            None
        };
        for words in 0..MAX_SAVED_WORDS {
            let at = frame.sp.wrapping_add(words.wrapping_mul(8));
            let pc = A::plain(self.stack(at).ok()?);
            if !self.tables.in_code_cache(pc) {
                continue;
            }
            let fp = own_frame
                .filter(|_| (frame.sp..at).contains(&frame.fp))
                .unwrap_or(frame.fp);
            let caller = Caller {
                pc,
                sp: at.wrapping_add(8),
                fp,
            };
            if wanted(&caller) {
                return Some(caller);
            }
        }
        None
    }

    fn is_compiled(&self, pc: usize) -> bool {
        self.tables.in_code_cache(pc)
            && matches!(
                self.tables.code_at(self.memory, pc),
                Code::Blob(Blob {
                    kind: BlobKind::Nmethod,
                    ..
                })
            )
    }

    /// The caller of code without a frame of its own, at this frame's stack pointer.
    fn frameless(&self, frame: Frame) -> Option<Caller> {
        // A link register tells nothing about code that has made a call since.
        let link = if frame.left == Left::Signal {
            self.input.registers.link
        } else {
            0
        };
        let registers = Registers {
            sp: frame.sp,
            fp: frame.fp,
            link,
            ..self.input.registers
        };
        A::frameless(self.memory, &registers)
    }

    fn stub_caller(&self, caller: Caller, blob: &Blob) -> Option<Frame> {
        if !self.tables.in_code_cache(caller.pc) {
            return None;
        }
        if self.calls_into(caller.pc, blob) {
            return Some(Frame {
                left: Left::LeafCall,
                ..called(caller)
            });
        }
        self.confirmed(&caller).then_some(called(caller))
    }

    /// The caller by the frame pointer, if that can belong to the interrupted code.
    fn framed(&self, frame: Frame) -> Option<Caller> {
        let near = frame.fp.is_multiple_of(8) && frame.fp.wrapping_sub(frame.sp) < MAX_STUB_FRAME;
        let fp = frame.fp;
        let (saved, pc) = self
            .stack(fp)
            .ok()
            .zip(self.stack(fp.wrapping_add(8)).ok())
            .filter(|_| near)?;
        Some(Caller {
            pc: A::plain(pc),
            sp: fp.wrapping_add(16),
            fp: saved,
        })
    }

    /// Native code that Java calls without a record: its frames by their frame pointers, but not past a call that led out of Java.
    fn native(&self, frame: Frame) -> Step {
        let mut chained = None;
        let (mut fp, mut below) = (frame.fp, frame.sp);
        for _ in 0..MAX_NATIVE {
            if fp & 7 != 0 || fp < below {
                break;
            }
            let Some((saved, pc)) = self.stack(fp).ok().zip(self.stack(fp.wrapping_add(8)).ok())
            else {
                break;
            };
            let pc = A::plain(pc);
            if self.tables.in_code_cache(pc) {
                chained = Some(Caller {
                    pc,
                    sp: fp.wrapping_add(16),
                    fp: saved,
                });
                break;
            }
            below = fp.wrapping_add(16);
            fp = saved;
        }
        if let Some(caller) = A::frameless(self.memory, &self.input.registers)
            && self.calls_out(caller.pc)
        {
            return Ok(Frame {
                left: Left::LeafCall,
                ..called(caller)
            });
        }
        let limit = chained.map_or(usize::MAX, |caller| caller.sp.wrapping_sub(8));
        for words in 0..MAX_NATIVE_WORDS {
            let at = frame.sp.wrapping_add(words.wrapping_mul(8));
            if at >= limit {
                break;
            }
            let Ok(pc) = self.stack(at) else { break };
            let pc = A::plain(pc);
            if self.tables.in_code_cache(pc) && self.calls_out(pc) {
                return Ok(Frame {
                    pc,
                    sp: at.wrapping_add(8),
                    fp: frame.fp,
                    left: Left::LeafCall,
                });
            }
        }
        let Some(caller) =
            chained.filter(|c| A::call_before(self.memory, c.pc).is_some() || self.call_site(c))
        else {
            return failed(Failure::Native);
        };
        Ok(Frame {
            left: Left::LeafCall,
            ..called(caller)
        })
    }

    /// The frame in which the VM called Java: the Java frames before are in the anchor that it saved.
    fn entry(&mut self, frame: Frame) -> Step {
        let wrapper = self
            .stack(frame.fp.wrapping_sub(self.tables.frame_wrapper))
            .map_err(|_| End::Failed(Failure::Entry))?;
        if wrapper & 7 != 0 || wrapper <= frame.fp || wrapper >= self.input.stack_high {
            return failed(Failure::Entry);
        }
        match self.anchor(wrapper, self.tables.wrapper_anchor, frame.fp)? {
            None => Err(End::Root),
            Some(next) => Ok(next),
        }
    }

    // ---- helpers

    /// Whether Java code can have been called from in front of the caller's pc. An interpreted caller must have its frame at its frame pointer.
    fn call_site(&self, caller: &Caller) -> bool {
        let pc = caller.pc;
        if self.known_site(pc).is_some() {
            return true;
        }
        match self.tables.code_at(self.memory, pc) {
            Code::Interpreter => {
                let near =
                    caller.fp.is_multiple_of(8) && caller.fp.wrapping_sub(caller.sp) < MAX_FRAME;
                let method = || self.stack(caller.fp.wrapping_sub(FRAME_METHOD)).ok();
                near && method().and_then(|method| self.method(method)).is_some()
            }
            Code::CallStub => true,
            Code::Blob(blob) => match blob.kind {
                BlobKind::Nmethod => {
                    let desc = || {
                        Scopes::of(self.tables, self.memory, &blob)?.at_or_behind(self.memory, pc)
                    };
                    desc().is_some_and(|desc| desc.exact) || self.deopt_handler(&blob) == Ok(pc)
                }
                BlobKind::NativeWrapper | BlobKind::Continuation => true,
                BlobKind::Stub | BlobKind::Deoptimization => false,
            },
            Code::Outside => false,
        }
    }

    /// Whether `caller` is a call site, and one whose own frame returns into the code cache: for guesses, which may meet what an earlier call
    /// has left on the stack.
    fn confirmed(&self, caller: &Caller) -> bool {
        if !self.call_site(caller) {
            return false;
        }
        let Code::Blob(blob) = self.tables.code_at(self.memory, caller.pc) else {
            return true;
        };
        let frame = Frame {
            left: Left::Call,
            ..called(*caller)
        };
        let above = self.complete(frame, blob.frame_size);
        above.is_ok_and(|above| self.tables.in_code_cache(above.pc))
    }

    /// Whether the call in front of `pc` goes into `blob`.
    fn calls_into(&self, pc: usize, blob: &Blob) -> bool {
        let into = |target| (blob.code..blob.end).contains(&target);
        self.tables.in_code_cache(pc)
            && matches!(A::call_before(self.memory, pc), Some(CallSite::Target(target)) if into(target))
    }

    /// Whether the call in front of `pc` leads out of the code cache.
    fn calls_out(&self, pc: usize) -> bool {
        let outside =
            |target| !self.tables.in_code_cache(target) && crate::checked::plausible(target);
        self.tables.in_code_cache(pc)
            && matches!(A::call_before(self.memory, pc), Some(CallSite::Target(target)) if outside(target))
    }

    fn load(&self, address: usize) -> Result<usize, End> {
        self.memory.word(address).ok_or(End::Failed(Failure::Fault))
    }

    /// A word of the stack: rule 1.
    fn stack(&self, address: usize) -> Result<usize, End> {
        let low = self.input.registers.sp;
        if address & 7 != 0 || address < low.wrapping_sub(8) || address >= self.input.stack_high {
            return failed(Failure::Stack);
        }
        self.load(address)
    }

    fn note(&mut self, method: &ValidMethod, bci: i32, kind: FrameKind) -> Result<(), End> {
        let Some(place) = self.frames.get_mut(self.count) else {
            return Err(End::Full);
        };
        *place = CallFrame {
            bci,
            kind: kind as u32,
            method: ptr::with_exposed_provenance_mut(method.id),
        };
        self.count = self.count.wrapping_add(1);
        Ok(())
    }
}

/// Rule 3. Code that was interrupted before it built a frame has none of its own where a link register holds the return address.
fn higher(frame: Frame, next: Frame) -> bool {
    next.sp > frame.sp || (next.sp == frame.sp && frame.left == Left::Signal)
}

fn called(caller: Caller) -> Frame {
    Frame {
        pc: caller.pc,
        sp: caller.sp,
        fp: caller.fp,
        left: Left::Call,
    }
}
