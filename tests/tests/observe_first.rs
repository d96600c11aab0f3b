//! An observer that is connected before there is a recording, or an agent.

use std::fs;

use e2e::{Jdk, Jvm, ProcessOutput, TestDir};

const START: &str = "start,labels=route,file=app.jfr";

fn assert_all_seen(what: &str, run: &ProcessOutput) {
    let seen: Vec<&str> = run.stdout.lines().collect();
    let all = ["requests: 20", "connects: true", "names: true"];
    assert_eq!(seen, all, "{what}: {}", run.stderr);
}

#[test]
fn observer_as_first_statement_sees_the_first_request() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir).agent(START);
        let run = jvm.main("ObservesFirst", &["there"]).run_ok();
        assert_all_seen(&format!("{jdk}"), &run);
    }
}

#[test]
fn observer_sees_the_first_request_of_a_later_recording() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir).agent("");
        let run = jvm.main("ObservesFirst", &["start", START]).run_ok();
        assert_all_seen(&format!("{jdk}"), &run);
    }
}

#[test]
fn observer_of_collections_gets_exact_times_after_an_attach() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir)
            .flag("-XX:+UseSerialGC")
            .main("ObservesFirst", &["gc"])
            .start_ready();
        jvm.agent_command_ok("");
        fs::write(test_dir.file("attached"), b"").unwrap();
        jvm.finish().success();
    }
}
