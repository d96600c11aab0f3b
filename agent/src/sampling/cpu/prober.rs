//! The prober: arms the timers of CPUs on which no thread of the process ran to do it, and sets how
//! often each CPU is probed.
//!
//! It moves to a CPU to arm its timers there. It sleeps while threads of the process are met, as
//! their handlers arm the timers.

use super::rates::{self, MissCost, float};
use super::trial;
use crate::log;
use crate::os::affinity::{self, CpuSet};
use crate::os::agent_thread;
use crate::os::seed::seed;
use crate::os::thread::ShortSlices;
use crate::os::timers::{self, ProcessTimer};
use crate::os::{sigaction, stall_tolerant};
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;
use signal_core::engine::probes::{CpuProbes, MAX_CPUS, PER_CPU, ProbePlace, ProbeTable};
use signal_core::handler_state::HandlerState;
use signal_core::random;
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
/// Timers of all CPUs together: the kernel limits their number per user (`ulimit -i`).
const MAX_TIMERS: usize = 1024;
/// Timers of a CPU, at least.
const MIN_TIMERS_PER_CPU: usize = 8;
/// How long the end waits for handlers that arm timers; they take microseconds.
const QUIET: Duration = Duration::from_millis(200);

/// A CPU that is probed.
#[derive(Debug)]
struct ProbedCpu {
    number: usize,
    probes: &'static CpuProbes,
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
    /// The CPUs of the process.
    set: CpuSet,
    /// Those of its main thread, when they were last read.
    main_set: CpuSet,
    cpus: Vec<ProbedCpu>,
    random: u64,
    rates_at_ns: u64,
    check_at_ns: u64,
    miss_cost: MissCost,
    /// An arming that comes late leaves an interval without a probe.
    _own_slices: Option<ShortSlices>,
    /// Of the main thread: until it runs, the kernel gives the next signal that met nobody to
    /// another thread, and wakes that.
    main_slices: Option<ShortSlices>,
}

impl Prober {
    /// Tries the engine on the calling thread, which is the agent's, and adds all CPUs of the
    /// process.
    pub(super) fn start(handler: &'static HandlerState, signal: i32) -> Result<Self, String> {
        let now_ns = monotonic_nanos();
        let mut prober = Self {
            handler,
            signal,
            set: affinity::of_process(),
            main_set: affinity::of_main_thread(),
            cpus: Vec::new(),
            random: seed(),
            rates_at_ns: now_ns,
            check_at_ns: now_ns,
            miss_cost: MissCost::new(),
            _own_slices: ShortSlices::request(0),
            main_slices: None,
        };
        let table = prober.table();
        let main_tid = i32::try_from(std::process::id()).unwrap_or(0);
        table.configure(handler.engine.interval(), seed(), main_tid);
        table.make_places(prober.set.end());
        prober.try_engine()?;
        for cpu in prober.set.iter() {
            prober.add(cpu)?;
        }
        prober.shorten_main_slices();
        table.open();
        prober.serve(|_| true);
        Ok(prober)
    }

    /// Serves the timers until `stop`, or until another action has our signal.
    pub(super) fn run(&mut self, stop: &AtomicBool) {
        let probes = &self.handler.engine.probes;
        while !stop.load(SeqCst) && sigaction::is_ours(self.signal) {
            let has_work = || {
                let now_ns = monotonic_nanos();
                let mut cpus = self.cpus.iter();
                stop.load(SeqCst) || cpus.any(|cpu| probes.needs_prober(cpu.number, now_ns))
            };
            probes.wake.wait(REST, has_work);
            let now_ns = monotonic_nanos();
            if now_ns.saturating_sub(self.rates_at_ns) >= RATES_NS {
                self.set_rates(now_ns);
            }
            if now_ns.saturating_sub(self.check_at_ns) >= CHECK_NS {
                self.check(now_ns);
            }
            self.serve(|cpu| probes.needs_prober(cpu, now_ns));
        }
    }

    fn table(&self) -> &'static ProbeTable {
        &self.handler.engine.probes
    }

    fn try_engine(&self) -> Result<(), String> {
        let cpu = self
            .set
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
        self.table().add(cpu, 1, seed(), monotonic_nanos());
        trial::run(self.handler, cpu, probes, self.signal)
    }

    fn add(&mut self, cpu: usize) -> Result<(), String> {
        let table = self.table();
        let Some(probes) = table.cpu(cpu) else {
            return Ok(()); // beyond the table: it is not probed
        };
        let cpus = self.set.iter().count().max(1);
        let count = (MAX_TIMERS / cpus).clamp(MIN_TIMERS_PER_CPU, PER_CPU);
        let made: Result<Vec<_>, _> = (0..count)
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
        table.add(cpu, count, seed(), monotonic_nanos());
        self.cpus.push(ProbedCpu {
            number: cpu,
            probes,
            timers,
            share: 0.5,
            seen: (0, 0),
        });
        Ok(())
    }

    /// Arms the timers of the chosen CPUs, on each of them. A CPU that the process may not use any
    /// more is given up.
    fn serve(&mut self, is_chosen: impl Fn(usize) -> bool) {
        let (table, counters) = (self.table(), &self.handler.counters);
        self.cpus.retain(|cpu| {
            if !is_chosen(cpu.number) {
                return true;
            }
            let is_ours = affinity::bind_to(cpu.number);
            if is_ours {
                let skipped = table.arm(cpu.number, monotonic_nanos());
                counters.add_many(Counter::ProbesSkipped, skipped);
            }
            is_ours
        });
    }

    fn set_rates(&mut self, now_ns: u64) {
        for cpu in &mut self.cpus {
            cpu.learn();
        }
        let missed = self.handler.counters.get(Counter::ProbesMissed);
        let main_cpu_ns = timers::thread_cpu_nanos(self.table().main_tid());
        agent_thread::add_cpu_nanos(self.miss_cost.learn(missed, main_cpu_ns));
        let shares: Vec<f64> = self.cpus.iter().map(|cpu| cpu.share).collect();
        let interval_ns = float(self.handler.engine.interval());
        let strata = rates::strata(&shares, self.miss_cost.nanos(), interval_ns);
        for (cpu, length) in self.cpus.iter().zip(strata) {
            let chance = float(random::below(&mut self.random, 1 << 32)) / 4_294_967_296.0;
            cpu.probes.set_stratum(rates::whole(length, chance));
        }
        self.rates_at_ns = now_ns;
    }

    /// Gives the main thread short slices, unless it has Java to run.
    fn shorten_main_slices(&mut self) {
        let main_tid = self.table().main_tid();
        let record = self.handler.records.by_os_tid(main_tid);
        self.main_slices = match record {
            Some(record) if record.jni_env.load(Relaxed) != 0 => None,
            _ => self
                .main_slices
                .take()
                .or_else(|| ShortSlices::request(main_tid)),
        };
    }

    /// Looks for signals that never came, and for CPUs that have come or gone.
    fn check(&mut self, now_ns: u64) {
        let table = self.table();
        let overdue = |cpu: &ProbedCpu| table.give_back_overdue(cpu.number, now_ns, OVERDUE_NS);
        let lost: u32 = self.cpus.iter().map(overdue).sum();
        let counters = &self.handler.counters;
        counters.add_many(Counter::ProbesLost, u64::from(lost));
        self.shorten_main_slices();
        let set = affinity::of_main_thread();
        if set != self.main_set && !set.is_empty() {
            self.main_set = set;
            self.follow(set);
        }
        self.check_at_ns = now_ns;
    }

    fn follow(&mut self, set: CpuSet) {
        self.set = set;
        self.table().make_places(set.end());
        self.cpus.retain(|cpu| set.has(cpu.number));
        for cpu in set.iter() {
            if self.cpus.iter().any(|probed| probed.number == cpu) {
                continue;
            }
            if let Err(why) = self.add(cpu) {
                log::warn_rarely(&format!("CPU {cpu} is not sampled: {why}"));
            }
        }
    }
}

impl Drop for Prober {
    /// No handler arms a timer after its deletion: the kernel may give its id to somebody else.
    fn drop(&mut self) {
        let table = self.table();
        table.close();
        if !stall_tolerant::until(QUIET, || !table.is_arming()) {
            // A handler still holds an id: the timers stay, disarmed by their last expiry.
            for cpu in &mut self.cpus {
                std::mem::take(&mut cpu.timers)
                    .into_iter()
                    .for_each(ProcessTimer::leak);
            }
        }
    }
}

impl Drop for ProbedCpu {
    fn drop(&mut self) {
        self.probes.remove();
    }
}

impl ProbedCpu {
    fn learn(&mut self) {
        let (taken, met) = (&self.probes.taken, &self.probes.met);
        let (taken, met) = (taken.load(Relaxed), met.load(Relaxed));
        let new = taken.saturating_sub(self.seen.0);
        if new == 0 {
            return;
        }
        let share = float(met.saturating_sub(self.seen.1)) / float(new);
        let part = 1.0 - (-float(new) / MEMORY_PROBES).exp();
        self.share += (share - self.share) * part;
        self.seen = (taken, met);
    }
}

const _: () = assert!(MAX_CPUS == affinity::MAX_CPUS, "one table for each set");
