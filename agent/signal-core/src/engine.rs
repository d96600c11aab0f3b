//! When the next signal comes. Three policies share two timers per thread: a *coarse* one on the
//! thread's CPU clock, which the kernel checks on its tick only, and a *fine* one-shot on the
//! monotonic clock, exact to microseconds but blind to whether the thread runs.
//!
//! * [`Policy::Tick`]: the coarse timer, periodic. Every sample lies on a kernel tick: cheap, and
//!   biased for work in step with it.
//! * [`Policy::Stratified`]: one uniformly random sample point per interval of CPU time. The coarse
//!   timer waits until shortly before it, then the fine one is armed with the rest, again and again
//!   while the thread is preempted. A thread that sleeps has no fine timer: it is handed over to
//!   the idle-thread sampler ([`IdleSet`]). That probes at random moments whether the thread has
//!   reached its point and runs, and sends it a signal then. The two ways must not be mixed for one
//!   point: the fine timer would meet points late in a burst, and those early in the next one,
//!   after a sleep, would come late.
//! * [`Policy::Precise`]: the fine timer also over sleeps, which it interrupts. After
//!   [`MAX_IDLE_WAKEUPS`] wake-ups in a row that found no work done, the thread waits on its coarse
//!   timer, which a sleeping thread never hears.
//!
//! All times are nanoseconds. A sample's weight is the number of sample points it stands for, so
//! the weights of a thread add up to its CPU time divided by the interval.
//!
//! The set-up methods run on threads of the agent, or on a thread that starts or ends with our
//! signals blocked; the signal-safe ones in the thread's own handler.

mod sleep_judgement;
mod timers;

pub use crate::clock::{monotonic_nanos, thread_cpu_nanos};

use crate::idle_set::IdleSet;
use crate::random;
use crate::record::{NO_POINT, ThreadRecord};
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};
use sleep_judgement::{BURST_TICKS, UNKNOWN, has_slept_again, is_idle, was_met_asleep};
use timers::{has_timer, set_timer};

/// How sample points are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Policy {
    /// Periodic timer in CPU time.
    Tick = 0,
    /// Random points; a thread that sleeps is handed over to the idle-thread sampler.
    Stratified = 1,
    /// Random points, fine timer until it is reached.
    Precise = 2,
}

/// How far before a sample point the coarse timer is set: it may come up to a tick late, twice over
/// on a busy CPU.
const MARGIN_TICKS: u64 = 2;
/// A point this close is reached: arming a timer for less would come later than now.
const CLOSE_NANOS: u64 = 20_000;
/// A coarse timer for less than this beyond the margin is not worth its wake-up.
const COARSE_WORTH_NANOS: u64 = 300_000;
/// Mean time between two probes of the idle-thread sampler, at least: each wakes a thread up, 40 µs
/// of CPU time.
const MIN_PROBE_INTERVAL_NANOS: u64 = 2_000_000;
/// Probes, on average, that a thread runs through at its sample point before the coarse timer
/// samples it.
const MISSED_PROBES: u64 = 8;
/// Wake-ups in a row by the fine timer that a sleeping thread gets, `engine=precise`. Each costs it
/// some microseconds.
pub const MAX_IDLE_WAKEUPS: u32 = 32;
/// CPU time that such a wake-up costs the thread itself, at most. A thread that used more has
/// worked.
const WAKEUP_COST_NANOS: u64 = 200_000;
/// The coarse timer with this delay comes on the first tick that finds the thread at work.
const FIRST_TICK_AT_WORK: u64 = 1;

/// Settings of a recording.
#[derive(Debug)]
pub struct Engine {
    policy: AtomicU32,
    interval: AtomicU64,
    tick: AtomicU64,
    /// Threads that are handed over to the idle-thread sampler.
    pub idle: IdleSet,
}

/// Who sent the signal: a timer of the thread, or a thread of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The timer on the CPU clock.
    Coarse,
    /// The one-shot on the monotonic clock.
    Fine,
    /// Sent by the idle-thread sampler to a thread of its set that runs now.
    IdleSampler,
    /// Test builds: sent by the storm, a sample at once.
    Storm,
    /// Sent by the wall-clock thread: a sample of what the thread does now, running or not.
    Wall,
}

/// Set-up methods.
impl Engine {
    /// An engine with the given tick length; [`Engine::configure`] before use.
    pub const fn new(tick_nanos: u64) -> Self {
        Self {
            policy: AtomicU32::new(0),
            interval: AtomicU64::new(10_000_000),
            tick: AtomicU64::new(tick_nanos),
            idle: IdleSet::new(),
        }
    }

    /// Sets policy and interval for the next recording. No timer may be armed.
    pub fn configure(&self, policy: Policy, interval_nanos: u64) {
        self.policy.store(policy as u32, Relaxed);
        self.interval.store(interval_nanos.max(1), Relaxed);
    }

    /// Length of an interval.
    pub fn interval(&self) -> u64 {
        self.interval.load(Relaxed)
    }

    /// CPU time in which each idle thread has slept at least once: somewhat more than its longest
    /// burst.
    pub fn burst_and_sleep(&self) -> u64 {
        let burst = self.tick.load(Relaxed).saturating_mul(BURST_TICKS);
        burst.saturating_add(burst.wrapping_div(4))
    }

    /// Mean time between two probes of the idle-thread sampler: an interval, or a little more.
    pub fn mean_probe_interval(&self) -> u64 {
        self.interval().max(MIN_PROBE_INTERVAL_NANOS)
    }

    /// Whether an idle or parked thread has reached its sample point. At its end that is its last
    /// chance to be sampled.
    pub fn is_overdue(&self, record: &ThreadRecord) -> bool {
        let waits = self.idle.has(record.index.load(Relaxed)) || self.is_parked(record);
        waits && record.target_cpu_ns.load(Relaxed) <= thread_cpu_nanos()
    }

    /// The idle-thread sampler has found that a thread does not sleep: gives it back to its timers,
    /// and hands it over no more until it has used `cpu` nanoseconds.
    pub fn exclude_until(&self, record: &ThreadRecord, cpu: u64) {
        record.awake_until_cpu_ns.store(cpu, Relaxed);
        self.idle.remove(record.index.load(Relaxed));
    }

    /// Sampling has ended: how many sample points a thread that has used `cpu` nanoseconds had
    /// reached and was not sampled for.
    pub fn end(&self, record: &ThreadRecord, cpu: u64) -> u32 {
        let open = if self.policy() == Policy::Tick || record.target_cpu_ns.load(Relaxed) > cpu {
            0
        } else {
            self.pass_points(record, cpu)
        };
        record.target_cpu_ns.store(NO_POINT, Relaxed);
        open
    }

    /// Chooses the first sample point of a thread, on the thread or for it, and arms its coarse
    /// timer. `cpu` is the CPU time the thread has used.
    pub fn start(&self, record: &ThreadRecord, cpu: u64, on_thread: bool) {
        let interval = self.interval();
        if self.policy() == Policy::Tick {
            let first = first_tick_shot(uniform(record, interval), self.tick.load(Relaxed));
            set_timer(&record.coarse_timer, first, interval);
            return;
        }
        // The record may have been another thread's.
        self.idle.remove(record.index.load(Relaxed));
        record
            .stratum
            .store(cpu.checked_div(interval).unwrap_or(0), Relaxed);
        record.judged_cpu_ns.store(cpu, Relaxed);
        record.judged_at_ns.store(monotonic_nanos(), Relaxed);
        record.judged_switches.store(UNKNOWN, Relaxed);
        record.switches.store(UNKNOWN, Relaxed);
        record.idle_wakeups.store(0, Relaxed);
        self.draw(record);
        // The interval that the thread is in now is partly over: a point before `cpu` belonged to
        // time before the recording.
        if record.target_cpu_ns.load(Relaxed) <= cpu {
            self.advance(record, 1);
        }
        if on_thread {
            self.wait(record, cpu);
        } else {
            // Not our thread: the fine timer would hit it asleep. The coarse one fires when it
            // runs.
            set_timer(
                &record.coarse_timer,
                self.before(record.target_cpu_ns.load(Relaxed).saturating_sub(cpu)),
                0,
            );
        }
    }
}

/// Signal-safe methods.
impl Engine {
    /// What a timer signal means: `Some(weight)` = take a sample of that weight, `None` = the point
    /// is not reached yet. Arms the next timer. `overrun` is the kernel's count of further
    /// expiries.
    pub fn on_signal(&self, record: &ThreadRecord, source: Source, overrun: u32) -> Option<u32> {
        if source == Source::Storm {
            return Some(1);
        }
        if self.policy() == Policy::Tick {
            return Some(overrun.saturating_add(1));
        }
        let cpu = thread_cpu_nanos();
        let target = record.target_cpu_ns.load(Relaxed);
        if self.policy() == Policy::Precise {
            count_idle_wakeups(record, source, cpu);
        }
        if target.saturating_sub(cpu) > CLOSE_NANOS {
            match source {
                // Another sample came first: its coarse timer is armed, and the sampler probes
                // again.
                Source::IdleSampler if self.idle.has(record.index.load(Relaxed)) => {}
                Source::Fine if self.may_hand_over(record, cpu) && was_met_asleep(record, cpu) => {
                    self.hand_over(record, cpu);
                }
                _ => self.wait(record, cpu),
            }
            return None;
        }
        let is_given_back =
            self.policy() == Policy::Stratified && !self.idle.has(record.index.load(Relaxed));
        if source == Source::IdleSampler && is_given_back {
            self.defer(record, cpu);
            return None;
        }
        let weight = self.pass_points(record, cpu);
        if self.may_hand_over(record, cpu) && self.is_idle(record, cpu) {
            self.hand_over(record, cpu);
        } else {
            self.idle.remove(record.index.load(Relaxed));
            if self.policy() == Policy::Stratified {
                record.switches.store(UNKNOWN, Relaxed);
            }
            self.wait(record, cpu);
        }
        Some(weight)
    }

    /// Whether the thread sleeps and waits on its coarse timer until it works again.
    fn is_parked(&self, record: &ThreadRecord) -> bool {
        self.policy() == Policy::Precise && record.idle_wakeups.load(Relaxed) >= MAX_IDLE_WAKEUPS
    }

    /// Whether the thread may be handed over to the idle-thread sampler: Java threads only, as its
    /// signal may meet a thread that has just gone to sleep, which native code may not expect.
    fn may_hand_over(&self, record: &ThreadRecord, cpu: u64) -> bool {
        self.policy() == Policy::Stratified
            && record.java_thread.load(Relaxed) != 0
            && cpu >= record.awake_until_cpu_ns.load(Relaxed)
    }

    /// No fine timer from now on. The coarse timer comes later, for a sample that the sampler has
    /// missed. That lies on a tick, so it must be the exception.
    fn hand_over(&self, record: &ThreadRecord, cpu: u64) {
        let left = record.target_cpu_ns.load(Relaxed).saturating_sub(cpu);
        let grace = if self.idle.add(record.index.load(Relaxed)) {
            self.mean_probe_interval().saturating_mul(MISSED_PROBES)
        } else {
            0
        };
        set_timer(&record.coarse_timer, left.saturating_add(grace), 0);
    }

    fn is_idle(&self, record: &ThreadRecord, cpu: u64) -> bool {
        let was_idle = self.idle.has(record.index.load(Relaxed));
        is_idle(record, cpu, self.tick.load(Relaxed), was_idle)
    }

    /// The sampler has given back a thread that is past its point. This signal may have met it
    /// where it got a CPU again, which is on a tick: the sample is taken at a random point of its
    /// next interval.
    fn defer(&self, record: &ThreadRecord, cpu: u64) {
        let more = uniform(record, self.interval());
        record
            .target_cpu_ns
            .store(cpu.saturating_add(more), Relaxed);
        self.wait(record, cpu);
    }

    fn policy(&self) -> Policy {
        match self.policy.load(Relaxed) {
            1 => Policy::Stratified,
            2 => Policy::Precise,
            _ => Policy::Tick,
        }
    }

    /// Moves to the next sample point after `cpu`; answers how many points were passed, the reached
    /// one included.
    fn pass_points(&self, record: &ThreadRecord, cpu: u64) -> u32 {
        let now = cpu.checked_div(self.interval()).unwrap_or(0);
        // Whole intervals behind us had one point each.
        let skipped = now
            .saturating_sub(record.stratum.load(Relaxed))
            .saturating_sub(1);
        self.advance(record, skipped.saturating_add(1));
        let mut weight = skipped.saturating_add(1);
        // The interval we are in: its point may lie behind us as well.
        if record.stratum.load(Relaxed) <= now && record.target_cpu_ns.load(Relaxed) <= cpu {
            weight = weight.saturating_add(1);
            self.advance(record, 1);
        }
        u32::try_from(weight).unwrap_or(u32::MAX)
    }

    fn advance(&self, record: &ThreadRecord, intervals: u64) {
        record.stratum.store(
            record.stratum.load(Relaxed).saturating_add(intervals),
            Relaxed,
        );
        self.draw(record);
    }

    fn draw(&self, record: &ThreadRecord) {
        let interval = self.interval();
        let start = record.stratum.load(Relaxed).saturating_mul(interval);
        record
            .target_cpu_ns
            .store(start.saturating_add(uniform(record, interval)), Relaxed);
    }

    /// Arms the timer that the way to the next sample point begins with.
    fn wait(&self, record: &ThreadRecord, cpu: u64) {
        if self.is_parked(record) {
            // No longer delay: the fine timer takes over on the way to the point, not after it.
            return set_timer(&record.coarse_timer, FIRST_TICK_AT_WORK, 0);
        }
        let left = record.target_cpu_ns.load(Relaxed).saturating_sub(cpu);
        match self.timer_for(left, has_timer(&record.fine_timer)) {
            Timer::Coarse(delay) => set_timer(&record.coarse_timer, delay, 0),
            Timer::Fine(delay) => {
                record.armed_cpu_ns.store(cpu, Relaxed);
                record.armed_at_ns.store(monotonic_nanos(), Relaxed);
                set_timer(&record.fine_timer, delay, 0);
            }
        }
    }

    fn timer_for(&self, left: u64, has_fine: bool) -> Timer {
        if left > self.margin().saturating_add(COARSE_WORTH_NANOS) || !has_fine {
            Timer::Coarse(self.before(left))
        } else {
            Timer::Fine(left)
        }
    }

    fn margin(&self) -> u64 {
        self.tick
            .load(Relaxed)
            .saturating_mul(MARGIN_TICKS)
            .saturating_add(500_000)
    }

    fn before(&self, left: u64) -> u64 {
        left.saturating_sub(self.margin())
    }
}

/// A timer of a thread, and its delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timer {
    Coarse(u64),
    Fine(u64),
}

/// Counts the wake-ups in a row that found no work done. The coarse timer comes while the thread
/// works: the next idle wake-up is the last one again.
fn count_idle_wakeups(record: &ThreadRecord, source: Source, cpu: u64) {
    let before = record.idle_wakeups.load(Relaxed);
    let now = match source {
        Source::Coarse => before.min(MAX_IDLE_WAKEUPS.saturating_sub(1)),
        Source::Fine if has_worked(record, cpu) => 0,
        Source::Fine if has_slept_again(record) => before.saturating_add(1),
        _ => return,
    };
    record.idle_wakeups.store(now, Relaxed);
}

/// Whether the thread has used more CPU time since its fine timer was armed than the wake-up
/// itself.
fn has_worked(record: &ThreadRecord, cpu: u64) -> bool {
    cpu.saturating_sub(record.armed_cpu_ns.load(Relaxed)) > WAKEUP_COST_NANOS
}

/// First expiry of a periodic CPU timer: `u` rounded down to whole ticks, so that each tick of a
/// thread's life is equally likely to carry its first sample, also for threads that live less than
/// an interval.
fn first_tick_shot(u: u64, tick: u64) -> u64 {
    u.checked_rem(tick).map_or(u, |rest| u.wrapping_sub(rest))
}

/// A uniform number below `bound`, from the thread's own generator.
fn uniform(record: &ThreadRecord, bound: u64) -> u64 {
    let mut state = record.seed.load(Relaxed);
    let number = random::below(&mut state, bound);
    record.seed.store(state, Relaxed);
    number
}

#[cfg(test)]
mod tests;
