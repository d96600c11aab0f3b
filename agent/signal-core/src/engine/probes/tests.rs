//! Instants, weights and owners of probes, without a kernel timer.

use super::*;
use std::boxed::Box;
use std::vec::Vec;

const INTERVAL: u64 = 10_000_000;

fn table(cpus: usize) -> ProbeTable {
    // SAFETY: atomics only; zero is valid.
    let probes: Vec<CpuProbes> = (0..cpus).map(|_| unsafe { core::mem::zeroed() }).collect();
    let table = ProbeTable::new(Box::leak(probes.into_boxed_slice()));
    table.configure(INTERVAL, 0x1234_5678, 1);
    table.make_places(cpus);
    table.open();
    table
}

/// The next instants and weights of a CPU.
fn draws(table: &ProbeTable, cpu: usize, now_ns: u64, count: usize) -> Vec<(u64, u32)> {
    let probes = table.cpu(cpu).expect("in the table");
    let mut skipped = 0;
    let drawn = (0..count).map(|_| table.draw(cpu, probes, now_ns, &mut skipped));
    let drawn = drawn.collect();
    assert_eq!(skipped, 0);
    drawn
}

#[test]
fn each_stratum_has_one_instant_anywhere_in_it() {
    let table = table(1);
    for length in [1_u32, 3] {
        table.add(0, PER_CPU, 77, 0);
        table.cpu(0).expect("in the table").set_stratum(length);
        let stratum = INTERVAL * u64::from(length);
        let mut tenths = [0_u32; 10];
        for (number, (at, weight)) in (0_u64..).zip(draws(&table, 0, 0, 20_000)) {
            let begin = INTERVAL + number * stratum;
            assert!((begin..begin + stratum).contains(&at) && weight == length);
            tenths[usize::try_from((at - begin) * 10 / stratum).expect("small")] += 1;
        }
        // 2 000 expected, with a deviation of 42.
        assert!(tenths.iter().all(|n| n.abs_diff(2_000) < 250), "{tenths:?}");
    }
}

/// With one CPU a fixed time behind another one, threads that the probe of the first disturbs are
/// always met at the same point of their work.
#[test]
fn instants_of_two_cpus_are_independent_but_never_close() {
    let table = table(40);
    for cpus in [[0, 1], [3, 39]] {
        let [first, second] = cpus.map(|cpu| {
            table.add(cpu, PER_CPU, 7, 0);
            draws(&table, cpu, 0, 20_000)
        });
        let mut tenths = [[0_u32; 10]; 10];
        for ((a, _), (b, _)) in first.iter().zip(&second) {
            assert!(a.abs_diff(*b) >= MIN_DISTANCE_NS * 9 / 10, "{a} {b}");
            let tenth = |at| usize::try_from(at % INTERVAL * 10 / INTERVAL).expect("small");
            tenths[tenth(*a)][tenth(*b)] += 1;
        }
        // 200 expected, with a deviation of 14; 15 % less where both are in the same tenth.
        let least = tenths.iter().flatten().min().expect("a hundred");
        let most = tenths.iter().flatten().max().expect("a hundred");
        assert!((110..=280).contains(least) && *most <= 280, "{tenths:?}");
    }
}

#[test]
fn every_cpu_has_a_place_of_its_own() {
    for (least, prime) in [(0, 2), (2, 2), (4, 5), (66, 67), (1_024, 1_031)] {
        assert_eq!(prime_from(least), prime);
    }
    // More CPUs than such distances, of which most came later.
    let table = table(2);
    table.make_places(300);
    let mut all: Vec<u64> = (0..300).map(|cpu| table.instant(cpu, 5)).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 300);
    assert!(all[0] >= 5 * INTERVAL && all[299] < 6 * INTERVAL);
}

#[test]
fn no_instant_lies_in_the_past_and_what_has_passed_is_counted() {
    let table = table(1);
    table.add(0, 8, 5, 0);
    let probes = table.cpu(0).expect("in the table");
    let now = 1_000 * INTERVAL + INTERVAL / 3;
    let mut skipped = 0;
    let (at, weight) = table.draw(0, probes, now, &mut skipped);
    assert!(at > now && weight == 1);
    assert!((998..=1_001).contains(&skipped), "{skipped}");
    let (next, _) = table.draw(0, probes, now, &mut skipped);
    assert!(next > at);
}

#[test]
fn signal_finds_its_timer_and_no_other_value_does() {
    let table = table(3);
    for cpu in 0..3 {
        for index in 0..PER_CPU {
            let place = ProbePlace { cpu, index };
            assert_eq!(table.place(table.value(place)), Some(place));
        }
    }
    let last = table.value(ProbePlace {
        cpu: 2,
        index: PER_CPU - 1,
    });
    let first = table.value(ProbePlace { cpu: 0, index: 0 });
    for value in [
        0,
        1,
        first - 1,
        first + 1,
        last + 16,
        last + 256,
        usize::MAX,
    ] {
        assert_eq!(table.place(value), None);
    }
    assert_eq!(table.value(ProbePlace { cpu: 3, index: 0 }), 0);
}

#[test]
fn probe_is_taken_once_and_not_before_its_instant() {
    let table = table(1);
    table.add(0, 8, 5, 0);
    let place = ProbePlace { cpu: 0, index: 0 };
    let probe = table.cpu(0).and_then(|cpu| cpu.probe(0)).expect("a probe");
    probe.weight.store(3, Relaxed);
    probe.planned_ns.store(500, Relaxed);
    assert_eq!(table.take(place, 499), None, "an old signal");
    let taken = TakenProbe {
        planned_ns: 500,
        weight: 3,
    };
    assert_eq!(table.take(place, 501), Some(taken));
    assert_eq!(table.take(place, 501), None, "a second signal");
}

#[test]
fn overdue_probes_are_given_back_and_only_those() {
    let table = table(1);
    let cpu = table.cpu(0).expect("in the table");
    for (index, planned) in [(0, 100), (1, 950), (2, 0), (3, 2_000)] {
        let probe = cpu.probe(index).expect("a probe");
        probe.planned_ns.store(planned, Relaxed);
    }
    assert_eq!(table.give_back_overdue(0, 1_000, 500), 1);
    assert!(table.is_disarmed(ProbePlace { cpu: 0, index: 0 }));
    assert!(!table.is_disarmed(ProbePlace { cpu: 0, index: 1 }));
    assert_eq!(table.give_back_overdue(0, 1_000, 500), 0);
}

#[test]
fn prober_is_needed_when_half_of_the_timers_wait_and_there_is_room() {
    let table = table(1);
    table.add(0, 8, 5, 0);
    let cpu = table.cpu(0).expect("in the table");
    assert!(table.needs_prober(0, 0), "all of eight wait");
    cpu.disarmed.store(0b0111, Relaxed);
    assert!(!table.needs_prober(0, 0));
    cpu.disarmed.store(0b1111, Relaxed);
    assert!(table.needs_prober(0, 0));
    // The next stratum begins in a second: the armed ones are enough.
    cpu.next_interval.store(100, Relaxed);
    assert!(!table.needs_prober(0, 0));
    table.close();
    cpu.disarmed.store(0xff, Relaxed);
    assert!(!table.needs_prober(0, 0), "nothing is armed any more");
}
