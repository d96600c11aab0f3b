//! Whether the kernel gives the signal of a process's timer to the thread that the timer met, tried
//! on the calling thread.
//!
//! By trial and not by version: the patch may be in older kernels, and absent where another kernel
//! serves the system calls.

use crate::os::thread::context_switches;
use crate::os::timers::ProcessTimer;
use signal_core::engine::monotonic_nanos;
use signal_core::engine::probes::{CpuProbes, ProbePlace, ProbeTable};
use signal_core::handler_state::HandlerState;
use std::hint;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// So many probes must meet the calling thread.
const ENOUGH: u32 = 2;
/// The engine does not work if so many do not, though the thread kept its CPU all the time.
const TOO_MANY: u32 = 3;
/// Probes of the trial, at most: on a busy machine the thread loses its CPU again and again.
const TRIES: u32 = 200;
/// How long the trial takes, at most.
const LIMIT_NS: u64 = 5_000_000_000;
/// The weight of a probe that takes no sample: on a busy machine it meets other threads as well.
const TRIAL: u32 = 0;
/// Time to the next probe.
const DELAY_NS: u64 = 40_000;
/// A probe that met this thread has come after so long.
const PATIENCE_NS: u64 = 500_000;
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
    let result = meet(table, probes, place);
    probe.timer.store(0, Relaxed);
    drop(timer);
    result
}

fn meet(table: &ProbeTable, probes: &CpuProbes, place: ProbePlace) -> Result<(), String> {
    let (begin_ns, mut met, mut missed) = (monotonic_nanos(), 0, 0);
    for _ in 0..TRIES {
        let (before, switches) = (probes.met_agent.load(Relaxed), context_switches());
        if !table.arm_one(place, monotonic_nanos() + DELAY_NS, TRIAL) {
            return Err("a timer cannot be armed".into());
        }
        let end_ns = monotonic_nanos() + PATIENCE_NS;
        while !table.is_disarmed(place) && monotonic_nanos() < end_ns {
            hint::spin_loop();
        }
        let has_stayed = context_switches() == switches;
        // The timer has one signal: its next probe waits for it.
        while !table.is_disarmed(place) && monotonic_nanos() - begin_ns < LIMIT_NS {
            std::thread::park_timeout(STEP);
        }
        if probes.met_agent.load(Relaxed) > before {
            met += 1;
        } else if has_stayed {
            missed += 1;
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
        if monotonic_nanos() - begin_ns >= LIMIT_NS {
            break;
        }
    }
    Err("the machine is too busy to try the timers per CPU".into())
}
