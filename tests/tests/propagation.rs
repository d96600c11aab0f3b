//! The context follows work to other threads, without a change of the program (`propagate`).

use std::fs;

use e2e::{Jdk, Jvm, ProcessOutput, TestDir};

const BOTH: &str = "propagate=futures+completions";
/// Ways in which `Propagated` hands work over.
const TASKS: &[&str] = &[
    "callable",
    "invokeAll",
    "runnable",
    "schedule",
    "schedule runnable",
];
const STAGES: &[&str] = &[
    "acceptEither",
    "applyToEither",
    "exceptionally",
    "exceptionallyCompose",
    "handle",
    "runAfterBoth",
    "runAfterEither",
    "runAsync",
    "supplyAsync",
    "thenAccept",
    "thenAcceptBoth",
    "thenApply",
    "thenApplyAsync",
    "thenCombine",
    "thenCompose",
    "thenRun",
    "whenComplete",
];

/// Fails unless the work that was handed over in one of `ways`, and only that, saw the context.
fn assert_followed(what: &str, run: &ProcessOutput, ways: &[&str]) {
    let all: Vec<&str> = TASKS.iter().chain(STAGES).copied().collect();
    let own = ["2 parent"].into_iter();
    let clean = [
        "1 before",
        "3 completer",
        "3 periodic",
        "3 scheduler",
        "3 worker",
    ];
    let mut expected: Vec<String> = Vec::new();
    for way in all.into_iter().chain(own).chain(clean) {
        let has_context = ways.contains(&way) || way == "2 parent";
        let context = if has_context { "{tenant=acme}" } else { "{}" };
        expected.push(format!("{way}: {context}"));
    }
    expected.sort();
    let mut found: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.contains(": {"))
        .collect();
    found.sort_unstable();
    assert_eq!(found, expected, "{what}");
    assert!(run.agent_lines().is_empty(), "{what}: {}", run.stderr);
}

fn propagated(jdk: Jdk, arguments: &[&str], options: &str) -> ProcessOutput {
    let test_dir = TestDir::new();
    let jvm = Jvm::new(jdk, &test_dir).flag("-Xcheck:jni");
    let options = format!("start,file=app.jfr{options}");
    jvm.agent(&options).main("Propagated", arguments).run_ok()
}

/// What `status` says of the mechanisms.
fn status(run: &ProcessOutput) -> Vec<&str> {
    run.lines_after("propagate ").collect()
}

#[test]
fn context_follows_tasks_and_stages() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let what = format!("{jdk} {kind}");
        let every = [TASKS, STAGES].concat();
        let run = propagated(jdk, &[kind], &format!(",{BOTH}"));
        assert_followed(&what, &run, &every);
        let on = [
            "futures: on (classes with hooks: 2)",
            "completions: on (classes with hooks: 16)",
        ];
        assert_eq!(status(&run), on, "{what}");
    }
}

#[test]
fn each_mechanism_works_alone_and_none_without_the_option() {
    let jdk = Jdk::main();
    let run = propagated(jdk, &["platform"], "");
    assert_followed("none", &run, &[]);
    assert!(status(&run).is_empty(), "{}", run.stdout);
    let run = propagated(jdk, &["platform"], ",propagate=completions");
    assert_followed("completions", &run, STAGES);
    let run = propagated(jdk, &["platform"], ",propagate=futures");
    assert_followed("futures", &run, TASKS);
}

#[test]
fn nothing_follows_after_the_stop() {
    let run = propagated(Jdk::main(), &["platform", "stop"], &format!(",{BOTH}"));
    assert_followed("stopped", &run, &[]);
}

/// The hooks of the first recording stay, and are off in the second.
#[test]
fn each_recording_has_its_own_mechanisms() {
    let again = "start,file=again.jfr,propagate=completions";
    let commands = ["platform", "stop", again];
    let run = propagated(Jdk::main(), &commands, ",propagate=futures");
    assert_followed("second recording", &run, STAGES);
    assert_eq!(status(&run), ["completions: on (classes with hooks: 16)"]);
}

#[test]
fn context_follows_after_an_attach() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir).main("Propagated", &["platform", "wait"]);
        let jvm = jvm.start();
        jvm.wait_for_line("ready");
        let file = test_dir.file("app.jfr");
        jvm.agent_command_ok(&format!("start,{BOTH},file={}", file.display()));
        fs::write(test_dir.file("attached"), "").unwrap();
        let run = jvm.finish();
        let every = [TASKS, STAGES].concat();
        assert_followed(&jdk.to_string(), &run, &every);
    }
}

/// The hooks verify, also where the JVM verifies its own classes.
#[test]
fn hooked_classes_are_verified() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let options = format!("start,{BOTH},file=app.jfr");
        let jvm = Jvm::new(jdk, &test_dir)
            .flag("-XX:+UnlockDiagnosticVMOptions")
            .flag("-XX:+BytecodeVerificationLocal")
            .agent(&options);
        let run = jvm.main("Propagated", &["platform"]).run_ok();
        let every = [TASKS, STAGES].concat();
        assert_followed(&jdk.to_string(), &run, &every);
    }
}

/// Samples of the work carry the context of the thread that handed it over.
#[test]
fn samples_of_handed_over_work_carry_the_context() {
    let test_dir = TestDir::new();
    let options = format!("start,{BOTH},interval=1ms,file=app.jfr,ctx=tenant");
    let jvm = Jvm::new(Jdk::main(), &test_dir).agent(&options);
    let jvm = jvm.main("Propagated", &["platform"]);
    jvm.stop_recording_at_end().run_ok();
    let samples = test_dir.recording().samples(Jdk::main());
    let is_work = |sample: &&e2e::recording::Event| {
        sample
            .frames()
            .iter()
            .any(|frame| frame == "Propagated.burn")
    };
    let work: Vec<_> = samples.iter().filter(is_work).collect();
    let labelled = work.iter().filter(|s| s.text("tenant") == Some("acme"));
    let labelled = labelled.count();
    println!("{labelled} of {} samples", work.len());
    assert!(labelled > 20 && labelled == work.len());
}
