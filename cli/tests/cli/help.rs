//! Help texts, completions and man pages.

use std::fs;

use crate::common::*;

/// The names in the list of commands.
fn commands(dir: &TestDir) -> Vec<String> {
    let help = dir.ok(&["--help"]);
    let list = help.split_once("Commands:\n").unwrap().1;
    let list = list.split("\n\n").next().unwrap();
    let names = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let names = names.filter(|name| *name != "help").map(str::to_owned);
    names.collect()
}

#[test]
fn help_of_each_command_has_examples_that_can_be_called() {
    let dir = TestDir::new();
    for command in commands(&dir) {
        let help = dir.ok(&[&command, "--help"]);
        let (options, examples) = help.split_once("Examples:\n").unwrap();
        let calls = examples.lines().map(str::trim);
        let mut count = 0;
        for call in calls {
            assert!(call.starts_with(&format!("ctxjfr {command}")), "{call}");
            let words = call.split_whitespace();
            for option in words.filter(|word| word.starts_with('-')) {
                assert!(options.contains(option), "{call}: {option}");
            }
            count += 1;
        }
        assert!(count > 0, "{command}");
    }
    let help = dir.ok(&["--help"]);
    for code in ["0 = ", "1 = ", "2 = ", "130 = "] {
        assert!(help.contains(code), "{help}");
    }
}

#[test]
fn completions_know_each_command_and_nothing_hidden() {
    let dir = TestDir::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = dir.ok(&["completions", shell]);
        for command in commands(&dir) {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert!(script.contains("interval"), "{shell}: options of top");
        for hidden in ["__guard", "__pack", "__man", "__as_owner"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
    }
    dir.fails(2, &["completions", "tcsh"]);
}

#[test]
fn each_command_has_a_man_page() {
    let dir = TestDir::new();
    let place = dir.path("man");
    fs::create_dir(&place).unwrap();
    dir.ok(&["__man", place.to_str().unwrap()]);
    let pages = fs::read_dir(&place).unwrap();
    let mut pages: Vec<String> = pages
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    let mut expected: Vec<String> = commands(&dir)
        .iter()
        .map(|command| format!("ctxjfr-{command}.1"))
        .collect();
    expected.push("ctxjfr.1".to_owned());
    expected.sort();
    assert_eq!(pages, expected);
    let page = fs::read_to_string(place.join("ctxjfr-top.1")).unwrap();
    assert!(page.contains("Time that a table is about") && page.contains("Examples:"));
    dir.fails(1, &["__man", dir.path("none").to_str().unwrap()]);
}
