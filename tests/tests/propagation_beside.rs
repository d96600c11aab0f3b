//! What carries the context to other threads (`propagate`) beside what else changes or prepares
//! classes of the JDK: other agents, archives of classes, linked run times.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e::{Jdk, Jvm, ProcessOutput, TestDir};

const AGENT: &str = "start,propagate=futures+completions,file=app.jfr,overwrite";

/// Fails unless the work saw the context, and nothing was printed that is not asked for.
fn assert_followed(what: &str, run: &ProcessOutput) {
    let contexts: Vec<&str> = run.stdout.lines().filter(|l| l.contains(": {")).collect();
    let expected = [
        "submit: {tenant=acme}",
        "supplyAsync: {tenant=acme}",
        "thenApply: {tenant=acme}",
        "thenAccept: {tenant=acme}",
        "worker: {}",
    ];
    assert_eq!(contexts, expected, "{what}: {}", run.stderr);
    let states = run.lines_after("propagate ");
    let states = states.filter_map(|line| line.split_once(", tasks without: "));
    let states: Vec<&str> = states.map(|(state, _)| state).collect();
    let on = [
        "futures: on (classes with hooks: 2, contexts carried: 1",
        "completions: on (classes with hooks: 16, contexts carried: 3",
    ];
    assert_eq!(states, on, "{what}");
    assert!(run.agent_lines().is_empty(), "{what}: {}", run.stderr);
    let said = format!("{}{}", run.stdout, run.stderr).to_lowercase();
    assert!(!said.contains("warning"), "{what}: {said}");
}

/// A jar that starts `OtherAgent`, also as a Java agent.
fn jar(test_dir: &TestDir) -> Option<PathBuf> {
    let (api, programs) = e2e::build::class_path().split_once(':').unwrap();
    // Lines of a manifest have 72 bytes at most.
    fs::copy(api, test_dir.file("api.jar")).unwrap();
    let manifest = "Main-Class: OtherAgent\nPremain-Class: OtherAgent\nClass-Path: api.jar\n\
        Can-Redefine-Classes: true\nCan-Retransform-Classes: true\n";
    test_dir.jar(manifest, &[programs])
}

/// The context follows in a class that another agent changes afterwards, whichever came first.
#[test]
fn hooks_stay_in_classes_that_another_agent_changes() {
    let test_dir = TestDir::new();
    let Some(jar) = jar(&test_dir) else { return };
    let other = format!("-javaagent:{}", jar.display());
    for jdk in Jdk::all() {
        for how in ["retransform", "redefine"] {
            for first in ["ours", "theirs"] {
                let jvm = Jvm::new(jdk, &test_dir);
                let jvm = match first {
                    "theirs" => jvm.flag(&other).agent(AGENT),
                    _ => jvm.agent(AGENT).flag(&other),
                };
                let run = jvm.program(&format!("OtherAgent {how}")).run_ok();
                let what = format!("{jdk} {how}, {first} first");
                assert_followed(&what, &run);
                assert!(run.counter("changed") >= 3, "{what}: {}", run.stdout);
            }
        }
    }
}

/// Where the JVM got a class from.
#[derive(Debug, Default)]
struct LoadedClasses {
    archived: BTreeSet<String>,
    others: BTreeSet<String>,
}

impl LoadedClasses {
    fn read(log: &Path) -> Self {
        let mut classes = Self::default();
        for line in fs::read_to_string(log).unwrap().lines() {
            let Some((class, source)) = line.split_once(" source: ") else {
                continue;
            };
            let class = class.rsplit(' ').next().unwrap().to_owned();
            if source.starts_with("shared objects file") {
                classes.archived.insert(class);
            } else if source != "__VM_RedefineClasses__" {
                classes.others.insert(class);
            }
        }
        classes
    }
}

/// Runs the program with an archive of its classes.
fn run_archived(
    jdk: Jdk,
    test_dir: &TestDir,
    flag: &str,
    agent: &str,
) -> (ProcessOutput, LoadedClasses) {
    let run = Jvm::new(jdk, test_dir)
        .flag(flag)
        .flag("-Xlog:class+load:file=classes.log")
        .agent(agent)
        .program("-jar app.jar not")
        .run_ok();
    let classes = LoadedClasses::read(&test_dir.file("classes.log"));
    (run, classes)
}

/// Fails unless all classes but those with hooks come from the archive that did without hooks.
fn assert_archive_is_kept(jdk: Jdk, test_dir: &TestDir, flag: &str) {
    let (_, without) = run_archived(jdk, test_dir, flag, "start,file=app.jfr,overwrite");
    let (run, with) = run_archived(jdk, test_dir, flag, AGENT);
    assert_followed(&format!("{jdk} {flag}"), &run);
    let has_hooks = |class: &&String| {
        class.ends_with(".FutureTask")
            || class.ends_with("$ScheduledFutureTask")
            || class.starts_with("java.util.concurrent.CompletableFuture$")
    };
    // The JVM makes its own version of these, which it does not use beside class file hooks.
    let is_holder =
        |class: &String| class.starts_with("java.lang.invoke.") && class.ends_with("$Holder");
    let lost = without.archived.intersection(&with.others);
    let lost: Vec<&String> = lost
        .filter(|class| !has_hooks(class) && !is_holder(class))
        .collect();
    println!("{jdk}: {} classes from {flag}", with.archived.len());
    assert!(lost.is_empty(), "{jdk} {flag}: {lost:?}");
    for class in [
        "java.lang.Object",
        "java.util.concurrent.Executors",
        "OtherAgent",
    ] {
        assert!(with.archived.contains(class), "{jdk} {flag}: {class}");
    }
}

/// Makes an archive of the program's classes, without the agent.
fn make_archive(jdk: Jdk, test_dir: &TestDir, flag: &str) {
    let jvm = Jvm::new(jdk, test_dir).flag(flag);
    jvm.program("-jar app.jar alone").run_ok();
}

#[test]
fn classes_come_from_archives_beside_the_hooks() {
    let test_dir = TestDir::new();
    if jar(&test_dir).is_none() {
        return;
    }
    for jdk in Jdk::all() {
        if !jdk.has_class_archive() {
            println!("SKIP {jdk}: without an archive of its own classes");
            continue;
        }
        make_archive(jdk, &test_dir, "-XX:ArchiveClassesAtExit=app.jsa");
        assert_archive_is_kept(jdk, &test_dir, "-XX:SharedArchiveFile=app.jsa");
        if jdk.version >= 25 {
            make_archive(jdk, &test_dir, "-XX:AOTCacheOutput=app.aot");
            assert_archive_is_kept(jdk, &test_dir, "-XX:AOTCache=app.aot");
        }
    }
}

/// A run time with few modules, as `jlink` makes it; where the JDK cannot, it is skipped.
#[test]
fn context_follows_in_a_linked_run_time() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let linked = test_dir.file("linked");
        let mut command = Command::new(jdk.tool("jlink"));
        command.args(["--add-modules", "java.instrument", "--output"]);
        let output = command.arg(&linked).output();
        if !output.is_ok_and(|output| output.status.success()) {
            println!("SKIP {jdk}: its jlink is not there or has no modules");
            continue;
        }
        let run = Jvm::new(jdk.linked(linked), &test_dir)
            .flag("-Xcheck:jni")
            .agent(AGENT)
            .program("OtherAgent not")
            .run_ok();
        assert_followed(&format!("{jdk} linked"), &run);
    }
}
