//! Whom a probe of the timers per CPU has met.

use super::sample::sample_cpu;
use crate::counters::Counter;
use crate::engine::monotonic_nanos;
use crate::engine::probes::{MAX_LATENESS_NS, ProbePlace, TakenProbe};
use crate::handler_state::HandlerState;
use crate::sleep::{self, EndedCall};
use crate::tls;
use crate::ucontext::InterruptedContext;
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
    let cpu = current_cpu();
    let is_here = cpu == Some(place.cpu);
    let here = cpu.and_then(|cpu| probes.cpu(cpu));
    let is_chained = here.is_some_and(|here| here.follows(nanos));
    let encounter = encounter(handler, probe, nanos, (is_here, is_chained), context);
    count_encounter(handler, place, encounter);
    if encounter == Encounter::Thread && probe.weight > 0 {
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
    if let Some(here) = here {
        here.handled(monotonic_nanos());
    }
}

fn encounter(
    handler: &HandlerState,
    probe: TakenProbe,
    nanos: u64,
    (is_here, is_chained): (bool, bool),
    context: InterruptedContext<'_>,
) -> Encounter {
    let probes = &handler.engine.probes;
    // SAFETY: no arguments; on the list of system calls.
    let is_main = i64::from(probes.main_tid()) == unsafe { libc::syscall(libc::SYS_gettid) };
    let call = sleep::ended_call(handler, context);
    if is_main {
        probes.main_is_free(nanos);
    } else if call == EndedCall::Wait {
        handler.counters.add(Counter::ProbesInterrupted);
    }
    let is_late = nanos.saturating_sub(probe.planned_ns) > MAX_LATENESS_NS;
    let is_clear = is_here && !is_late && call != EndedCall::Wait;
    // A thread that lost its CPU at once takes its signal late, or on another CPU; until then it
    // does nothing. Its signal was not another thread's if nobody has one pending.
    let is_proved = || {
        let may_be_anothers = is_main || is_chained || call != EndedCall::None;
        !may_be_anothers && probes.was_main_free(probe.planned_ns, nanos)
    };
    let is_met = is_clear || is_proved();
    if !is_main && !is_met {
        probes.main_may_be_passed_over();
    }
    match (is_met, tls::is_agent_thread()) {
        (true, true) => Encounter::Agent,
        (true, false) => Encounter::Thread,
        (false, _) if is_late && is_here && call != EndedCall::Wait => Encounter::Unknown,
        (false, _) => Encounter::Nobody,
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
