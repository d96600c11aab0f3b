//! All counters of the agent at one moment, for `status` and the recording.

use crate::entry::agent::{Agent, Live};
use crate::entry::api_copies;
use crate::guard;
use crate::metrics::{self, Snapshot, WriterCounters};
use crate::panics;
use stack_walker::safe_fetch;
use std::sync::atomic::Ordering::Relaxed;

/// The counters with their names, in a fixed order.
pub(crate) fn take(agent: &Agent, live: &Live, writer: &WriterCounters) -> Snapshot {
    metrics::handler(&live.handler.counters)
        .chain(writer.each())
        .chain(live.observers.counters.each())
        .chain(live.wall.counters.each())
        .chain(live.poll.each())
        .chain(metrics::all_misuse())
        .chain(metrics::THREADS.into_iter().zip(live.threads.figures()))
        .chain(metrics::REGISTRY.into_iter().zip(agent.registry.figures()))
        .chain([(metrics::API_REFUSED, api_copies::refused())])
        .chain([("blocks.freed", agent.blocks_freed.load(Relaxed))])
        .chain([("state.off_by_error", u64::from(guard::is_disabled()))])
        .chain([("walk.own.faults", safe_fetch::contained_faults())])
        .chain([("agent.panics", panics::caught())])
        .collect()
}
