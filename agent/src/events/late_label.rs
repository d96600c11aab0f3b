//! Labels that become known while their request runs: what was sampled before belongs to them, too.

use super::queue::{EventQueue, LateValue, ObservedEvent, Payload};
use signal_core::block::{ReadOutcome, Values};
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;

/// Queues it with the value that the calling thread has in the slot now.
pub(super) fn queue(queue: &EventQueue, label: LateValue) {
    let counters = &queue.handler.counters;
    counters.add(Counter::LateSeen);
    let thread = queue.current_thread();
    let mut values = Values::default();
    let found = queue.handler.blocks.copy(thread.logical_tid, &mut values);
    let event = ObservedEvent {
        nanos: monotonic_nanos(),
        thread,
        values,
        frames: Vec::new(),
        class: String::new(),
        payload: Payload::LateLabel(label),
        holder: None,
    };
    if found != ReadOutcome::Values || !queue.push(event) {
        counters.add(Counter::LateLost);
    }
}
