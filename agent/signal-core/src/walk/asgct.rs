//! AsyncGetCallTrace: each of its preconditions is checked without touching the VM's own TLS.

use super::job::Job;
use super::outcome::GC;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;
use stack_walker::{CallFrame, FrameKind};

#[repr(C)]
struct CallTrace {
    env: *mut c_void,
    num_frames: i32,
    frames: *mut CallFrame,
}

type AsyncGetCallTrace = unsafe extern "C" fn(*mut CallTrace, i32, *mut c_void);

/// The number of frames or a negative code. `address` is that of the function, not 0.
pub(super) fn walk(job: &Job<'_>, address: usize) -> i32 {
    if job.handler.gc_pauses.load(Relaxed) != 0 {
        return GC;
    }
    let mut trace = CallTrace {
        env: ptr::with_exposed_provenance_mut(job.thread.jni_env.load(Relaxed)),
        num_frames: 0,
        frames: job.claim.frames,
    };
    // SAFETY: rule 7, by `HandlerState::set_asgct`.
    let function: AsyncGetCallTrace =
        unsafe { core::mem::transmute::<usize, AsyncGetCallTrace>(address) };
    let depth = i32::try_from(job.depth).unwrap_or(0);
    // SAFETY: called on the interrupted thread, with its own JNIEnv (rule 5) and context (rule 6),
    // memory for `depth` frames, ClassLoad enabled since start. It neither locks nor allocates on
    // 17 to 25.
    unsafe { function(&raw mut trace, depth, job.context.as_ptr()) };
    let count = usize::try_from(trace.num_frames).unwrap_or(0);
    // It leaves the padding as it was, which our own walker uses.
    // SAFETY: no other part of the slot's frames is borrowed now.
    for frame in unsafe { job.claim.frames_mut(0, count) } {
        frame.kind = FrameKind::Unknown as u32;
    }
    trace.num_frames
}
