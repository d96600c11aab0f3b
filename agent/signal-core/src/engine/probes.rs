//! The timers per CPU: who runs on this CPU at a random instant?
//!
//! A *probe* is one expiry of a monotonic timer that was armed on a CPU and signals the process.
//! Since Linux 6.4 the kernel gives that signal to the thread that the timer interrupt met on the
//! CPU, if the thread belongs to the process: it is sampled. Otherwise the CPU was idle or ran
//! another process; the kernel then wakes the main thread, which takes no sample.
//!
//! **Instants.** Time is cut into intervals, the same on all CPUs. A *stratum* of a CPU is a number
//! of intervals in a row, with one probe at a uniformly random instant; a sample by it weighs that
//! number. The length is set before the instant is drawn and depends on the past only, so totals
//! and shares are unbiased whatever the lengths are.
//!
//! **CPUs.** The instants of two CPUs are independent. If they lay a fixed time apart, shares would be
//! biased beside busy processes: a probe that meets nobody wakes the main thread, which takes the CPU
//! of another thread for some milliseconds, and the next probe would always meet that thread at the
//! same point of its work. They are never close either: the queue of the process could swap their
//! signals.
//!
//! **Arming.** A timer fires on the CPU where it was armed, so only code that runs there arms it:
//! a handler on that CPU, or the prober, which moves there. Each CPU has timers for
//! many strata ahead, so that a probe that met nobody need not be replaced at once.
//!
//! Who owns a probe: whoever takes its instant ([`ProbeTable::take`]), until [`ProbeTable::release`]
//! sets its bit; then whoever clears the bit ([`ProbeTable::arm`]).

use super::timers;
use crate::futex::WakeWord;
use crate::random;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64};

/// Timers that a CPU can have.
pub const PER_CPU: usize = 32;
/// Number of CPUs that can be probed: those of a `cpu_set_t`.
pub const MAX_CPUS: usize = 1024;
/// A signal that comes later after its instant than this may have waited in the queue of the process
/// for another thread than the one that takes it.
pub const MAX_LATENESS_NS: u64 = 150_000;
/// No timer is armed for a stratum that begins later than this from now, unless it is the only one:
/// the lengths of strata should follow the load.
const MAX_AHEAD_NS: u64 = 400_000_000;
/// The prober is called when the armed timers of a CPU last for less than this. On a machine that is
/// busy with other processes it may wait so long for a CPU.
const MIN_AHEAD_NS: u64 = MAX_AHEAD_NS / 2;
/// About the least distance of the instants of two CPUs in an interval, unless there are too many
/// CPUs.
const MIN_DISTANCE_NS: u64 = 150_000;
/// CPUs below this number are searched for a pending signal.
const MAX_SEARCHED: usize = 32;
/// Strata in a row whose instant may have passed when it is drawn.
const MAX_DRAWS: u32 = 4;

/// One timer of a CPU.
#[repr(C)]
#[derive(Debug)]
pub struct Probe {
    /// Kernel id plus one, 0 = none.
    pub timer: AtomicI32,
    weight: AtomicU32,
    /// The instant that it is armed for, 0 = none.
    planned_ns: AtomicU64,
}

/// The timers of a CPU.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct CpuProbes {
    probes: [Probe; PER_CPU],
    /// A bit for each timer that exists.
    existing: AtomicU32,
    /// A bit for each timer that may be armed.
    disarmed: AtomicU32,
    /// Length of the next strata, in intervals.
    stratum: AtomicU32,
    /// Number of the interval that the next stratum begins with.
    next_interval: AtomicU64,
    seed: AtomicU64,
    /// When a handler of a probe last ended here.
    handled_ns: AtomicU64,
    /// Probes whose signal came in time.
    pub taken: AtomicU64,
    /// Those that met a thread of the process.
    pub met: AtomicU64,
    /// Those that met a thread of the agent.
    pub met_agent: AtomicU64,
}

/// A probe by CPU and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbePlace {
    /// The CPU.
    pub cpu: usize,
    /// Index of the timer.
    pub index: usize,
}

/// A probe that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenProbe {
    /// Its instant.
    pub planned_ns: u64,
    /// Intervals that a sample by it stands for.
    pub weight: u32,
}

/// The timers of all CPUs.
#[derive(Debug)]
pub struct ProbeTable {
    cpus: &'static [CpuProbes],
    /// Probes are taken and armed.
    is_open: AtomicBool,
    /// Threads that may hold the id of a timer.
    arming: AtomicU32,
    interval_ns: AtomicU64,
    /// Places for the instants of CPUs in an interval: a prime number.
    places: AtomicU64,
    /// Random number of this recording.
    seed: AtomicU64,
    /// OS id of the main thread of the process.
    main_tid: AtomicI32,
    /// See [`ProbeTable::main_is_free`]; `u64::MAX` = not known.
    main_free_since_ns: AtomicU64,
    /// A CPU with a number from [`MAX_SEARCHED`] on is probed.
    is_large: AtomicBool,
    /// Wakes the prober.
    pub wake: WakeWord,
}

/// Set-up methods.
impl ProbeTable {
    /// A table over zeroed memory.
    pub const fn new(cpus: &'static [CpuProbes]) -> Self {
        Self {
            cpus,
            is_open: AtomicBool::new(false),
            arming: AtomicU32::new(0),
            interval_ns: AtomicU64::new(1),
            places: AtomicU64::new(2),
            seed: AtomicU64::new(1),
            main_tid: AtomicI32::new(0),
            main_free_since_ns: AtomicU64::new(u64::MAX),
            is_large: AtomicBool::new(false),
            wake: WakeWord::new(),
        }
    }

    /// Sets the interval and the random number of a recording, and the main thread of the process.
    /// No timer exists.
    pub fn configure(&self, interval_ns: u64, seed: u64, main_tid: i32) {
        self.main_tid.store(main_tid, Relaxed);
        self.interval_ns.store(interval_ns.max(1), Relaxed);
        self.seed.store(seed, Relaxed);
        self.is_large.store(false, Relaxed);
    }

    /// Makes places for CPUs with numbers below `cpus`, for instants that are drawn from now on.
    pub fn make_places(&self, cpus: usize) {
        let distances = self.interval().checked_div(MIN_DISTANCE_NS).unwrap_or(0);
        let places = distances.min(MAX_CPUS as u64).max(cpus as u64);
        self.places.store(prime_from(places), Relaxed);
    }

    /// Lets timers be armed.
    pub fn open(&self) {
        self.is_open.store(true, SeqCst);
    }

    /// The end of [`ProbeTable::open`]: a handler that starts from now on arms no timer.
    pub fn close(&self) {
        self.is_open.store(false, SeqCst);
    }

    /// Whether a thread may be about to arm a timer. After [`ProbeTable::close`] it stays `false`.
    pub fn is_arming(&self) -> bool {
        // SeqCst with `arm`: either that is seen here, or it sees that the table is closed.
        self.arming.load(SeqCst) != 0
    }

    /// The timers of a CPU, if it can be probed.
    pub fn cpu(&self, cpu: usize) -> Option<&'static CpuProbes> {
        self.cpus.get(cpu)
    }

    /// Adds a CPU with its first `timers`: all of these may be armed, from the next interval on.
    pub fn add(&self, cpu: usize, timers: usize, seed: u64, now_ns: u64) {
        let Some(probes) = self.cpu(cpu) else { return };
        self.is_large.fetch_or(cpu >= MAX_SEARCHED, Relaxed);
        probes.stratum.store(1, Relaxed);
        probes.seed.store(seed.max(1), Relaxed);
        let now = now_ns.checked_div(self.interval()).unwrap_or(0);
        probes.next_interval.store(now.saturating_add(1), Relaxed);
        for counter in [&probes.taken, &probes.met, &probes.met_agent] {
            counter.store(0, Relaxed);
        }
        for probe in &probes.probes {
            probe.planned_ns.store(0, Relaxed);
        }
        let beyond = PER_CPU.saturating_sub(timers);
        let existing = u32::MAX.wrapping_shr(u32::try_from(beyond).unwrap_or(0));
        probes.existing.store(existing, Relaxed);
        probes.disarmed.store(existing, SeqCst);
    }

    /// Arms one timer for this instant while the table is closed; `false` if the kernel refuses.
    /// With weight 0 its probe takes no sample of whom it meets: it is a trial.
    pub fn arm_one(&self, place: ProbePlace, at_ns: u64, weight: u32) -> bool {
        let cpu = self.cpu(place.cpu);
        let Some((cpu, probe)) = cpu.and_then(|cpu| Some((cpu, cpu.probe(place.index)?))) else {
            return false;
        };
        cpu.disarmed.fetch_and(!bit(place.index), SeqCst);
        probe.weight.store(weight, Relaxed);
        probe.planned_ns.store(at_ns, SeqCst);
        timers::arm_at(&probe.timer, at_ns)
    }

    /// Whether a timer may be armed: the signal of its last probe has come.
    pub fn is_disarmed(&self, place: ProbePlace) -> bool {
        let cpu = self.cpu(place.cpu);
        cpu.is_some_and(|cpu| cpu.disarmed.load(SeqCst) & bit(place.index) != 0)
    }

    /// The value that the signal of a timer carries: an address of ours, so no other sender's can
    /// equal it.
    pub fn value(&self, place: ProbePlace) -> usize {
        let probe = self.cpu(place.cpu).and_then(|c| c.probe(place.index));
        probe.map_or(0, |probe| ptr::from_ref(probe).addr())
    }

    /// Gives back the probes of a CPU whose signal has not come `patience_ns` after their instant:
    /// it was sent to a thread that was about to exit, say. Returns how many there were.
    pub fn give_back_overdue(&self, cpu: usize, now_ns: u64, patience_ns: u64) -> u32 {
        let Some(probes) = self.cpu(cpu) else {
            return 0;
        };
        let mut overdue: u32 = 0;
        for (index, probe) in probes.probes.iter().enumerate() {
            let planned = probe.planned_ns.load(Relaxed);
            let is_overdue = planned != 0 && now_ns.saturating_sub(planned) > patience_ns;
            let is_taken = is_overdue
                && probe
                    .planned_ns
                    .compare_exchange(planned, 0, Acquire, Relaxed)
                    .is_ok();
            if is_taken {
                self.release(ProbePlace { cpu, index });
                overdue = overdue.saturating_add(1);
            }
        }
        overdue
    }
}

/// Signal-safe methods.
impl ProbeTable {
    /// OS id of the main thread of the process.
    pub fn main_tid(&self) -> i32 {
        self.main_tid.load(Relaxed)
    }

    /// The probe whose signal carries `value`.
    pub fn place(&self, value: usize) -> Option<ProbePlace> {
        let offset = value.checked_sub(self.cpus.as_ptr().addr())?;
        let cpu = offset.checked_div(size_of::<CpuProbes>())?;
        let index = offset
            .checked_rem(size_of::<CpuProbes>())?
            .checked_div(size_of::<Probe>())?;
        let place = ProbePlace { cpu, index };
        (self.value(place) == value && value != 0).then_some(place)
    }

    /// Takes a probe whose signal has come; `None` if it is not due: the signal is an old one of a
    /// timer that was armed again since.
    pub fn take(&self, place: ProbePlace, now_ns: u64) -> Option<TakenProbe> {
        let probe = self.cpu(place.cpu)?.probe(place.index)?;
        let planned_ns = probe.planned_ns.load(Relaxed);
        if planned_ns == 0 || planned_ns > now_ns {
            return None;
        }
        // Fails if somebody has taken it, or armed its timer again since.
        probe
            .planned_ns
            .compare_exchange(planned_ns, 0, Acquire, Relaxed)
            .ok()?;
        Some(TakenProbe {
            planned_ns,
            weight: probe.weight.load(Relaxed),
        })
    }

    /// The main thread takes a signal: from now on the kernel gives it those that met nobody.
    pub fn main_is_free(&self, now_ns: u64) {
        self.main_free_since_ns.store(now_ns, Relaxed);
    }

    /// A signal that met nobody was taken by another thread than the main one. The main thread may
    /// have been woken for it all the same; until it runs the kernel gives it no other.
    pub fn main_may_be_passed_over(&self) {
        self.main_free_since_ns.store(u64::MAX, Relaxed);
    }

    /// Whether the main thread had no signal pending at this instant, and no other is pending now.
    /// If the probe of that instant had met nobody, its signal would have gone to the main thread
    /// and to no other.
    pub fn was_main_free(&self, at_ns: u64, now_ns: u64) -> bool {
        let is_pending = |probe: &Probe| {
            let planned_ns = probe.planned_ns.load(Relaxed);
            planned_ns != 0 && planned_ns <= now_ns
        };
        let has_pending =
            |cpu: &CpuProbes| cpu.existing.load(Relaxed) != 0 && cpu.probes.iter().any(is_pending);
        at_ns > self.main_free_since_ns.load(Relaxed)
            && !self.is_large.load(Relaxed)
            && !self.cpus.iter().take(MAX_SEARCHED).any(has_pending)
    }

    /// Lets the timer of a taken probe be armed again.
    pub fn release(&self, place: ProbePlace) {
        if let Some(cpu) = self.cpu(place.cpu) {
            // SeqCst: see `WakeWord::wake`.
            cpu.disarmed.fetch_or(bit(place.index), SeqCst);
        }
    }

    /// Arms the timers of a CPU that may be armed. The caller runs on that CPU. Returns the number of
    /// intervals without a probe, because their instant had passed.
    pub fn arm(&self, cpu: usize, now_ns: u64) -> u64 {
        self.arming.fetch_add(1, SeqCst);
        let probes = self.cpu(cpu).filter(|_| self.is_open.load(SeqCst));
        let skipped = probes.map_or(0, |probes| self.arm_probes(cpu, probes, now_ns));
        self.arming.fetch_sub(1, SeqCst);
        skipped
    }

    fn arm_probes(&self, cpu: usize, probes: &CpuProbes, now_ns: u64) -> u64 {
        let mut skipped = 0;
        for (index, probe) in probes.probes.iter().enumerate() {
            if !probes.has_room(now_ns, self.interval()) {
                break;
            }
            // Acquire: the previous owner is done with the probe.
            if probes.disarmed.fetch_and(!bit(index), Acquire) & bit(index) == 0 {
                continue;
            }
            let (at_ns, weight) = self.draw(cpu, probes, now_ns, &mut skipped);
            probe.weight.store(weight, Relaxed);
            probe.planned_ns.store(at_ns, SeqCst);
            if !timers::arm_at(&probe.timer, at_ns) {
                // The timer was deleted: nothing is armed any more.
                probe.planned_ns.store(0, Relaxed);
            }
        }
        skipped
    }

    /// Whether the prober should arm timers of this CPU.
    pub fn needs_prober(&self, cpu: usize, now_ns: u64) -> bool {
        let Some(probes) = self.cpu(cpu).filter(|_| self.is_open.load(SeqCst)) else {
            return false;
        };
        let existing = probes.existing.load(Relaxed);
        let disarmed = probes.disarmed.load(SeqCst);
        let are_many = disarmed.count_ones().saturating_mul(2) >= existing.count_ones();
        let next_ns = probes.next_ns(self.interval());
        disarmed == existing || (are_many && next_ns < now_ns.saturating_add(MIN_AHEAD_NS))
    }

    /// Draws the instant of the next stratum, and its weight.
    fn draw(&self, cpu: usize, probes: &CpuProbes, now_ns: u64, skipped: &mut u64) -> (u64, u32) {
        let interval = self.interval();
        let now = now_ns.checked_div(interval).unwrap_or(0);
        for _ in 0..MAX_DRAWS {
            let length = probes.stratum.load(Relaxed).max(1);
            let stratum = u64::from(length);
            let first = probes.next_interval.fetch_add(stratum, Relaxed);
            if first.saturating_add(stratum) <= now {
                // Nobody could arm timers for long: the strata until now have no probe.
                let behind = now.saturating_sub(first);
                *skipped = skipped.saturating_add(behind);
                probes.next_interval.fetch_max(now, Relaxed);
                continue;
            }
            let at = self.instant(cpu, first.saturating_add(probes.below(stratum)));
            if at > now_ns {
                return (at, length);
            }
            *skipped = skipped.saturating_add(stratum);
        }
        let next = now.saturating_add(1);
        probes
            .next_interval
            .fetch_max(next.saturating_add(1), Relaxed);
        (self.instant(cpu, next).max(now_ns.saturating_add(1)), 1)
    }

    /// The instant in interval `number` for this CPU.
    ///
    /// `place = factor * cpu + shift` modulo a prime, with random numbers that all CPUs share: of
    /// two CPUs each pair of different places is equally likely.
    fn instant(&self, cpu: usize, number: u64) -> u64 {
        let (interval, places) = (self.interval(), self.places.load(Relaxed));
        let mut seed = (self.seed.load(Relaxed) ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) | 1;
        // The first number after a seed that was chosen by counting is not random enough.
        random::below(&mut seed, interval);
        random::below(&mut seed, interval);
        let factor = random::below(&mut seed, places.wrapping_sub(1)).wrapping_add(1);
        let shift = random::below(&mut seed, places);
        let place = factor.wrapping_mul(cpu as u64).wrapping_add(shift);
        let place = place.checked_rem(places).unwrap_or(0);
        let within = random::below(&mut seed, interval);
        let offset = place.saturating_mul(interval).saturating_add(within);
        let offset = offset.checked_div(places).unwrap_or(0);
        number.saturating_mul(interval).saturating_add(offset)
    }

    fn interval(&self) -> u64 {
        self.interval_ns.load(Relaxed)
    }
}

impl CpuProbes {
    /// Set-up: sets the length of the next strata, in intervals.
    pub fn set_stratum(&self, intervals: u32) {
        self.stratum.store(intervals.max(1), Relaxed);
    }

    /// A handler of a probe ends on this CPU.
    pub fn handled(&self, now_ns: u64) {
        self.handled_ns.store(now_ns, Relaxed);
    }

    /// Whether a handler follows right on the last one here: the end of a handler looks for signals
    /// that wait for any thread.
    pub fn follows(&self, now_ns: u64) -> bool {
        const CHAIN_NS: u64 = 20_000;
        now_ns.saturating_sub(self.handled_ns.load(Relaxed)) < CHAIN_NS
    }

    /// Set-up: the timers are deleted.
    pub fn remove(&self) {
        self.existing.store(0, Relaxed);
        for probe in &self.probes {
            probe.timer.store(0, Relaxed);
        }
    }

    /// The timer of this number.
    pub fn probe(&self, index: usize) -> Option<&Probe> {
        self.probes.get(index)
    }

    /// Whether a further timer should be armed now.
    fn has_room(&self, now_ns: u64, interval_ns: u64) -> bool {
        let is_last = self.disarmed.load(Relaxed) == self.existing.load(Relaxed);
        is_last || self.next_ns(interval_ns) < now_ns.saturating_add(MAX_AHEAD_NS)
    }

    /// When the next stratum begins.
    fn next_ns(&self, interval_ns: u64) -> u64 {
        let next = self.next_interval.load(Relaxed);
        next.saturating_mul(interval_ns)
    }

    fn below(&self, bound: u64) -> u64 {
        let mut state = self.seed.load(Relaxed);
        let number = random::below(&mut state, bound);
        self.seed.store(state, Relaxed);
        number
    }
}

/// The first prime number that is not below `least`.
fn prime_from(least: u64) -> u64 {
    let is_prime = |number: &u64| {
        let mut divisors = (2..*number).take_while(|d| d.wrapping_mul(*d) <= *number);
        divisors.all(|divisor| number.checked_rem(divisor) != Some(0))
    };
    // Below twice any number there is one.
    let least = least.max(2);
    let mut numbers = least..=least.saturating_mul(2);
    numbers.find(is_prime).unwrap_or(least)
}

fn bit(index: usize) -> u32 {
    1_u32.wrapping_shl(u32::try_from(index).unwrap_or(0))
}

#[cfg(test)]
mod tests;
