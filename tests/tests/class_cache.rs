//! Caches of classes for later JVMs (AOT cache, CDS archive) that are made beside the agent: it
//! changes no class then, says so once, and records the labels of the API.

use std::collections::BTreeSet;
use std::fs;

use e2e::recording::weights_by;
use e2e::{Jdk, Jvm, ProcessOutput, RunningJvm, TestDir, build};

/// Hooks of all kinds.
const START: &str =
    "start,propagate=all,labels=auto,event=cpu+exception+park,file=app.jfr,overwrite";

/// A directory with `app.jar`: caches take no classes from directories.
fn with_jar() -> Option<TestDir> {
    let test_dir = TestDir::new();
    let (api, programs) = build::class_path().split_once(':').unwrap();
    fs::copy(api, test_dir.file("api.jar")).unwrap();
    let manifest = "Main-Class: Trained\nClass-Path: api.jar\n";
    test_dir.jar(manifest, &[programs]).map(|_| test_dir)
}

fn trained(jdk: Jdk, test_dir: &TestDir, flags: &[&str], argument: &str) -> Jvm {
    let jvm = Jvm::new(jdk, test_dir).main("-jar", &["app.jar", argument]);
    flags.iter().fold(jvm, |jvm, flag| jvm.flag(flag))
}

/// Attaches in mid-training.
fn attach(test_dir: &TestDir, jvm: &RunningJvm) -> ProcessOutput {
    jvm.agent_command_ok(START);
    fs::write(test_dir.file("attached"), b"").unwrap();
    let run = jvm.finish().success();
    fs::remove_file(test_dir.file("attached")).unwrap();
    run
}

/// Fails unless no class was changed, one line says so, and the API had its labels.
fn assert_trained(what: &str, test_dir: &TestDir, run: &ProcessOutput) {
    let lines = run.agent_lines();
    assert!(
        matches!(lines[..], [line] if line.contains("makes a cache of its classes: none of them gets hooks")),
        "{what}: {}",
        run.stderr
    );
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(!said.contains("Has been redefined"), "{what}: {said}");
    let by_label = weights_by(&test_dir.recording().samples(), "who");
    let own = by_label.get(&Some("self".to_owned()));
    assert!(own.is_some_and(|own| *own > 15), "{what}: {by_label:?}");
}

/// The classes of the JDK that a JVM took from its cache.
fn classes_from_cache(jdk: Jdk, test_dir: &TestDir, cache: &str) -> BTreeSet<String> {
    let flags = [cache, "-XX:AOTMode=on", "-Xlog:class+load:file=classes.log"];
    trained(jdk, test_dir, &flags, "alone").run_ok();
    let log = fs::read_to_string(test_dir.file("classes.log")).unwrap();
    let cached = log.lines().filter_map(|line| {
        let (class, source) = line.split_once(" source: ")?;
        let class = class.rsplit(' ').next()?;
        let is_known = class.starts_with("java.") && !class.contains("0x");
        (is_known && source.starts_with("shared objects file")).then(|| class.to_owned())
    });
    cached.collect()
}

fn has_aot_cache(jdk: &Jdk) -> bool {
    jdk.version >= 25 && jdk.has_class_archive()
}

#[test]
fn aot_cache_of_a_training_run_is_whole() {
    let Some(test_dir) = with_jar() else { return };
    for jdk in Jdk::all().into_iter().filter(has_aot_cache) {
        trained(jdk, &test_dir, &["-XX:AOTCacheOutput=plain.aot"], "alone").run_ok();
        let plain = classes_from_cache(jdk, &test_dir, "-XX:AOTCache=plain.aot");
        let output = ["-XX:AOTCacheOutput=app.aot"];
        let at_start = || {
            trained(jdk, &test_dir, &output, "observe")
                .agent(START)
                .run_ok()
        };
        let attached = || {
            let jvm = trained(jdk, &test_dir, &output, "await").start_ready();
            attach(&test_dir, &jvm)
        };
        let ways: [(&str, &dyn Fn() -> ProcessOutput); 2] =
            [("at start", &at_start), ("attached", &attached)];
        for (how, train) in ways {
            assert_trained(&format!("{jdk} {how}"), &test_dir, &train());
            let made = classes_from_cache(jdk, &test_dir, "-XX:AOTCache=app.aot");
            let lost: Vec<_> = plain.difference(&made).collect();
            println!("{jdk} {how}: {} classes, {lost:?} lost", made.len());
            assert!(lost.is_empty(), "{jdk} {how}: {lost:?}");
        }
        let cache = ["-XX:AOTCache=app.aot", "-XX:AOTMode=on"];
        let used = trained(jdk, &test_dir, &cache, "alone").agent(START);
        assert!(used.run_ok().agent_lines().is_empty());
    }
}

#[test]
fn aot_cache_of_two_steps_is_made_beside_the_agent() {
    let Some(test_dir) = with_jar() else { return };
    for jdk in Jdk::all().into_iter().filter(has_aot_cache) {
        let record = ["-XX:AOTMode=record", "-XX:AOTConfiguration=app.conf"];
        let run = trained(jdk, &test_dir, &record, "alone").agent(START);
        assert_trained(&format!("{jdk} record"), &test_dir, &run.run_ok());
        let create = [
            "-XX:AOTMode=create",
            "-XX:AOTConfiguration=app.conf",
            "-XX:AOTCache=app.aot",
        ];
        trained(jdk, &test_dir, &create, "alone")
            .agent(START)
            .run_ok();
        assert!(!classes_from_cache(jdk, &test_dir, "-XX:AOTCache=app.aot").is_empty());
    }
}

/// The JVM refuses to make one beside `-agentpath`.
#[test]
fn archive_of_a_jvm_that_was_attached_to_has_classes_without_hooks() {
    let Some(test_dir) = with_jar() else { return };
    for jdk in Jdk::all() {
        if !jdk.has_class_archive() {
            println!("SKIP {jdk}: without an archive of its own classes");
            continue;
        }
        let exit = "-XX:ArchiveClassesAtExit=app.jsa";
        for flag in [exit, "-XX:+RecordDynamicDumpInfo"] {
            let jvm = trained(jdk, &test_dir, &[flag], "await").start_ready();
            let run = attach(&test_dir, &jvm);
            assert_trained(&format!("{jdk} {flag}"), &test_dir, &run);
        }
        let archive = ["-XX:SharedArchiveFile=app.jsa", "-Xshare:on"];
        trained(jdk, &test_dir, &archive, "alone").run_ok();
    }
}
