//! The source tree: what it holds, and how its types and constants are called. No JVM is started.

use std::fs;
use std::process::Command;

use e2e::workspace::root;

/// Limits are `MAX_` and `MIN_`.
const NO_LIMITS: &[&str] = &["MOST_", "LEAST_"];

/// Files that git tracks, from the root; none where the tree is not a checkout.
fn tracked() -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached"])
        .current_dir(root())
        .output();
    let Ok(output) = output else {
        return Vec::new();
    };
    let names = String::from_utf8(output.stdout).unwrap();
    names.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn no_build_product_is_tracked() {
    let is_product = |name: &&String| {
        let mut directories = name.split('/').rev().skip(1);
        directories.any(|part| matches!(part, "target" | "build" | ".gradle" | ".toolchain"))
    };
    let files = tracked();
    let products: Vec<&String> = files.iter().filter(is_product).collect();
    assert!(products.is_empty(), "{products:#?}");
}

#[test]
fn limits_have_plain_names() {
    let mut idioms = Vec::new();
    let files = tracked();
    let is_source = |name: &&String| matches!(name.rsplit('.').next(), Some("rs" | "java"));
    for name in files.iter().filter(is_source) {
        let Ok(text) = fs::read_to_string(root().join(name)) else {
            continue; // deleted, and not committed yet
        };
        for (line, number) in text.lines().zip(1..) {
            let code = line.split("//").next().unwrap_or_default();
            let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            if words.any(|word| NO_LIMITS.iter().any(|prefix| word.starts_with(prefix))) {
                idioms.push(format!("{name}:{number}"));
            }
        }
    }
    // The list above is of literals, not declarations.
    idioms.retain(|place| !place.starts_with("tests/tests/source_tree.rs"));
    assert!(idioms.is_empty(), "{idioms:#?}");
}

/// As `.editorconfig` says. The formatters break code, not comments; rustfmt keeps to it in Rust.
#[test]
fn lines_of_java_scripts_and_shims_are_not_too_long() {
    let mut long = Vec::new();
    let files = tracked();
    let is_meant = |name: &&String| matches!(name.rsplit('.').next(), Some("java" | "sh" | "c"));
    for name in files.iter().filter(is_meant) {
        let text = fs::read_to_string(root().join(name)).unwrap_or_default();
        let numbered = text.lines().zip(1..);
        let too_long = numbered.filter(|(line, _)| line.chars().count() > 100);
        long.extend(too_long.map(|(_, number)| format!("{name}:{number}")));
    }
    assert!(long.is_empty(), "{long:#?}");
}

/// `c7_submit_carries_context` names a row of a table that is not in the tree. Promises are on a
/// page: `p3_loss_is_bounded`.
#[test]
fn no_test_is_named_after_a_row() {
    let is_row = |part: &str| {
        let digits = part.strip_prefix(|c: char| c.is_ascii_lowercase() && c != 'p');
        digits.is_some_and(|d| !d.is_empty() && d.chars().all(|c| c.is_ascii_digit()))
    };
    let mut rows = Vec::new();
    for name in tracked().iter().filter(|name| name.ends_with("rs")) {
        let text = fs::read_to_string(root().join(name)).unwrap_or_default();
        let tests = text.split("#[test]\n").skip(1);
        let functions = tests.filter_map(|test| test.split_once("fn ")?.1.split('(').next());
        let of_rows = functions.filter(|function| {
            let first = function.split_once('_').map(|(first, _)| first);
            first.is_some_and(is_row)
        });
        rows.extend(of_rows.map(|function| format!("{name}: {function}")));
    }
    assert!(rows.is_empty(), "{rows:#?}");
}

/// Where there are seventy of them, nobody finds one by its name.
#[test]
fn programs_are_in_a_directory_by_subject() {
    let files = tracked();
    let programs = files
        .iter()
        .filter_map(|name| name.strip_prefix("tests/java/"));
    let (grouped, flat): (Vec<&str>, Vec<&str>) = programs.partition(|name| name.contains('/'));
    assert!(flat.is_empty(), "{flat:?}");
    assert!(grouped.len() > 50, "{}", grouped.len());
}
