//! `ctxjfr` as users have it, with the agent beside it, the JVMs that it is for, and what it leaves
//! behind: nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build;
use crate::jdk::Jdk;
use crate::jvm::{Jvm, RunningJvm, TestDir};
use crate::process::{ProcessOutput, run};

/// Exit code of `ctxjfr`: done, nothing found.
pub const FINE: Option<i32> = Some(0);
/// Exit code: a finding, or it cannot be done.
pub const FINDING: Option<i32> = Some(1);
/// Exit code: a wrong call.
pub const USAGE: Option<i32> = Some(2);

/// `ctxjfr` with the agent beside it, as users get both.
#[derive(Debug)]
pub struct Tool {
    /// The program.
    pub program: PathBuf,
    /// Where it runs.
    pub directory: PathBuf,
}

impl Tool {
    /// Both in a directory of the test.
    pub fn new(test_dir: &TestDir) -> Self {
        let place = test_dir.file("bin");
        fs::create_dir(&place).unwrap();
        let link = |from: &Path, name: &str| {
            let to = place.join(name);
            fs::hard_link(from, &to)
                .or_else(|_| fs::copy(from, &to).map(|_| ()))
                .unwrap();
            to
        };
        link(build::agent(), "libctxagent.so");
        Self {
            program: link(build::ctxjfr(), "ctxjfr"),
            directory: test_dir.path().to_owned(),
        }
    }

    /// It with these arguments, in the directory of the test.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.directory);
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> ProcessOutput {
        run(self.command(arguments))
    }

    /// Runs it with this exit code; fails unless stderr is one line.
    pub fn refused(&self, code: Option<i32>, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.code, code, "{arguments:?}: {output:?}");
        assert_eq!(output.stdout, "", "{arguments:?}");
        assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
        output.stderr
    }
}

/// A JVM as users start it.
pub fn plain(jdk: Jdk, test_dir: &TestDir) -> Jvm {
    Jvm::new(jdk, test_dir).without_flag("-XX:+EnableDynamicAgentLoading")
}

/// A plain JVM at work under the label `kind`, on threads that began before any agent came.
pub fn at_work(jdk: Jdk, test_dir: &TestDir) -> RunningJvm {
    plain(jdk, test_dir)
        .program("WorkBeforeAttach")
        .start_ready()
}

/// A JVM that serves, in a directory of the test, with `ctxjfr` beside it, and its process id.
pub fn serving(jdk: Jdk) -> (TestDir, Tool, RunningJvm, String) {
    beside(|test_dir| plain(jdk, test_dir).serve())
}

/// The same of a JVM [`at_work`].
pub fn working(jdk: Jdk) -> (TestDir, Tool, RunningJvm, String) {
    beside(|test_dir| at_work(jdk, test_dir))
}

fn beside(start: impl Fn(&TestDir) -> RunningJvm) -> (TestDir, Tool, RunningJvm, String) {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let jvm = start(&test_dir);
    let pid = jvm.pid().to_string();
    (test_dir, tool, jvm, pid)
}

/// What a process has mapped.
pub fn maps(pid: &str) -> String {
    fs::read_to_string(format!("/proc/{pid}/maps")).unwrap()
}

/// The library that `ctxjfr` lent to the JVM, as the JVM sees it.
pub fn lent_library(pid: &str) -> PathBuf {
    let maps = maps(pid);
    let line = maps.lines().find(|line| line.contains("/.ctxjfr-"));
    let path = &line.unwrap()[line.unwrap().find('/').unwrap()..];
    path.strip_suffix(" (deleted)").unwrap().into()
}

/// Nothing is left where the JVM can see it.
pub fn assert_nothing_is_left(pid: &str) {
    let lent = lent_library(pid);
    let directory = lent.parent().unwrap().strip_prefix("/").unwrap();
    let seen = Path::new("/proc").join(pid).join("root").join(directory);
    assert!(!seen.exists(), "{}", seen.display());
    let mut working = fs::read_dir(format!("/proc/{pid}/cwd")).unwrap();
    let is_ours = |name: &str| name.starts_with(".attach_pid") || name.starts_with(".ctxjfr-");
    let remaining = working.find(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        is_ours(&name.to_string_lossy())
    });
    assert!(remaining.is_none(), "{remaining:?}");
}

/// The answers went to `ctxjfr`. The agent may warn, of a busy machine for example.
pub fn assert_no_answer(end: &ProcessOutput) {
    let mut lines = end.agent_lines();
    lines.retain(|line| !line.starts_with("ctxagent: warning: "));
    assert!(
        lines.is_empty() && end.start_lines().is_empty(),
        "{}",
        end.stderr
    );
}

/// Whether the agent in a process records.
pub fn is_recording(pid: &str) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter();
    let mut names = threads
        .flatten()
        .map(|thread| fs::read_to_string(thread.unwrap().path().join("comm")).unwrap_or_default());
    names.any(|name| name == "ctxagent writer\n")
}
