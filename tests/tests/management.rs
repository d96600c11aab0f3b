//! `io.ctxagent:type=Agent`, as a client of JMX uses it.

use std::fs;
use std::process::Command;

use e2e::{Jdk, Jvm, ProcessOutput, TestDir, assert_contains, build};

/// Words of the program: all that an operator does, from an idle agent on.
const SESSION: [&str; 13] = [
    "bean",
    "?Recording",
    "stop",
    "start=intervall=1ms",
    "start=file=app.jfr",
    "?Recording",
    "metric=ctxagent_recording",
    "pause",
    "resume",
    "dump=dump.jfr",
    "?Status",
    "?StatusJson",
    "stop",
];

/// The answers to a word, in their order.
fn answers<'o>(output: &'o ProcessOutput, word: &str) -> Vec<&'o str> {
    let begin = format!("{word}: ");
    let lines = output.stdout.lines();
    lines.filter_map(|line| line.strip_prefix(&begin)).collect()
}

#[test]
fn operator_records_by_jmx() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let output = Jvm::new(jdk, &test_dir)
            .flag("-Xcheck:jni")
            .agent("")
            .main("Managed", &SESSION)
            .run_ok();
        println!("{jdk}: {}", output.stdout);
        assert_eq!(answers(&output, "?Recording"), ["false", "true"], "{jdk}");
        assert_eq!(answers(&output, "metric=ctxagent_recording"), ["1"]);
        let [idle, stopped] = answers(&output, "stop")[..] else {
            panic!("{}", output.stdout)
        };
        assert!(idle.starts_with("java.lang.IllegalStateException: no recording is running"));
        assert!(stopped.starts_with("stopped; recording is "), "{stopped}");
        let wrong = answers(&output, "start=intervall=1ms")[0];
        assert!(
            wrong.starts_with("java.lang.IllegalArgumentException: option 'intervall'"),
            "{wrong}"
        );
        assert!(answers(&output, "pause")[0].starts_with("paused; "));
        assert!(answers(&output, "resume")[0].starts_with("resumed; "));
        assert!(answers(&output, "?Status")[0].starts_with("ctxagent "));
        assert_contains!(output.stdout, "\nstate: recording\n");
        let json: serde_json::Value =
            serde_json::from_str(answers(&output, "?StatusJson")[0]).unwrap();
        assert_eq!(json["state"], "recording");
        assert_eq!(json["counters"]["state.paused"], 1);
        assert!(!output.stderr.contains("WARNING"), "{}", output.stderr);
        let files = test_dir.recordings();
        assert_eq!(files.len(), 2, "app.jfr and dump.jfr: {files:?}");
        for file in files {
            file.ctxjfr(&["check", "FILE"]).success();
        }
    }
}

/// With `-javaagent`; and where the server was there before the agent.
#[test]
fn it_is_there_however_the_agent_came() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .java_agent(build::agent_jar(), "start,file=app.jfr")
            .program("Managed registered ?Recording")
            .run_ok();
        assert_eq!(answers(&run, "registered"), ["true"], "{jdk}");
        assert_eq!(answers(&run, "?Recording"), ["true"], "{jdk}");

        let words = ["registered", "wait", "?Recording"];
        let jvm = Jvm::new(jdk, &test_dir)
            .main("Managed", &words)
            .start_ready();
        jvm.agent_command_ok("start,file=second.jfr");
        let run = jvm.end();
        assert_eq!(answers(&run, "registered"), ["false"], "{jdk}");
        assert_eq!(answers(&run, "?Recording"), ["true"], "{jdk}");
    }
}

#[test]
fn nothing_of_it_is_loaded_without_the_server() {
    let log = "-Xlog:class+load:file=classes.log";
    for jdk in Jdk::all() {
        let loaded = |class: &str, words: &[&str]| {
            let test_dir = TestDir::new();
            Jvm::new(jdk, &test_dir)
                .flag(log)
                .agent("start,file=app.jfr")
                .main(class, words)
                .run_ok();
            fs::read_to_string(test_dir.file("classes.log")).unwrap()
        };
        let unused = loaded("Hello", &["300"]);
        for package in [
            " java.lang.management.",
            " javax.management.",
            " sun.management.",
            " io.ctxagent.management.",
        ] {
            assert!(!unused.contains(package), "{jdk}: {package}");
        }
        // Whoever asks for a bean of the VM wants no server.
        let bean = loaded("Managed", &["bean"]);
        assert!(bean.contains(" sun.management.RuntimeImpl "), "{jdk}");
        for class in [".JmxMBeanServer ", " io.ctxagent.management."] {
            assert!(!bean.contains(class), "{jdk}: {class}");
        }
        assert!(loaded("Managed", &["server"]).contains(" io.ctxagent.management.ManagedAgent "));
    }
}

/// Run times without `java.management`, and without what the JDK itself adds to it.
#[test]
fn linked_run_times_have_it_where_they_have_jmx() {
    for jdk in Jdk::all() {
        for (module, program, words) in [
            ("java.base", "Hello", ["100", ""]),
            ("java.management", "Managed", ["bean", "registered"]),
        ] {
            let test_dir = TestDir::new();
            let linked = test_dir.file("linked");
            let mut command = Command::new(jdk.tool("jlink"));
            command.args(["--add-modules", module, "--output"]);
            let output = command.arg(&linked).output();
            if !output.is_ok_and(|output| output.status.success()) {
                println!("SKIP {jdk}: its jlink is not there or has no modules");
                break;
            }
            let run = Jvm::new(jdk.linked(linked), &test_dir)
                .flag("-Xcheck:jni")
                .agent("start,file=app.jfr")
                .main(program, &words)
                .run_ok();
            test_dir.recording().ctxjfr(&["check", "FILE"]).success();
            if module == "java.management" {
                assert_eq!(answers(&run, "registered"), ["true"], "{jdk}");
            }
        }
    }
}
