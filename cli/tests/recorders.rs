//! Recordings of one process by two recorders: nothing counts twice.
#![expect(clippy::unwrap_used, reason = "tests")]

#[allow(dead_code, reason = "shared, each test uses its part")]
mod common;
#[path = "../../jfr-format/tests/read_common/mod.rs"]
#[allow(dead_code, reason = "shared, each test uses its part")]
mod read_common;

use common::{Shop, TestDir};
use ctxagent_events::JvmInformation;
use jfr_format::chunk::Header;
use jfr_format::varint;
use read_common::*;

const INFORMATION: u64 = 101;
const PID: u32 = 4711;
const STARTED_MILLIS: u64 = 1_699_999_990_000;
const LEFT_OUT: &str = "of another recorder";

/// The first second of the process, by us: 20 samples of 10 ms, and what `more` adds.
fn ours(more: impl FnOnce(&mut Shop)) -> Vec<u8> {
    let mut shop = Shop::with(|config| {
        config.environment.jvm = Some(JvmInformation {
            start_epoch_millis: STARTED_MILLIS,
            pid: PID,
            ..JvmInformation::default()
        });
    });
    for _ in 0..20 {
        shop.sample(Some("/"), Some("acme"), "serve", 1);
    }
    more(&mut shop);
    shop.bytes_until(1_000_000)
}

/// Two seconds by another recorder, which begin with ours: a sample in each tenth of a second.
fn theirs(event_type: &str, pid: u32, started_millis: u64) -> Vec<u8> {
    let mut types = types();
    for ty in &mut types {
        for (key, value) in &mut ty.attributes {
            if key == "name" && value == "jdk.ExecutionSample" {
                event_type.clone_into(value);
            }
        }
    }
    let long = |name| field(name, ids::LONG, &[]);
    let fields = ["startTime", "jvmStartTime", "pid"].map(long).to_vec();
    types.push(class(INFORMATION, "jdk.JVMInformation", &[EVENT], fields));
    let mut payload = Vec::new();
    for number in [1_000, started_millis, pid.into()] {
        varint::put(&mut payload, number);
    }
    let information = event(INFORMATION, &payload);
    let mut events = vec![metadata(types), checkpoint(0, &pools()), information];
    for tenth in 0..20 {
        let mut payload = Vec::new();
        varint::put(&mut payload, 1_000 + tenth * 100_000_000 + 50_000_000);
        payload.extend([11, 1, 1, 0x81, 1]);
        events.push(event(ids::SAMPLE, &payload));
    }
    let mut bytes = chunk(&events);
    let mut header = Header::parse(&bytes).unwrap();
    header.duration_nanos = 2_000_000_000;
    bytes[..68].copy_from_slice(&header.to_bytes());
    bytes
}

fn theirs_of_cpu() -> Vec<u8> {
    theirs("jdk.ExecutionSample", PID, STARTED_MILLIS + 171)
}

/// Samples in the total of a report, and what was said.
fn report(dir: &TestDir, files: &[&str], more: &[&str]) -> (u64, String) {
    let arguments = [&["report", "--by", "tenant", "--json"], files, more].concat();
    let output = dir.run(&arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&said);
    (report["total"]["samples"].as_u64().unwrap(), said)
}

#[test]
fn cpu_counts_once_while_ours_ran() {
    let dir = TestDir::new()
        .with("a.jfr", &ours(|_| ()))
        .with("a.jdk.jfr", &theirs_of_cpu());
    for files in [["a.jfr", "a.jdk.jfr"], ["a.jdk.jfr", "a.jfr"]] {
        let (samples, said) = report(&dir, &files, &[]);
        assert_eq!(samples, 20 + 10, "{said}");
        let lines: Vec<&str> = said.lines().filter(|l| l.contains(LEFT_OUT)).collect();
        assert_eq!(lines.len(), 1, "{said}");
        assert!(lines[0].contains("10 samples of another"), "{said}");
    }
    // Asked for by name, and alone.
    for files in [&["a.jdk.jfr"][..], &["a.jdk.jfr", "a.jdk.jfr"]] {
        let (samples, said) = report(&dir, files, &[]);
        assert_eq!(samples, 20 * files.len() as u64);
        assert!(!said.contains(LEFT_OUT), "{said}");
    }
}

#[test]
fn merged_file_counts_once_in_every_command() {
    let dir = TestDir::new()
        .with("a.jfr", &ours(|_| ()))
        .with("a.jdk.jfr", &theirs_of_cpu());
    let merged = dir.run(&["merge", "a.jfr", "a.jdk.jfr", "-o", "m.jfr"]);
    assert!(merged.status.success(), "{merged:?}");
    let (samples, said) = report(&dir, &["m.jfr"], &[]);
    assert_eq!(samples, 30, "{said}");
    for command in [
        &["report", "m.jfr", "--by", "thread"][..],
        &["flame", "m.jfr", "-o", "f.html"],
        &["coverage", "m.jfr"],
        &["labels", "m.jfr"],
        &["convert", "m.jfr", "-o", "csv=m.csv"],
        &["convert", "m.jfr", "-o", "pprof=m.pb.gz"],
    ] {
        let output = dir.run(command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command:?}: {said}");
        let lines = said.lines().filter(|line| line.contains(LEFT_OUT));
        assert_eq!(lines.count(), 1, "{command:?}: {said}");
    }
    let csv = std::fs::read_to_string(dir.path("m.csv")).unwrap();
    let count = |line: &str| line.split(',').rev().nth(3)?.parse::<u64>().ok();
    assert_eq!(csv.lines().filter_map(count).sum::<u64>(), 30, "{csv}");
    let file = std::fs::File::open(dir.path("m.jfr")).unwrap();
    let mut report = dir.command(&["report", "-", "--by", "tenant"]);
    let output = report.stdin(file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("may count twice"), "{said}");
}

#[test]
fn other_kinds_and_processes_count() {
    let locks = theirs("jdk.JavaMonitorEnter", PID, STARTED_MILLIS);
    let dir = TestDir::new()
        .with("a.jfr", &ours(|_| ()))
        .with("locks.jfr", &ours(|shop| shop.wait("/", 100)))
        .with(
            "cpu_time.jfr",
            &theirs("jdk.CPUTimeSample", PID, STARTED_MILLIS),
        )
        .with(
            "pid.jfr",
            &theirs("jdk.ExecutionSample", PID + 1, STARTED_MILLIS),
        )
        .with(
            "container.jfr",
            &theirs("jdk.ExecutionSample", PID, STARTED_MILLIS - 60_000),
        )
        .with("theirs.jfr", &locks);
    let samples = |files: &[&str], more: &[&str]| report(&dir, files, more).0;
    assert_eq!(samples(&["a.jfr", "pid.jfr"], &[]), 40);
    assert_eq!(samples(&["a.jfr", "container.jfr"], &[]), 40);
    assert_eq!(samples(&["a.jfr", "cpu_time.jfr"], &[]), 30);
    let by_name = ["--event", "jdk.CPUTimeSample"];
    assert_eq!(samples(&["a.jfr", "cpu_time.jfr"], &by_name), 20);
    // Ours has no waits: theirs count.
    let lock = ["--event", "lock"];
    assert_eq!(samples(&["a.jfr", "theirs.jfr"], &lock), 20);
    assert_eq!(samples(&["locks.jfr", "theirs.jfr"], &lock), 1 + 10);
}
