//! CPU samples, by one of two engines: timers per CPU, or where the kernel cannot do that a timer
//! on the CPU clock of each thread.

mod per_cpu;
mod prober;
mod rates;
mod trial;

use self::per_cpu::PerCpuSampler;
use super::Sampler;
use crate::log;
use crate::options::Engine;
use crate::os::sigaction;
use crate::threads::ThreadDirectory;
use signal_core::handler_state::HandlerState;

/// The engine that samples CPU time.
#[derive(Debug)]
pub(crate) enum CpuSampler {
    /// Timers per CPU.
    PerCpu(PerCpuSampler),
    /// A timer for each thread.
    Tick {
        threads: &'static ThreadDirectory,
        signal: i32,
    },
}

impl CpuSampler {
    /// Starts the engine that the user has chosen, or the best one that works here.
    pub(crate) fn start(
        handler: &'static HandlerState,
        threads: &'static ThreadDirectory,
        signal: i32,
        engine: Engine,
    ) -> Result<Self, String> {
        threads.start_scans();
        let tick = Self::Tick { threads, signal };
        if engine == Engine::Tick {
            threads.start_timers(signal);
            return Ok(tick);
        }
        match PerCpuSampler::start(handler, signal) {
            Ok(sampler) => Ok(Self::PerCpu(sampler)),
            Err(why) if engine == Engine::PerCpu => Err(format!("engine=percpu: {why}")),
            Err(why) => {
                // If no thread gets a timer, that is reported instead.
                if threads.start_timers(signal) {
                    log::warn(&format!(
                        "{why}: samples come on the kernel's tick (engine=tick), which misses \
                         threads that work for less than a tick at a time"
                    ));
                }
                Ok(tick)
            }
        }
    }

    /// The word of the engine in the option string.
    pub(crate) fn engine(&self) -> Engine {
        match self {
            Self::PerCpu(_) => Engine::PerCpu,
            Self::Tick { .. } => Engine::Tick,
        }
    }
}

impl Sampler for CpuSampler {
    fn has_ended(&self) -> bool {
        match self {
            Self::PerCpu(sampler) => sampler.has_ended(),
            Self::Tick { signal, .. } => !sigaction::is_ours(*signal),
        }
    }

    fn stop(self) {
        match self {
            Self::PerCpu(sampler) => sampler.stop(),
            Self::Tick { threads, .. } => threads.stop_timers(),
        }
    }
}
