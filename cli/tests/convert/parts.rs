//! OTLP in files of a limited size: each keeps every rule, all together have the totals of
//! `report`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::otlp::Decoded;
use crate::{Totals, common::*, reported};

const LIMIT: usize = 64 << 10;

/// Routes and methods enough for several files, with waits; and one sample of many events.
fn recording() -> TestDir {
    let mut shop = Shop::new();
    for number in 0..600 {
        let route = format!("GET /article/{number}/{}", "long".repeat(20));
        let method = format!("method{number}");
        shop.sample(Some(&route), Some("acme"), &method, 1 + number % 3);
    }
    for _ in 0..9000 {
        shop.sample(Some("often"), None, "m", 1);
    }
    for number in 0..40 {
        shop.wait(&format!("wait {number}"), 700);
    }
    TestDir::new().with("o.jfr", &shop.bytes())
}

/// The names of the files that an export made, in their order.
fn names(dir: &TestDir) -> Vec<PathBuf> {
    let more = (2..).map(|number| dir.path(&format!("x-{number}.otlp")));
    let all = std::iter::once(dir.path("x.otlp")).chain(more);
    all.take_while(|path| path.exists()).collect()
}

#[test]
fn each_file_keeps_every_rule_and_all_have_the_totals() {
    let dir = recording();
    let call = ["convert", "o.jfr", "-o", "otlp=x.otlp", "--max-message"];
    let said = dir.ok(&[&call[..], &["64k"]].concat());
    let names = names(&dir);
    let more = format!(
        "and {} more files, to x-{}.otlp",
        names.len() - 1,
        names.len()
    );
    assert!(names.len() > 3 && said.contains(&more), "{said}");
    let files = names.iter().map(|path| std::fs::read(path).unwrap());
    let files: Vec<Vec<u8>> = files.collect();
    for (place, file) in files.iter().enumerate() {
        let len = file.len();
        let is_full = place + 1 == files.len() || len > LIMIT - LIMIT / 8;
        assert!(len <= LIMIT && is_full, "{place}: {len}");
        assert_eq!(
            Decoded::new(file).broken_rules(),
            BTreeSet::new(),
            "{place}"
        );
    }
    for (profile, event) in [("cpu", "cpu"), ("delay", "lock")] {
        for key in ["http.route", "tenant"] {
            let mut totals = Totals::new();
            for file in &files {
                let decoded = Decoded::new(file);
                if decoded.has_profile(profile) {
                    for (value, sum) in decoded.totals(profile, key) {
                        *totals.entry(value).or_default() += sum;
                    }
                }
            }
            assert_eq!(
                totals,
                reported(&dir, "o.jfr", event, key),
                "{profile} {key}"
            );
        }
    }
}

#[test]
fn what_fits_or_has_no_limit_is_one_file() {
    for more in [&[][..], &["--max-message", "0"], &["--max-message", "1m"]] {
        let dir = recording();
        let call = ["convert", "o.jfr", "-o", "otlp=x.otlp"];
        let said = dir.ok(&[&call[..], more].concat());
        assert_eq!(names(&dir), [dir.path("x.otlp")], "{more:?}");
        assert!(!said.contains("more file"), "{said}");
    }
}

#[test]
fn there_are_all_files_or_none() {
    let dir = recording().with("x-3.otlp", b"mine");
    let call = [
        "convert",
        "o.jfr",
        "-o",
        "otlp=x.otlp",
        "--max-message",
        "64k",
    ];
    let error = dir.fails(1, &call);
    assert!(error.contains("x-3.otlp exists"), "{error}");
    let left = std::fs::read_dir(dir.path("")).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    left.sort_unstable();
    assert_eq!(left, ["o.jfr", "x-3.otlp"]);
    assert_eq!(std::fs::read(dir.path("x-3.otlp")).unwrap(), b"mine");
}

#[test]
fn a_file_of_an_earlier_export_is_named() {
    let dir = recording().with("x-2.otlp", b"old");
    let output = dir.run(&["convert", "o.jfr", "-o", "otlp=x.otlp"]);
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(
        warning.contains("x-2.otlp is no part of this export"),
        "{warning}"
    );
}

#[test]
fn an_input_is_not_overwritten_by_a_part() {
    let dir = recording();
    std::fs::rename(dir.path("o.jfr"), dir.path("x-2.otlp")).unwrap();
    let call = [
        "convert",
        "x-2.otlp",
        "-o",
        "otlp=x.otlp",
        "--max-message",
        "64k",
    ];
    let error = dir.fails(2, &[&call[..], &["--force"]].concat());
    assert!(error.contains("x-2.otlp is an input"), "{error}");
}

#[test]
fn the_limit_is_for_files_of_otlp() {
    let dir = with_shop();
    let call = |target: &str, size: &str| {
        dir.fails(
            2,
            &["convert", "shop.jfr", "-o", target, "--max-message", size],
        )
    };
    for target in ["pprof=x", "otlp=-"] {
        let error = call(target, "4m");
        assert!(
            error.contains("--max-message is for files of otlp"),
            "{error}"
        );
    }
    for (size, why) in [
        ("1k", "at least 64k"),
        ("4x", "no number"),
        ("99999999999999m", "too large"),
    ] {
        let error = call("otlp=x", size);
        assert!(error.contains(why), "{error}");
    }
}
