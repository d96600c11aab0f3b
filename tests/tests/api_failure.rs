//! A copy of the Java API that cannot be prepared: contexts are off, and the agent says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e::process::run;
use e2e::{Jdk, Jvm, TestDir, build};

/// A class that the preparation needs, and nothing else.
const NEEDED: &str = "io/ctxagent/internal/intern/PreparedValues.class";

/// The classes of the API but for one; `None` if there is no tool for it.
fn incomplete_api(test_dir: &TestDir) -> Option<PathBuf> {
    let mut tools = Jdk::all().into_iter().map(|jdk| jdk.tool("jar"));
    let Some(tool) = tools.find(|tool| tool.exists()) else {
        println!("SKIP: no JDK with a jar tool");
        return None;
    };
    let (api, _) = build::class_path().split_once(':').unwrap();
    let classes = test_dir.file("api");
    fs::create_dir(&classes).unwrap();
    let mut command = Command::new(tool);
    command.arg("xf").arg(Path::new(api)).current_dir(&classes);
    run(command).success();
    fs::remove_file(classes.join(NEEDED)).unwrap();
    Some(classes)
}

#[test]
fn failed_preparation_is_reported() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let Some(api) = incomplete_api(&test_dir) else {
            return;
        };
        let jvm = Jvm::new(jdk, &test_dir)
            .agent("start,file=app.jfr")
            .bundle(&api)
            .main("WorkBeforeAttach", &[])
            .may_warn("a copy of the Java API cannot be used")
            .start_ready();
        let line = jvm.wait_for_line("warning: a copy of the Java API cannot be used");
        assert!(
            line.contains("PreparedValues: its contexts are off"),
            "{line}"
        );
        jvm.agent_command_ok("status");
        jvm.wait_for_line("ctxagent: java api: refused (a copy of the Java API cannot be used");
        jvm.agent_command_ok("stop");
        jvm.end();
        assert_eq!(test_dir.recording().totals()["api.refused"], 1, "{jdk}");
        let check = test_dir.recording().ctxjfr(&["check", "FILE"]);
        assert!(check.stdout.contains("(api.refused; "), "{}", check.stdout);
    }
}
