//! `ctxjfr doctor`: what would work in a JVM.

use e2e::tool::{FINDING, FINE, assert_nothing_is_left, is_recording, maps, plain, serving};
use e2e::{Jdk, RunningJvm, TestDir, Tool, assert_contains};
use serde_json::Value;

/// The text behind these words in a check of a topic.
fn text_of<'r>(report: &'r Value, topic: &str, words: &str) -> &'r str {
    let checks = checks(report, topic).into_iter();
    let mut texts = checks.filter_map(|(_, text)| text.strip_prefix(words));
    texts
        .next()
        .unwrap_or_else(|| panic!("no '{words}' in {report}"))
}

/// Level and text of each check of a topic.
fn checks<'r>(report: &'r Value, topic: &str) -> Vec<(&'r str, &'r str)> {
    let checks = report["checks"].as_array().unwrap();
    let of_topic = checks.iter().filter(|check| check["topic"] == topic);
    let text = |check: &'r Value, name: &str| check[name].as_str().unwrap();
    of_topic
        .map(|check| (text(check, "level"), text(check, "text")))
        .collect()
}

#[test]
fn doctor_foretells_what_works() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let tool = Tool::new(&test_dir);
        let examine = |jvm: &RunningJvm, code| -> Value {
            let output = tool.run(&["doctor", &jvm.pid().to_string(), "--json"]);
            assert_eq!(output.code, code, "{output:?}");
            serde_json::from_str(&output.stdout).unwrap()
        };
        let jvm = plain(jdk, &test_dir).serve();
        let pid = jvm.pid().to_string();
        let report = examine(&jvm, FINE);
        assert_eq!(report["works"], true);
        let lent = checks(&report, "agent");
        assert_eq!(lent, [("ok", "not loaded; can be lent in /tmp")]);
        assert!(!maps(&pid).contains("libctxagent"), "it loaded the agent");
        tool.run(&["start", &pid, "file=app.jfr"]).success();
        let report = examine(&jvm, FINE);
        let status = checks(&report, "status");
        assert!(status.contains(&("ok", "state: recording")), "{status:?}");
        assert!(checks(&report, "signal").is_empty(), "the signal is ours");
        let shown = tool.run(&["doctor", &pid]).success();
        assert_contains!(shown.stdout, " ok    status   state: recording\n");
        let end = jvm.end();
        assert_eq!(end.stdout, "ready\nanswer 6765\n");

        let jvm = plain(jdk, &test_dir)
            .flag("-XX:-EnableDynamicAgentLoading")
            .environment("JAVA_TOOL_OPTIONS", "-XX:+DisableAttachMechanism")
            .serve();
        let report = examine(&jvm, FINDING);
        let texts: Vec<&str> = checks(&report, "attach")
            .iter()
            .map(|check| check.1)
            .collect();
        assert!(texts[0].contains("forbids attach"), "{texts:?}");
        assert!(texts[1].contains("forbids to load agents"), "{texts:?}");
        jvm.end();
    }
}

/// What is foretold without the agent is what the agent does.
#[test]
fn trial_does_what_was_expected_and_leaves_nothing() {
    for jdk in Jdk::all() {
        let (_test_dir, tool, jvm, pid) = serving(jdk);
        let examine = |arguments: &[&str]| -> Value {
            let all = [&["doctor", &pid, "--json"], arguments].concat();
            serde_json::from_str(&tool.run(&all).success().stdout).unwrap()
        };
        let before = examine(&[]);
        assert!(!maps(&pid).contains("libctxagent"), "it loaded the agent");
        let trial = examine(&["--trial"]);
        println!("{jdk}: {before}\n{trial}");
        assert!(!is_recording(&pid));
        assert_nothing_is_left(&pid);
        let first_word = |text: &str| text.split([' ', ':', ',']).next().unwrap().to_owned();
        for words in ["virtual threads: ", "engine: "] {
            let expected = first_word(text_of(&before, "expected", words));
            let shown = first_word(text_of(&trial, "trial", words));
            assert_eq!(expected, shown, "{jdk} {words}");
        }
        for topic in ["symbols", "cds", "timers", "seccomp", "jdk"] {
            assert_eq!(checks(&before, topic).len(), 1, "{topic}");
        }
        assert!(checks(&trial, "expected").is_empty());
        let labels = checks(&trial, "trial").into_iter();
        assert!(
            labels
                .into_iter()
                .any(|(_, text)| text.starts_with("attributes: "))
        );
        // Of a recording that runs it is the status.
        tool.run(&["start", &pid, "file=app.jfr"]).success();
        let running = examine(&["--trial"]);
        assert!(checks(&running, "trial").is_empty(), "{running}");
        assert_eq!(text_of(&running, "status", "state: "), "recording");
        assert!(is_recording(&pid));
        jvm.end();
    }
}
