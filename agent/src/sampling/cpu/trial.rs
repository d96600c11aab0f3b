//! Whether the kernel gives the signal of a process's timer to the thread that the timer met, tried
//! on the calling thread.
//!
//! By trial and not by version: the patch may be in older kernels, and absent where another kernel
//! serves the system calls.

use crate::os::timers::ProcessTimer;
use signal_core::engine::monotonic_nanos;
use signal_core::engine::probes::{CpuProbes, ProbePlace};
use signal_core::handler_state::HandlerState;
use std::hint;
use std::sync::atomic::Ordering::Relaxed;

/// Probes of the trial, at most.
const TRIES: u64 = 8;
/// So many must have met the calling thread: it may lose its CPU to another process.
const ENOUGH: u64 = 2;
/// Time to the next probe.
const DELAY_NS: u64 = 40_000;
/// How long a probe is waited for.
const PATIENCE_NS: u64 = 1_000_000;

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
    let mut result = Err(
        "this kernel does not signal the thread that a timer meets (Linux 6.4 or later does)"
            .to_owned(),
    );
    for _ in 0..TRIES {
        if !table.arm_for_trial(place, monotonic_nanos() + DELAY_NS) {
            result = Err("a timer cannot be armed".into());
            break;
        }
        let end = monotonic_nanos() + PATIENCE_NS;
        while !table.is_disarmed(place) && monotonic_nanos() < end {
            hint::spin_loop();
        }
        if probes.met_agent.load(Relaxed) >= ENOUGH {
            result = Ok(());
            break;
        }
    }
    probe.timer.store(0, Relaxed);
    drop(timer);
    result
}
