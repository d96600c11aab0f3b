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
    let probes = &handler.engine.probes;
    // SAFETY: no arguments; on the list of system calls.
    let is_main = i64::from(probes.main_tid()) == unsafe { libc::syscall(libc::SYS_gettid) };
    let was_woken = sleep::was_woken(handler, context);
    if is_main {
        probes.main_is_free(nanos);
    } else if was_woken {
        handler.counters.add(Counter::ProbesInterrupted);
    }
    // A thread whose wait has ended was woken because the probe met nobody; or it was at work, on
    // its way into the wait.
    let is_met = is_here && (!was_woken || (!is_main && probes.was_main_free(probe.planned_ns)));
    let is_late = nanos.saturating_sub(probe.planned_ns) > MAX_LATENESS_NS;
    if !is_main && (!is_met || is_late) {
        probes.main_may_be_passed_over();
    }
    match (is_met, tls::is_agent_thread()) {
        (false, _) => Encounter::Nobody,
        (true, true) => Encounter::Agent,
        (true, false) if is_late => Encounter::Unknown,
        (true, false) => Encounter::Thread,
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
