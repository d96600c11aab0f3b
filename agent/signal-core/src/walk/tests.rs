//! Which walker makes a stack, on a made-up thread: one interpreted method that the VM has called.

use super::outcome::{HEADROOM, OFF, OWN, STATE};
use super::walk;
use crate::counters::Counter;
use crate::handler::tests::fixture::new_handler_state;
use crate::handler_state::{HandlerState, OwnWalker, WalkMode};
use crate::java_thread::CurrentThread;
use crate::record::ThreadRecord;
use crate::slots::{BROKEN, FROZEN};
use crate::ucontext::InterruptedContext;
use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering::Relaxed;
use stack_walker::cache::WalkCaches;
use stack_walker::cache::call_sites::CallSiteCache;
use stack_walker::cache::method_ids::MethodIdCache;
use stack_walker::safe_fetch::SafeFetch;
use stack_walker::tables::{Anchor, MethodLayout, VmTables};
use stack_walker::{CallFrame, Failure};
use std::boxed::Box;

// The code of the VM's `SafeFetchN`: load, return; what goes on after a fault, which there is none
// of here.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl safe_fetch_of_the_tests",
    "safe_fetch_of_the_tests:",
    ".byte 0x48, 0x8b, 0x07, 0xc3, 0x48, 0x89, 0xf0, 0xc3",
    ".zero 8",
);
#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl safe_fetch_of_the_tests",
    "safe_fetch_of_the_tests:",
    ".word 0xf9400000, 0xd65f03c0, 0xaa0103e0, 0xd65f03c0",
);

unsafe extern "C" {
    fn safe_fetch_of_the_tests();
}

const INTERPRETER: (usize, usize) = (0x7f00_0000_0000, 0x7f00_0000_1000);
const CALL_STUB_RETURN: usize = 0x7f00_0000_2000;
/// Native code, and not in the code cache.
const OUTSIDE: usize = 0x5555_0000_0000;
const IN_NATIVE: i32 = 4;
const IN_JAVA: i32 = 8;
/// Words of the made-up stack, the stack pointer and the frame pointer in it.
const STACK_WORDS: usize = 16 << 10;
const SP: usize = STACK_WORDS - 1024;
const FP: usize = SP + 64;
/// Words of the thread, of the method and what it leads to.
const THREAD: usize = 0;
const METHOD: usize = 8;
const CONSTANT: usize = 16;
const POOL: usize = 24;
const HOLDER: usize = 32;
const IDS: usize = 40;
const ID: usize = 48;

fn tables() -> VmTables {
    VmTables {
        thread_anchor: Anchor {
            sp: 8,
            pc: 16,
            fp: 24,
        },
        wrapper_anchor: Anchor {
            sp: 0,
            pc: 8,
            fp: 16,
        },
        vframe_array_head: 0,
        saved_exception_pc: 0,
        call_stub_return: CALL_STUB_RETURN,
        interpreter: INTERPRETER,
        code: (INTERPRETER.0, CALL_STUB_RETURN + 1),
        method: MethodLayout {
            const_method: 0,
            access_flags: 8,
            constants: 0,
            idnum: 8,
            code_size: 16,
            bytecodes: 24,
            holder: 0,
            ids: 0,
            ..MethodLayout::default()
        },
        frame_bcp: 64,
        frame_wrapper: 48,
        ..VmTables::default()
    }
}

/// A thread that was interrupted in an interpreted method.
struct Scene {
    handler: HandlerState,
    record: &'static ThreadRecord,
    words: &'static mut [usize; 64],
    stack: &'static mut [usize],
    context: libc::ucontext_t,
    state: i32,
}

fn leaked<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

fn address<T>(of: &T) -> usize {
    ptr::from_ref(of).expose_provenance()
}

impl Scene {
    fn new(mode: WalkMode) -> Self {
        let handler = new_handler_state(1);
        handler.walk_mode.store(mode as u32, Relaxed);
        let words = leaked([0; 64]);
        let stack = std::vec![0_usize; STACK_WORDS].leak();
        // SAFETY: atomics only; zero is a free record.
        let record: &'static ThreadRecord = leaked(unsafe { core::mem::zeroed() });
        record.stack_low.store(address(&stack[0]), Relaxed);
        record
            .stack_high
            .store(address(&stack[0]) + STACK_WORDS * 8, Relaxed);
        record.java_thread.store(address(&words[THREAD]), Relaxed);
        for (from, to) in [
            (METHOD, CONSTANT),
            (CONSTANT, POOL),
            (POOL, HOLDER),
            (HOLDER, IDS),
            (ID, METHOD),
        ] {
            words[from] = address(&words[to]);
        }
        // One id; the method's number is 0, and it has 100 bytes of code.
        (words[IDS], words[IDS + 1]) = (1, address(&words[ID]));
        words[CONSTANT + 2] = 100;
        stack[FP - 1] = address(&stack[FP + 4]); // the sender's stack pointer
        stack[FP - 3] = address(&words[METHOD]);
        stack[FP - 8] = address(&words[CONSTANT]) + 24 + 7; // bytecode index 7
        stack[FP] = address(&stack[FP + 32]); // the entry frame
        stack[FP + 1] = CALL_STUB_RETURN;
        stack[FP + 32 - 6] = address(&stack[FP + 64]); // its wrapper, whose anchor is empty
        // SAFETY: numbers and pointers only; zero is valid.
        let context = unsafe { core::mem::zeroed() };
        let mut scene = Self {
            handler,
            record,
            words,
            stack,
            context,
            state: IN_JAVA,
        };
        scene.interrupt(INTERPRETER.0 + 64, SP);
        scene
    }

    /// With our own walker.
    fn own(asgct: Option<AsyncGetCallTrace>) -> Self {
        let scene = Self::new(WalkMode::Own);
        let function = safe_fetch_of_the_tests as *const () as usize;
        // SAFETY: that code, and no address of the scene faults.
        let memory = unsafe { SafeFetch::at(function) }.expect("the VM's code");
        let caches = WalkCaches {
            call_sites: CallSiteCache::new(&[]),
            method_ids: MethodIdCache::new(&[]),
        };
        scene
            .handler
            .set_stack_walker(leaked(OwnWalker::new(tables(), memory, caches)));
        scene.set_asgct(asgct);
        scene
    }

    fn set_asgct(&self, function: Option<AsyncGetCallTrace>) {
        // SAFETY: a function of this file, or none.
        unsafe {
            self.handler
                .set_asgct(function.map_or(0, |f| f as *const () as usize));
        }
    }

    fn interrupt(&mut self, pc: usize, sp: usize) {
        let (sp, fp) = (address(&self.stack[sp]), address(&self.stack[FP]));
        let machine = &mut self.context.uc_mcontext;
        #[cfg(target_arch = "x86_64")]
        for (index, value) in [
            (libc::REG_RIP, pc),
            (libc::REG_RSP, sp),
            (libc::REG_RBP, fp),
        ] {
            machine.gregs[usize::try_from(index).expect("an index")] =
                i64::try_from(value).expect("an address");
        }
        #[cfg(target_arch = "aarch64")]
        {
            (machine.pc, machine.sp, machine.regs[29]) = (pc as u64, sp as u64, fp as u64);
        }
    }

    /// The outcome, the frames, and the flags.
    fn walk(&mut self) -> (i32, std::vec::Vec<CallFrame>, u32) {
        // SAFETY: no handler runs, and nothing retires the record.
        let thread = unsafe { CurrentThread::new(self.record) };
        // SAFETY: it lives longer than this call.
        let context = unsafe { InterruptedContext::new(NonNull::from(&mut self.context)) };
        let claim = self.handler.slots.claim().expect("a free slot");
        let outcome = walk(&self.handler, thread, &claim, self.state, context);
        let count = usize::try_from(outcome).unwrap_or(0);
        // SAFETY: the only part.
        let frames = unsafe { claim.frames_mut(0, count) }.to_vec();
        (outcome, frames, claim.header.flags.load(Relaxed))
    }

    fn count(&self, counter: Counter) -> u64 {
        self.handler.counters.get(counter)
    }
}

type AsyncGetCallTrace = unsafe extern "C" fn(*mut [usize; 3], i32, *mut c_void);

/// Fills what it may.
unsafe extern "C" fn as_deep_as_allowed(trace: *mut [usize; 3], depth: i32, _: *mut c_void) {
    // SAFETY: the caller's structure: environment, number of frames, frames.
    unsafe { (*trace)[1] = usize::try_from(depth).expect("positive") };
}

/// Finds nothing.
unsafe extern "C" fn no_frame(trace: *mut [usize; 3], _: i32, _: *mut c_void) {
    // SAFETY: as above.
    unsafe { (*trace)[1] = 0 };
}

const OUTCOME_OF_NATIVE: i32 = OWN - Failure::Native as i32;
const OUTCOME_OF_DEOPTIMIZATION: i32 = OWN - Failure::Deoptimization as i32;

#[test]
fn nothing_is_walked_without_a_walker() {
    let mut scene = Scene::new(WalkMode::Asgct);
    assert_eq!(scene.walk().0, OFF);
    let mut scene = Scene::new(WalkMode::Own);
    assert_eq!(scene.walk().0, OFF);
    // Our own is there, but the mode is another one.
    let mut scene = Scene::own(None);
    scene
        .handler
        .walk_mode
        .store(WalkMode::Asgct as u32, Relaxed);
    assert_eq!(scene.walk().0, OFF);
    scene.handler.walk_mode.store(WalkMode::Own as u32, Relaxed);
    assert_eq!(scene.walk().0, 1);
    // Chosen, but not there: the other one may do it.
    let mut scene = Scene::new(WalkMode::Own);
    scene.set_asgct(Some(as_deep_as_allowed));
    assert_eq!(scene.walk().0, OFF);
}

#[test]
fn a_thread_is_walked_in_some_states_only_and_with_enough_stack() {
    let mut scene = Scene::own(None);
    for (state, outcome) in [(3, STATE), (12, STATE), (-1, STATE), (IN_JAVA, 1)] {
        scene.state = state;
        assert_eq!(scene.walk().0, outcome, "state {state}");
    }
    let needed = super::STACK_NEEDED / 8;
    for (sp, outcome) in [(needed, HEADROOM), (0, HEADROOM)] {
        scene.interrupt(INTERPRETER.0 + 64, sp);
        assert_eq!(scene.walk().0, outcome, "stack pointer at {sp}");
    }
    scene.record.stack_low.store(0, Relaxed);
    scene.interrupt(INTERPRETER.0 + 64, SP);
    assert_eq!(scene.walk().0, HEADROOM, "of unknown size");
}

#[test]
fn the_smaller_depth_of_recording_and_slot_holds() {
    let mut scene = Scene::new(WalkMode::Asgct);
    scene.set_asgct(Some(as_deep_as_allowed));
    assert_eq!(scene.handler.slots.depth(), 16);
    for (depth, frames) in [(3, 3), (16, 16), (100, 16)] {
        scene.handler.depth.store(depth, Relaxed);
        assert_eq!(scene.walk().0, frames);
    }
}

#[test]
fn own_walk_to_the_root() {
    let mut scene = Scene::own(Some(as_deep_as_allowed));
    let id = address(&scene.words[ID]);
    let (outcome, frames, flags) = scene.walk();
    assert_eq!((outcome, flags), (1, 0));
    assert_eq!((frames[0].method.addr(), frames[0].bci), (id, 7));
    assert_eq!(scene.count(Counter::OwnOk), 1);
    assert_eq!(scene.count(Counter::OwnPartial), 0);
}

#[test]
fn own_walk_that_breaks_off_keeps_its_frames() {
    let mut scene = Scene::own(Some(as_deep_as_allowed));
    scene.stack[FP + 1] = OUTSIDE;
    let (outcome, frames, flags) = scene.walk();
    assert_eq!((outcome, frames.len(), flags), (1, 1, BROKEN));
    assert_eq!(scene.count(Counter::OwnPartial), 1);
    assert_eq!(scene.count(Counter::OwnCaller), 1);
    assert_eq!(scene.count(Counter::OwnOk), 0);
    assert_eq!(scene.count(Counter::OwnRescued), 0);
    assert_ne!(flags, FROZEN);
}

#[test]
fn asgct_is_asked_where_our_own_walker_finds_nothing() {
    for (function, outcome, rescued) in [
        (None, OUTCOME_OF_NATIVE, 0),
        (Some(no_frame as AsyncGetCallTrace), OUTCOME_OF_NATIVE, 0),
        (Some(as_deep_as_allowed as AsyncGetCallTrace), 16, 1),
    ] {
        let mut scene = Scene::own(function);
        scene.interrupt(OUTSIDE, SP);
        scene.stack[FP] = 0; // no caller by the frame pointer
        scene.stack[FP + 1] = 0;
        assert_eq!(scene.walk().0, outcome);
        assert_eq!(scene.count(Counter::OwnNative), 1);
        assert_eq!(scene.count(Counter::OwnRescued), rescued);
    }
}

#[test]
fn nobody_walks_frames_that_are_being_rebuilt() {
    let mut scene = Scene::own(Some(as_deep_as_allowed));
    scene.words[THREAD] = 1;
    assert_eq!(scene.walk().0, OUTCOME_OF_DEOPTIMIZATION);
    assert_eq!(scene.count(Counter::OwnDeoptimization), 1);
}

#[test]
fn a_thread_without_java_frames_is_no_failure() {
    let mut scene = Scene::own(Some(as_deep_as_allowed));
    scene.state = IN_NATIVE;
    scene.interrupt(OUTSIDE, SP);
    assert_eq!(scene.walk().0, 0);
    assert_eq!(scene.count(Counter::OwnOk), 0);
}
