//! The rule of the rates against simulated machines: unbiased, and within the budget.

use super::*;
use signal_core::random;

const INTERVAL: f64 = 10e6;
const FULL: f64 = 1e9 / INTERVAL;

fn misses(shares: &[f64], strata: &[f64]) -> f64 {
    let each = |(share, length): (&f64, &f64)| FULL / length * (1.0 - share);
    shares.iter().zip(strata).map(each).sum()
}

fn budget(cpus_used: f64) -> f64 {
    (IDLE_BUDGET + BUSY_BUDGET * cpus_used) * 1e9 / MISS_NS
}

#[test]
fn cpus_of_a_busy_service_are_probed_at_full_rate() {
    assert_eq!(strata(&[1.0, 1.0], 2.0, INTERVAL), [1.0, 1.0]);
    assert_eq!(strata(&[0.8, 0.7], 1.5, INTERVAL), [1.0, 1.0]);
    let sixteen = [0.5; 16];
    assert_eq!(strata(&sixteen, 8.0, INTERVAL), [1.0; 16], "half of them");
    assert_eq!(strata(&[], 0.0, INTERVAL), [0.0; 0]);
}

#[test]
fn mixed_lengths_have_the_rate_of_the_mean_length() {
    let mut state = 3;
    for length in [1.0, 1.2, 2.0, 2.9, 17.5] {
        let mut rate = 0.0;
        for _ in 0..20_000 {
            let chosen = whole(
                length,
                float(random::below(&mut state, 1 << 20)) / 1_048_576.0,
            );
            assert!(
                (f64::from(chosen) - length).abs() <= 1.0,
                "{chosen} {length}"
            );
            rate += 1.0 / f64::from(chosen) / 20_000.0;
        }
        assert!((rate * length - 1.0).abs() < 0.02, "{rate} {length}");
    }
}

#[test]
fn misses_stay_within_the_budget_on_any_machine() {
    let mut state = 7;
    for _ in 0..300 {
        let cpus = 1 + random::below(&mut state, 256);
        let share = |_| float(random::below(&mut state, 1001)) / 1000.0;
        let shares: Vec<f64> = (0..cpus).map(share).collect();
        let used = shares.iter().sum();
        for interval in [1e6, 10e6, 100e6] {
            let strata = strata(&shares, used, interval);
            let rate = |length: &f64| 1e9 / interval / length;
            let all: f64 = strata
                .iter()
                .zip(&shares)
                .map(|(l, s)| rate(l) * (1.0 - s))
                .sum();
            // The longest stratum is 4 s.
            let most = budget(used) + float(cpus) / 4.0;
            assert!(all <= most * 1.05, "{all} of {most}: {shares:?} {strata:?}");
        }
    }
}

#[test]
fn cpu_that_is_met_more_often_is_probed_more_often() {
    let shares = [0.0, 0.1, 0.5, 0.9];
    let many: Vec<f64> = shares.repeat(16);
    let strata = strata(&many, 1.0, INTERVAL);
    assert!(strata[0] > strata[1] && strata[1] > strata[2] && strata[2] >= strata[3]);
    assert!(strata.iter().all(|length| *length <= 400.0), "{strata:?}");
    assert!(misses(&many, &strata) <= budget(1.0) * 1.05);
}

/// A machine on which a thread runs on CPU `where_is(interval)`, sampled by the rule; returns the
/// sum of the weights and the number of intervals that the thread ran.
fn simulate(
    state: &mut u64,
    cpus: usize,
    intervals: u64,
    where_is: impl Fn(u64) -> Option<usize>,
) -> (f64, f64, u32) {
    let mut shares = vec![0.5; cpus];
    let mut lengths = vec![1_u32; cpus];
    let mut next: Vec<(u64, u64)> = vec![(0, 0); cpus]; // end of the stratum, instant
    let (mut sum, mut ran, mut heaviest) = (0.0, 0.0, 0);
    let mut used = 0.0;
    for now in 0..intervals {
        let runs_on = where_is(now);
        ran += f64::from(u8::from(runs_on.is_some()));
        used += (f64::from(u8::from(runs_on.is_some())) - used) / 20.0;
        for cpu in 0..cpus {
            let (end, instant) = &mut next[cpu];
            if *end == now {
                *end = now + u64::from(lengths[cpu]);
                *instant = now + random::below(state, u64::from(lengths[cpu]));
            }
            if *instant == now {
                let is_met = runs_on == Some(cpu);
                let weight = u32::try_from(*end - now).unwrap_or(0).max(lengths[cpu]);
                if is_met {
                    sum += f64::from(lengths[cpu]);
                    heaviest = heaviest.max(weight);
                }
                shares[cpu] += (f64::from(u8::from(is_met)) - shares[cpu]) / 50.0;
            }
        }
        if now % 20 == 0 {
            let ends: Vec<u64> = next.iter().map(|(end, _)| *end).collect();
            let new = strata(&shares, used, INTERVAL);
            for (cpu, length) in new.into_iter().enumerate() {
                // A length counts from the next stratum on.
                if ends[cpu] == now + 1 || ends[cpu] <= now {
                    lengths[cpu] = whole(length, float(random::below(state, 1_000)) / 1e3);
                }
            }
        }
    }
    (sum, ran, heaviest)
}

/// The CPU that the thread runs on in an interval.
type Place = fn(u64) -> Option<usize>;

#[test]
fn totals_are_unbiased_for_threads_that_roam_stick_and_burst() {
    let mut state = 4711;
    let places: [(usize, Place); 4] = [
        (1, |now| (now % 3 != 0).then_some(0)),
        (4, |now| Some(usize::try_from(now / 7 % 4).unwrap_or(0))),
        (16, |_| Some(5)),
        // An idle time, then a storm.
        (64, |now| {
            let number = usize::try_from(now.wrapping_mul(0x9E37_79B9) % 64).unwrap_or(0);
            (now > 3_000).then_some(number)
        }),
    ];
    for (cpus, place) in places {
        let (mut ratios, mut squares) = (0.0, 0.0);
        let runs = 60;
        for _ in 0..runs {
            let (sum, ran, heaviest) = simulate(&mut state, cpus, 4_000, place);
            let ratio = sum / ran;
            ratios += ratio;
            squares += (ratio - 1.0) * (ratio - 1.0);
            assert!(heaviest <= 400);
        }
        let mean = ratios / f64::from(runs);
        let deviation = (squares / f64::from(runs)).sqrt() / f64::from(runs).sqrt();
        assert!(
            (mean - 1.0).abs() <= 4.0 * deviation + 0.002,
            "{cpus} CPUs: {mean} +- {deviation}"
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn float(number: u64) -> f64 {
    number as f64
}
