//! CPU time by the clock, while CPU samples are taken: what the samples should add up to.

use crate::os::{agent_thread, timers};
use schema::counter::Counter;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// CPU time of the process, and the part of the agent's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CpuTime {
    pub(crate) process_ns: u64,
    pub(crate) agent_ns: u64,
}

impl CpuTime {
    /// Up to now.
    pub(crate) fn now() -> Self {
        Self {
            process_ns: timers::process_cpu_nanos(),
            agent_ns: agent_thread::cpu_nanos(),
        }
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            process_ns: self.process_ns.saturating_sub(earlier.process_ns),
            agent_ns: self.agent_ns.saturating_sub(earlier.agent_ns),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            process_ns: self.process_ns + other.process_ns,
            agent_ns: self.agent_ns + other.agent_ns,
        }
    }
}

/// Reads the CPU time as often as that costs little: the kernel adds up the clocks of all threads,
/// 0.15 us each.
#[derive(Debug, Default)]
pub(crate) struct CpuClock {
    /// The last reading, when it was taken, and how long that took.
    last: Mutex<Option<(CpuTime, Instant, Duration)>>,
}

impl CpuClock {
    /// One reading in so many times of its length: 0.02 % of a CPU.
    const REST: u32 = 5_000;

    /// A recent reading.
    pub(crate) fn recent(&self) -> CpuTime {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = Instant::now();
        match *last {
            Some((reading, at, took)) if begin.duration_since(at) < took * Self::REST => reading,
            _ => {
                let reading = CpuTime::now();
                *last = Some((reading, begin, begin.elapsed()));
                reading
            }
        }
    }
}

/// The CPU time of all periods in which samples were taken.
#[derive(Debug, Default)]
pub(crate) struct SampledCpu {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Of the periods that have ended.
    total: CpuTime,
    /// At the start of the period that runs.
    start: Option<CpuTime>,
}

impl State {
    fn total(&self, now: CpuTime) -> CpuTime {
        let running = self
            .start
            .map_or(CpuTime::default(), |start| now.since(start));
        self.total.plus(running)
    }
}

impl SampledCpu {
    /// Samples are taken from now on.
    pub(crate) fn begin(&self, now: CpuTime) {
        self.with(|state| {
            state.total = state.total(now);
            state.start = Some(now);
        });
    }

    /// Whether samples are taken.
    pub(crate) fn is_on(&self) -> bool {
        self.with(|state| state.start.is_some())
    }

    /// No more samples are taken.
    pub(crate) fn end(&self, now: CpuTime) {
        self.with(|state| {
            state.total = state.total(now);
            state.start = None;
        });
    }

    /// The counters.
    pub(crate) fn counts(&self, now: CpuTime) -> [(Counter, u64); 2] {
        let total = self.with(|state| state.total(now));
        [
            (Counter::CpuProcess, total.process_ns),
            (Counter::CpuAgent, total.agent_ns),
        ]
    }

    fn with<T>(&self, body: impl FnOnce(&mut State) -> T) -> T {
        body(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_while_samples_are_taken_counts() {
        let at = |process_ns| CpuTime {
            process_ns,
            agent_ns: process_ns / 10,
        };
        let cpu = SampledCpu::default();
        let process = |now| cpu.counts(at(now)).map(|(_, ns)| ns);
        assert_eq!(process(50), [0, 0]);
        cpu.begin(at(100));
        assert_eq!(process(150), [50, 5]);
        cpu.end(at(200));
        assert_eq!(process(900), [100, 10]);
        cpu.begin(at(1000));
        cpu.begin(at(1100)); // restarted
        assert_eq!(process(1150), [250, 25]);
    }
}
