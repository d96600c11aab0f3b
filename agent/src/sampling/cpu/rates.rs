//! How often each CPU is probed, within a budget.
//!
//! A probe that meets a thread of ours costs a sample. One that meets nobody wakes the main thread,
//! which costs about [`MISS_NS`] of CPU time: these have a budget. A CPU that is met often gets
//! more of it: with rate ~ sqrt(hits / misses) the variance of the totals is least for their cost.
//!
//! The rule is a pure function of the past, so samples that weigh 1 / rate are unbiased.

/// CPU time that a probe costs that meets nobody: two wake-ups.
const MISS_NS: f64 = 30_000.0;
/// Budget when the process uses no CPU time, in CPUs.
const IDLE_BUDGET: f64 = 0.0025;
/// Part of the CPU time of the process that may be spent besides.
const BUSY_BUDGET: f64 = 0.01;
/// Longest stratum: a CPU is probed so often at least, on average, whatever it costs.
const MAX_STRATUM_NS: f64 = 4e9;
/// The share of probes that meet somebody is taken to lie this far from 0 and 1.
const MIN_SHARE: f64 = 0.01;

/// Length of the next strata of each CPU, in intervals. `shares`: the part of the probes of each
/// CPU that met a thread. `cpus_used`: CPU time of the process by time.
pub(super) fn strata(shares: &[f64], cpus_used: f64, interval_ns: f64) -> Vec<u32> {
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
        .map(|share| whole((full / rate(*share, below).max(1e-9)).min(longest)))
        .collect()
}

/// Rounded up, but for what a calculation leaves.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and below 2^32 by its caller"
)]
fn whole(intervals: f64) -> u32 {
    ((intervals - 1e-6).ceil() as u32).max(1)
}

#[cfg(test)]
mod tests;
