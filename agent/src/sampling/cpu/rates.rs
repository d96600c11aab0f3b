//! How often each CPU is probed, within a budget.
//!
//! A probe that meets a thread of ours costs a sample. One that meets nobody wakes the main thread,
//! which costs about [`MISS_NS`] of CPU time: these have a budget. A CPU that is met often gets
//! more of it: with rate ~ sqrt(hits / misses) the variance of the totals is least for their cost.
//!
//! The rule is a pure function of the past, so samples that weigh 1 / rate are unbiased.

/// CPU time that a probe costs that meets nobody: two wake-ups.
const MISS_NS: f64 = 30_000.0;
/// Budget when the process uses no CPU time, in CPUs. With the wake-ups of the agent's threads it
/// is 0.25 % of a CPU.
const IDLE_BUDGET: f64 = 0.0015;
/// Part of the CPU time of the process that may be spent besides.
const BUSY_BUDGET: f64 = 0.01;
/// Longest stratum: a CPU is probed so often at least, on average, whatever it costs.
const MAX_STRATUM_NS: f64 = 4e9;
/// The share of probes that meet somebody is taken to lie this far from 0 and 1.
const MIN_SHARE: f64 = 0.01;

/// Mean length of the next strata of each CPU, in intervals. `shares`: the part of the probes of
/// each CPU that met a thread. `cpus_used`: CPU time of the process by time.
pub(super) fn strata(shares: &[f64], cpus_used: f64, interval_ns: f64) -> Vec<f64> {
    let full = 1e9 / interval_ns;
    let misses = (IDLE_BUDGET + BUSY_BUDGET * cpus_used) * 1e9 / MISS_NS;
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

#[cfg(test)]
mod tests;
