//! Moments and spans of time that the application notes (`Marks` of the Java API).

use super::queue::{EventQueue, ObservedEvent, Payload};
use signal_core::block::Values;
use signal_core::counters::Counter;

/// Queues one that the calling thread notes, if a recording is running.
pub(super) fn queue(queue: &EventQueue, name: String, begin_nanos: u64, end_nanos: u64) {
    let counters = &queue.handler.counters;
    counters.add(Counter::MarksSeen);
    let thread = queue.current_thread();
    let mut values = Values::default();
    // Without a context, or one that is being written: without values.
    let _ = queue.handler.blocks.copy(thread.logical_tid, &mut values);
    let event = ObservedEvent {
        nanos: end_nanos,
        thread,
        values,
        frames: Vec::new(),
        class: name,
        payload: Payload::Mark { begin_nanos },
        holder: None,
    };
    if !queue.push(event) {
        counters.add(Counter::MarksLost);
    }
}
