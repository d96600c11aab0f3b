//! `ctxagent.jar`, with the agent and what loads it: `-javaagent` alone, and a dependency alone.

use std::fs;
use std::path::Path;
use std::process::Command;

use e2e::process::run;
use e2e::recording::weights_by;
use e2e::{Jdk, Jvm, TestDir, assert_contains, build};

/// Where the library is in the jar.
const LIBRARY: &str = "META-INF/native-libs/linux-x64/libctxagent.so";

/// Without the flag that silences a warning about agents.
fn jvm(jdk: Jdk, test_dir: &TestDir) -> Jvm {
    Jvm::new(jdk, test_dir).without_flag("-XX:+EnableDynamicAgentLoading")
}

/// A copy of the jar with another byte in the library; `None` if there is no tool for it.
fn tampered(test_dir: &TestDir) -> Option<std::path::PathBuf> {
    let mut tools = Jdk::every().into_iter().map(|jdk| jdk.tool("jar"));
    let Some(tool) = tools.find(|tool| tool.exists()) else {
        println!("SKIP: no JDK with a jar tool");
        return None;
    };
    let jar = test_dir.file("ctxagent.jar");
    fs::copy(build::agent_jar(), &jar).unwrap();
    let in_jar = |mode: &str| {
        let mut command = Command::new(&tool);
        command.arg(mode).arg(&jar).arg(LIBRARY);
        command.current_dir(test_dir.path());
        run(command).success();
    };
    in_jar("xf");
    let library = test_dir.file(LIBRARY);
    let mut bytes = fs::read(&library).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&library, bytes).unwrap();
    in_jar("uf");
    Some(jar)
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn java_agent_alone_records_contexts_without_a_warning() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let temporary = test_dir.file("tmp");
        fs::create_dir(&temporary).unwrap();
        let run = jvm(jdk, &test_dir)
            .java_agent(build::agent_jar(), "start,file=app.jfr")
            .flag(&format!("-Djava.io.tmpdir={}", temporary.display()))
            .program("Labelled 1 500")
            .stop_recording_at_end()
            .run_ok();
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert!(
            matches!(lines[..], [line] if line.starts_with("ctxagent: recording to app.jfr: ")),
            "{jdk}: {lines:?}"
        );
        let samples = test_dir.recording().samples();
        let labelled = samples.iter().filter(|s| s.text("who").is_some()).count();
        assert!(labelled > 25, "{jdk}: {labelled} of {}", samples.len());
        assert!(is_empty(&temporary), "{jdk}: the library is still there");
    }
}

#[test]
fn dependency_alone_starts_by_agent_control() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let mut jvm = jvm(jdk, &test_dir).bundle(build::agent_jar());
        if jdk.version >= 24 {
            // A program that loads native code says so to these.
            jvm = jvm.flag("--enable-native-access=ALL-UNNAMED");
        }
        let script = ["start,file=app.jfr", "label self", "stop"];
        let run = jvm.main("Script", &script).run_ok();
        assert_eq!(run.stderr, "", "{jdk}");
        assert_contains!(run.stdout, "recording to ", "{jdk}");
        let by_label = weights_by(&test_dir.recording().samples(), "who");
        let own = by_label.get(&Some("self".to_owned()));
        assert!(own.is_some_and(|own| *own > 15), "{jdk}: {by_label:?}");
    }
}

#[test]
fn bad_options_are_refused_as_those_of_agentpath() {
    let test_dir = TestDir::new();
    let run = jvm(Jdk::main(), &test_dir)
        .java_agent(build::agent_jar(), "start,intervall=10ms")
        .program("Target exit return")
        .may_warn("'intervall' is unknown")
        .run_ok();
    assert_contains!(run.stderr, "intervall");
    let strict = jvm(Jdk::main(), &test_dir)
        .java_agent(build::agent_jar(), "start,strict=true,intervall=10ms")
        .program("Target exit return")
        .may_warn("'intervall' is unknown")
        .run();
    assert_eq!(strict.code, Some(1), "{}", strict.stderr);
    let thrown = jvm(Jdk::main(), &test_dir)
        .bundle(build::agent_jar())
        .program("Script start,intervall=10ms")
        .run_ok();
    assert!(
        thrown.stdout.starts_with("refused: ") && thrown.stdout.contains("intervall"),
        "{}",
        thrown.stdout
    );
}

#[test]
fn copy_of_the_api_in_another_loader_is_served() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let run = jvm(jdk, &test_dir)
            .java_agent(build::agent_jar(), "start,file=app.jfr")
            .bundle(build::agent_jar())
            .program("Lifecycle copies")
            .run_ok();
        let plain = TestDir::new();
        let expected = Jvm::new(jdk, &plain)
            .agent("start,file=app.jfr")
            .program("Lifecycle copies")
            .run_ok();
        assert_eq!(run.stdout, expected.stdout, "{jdk}: {}", run.stderr);
    }
}

#[test]
fn tampered_library_is_not_loaded() {
    let test_dir = TestDir::new();
    let Some(jar) = tampered(&test_dir) else {
        return;
    };
    let run = jvm(Jdk::main(), &test_dir)
        .java_agent(&jar, "start,file=app.jfr")
        .program("Target exit return")
        .may_warn("its checksum differs")
        .run_ok();
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert!(
        matches!(lines[..], [line] if line.contains("its checksum differs")
            && line.ends_with("the JVM runs without the agent")),
        "{lines:?}"
    );
    assert!(test_dir.recordings().is_empty());
    let run = jvm(Jdk::main(), &test_dir)
        .bundle(&jar)
        .program("Script start,file=app.jfr")
        .run_ok();
    assert!(
        run.stdout.starts_with("refused: ") && run.stdout.contains("its checksum differs"),
        "{}",
        run.stdout
    );
}

#[test]
fn api_alone_has_no_agent_to_start() {
    let test_dir = TestDir::new();
    let run = jvm(Jdk::main(), &test_dir)
        .program("Script start,file=app.jfr")
        .run_ok();
    assert!(
        run.stdout.starts_with("refused: no agent is loaded"),
        "{}",
        run.stdout
    );
}

#[test]
fn directory_of_the_library_can_be_chosen() {
    let test_dir = TestDir::new();
    let run = jvm(Jdk::main(), &test_dir)
        .java_agent(build::agent_jar(), "start,file=app.jfr")
        .flag("-Dio.ctxagent.libdir=/nowhere")
        .program("Target exit return")
        .may_warn("error: /nowhere/ctxagent-")
        .run_ok();
    assert_contains!(run.stderr, "/nowhere");
    assert_contains!(run.stderr, "without the agent");
}
