//! The stack of a sample: which walker, after which checks. Called by the handler on the
//! interrupted thread.

mod asgct;
mod job;
mod outcome;
mod own;
mod shadow;

pub(crate) use outcome::counter;
pub use outcome::reason;
pub(crate) use own::prefetch;

use crate::counters::Counter;
use crate::handler_state::{HandlerState, WalkMode};
use crate::java_thread::CurrentThread;
use crate::record::ThreadRecord;
use crate::slots::{BROKEN, Claim, FROZEN, SWITCHING};
use crate::ucontext::InterruptedContext;
use core::sync::atomic::Ordering::Relaxed;
use job::Job;
pub(crate) use outcome::STATE;
use outcome::{HEADROOM, HEAP, OFF, OWN, count_failure, count_heap_frames};
use stack_walker::{End, Failure, HeapFailure, HeapFrames, Walk};

/// The walker's own frames plus HotSpot's guard zones (yellow, red and reserved: 4 pages) must fit
/// below the stack pointer.
const STACK_NEEDED: usize = 24 * 1024 + 4 * 4096;
/// HotSpot's thread states that may be walked: native (4) to blocked, with the transitions between
/// them (11).
const WALKABLE: core::ops::RangeInclusive<i32> = 4..=11;

/// Walks the interrupted thread into `claim`; answers the number of frames or a negative code.
pub(crate) fn walk(
    handler: &HandlerState,
    thread: CurrentThread,
    claim: &Claim<'_>,
    vm_state: i32,
    context: InterruptedContext<'_>,
) -> i32 {
    claim.header.flags.store(0, Relaxed);
    let asgct = handler.asgct();
    let mode = handler.walk_mode.load(Relaxed);
    if asgct == 0 && (mode != WalkMode::Own as u32 || handler.stack_walker().is_none()) {
        return OFF;
    }
    if !WALKABLE.contains(&vm_state) {
        return STATE;
    }
    if !enough_stack(&thread, context.registers().sp) {
        return HEADROOM;
    }
    let depth = (handler.depth.load(Relaxed) as usize).min(claim.depth);
    let job = Job {
        handler,
        thread,
        claim,
        vm_state,
        context,
        depth,
    };
    if mode == WalkMode::Own as u32 {
        return own_first(&job, asgct);
    }
    let outcome = asgct::walk(&job, asgct);
    if mode == WalkMode::Shadow as u32 {
        shadow::compare(&job, asgct, outcome)
    } else {
        outcome
    }
}

/// Our own walker, then AsyncGetCallTrace where it finds not a single frame.
fn own_first(job: &Job<'_>, asgct: usize) -> i32 {
    let Some(walk) = own::timed(job, 0, job.depth) else {
        return OFF;
    };
    let why = match walk.end {
        End::Failed(why) => why,
        end => return complete(job, walk, end),
    };
    count_failure(job.handler, why);
    if walk.frames > 0 {
        job.claim.header.flags.store(BROKEN, Relaxed);
        job.handler.counters.add(Counter::OwnPartial);
        return i32::try_from(walk.frames).unwrap_or(0);
    }
    // No walker may walk while frames are rebuilt.
    if asgct != 0 && why != Failure::Deoptimization {
        let second = asgct::walk(job, asgct);
        if second > 0 {
            job.handler.counters.add(Counter::OwnRescued);
            return second;
        }
    }
    OWN.wrapping_sub(why as i32)
}

/// A walk that did not fail.
fn complete(job: &Job<'_>, walk: Walk, end: End) -> i32 {
    let counters = &job.handler.counters;
    count_heap_frames(job.handler, walk.heap);
    let mut flags = if walk.is_switching { SWITCHING } else { 0 };
    if end == End::Frozen {
        flags |= FROZEN;
        counters.add(Counter::OwnFrozen);
    } else if walk.frames > 0 {
        counters.add(Counter::OwnOk);
    }
    job.claim.header.flags.store(flags, Relaxed);
    i32::try_from(walk.frames).unwrap_or(0)
}

/// What the walk of a virtual thread that no carrier runs comes to: the outcome and the flags of a
/// slot. `None`: it was not walked, or two walks differ. Counted; not for handlers.
pub fn unmounted(handler: &HandlerState, walk: Option<Walk>) -> (i32, u32) {
    let heap = walk.map_or(HeapFrames::Cut(HeapFailure::Off), |walk| walk.heap);
    count_heap_frames(handler, heap);
    let frames = walk.map_or(0, |walk| i32::try_from(walk.frames).unwrap_or(0));
    let found = if frames == 0 { HEAP } else { frames };
    handler.counters.add(counter(found));
    let is_cut = matches!(heap, HeapFrames::Cut(_)) && frames > 0;
    (found, if is_cut { FROZEN } else { 0 })
}

fn enough_stack(record: &ThreadRecord, sp: usize) -> bool {
    let (low, high) = (
        record.stack_low.load(Relaxed),
        record.stack_high.load(Relaxed),
    );
    low != 0 && sp < high && sp > low.saturating_add(STACK_NEEDED)
}

#[cfg(test)]
mod tests;
