//! How often each CPU is probed, within a budget.
//!
//! A probe that meets a thread of ours costs a sample. One that meets nobody wakes the main thread:
//! these have a budget. A CPU that is met often gets more of it: with rate ~ sqrt(hits / misses)
//! the variance of the totals is least for their cost.
//!
//! The rule is a pure function of the past, so samples that weigh 1 / rate are unbiased.

/// Budget when the process uses no CPU time, in CPUs. With the wake-ups of the agent's threads it
/// is 0.25 % of a CPU.
const IDLE_BUDGET: f64 = 0.0012;
/// Part of the CPU time of the process that may be spent besides.
const BUSY_BUDGET: f64 = 0.01;
/// Longest stratum: a CPU is probed so often at least, on average, whatever it costs.
const MAX_STRATUM_NS: f64 = 4e9;
/// The share of probes that meet somebody is taken to lie this far from 0 and 1.
const MIN_SHARE: f64 = 0.01;

/// What a probe costs that meets nobody, by the clock of the main thread, which takes its signal.
#[derive(Debug)]
pub(super) struct MissCost {
    nanos: f64,
    /// Such probes, and CPU time of the main thread, when `nanos` was last set.
    seen: Option<(u64, u64)>,
}

impl MissCost {
    /// Of the first probes.
    const INITIAL: f64 = 40_000.0;
    /// A main thread that is a Java thread has other work too.
    const RANGE: (f64, f64) = (20_000.0, float(Self::MAX_NANOS));
    const MAX_NANOS: u64 = 100_000;
    /// So many probes change it.
    const MIN_NEW: u64 = 10;

    pub(super) const fn new() -> Self {
        Self {
            nanos: Self::INITIAL,
            seen: None,
        }
    }

    /// `missed`: all probes until now that met nobody. `main_cpu_ns`: of the main thread. Returns
    /// the part of that time which the probes since the last call have cost.
    pub(super) fn learn(&mut self, missed: u64, main_cpu_ns: u64) -> u64 {
        let (seen, seen_ns) = *self.seen.get_or_insert((missed, main_cpu_ns));
        let new = missed.saturating_sub(seen);
        if new < Self::MIN_NEW {
            return 0;
        }
        let used_ns = main_cpu_ns.saturating_sub(seen_ns);
        let each = float(used_ns) / float(new);
        self.nanos = f64::midpoint(self.nanos, each.clamp(Self::RANGE.0, Self::RANGE.1));
        self.seen = Some((missed, main_cpu_ns));
        used_ns.min(new.saturating_mul(Self::MAX_NANOS))
    }

    /// CPU time in nanoseconds.
    pub(super) const fn nanos(&self) -> f64 {
        self.nanos
    }
}

/// Mean length of the next strata of each CPU, in intervals. `shares`: the part of the probes of
/// each CPU that met a thread; together the CPUs that the process uses. `miss_ns`: what a probe
/// costs that meets nobody.
pub(super) fn strata(shares: &[f64], miss_ns: f64, interval_ns: f64) -> Vec<f64> {
    let full = 1e9 / interval_ns;
    let used: f64 = shares.iter().sum();
    let misses = (IDLE_BUDGET + BUSY_BUDGET * used) * 1e9 / miss_ns;
    let shares: Vec<f64> = shares
        .iter()
        .map(|share| share.clamp(MIN_SHARE, 1.0 - MIN_SHARE))
        .collect();
    let rate = |share: f64, scale: f64| (scale * (share / (1.0 - share)).sqrt()).min(full);
    let cost = |scale: f64| -> f64 {
        shares
            .iter()
            .map(|share| rate(*share, scale) * (1.0 - share))
            .sum()
    };
    // Every rate is full at this scale.
    let mut above = full * (1.0 / MIN_SHARE).sqrt();
    let mut below = 0.0;
    if cost(above) <= misses {
        below = above;
    }
    for _ in 0..50 {
        let middle = f64::midpoint(below, above);
        if cost(middle) <= misses {
            below = middle;
        } else {
            above = middle;
        }
    }
    let longest = (MAX_STRATUM_NS / interval_ns).max(1.0);
    shares
        .iter()
        .map(|share| (full / rate(*share, below).max(1e-9)).clamp(1.0, longest))
        .collect()
}

/// A whole length near the mean length, so that the rate is right on average: the rates of lengths
/// `n` and `n + 1` are mixed. `chance` is uniform in 0..1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and below 2^32 by `strata`"
)]
pub(super) fn whole(length: f64, chance: f64) -> u32 {
    let shorter = length.floor().max(1.0);
    let (rate, fast, slow) = (1.0 / length.max(1.0), 1.0 / shorter, 1.0 / (shorter + 1.0));
    let is_shorter = chance < (rate - slow) / (fast - slow);
    shorter as u32 + u32::from(!is_shorter)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate needs no more than 52 bits"
)]
pub(super) const fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
