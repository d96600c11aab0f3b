//! The rule of the rates against simulated machines: unbiased, and within the budget.

use super::*;
use signal_core::random;

const INTERVAL: f64 = 10e6;
const FULL: f64 = 1e9 / INTERVAL;
const MISS_NS: f64 = 45_000.0;

fn misses(shares: &[f64], strata: &[f64]) -> f64 {
    let each = |(share, length): (&f64, &f64)| FULL / length * (1.0 - share);
    shares.iter().zip(strata).map(each).sum()
}

fn budget(cpus_used: f64) -> f64 {
    (IDLE_BUDGET + BUSY_BUDGET * cpus_used) * 1e9 / MISS_NS
}

#[test]
fn cpus_of_a_busy_service_are_probed_at_full_rate() {
    assert_eq!(strata(&[1.0, 1.0], MISS_NS, INTERVAL), [1.0, 1.0]);
    assert_eq!(strata(&[0.8, 0.7], MISS_NS, INTERVAL), [1.0, 1.0]);
    let sixteen = [0.5; 16];
    assert_eq!(
        strata(&sixteen, MISS_NS, INTERVAL),
        [1.0; 16],
        "half of them"
    );
    assert_eq!(strata(&[], MISS_NS, INTERVAL), [0.0; 0]);
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
        let used: f64 = shares.iter().sum();
        for interval in [1e6, 10e6, 100e6] {
            let strata = strata(&shares, MISS_NS, interval);
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
    let shares = [0.0, 0.05, 0.1, 0.2];
    let many: Vec<f64> = shares.repeat(64);
    let strata = strata(&many, MISS_NS, INTERVAL);
    assert!(strata[0] > strata[1] && strata[1] > strata[2] && strata[2] >= strata[3]);
    assert!(strata.iter().all(|length| *length <= 400.0), "{strata:?}");
    assert!(misses(&many, &strata) <= budget(many.iter().sum()) * 1.05);
}

/// What a simulation has seen.
#[derive(Default)]
struct Simulation {
    /// Sum of the weights, and number of the intervals that the thread ran.
    all: (f64, f64),
    /// The part with the label A.
    labelled: (f64, f64),
    heaviest: u32,
    misses: f64,
}

/// In step with nothing: seven of ten stretches of three intervals.
fn has_label(interval: u64) -> bool {
    interval / 3 % 10 < 7
}

/// A machine on which a thread runs on CPU `where_is(interval)`, sampled by the rule.
fn simulate(state: &mut u64, cpus: usize, where_is: Place) -> Simulation {
    let mut shares = vec![0.5; cpus];
    let mut lengths = vec![1_u32; cpus];
    let mut next: Vec<(u64, u64)> = vec![(0, 0); cpus]; // end of the stratum, instant
    let mut seen = Simulation::default();
    for now in 0..INTERVALS {
        let runs_on = where_is(now);
        let ran = f64::from(u8::from(runs_on.is_some()));
        seen.all.1 += ran;
        seen.labelled.1 += if has_label(now) { ran } else { 0.0 };
        for cpu in 0..cpus {
            let (end, instant) = &mut next[cpu];
            if *end == now {
                *end = now + u64::from(lengths[cpu]);
                *instant = now + random::below(state, u64::from(lengths[cpu]));
            }
            if *instant != now {
                continue;
            }
            let is_met = runs_on == Some(cpu);
            let weight = f64::from(lengths[cpu]);
            if is_met {
                seen.all.0 += weight;
                seen.labelled.0 += if has_label(now) { weight } else { 0.0 };
                seen.heaviest = seen.heaviest.max(lengths[cpu]);
            } else {
                seen.misses += 1.0;
            }
            shares[cpu] += (f64::from(u8::from(is_met)) - shares[cpu]) / 50.0;
        }
        if now % 20 == 0 {
            let new = strata(&shares, MISS_NS, INTERVAL);
            for (cpu, length) in new.into_iter().enumerate() {
                // A length counts from the next stratum on.
                if next[cpu].0 <= now + 1 {
                    lengths[cpu] = whole(length, float(random::below(state, 1_000)) / 1e3);
                }
            }
        }
    }
    seen
}

const RUNS: u32 = 1_000;
const INTERVALS: u64 = 700;

/// The CPU that the thread runs on in an interval.
type Place = fn(u64) -> Option<usize>;

/// The mean of these ratios is 1, as far as their deviation tells.
fn assert_unbiased(what: &str, ratios: &[f64]) {
    let runs = f64::from(RUNS);
    let mean = ratios.iter().sum::<f64>() / runs;
    let squares: f64 = ratios.iter().map(|r| (r - mean) * (r - mean)).sum();
    let deviation = squares.sqrt() / runs;
    let is_near = (mean - 1.0).abs() <= 4.0 * deviation + 0.002;
    assert!(is_near, "{what}: {mean} +- {deviation}");
}

#[test]
fn totals_and_shares_are_unbiased_for_threads_that_roam_stick_and_burst() {
    let mut state = 4711;
    let places: [(usize, Place); 4] = [
        (1, |now| (now % 3 != 0).then_some(0)),
        (4, |now| Some(usize::try_from(now / 7 % 4).unwrap_or(0))),
        (16, |_| Some(5)),
        // An idle time, then a storm.
        (32, |now| {
            let number = usize::try_from(now.wrapping_mul(0x9E37_79B9) % 32).unwrap_or(0);
            (now > 400).then_some(number)
        }),
    ];
    for (cpus, place) in places {
        let seen: Vec<Simulation> = (0..RUNS)
            .map(|_| simulate(&mut state, cpus, place))
            .collect();
        let ratios = |part: fn(&Simulation) -> (f64, f64)| -> Vec<f64> {
            let parts = seen.iter().map(part);
            parts.map(|(sum, ran)| sum / ran).collect()
        };
        assert_unbiased(&format!("{cpus} CPUs, total"), &ratios(|seen| seen.all));
        assert_unbiased(
            &format!("{cpus} CPUs, label"),
            &ratios(|seen| seen.labelled),
        );
        assert!(seen.iter().all(|seen| seen.heaviest <= 400));
        // The first intervals are at full rate: nothing is known yet.
        let begin = float(u64::try_from(cpus).unwrap_or(0)) * 120.0;
        let most = begin + budget(1.0) * float(INTERVALS) * INTERVAL / 1e9;
        let mean = seen.iter().map(|seen| seen.misses).sum::<f64>() / f64::from(RUNS);
        assert!(mean <= most, "{cpus} CPUs: {mean} misses of {most}");
    }
}

#[test]
fn cost_of_a_miss_is_learned_within_its_range() {
    let mut cost = MissCost::new();
    assert_eq!(cost.learn(100, 1_000_000), 0);
    assert_eq!(cost.learn(105, 9_000_000), 0);
    assert!(cost.nanos() <= MissCost::INITIAL, "too few are new");
    for step in 1..30 {
        let spent = cost.learn(100 + step * 10, 1_000_000 + step * 10 * 60_000);
        assert_eq!(spent, 600_000);
    }
    assert!((cost.nanos() - 60_000.0).abs() < 10.0, "{}", cost.nanos());
    // A main thread that works.
    for step in 30..60 {
        let spent = cost.learn(100 + step * 10, step * 1_000_000_000);
        assert_eq!(spent, 1_000_000);
    }
    assert!((cost.nanos() - 100_000.0).abs() < 10.0, "{}", cost.nanos());
}
