//! `ctxjfr` on running JVMs that were started without any flag: `record`, `start`, `status` and so
//! on, `ps`; in containers, as another user, and where it cannot work.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e::process::{Process, limit, run};
use e2e::{Jdk, Jvm, ProcessOutput, RunningJvm, TestDir, build, workspace};
use serde_json::Value;

/// Exit codes of `ctxjfr`.
const FINE: Option<i32> = Some(0);
const FINDING: Option<i32> = Some(1);
const USAGE: Option<i32> = Some(2);

/// A user that owns nothing here.
const USER: &str = "12345";
const AS_USER: [&str; 6] = [
    "setpriv",
    "--reuid",
    USER,
    "--regid",
    USER,
    "--clear-groups",
];

/// `ctxjfr` with the agent beside it, as users get both.
struct Tool {
    program: PathBuf,
    directory: PathBuf,
}

impl Tool {
    fn new(test_dir: &TestDir) -> Self {
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

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.directory);
        command
    }

    fn run(&self, arguments: &[&str]) -> ProcessOutput {
        run(self.command(arguments))
    }

    /// Runs it with this exit code; fails unless stderr is one line.
    fn refused(&self, code: Option<i32>, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.code, code, "{arguments:?}: {output:?}");
        assert_eq!(output.stdout, "", "{arguments:?}");
        assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
        output.stderr
    }
}

/// A JVM as users start it.
fn plain(jdk: Jdk, test_dir: &TestDir) -> Jvm<'_> {
    Jvm::new(jdk, test_dir).without_flag("-XX:+EnableDynamicAgentLoading")
}

fn maps(pid: &str) -> String {
    fs::read_to_string(format!("/proc/{pid}/maps")).unwrap()
}

/// The library that `ctxjfr` lent to the JVM, as the JVM sees it.
fn lent_library(pid: &str) -> PathBuf {
    let maps = maps(pid);
    let line = maps.lines().find(|line| line.contains("/.ctxjfr-"));
    let path = &line.unwrap()[line.unwrap().find('/').unwrap()..];
    path.strip_suffix(" (deleted)").unwrap().into()
}

/// Nothing is left where the JVM can see it.
fn assert_nothing_is_left(pid: &str) {
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
fn assert_no_answer(end: &ProcessOutput) {
    let mut lines = end.agent_lines();
    lines.retain(|line| !line.starts_with("ctxagent: warning: "));
    assert!(
        lines.is_empty() && end.start_lines().is_empty(),
        "{}",
        end.stderr
    );
}

fn is_recording(pid: &str) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter();
    let mut names = threads
        .flatten()
        .map(|thread| fs::read_to_string(thread.unwrap().path().join("comm")).unwrap_or_default());
    names.any(|name| name == "ctxagent writer\n")
}

#[test]
fn record_needs_no_preparation_and_leaves_nothing() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let tool = Tool::new(&test_dir);
        let jvm = plain(jdk, &test_dir).serve();
        let pid = jvm.pid().to_string();
        let file = test_dir.file("out.jfr").display().to_string();
        let arguments = ["record", &pid, "-d", "2s", "-o", &file, "interval=2ms"];
        let page = test_dir.file("out.html").display().to_string();
        let output = tool
            .run(&[&arguments[..], &["--flame", &page]].concat())
            .success();
        println!("{jdk}:\n{}{}", output.stdout, output.stderr);
        // Nothing is labelled in this program.
        assert!(output.stdout.contains(" thread "), "{}", output.stdout);
        assert!(fs::read_to_string(page).unwrap().contains("<html"));
        assert!(!is_recording(&pid));
        assert_nothing_is_left(&pid);
        let (_, samples) = test_dir.recording().reconcile(Jdk::main());
        println!("{} samples", samples.len());
        assert!(!samples.is_empty());
        // A name that is taken is refused before anything is done.
        let line = tool.refused(FINDING, &["record", &pid, "-o", &file]);
        assert!(line.contains("--force replaces it"), "{line}");
        let end = jvm.end();
        assert_eq!(end.stdout, "ready\nanswer 6765\n");
        assert_no_answer(&end);
    }
}

/// As `scripts/build.sh` makes it.
#[test]
fn one_file_is_enough() {
    let test_dir = TestDir::new();
    let program = test_dir.file("one");
    let mut pack = Command::new(build::ctxjfr());
    pack.arg("__pack").arg(build::agent()).arg(&program);
    run(pack).success();
    let bytes = fs::read(&program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let tool = |program: &Path| Tool {
        program: program.to_owned(),
        directory: test_dir.path().to_owned(),
    };
    let jvm = plain(Jdk::main(), &test_dir).serve();
    let pid = jvm.pid().to_string();
    // A byte of the library is another one; the end is missing.
    let damaged = |name: &str, damage: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        damage(&mut bytes);
        let place = test_dir.file(name);
        fs::write(&place, bytes).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        tool(&place).refused(FINDING, &["start", &pid])
    };
    let line = damaged("wrong", &|bytes| {
        let at = bytes.len() - 1000;
        bytes[at] ^= 1;
    });
    assert!(line.contains("get ctxjfr again"), "{line}");
    let line = damaged("short", &|bytes| bytes.truncate(bytes.len() - 1));
    assert!(line.contains("libctxagent.so is not beside"), "{line}");
    assert!(!maps(&pid).contains("libctxagent"));
    tool(&program).run(&["record", &pid, "-d", "1s"]).success();
    assert_nothing_is_left(&pid);
    jvm.end();
}

#[test]
fn report_is_by_the_attribute_that_most_time_has() {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let jvm = plain(Jdk::main(), &test_dir)
        .main("WorkBeforeAttach", &[])
        .start_ready();
    let pid = jvm.pid().to_string();
    let output = tool.run(&["record", &pid, "-d", "2s", "--json"]).success();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["by"], serde_json::json!(["kind"]), "{report}");
    // Its third thread has none.
    assert!(report["coverage"].as_f64() > Some(0.0), "{report}");
    assert_eq!(report["files"][0], format!("record-{pid}.jfr"));
    let listed = tool.run(&["ps", "--json"]).success();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let rows = listed["jvms"].as_array().unwrap();
    let row = rows.iter().find(|row| row["pid"] == jvm.pid()).unwrap();
    let fields: Vec<&str> = row
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let page = fs::read_to_string(workspace::root().join("docs/user-guide/ctxjfr.md"));
    let names = fields.iter().map(|name| format!("`{name}`"));
    let section = page.unwrap();
    let section = section.split("- `ctxjfr.ps.1`").nth(1).unwrap();
    assert!(
        names.into_iter().all(|name| section.contains(&name)),
        "{fields:?}"
    );
    assert_eq!(row["main"], "WorkBeforeAttach");
    assert_eq!(
        (&row["agent"], &row["attributes"]),
        (&"loaded".into(), &Value::Null)
    );
    assert_eq!(row["inner_pid"], jvm.pid());
    assert!(
        row["java_version"].as_str().unwrap().starts_with("21."),
        "{row}"
    );
    jvm.end();
}

#[test]
fn commands_answer_here_with_exit_codes() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let tool = Tool::new(&test_dir);
        let jvm = plain(jdk, &test_dir).serve();
        let pid = jvm.pid().to_string();
        let line = tool.refused(FINDING, &["stop", &pid]);
        assert!(line.contains("has no agent loaded; ctxjfr start"), "{line}");
        let line = tool.refused(USAGE, &["start", &pid, "event=cpux"]);
        assert!(line.contains("did you mean 'cpu'?"), "{line}");
        for (command, option, answer) in [
            ("start", "interval=5ms,file=app.jfr", "recording to "),
            ("status", "", "state: recording"),
            ("dump", "file=copy.jfr", "dumped to "),
            ("pause", "", "paused"),
            ("resume", "", "resumed"),
            ("stop", "", "stopped; recording is "),
        ] {
            let mut arguments = vec![command, &pid];
            arguments.extend(Some(option).filter(|option| !option.is_empty()));
            let output = tool.run(&arguments).success();
            assert!(output.stdout.contains(answer), "{command}: {output:?}");
            assert_eq!(output.stderr, "", "{command}");
        }
        let line = tool.refused(FINDING, &["stop", &pid]);
        assert!(line.contains("no recording is running"), "{line}");
        assert_nothing_is_left(&pid);
        let end = jvm.end();
        assert_no_answer(&end);
        assert_eq!(test_dir.recordings().len(), 2);
    }
}

#[test]
fn agent_of_the_command_line_takes_commands() {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let jvm = plain(Jdk::main(), &test_dir)
        .agent("start,file=app.jfr")
        .serve();
    let pid = jvm.pid().to_string();
    let status = tool.run(&["status", &pid]).success();
    assert!(
        status.stdout.contains("state: recording"),
        "{}",
        status.stdout
    );
    let line = tool.refused(FINDING, &["record", &pid, "-d", "1s"]);
    assert!(line.contains("is running; stop it first"), "{line}");
    // Its recording is not ended by that.
    assert!(is_recording(&pid));
    tool.run(&["stop", &pid]).success();
    assert!(
        !maps(&pid).contains("/.ctxjfr-"),
        "a second copy was loaded"
    );
    jvm.end();
}

#[test]
fn jvm_is_found_by_its_name() {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let programs = build::class_path().split_once(':').unwrap().1;
    let Some(jar) = test_dir.jar("Main-Class: Target\n", &[programs]) else {
        return;
    };
    let only = format!("only-{}.jar", std::process::id());
    fs::rename(jar, test_dir.file(&only)).unwrap();
    let jvm = plain(Jdk::main(), &test_dir).main("-jar", &[&only, "serve"]);
    let jvm = jvm.start_ready();
    let output = tool
        .run(&["start", only.trim_end_matches(".jar"), "file=app.jfr"])
        .success();
    assert!(
        output.stdout.contains("recording to app.jfr"),
        "{}",
        output.stdout
    );
    tool.run(&["stop", &only]).success();
    let line = tool.refused(FINDING, &["stop", "NoSuchMainClass"]);
    assert!(line.contains("ctxjfr ps lists them"), "{line}");
    jvm.end();
}

#[test]
fn interrupted_recording_is_reported() {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let jvm = plain(Jdk::main(), &test_dir).serve();
    let pid = jvm.pid().to_string();
    let recorder = tool.command(&["record", &pid, "-d", "1h", "-o", "out.jfr"]);
    let recorder = Process::start(recorder, limit());
    recorder.wait_for_line("recording ");
    jvm.wait_until("something is recorded", || is_recording(&pid));
    recorder.signal("INT");
    let output = recorder.finish().success();
    assert!(
        output.stderr.contains("stopped by Ctrl-C after "),
        "{}",
        output.stderr
    );
    assert!(output.stdout.contains("out.jfr: "), "{}", output.stdout);
    assert!(!is_recording(&pid));
    assert_nothing_is_left(&pid);
    jvm.end();
}

#[test]
fn killed_recorder_leaves_nothing() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let tool = Tool::new(&test_dir);
        let jvm = plain(jdk, &test_dir).serve();
        let pid = jvm.pid().to_string();
        let recorder = Process::start(tool.command(&["record", &pid, "-d", "1h"]), limit());
        recorder.wait_for_line("recording ");
        let lent = lent_library(&pid);
        let directory = lent.parent().unwrap();
        assert!(directory.join("recording.jfr").exists());
        recorder.signal("KILL");
        jvm.wait_until("the recording is ended", || !is_recording(&pid));
        jvm.wait_until("its directory is gone", || !directory.exists());
        assert_nothing_is_left(&pid);
        // The agent is as before.
        let output = tool.run(&["record", &pid, "-d", "1s"]).success();
        assert!(output.stdout.contains("CPU time"), "{}", output.stdout);
        jvm.end();
    }
}

#[test]
fn recording_ends_with_its_jvm() {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let jvm = plain(Jdk::main(), &test_dir).serve();
    let recorder = tool.command(&[
        "record",
        &jvm.pid().to_string(),
        "-d",
        "1h",
        "-o",
        "out.jfr",
    ]);
    let recorder = Process::start(recorder, limit());
    recorder.wait_for_line("recording ");
    let lent = lent_library(&jvm.pid().to_string());
    jvm.end();
    let output = recorder.finish();
    assert_eq!(output.code, FINDING, "{output:?}");
    assert!(
        output.stderr.contains("has ended after "),
        "{}",
        output.stderr
    );
    assert!(output.stdout.contains("out.jfr: "), "{}", output.stdout);
    assert!(!lent.parent().unwrap().exists());
}

#[test]
fn other_processes_are_left_alone() {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let mut sleep = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = sleep.id().to_string();
    for command in ["start", "status", "record"] {
        let line = tool.refused(FINDING, &[command, &pid]);
        assert!(line.contains("is no JVM: "), "{line}");
    }
    assert!(sleep.try_wait().unwrap().is_none(), "it did not survive");
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    let line = tool.refused(FINDING, &["start", &pid]);
    assert!(line.contains("does not exist"), "{line}");
    let bad = tool.run(&["record", &pid, "-d", "0s"]);
    assert_eq!(bad.code, USAGE, "{bad:?}");
    let line = tool.refused(USAGE, &["record", &pid, "file=x.jfr"]);
    assert!(line.contains("record sets 'file' itself"), "{line}");
}

/// What the JVM does not allow is said before a signal makes it print its stacks.
#[test]
fn jvms_that_cannot_answer_are_named_and_unharmed() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let tool = Tool::new(&test_dir);
        for (flag, reason) in [
            ("-XX:+DisableAttachMechanism", "forbids attach"),
            ("-XX:-EnableDynamicAgentLoading", "forbids to load agents"),
        ] {
            let jvm = plain(jdk, &test_dir).flag(flag).serve();
            let line = tool.refused(FINDING, &["start", &jvm.pid().to_string()]);
            assert!(line.contains(reason), "{jdk} {flag}: {line}");
            let end = jvm.end();
            assert_eq!(end.stdout, "ready\nanswer 6765\n", "{jdk} {flag}");
            assert_eq!(end.stderr, "", "{jdk} {flag}");
        }
        let jvm = plain(jdk, &test_dir).serve();
        let pid = jvm.pid().to_string();
        jvm.signal("STOP");
        jvm.wait_until("it is stopped", || {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            status.contains("State:\tT")
        });
        let line = tool.refused(FINDING, &["start", &pid]);
        assert!(
            line.contains("is stopped by a signal or a debugger"),
            "{line}"
        );
        jvm.signal("CONT");
        tool.run(&["start", &pid, "file=app.jfr,overwrite"])
            .success();
        jvm.end();
    }
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
        assert!(
            shown.stdout.contains(" ok    status   state: recording\n"),
            "{}",
            shown.stdout
        );
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

/// A command that the other user runs.
fn as_user() -> Command {
    let mut command = Command::new(AS_USER[0]);
    command.args(&AS_USER[1..]);
    command
}

/// Whether this test may be another user and make namespaces.
fn can_make_containers() -> bool {
    let mut probe = as_user();
    probe.args([
        "unshare",
        "-Urpmf",
        "--mount-proc",
        "cat",
        "/proc/self/status",
    ]);
    // The user must get to the JDK and to the programs.
    let readable = [Jdk::main().tool("java"), build::agent().to_owned()];
    let can_read = readable.iter().all(|file| {
        let mut read = as_user();
        read.args(["test", "-r"]).arg(file);
        read.status().is_ok_and(|status| status.success())
    });
    let can = probe.output().is_ok_and(|output| output.status.success()) && can_read;
    if !can {
        println!("SKIP: needs root, setpriv, unshare, and a source tree that all users can read");
    }
    can
}

/// The JVM, a child of the process that made its namespaces.
fn contained_pid(jvm: &RunningJvm) -> String {
    let children = format!("/proc/{0}/task/{0}/children", jvm.pid());
    fs::read_to_string(children).unwrap().trim().to_owned()
}

/// Shell commands that put an empty `/tmp` in place of the one below `root`. A source tree that
/// lies there stays where it is.
fn empty_tmp(root: &str, options: &str) -> String {
    let tree = workspace::root();
    let cover = |at: &str| format!("mount -t tmpfs {options} tmpfs {at}");
    let Ok(name) = tree.strip_prefix("/tmp") else {
        return cover(&format!("{root}/tmp"));
    };
    let (tree, name) = (tree.display(), name.display());
    let keep = |at: &str| {
        let cover = cover(at);
        format!("{cover} && mkdir -p {at}/{name} && mount --bind {tree} {at}/{name}")
    };
    match root {
        "" => format!("{} && mount --rbind /mnt /tmp && cd \"$PWD\"", keep("/mnt")),
        _ => keep(&format!("{root}/tmp")),
    }
}

/// By a read-only copy of the root, the working directory included.
fn read_only_root() -> String {
    let tmp = empty_tmp("/mnt", "");
    format!(
        "mount --rbind / /mnt && mount -o remount,ro,bind /mnt && {tmp} && exec chroot /mnt \
         bash -c 'cd \"$0\" && exec \"$@\"' \"$PWD\" \"$0\" \"$@\""
    )
}

#[test]
fn jvms_in_containers_are_recorded_by_root() {
    if !can_make_containers() {
        return;
    }
    for (set_up, place) in [
        (empty_tmp("", ""), "/tmp/"),
        (empty_tmp("", "-o noexec"), "/var/tmp/"),
        (read_only_root(), "/tmp/"),
    ] {
        for jdk in Jdk::all() {
            let test_dir = TestDir::new();
            let tool = Tool::new(&test_dir);
            let script = format!("{set_up} && exec \"$0\" \"$@\"");
            let jvm = plain(jdk, &test_dir)
                .launched_by(&AS_USER)
                .launched_by(&["unshare", "-Urpmf", "--mount-proc", "--kill-child"])
                .launched_by(&["bash", "-c", &script])
                .serve();
            let pid = contained_pid(&jvm);
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            assert!(status.contains(&format!("NSpid:\t{pid}\t1\n")), "{status}");
            assert!(status.contains(&format!("Uid:\t{USER}\t")), "{status}");
            let file = test_dir.file("out.jfr");
            let output = tool
                .run(&["record", &pid, "-d", "1s", "-o", "out.jfr"])
                .success();
            println!("{jdk} {set_up}: {}", output.stdout);
            let lent = lent_library(&pid);
            assert!(lent.to_string_lossy().contains(place), "{}", lent.display());
            assert!(!test_dir.recording().samples(Jdk::main()).is_empty());
            assert_nothing_is_left(&pid);
            let status = tool.run(&["status", &pid]).success();
            assert!(status.stdout.contains("state: idle"), "{}", status.stdout);
            fs::remove_file(file).unwrap();
            jvm.end();
        }
    }
}

#[test]
fn jvm_of_another_user_needs_root() {
    if !can_make_containers() {
        return;
    }
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let jvm = plain(Jdk::main(), &test_dir).serve();
    let mut command = as_user();
    command.arg(&tool.program);
    command.args(["start", &jvm.pid().to_string()]);
    let output = run(command);
    assert_eq!(output.code, FINDING, "{output:?}");
    assert!(
        output.stderr.contains("run this as that user, or as root"),
        "{}",
        output.stderr
    );
    jvm.end();
    let theirs = plain(Jdk::main(), &test_dir).launched_by(&AS_USER).serve();
    let pid = theirs.pid().to_string();
    // The user cannot write to the directory of the test.
    tool.run(&["start", &pid, "file=/tmp/%p.jfr"]).success();
    let output = tool.run(&["stop", &pid]).success();
    let file = format!("/tmp/{pid}.jfr");
    assert!(output.stdout.contains(&file), "{}", output.stdout);
    fs::remove_file(file).unwrap();
    assert_nothing_is_left(&pid);
    theirs.end();
}

#[test]
fn many_recordings_leave_no_descriptors_and_threads() {
    const CYCLES: usize = 20;
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let jvm = plain(Jdk::main(), &test_dir).serve();
    let pid = jvm.pid().to_string();
    let count = |what: &str| fs::read_dir(format!("/proc/{pid}/{what}")).unwrap().count();
    let cycle = || {
        tool.run(&["start", &pid, "file=app.jfr,overwrite"])
            .success();
        tool.run(&["stop", &pid]).success();
    };
    cycle();
    let before = ["fd", "task"].map(count);
    (0..CYCLES).for_each(|_| cycle());
    // The VM ends compiler threads when it likes, and starts others.
    let settled = || count("fd") <= before[0] && count("task") <= before[1] + 3;
    jvm.wait_until("descriptors and threads are as before", settled);
    let copies = maps(&pid)
        .lines()
        .filter(|line| line.contains("libctxagent"))
        .count();
    assert!(copies < 10, "{copies} mappings: more than one copy");
    jvm.end();
}

/// Both ask the JVM to listen, and both load a copy of the agent: one of them is the agent.
#[test]
fn second_tool_at_work_does_not_disturb() {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let jvm = plain(Jdk::main(), &test_dir).serve();
    let pid = jvm.pid().to_string();
    let first = Process::start(tool.command(&["start", &pid, "file=a.jfr"]), limit());
    let second = jvm.return_code("status");
    let first = first.finish();
    assert_eq!(first.code, FINE, "{first:?}");
    assert!([Some(0), Some(3)].contains(&second), "{second:?}");
    let output = tool.run(&["stop", &pid]).success();
    assert!(output.stdout.contains("a.jfr"), "{}", output.stdout);
    jvm.end();
}
