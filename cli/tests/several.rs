//! Several recordings at once: in several files, or joined in one; and files of which
//! only a part is there.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../../jfr-format/tests/read_common/mod.rs"]
#[allow(dead_code, reason = "shared, each test uses its part")]
mod read_common;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use jfr_format::varint;
use read_common::*;

const STATS: u64 = 101;

/// A chunk of so many samples of an event type, and of counters with their growth and total.
fn chunk_of(event_type: &str, samples: usize, stats: &[(&str, u64, u64)]) -> Vec<u8> {
    let mut types = types();
    for (key, value) in types.iter_mut().flat_map(|ty| &mut ty.attributes) {
        if key == "name" && value == "jdk.ExecutionSample" {
            event_type.clone_into(value);
        }
    }
    let counter = [
        ("name", ids::STRING),
        ("value", ids::LONG),
        ("total", ids::LONG),
    ];
    let counter = counter.map(|(name, ty)| field(name, ty, &[]));
    types.push(class(STATS, "ctxagent.Stats", &[EVENT], counter.to_vec()));
    let mut events = vec![metadata(types), checkpoint(0, &pools())];
    events.extend(vec![sample(); samples]);
    for &(name, value, total) in stats {
        let mut payload = Vec::new();
        text(&mut payload, name);
        varint::put(&mut payload, value);
        varint::put(&mut payload, total);
        events.push(event(STATS, &payload));
    }
    chunk(&events)
}

/// What a command makes of files, given as name and bytes.
fn run(arguments: &[&str], files: &[(&str, &[u8])]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(dir.path().join(name), bytes).unwrap();
    }
    Command::new(Path::new(env!("CARGO_BIN_EXE_ctxjfr")))
        .args(&arguments[..1])
        .args(files.iter().map(|(name, _)| name))
        .args(&arguments[1..])
        .arg("--json")
        .current_dir(dir.path())
        .output()
        .unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn each_file_has_its_kind_of_samples() {
    for (kinds, event) in [
        (["jdk.ExecutionSample", "jdk.CPUTimeSample"], "cpu"),
        (
            [
                "jdk.ObjectAllocationSample",
                "jdk.ObjectAllocationOutsideTLAB",
            ],
            "alloc",
        ),
    ] {
        let [first, second] = kinds.map(|kind| chunk_of(kind, 10, &[]));
        let both = [&first[..], &second].concat();
        let samples = |files: &[(&str, &[u8])]| {
            let output = run(&["report", "--by", "tenant", "--event", event], files);
            json(&output)["total"]["samples"].as_u64().unwrap()
        };
        assert_eq!(samples(&[("both.jfr", &both)]), 10, "{event}");
        assert_eq!(
            samples(&[("a.jfr", &first), ("b.jfr", &second)]),
            20,
            "{event}"
        );
        assert_eq!(
            samples(&[("a.jfr", &second), ("b.jfr", &both)]),
            20,
            "{event}"
        );
    }
}

#[test]
fn check_counts_samples() {
    let kinds = ["jdk.ExecutionSample", "jdk.CPUTimeSample"];
    let chunks = kinds.map(|kind| chunk_of(kind, 10, &[]));
    let check = |bytes: &[u8]| {
        let output = run(&["check"], &[("c.jfr", bytes)]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("--event"), "{errors}");
        let json = json(&output);
        let count = |name: &str| json[name].as_u64().unwrap();
        (count("samples"), count("samples_without_stack"))
    };
    let [first, second] = [check(&chunks[0]), check(&chunks[1])];
    assert_eq!((first.0, second.0), (10, 10));
    let both = (20, first.1 + second.1);
    assert_eq!(check(&chunks.concat()), both);
}

#[test]
fn losses_of_joined_recordings_count() {
    let of = |stats: &[_]| chunk_of("jdk.ExecutionSample", 10, stats);
    // Two chunks of one recording, then a longer one.
    let first = [
        of(&[
            ("signals", 12, 12),
            ("written", 10, 10),
            ("lost.late", 2, 2),
        ]),
        of(&[
            ("signals", 11, 23),
            ("written", 10, 20),
            ("lost.late", 1, 3),
        ]),
    ];
    let second = of(&[
        ("signals", 50, 50),
        ("written", 10, 10),
        ("lost.no_slot", 40, 40),
    ]);
    let joined = [&first[0][..], &first[1], &second].concat();
    for command in [&["report", "--by", "tenant"][..], &["summary"], &["check"]] {
        let accounting = |files: &[(&str, &[u8])]| json(&run(command, files))["accounting"].clone();
        let one = accounting(&[("joined.jfr", &joined)]);
        assert_eq!(one["signals"], 73, "{command:?}: {one}");
        assert_eq!(one["lost"], 43, "{command:?}: {one}");
        assert_eq!(one["is_balanced"], true, "{command:?}: {one}");
        let apart = first.concat();
        let two = accounting(&[("a.jfr", &apart), ("b.jfr", &second)]);
        assert_eq!(one, two, "{command:?}");
    }
}

/// The accounting is that of all files: a fault that takes it from the first, the last or the
/// largest one shows.
#[test]
fn accounting_of_several_files_is_their_sum() {
    let kinds = [
        ["signals", "written", "lost.late"],
        ["wall.signals", "wall.written", "wall.lost"],
        ["alloc.seen", "alloc.written", "alloc.lost"],
        ["lock.seen", "lock.written", "lock.lost"],
        ["gc.seen", "gc.written", "gc.lost"],
    ];
    let file = |written: u64, lost: u64| {
        let stats: Vec<(&str, u64, u64)> = kinds
            .iter()
            .flat_map(|names| names.iter().zip([written + lost, written, lost]))
            .map(|(&name, n)| (name, n, n))
            .collect();
        chunk_of("jdk.ExecutionSample", 10, &stats)
    };
    let files = [file(10, 1), file(200, 20), file(3, 0)];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let named = [("a.jfr", 0), ("b.jfr", 1), ("c.jfr", 2)];
        let files: Vec<(&str, &[u8])> = named.map(|(name, n)| (name, &*files[order[n]])).to_vec();
        for command in [&["summary"][..], &["check"]] {
            let accounting = json(&run(command, &files))["accounting"].clone();
            assert_eq!(accounting["signals"], 234, "{order:?} {accounting}");
            assert_eq!(accounting["lost_by_cause"], serde_json::json!({"late": 21}));
            let told = accounting["kinds"].as_array().unwrap();
            assert_eq!(told.len(), kinds.len(), "{order:?} {accounting}");
            for kind in told {
                let of = |name: &str| kind[name].as_u64().unwrap();
                assert_eq!((of("seen"), of("written"), of("lost")), (234, 213, 21));
            }
            assert_eq!(accounting["is_balanced"], true);
        }
        let report = ["report", "--by", "thread"];
        let accounting = json(&run(&report, &files))["accounting"].clone();
        assert_eq!(accounting["kinds"][0]["seen"], 234, "{order:?}");
        assert_eq!(accounting["counters"]["alloc.seen"], 234, "{order:?}");
    }
}

#[test]
fn a_surplus_does_not_hide_a_loss_in_another_file() {
    let of = |signals, written| {
        let stats = [("signals", signals, signals), ("written", written, written)];
        chunk_of("jdk.ExecutionSample", 10, &stats)
    };
    let (lacks, surplus) = (of(12, 10), of(10, 12));
    for files in [
        [("a.jfr", &lacks), ("b.jfr", &surplus)],
        [("a.jfr", &surplus), ("b.jfr", &lacks)],
    ] {
        let files = files.map(|(name, bytes)| (name, &**bytes));
        for command in [&["check"][..], &["report", "--by", "thread"]] {
            let output = run(command, &files);
            assert_eq!(output.status.code(), Some(1), "{command:?}");
            let accounting = &json(&output)["accounting"];
            assert_eq!(
                (&accounting["signals"], &accounting["written"]),
                (&22.into(), &22.into())
            );
            assert_eq!(accounting["is_balanced"], false, "{command:?}");
        }
    }
}

#[test]
fn truncated_packed_files_are_read_partly() {
    let chunk = chunk_of("jdk.ExecutionSample", 100, &[]);
    let gzip = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    };
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    for whole in [gzip(&chunk), zstd(&chunk)] {
        // The first chunk is whole, of the second the last bytes are missing.
        let cut = [&whole[..], &whole[..whole.len() - 12]].concat();
        for command in [&["report", "--by", "tenant"][..], &["summary"], &["print"]] {
            let output = run(command, &[("cut.jfr", &cut)]);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{command:?}: {errors}");
            assert!(errors.contains("partly read"), "{command:?}: {errors}");
            let shown = String::from_utf8_lossy(&output.stdout);
            let samples = match command[0] {
                "report" => json(&output)["total"]["samples"].as_u64(),
                "summary" => json(&output)["samples"].as_u64(),
                _ => u64::try_from(shown.matches("jdk.ExecutionSample").count()).ok(),
            };
            assert!(samples >= Some(100), "{command:?}: {samples:?}, {errors}");
        }
    }
}

/// A chunk of one event type with a field, and an event for each value of it.
fn chunk_with_field(event_type: &str, name: &str, values: &[u64]) -> Vec<u8> {
    let mut types = types();
    for ty in &mut types {
        let is_sample =
            |(key, value): &(String, String)| key == "name" && value == "jdk.ExecutionSample";
        if ty.attributes.iter().any(is_sample) {
            for (key, value) in &mut ty.attributes {
                if key == "name" {
                    event_type.clone_into(value);
                }
            }
            ty.children.push(field(name, ids::LONG, &[]));
        }
    }
    let mut events = vec![metadata(types), checkpoint(0, &pools())];
    for &value in values {
        let mut payload = vec![0xcc, 8, 11, 1, 1, 0x81, 1];
        varint::put(&mut payload, value);
        events.push(event(ids::SAMPLE, &payload));
    }
    chunk(&events)
}

#[test]
fn application_fields_are_no_weights() {
    for name in ["weight", "samples"] {
        let chunk = chunk_with_field("shop.Parcel", name, &[700, 1300]);
        let output = run(
            &["report", "--by", "tenant", "--event", "Parcel"],
            &[("p.jfr", &chunk)],
        );
        let total = &json(&output)["total"];
        assert_eq!(
            *total,
            serde_json::json!({"samples": 2, "weight": 2, "value": 2}),
            "{name}"
        );
    }
}

#[test]
fn samples_count_by_their_weight() {
    for event in ["MethodSample", "datadog.ObjectSample", "datadog.*"] {
        let name = if event == "MethodSample" {
            "datadog.MethodSample"
        } else {
            "datadog.ObjectSample"
        };
        let chunk = chunk_with_field(name, "weight", &[700, 1300]);
        let output = run(
            &["report", "--by", "tenant", "--event", event],
            &[("d.jfr", &chunk)],
        );
        let total = &json(&output)["total"];
        assert_eq!(
            *total,
            serde_json::json!({"samples": 2, "weight": 2000, "value": 2000}),
            "{event}"
        );
    }
}

#[test]
fn interval_follows_the_weights() {
    // One sample of a second, and a thousand of a millisecond.
    let mut periods = vec![1_000_000; 1000];
    periods.push(1_000_000_000);
    let chunk = chunk_with_field("jdk.CPUTimeSample", "samplingPeriod", &periods);
    let output = run(&["report", "--by", "tenant"], &[("c.jfr", &chunk)]);
    let report = json(&output);
    assert_eq!(report["total"]["value"], 2_000_000_000u64);
    // All have one value. Four samples' worth leave room for another half; a thousand leave none.
    let low = report["rows"][0]["share_low"].as_f64().unwrap();
    assert!(low < 0.6, "{report}");
}

#[test]
fn check_tells_what_a_viewer_loses_that_counts_events() {
    for (weights, share) in [(&[1, 1][..], 0.0), (&[1, 1, 38], 37.0 / 40.0)] {
        let chunk = chunk_with_field("jdk.ExecutionSample", "weight", weights);
        let output = run(&["check"], &[("w.jfr", &chunk)]);
        let found = json(&output)["share_beyond_count"].as_f64().unwrap();
        assert!((found - share).abs() < 1e-9, "{found} {share}");
    }
}
