//! The table of planted bugs (`make selftest`): each promise has one, and no build that users get has any.

use std::collections::BTreeSet;
use std::fs;

use e2e::build;

use super::contains;

/// Promise and name of each bug.
fn bugs() -> Vec<(String, String)> {
    let table = e2e::workspace::root().join("tests/reliability/planted.tsv");
    let text = fs::read_to_string(table).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let mut columns = row.split('\t').map(str::to_owned);
        (columns.next().unwrap(), columns.next().unwrap())
    })
    .collect()
}

#[test]
fn each_promise_has_a_planted_bug() {
    let promises: BTreeSet<String> = bugs().into_iter().map(|(promise, _)| promise).collect();
    for number in 1..=18 {
        assert!(promises.contains(&format!("P{number}")), "P{number}");
    }
}

#[test]
fn no_build_for_users_has_a_planted_bug() {
    let bugs = bugs();
    for file in [build::agent(), build::ctxjfr()] {
        let bytes = fs::read(file).unwrap();
        let contains = |text: &str| contains(&bytes, text);
        // The search finds what is there: the name of an option, of a command.
        assert!(contains("redact") || contains("flame"));
        assert!(!contains("CTXAGENT_PLANTED"), "{}", file.display());
        for (_, bug) in &bugs {
            assert!(!contains(bug), "{bug} in {}", file.display());
        }
    }
}
