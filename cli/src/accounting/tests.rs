#![expect(clippy::unwrap_used, reason = "a failed test")]

use ctxagent_events::Stat;
use schema::account::CPU;

use super::*;
use crate::collect::ChunkStats;

fn accounting(rows: &[(&str, i64)]) -> Accounting {
    let rows: Vec<_> = rows.iter().map(|&(name, n)| (name, n, n)).collect();
    of_chunks(&[&rows])
}

/// Of chunks of one file, each with rows of name, growth and total.
fn of_chunks(chunks: &[&[(&str, i64, i64)]]) -> Accounting {
    let mut counters = FileCounters::default();
    for chunk in chunks {
        let stat = |&(name, value, total): &(&str, i64, i64)| Stat {
            name: name.to_owned(),
            value,
            total,
        };
        let stats = chunk.iter().map(stat).collect();
        let chunk = ChunkStats {
            stats,
            is_last: true,
            ..ChunkStats::default()
        };
        counters.add(0, chunk);
    }
    Accounting::new(&counters)
}

#[test]
fn recordings_joined_in_a_file_add_up_and_chunks_of_one_do_not() {
    let first: [&[_]; 3] = [
        &[("signals", 5, 5), ("lost.late", 1, 1)],
        &[("signals", 5, 10)],
        &[("signals", 0, 10), ("lost.late", 2, 3)],
    ];
    let joined = |second: &[&[(&'static str, i64, i64)]]| {
        let both = of_chunks(&[&first[..], second].concat());
        (both.get(Counter::Signals), both.get(Counter::LostLate))
    };
    assert_eq!(joined(&[]), (10, 3));
    // Begins below where the first one ended, above it, and with its first chunk missing.
    assert_eq!(joined(&[&[("signals", 4, 4)]]), (14, 3));
    assert_eq!(
        joined(&[&[("signals", 70, 70), ("lost.late", 9, 9)]]),
        (80, 12)
    );
    assert_eq!(joined(&[&[("signals", 2, 8)]]), (18, 3));
    assert_eq!(joined(&first), (20, 6));
}

#[test]
fn a_gauge_does_not_add_up_over_chunks() {
    let threads = |count: i64| [("threads.known", count, count)];
    let accounting = of_chunks(&[&threads(30), &threads(30), &threads(28)]);
    assert_eq!(accounting.get(Counter::ThreadsKnown), 28);
}

#[test]
fn every_kind_has_a_balance_and_its_losses() {
    let is_balanced = |rows: &[(&str, i64)], unit| accounting(rows).is_balanced(accounts_of(unit));
    let cpu = [
        ("signals", 10),
        ("written", 7),
        ("lost.late", 2),
        ("lost.no_slot", 1),
    ];
    assert_eq!(is_balanced(&cpu, Unit::Cpu), Some(true));
    assert_eq!(is_balanced(&cpu, Unit::Bytes), None);
    let limited = [("signals", 10), ("written", 3), ("ratelimited", 7)];
    assert_eq!(is_balanced(&limited, Unit::Cpu), Some(true));
    let short = [("signals", 10), ("written", 9)];
    assert_eq!(is_balanced(&short, Unit::Cpu), Some(false));
    assert_eq!(is_balanced(&[("other", 1)], Unit::Cpu), None);
    for kind in &BY_NUMBER {
        let mut rows = vec![(kind.seen[0].name(), 0)];
        for outcome in kind.outcomes() {
            rows.push((outcome.name(), 3));
            rows[0].1 += 3;
        }
        assert_eq!(accounting(&rows).findings(), [""; 0], "{kind:?}");
        rows[0].1 += 1;
        assert_eq!(accounting(&rows).findings().len(), 1, "{kind:?}");
    }
    let lost = accounting(&[
        ("signals", 8),
        ("lost.late", 0),
        ("lost.no_slot", 3),
        ("lost.write", 5),
    ]);
    assert_eq!(
        lost.balance(&CPU).unwrap().losses,
        [("write", 5), ("no_slot", 3)]
    );
    let lost = accounting(&[("alloc.seen", 5), ("alloc.lost", 2), ("alloc.written", 3)]);
    let json = lost.json(accounts_of(Unit::Bytes));
    assert_eq!(json["kinds"][0]["lost"], 2);
    assert_eq!(json["is_balanced"], true);
    assert_eq!(json["lost"], 0, "signals, as ever");
}

#[test]
fn repeats_that_are_lost_and_visits_left_out_are_among_those_that_were_visited() {
    let mut rows = vec![
        ("wall.scheduled", 15),
        ("wall.sent", 4),
        ("wall.repeated", 6),
        ("wall.pending", 5),
        ("wall.left_out", 3),
    ];
    for (more, lost, head) in [
        (None, 3, "left out"),
        (Some(("wall.repeats_lost", 2)), 5, "losses"),
    ] {
        rows.extend(more);
        let accounting = accounting(&rows);
        assert_eq!(accounting.is_balanced(accounts_of(Unit::Wall)), Some(true));
        let balance = &accounting.balances(accounts_of(Unit::Wall))[0];
        assert_eq!((balance.lost(), balance.losses_title()), (lost, head));
    }
}

#[test]
fn weights_add_up_unless_some_samples_weigh_for_others() {
    let rows = [
        ("signals", 2),
        ("overruns", 3),
        ("written", 2),
        ("written.weight", 4),
        ("weight.lost", 1),
    ];
    assert_eq!(accounting(&rows).findings(), [""; 0]);
    let wrong = rows.map(|(name, n)| (name, if name == "overruns" { 4 } else { n }));
    assert_eq!(accounting(&wrong).findings().len(), 1);
    let limited = Accounting {
        is_rate_limited: true,
        ..accounting(&wrong)
    };
    assert_eq!(limited.findings(), [""; 0]);
}

#[test]
fn a_finding_is_one_line() {
    let all: Vec<(&str, i64)> = Counter::ALL.iter().map(|c| (c.name(), 7)).collect();
    let findings = accounting(&all).findings();
    assert!(findings.len() > 3, "{findings:?}");
    for finding in findings {
        assert!(!finding.contains(['\n', '\t']), "{finding:?}");
        assert!(!finding.contains("  "), "{finding:?}");
    }
}
