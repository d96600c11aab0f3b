//! The prober: arms the timers of CPUs on which no thread of the process ran to do it, and sets how
//! often each CPU is probed.
//!
//! It moves to a CPU to arm its timers there. It sleeps while threads of the process are met, as
//! their handlers arm the timers.

use super::{rates, trial};
use crate::os::affinity::{self, CpuSet};
use crate::os::seed::seed;
use crate::os::thread as os_thread;
use crate::os::timers::{self, ProcessTimer};
use crate::os::{sigaction, stall_tolerant};
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;
use signal_core::engine::probes::{MAX_CPUS, PER_CPU, ProbePlace, ProbeTable};
use signal_core::handler_state::HandlerState;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Duration;

/// Longest sleep.
const REST: Duration = Duration::from_millis(500);
/// Time between two settings of the rates.
const RATES_NS: u64 = 200_000_000;
/// Time between two checks for CPUs that have come or gone, and for signals that are missing.
const CHECK_NS: u64 = 1_000_000_000;
/// A signal that is missing so long after its instant will not come.
const OVERDUE_NS: u64 = 500_000_000;
/// The share of probes that meet a thread is a mean over about so many probes.
const MEMORY_PROBES: f64 = 50.0;
/// How long the end waits for handlers that arm timers; they take microseconds.
const QUIET: Duration = Duration::from_millis(100);

/// A CPU that is probed.
#[derive(Debug)]
struct ProbedCpu {
    number: usize,
    /// In the order of the table; deleted with this.
    timers: Vec<ProcessTimer>,
    /// The part of its probes that met a thread, smoothed.
    share: f64,
    /// Its counters when `share` was last set.
    seen: (u64, u64),
}

/// See the module.
#[derive(Debug)]
pub(super) struct Prober {
    handler: &'static HandlerState,
    signal: i32,
    cpus: Vec<ProbedCpu>,
    rates_at_ns: u64,
    check_at_ns: u64,
    /// CPU time of the process at this time.
    used: (u64, u64),
}

impl Prober {
    /// Tries the engine on the calling thread, which is the agent's, and adds all CPUs of the
    /// process.
    pub(super) fn start(handler: &'static HandlerState, signal: i32) -> Result<Self, String> {
        // An arming that comes late leaves an interval without a probe.
        os_thread::request_short_slices();
        let set = affinity::of_process();
        let now_ns = monotonic_nanos();
        let mut prober = Self {
            handler,
            signal,
            cpus: Vec::new(),
            rates_at_ns: now_ns,
            check_at_ns: now_ns,
            used: (now_ns, timers::process_cpu_nanos()),
        };
        let table = prober.table();
        table.configure(handler.engine.interval(), seed());
        prober.try_engine(&set)?;
        for cpu in set.iter() {
            let phase_ns = prober.phase(cpu, &set);
            prober.add(cpu, phase_ns)?;
        }
        table.open();
        prober.serve(|_| true);
        Ok(prober)
    }

    /// Serves the timers until `stop`, or until another action has our signal.
    pub(super) fn run(&mut self, stop: &AtomicBool) {
        let (handler, numbers) = (self.handler, self.numbers());
        let needs = |cpu: &usize, now_ns| handler.engine.probes.needs_prober(*cpu, now_ns);
        while !stop.load(SeqCst) && sigaction::is_ours(self.signal) {
            let has_work = || {
                let now_ns = monotonic_nanos();
                stop.load(SeqCst) || numbers.iter().any(|cpu| needs(cpu, now_ns))
            };
            self.table().wake.wait(REST, has_work);
            let now_ns = monotonic_nanos();
            if now_ns.saturating_sub(self.rates_at_ns) >= RATES_NS {
                self.set_rates(now_ns);
            }
            if now_ns.saturating_sub(self.check_at_ns) >= CHECK_NS {
                self.check(now_ns);
            }
            self.serve(|cpu| needs(&cpu, now_ns));
        }
    }

    fn table(&self) -> &'static ProbeTable {
        &self.handler.engine.probes
    }

    fn numbers(&self) -> Vec<usize> {
        self.cpus.iter().map(|cpu| cpu.number).collect()
    }

    fn try_engine(&self, set: &CpuSet) -> Result<(), String> {
        let cpu = set
            .iter()
            .next()
            .ok_or("the CPUs of this process are not known")?;
        let probes = self
            .table()
            .cpu(cpu)
            .ok_or("its CPUs have too high numbers")?;
        if !affinity::bind_to(cpu) {
            return Err("a thread cannot be bound to a CPU".into());
        }
        self.table().add(cpu, 0, seed(), monotonic_nanos());
        trial::run(self.handler, cpu, probes, self.signal)
    }

    /// The instants of the CPUs of a set lie evenly apart.
    fn phase(&self, cpu: usize, set: &CpuSet) -> u64 {
        let rank = set.iter().take_while(|other| *other != cpu).count() as u64;
        let count = set.iter().count().max(1) as u64;
        self.handler.engine.interval() / count * rank
    }

    fn add(&mut self, cpu: usize, phase_ns: u64) -> Result<(), String> {
        let table = self.table();
        let Some(probes) = table.cpu(cpu) else {
            return Ok(()); // beyond the table: it is not probed
        };
        let made: Result<Vec<_>, _> = (0..PER_CPU)
            .map(|index| {
                let value = table.value(ProbePlace { cpu, index });
                ProcessTimer::create(self.signal, value)
            })
            .collect();
        let timers = made.map_err(|error| {
            format!("no timers for CPU {cpu} ({error}; ulimit -i limits their number)")
        })?;
        for (index, timer) in timers.iter().enumerate() {
            if let Some(probe) = probes.probe(index) {
                probe.timer.store(timer.id_plus_one(), Relaxed);
            }
        }
        table.add(cpu, phase_ns, seed(), monotonic_nanos());
        self.cpus.push(ProbedCpu {
            number: cpu,
            timers,
            share: 0.5,
            seen: (0, 0),
        });
        Ok(())
    }

    /// Arms the timers of the chosen CPUs, on each of them.
    fn serve(&self, is_chosen: impl Fn(usize) -> bool) {
        for cpu in self.numbers().into_iter().filter(|cpu| is_chosen(*cpu)) {
            if affinity::bind_to(cpu) {
                let armed = self.table().arm(cpu, monotonic_nanos());
                let counters = &self.handler.counters;
                counters.add_many(Counter::ProbesSkipped, armed.skipped);
            }
        }
    }

    fn set_rates(&mut self, now_ns: u64) {
        let table = self.table();
        for cpu in &mut self.cpus {
            if let Some(probes) = table.cpu(cpu.number) {
                cpu.learn(probes.taken.load(Relaxed), probes.met.load(Relaxed));
            }
        }
        let cpu_ns = timers::process_cpu_nanos();
        let used = ratio(
            cpu_ns.saturating_sub(self.used.1),
            now_ns.saturating_sub(self.used.0),
        );
        let shares: Vec<f64> = self.cpus.iter().map(|cpu| cpu.share).collect();
        let strata = rates::strata(&shares, used, float(self.handler.engine.interval()));
        for (cpu, intervals) in self.cpus.iter().zip(strata) {
            if let Some(probes) = table.cpu(cpu.number) {
                probes.set_stratum(intervals);
            }
        }
        self.used = (now_ns, cpu_ns);
        self.rates_at_ns = now_ns;
    }

    /// Looks for signals that never came.
    fn check(&mut self, now_ns: u64) {
        let table = self.table();
        let overdue = |cpu: &ProbedCpu| table.give_back_overdue(cpu.number, now_ns, OVERDUE_NS);
        let lost: u32 = self.cpus.iter().map(overdue).sum();
        let counters = &self.handler.counters;
        counters.add_many(Counter::ProbesLost, u64::from(lost));
        self.check_at_ns = now_ns;
    }
}

impl Drop for Prober {
    /// No handler arms a timer after its deletion: the kernel may give its id to somebody else.
    fn drop(&mut self) {
        self.table().close();
        let handler = self.handler;
        let quiet = |step: Duration| {
            std::thread::park_timeout(step.min(Duration::from_millis(1)));
            handler.quiet().then_some(())
        };
        let is_quiet = stall_tolerant::wait(QUIET, quiet).is_some();
        for cpu in &mut self.cpus {
            for probe in
                (0..PER_CPU).filter_map(|i| self.handler.engine.probes.cpu(cpu.number)?.probe(i))
            {
                probe.timer.store(0, Relaxed);
            }
            if !is_quiet {
                // A handler still holds an id: the timers stay, disarmed by their last expiry.
                std::mem::take(&mut cpu.timers)
                    .into_iter()
                    .for_each(ProcessTimer::leak);
            }
        }
    }
}

impl ProbedCpu {
    fn learn(&mut self, taken: u64, met: u64) {
        let new = taken.saturating_sub(self.seen.0);
        if new == 0 {
            return;
        }
        let share = ratio(met.saturating_sub(self.seen.1), new);
        let part = 1.0 - (-float(new) / MEMORY_PROBES).exp();
        self.share += (share - self.share) * part;
        self.seen = (taken, met);
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    float(part) / float(whole.max(1))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate needs no more than 52 bits"
)]
fn float(number: u64) -> f64 {
    number as f64
}

const _: () = assert!(MAX_CPUS == affinity::MAX_CPUS, "one table for each set");
