//! Shadow mode: both walkers walk one sample in 16, and what they found is compared from the bottom
//! up. The sample keeps AsyncGetCallTrace's frames. Where these fill more than half of a slot, the
//! other walk does not fit, and nothing is compared.

use super::job::Job;
use super::outcome::count_failure;
use super::{asgct, own};
use crate::counters::Counter;
use crate::engine::thread_cpu_nanos;
use core::sync::atomic::Ordering::Relaxed;
use stack_walker::{CallFrame, End, HeapFrames, Top, Walk};

/// Inlined methods by which the topmost frames may differ and still be the same.
const TOP_SLACK: usize = 16;

/// The outcome of AsyncGetCallTrace, `theirs`, which is walked again to be timed.
pub(super) fn compare(job: &Job<'_>, address: usize, theirs: i32) -> i32 {
    let counters = &job.handler.counters;
    let half = job.claim.depth.wrapping_div(2);
    let skipped =
        counters.get(Counter::Captured) & 15 != 0 || job.handler.gc_pauses.load(Relaxed) != 0;
    // Both must fit into one slot, and the sample keeps all its frames.
    if skipped || usize::try_from(theirs).is_ok_and(|frames| frames > half) {
        return theirs;
    }
    let job = Job {
        depth: job.depth.min(half),
        ..*job
    };
    let begun = thread_cpu_nanos();
    let theirs = asgct::walk(&job, address);
    let between = thread_cpu_nanos();
    let Some(walk) = own::walk(&job, half, job.depth) else {
        return theirs;
    };
    let ended = thread_cpu_nanos();
    counters.add_many(Counter::AsgctNanos, between.saturating_sub(begun));
    counters.add_many(Counter::OwnNanos, ended.saturating_sub(between));
    counters.add(Counter::OwnTimed);
    if let End::Failed(why) = walk.end {
        count_failure(job.handler, why);
        counters.add(if walk.frames > 0 {
            Counter::OwnPartial
        } else {
            Counter::OnlyAsgct
        });
    }
    let their_count = usize::try_from(theirs).unwrap_or(0);
    let verdict = match (walk.frames > 0, their_count > 0) {
        (false, false) => Counter::Neither,
        (true, false) => Counter::OnlyOwn,
        (false, true) if matches!(walk.end, End::Failed(_)) => return theirs, // counted above
        (false, true) => Counter::OnlyAsgct,
        (true, true) => {
            // SAFETY: ours begin at `half` and theirs, at most `half` of them, end before it.
            let ours = unsafe { job.claim.frames_mut(half, walk.frames) };
            // SAFETY: as above.
            let them = unsafe { job.claim.frames_mut(0, their_count) };
            let (agreement, top) = (agreement(walk, ours, them, job.depth), walk.top);
            counter(agreement, top)
        }
    };
    counters.add(verdict);
    theirs
}

/// How two stacks relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agreement {
    Same,
    /// But for the topmost physical frame.
    ButTop,
    /// One is a part of the other: its lower part, or AsyncGetCallTrace stopped before the root.
    Prefix,
    Different,
}

fn agreement(walk: Walk, ours: &[CallFrame], them: &[CallFrame], depth: usize) -> Agreement {
    let top = walk.top_frames;
    let cut = |frames: usize| frames >= depth;
    let them = match walk.end {
        // AsyncGetCallTrace goes on with the carrier's frames, or with what lies above the frozen
        // ones.
        End::VirtualRoot if walk.heap == HeapFrames::NotMet => up_to(them, ours.last()),
        _ => them,
    };
    if cut(ours.len()) || cut(them.len()) || walk.heap != HeapFrames::NotMet {
        // No common bottom: from the top, if the topmost frames have the same size.
        let same = ours.iter().zip(them).skip(top).all(|(a, b)| equal(a, b));
        let same_top = ours.iter().zip(them).take(top).all(|(a, b)| equal(a, b));
        return match (same, same_top) {
            (true, true) => Agreement::Same,
            (true, false) => Agreement::ButTop,
            (false, _) if shifted(ours, them, top) => Agreement::ButTop,
            (false, _) => Agreement::Different,
        };
    }
    if walk.end == End::Root
        && ours.len() > them.len()
        && ours.iter().zip(them).all(|(a, b)| equal(a, b))
    {
        return Agreement::Prefix;
    }
    let common = ours
        .iter()
        .rev()
        .zip(them.iter().rev())
        .take_while(|(a, b)| equal(a, b))
        .count();
    let left = (
        ours.len().wrapping_sub(common),
        them.len().wrapping_sub(common),
    );
    match left {
        (0, 0) => Agreement::Same,
        (a, b) if a <= top && b <= top.wrapping_add(TOP_SLACK) => Agreement::ButTop,
        (0, _) | (_, 0) => Agreement::Prefix,
        _ => Agreement::Different,
    }
}

/// Whether the stacks below the topmost frame are the same when moved by a few frames.
fn shifted(ours: &[CallFrame], them: &[CallFrame], top: usize) -> bool {
    let rest = ours.get(top..).unwrap_or_default();
    (0..top.wrapping_add(TOP_SLACK)).any(|skip| {
        let theirs = them.get(skip..).unwrap_or_default();
        !theirs.is_empty() && rest.iter().zip(theirs).all(|(a, b)| equal(a, b))
    })
}

/// The upper part of `frames`, up to the first with the method of `last`.
fn up_to<'a>(frames: &'a [CallFrame], last: Option<&CallFrame>) -> &'a [CallFrame] {
    let wanted = last.map(|frame| frame.method);
    let found = frames.iter().position(|frame| Some(frame.method) == wanted);
    found.and_then(|i| frames.get(..=i)).unwrap_or(frames)
}

fn equal(a: &CallFrame, b: &CallFrame) -> bool {
    a.method == b.method && a.bci == b.bci
}

fn counter(agreement: Agreement, top: Top) -> Counter {
    use Agreement::{ButTop, Different, Prefix, Same};
    use Counter as C;
    match (agreement, top) {
        (Same, Top::Interpreter) => C::AgreeInterpreter,
        (Same, Top::Compiled) => C::AgreeCompiled,
        (Same, Top::Stub) => C::AgreeStub,
        (Same, Top::Native) => C::AgreeNative,
        (Same, Top::Anchor | Top::Heap) => C::AgreeAnchor,
        (ButTop, Top::Interpreter) => C::TopInterpreter,
        (ButTop, Top::Compiled) => C::TopCompiled,
        (ButTop, Top::Stub) => C::TopStub,
        (ButTop, Top::Native) => C::TopNative,
        (ButTop, Top::Anchor | Top::Heap) => C::TopAnchor,
        (Prefix, Top::Interpreter) => C::PrefixInterpreter,
        (Prefix, Top::Compiled) => C::PrefixCompiled,
        (Prefix, Top::Stub) => C::PrefixStub,
        (Prefix, Top::Native) => C::PrefixNative,
        (Prefix, Top::Anchor | Top::Heap) => C::PrefixAnchor,
        (Different, Top::Interpreter) => C::DifferInterpreter,
        (Different, Top::Compiled) => C::DifferCompiled,
        (Different, Top::Stub) => C::DifferStub,
        (Different, Top::Native) => C::DifferNative,
        (Different, Top::Anchor | Top::Heap) => C::DifferAnchor,
    }
}
