//! `merge`: one file of several recordings, which the JDK's tools and ours read as the single ones.
#![expect(clippy::unwrap_used, reason = "tests")]

#[allow(dead_code, reason = "shared, each test uses its part")]
mod common;
#[path = "../../jfr-format/tests/common/jdk.rs"]
#[allow(dead_code, reason = "shared, each test uses its part")]
mod jdk;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use common::*;
use jfr_format::read::{ActiveSetting, ChunkParser, Chunks};
use serde_json::Value;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../jfr-format/tests/fixtures");

/// A recording that begins so much later, whose keys mean other values.
fn recording(later_nanos: u64, tenant: &str) -> Vec<u8> {
    let mut shop = Shop::with(|config| config.clock.start_epoch_nanos += later_nanos);
    for n in 0..20 {
        shop.sample(Some(&format!("/{tenant}/{n}")), Some(tenant), "serve", 1);
    }
    shop.bytes()
}

fn merge(dir: &TestDir, files: &[&str]) -> Output {
    dir.run(&[&["merge"], files, &["-o", "merged.jfr"]].concat())
}

/// How many events a JDK finds of each type and of which values; of the agent's samples alone.
fn tenants(jdk: &jdk::Jdk, file: &Path) -> BTreeMap<String, u64> {
    let file = file.to_str().unwrap();
    let events = [
        "print",
        "--json",
        "--events",
        "ctxagent.*,ExecutionSample",
        file,
    ];
    let text = jdk.jfr_ok(&events);
    let printed: Value = serde_json::from_str(&text).unwrap();
    let mut found = BTreeMap::new();
    for event in printed["recording"]["events"].as_array().unwrap() {
        let values = &event["values"];
        if let (Some(route), Some(tenant)) =
            (values["http_route"].as_str(), values["tenant"].as_str())
        {
            let key = format!("{} {route} {tenant}", event["type"]);
            *found.entry(key).or_default() += 1;
        }
    }
    found
}

#[test]
fn each_jdk_reads_the_values_of_each_recording() {
    let dir = TestDir::new()
        .with("late.jfr", &recording(10_000_000_000, "globex"))
        .with("early.jfr", &recording(0, "acme"));
    let output = merge(&dir, &["late.jfr", "early.jfr"]);
    assert!(output.status.success(), "{output:?}");
    for jdk in jdk::all() {
        let [late, early, merged] =
            ["late.jfr", "early.jfr", "merged.jfr"].map(|name| tenants(&jdk, &dir.path(name)));
        assert_eq!((late.len(), early.len()), (40, 40), "{late:?}");
        let both: BTreeMap<_, _> = late.into_iter().chain(early).collect();
        assert_eq!(merged, both, "JDK {}", jdk.version);
    }
    let report = |files: &[&str]| {
        dir.ok(&[&["report", "--by", "tenant,http.route", "--csv"], files].concat())
    };
    assert_eq!(report(&["merged.jfr"]), report(&["early.jfr", "late.jfr"]));
}

/// Events by type, as a JDK prints them.
fn printed(jdk: &jdk::Jdk, file: &Path) -> BTreeMap<String, u64> {
    let text = jdk.jfr_ok(&["print", file.to_str().unwrap()]);
    let mut counts = BTreeMap::new();
    for name in text.lines().filter_map(|line| line.strip_suffix(" {")) {
        if name.contains('.') && !name.contains(' ') {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// The same as its `summary` counts them, which knows types by their ids, not by their names.
fn summary(jdk: &jdk::Jdk, file: &Path) -> BTreeMap<String, u64> {
    let text = jdk.jfr_ok(&["summary", file.to_str().unwrap()]);
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [name, count, _bytes] = words[..]
            && name.contains('.')
            && !["jdk.Metadata", "jdk.CheckPoint", "jdk.Checkpoint"].contains(&name)
            && let Ok(count @ 1u64..) = count.parse()
        {
            *counts.entry(name.to_owned()).or_default() += count;
        }
    }
    counts
}

type Counts = fn(&jdk::Jdk, &Path) -> BTreeMap<String, u64>;

/// Recordings of JVMs that count their keys and types each for itself.
#[test]
fn recordings_of_other_recorders_stand_beside_ours() {
    for release in ["jdk17.jfr", "jdk21.jfr", "jdk25.jfr"] {
        let names = [release, "ours8.jfr", release, "ours8.jfr"];
        let files = names.map(|name| Path::new(FIXTURES).join(name));
        let dir = TestDir::new();
        let output = merge(&dir, &files.each_ref().map(|file| file.to_str().unwrap()));
        assert!(output.status.success(), "{output:?}");
        for (jdk, counts) in jdk::all()
            .iter()
            .flat_map(|jdk| [(jdk, printed as Counts), (jdk, summary)])
        {
            let mut sum = BTreeMap::new();
            for file in &files {
                for (name, count) in counts(jdk, file) {
                    *sum.entry(name).or_default() += count;
                }
            }
            assert!(sum.len() > 15, "{sum:?}");
            let merged = counts(jdk, &dir.path("merged.jfr"));
            assert_eq!(merged, sum, "{release} in JDK {}", jdk.version);
        }
    }
}

#[test]
fn jdks_of_two_releases_are_not_merged() {
    let dir = TestDir::new();
    let [a, b] = ["jdk17.jfr", "jdk25.jfr"].map(|name| Path::new(FIXTURES).join(name));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let said = dir.fails(1, &["merge", a, b, "-o", "merged.jfr"]);
    assert!(said.contains("jdk17.jfr and "), "{said}");
    assert!(said.contains("different JDK releases"), "{said}");
    assert!(!dir.path("merged.jfr").exists());
}

/// What the file says of itself is the same, by us.
#[test]
fn a_merged_file_has_the_settings_and_sums_of_its_parts() {
    let dir = TestDir::new().with("shop.jfr", &shop());
    let output = merge(&dir, &["shop.jfr"]);
    assert!(output.status.success(), "{output:?}");
    for command in [
        &["check"][..],
        &["report", "--by", "http.route", "--json"],
        &["labels"],
    ] {
        let of = |file| {
            dir.ok(&[command, &[file]].concat())
                .replace("merged.jfr", "shop.jfr")
        };
        assert_eq!(of("merged.jfr"), of("shop.jfr"), "{command:?}");
    }
    dir.ok(&["merge", "merged.jfr", "shop.jfr", "-o", "again.jfr"]);
}

/// Settings of a file: event, name, value.
fn settings(dir: &TestDir, file: &str) -> Vec<[String; 3]> {
    let bytes = std::fs::read(dir.path(file)).unwrap();
    let mut parser = ChunkParser::new();
    let mut all = Vec::new();
    for chunk in Chunks::new(&bytes) {
        let settings = parser.parse(&chunk).unwrap().settings();
        let texts = |it: ActiveSetting| [it.event.unwrap_or_default(), it.name, it.value];
        all.extend(settings.into_iter().map(texts));
    }
    all
}

/// A setting names its type by the id that merging changes.
#[test]
fn settings_of_a_merged_file_are_of_the_same_events() {
    let ours = Path::new(FIXTURES).join("ours8.jfr");
    let dir = TestDir::new()
        .with("shop.jfr", &shop())
        .with("ours8.jfr", &std::fs::read(ours).unwrap());
    for file in ["shop.jfr", "ours8.jfr"] {
        dir.ok(&["merge", file, "-o", "merged.jfr", "--force"]);
        let expected = settings(&dir, file);
        let is_of_event = |setting: &[String; 3]| !setting[0].is_empty();
        assert!(expected.iter().all(is_of_event), "{expected:?}");
        assert!(expected.iter().any(|setting| setting[0].contains("Wall")));
        assert_eq!(settings(&dir, "merged.jfr"), expected);
    }
}

#[test]
fn nothing_is_merged_of_what_is_not_whole() {
    let whole = recording(0, "acme");
    let dir = TestDir::new()
        .with("whole.jfr", &whole)
        .with("cut.jfr", &whole[..whole.len() - 100])
        .with("text.jfr", b"no recording");
    let said = dir.fails(1, &["merge", "whole.jfr", "cut.jfr", "-o", "new.jfr"]);
    assert!(said.contains("cut.jfr: chunk at 0, "), "{said}");
    assert!(said.contains("nothing is merged"), "{said}");
    let said = dir.fails(1, &["merge", "whole.jfr", "text.jfr", "-o", "new.jfr"]);
    assert!(said.contains("text.jfr: "), "{said}");
    assert!(!dir.path("new.jfr").exists());
}

#[test]
fn merge_overwrites_nothing() {
    let dir = TestDir::new().with("a.jfr", &recording(0, "acme"));
    let said = dir.fails(2, &["merge", "a.jfr", "-o", "a.jfr"]);
    assert!(said.contains("a.jfr"), "{said}");
    dir.ok(&["merge", "a.jfr", "-o", "new.jfr"]);
    let said = dir.fails(1, &["merge", "a.jfr", "-o", "new.jfr"]);
    assert!(said.contains("exists; --force"), "{said}");
    dir.ok(&["merge", "a.jfr", "a.jfr", "-o", "new.jfr", "--force"]);
    let said = dir.fails(2, &["merge", "a.jfr", "-", "-o", "more.jfr"]);
    assert!(said.contains('-'), "{said}");
}
