//! What the example `merge` makes of recordings, seen by our reader and by the JDK's tools.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use common::checker;
use common::scenario::{config, named, runnable_sample, write_full};
use ctxagent_events::*;
use jfr_format::read::{Chunks, ParsedChunk, Type};
use jfr_format::write::*;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../jfr-format/tests/fixtures");

/// An example. `cargo test` alone has built it, `cargo test --test golden` has not.
fn example(name: &str) -> PathBuf {
    static BUILT: Once = Once::new();
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    BUILT.call_once(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args([
            "build",
            "--quiet",
            "--examples",
            "-p",
            "jfr-format",
            "-p",
            "ctxagent-events",
        ]);
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

/// A recording of samples only.
fn samples(path: &Path, start_nanos: u64, columns: &[&str], thread_name: &str) -> usize {
    let mut config = config(named(columns));
    config.clock.start_epoch_nanos = start_nanos;
    samples_with(path, config, thread_name)
}

fn samples_with(path: &Path, config: ProfileConfig, thread_name: &str) -> usize {
    let mut r = Recording::create(FileStorage::create(path).unwrap(), config).unwrap();
    for i in 0..40u64 {
        let (at, n) = (Ticks(i * 10), usize::try_from(i % 7).unwrap());
        let value = r.attribute_value(&format!("{thread_name} {n}"));
        let context = r.context(at, &[value; 8]);
        let thread = r.thread(&Thread::native(thread_name, i % 3));
        let stack = common::scenario::stack(&mut r, 3 + n, n);
        runnable_sample(&mut r, at, thread, stack, context);
        if i == 20 {
            r.rotate(Ticks(205)).unwrap();
        }
    }
    r.finish(Ticks(1_000)).unwrap();
    40
}

/// What each chunk tells about the kind of the profile and its intervals.
fn intervals(file: &Path) -> Vec<Vec<String>> {
    let bytes = std::fs::read(file).unwrap();
    let told = |chunk: &ParsedChunk<'_>| -> Vec<String> {
        let settings = chunk.settings().into_iter();
        let of_samples = settings.filter(|s| ["event", "interval", "wall"].contains(&&*s.name));
        of_samples
            .map(|s| format!("{:?} {} = {}", s.event, s.name, s.value))
            .collect()
    };
    let chunks = Chunks::new(&bytes);
    chunks
        .map(|chunk| told(&ParsedChunk::new(&chunk).unwrap()))
        .collect()
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
fn merged_recordings_keep_samples_and_values() {
    const SECOND: u64 = 1_000_000_000;
    let directory = tempfile::tempdir().unwrap();
    let [a, b, merged] = ["a.jfr", "b.jfr", "merged.jfr"].map(|name| directory.path().join(name));
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
    let of_a = intervals(&a);
    assert_eq!(of_a[0].len(), 3, "{of_a:?}");
    assert_eq!(intervals(&merged), [&of_a[..], &of_a].concat());
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

/// Events with a stack or a context, with what they refer to, as lines.
fn with_references(file: &Path) -> Vec<String> {
    let bytes = std::fs::read(file).unwrap();
    let mut lines = Vec::new();
    for chunk in Chunks::new(&bytes) {
        let open = ParsedChunk::new(&chunk).unwrap();
        let columns = |ty: &Type| !ty.name.starts_with("ctxagent.");
        for sample in open.samples(columns) {
            let sample = sample.unwrap();
            let frames = sample.stack().map(|stack| {
                let names = stack.frames().map(|f| {
                    let method = [f.class(), f.method(), f.descriptor(), f.kind()].join(" ");
                    format!("{method} {:?} {:?}", f.line(), f.bytecode_index())
                });
                (stack.is_truncated(), names.collect::<Vec<_>>())
            });
            lines.push(format!(
                "{} {} {:?} {:?} {frames:?} {:?} {} {:?}",
                sample.ty().name,
                sample.start_nanos,
                sample.thread(),
                sample.state(),
                sample.context().collect::<Vec<_>>(),
                sample.weight,
                sample.duration_nanos,
            ));
        }
    }
    lines
}

/// All fields of the events of a type as `dump` shows them, without when and where, and what a
/// merged file counts on.
fn fields(file: &Path, name: &str) -> Vec<String> {
    let output = Command::new(example("dump")).arg(file).arg(name).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    // Context ids restart; that of the owner is left out.
    let counted = [
        "  startTime =",
        "  total =",
        "  contextId =",
        "  ownerContextId =",
    ];
    let lines = text.lines().filter(|line| {
        line.starts_with("  ") && !counted.iter().any(|field| line.starts_with(field))
    });
    lines.map(str::to_owned).collect()
}

#[test]
fn merged_recordings_have_all_kinds_of_events() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b, merged] = ["a.jfr", "b.jfr", "merged.jfr"].map(|name| directory.path().join(name));
    for (path, later_seconds) in [(&a, 0), (&b, 10)] {
        let mut config = config(named(&["http.route", "tenant"]));
        config.schema = SCHEMA;
        config.clock.start_epoch_nanos += later_seconds * 1_000_000_000;
        let mut r = Recording::create(FileStorage::create(path).unwrap(), config).unwrap();
        write_full(&mut r);
        r.finish(Ticks(300_000)).unwrap();
    }
    merge(&merged, &[&b, &a]).unwrap();
    let parts = [with_references(&a), with_references(&b)].concat();
    assert_eq!(with_references(&merged), parts);
    // Written anew, or about one JVM.
    let own = ["jdk.Active", "Information", "Property", "ctxagent.Context"];
    let kinds = EVENTS.iter().map(|event| event.name);
    let kinds: Vec<_> = kinds
        .filter(|name| !own.iter().any(|own| name.contains(own)))
        .collect();
    assert_eq!(kinds.len(), 10, "{kinds:?}");
    for name in kinds {
        let parts = [fields(&a, name), fields(&b, name)].concat();
        assert!(!parts.is_empty(), "{name}");
        assert_eq!(fields(&merged, name), parts, "{name}");
    }
    let [of_a, of_merged] = [&a, &merged].map(|path| checker::read(&std::fs::read(path).unwrap()));
    let pauses = |of: &checker::Recording| of.named("jdk.GCPhasePause").count();
    assert_eq!(pauses(&of_merged), 2 * pauses(&of_a));
    let totals = of_merged
        .named("ctxagent.Stats")
        .map(|event| event.number("total"));
    assert_eq!(totals.collect::<Vec<_>>(), [10, 20, 30, 40, 50, 60]);
}

#[test]
fn incompatible_recordings_are_not_merged() {
    type Change = fn(&mut ProfileConfig);
    let directory = tempfile::tempdir().unwrap();
    let [a, b, out] = ["a.jfr", "b.jfr", "out.jfr"].map(|name| directory.path().join(name));
    let start = common::scenario::EPOCH_NANOS;
    samples(&a, start, &["x"], "first");
    samples(&b, start, &["y"], "second");
    let refused = merge(&out, &[&a, &b]).unwrap_err();
    assert!(refused.contains("cannot stand beside"), "{refused}");
    let changes: [(Change, &str, &str); 3] = [
        (
            |c| c.event = "wall".into(),
            "event: \\\"cpu",
            "event: \\\"wall",
        ),
        (|c| c.interval /= 20, "interval: 20ms", "interval: 1ms"),
        (
            |c| c.wall_interval = None,
            "wall_interval: Some(40ms)",
            "wall_interval: None",
        ),
    ];
    for (n, (change, of_a, of_b)) in changes.into_iter().enumerate() {
        let other = directory.path().join(format!("other{n}.jfr"));
        let mut config = config(named(&["x"]));
        change(&mut config);
        samples_with(&other, config, "second");
        let refused = merge(&out, &[&a, &other]).unwrap_err();
        for part in ["a.jfr", "other", of_a, of_b] {
            assert!(refused.contains(part), "{refused}");
        }
    }
    let jdk = Path::new(FIXTURES).join("jdk21.jfr");
    let refused = merge(&out, &[&jdk]).unwrap_err();
    assert!(refused.contains("jdk21.jfr"), "{refused}");
    assert!(!out.exists());
}
