//! Wall-clock samples.

use super::sample::{CaptureOutcome, SampleRequest, take_sample};
use crate::counters::Counter;
use crate::engine;
use crate::handler_state::HandlerState;
use crate::record::{WALL_ASLEEP, WALL_AWAKE, WALL_LEFT_OUT};
use crate::sleep;
use crate::slots::SampleKind;
use crate::ucontext::InterruptedContext;
use core::sync::atomic::Ordering::{Relaxed, Release};

/// Takes a wall-clock sample of the calling thread, and says what became of it.
pub(super) fn on_wall(handler: &HandlerState, context: InterruptedContext<'_>) {
    let nanos = engine::monotonic_nanos();
    handler.counters.add(Counter::WallSignals);
    let Some(thread) = handler.current_thread() else {
        return handler.counters.add(Counter::WallLost);
    };
    let record = thread.record();
    if record.in_handler.swap(1, Relaxed) != 0 {
        record.wall_state.store(WALL_LEFT_OUT, Relaxed);
        return handler.counters.add(Counter::WallLost); // the outer handler clears the flag
    }
    let vm_state = handler.vm_state(thread);
    let asleep = sleep::is_asleep(handler, vm_state, context);
    let request = SampleRequest {
        kind: if asleep {
            SampleKind::WallAsleep
        } else {
            SampleKind::WallAwake
        },
        weight: 1,
        nanos,
        vm_state,
        context,
    };
    let outcome = take_sample(handler, thread, &request);
    match outcome {
        CaptureOutcome::Sample => {}
        CaptureOutcome::NoSlot => handler.counters.add(Counter::WallLost),
        CaptureOutcome::Filtered => handler.counters.add(Counter::WallFiltered),
        CaptureOutcome::NoContext => handler.counters.add(Counter::WallNoContext),
    }
    // Only a sample that was taken can stand for other probes.
    let state = match outcome {
        CaptureOutcome::Sample if asleep => WALL_ASLEEP,
        CaptureOutcome::Sample => WALL_AWAKE,
        CaptureOutcome::NoSlot | CaptureOutcome::Filtered | CaptureOutcome::NoContext => {
            WALL_LEFT_OUT
        }
    };
    record
        .wall_cpu_ns
        .store(engine::thread_cpu_nanos(), Relaxed);
    // Release: pairs with the Acquire of the wall-clock thread, which then reads `wall_cpu`.
    record.wall_state.store(state, Release);
    record.in_handler.store(0, Relaxed);
}
