//! Moments and spans of time that the application notes (`Marks` of the Java API).

use super::queue::{EventQueue, Payload};
use signal_core::counters::Counter;

/// Queues one that the calling thread notes, if a recording is running.
pub(super) fn queue(queue: &EventQueue, name: String, begin_nanos: u64, end_nanos: u64) {
    let counters = &queue.handler.counters;
    counters.add(Counter::MarksSeen);
    // Without a context, or with one that is being written: without values.
    let (mut event, _) = queue.current_event(end_nanos, Payload::Mark { begin_nanos });
    event.class = name;
    if !queue.push(event) {
        counters.add(Counter::MarksLost);
    }
}
