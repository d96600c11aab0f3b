//! Wrong use of the Java API: set-up mistakes throw with a reason, mistakes at run time are
//! repaired and counted, and what comes after is right.

use std::collections::BTreeMap;
use std::process::Command;

use e2e::recording::weights_by;
use e2e::{Jdk, Jvm, ProcessOutput, TestDir, assert_contains, build, record};

/// `name: result` lines of stdout.
fn results(run: &ProcessOutput) -> BTreeMap<String, String> {
    let lines = run.stdout.lines().filter_map(|line| line.split_once(": "));
    lines
        .map(|(name, result)| (name.to_owned(), result.to_owned()))
        .collect()
}

/// What is thrown at set-up, with the agent and without; everything else is silent. Nothing leaves
/// a context.
fn check_results(results: &BTreeMap<String, String>) {
    for (name, expected) in [
        ("null key", "java.lang.NullPointerException: "),
        ("null name", "java.lang.NullPointerException: "),
        ("empty name", "java.lang.IllegalArgumentException: "),
        ("empty key", "java.lang.IllegalArgumentException: "),
        ("bad name", "java.lang.IllegalArgumentException: "),
        ("name with NUL", "java.lang.IllegalArgumentException: "),
        ("long name", "java.lang.IllegalArgumentException: "),
        ("name of 10 kB", "java.lang.IllegalArgumentException: "),
        ("reserved name", "java.lang.IllegalArgumentException: "),
        (
            "other reserved name",
            "java.lang.IllegalArgumentException: ",
        ),
    ] {
        assert!(
            results[name].starts_with(expected) && results[name].len() > expected.len() + 10,
            "{name}: {}",
            results[name]
        );
    }
    for name in [
        "null value",
        "megabyte value",
        "lone surrogate",
        "empty value",
        "control characters",
        "closed twice",
        "closed out of order, k1",
        "closed out of order, k2",
        "closed on another thread",
        "never closed",
        "million nested scopes",
        "nine attributes",
        "right again",
    ] {
        assert_eq!(results[name], "nothing thrown", "{name}");
    }
    let after: Vec<_> = results
        .iter()
        .filter(|(name, _)| name.starts_with("after "))
        .collect();
    assert!(after.len() > 20, "{results:?}");
    for (name, context) in after {
        assert_eq!(context, "{}", "{name}");
    }
}

#[test]
fn misuse_is_repaired_and_counted() {
    for jdk in Jdk::all() {
        let (run, recording) = record(jdk, "interval=2ms", "Misuse");
        let results = results(&run);
        println!("{jdk}: {results:?}");
        check_results(&results);
        assert_contains!(run.stdout, "still here");
        let refused = &results["bad command"];
        let exception = "java.lang.IllegalArgumentException: ";
        assert!(refused.starts_with(exception), "{refused}");
        assert_contains!(refused, "did you mean 'start'?");
        for counter in [
            "api.double_close",
            "api.close_out_of_order",
            "api.close_on_other_thread",
            "api.no_slot",
            "api.value_cut",
            "api.text_replaced",
        ] {
            assert!(
                results
                    .get(counter)
                    .is_some_and(|count| count.parse::<u64>().unwrap() > 0),
                "{counter}: {results:?}"
            );
        }

        let samples = recording.samples();
        let by_k1 = weights_by(&samples, "k1");
        let brief: Vec<_> = by_k1
            .iter()
            .map(|(value, weight)| {
                (
                    value
                        .as_ref()
                        .map(|v| v.chars().take(12).collect::<String>()),
                    weight,
                )
            })
            .collect();
        println!("{jdk}: {brief:?}");
        let cut = by_k1
            .keys()
            .flatten()
            .find(|value| value.starts_with("éé"))
            .unwrap();
        assert!(
            cut.chars().all(|c| c == 'é') && (250..=255).contains(&cut.len()),
            "{} bytes",
            cut.len()
        );
        assert!(
            by_k1
                .keys()
                .flatten()
                .any(|value| value.len() > 2 && value.starts_with('a') && value.ends_with('b'))
        );
        // Closing may itself be sampled, but none of them is left on when the next one works.
        for sample in samples.iter().filter(|sample| sample.is_in("Misuse.burn")) {
            let value = sample.text("k1").unwrap_or("");
            assert!(
                !["twice", "outer", "inner", "foreign"].contains(&value),
                "{value} is still on: {:?}",
                sample.values
            );
        }
        assert!(
            by_k1[&Some("right".to_owned())] >= 40,
            "{}",
            by_k1[&Some("right".to_owned())]
        );
        let eighth = weights_by(&samples, "k8");
        assert!(eighth[&Some("v8".to_owned())] >= 40, "{eighth:?}");
        assert!(
            samples
                .iter()
                .all(|sample| sample.values.get("k9").is_none()),
            "a ninth attribute"
        );
    }
}

/// One copy needs another contract, one is in a renamed package: nothing in Java says that their
/// contexts are off.
#[test]
fn unsupported_api_copies_are_reported() {
    for (jdk, options) in Jdk::all()
        .into_iter()
        .flat_map(|jdk| [(jdk, "start,file=app.jfr"), (jdk, "")])
    {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir)
            .flag(&format!(
                "-Xbootclasspath/a:{}",
                build::other_api().display()
            ))
            .agent(options)
            .program("io.ctxagent.internal.agent.OtherApi")
            .may_warn("a copy of the Java API ")
            .start_ready();
        if options.is_empty() {
            // Loaded long before the recording.
            jvm.agent_command_ok("start,file=app.jfr");
        }
        let contract = jvm.wait_for_line("warning: a copy of the Java API needs contract 99");
        assert_contains!(contract, "use a newer agent");
        let renamed = jvm.wait_for_line("warning: a copy of the Java API is in package");
        assert_contains!(renamed, " com.acme.io.ctxagent: ");
        jvm.agent_command_ok("status");
        jvm.wait_for_line("ctxagent: java api: refused (");
        jvm.agent_command_ok("stop");
        let end = jvm.end();
        assert_eq!(end.stderr.matches("warning: a copy").count(), 2);
        assert_eq!(test_dir.recording().totals()["api.refused"], 2);
        let file = test_dir.file("app.jfr");
        let check = Command::new(build::ctxjfr())
            .arg("check")
            .arg(file)
            .output();
        let check = check.unwrap();
        let text = String::from_utf8(check.stdout).unwrap();
        assert_eq!(check.status.code(), Some(1), "{text}");
        assert_contains!(text, "could not serve 2 of");
    }
}

#[test]
fn set_up_mistakes_throw_the_same_without_agent() {
    for jdk in Jdk::all() {
        let run = Jvm::alone(jdk).program("Misuse quick").run_ok();
        let results = results(&run);
        check_results(&results);
        assert!(
            results["bad command"].starts_with("java.lang.IllegalStateException: "),
            "{}",
            results["bad command"]
        );
        assert_eq!(run.stderr, "", "{jdk}");
    }
}

/// First uses of the API at moments of shortage, each of a fresh copy of its classes: what they
/// throw is the shortage only, and all is right when that is over.
fn first_uses(jdk: Jdk, what: &[&str]) {
    let run = Jvm::alone(jdk)
        .agent("start,file=app.jfr")
        // Else a thread of the agent may be the first to use classes of the JDK while the program
        // has filled the heap.
        .without_api()
        .flag("-XX:+UseSerialGC")
        .flag("-Xmx24m")
        .flag("-Xss512k")
        .main("FirstUse", what)
        .run_ok();
    println!("{jdk} {what:?}\n{}", run.stdout);
    let times: usize = what[3].parse().unwrap();
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), times, "{}", run.stdout);
    for line in lines {
        assert!(
            line.ends_with(": nothing, then 1000 right"),
            "{jdk}: {line}"
        );
    }
}

#[test]
fn first_use_with_a_full_heap_recovers() {
    for jdk in Jdk::all() {
        // What the first one needs of the JDK is there for the others: so several JVMs.
        for [from, step] in [["0", "400"], ["2000", "400"], ["9000", "3000"]] {
            first_uses(jdk, &["memory", from, step, "16"]);
        }
    }
}

#[test]
fn first_use_at_the_end_of_the_stack_recovers() {
    for jdk in Jdk::all() {
        first_uses(jdk, &["stack", "0", "7", "60"]);
    }
}
