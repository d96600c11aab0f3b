//! When a CPU sample is taken. Two engines:
//!
//! * **per CPU** ([`probes`]): on each CPU of the process one random instant per interval. Whoever
//!   of the process runs there at that instant is sampled, whatever it does before and after.
//! * **tick**: a periodic timer on the CPU clock of each thread. The kernel looks at it on its tick
//!   only, so every sample lies on a tick: cheap, and biased for work in step with it.
//!
//! All times are nanoseconds. A sample's weight is the number of intervals it stands for, so the
//! weights of a thread add up to its CPU time divided by the interval.

pub mod probes;
mod timers;

pub use crate::clock::{monotonic_nanos, thread_cpu_nanos};

use crate::random;
use crate::record::ThreadRecord;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use probes::ProbeTable;

/// Settings of a recording, and the timers per CPU.
#[derive(Debug)]
pub struct Engine {
    interval: AtomicU64,
    tick: u64,
    /// The timers per CPU.
    pub probes: ProbeTable,
}

/// Who sent a signal that names its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The timer on the thread's CPU clock.
    Tick,
    /// Test builds: sent by the storm, a sample at once.
    Storm,
    /// Sent by the wall-clock thread: a sample of what the thread does now, running or not.
    Wall,
}

/// Set-up methods.
impl Engine {
    /// An engine with this length of the kernel's tick; [`Engine::configure`] before use.
    pub const fn new(tick_nanos: u64, probes: ProbeTable) -> Self {
        Self {
            interval: AtomicU64::new(10_000_000),
            tick: tick_nanos,
            probes,
        }
    }

    /// Sets the interval of the next recording. No timer may be armed.
    pub fn configure(&self, interval_nanos: u64) {
        self.interval.store(interval_nanos.max(1), Relaxed);
    }

    /// Length of an interval.
    pub fn interval(&self) -> u64 {
        self.interval.load(Relaxed)
    }

    /// Arms the timer on the CPU clock of a thread.
    ///
    /// Its first expiry is a random number rounded down to whole ticks: each tick of the thread's
    /// life is then equally likely to carry its first sample, also for threads that live less than
    /// an interval.
    pub fn start_tick(&self, record: &ThreadRecord) {
        let interval = self.interval();
        let mut seed = record.seed.load(Relaxed);
        let first = round_down(random::below(&mut seed, interval), self.tick);
        record.seed.store(seed, Relaxed);
        timers::arm_periodic(&record.cpu_timer, first, interval);
    }
}

fn round_down(number: u64, unit: u64) -> u64 {
    number
        .checked_rem(unit)
        .map_or(number, |rest| number.wrapping_sub(rest))
}

#[cfg(test)]
mod tests {
    use super::round_down;

    #[test]
    fn first_expiry_is_a_whole_number_of_ticks() {
        assert_eq!(round_down(9_999_999, 4_000_000), 8_000_000);
        assert_eq!(round_down(3_999_999, 4_000_000), 0);
        assert_eq!(round_down(5, 0), 5, "a tick that is not known");
    }
}
