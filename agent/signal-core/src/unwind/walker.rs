//! From frame to frame: where a walk begins, what each step does, and what all kinds of frames share. The kinds themselves are in the folder.

mod compiled;
mod interpreted;
mod past;
mod stubs;

use super::arch::{Arch, CallSite, Caller, Here, Registers};
use super::code::{Blob, BlobKind, Code};
use super::method::ValidMethod;
use super::scopes::Scopes;
use super::tables::{Anchor, FRAME_METHOD, VmTables};
use super::trail::Trail;
use super::{End, Failure, Known, Top, Walk};
use crate::checked::Memory;
use crate::slots::{CallFrame, FrameKind};
use core::marker::PhantomData;
use core::ptr;

/// Physical frames at most; deeper stacks than the largest array of frames are cut before.
const MAX_STEPS: usize = 4096;
/// Words that slow paths inside compiled code push to save registers: 32 vector registers of 64 bytes, and the rest.
const MAX_SAVED_WORDS: usize = 352;
/// Largest frame that is believed.
const MAX_FRAME: usize = 1 << 20;
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

/// What is known before a walk, and kept for later ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Past<'a> {
    pub(crate) known: &'a Known,
    /// Of the thread that is walked.
    pub(crate) trail: &'a Trail,
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
    past: Past<'a>,
    known: u32,
    decoded: u32,
    /// What is at the interrupted pc: the beginning and the first step both ask.
    here: Code,
    arch: PhantomData<A>,
}

/// Signal-safe: walks the thread that `input` describes into `frames`.
pub(crate) fn walk(
    tables: &VmTables,
    memory: &impl Memory,
    past: Past<'_>,
    input: &Input,
    frames: &mut [CallFrame],
) -> Walk {
    walk_on::<Here>(tables, memory, past, input, frames)
}

/// As [`walk`], for a given processor.
pub(super) fn walk_on<A: Arch>(
    tables: &VmTables,
    memory: &impl Memory,
    past: Past<'_>,
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
        here: tables.code_at(memory, input.registers.pc),
        arch: PhantomData::<A>,
    };
    let (top, start) = walker.start();
    let end = walker.run(start);
    let sites = walker.known.saturating_add(walker.decoded);
    past.trail.end(sites as usize);
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
        let top = match self.here {
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
        let code = if frame.left == Left::Signal {
            self.here
        } else {
            self.tables.code_at(self.memory, frame.pc)
        };
        match code {
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
                    desc().is_some_and(|desc| desc.exact) || self.is_deopt_handler(&blob, pc)
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
        let blob = match self.tables.code_at(self.memory, caller.pc) {
            Code::Blob(blob) => blob,
            Code::Interpreter | Code::CallStub => return true,
            // A known site, whose code was freed since.
            Code::Outside => return false,
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
        let unknown = method.obsolete && bci >= 0;
        *place = CallFrame {
            bci: if unknown { -1 } else { bci },
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
