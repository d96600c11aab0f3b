//! `ctxjfr top` on a running JVM.

use std::fs;
use std::process::Command;

use e2e::process::{Process, limit, run};
use e2e::tool::{
    FINDING, FINE, USAGE, assert_no_answer, assert_nothing_is_left, is_recording, serving, working,
};
use e2e::{Jdk, assert_contains, workspace};
use serde_json::{Value, json};

fn tables(output: &str) -> Vec<Value> {
    let lines = output.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn sum(tables: &[Value], value: impl Fn(&Value) -> &Value) -> u64 {
    let values = tables.iter().map(|table| value(table).as_u64().unwrap());
    values.sum()
}

#[test]
fn recording_of_its_own_ends_with_it() {
    for jdk in Jdk::all() {
        let (_test_dir, tool, jvm, pid) = working(jdk);
        let output = tool
            .run(&["top", &pid, "-n", "3", "--json", "interval=2ms"])
            .success();
        let tables = tables(&output.stdout);
        assert_eq!(tables.len(), 3, "{}", output.stdout);
        let covered = sum(&tables, |table| &table["covered_ns"]);
        assert!(covered >= 2_800_000_000, "{covered}");
        let last = &tables[2];
        println!("{jdk}: {last}");
        assert_eq!(last["schema"], "ctxjfr.top.1");
        assert_eq!(last["interval_ns"], 2_000_000);
        // The attribute that most time has, as soon as there is one.
        assert_eq!(last["by"], json!(["kind"]));
        assert!(last["cores"].as_f64() > Some(0.0) && last["coverage"].as_f64() > Some(0.0));
        assert!(last["rows"][0]["values"][0].is_string());
        let page = fs::read_to_string(workspace::root().join("docs/user-guide/ctxjfr.md"));
        let page = page.unwrap();
        let section = page.split("- `ctxjfr.top.1`").nth(1).unwrap();
        for field in last.as_object().unwrap().keys() {
            assert!(section.contains(&format!("`{field}")), "{field}");
        }
        assert!(!is_recording(&pid));
        assert_nothing_is_left(&pid);
        assert_no_answer(&jvm.end());
    }
}

/// What it shows is in the recording, which goes on: also in its next chunks and files.
#[test]
fn recording_that_runs_is_shown_and_left() {
    let (test_dir, tool, jvm, pid) = working(Jdk::main());
    let file = "file=app-%n.jfr,loop=2s,chunktime=1s,flush=200ms";
    tool.run(&["start", &pid, file]).success();
    let line = tool.refused(USAGE, &["top", &pid, "interval=1ms"]);
    assert_contains!(line, "is recorded already");
    let output = tool.run(&["top", &pid, "-n", "5", "--json", "--by", "thread"]);
    let tables = tables(&output.success().stdout);
    assert_eq!(tables.len(), 5);
    assert!(is_recording(&pid), "the recording is not its own");
    tool.run(&["stop", &pid]).success();
    let recordings = test_dir.recordings();
    assert!(recordings.len() > 2, "{recordings:?}");
    let [begin, end] = [0, 4].map(|number: usize| {
        let table = &tables[number];
        let nanos = |name: &str| table[name].as_u64().unwrap();
        let covered = if number == 0 { nanos("covered_ns") } else { 0 };
        nanos("end_epoch_ns") - covered
    });
    let files = fs::read_dir(test_dir.path()).unwrap();
    let files: Vec<String> = files
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.extension().is_some_and(|end| end == "jfr"))
        .map(|file| file.display().to_string())
        .collect();
    let mut print = vec!["print", "--events", "jdk.ExecutionSample", "--json"];
    print.extend(files.iter().map(String::as_str));
    let events = tool.run(&print).success().stdout;
    let times = events.lines().map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["values"]["startTime"].as_str().unwrap().to_owned()
    });
    let range = [begin, end].map(iso);
    let within = times.filter(|time| (range[0].as_str()..range[1].as_str()).contains(&&**time));
    let (within, shown) = (
        within.count() as u64,
        sum(&tables, |table| &table["total"]["samples"]),
    );
    println!("{shown} samples shown, {within} in the files");
    // Some are written a flush after they were taken.
    assert!(shown > 100 && shown.abs_diff(within) * 10 < within);
    jvm.end();
}

/// As `print` writes times.
fn iso(nanos: u64) -> String {
    let mut date = Command::new("date");
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    date.args(["-u", "-d", &format!("@{seconds}"), "+%Y-%m-%dT%H:%M:%S"]);
    let output = run(date).success();
    format!("{}.{rest:09}Z", output.stdout.trim())
}

#[test]
fn ends_by_ctrl_c_by_kill_and_with_the_jvm() {
    let (_test_dir, tool, jvm, pid) = serving(Jdk::main());
    let begin = || {
        let top = Process::start(tool.command(&["top", &pid, "--by", "state"]), limit());
        top.wait_for_line(" cores in ");
        top
    };
    let top = begin();
    top.signal("INT");
    let output = top.finish();
    assert_eq!(output.code, FINE, "{output:?}");
    assert!(!output.stdout.contains('\u{1b}'), "{}", output.stdout);
    assert_contains!(output.stdout, "coverage: ");
    assert!(!is_recording(&pid));
    assert_nothing_is_left(&pid);

    // The agent has the recording open, and its directory.
    let directory = || {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        let files = descriptors.filter_map(|fd| fs::read_link(fd.unwrap().path()).ok());
        let mut files = files.filter(|file| file.extension().is_some_and(|end| end == "jfr"));
        files.next().unwrap().parent().unwrap().to_owned()
    };
    let top = begin();
    let left = directory();
    top.signal("KILL");
    jvm.wait_until("the recording is ended", || !is_recording(&pid));
    jvm.wait_until("its directory is gone", || !left.exists());

    let top = begin();
    let left = directory();
    jvm.end();
    let output = top.finish();
    assert_eq!(output.code, FINDING, "{output:?}");
    assert_contains!(output.stderr, "has ended");
    assert!(!left.exists());
}

/// Somebody else ends the recording that is shown.
#[test]
fn end_of_the_recording_is_said() {
    let (_test_dir, tool, jvm, pid) = serving(Jdk::main());
    tool.run(&["start", &pid, "file=app.jfr"]).success();
    let top = tool.command(&["top", &pid, "--by", "nothing"]);
    let top = Process::start(top, limit());
    top.wait_for_line("no sample has 'nothing' yet; there are: ");
    tool.run(&["stop", &pid]).success();
    let output = top.finish();
    assert_eq!(output.code, FINDING, "{output:?}");
    assert_contains!(output.stderr, "is not recorded any more");
    jvm.end();
}
