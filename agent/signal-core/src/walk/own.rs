//! Our own walker: what it needs of the interrupted thread.

use super::job::Job;
use crate::counters::Counter;
use crate::engine::thread_cpu_nanos;
use crate::handler_state::{HandlerState, WalkMode};
use crate::record::ThreadRecord;
use core::sync::atomic::Ordering::Relaxed;
use stack_walker::{InterruptedThread, Memory, Walk};

/// HotSpot's thread state "in Java".
const IN_JAVA: i32 = 8;
/// HotSpot's thread states that no pause waits for: in native code, blocked.
const NATIVE: i32 = 4;
const BLOCKED: i32 = 10;

/// Prefetches what a walk of this thread will probably read.
pub(crate) fn prefetch(handler: &HandlerState, record: &ThreadRecord) {
    if handler.walk_mode.load(Relaxed) != WalkMode::Own as u32 {
        return;
    }
    if let Some(walker) = handler.stack_walker() {
        walker.prefetch(&record.prefetch_hints);
    }
}

/// Walks into the frames from `from` on; `None` if this VM cannot be walked.
pub(super) fn walk(job: &Job<'_>, from: usize, depth: usize) -> Option<Walk> {
    let walker = job.handler.stack_walker()?;
    let thread = InterruptedThread {
        registers: job.context.registers(),
        stack_high: job.thread.stack_high.load(Relaxed),
        java_thread: job.thread.java_thread.load(Relaxed),
        in_java: job.vm_state == IN_JAVA,
        blocked_signals: job.context.blocked_signals(),
        restorer: walker
            .memory()
            .word(job.context.restorer_slot())
            .unwrap_or(0),
        may_be_in_pause: matches!(job.vm_state, NATIVE | BLOCKED),
    };
    // SAFETY: no other part of the slot's frames is borrowed now.
    let frames = unsafe { job.claim.frames_mut(from, depth) };
    let found = walker.walk(&thread, &job.thread.prefetch_hints, frames);
    let counters = &job.handler.counters;
    counters.add_many(Counter::OwnSitesCached, found.cached.into());
    counters.add_many(Counter::OwnSitesDecoded, found.decoded.into());
    Some(found)
}

/// The same; one walk in 16 is timed.
pub(super) fn timed(job: &Job<'_>, from: usize, depth: usize) -> Option<Walk> {
    let counters = &job.handler.counters;
    if counters.get(Counter::Captured) & 15 != 0 {
        return walk(job, from, depth);
    }
    let begun = thread_cpu_nanos();
    let found = walk(job, from, depth);
    counters.add_many(Counter::OwnNanos, thread_cpu_nanos().saturating_sub(begun));
    counters.add(Counter::OwnTimed);
    found
}
