//! The context follows work to other threads, without a change of the program (`propagate`).

use std::collections::BTreeSet;
use std::fs;

use e2e::recording::Event;
use e2e::{Jdk, Jvm, ProcessOutput, TestDir, env_number};

/// By mechanism, the ways in which `Propagated` hands work over.
const WAYS: &[(&str, &[&str])] = &[
    ("futures", TASKS),
    ("completions", STAGES),
    ("pools", &["execute"]),
    ("forkjoin", FORKED),
    ("virtual", VIRTUAL),
    ("structured", &["subtask"]),
    ("timer", &["timer"]),
    ("threads", &["thread"]),
];
/// Ways in which `Propagated` hands work over.
const TASKS: &[&str] = &[
    "callable",
    "invokeAll",
    "runnable",
    "schedule",
    "schedule runnable",
    "submit to new pool",
    "submit to virtual thread",
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

const FORKED: &[&str] = &[
    "adapt",
    "execute RecursiveAction",
    "execute in ForkJoinPool",
    "invoke RecursiveTask",
    "invokeAll of ForkJoinPool",
    "invokeAny of ForkJoinPool",
    "parallel stream",
    "submit Callable to ForkJoinPool",
    "submit RecursiveTask",
    "submit to ForkJoinPool",
];
const VIRTUAL: &[&str] = &[
    "execute on virtual thread",
    "subtask",
    "submit to virtual thread",
    "virtual thread",
];

/// The ways of these mechanisms, separated by `+`, in a JDK.
fn ways_of(mechanisms: &str, jdk: Jdk) -> BTreeSet<&'static str> {
    let chosen = WAYS.iter();
    let chosen = chosen.filter(|(word, _)| mechanisms.split('+').any(|one| one == *word));
    let ways = chosen.flat_map(|(_, ways)| *ways).copied();
    ways.filter(|way| jdk.has_virtual_threads() || !VIRTUAL.contains(way))
        .collect()
}

fn all_mechanisms() -> String {
    let words: Vec<&str> = WAYS.iter().map(|(word, _)| *word).collect();
    words.join("+")
}

/// Fails unless the work that was handed over in one of the ways of `mechanisms`, and only that,
/// saw the context.
fn assert_followed(what: &str, run: &ProcessOutput, mechanisms: &str, jdk: Jdk) {
    let all = ways_of(&all_mechanisms(), jdk);
    let followed = ways_of(mechanisms, jdk);
    let bare = [
        "1 before",
        "3 bare fork",
        "3 bare stream",
        "3 common pool",
        "3 completer",
        "3 new pool",
        "3 periodic",
        "3 periodic timer",
        "3 pool",
        "3 scheduler",
        "3 worker",
    ];
    let mut expected: Vec<String> = bare.iter().map(|way| format!("{way}: {{}}")).collect();
    expected.push("2 parent: {tenant=acme}".to_owned());
    for way in all {
        let has_context = followed.contains(way);
        let context = if has_context { "{tenant=acme}" } else { "{}" };
        expected.push(format!("{way}: {context}"));
    }
    expected.sort();
    let lines = run.stdout.lines();
    let mut found: Vec<&str> = lines.filter(|line| line.contains(": {")).collect();
    found.sort_unstable();
    assert_eq!(found, expected, "{what}: {:?} {}", run.code, run.stderr);
    assert!(run.agent_lines().is_empty(), "{what}: {}", run.stderr);
}

/// `Propagated` in a JVM that has what it uses.
fn jvm(jdk: Jdk, test_dir: &TestDir) -> Jvm {
    let jvm =
        Jvm::new(jdk, test_dir).flag("-Djava.util.concurrent.ForkJoinPool.common.parallelism=3");
    if jdk.has_virtual_threads() {
        jvm.flag("--enable-preview")
    } else {
        jvm
    }
}

fn propagated(jdk: Jdk, arguments: &[&str], options: &str) -> ProcessOutput {
    let test_dir = TestDir::new();
    let jvm = jvm(jdk, &test_dir).flag("-Xcheck:jni");
    let options = format!("start,file=app.jfr{options}");
    jvm.agent(&options).main("Propagated", arguments).run_ok()
}

/// Runs a program that waits until the agent is attached.
fn attached(jdk: Jdk, program: &str, arguments: &[&str]) -> ProcessOutput {
    let test_dir = TestDir::new();
    let jvm = jvm(jdk, &test_dir).main(program, arguments).start();
    jvm.wait_for_line("ready");
    let file = test_dir.file("app.jfr");
    jvm.agent_command_ok(&format!("start,propagate=all,file={}", file.display()));
    fs::write(test_dir.file("attached"), "").unwrap();
    jvm.finish()
}

/// What `status` says of the mechanisms.
fn status(run: &ProcessOutput) -> Vec<&str> {
    run.lines_after("propagate ").collect()
}

#[test]
fn context_follows_all_that_the_jdk_hands_over() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let what = format!("{jdk} {kind}");
        let run = propagated(jdk, &[kind], ",propagate=all");
        println!("{what}: {:?}", status(&run));
        assert_followed(&what, &run, &all_mechanisms(), jdk);
        let is_off = |line: &&str| !line.contains(": on (classes with hooks: ");
        let off: Vec<&str> = status(&run).into_iter().filter(is_off).collect();
        let absent = [
            "virtual: off (JDK 17 has none)",
            "structured: off (JDK 17 has none)",
        ];
        let absent = if jdk.has_virtual_threads() {
            &[]
        } else {
            &absent[..]
        };
        assert_eq!(off, absent, "{what}");
    }
}

#[test]
fn each_mechanism_works_alone_and_none_without_the_option() {
    let jdk = Jdk::main();
    let run = propagated(jdk, &["platform"], "");
    assert_followed("none", &run, "", jdk);
    assert!(status(&run).is_empty(), "{}", run.stdout);
    for (word, _) in WAYS {
        let run = propagated(jdk, &["platform"], &format!(",propagate={word}"));
        assert_followed(word, &run, word, jdk);
    }
}

/// Hooks of an application's pool, rejection, removal and order see its own tasks.
#[test]
fn pools_show_the_tasks_of_the_application() {
    for jdk in Jdk::every() {
        for (options, context) in [("", "{}"), (",propagate=all", "{tenant=acme}")] {
            let options = format!("start,file=app.jfr{options}");
            let jvm = Jvm::alone(jdk).agent(&options);
            let run = jvm.program("PoolHooks").run_ok();
            assert_eq!(run.stdout, format!("hooks: {context}\n"), "{jdk} {options}");
        }
    }
}

/// The worker runs the code of before, which shows the hooks what the queue has.
#[test]
fn pool_that_worked_before_the_attach_shows_its_own_tasks() {
    for jdk in Jdk::every() {
        let run = attached(jdk, "PoolHooks", &["attached"]);
        assert_eq!(run.code, Some(0), "{jdk}: {}", run.stderr);
        assert!(run.stdout.ends_with("hooks: {}\n"), "{jdk}: {}", run.stdout);
    }
}

/// What the tests of other agents ask of executors, refused and recursive tasks, stages, streams,
/// timers and threads.
#[test]
fn each_part_of_a_request_sees_its_context_and_nothing_else_does() {
    for (program, least) in [("Services", 700), ("Rejected", 80), ("HandedOn", 400)] {
        for jdk in Jdk::every() {
            let test_dir = TestDir::new();
            let jvm = jvm(jdk, &test_dir).agent("start,propagate=all,file=app.jfr");
            let run = jvm.program(program).run_ok();
            let wrong: Vec<&str> = run.lines_after("wrong: ").collect();
            assert!(wrong.is_empty(), "{jdk} {program}: {wrong:#?}");
            let checked = run.numbers("checked: ")[0];
            assert!(checked >= least, "{jdk} {program}: {checked}");
        }
    }
}

/// `status` tells how many tasks had no context to carry, and where most of them come from.
#[test]
fn tasks_without_a_context_are_told_with_their_origin() {
    for jdk in Jdk::every() {
        let options = "start,propagate=pools+forkjoin,file=app.jfr";
        let jvm = Jvm::alone(jdk).agent(options);
        let run = jvm.program("WithoutContext").run_ok();
        let lines = status(&run);
        assert!(
            lines[0].ends_with(" contexts carried: 1, tasks without: 4000)"),
            "{jdk}: {lines:?}"
        );
        // The JDK's own by which virtual threads go on are none.
        assert!(lines[1].ends_with(" tasks without: 0)"), "{jdk}: {lines:?}");
        let sites: Vec<&str> = run.lines_after("without context ").collect();
        let most = sites[0].split_once(" % from WithoutContext.often:");
        let percent = most.and_then(|(text, _)| text.strip_prefix("pools: "));
        let percent = percent.and_then(|percent| percent.parse::<u32>().ok());
        assert!(percent.is_some_and(|p| p > 60), "{jdk}: {sites:?}");
    }
}

/// Contexts of several threads meet in the same pools.
#[test]
fn no_task_sees_the_context_of_another_one() {
    let tasks = env_number("CTXAGENT_TASKS").unwrap_or(100_000);
    for jdk in Jdk::every() {
        let options = "start,propagate=all,interval=1ms,file=app.jfr,ctx=tenant";
        let jvm = Jvm::alone(jdk).agent(options);
        let run = jvm.program(&format!("Crossed {tasks}")).run_ok();
        println!("{jdk}: {}", run.stdout);
        assert_eq!(run.numbers("wrong: "), [0], "{jdk}");
        assert_eq!(run.numbers("seen: "), [tasks], "{jdk}");
        if jdk.has_virtual_threads() {
            assert_eq!(run.numbers("handed over by waits: "), [0], "{jdk}");
        }
    }
}

#[test]
fn nothing_follows_after_the_stop() {
    let run = propagated(Jdk::main(), &["platform", "stop"], ",propagate=all");
    assert_followed("stopped", &run, "", Jdk::main());
}

/// The hooks of the first recording stay, and are off in the second.
#[test]
fn each_recording_has_its_own_mechanisms() {
    let again = "start,file=again.jfr,propagate=completions";
    let commands = ["platform", "stop", again];
    let run = propagated(Jdk::main(), &commands, ",propagate=futures");
    assert_followed("second recording", &run, "completions", Jdk::main());
    let lines = status(&run);
    let line = "completions: on (classes with hooks: 16, contexts carried: ";
    assert!(lines.len() == 1 && lines[0].starts_with(line), "{lines:?}");
}

#[test]
fn context_follows_after_an_attach() {
    for jdk in Jdk::every() {
        let run = attached(jdk, "Propagated", &["platform", "wait"]);
        assert_followed(&jdk.to_string(), &run, &all_mechanisms(), jdk);
    }
}

/// The hooks verify, also where the JVM verifies its own classes.
#[test]
fn hooked_classes_are_verified() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let jvm = jvm(jdk, &test_dir)
            .flag("-XX:+UnlockDiagnosticVMOptions")
            .flag("-XX:+BytecodeVerificationLocal")
            .agent("start,propagate=all,file=app.jfr");
        let run = jvm.program("Propagated platform").run_ok();
        assert_followed(&jdk.to_string(), &run, &all_mechanisms(), jdk);
    }
}

/// Samples of the work carry the context of the thread that handed it over.
#[test]
fn samples_of_handed_over_work_carry_the_context() {
    let test_dir = TestDir::new();
    let options = "start,propagate=all,interval=1ms,file=app.jfr,ctx=tenant";
    let jvm = jvm(Jdk::main(), &test_dir).agent(options);
    let jvm = jvm.program("Propagated platform long");
    jvm.stop_recording_at_end().run_ok();
    let samples = test_dir.recording().samples();
    let is_work = |sample: &&Event| sample.is_in("Propagated.burn");
    let work: Vec<_> = samples.iter().filter(is_work).collect();
    let labelled = work.iter().filter(|s| s.text("tenant") == Some("acme"));
    let labelled = labelled.count();
    println!("{labelled} of {} samples", work.len());
    assert!(labelled > 20 && labelled == work.len());
}

/// Labels of the samples with this frame, in their order; of a run of equal ones only the first.
fn labels_of(samples: &[Event], method: &str) -> Vec<String> {
    let frame = format!("Detached.{method}");
    let own = samples
        .iter()
        .filter(|sample| sample.frames().contains(&frame));
    let mut labels: Vec<String> = own
        .map(|sample| sample.text("tenant").unwrap_or("none").to_owned())
        .collect();
    labels.dedup();
    labels
}

/// What a request has started and what outlives it loses its label; what is still of an open one
/// keeps it, and scopes within count.
#[test]
fn work_that_outlives_its_request_is_detached() {
    for (detach, lost) in [("1s", true), ("0", false)] {
        let test_dir = TestDir::new();
        let options =
            format!("start,propagate=all,detach={detach},interval=1ms,file=app.jfr,ctx=tenant");
        let jvm = Jvm::new(Jdk::main(), &test_dir).agent(&options);
        let jvm = jvm.program("Detached 2");
        jvm.stop_recording_at_end().run_ok();
        let mut samples = test_dir.recording().samples();
        samples.sort_by_key(Event::start_nanos);
        let (own, others): (Vec<_>, Vec<_>) = samples.into_iter().partition(|sample| {
            let frames = sample.frames();
            frames.iter().any(|frame| frame == "Detached.own")
        });
        assert_eq!(labels_of(&own, "own"), ["own"], "{detach}");
        for method in ["loop", "chain"] {
            let mut labels = labels_of(&others, method);
            labels.retain(|label| label != "own");
            labels.dedup();
            if lost {
                // A busy machine may take no sample before.
                assert_eq!(labels.pop().as_deref(), Some("(detached)"), "{method}");
            }
            let is_right = labels == ["acme"] || lost && labels.is_empty();
            assert!(is_right, "{method}: {labels:?}");
        }
        assert_eq!(labels_of(&others, "open"), ["slow"], "{detach}");
    }
}
