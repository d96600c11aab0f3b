//! Whether the kernel gives the signal of a process's timer to the thread that the timer met, tried
//! on the calling thread.
//!
//! By trial and not by version: the patch may be in older kernels, and absent where another kernel
//! serves the system calls.

use crate::os::thread::context_switches;
use crate::os::timers::ProcessTimer;
use signal_core::engine::monotonic_nanos;
use signal_core::engine::probes::{CpuProbes, MAX_LATENESS_NS, ProbePlace, ProbeTable};
use signal_core::handler_state::HandlerState;
use std::hint;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// So many probes must meet the calling thread.
const ENOUGH: u32 = 2;
/// The engine does not work if so many do not, though the thread kept its CPU all the time.
const TOO_MANY: u32 = 3;
/// How long the trial takes, at most: on a busy machine the thread loses its CPU again and again.
const LIMIT_NS: u64 = 10_000_000_000;
/// The weight of a probe that takes no sample: on a busy machine it meets other threads as well.
const TRIAL: u32 = 0;
/// Time to the next probe.
const DELAY_NS: u64 = 40_000;
/// Time between two looks for a signal that another thread takes, once it has a CPU.
const STEP: Duration = Duration::from_millis(1);

/// Runs the trial on `cpu`, which the calling thread is bound to. The table is closed, the
/// CPU is added to it and has no timers.
pub(super) fn run(
    handler: &'static HandlerState,
    cpu: usize,
    probes: &CpuProbes,
    signal: i32,
) -> Result<(), String> {
    let table = &handler.engine.probes;
    let place = ProbePlace { cpu, index: 0 };
    let timer = ProcessTimer::create(signal, table.value(place))
        .map_err(|error| format!("no timer for CPU {cpu} ({error})"))?;
    let probe = probes.probe(0).ok_or("no such timer")?;
    probe.timer.store(timer.id_plus_one(), Relaxed);
    let result = meet(table, probes, place, &timer);
    probe.timer.store(0, Relaxed);
    drop(timer);
    result
}

/// What a probe tells of the kernel.
#[derive(Debug, PartialEq)]
enum Evidence {
    /// It met the thread that its timer met.
    Works,
    /// Its timer expired while the thread had its CPU, and another thread got the signal.
    Fails,
    /// The thread lost its CPU, or its timer was late, as on a virtual machine that stood still: a
    /// probe that comes late meets nobody.
    Nothing,
}

/// `has_stayed`: the thread had its CPU until now. `is_elsewhere`: another thread has the signal of
/// the timer, or will have it.
fn evidence(is_met: bool, is_elsewhere: bool, has_stayed: bool) -> Evidence {
    match (is_met, is_elsewhere && has_stayed) {
        (true, _) => Evidence::Works,
        (false, true) => Evidence::Fails,
        (false, false) => Evidence::Nothing,
    }
}

fn meet(
    table: &ProbeTable,
    probes: &CpuProbes,
    place: ProbePlace,
    timer: &ProcessTimer,
) -> Result<(), String> {
    let (begin_ns, mut met, mut missed) = (monotonic_nanos(), 0, 0);
    while monotonic_nanos() - begin_ns < LIMIT_NS {
        let (before, switches) = (probes.met_agent.load(Relaxed), context_switches());
        let planned_ns = monotonic_nanos() + DELAY_NS;
        if !table.arm_one(place, planned_ns, TRIAL) {
            return Err("a timer cannot be armed".into());
        }
        let in_time = || monotonic_nanos() < planned_ns + MAX_LATENESS_NS;
        while !table.is_disarmed(place) && in_time() {
            hint::spin_loop();
        }
        // A signal for this thread comes before it sees that the timer has expired.
        let is_elsewhere = if table.is_disarmed(place) {
            in_time()
        } else {
            timer.has_expired() && !table.is_disarmed(place)
        };
        let has_stayed = context_switches() == switches;
        // The timer has one signal: its next probe waits for it.
        while !table.is_disarmed(place) && monotonic_nanos() - begin_ns < LIMIT_NS {
            std::thread::park_timeout(STEP);
        }
        let is_met = probes.met_agent.load(Relaxed) > before;
        match evidence(is_met, is_elsewhere, has_stayed) {
            Evidence::Works => met += 1,
            Evidence::Fails => missed += 1,
            Evidence::Nothing => {}
        }
        if met >= ENOUGH {
            return Ok(());
        }
        if missed >= TOO_MANY {
            return Err(
                "this kernel does not signal the thread that a timer meets (Linux 6.4 or \
                        later does)"
                    .into(),
            );
        }
    }
    Err("the machine is too busy to try the timers per CPU".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timer_that_is_late_is_no_proof_against_the_kernel() {
        assert_eq!(evidence(false, false, true), Evidence::Nothing);
        assert_eq!(evidence(false, true, false), Evidence::Nothing);
        assert_eq!(evidence(false, true, true), Evidence::Fails);
        assert_eq!(evidence(true, false, false), Evidence::Works);
    }

    #[test]
    fn expired_timer_is_known() {
        let timer = ProcessTimer::create(libc::SIGWINCH, 0).expect("a timer");
        assert!(timer.has_expired(), "not armed");
    }
}
