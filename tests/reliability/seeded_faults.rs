//! The table of seeded faults (`make selftest`): each promise has one, and each is a patch that fits
//! the sources.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

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
fn each_seeded_fault_is_a_patch_that_fits() {
    let root = e2e::workspace::root();
    let wanted: BTreeSet<String> = faults().into_iter().map(|(_, fault)| fault).collect();
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root.join("tests/reliability/faults")).unwrap() {
        let patch = entry.unwrap().path();
        let mut apply = Command::new("git");
        let applied = apply
            .args(["apply", "--check"])
            .arg(&patch)
            .current_dir(root);
        let applied = applied.output().unwrap();
        let said = String::from_utf8_lossy(&applied.stderr);
        assert!(applied.status.success(), "{}: {said}", patch.display());
        found.insert(patch.file_stem().unwrap().to_string_lossy().into_owned());
    }
    assert_eq!(found, wanted);
}
