//! Exit codes, messages, packed and partly readable files.

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::*;

#[test]
fn labels_and_summary() {
    let dir = with_shop();
    let labels = dir.ok(&["labels", "shop.jfr"]);
    assert!(
        labels.contains("http.route  POST /checkout 60.0 %, GET /search 30.0 %    90.0 %       2"),
        "{labels}"
    );
    assert!(
        !labels.contains("context5"),
        "free slots are no attributes: {labels}"
    );
    let summary = dir.json(&["summary", "shop.jfr", "--json"]);
    assert_eq!(summary["chunks"], 2);
    assert_eq!(summary["samples"], 100);
    assert_eq!(
        summary["attributes"][1],
        json!({"name": "tenant", "values": 2, "samples": 60, "coverage": 0.6})
    );
    assert!(
        dir.ok(&["summary", "shop.jfr"])
            .contains("jdk.ExecutionSample")
    );
    assert!(
        dir.ok(&["check", "shop.jfr"])
            .contains("ok: every event is readable")
    );
}

#[test]
fn counters_are_explained_by_name() {
    let dir = TestDir::new();
    let all = dir.ok(&["counters"]);
    let line =
        "lost.reentry (samples): CPU samples lost because the signal arrived inside the handler.";
    assert!(all.lines().any(|found| found == line), "{all}");
    let some = dir.ok(&["counters", "lost.reentry", "gc.*"]);
    let is_asked_for = |found: &str| found == line || found.starts_with("gc.");
    assert!(
        some.lines().count() > 3 && some.lines().all(is_asked_for),
        "{some}"
    );
    dir.fails(1, &["counters", "lost.nothing"]);
}

#[test]
fn exit_codes_of_wrong_calls_and_files() {
    let dir = with_shop()
        .with("empty.jfr", b"")
        .with("text.jfr", b"this is not a recording");
    for arguments in [
        &["report", "shop.jfr"][..],
        &["report", "--by", "x"],
        &["nonsense"],
        &["report", "shop.jfr", "--by", "x", "--json", "--csv"],
        &["report", "shop.jfr", "--by", "tenant", "--where", "=x"],
        &["flame", "shop.jfr", "-o", "flame.pdf"],
    ] {
        dir.fails(2, arguments);
    }
    for (file, part) in [
        ("missing.jfr", "No such file"),
        (".", "a directory"),
        ("/dev/zero", "no regular file"),
        ("empty.jfr", "no readable chunk"),
        ("text.jfr", "no readable chunk"),
    ] {
        for command in ["summary", "check", "print", "labels"] {
            assert!(
                dir.fails(1, &[command, file]).contains(part),
                "{command} {file}"
            );
        }
    }
    let fifo = dir.path("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    assert!(
        dir.fails(1, &["summary", "fifo"])
            .contains("no regular file")
    );
    let message = dir.fails(1, &["report", "shop.jfr", "--by", "route"]);
    assert!(message.contains("did you mean 'http.route'"), "{message}");
    let message = dir.fails(
        1,
        &["report", "shop.jfr", "--by", "tenant", "--event", "nix"],
    );
    assert!(message.contains("jdk.ExecutionSample"), "{message}");
}

#[test]
fn partly_readable_files_are_read_partly() {
    let good = shop();
    let cut = [&good[..], &good[..good.len() - 2000]].concat();
    let garbage = [b"garbage", &good[..], &[0; 100]].concat();
    let dir = TestDir::new()
        .with("cut.jfr", &cut)
        .with("garbage.jfr", &garbage);
    for (file, least) in [("cut.jfr", 160), ("garbage.jfr", 100)] {
        let output = dir.run(&["report", file, "--by", "http.route", "--json"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{file}");
        assert!(
            errors.contains("partly read") && errors.contains(file) && errors.contains("chunk at"),
            "{errors}"
        );
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(
            json["total"]["samples"].as_u64().unwrap() >= least,
            "{json}"
        );
        assert!(!json["damages"].as_array().unwrap().is_empty());
    }
}

#[test]
fn packed_files_are_read_up_to_a_limit() {
    let bytes = shop();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&bytes).unwrap();
    let zst = zstd::encode_all(&bytes[..], 1).unwrap();
    let dir = TestDir::new()
        .with("a.gz", &gz.finish().unwrap())
        .with("b.jfr", &zst);
    for file in ["a.gz", "b.jfr"] {
        assert_eq!(
            dir.json(&["report", file, "--by", "tenant", "--json"])["total"]["samples"],
            100
        );
    }
    // Cut in the middle: what could be unpacked counts.
    let cut = std::fs::read(dir.path("a.gz")).unwrap();
    let dir = dir.with("cut.gz", &cut[..cut.len() / 2]);
    dir.fails(1, &["summary", "cut.gz"]);
    // A decompression bomb: a chunk that claims a huge size, then more than 1 GiB of zeros.
    let mut trap = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let mut header = bytes[..68].to_vec();
    header[8..16].copy_from_slice(&(1u64 << 40).to_be_bytes());
    trap.write_all(&header).unwrap();
    let nothing = vec![0u8; 1 << 20];
    for _ in 0..1100 {
        trap.write_all(&nothing).unwrap();
    }
    let dir = dir.with("trap.zst", &trap.finish().unwrap());
    let message = dir.fails(1, &["summary", "trap.zst"]);
    assert!(message.contains("1 GiB"), "{message}");
}

#[test]
fn closed_stdout_is_quiet() {
    let dir = with_shop();
    let mut child = dir
        .command(&["print", "shop.jfr"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.len()),
        (Some(0), 0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn golden_outputs() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let file = "shop-jdk21.jfr.gz";
    for (golden, arguments) in [
        (
            "shop-jdk21.report",
            &["report", file, "--by", "http.route,tenant"][..],
        ),
        (
            "shop-jdk21.collapsed",
            &["convert", file, "--by", "http.route", "-o", "collapsed=-"],
        ),
        ("shop-jdk21.summary", &["summary", file]),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_ctxjfr"))
            .args(arguments)
            .current_dir(&fixtures)
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        let golden = fixtures.join(golden);
        if std::env::var_os("CTXJFR_BLESS").is_some() {
            std::fs::write(&golden, &text).unwrap();
        }
        assert_eq!(
            text,
            std::fs::read_to_string(&golden).unwrap(),
            "{}",
            golden.display()
        );
    }
}
