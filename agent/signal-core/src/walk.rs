//! The stack walk by AsyncGetCallTrace, behind guard rails: each precondition is checked without touching the VM's own TLS.

use crate::counters::Counter;
use crate::record::ThreadRecord;
use crate::room::Room;
use crate::slots::{CallFrame, Claim};
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// `walk` code: the walker is off.
pub(crate) const OFF: i32 = -101;
/// `walk` code: not enough stack left for a walk.
pub(crate) const HEADROOM: i32 = -102;
/// `walk` code: thread state outside native..blocked.
pub(crate) const STATE: i32 = -103;
/// `walk` code: the VM is stopped for a collection.
pub(crate) const GC: i32 = -104;

/// The walker's own frames plus HotSpot's guard zones (yellow, red and reserved: 4 pages) must fit below the stack pointer.
const STACK_NEEDED: usize = 24 * 1024 + 4 * 4096;
/// HotSpot's thread states that may be walked: native (4) to blocked, with the transitions between them (11).
const WALKABLE: core::ops::RangeInclusive<i32> = 4..=11;

#[repr(C)]
struct CallTrace {
    env: *mut c_void,
    num_frames: i32,
    frames: *mut CallFrame,
}

type AsyncGetCallTrace = unsafe extern "C" fn(*mut CallTrace, i32, *mut c_void);

/// Walks the interrupted thread into `claim`; answers the number of frames or a negative code.
pub(crate) fn walk(
    room: &Room,
    record: &ThreadRecord,
    claim: &Claim<'_>,
    vm_state: i32,
    ucontext: *mut c_void,
) -> i32 {
    let address = room.walker.load(Relaxed);
    if address == 0 {
        return OFF;
    }
    if !WALKABLE.contains(&vm_state) {
        return STATE;
    }
    if room.gc_pauses.load(Relaxed) != 0 {
        return GC;
    }
    if !enough_stack(record, ucontext) {
        return HEADROOM;
    }
    let depth = (room.depth.load(Relaxed) as usize).min(claim.depth);
    let mut trace = CallTrace {
        env: ptr::with_exposed_provenance_mut(record.jni_env.load(Relaxed)),
        num_frames: 0,
        frames: claim.frames,
    };
    // SAFETY: the agent stores only the address of libjvm's AsyncGetCallTrace here, found by `dlsym`.
    let walker: AsyncGetCallTrace =
        unsafe { core::mem::transmute::<usize, AsyncGetCallTrace>(address) };
    let depth = i32::try_from(depth).unwrap_or(0);
    // SAFETY: called on the interrupted thread, with its own JNIEnv (record is running: rule 5), room for `depth` frames, ClassLoad
    // enabled since start. It neither locks nor allocates on 17 to 25 (sampling reference 2.1).
    unsafe { walker(&raw mut trace, depth, ucontext) };
    trace.num_frames
}

fn enough_stack(record: &ThreadRecord, ucontext: *mut c_void) -> bool {
    let (low, high) = (
        record.stack_low.load(Relaxed),
        record.stack_high.load(Relaxed),
    );
    let sp = stack_pointer(ucontext);
    low != 0 && sp < high && sp > low.saturating_add(STACK_NEEDED)
}

fn stack_pointer(ucontext: *mut c_void) -> usize {
    let context: *mut libc::ucontext_t = ucontext.cast();
    if context.is_null() {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: the kernel gives an SA_SIGINFO handler a valid ucontext; nobody else writes it while we read.
        let registers = unsafe { &(*context).uc_mcontext.gregs };
        let rsp = usize::try_from(libc::REG_RSP)
            .ok()
            .and_then(|i| registers.get(i))
            .copied()
            .unwrap_or(0);
        usize::try_from(rsp).unwrap_or(0)
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: the kernel gives an SA_SIGINFO handler a valid ucontext; nobody else writes it while we read.
        let sp = unsafe { (*context).uc_mcontext.sp };
        usize::try_from(sp).unwrap_or(0)
    }
}

/// Which counter an outcome belongs to.
pub(crate) fn counter(outcome: i32) -> Counter {
    match outcome {
        OFF => Counter::WalkOff,
        HEADROOM => Counter::WalkHeadroom,
        STATE => Counter::WalkState,
        GC => Counter::WalkGc,
        0 => Counter::WalkNoFrame,
        n if n < 0 => Counter::WalkFailed,
        _ => Counter::WalkOk,
    }
}

/// The reason of a failed walk, as it appears in recordings; `None` for a good walk.
pub fn reason(outcome: i32) -> Option<&'static str> {
    Some(match outcome {
        n if n > 0 => return None,
        OFF => "walker_off",
        HEADROOM => "stack_headroom",
        STATE => "thread_state",
        GC => "gc_pause",
        0 => "no_Java_frame",
        -1 => "no_class_load",
        -2 => "GC_active",
        -3 => "unknown_not_Java",
        -4 => "not_walkable_not_Java",
        -5 => "unknown_Java",
        -6 => "not_walkable_Java",
        -7 => "unknown_state",
        -8 => "thread_exit",
        -9 => "deopt",
        -10 => "safepoint",
        _ => "unknown_code",
    })
}
