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

/// The number of frames or a negative code. `address` is that of the function.
pub(super) fn walk(job: &Job<'_>, address: usize) -> i32 {
    if job.handler.gc_pauses.load(Relaxed) != 0 {
        return GC;
    }
    let mut trace = CallTrace {
        env: ptr::with_exposed_provenance_mut(job.record.jni_env.load(Relaxed)),
        num_frames: 0,
        frames: job.claim.frames,
    };
    // SAFETY: the agent stores only the address of libjvm's AsyncGetCallTrace here, found by `dlsym`.
    let walker: AsyncGetCallTrace =
        unsafe { core::mem::transmute::<usize, AsyncGetCallTrace>(address) };
    let depth = i32::try_from(job.depth).unwrap_or(0);
    // SAFETY: called on the interrupted thread, with its own JNIEnv (record is running: rule 5), room for `depth` frames, ClassLoad
    // enabled since start. It neither locks nor allocates on 17 to 25 (sampling reference 2.1).
    unsafe { walker(&raw mut trace, depth, job.ucontext) };
    // It leaves the padding as it was, which our own walker uses.
    for frame in job
        .claim
        .frames_mut(0, usize::try_from(trace.num_frames).unwrap_or(0))
    {
        frame.kind = FrameKind::Unknown as u32;
    }
    trace.num_frames
}
