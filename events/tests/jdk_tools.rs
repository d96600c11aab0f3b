//! The JDK's own tools as the judge. A JDK that is not on this machine is left out, and said so.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

mod common;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::jdk::{self, Jdk};
use common::scenario::{Written, config, named, odd_texts, runnable_sample, write_full};
use ctxagent_events::*;
use jfr_format::write::*;
use serde_json::Value;

const NAMES: [&str; 3] = ["http.route", "tenant", "unused"];

fn write_file(path: &Path) -> Written {
    let storage = FileStorage::create(path).unwrap();
    let mut r = Recording::create(storage, config(named(&NAMES))).unwrap();
    for (slot, name) in NAMES.iter().enumerate() {
        let attribute = Attribute {
            name: (*name).into(),
            ..Attribute::default()
        };
        r.attribute(Ticks(0), slot, &attribute).unwrap();
    }
    let written = write_full(&mut r);
    r.finish(Ticks(300_000)).unwrap();
    written
}

/// Runs `check` on every JDK with a file of the full scenario.
fn on_every_jdk(check: impl Fn(&Jdk, &str, Written)) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("full.jfr");
    let written = write_file(&path);
    let jdks = jdk::all();
    let versions: Vec<_> = jdks.iter().map(|j| j.version).collect();
    println!("JDKs found: {versions:?}");
    for jdk in jdks {
        check(&jdk, path.to_str().unwrap(), written);
    }
}

#[test]
fn summary_counts_what_was_written() {
    on_every_jdk(|jdk, path, written| {
        let summary = jdk.jfr_ok(&["summary", path]);
        let count = |event| Jdk::count(&summary, event);
        assert_eq!(
            count("jdk.ExecutionSample"),
            Some(written.execution_samples),
            "{summary}"
        );
        assert_eq!(count("jdk.GCPhasePause"), Some(written.chunks));
        assert_eq!(
            count("ctxagent.ContextAttribute"),
            Some(written.chunks * NAMES.len())
        );
        assert!(
            summary.contains(&format!("Chunks: {}", written.chunks)),
            "{summary}"
        );
        assert!(summary.contains("Start: 2023-11-14 22:13:20"), "{summary}");
        assert!(!summary.contains("missing event metadata"), "{summary}");
    });
}

#[test]
fn print_and_metadata_go_through() {
    on_every_jdk(|jdk, path, _| {
        let printed = jdk.jfr_ok(&["print", path]);
        assert!(printed.contains("walk_failed"));
        assert!(printed.contains("22:13:20.001"), "times are formatted");
        assert!(printed.contains("tenant = \"acme\""));
        let metadata = jdk.jfr_ok(&["metadata", path]);
        assert!(metadata.contains("String http_route;"), "{metadata}");
    });
}

#[test]
fn json_gives_back_every_value() {
    on_every_jdk(|jdk, path, written| {
        let text = jdk.jfr_ok(&["print", "--json", "--stack-depth", "64", path]);
        let json: Value = serde_json::from_str(&text).unwrap();
        let events = json["recording"]["events"].as_array().unwrap();
        let samples: Vec<_> = events
            .iter()
            .filter(|e| e["type"] == "jdk.ExecutionSample")
            .map(|e| &e["values"])
            .collect();
        assert_eq!(samples.len(), written.execution_samples);
        let texts = odd_texts();
        for (i, sample) in samples.iter().enumerate() {
            let n = i / 2 % texts.len();
            assert_eq!(
                sample["http_route"].as_str(),
                Some(texts[n].as_str()),
                "{}",
                jdk.version
            );
            assert_eq!(sample["tenant"], "acme");
            assert_eq!(sample["unused"], Value::Null);
            assert_eq!(sample["weight"], i % 2 + 1);
            assert_eq!(sample["state"], "STATE_RUNNABLE");
            let thread = &sample["sampledThread"];
            let chunk = i / 2 / texts.len();
            assert_eq!(thread["javaName"], format!("worker-{chunk}-{n}"));
            assert_eq!(thread["osThreadId"], 100 + n);
            frames(sample, i, n);
        }
    });
}

#[test]
fn late_column_name_reaches_all_chunks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("late.jfr");
    let storage = FileStorage::create(&path).unwrap();
    let mut r = Recording::create(storage, config(Columns::Auto)).unwrap();
    for (i, name) in (0..).zip(["first", "second", "third", "fourth"]) {
        let attribute = Attribute {
            name: name.into(),
            ..Attribute::default()
        };
        let at = Ticks(1000 * (i + 1));
        let slot = usize::try_from(i).unwrap();
        r.attribute(at, slot, &attribute).unwrap();
        let mut values = [AttributeKey::NONE; 8];
        values[slot] = r.attribute_value(&format!("value of {name}"));
        let context = r.context(at, &values);
        let thread = r.thread(&Thread::native("t", 1));
        let stack = r.synthetic_stack("none");
        runnable_sample(&mut r, at, thread, stack, context);
        r.rotate(at).unwrap();
    }
    r.finish(Ticks(9000)).unwrap();
    let path = path.to_str().unwrap();
    for jdk in jdk::all() {
        let printed = jdk.jfr_ok(&["print", "--events", "jdk.ExecutionSample", path]);
        for name in ["first", "second", "third", "fourth"] {
            let set = format!("{name} = \"value of {name}\"");
            assert!(printed.contains(&set), "{printed}");
            let unset = format!("{name} = N/A");
            assert_eq!(printed.matches(&unset).count(), 3, "{printed}");
        }
        let metadata = jdk.jfr_ok(&["metadata", "--events", "jdk.ExecutionSample", path]);
        let field = |name: &str| {
            let text = metadata
                .split("\n\n")
                .find(|t| t.contains(&format!(" {name};")));
            text.unwrap_or_else(|| panic!("{name}: {metadata}"))
        };
        assert!(!field("fourth").contains("@Experimental"), "{metadata}");
        assert!(field("context4").contains("@Experimental"), "{metadata}");
    }
}

fn frames(sample: &Value, i: usize, n: usize) {
    let frames = sample["stackTrace"]["frames"].as_array().unwrap();
    let class = &frames[0]["method"]["type"]["name"];
    if i % 2 == 1 {
        assert_eq!(
            (frames.len(), class.as_str()),
            (1, Some("ctxagent/NoStack"))
        );
        return;
    }
    assert_eq!(frames.len(), 4 + n);
    assert_eq!(*class, format!("app/shop/Service{}", n % 5));
    assert_eq!(frames[1]["lineNumber"], 70_000);
    assert_eq!(frames[2]["lineNumber"], -1);
    assert_eq!(sample["stackTrace"]["truncated"], n % 2 == 1);
}

#[test]
fn views_and_scrub_work_where_they_exist() {
    on_every_jdk(|jdk, path, written| {
        if jdk.version < 21 {
            return;
        }
        let view = jdk.jfr_ok(&["view", "hot-methods", path]);
        assert!(view.contains("NoStack.walk_failed"), "{view}");
        jdk.jfr_ok(&["view", "jdk.ExecutionSample", path]);
        let scrubbed = format!("{path}.{}.scrubbed.jfr", jdk.version);
        jdk.jfr_ok(&[
            "scrub",
            "--include-events",
            "jdk.ExecutionSample",
            path,
            &scrubbed,
        ]);
        let summary = jdk.jfr_ok(&["summary", &scrubbed]);
        assert_eq!(
            Jdk::count(&summary, "jdk.ExecutionSample"),
            Some(written.execution_samples)
        );
    });
}

#[test]
fn default_hole_costs_readers_no_time() {
    let dir = tempfile::tempdir().unwrap();
    let with_hole_of = |reserve_bytes: u64| {
        let path = dir.path().join(format!("{reserve_bytes}.jfr"));
        let config = ProfileConfig {
            reserve_bytes,
            ..config(named(&NAMES))
        };
        let mut r = Recording::create(FileStorage::create(&path).unwrap(), config).unwrap();
        let written = write_full(&mut r);
        r.flush(Ticks(300_000)).unwrap();
        (path, written.execution_samples)
    };
    let (plain, hole) = (with_hole_of(1 << 16), with_hole_of(64 << 20));
    let meta = std::fs::metadata(&hole.0).unwrap();
    assert!(
        meta.len() > 64 << 20 && meta.blocks() * 512 < 1 << 20,
        "the hole takes no disk"
    );
    for jdk in jdk::all() {
        let time = |(path, samples): &(PathBuf, usize)| {
            let began = Instant::now();
            let summary = jdk.jfr_ok(&["summary", path.to_str().unwrap()]);
            assert_eq!(Jdk::count(&summary, "jdk.ExecutionSample"), Some(*samples));
            jdk.jfr_ok(&["print", path.to_str().unwrap()]);
            began.elapsed()
        };
        // Again where a machine that stood still made the difference: the quickest of each count.
        let (mut without, mut with) = (Duration::MAX, Duration::MAX);
        let costs_nothing = (0..10).any(|_| {
            without = without.min(time(&plain));
            with = with.min(time(&hole));
            with < without * 2
        });
        println!("JDK {}: {with:?}, without {without:?}", jdk.version);
        assert!(costs_nothing, "{with:?}, without {without:?}");
    }
}

#[test]
fn disassembled_and_assembled_it_is_the_same_file() {
    on_every_jdk(|jdk, path, _| {
        let out = tempfile::tempdir().unwrap();
        let directory = out.path().to_str().unwrap();
        jdk.jfr_ok(&[
            "disassemble",
            "--max-chunks",
            "1",
            "--output",
            directory,
            path,
        ]);
        let again = format!("{path}.{}.again.jfr", jdk.version);
        jdk.jfr_ok(&["assemble", directory, &again]);
        assert!(std::fs::read(path).unwrap() == std::fs::read(&again).unwrap());
    });
}

/// Number of samples that a JDK prints, and all it prints. Not with `--events`, nor by `summary`:
/// those go by type id, and that means something else in the part of another writer.
fn printed_samples(jdk: &Jdk, file: &Path) -> (usize, String) {
    let printed = jdk.jfr_ok(&["print", file.to_str().unwrap()]);
    let count = printed.matches("jdk.ExecutionSample {").count();
    (count, printed)
}

/// The JDK takes a key that it met in the chunk before for the same value again.
#[test]
fn renamed_threads_and_late_classes_print_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("renamed.jfr");
    let storage = FileStorage::create(&path).unwrap();
    let mut r = Recording::create(storage, config(named(&["tenant"]))).unwrap();
    for (chunk, name) in ["before", "after"].into_iter().enumerate() {
        let at = Ticks(chunk as u64 * 1_000 + 1);
        let thread = r.thread(&Thread {
            java_name: Some(&format!("thread {name}")),
            java_id: 7,
            ..Thread::native("os", 9)
        });
        let method = r.method(&Method::new(&format!("app/Class_{name}"), "run", "()V", 1));
        let frames = [Frame {
            method,
            line: 1,
            bci: 0,
            kind: FrameKind::Jit,
        }];
        let stack = r.stack(&StackTrace {
            truncated: false,
            frames: &frames,
        });
        let value = r.attribute_value(&format!("tenant {name}"));
        let context = r.context(at, &[value; 8]);
        runnable_sample(&mut r, at, thread, stack, context);
        r.rotate(Ticks(chunk as u64 * 1_000 + 900)).unwrap();
    }
    r.finish(Ticks(5_000)).unwrap();
    for jdk in jdk::all() {
        let (count, printed) = printed_samples(&jdk, &path);
        assert_eq!(count, 2, "JDK {}", jdk.version);
        for name in ["before", "after"] {
            for (text, expected) in [
                (format!("sampledThread = \"thread {name}\""), 1),
                (format!("app.Class_{name}.run"), 1),
                // In the sample, and in the description of its context.
                (format!("tenant = \"tenant {name}\""), 2),
            ] {
                let found = printed.matches(&text).count();
                assert_eq!(found, expected, "JDK {}: {text} in {printed}", jdk.version);
            }
        }
    }
}

/// Ids of types, metadata and keys do not clash with those of a JDK. Times do: its ticks are
/// nanoseconds.
#[test]
fn concatenated_with_a_jdk_recording_both_parts_print() {
    let dir = tempfile::tempdir().unwrap();
    let ours = dir.path().join("ours.jfr");
    write_file(&ours);
    for version in [17, 21, 25] {
        let theirs = format!(
            "{}/../jfr-format/tests/fixtures/jdk{version}.jfr",
            env!("CARGO_MANIFEST_DIR")
        );
        let parts = [&ours, Path::new(&theirs)].map(|path| std::fs::read(path).unwrap());
        let files = [[&parts[0], &parts[1]], [&parts[1], &parts[0]]].map(|[first, second]| {
            let joined = dir.path().join(format!("{version}-{}.jfr", first.len()));
            std::fs::write(&joined, [&first[..], &second[..]].concat()).unwrap();
            joined
        });
        for jdk in jdk::all().iter().filter(|jdk| jdk.version >= version) {
            let alone = [&ours, Path::new(&theirs)].map(|path| printed_samples(jdk, path).0);
            assert!(alone[0] > 0 && alone[1] > 0, "{alone:?}");
            for file in &files {
                let what = format!("JDK {}: {}", jdk.version, file.display());
                let (count, printed) = printed_samples(jdk, file);
                assert_eq!(count, alone[0] + alone[1], "{what}");
                assert!(printed.contains("worker-0-0"), "{what}");
            }
        }
    }
}
