//! Labels that become known while their request runs: what was sampled before belongs to them, too.

use super::queue::{EventQueue, LateValue, Payload};
use signal_core::block::ReadOutcome;
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;

/// Queues it with the value that the calling thread has in the slot now.
pub(super) fn queue(queue: &EventQueue, label: LateValue) {
    let counters = &queue.handler.counters;
    counters.add(Counter::LateSeen);
    let (event, found) = queue.current_event(monotonic_nanos(), Payload::LateLabel(label));
    if found != ReadOutcome::Values || !queue.push(event) {
        counters.add(Counter::LateLost);
    }
}
