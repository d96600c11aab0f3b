//! Whom a probe of the timers per CPU has met.

use super::sample::sample_cpu;
use crate::counters::Counter;
use crate::engine::monotonic_nanos;
use crate::engine::probes::{MAX_LATENESS_NS, ProbePlace, TakenProbe};
use crate::handler_state::HandlerState;
use crate::ucontext::InterruptedContext;
use crate::{sleep, tls};
use core::sync::atomic::Ordering::Relaxed;

/// What a probe has met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encounter {
    /// This thread, at work.
    Thread,
    /// A thread of the agent.
    Agent,
    /// Nobody: the kernel has woken this thread, or the signal was taken on another CPU.
    Nobody,
    /// Unknown: the signal came too late.
    Unknown,
}

/// Judges a probe, takes a sample if it met this thread, and lets its timer be armed again.
pub(super) fn on_probe(handler: &HandlerState, place: ProbePlace, context: InterruptedContext<'_>) {
    let nanos = monotonic_nanos();
    let probes = &handler.engine.probes;
    let Some(probe) = probes.take(place, nanos) else {
        return handler.counters.add(Counter::ProbesOutdated);
    };
    handler.counters.add(Counter::Probes);
    let is_here = current_cpu() == Some(place.cpu);
    let encounter = encounter(handler, probe, nanos, is_here, context);
    count_encounter(handler, place, encounter);
    if encounter == Encounter::Thread {
        sample_cpu(handler, probe.weight, nanos, context);
    }
    probes.release(place);
    let now = monotonic_nanos();
    if is_here {
        let skipped = probes.arm(place.cpu, now);
        handler.counters.add_many(Counter::ProbesSkipped, skipped);
    } else if probes.needs_prober(place.cpu, now) {
        probes.wake.wake();
    }
}

fn encounter(
    handler: &HandlerState,
    probe: TakenProbe,
    nanos: u64,
    is_here: bool,
    context: InterruptedContext<'_>,
) -> Encounter {
    if tls::is_agent_thread() {
        Encounter::Agent
    } else if sleep::was_woken(handler, context) {
        count_interrupted(handler);
        Encounter::Nobody
    } else if !is_here {
        Encounter::Nobody
    } else if nanos.saturating_sub(probe.planned_ns) > MAX_LATENESS_NS {
        Encounter::Unknown
    } else {
        Encounter::Thread
    }
}

/// The main thread is woken by each probe that meets nobody; any other one was about to sleep, or
/// was woken in its place.
fn count_interrupted(handler: &HandlerState) {
    // SAFETY: no arguments; on the list of system calls.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    if i64::from(handler.engine.probes.main_tid()) != tid {
        handler.counters.add(Counter::ProbesInterrupted);
    }
}

fn count_encounter(handler: &HandlerState, place: ProbePlace, encounter: Encounter) {
    let counter = match encounter {
        Encounter::Thread => Counter::ProbesMet,
        Encounter::Agent => Counter::ProbesAgent,
        Encounter::Nobody => Counter::ProbesMissed,
        Encounter::Unknown => Counter::ProbesLate,
    };
    handler.counters.add(counter);
    let Some(cpu) = handler.engine.probes.cpu(place.cpu) else {
        return;
    };
    if encounter != Encounter::Unknown {
        cpu.taken.fetch_add(1, Relaxed);
    }
    match encounter {
        Encounter::Thread => cpu.met.fetch_add(1, Relaxed),
        Encounter::Agent => cpu.met_agent.fetch_add(1, Relaxed),
        Encounter::Nobody | Encounter::Unknown => 0,
    };
}

/// The CPU that the calling thread runs on.
pub(super) fn current_cpu() -> Option<usize> {
    // SAFETY: no arguments; on the list of calls.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}
