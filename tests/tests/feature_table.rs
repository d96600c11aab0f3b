//! Context features that only a recording can show; `tests/features.tsv` has all of them with their
//! tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use e2e::workspace::root;
use e2e::{Jdk, Jvm, TestDir};
use serde_json::Value;

/// Runs a part of `FeatureParts` under the agent.
fn recorded(jdk: Jdk, test_dir: &TestDir, part: &str) {
    Jvm::new(jdk, test_dir)
        .agent("start,interval=2ms,file=app.jfr")
        .program(&format!("FeatureParts {part}"))
        .run_ok();
}

/// A sample holds one number for its context; one context has one number,
/// whatever thread had it; what the number means is in the same file, and its strings are there
/// once a chunk and not once a sample.
#[test]
fn context_is_one_id_with_strings_once() {
    let test_dir = TestDir::new();
    recorded(Jdk::main(), &test_dir, "contexts");
    let recording = test_dir.recording();
    let samples = recording.samples();
    let mut values_by_id = BTreeMap::new();
    let mut ids_by_value = BTreeMap::new();
    let mut labelled: usize = 0;
    for sample in samples.iter().filter(|s| s.text("kind") == Some("row")) {
        let id = sample.number("contextId").unwrap();
        assert_ne!(id, 0, "a context has a number");
        let tenant = sample.text("tenant").unwrap().to_owned();
        assert_eq!(
            *values_by_id.entry(id).or_insert_with(|| tenant.clone()),
            tenant
        );
        assert_eq!(*ids_by_value.entry(tenant).or_insert(id), id);
        labelled += 1;
    }
    assert_eq!(ids_by_value.len(), 3, "{ids_by_value:?}");
    let described = recording.events("ctxagent.Context");
    for (id, tenant) in &values_by_id {
        let meant = described
            .iter()
            .find(|event| event.number("contextId") == Some(*id))
            .unwrap();
        assert_eq!(meant.text("tenant"), Some(tenant.as_str()));
        assert_eq!(meant.text("kind"), Some("row"));
    }
    let none = samples.iter().find(|s| s.text("kind").is_none());
    assert_eq!(none.map_or(0, |s| s.number("contextId").unwrap()), 0);
    let file = fs::read(recording.path()).unwrap();
    let copies = memchr::memmem::find_iter(&file, "tenant-of-row-1").count();
    println!("{labelled} samples, one tenant {copies} times in the file");
    assert!(labelled > 100 && copies >= 1 && copies * 10 < labelled);
}

/// Samples carry the context whether the thread runs Java code or native code, which the
/// handler reads without asking the VM.
/// (Both are `jdk.ExecutionSample`: the thread used CPU time. `jdk.NativeMethodSample` is not
/// written.)
#[test]
fn samples_in_native_code_carry_context() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        recorded(jdk, &test_dir, "native");
        let samples = test_dir.recording().samples();
        let count = |label: &str, method: &str| {
            samples
                .iter()
                .filter(|s| s.text("kind") == Some(label))
                .filter(|s| s.frames().first().is_some_and(|top| top.contains(method)))
                .count()
        };
        let native = count("native", "Deflater.deflateBytes");
        let java = count("java", "FeatureParts.burn");
        println!("{jdk}: {native} in native code, {java} in Java");
        assert!(native > 10, "{native} of {}", samples.len());
        assert!(java > 10, "{java} of {}", samples.len());
    }
}

/// The kernel cuts the names of threads to 15 bytes.
#[test]
fn compiler_threads_have_whole_names() {
    let (_, recording) = Jvm::recording(Jdk::main(), "interval=1ms")
        .flag("-Xcomp")
        .program("Hello 200")
        .record_to_exit();
    let samples = recording.samples();
    let threads = samples.iter().filter_map(|sample| sample.thread());
    let compilers: Vec<&str> = threads.filter(|name| name.contains(" Compiler")).collect();
    assert!(!compilers.is_empty(), "no compiler thread was sampled");
    let is_whole = |name: &&str| name.contains(" CompilerThread");
    assert!(compilers.iter().all(is_whole), "{compilers:?}");
}

/// CPU time of the collector's threads is a row of its own, and as much as the kernel says.
#[test]
#[expect(clippy::cast_precision_loss, reason = "some hundred milliseconds")]
fn gc_cpu_time_has_its_own_row() {
    const INTERVAL_NANOS: f64 = 2e6;
    for jdk in Jdk::all() {
        let (run, recording) = Jvm::recording(jdk, "interval=2ms,ctx=tenant")
            .flag("-XX:+UseG1GC")
            .flag("-XX:ParallelGCThreads=2")
            .flag("-XX:ConcGCThreads=1")
            .flag("-XX:-UseDynamicNumberOfGCThreads")
            .program("Families")
            .record_to_exit();
        let truth = run.numbers("(GC) ")[0] as f64;
        let report = recording
            .ctxjfr(&["report", "FILE", "--by", "tenant", "--json"])
            .success();
        let report: Value = serde_json::from_str(&report.stdout).unwrap();
        let rows = report["rows"].as_array().unwrap();
        let of_collector: Vec<_> = rows.iter().filter(|row| row["vm_kind"] == "(GC)").collect();
        assert_eq!(of_collector.len(), 1, "{report}");
        let seen = of_collector[0]["value"].as_f64().unwrap();
        println!("{jdk}: {seen} ns of {truth}");
        assert!(truth > 50.0 * INTERVAL_NANOS, "too little to be seen");
        // Samples come at random instants: the deviation of n of them is the root of n.
        let deviation = (truth * INTERVAL_NANOS).sqrt();
        assert!(
            (seen - truth).abs() < truth / 10.0 + 4.0 * deviation,
            "{seen} of {truth} +- {deviation}"
        );
    }
}

/// Opening and closing writes no event.
#[test]
fn scopes_write_no_events() {
    let test_dir = TestDir::new();
    recorded(Jdk::main(), &test_dir, "scopes");
    let counts = test_dir.recording().counts(Jdk::main());
    let all: u64 = counts.values().sum();
    println!("{all} events for 400 000 scopes: {counts:?}");
    let is_ours = |kind: &str| kind.starts_with("ctxagent.") && kind != "ctxagent.Stats";
    let ours = counts.iter().filter(|(kind, n)| is_ours(kind) && **n > 0);
    let ours: Vec<_> = ours.map(|(kind, n)| (&**kind, *n)).collect();
    let one_context = [("ctxagent.Context", 1), ("ctxagent.ContextAttribute", 1)];
    assert_eq!(ours, one_context, "{counts:?}");
    // The others come by the chunk.
    assert!(all - counts["jdk.ExecutionSample"] < 400, "{counts:?}");
}

/// A scope that does not escape allocates nothing, with the agent recording.
#[test]
fn compiled_scopes_allocate_nothing() {
    for jdk in Jdk::all() {
        for part in ["allocation", "helper", "rare"] {
            let run = Jvm::alone(jdk)
                .agent("start,interval=10ms,file=app.jfr")
                .program(&format!("FeatureParts {part}"))
                .run_ok();
            assert_eq!(
                run.stdout.trim(),
                "bytes per scope below one: true",
                "{jdk}, {part}"
            );
        }
    }
}

fn sources(directory: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(directory)).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect()
}

/// `tests/features.tsv`: context features of the draft (c), of context types (d) and of the observer
/// (e). One is not to be built (c27), and one is a rate (c10): a bench measures it, no test asserts
/// time.
#[test]
fn every_feature_has_a_test() {
    let mut files = sources("tests/tests", "rs");
    files.extend(sources("java-api/src/test/java/io/ctxagent", "java"));
    files.extend(sources(
        "java-api/src/test/java/io/ctxagent/observe",
        "java",
    ));
    files.extend(sources("agent/src/events", "rs"));
    let texts = files.iter().map(|file| fs::read_to_string(file).unwrap());
    let texts: Vec<String> = texts.collect();
    let table = fs::read_to_string(root().join("tests/features.tsv")).unwrap();
    let rows: Vec<_> = table
        .lines()
        .filter_map(|row| row.split_once('\t'))
        .collect();
    let parts = [("c", 26), ("d", 19), ("e", 18)].into_iter();
    let all = parts.flat_map(|(part, count)| (1..=count).map(move |n| format!("{part}{n}")));
    for feature in all.filter(|feature| feature != "c10") {
        let is_there = rows.iter().any(|(row, _)| *row == feature);
        assert!(is_there, "{feature} has no row");
    }
    for (feature, tests) in rows.iter().filter(|(feature, _)| !feature.starts_with('#')) {
        for test in tests.split(' ') {
            let call = format!("{test}(");
            let is_there = texts.iter().any(|text| text.contains(&call));
            assert!(is_there, "{feature}: no test {test}");
        }
    }
}
