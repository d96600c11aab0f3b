//! The table of seeded faults (`make selftest`): each promise has one, and no build that users get
//! has any.

use std::collections::BTreeSet;
use std::fs;

use e2e::build;

use super::contains;

/// Promise and name of each fault.
fn faults() -> Vec<(String, String)> {
    let table = e2e::workspace::root().join("tests/reliability/faults.tsv");
    let text = fs::read_to_string(table).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let mut columns = row.split('\t').map(str::to_owned);
        (columns.next().unwrap(), columns.next().unwrap())
    })
    .collect()
}

#[test]
fn each_promise_has_a_seeded_fault() {
    let promises: BTreeSet<String> = faults().into_iter().map(|(promise, _)| promise).collect();
    for number in 1..=18 {
        assert!(promises.contains(&format!("P{number}")), "P{number}");
    }
}

#[test]
fn no_build_for_users_has_a_seeded_fault() {
    let faults = faults();
    for file in [build::agent(), build::ctxjfr()] {
        let bytes = fs::read(file).unwrap();
        let contains = |text: &str| contains(&bytes, text);
        // The search finds what is there: the name of an option, of a command.
        assert!(contains("redact") || contains("flame"));
        for variable in ["CTXAGENT_SEEDED_FAULT", "JFR_FORMAT_DEVIATION"] {
            assert!(!contains(variable), "{variable} in {}", file.display());
        }
        for (_, fault) in &faults {
            assert!(!contains(fault), "{fault} in {}", file.display());
        }
    }
}
