//! Recordings that are kept, and what the example `dump` makes of them. `GOLDEN=write cargo test -p jfr-format --test golden` writes the
//! dumps anew; look at the difference before you commit it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use common::checker;
use common::scenario::{config, named, write_full};
use jfr_format::write::*;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

/// An example. `cargo test` alone has built it, `cargo test --test golden` has not.
fn example(name: &str) -> PathBuf {
    static BUILT: Once = Once::new();
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    BUILT.call_once(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--examples", "-p", "jfr-format"]);
        if profile.ends_with("release") {
            build.arg("--release");
        }
        build.env("CARGO_TARGET_DIR", profile.parent().unwrap());
        let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status();
        assert!(status.unwrap().success());
    });
    profile.join("examples").join(name)
}

fn dump(file: &Path) -> String {
    let output = Command::new(example("dump")).arg(file).output().unwrap();
    assert!(output.status.success(), "{}: {output:?}", file.display());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn kept_recordings_dump_as_ever() {
    let folder = Path::new(FIXTURES).read_dir().unwrap();
    let files = folder.map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files
        .filter(|p| p.extension().is_some_and(|e| e == "jfr"))
        .collect();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        let expected = file.with_extension("dump");
        let found = dump(&file);
        if std::env::var_os("GOLDEN").is_some_and(|v| v == "write") {
            std::fs::write(&expected, &found).unwrap();
        }
        let expected = std::fs::read_to_string(expected).unwrap();
        for (n, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
            assert_eq!(found, expected, "{} line {}", file.display(), n + 1);
        }
        assert_eq!(
            found.lines().count(),
            expected.lines().count(),
            "{}",
            file.display()
        );
    }
}

/// A recording of samples only.
fn samples(path: &Path, start_nanos: u64, columns: &[&str], thread_name: &str) -> usize {
    let mut config = config(named(columns));
    config.clock.start_epoch_nanos = start_nanos;
    let mut r = Recording::create(FileStorage::create(path).unwrap(), config).unwrap();
    for i in 0..40u64 {
        let (at, n) = (Ticks(i * 10), usize::try_from(i % 7).unwrap());
        let value = r.attribute_value(&format!("{thread_name} {n}"));
        let context = r.context(at, &[value; 8]);
        let thread = r.thread(&Thread::native(thread_name, i % 3));
        let stack = common::scenario::stack(&mut r, 3 + n, n);
        let state = r.state("STATE_RUNNABLE");
        r.execution_sample(&Sample {
            at,
            thread,
            stack,
            state,
            context,
            weight: 1,
        });
        if i == 20 {
            r.rotate(Ticks(205)).unwrap();
        }
    }
    r.finish(Ticks(1_000)).unwrap();
    40
}

fn merge(out: &Path, files: &[&Path]) -> Result<(), String> {
    let output = Command::new(example("merge"))
        .arg(out)
        .args(files)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(()).ok_or(errors)
}

#[test]
fn merged_recordings_have_all_samples_each_with_its_own_values() {
    const SECOND: u64 = 1_000_000_000;
    let folder = tempfile::tempdir().unwrap();
    let [a, b, merged] = ["a.jfr", "b.jfr", "merged.jfr"].map(|name| folder.path().join(name));
    let start = common::scenario::EPOCH_NANOS;
    // The same keys mean other values in the two.
    let written = samples(&a, start, &["x", "y"], "first")
        + samples(&b, start + SECOND, &["x", "y"], "second");
    merge(&merged, &[&b, &a]).unwrap();
    let found = checker::read(&std::fs::read(&merged).unwrap());
    assert_eq!(found.named("jdk.ExecutionSample").count(), written);
    assert_eq!(found.chunks.len(), 4);
    let both = format!("{}{}", dump(&a), dump(&b));
    assert_eq!(dump(&merged), both);
    for jdk in common::jdk::all() {
        let printed = jdk.jfr_ok(&[
            "print",
            "--events",
            "jdk.ExecutionSample",
            merged.to_str().unwrap(),
        ]);
        for name in ["first", "second"] {
            let threads = printed.matches(&format!("osName = \"{name}\"")).count()
                + printed
                    .matches(&format!("sampledThread = \"{name}\""))
                    .count();
            assert_eq!(threads, written / 2, "JDK {}: {name}", jdk.version);
        }
    }
}

#[test]
fn recordings_that_cannot_be_merged_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, out] = ["a.jfr", "b.jfr", "out.jfr"].map(|name| folder.path().join(name));
    let start = common::scenario::EPOCH_NANOS;
    samples(&a, start, &["x"], "first");
    samples(&b, start, &["y"], "second");
    let refused = merge(&out, &[&a, &b]).unwrap_err();
    assert!(refused.contains("cannot stand beside"), "{refused}");
    let jdk = Path::new(FIXTURES).join("jdk21.jfr");
    let refused = merge(&out, &[&jdk]).unwrap_err();
    assert!(refused.contains("jdk21.jfr"), "{refused}");
    let full = folder.path().join("full.jfr");
    let mut r =
        Recording::create(FileStorage::create(&full).unwrap(), config(named(&["x"]))).unwrap();
    write_full(&mut r);
    r.finish(Ticks(300_000)).unwrap();
    let refused = merge(&out, &[&full]).unwrap_err();
    assert!(
        refused.contains("which this tool cannot write"),
        "{refused}"
    );
    assert!(!out.exists());
}
