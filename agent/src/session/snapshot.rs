//! All counters of the agent at one moment, for `status` and the recording.

use crate::guard;
use crate::metrics::{self, Snapshot};
use crate::panics;
use crate::session::api_copies;
use crate::session::components::Components;
use signal_core::counters::{Counter, Counters};
use stack_walker::safe_fetch;

/// Takes the counters of the process, and of a recording those that start at 0 with it.
pub(super) fn take(components: &Components, recording: &Counters) -> Snapshot {
    let mut snapshot = Snapshot::default();
    snapshot.add_all(&components.handler.counters);
    snapshot.add_all(recording);
    snapshot.extend(metrics::misuse_counts());
    snapshot.extend(components.threads.counts());
    snapshot.extend(components.registry.counts());
    snapshot.extend(components.sampled_cpu.counts(components.cpu_clock.recent()));
    snapshot.extend([
        (Counter::ApiRefused, api_copies::refused()),
        (Counter::StateOffByError, u64::from(guard::is_disabled())),
        (Counter::OwnFaults, safe_fetch::contained_faults()),
        (Counter::AgentPanics, panics::caught()),
    ]);
    snapshot
}
