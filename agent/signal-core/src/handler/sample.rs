//! Takes samples of the calling thread: context, then stack, into a slot.

use crate::block::{ReadOutcome, Values};
use crate::counters::Counter;
use crate::handler_state::HandlerState;
use crate::java_thread::CurrentThread;
use crate::slots::{Claim, SampleKind};
use crate::ucontext::InterruptedContext;
use crate::walk;
use core::sync::atomic::Ordering::Relaxed;
use schema::event_mask;

/// Takes a CPU sample of the calling thread.
pub(super) fn sample_cpu(
    handler: &HandlerState,
    weight: u32,
    nanos: u64,
    context: InterruptedContext<'_>,
) {
    handler.counters.add(Counter::Signals);
    handler
        .counters
        .add_many(Counter::Overruns, u64::from(weight.saturating_sub(1)));
    // The sample points are passed, whatever becomes of the sample.
    let lose = |counter, weight_counter| {
        handler.counters.add(counter);
        handler.counters.add_many(weight_counter, u64::from(weight));
    };
    let count = |outcome| match outcome {
        CaptureOutcome::Sample => handler.counters.add(Counter::Captured),
        CaptureOutcome::NoSlot => lose(Counter::LostNoSlot, Counter::WeightLost),
        CaptureOutcome::Filtered | CaptureOutcome::NoContext => {
            lose(Counter::LostFiltered, Counter::WeightFiltered);
        }
    };
    let Some(thread) = handler.current_thread() else {
        return count(sample_unregistered(handler, weight, nanos));
    };
    let record = thread.record();
    if record.in_handler.swap(1, Relaxed) != 0 {
        // The outer handler clears the flag.
        return lose(Counter::LostReentry, Counter::WeightLost);
    }
    walk::prefetch(handler, record);
    let request = SampleRequest {
        kind: SampleKind::Cpu,
        weight,
        nanos,
        vm_state: handler.vm_state(thread),
        context,
    };
    count(take_sample(handler, thread, &request));
    record.in_handler.store(0, Relaxed);
}

/// Takes a CPU sample of a thread without a record: a native one that no scan has found yet, or a
/// Java thread before its start event or after its end event. The sample carries its OS thread id,
/// no context and no stack.
fn sample_unregistered(handler: &HandlerState, weight: u32, nanos: u64) -> CaptureOutcome {
    let bit = event_mask::EXECUTION_SAMPLE_BIT;
    if !handler.filter.passes(None) || !handler.filter.passes_without_context(bit) {
        return CaptureOutcome::Filtered;
    }
    let Some(claim) = handler.slots.claim() else {
        return CaptureOutcome::NoSlot;
    };
    let header = claim.header;
    header
        .kind
        .store(SampleKind::CpuUnregistered as u32, Relaxed);
    header.weight.store(weight, Relaxed);
    header.nanos.store(nanos, Relaxed);
    header.thread_serial.store(0, Relaxed);
    // SAFETY: no arguments; on the list of system calls.
    let os_tid = unsafe { libc::syscall(libc::SYS_gettid) };
    header.logical_tid.store(os_tid, Relaxed);
    header.is_virtual.store(0, Relaxed);
    header.vm_state.store(-1, Relaxed);
    header
        .read_outcome
        .store(ReadOutcome::Nothing as u32, Relaxed);
    #[cfg(feature = "oracle")]
    header.truth.store(0, Relaxed);
    claim.set_values(&Values::default());
    header.walk.store(walk::STATE, Relaxed);
    handler.counters.add(walk::counter(walk::STATE));
    claim.publish();
    CaptureOutcome::Sample
}

/// A sample to take.
pub(super) struct SampleRequest<'a> {
    pub(super) kind: SampleKind,
    pub(super) weight: u32,
    pub(super) nanos: u64,
    pub(super) vm_state: i32,
    pub(super) context: InterruptedContext<'a>,
}

/// What became of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaptureOutcome {
    Sample,
    NoSlot,
    Filtered,
    NoContext,
}

/// Takes a sample of the calling thread.
pub(super) fn take_sample(
    handler: &HandlerState,
    thread: CurrentThread,
    request: &SampleRequest<'_>,
) -> CaptureOutcome {
    let Some(claim) = handler.slots.claim() else {
        return CaptureOutcome::NoSlot;
    };
    let header = claim.header;
    header.kind.store(request.kind as u32, Relaxed);
    header.weight.store(request.weight, Relaxed);
    header.nanos.store(request.nanos, Relaxed);
    header
        .thread_serial
        .store(thread.serial.load(Relaxed), Relaxed);
    #[cfg(feature = "oracle")]
    header.truth.store(crate::tls::truth::get(), Relaxed);
    header.vm_state.store(request.vm_state, Relaxed);
    let outcome = read_context(handler, thread, request.kind, &claim);
    if outcome != CaptureOutcome::Sample {
        return outcome; // the claim frees its slot
    }
    let walked = walk::walk(handler, thread, &claim, request.vm_state, request.context);
    header.walk.store(walked, Relaxed);
    handler.counters.add(walk::counter(walked));
    claim.publish();
    CaptureOutcome::Sample
}

/// Copies the context of the running logical thread, and decides whether the filters let the sample
/// through.
fn read_context(
    handler: &HandlerState,
    thread: CurrentThread,
    kind: SampleKind,
    claim: &Claim<'_>,
) -> CaptureOutcome {
    let own = thread.java_tid.load(Relaxed);
    let logical = handler.logical_tid(thread);
    let cpu = kind == SampleKind::Cpu;
    let mut values = Values::default();
    let found = if cpu {
        handler.blocks.read(logical, &mut values)
    } else {
        handler.blocks.copy(logical, &mut values)
    };
    claim.header.logical_tid.store(logical, Relaxed);
    claim
        .header
        .is_virtual
        .store(u32::from(logical != own), Relaxed);
    claim.header.read_outcome.store(found as u32, Relaxed);
    // Also without values: the slot still holds the context of its last sample.
    claim.set_values(&values);
    if logical != own {
        handler.counters.add(Counter::Virtual);
    }
    if !handler
        .filter
        .passes((found == ReadOutcome::Values).then_some(&values))
    {
        return CaptureOutcome::Filtered;
    }
    let bit = if cpu {
        event_mask::EXECUTION_SAMPLE_BIT
    } else {
        event_mask::WALL_CLOCK_SAMPLE_BIT
    };
    match found {
        ReadOutcome::Values if values.event_mask & bit == 0 => return CaptureOutcome::Filtered,
        ReadOutcome::Values => handler.counters.add(Counter::ContextPresent),
        _ if !cpu && handler.wall_needs_context.load(Relaxed) => return CaptureOutcome::NoContext,
        ReadOutcome::Torn => handler.counters.add(Counter::ContextTorn),
        ReadOutcome::Foreign => handler.counters.add(Counter::ContextForeign),
        ReadOutcome::Nothing if !handler.filter.passes_without_context(bit) => {
            return CaptureOutcome::Filtered;
        }
        ReadOutcome::Nothing => {}
    }
    CaptureOutcome::Sample
}
