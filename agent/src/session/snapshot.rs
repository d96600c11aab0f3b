//! All counters of the agent at one moment, for `status` and the recording.

use crate::guard;
use crate::metrics::{self, Snapshot, WriterCounters};
use crate::panics;
use crate::session::api_copies;
use crate::session::components::Components;
use stack_walker::safe_fetch;
use std::sync::atomic::Ordering::Relaxed;

/// The counters with their names, in a fixed order.
pub(super) fn take(components: &Components, writer: &WriterCounters) -> Snapshot {
    let Components {
        handler,
        registry,
        threads,
        events,
        wall,
        idle,
        blocks_freed,
        ..
    } = components;
    metrics::handler(&handler.counters)
        .chain(writer.each())
        .chain(events.counters.each())
        .chain(wall.counters.each())
        .chain(idle.counters.each())
        .chain(metrics::all_misuse())
        .chain(metrics::THREADS.into_iter().zip(threads.figures()))
        .chain(metrics::REGISTRY.into_iter().zip(registry.figures()))
        .chain([(metrics::API_REFUSED, api_copies::refused())])
        .chain([("blocks.freed", blocks_freed.load(Relaxed))])
        .chain([("state.off_by_error", u64::from(guard::is_disabled()))])
        .chain([("walk.own.faults", safe_fetch::contained_faults())])
        .chain([("agent.panics", panics::caught())])
        .collect()
}
