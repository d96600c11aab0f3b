//! `ctxjfr` on running JVMs that were started without any flag: `record`, `start`, `status` and so
//! on, `ps`; and where it cannot work. Containers and other users: `containers.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use e2e::process::{Process, limit, run};
use e2e::tool::{
    FINDING, FINE, USAGE, assert_no_answer, assert_nothing_is_left, is_recording, lent_library,
    maps, plain, serving, working,
};
use e2e::{Jdk, TestDir, Tool, assert_contains, build, env_number, workspace};
use serde_json::Value;

#[test]
fn record_needs_no_preparation_and_leaves_nothing() {
    for jdk in Jdk::all() {
        let (test_dir, tool, jvm, pid) = serving(jdk);
        let file = test_dir.file("out.jfr").display().to_string();
        let arguments = ["record", &pid, "-d", "2s", "-o", &file, "interval=2ms"];
        let page = test_dir.file("out.html").display().to_string();
        let output = tool
            .run(&[&arguments[..], &["--flame", &page]].concat())
            .success();
        println!("{jdk}:\n{}{}", output.stdout, output.stderr);
        // Nothing is labelled in this program.
        assert_contains!(output.stdout, " thread ");
        assert!(fs::read_to_string(page).unwrap().contains("<html"));
        assert!(!is_recording(&pid));
        assert_nothing_is_left(&pid);
        let (_, samples) = test_dir.recording().reconcile();
        println!("{} samples", samples.len());
        assert!(!samples.is_empty());
        // A name that is taken is refused before anything is done.
        let line = tool.refused(FINDING, &["record", &pid, "-o", &file]);
        assert_contains!(line, "--force replaces it");
        let end = jvm.end();
        assert_eq!(end.stdout, "ready\nanswer 6765\n");
        assert_no_answer(&end);
    }
}

/// As `scripts/build.sh` and `scripts/dist.sh` make it, with one library and with two.
#[test]
fn one_file_is_enough() {
    let test_dir = TestDir::new();
    let program = test_dir.file("one");
    let mut pack = Command::new(build::ctxjfr());
    pack.arg("__pack").arg(&program).arg(build::agent());
    run(pack).success();
    let both = test_dir.file("both");
    let mut pack = Command::new(build::ctxjfr());
    pack.arg("__pack").arg(&both);
    pack.args([build::agent(), Path::new("/etc/hostname")]);
    run(pack).success();
    let bytes = fs::read(&program).unwrap();
    for program in [&program, &both] {
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }
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
    assert_contains!(line, "get ctxjfr again");
    let line = damaged("short", &|bytes| bytes.truncate(bytes.len() - 1));
    assert_contains!(line, "libctxagent.so is not beside");
    assert!(!maps(&pid).contains("libctxagent"));
    jvm.end();
    for program in [&program, &both] {
        let jvm = plain(Jdk::main(), &test_dir).serve();
        let pid = jvm.pid().to_string();
        tool(program).run(&["record", &pid, "-d", "1s"]).success();
        assert_nothing_is_left(&pid);
        jvm.end();
    }
}

#[test]
fn report_is_by_the_attribute_that_most_time_has() {
    let (_test_dir, tool, jvm, pid) = working(Jdk::main());
    let output = tool.run(&["record", &pid, "-d", "2s", "--json"]).success();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["by"], serde_json::json!(["kind"]), "{report}");
    let value_of = |is_wanted: fn(&&Value) -> bool| -> f64 {
        let rows = report["rows"].as_array().unwrap().iter();
        rows.filter(is_wanted)
            .filter_map(|row| row["value"].as_f64())
            .sum()
    };
    let labelled = value_of(|row| row["values"][0].is_string());
    let java = value_of(|row| row["not_java"] == false);
    let coverage = report["coverage"].as_f64().unwrap();
    assert!(
        labelled > 0.0 && (coverage - labelled / java).abs() < 1e-9,
        "{report}"
    );
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
        let (test_dir, tool, jvm, pid) = serving(jdk);
        let line = tool.refused(FINDING, &["stop", &pid]);
        assert_contains!(line, "has no agent loaded; ctxjfr start");
        let line = tool.refused(USAGE, &["start", &pid, "event=cpux"]);
        assert_contains!(line, "did you mean 'cpu'?");
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
        assert_contains!(line, "no recording is running");
        assert_nothing_is_left(&pid);
        let end = jvm.end();
        assert_no_answer(&end);
        assert_eq!(test_dir.recordings().len(), 2);
    }
}

/// With the names of the page, and files as they are called.
#[test]
fn programs_can_read_the_state() {
    let (_test_dir, tool, jvm, pid) = working(Jdk::main());
    let file = "it's \"shop\".jfr";
    tool.run(&["start", &pid, &format!("file={file}")])
        .success();
    let status = tool.run(&["status", &pid, "--json"]).success().stdout;
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["state"], "recording", "{status}");
    assert_eq!(status["file"], file);
    let page = workspace::root().join("docs/user-guide/options.md");
    let page = fs::read_to_string(page).unwrap();
    let section = page.split("## State for programs").nth(1).unwrap();
    for name in status.as_object().unwrap().keys() {
        assert!(section.contains(&format!("`{name}`")), "{name}");
    }
    tool.run(&["top", &pid, "-n", "1", "--json"]).success();
    let metrics = tool.run(&["status", &pid, "format=prometheus"]).success();
    let metrics = metrics.stdout;
    assert_contains!(metrics, "\nctxagent_recording 1\n");
    let is_zero = |name: &str| metrics.contains(&format!("\n{name} 0\n"));
    assert!(!is_zero("ctxagent_written_total") && is_zero("ctxagent_wall_signals_total"));
    let line = tool.refused(USAGE, &["stop", &pid, "format=json"]);
    assert_contains!(line, "'stop' has no use for");
    tool.run(&["stop", &pid]).success();
    jvm.end();
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
    assert_contains!(status.stdout, "state: recording");
    let line = tool.refused(FINDING, &["record", &pid, "-d", "1s"]);
    assert_contains!(line, "is running; stop it first");
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
    let jvm = plain(Jdk::main(), &test_dir).program(&format!("-jar {only} serve"));
    let jvm = jvm.start_ready();
    let output = tool
        .run(&["start", only.trim_end_matches(".jar"), "file=app.jfr"])
        .success();
    assert_contains!(output.stdout, "recording to app.jfr");
    tool.run(&["stop", &only]).success();
    let line = tool.refused(FINDING, &["stop", "NoSuchMainClass"]);
    assert_contains!(line, "ctxjfr ps lists them");
    jvm.end();
}

#[test]
fn interrupted_recording_is_reported() {
    let (_test_dir, tool, jvm, pid) = serving(Jdk::main());
    let recorder = tool.command(&["record", &pid, "-d", "1h", "-o", "out.jfr"]);
    let recorder = Process::start(recorder, limit());
    recorder.wait_for_line("recording ");
    jvm.wait_until("something is recorded", || is_recording(&pid));
    recorder.signal("INT");
    let output = recorder.finish().success();
    assert_contains!(output.stderr, "stopped by Ctrl-C after ");
    assert_contains!(output.stdout, "out.jfr: ");
    assert!(!is_recording(&pid));
    assert_nothing_is_left(&pid);
    jvm.end();
}

/// The JVM cannot write the recording, so the first Ctrl-C waits for it.
#[test]
fn second_ctrl_c_ends_at_once_and_leaves_nothing() {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let (hang, go) = (test_dir.file("hang"), test_dir.file("go"));
    let jvm = plain(Jdk::main(), &test_dir)
        .faults("NTH=1 LAST=1000000 KIND=hang WRITES=1 FILE=recording.jfr SINCE=hang UNTIL=go")
        .serve();
    let pid = jvm.pid().to_string();
    let recorder = Process::start(tool.command(&["record", &pid, "-d", "1h"]), limit());
    recorder.wait_for_line("recording ");
    let directory = lent_library(&pid).parent().unwrap().to_owned();
    fs::write(hang, "").unwrap();
    recorder.signal("INT");
    let status = format!("/proc/{}/status", recorder.pid());
    recorder.wait_until("the first one has arrived", || {
        let status = fs::read_to_string(&status).unwrap();
        let pending = status.lines().filter(|line| line.contains("Pnd:\t"));
        pending
            .into_iter()
            .all(|line| line.ends_with("0000000000000000"))
    });
    recorder.signal("INT");
    let output = recorder.finish();
    assert_eq!(output.code, Some(130), "{output:?}");
    assert!(is_recording(&pid), "the first one was not waiting");
    fs::write(go, "").unwrap();
    jvm.wait_until("the recording is ended", || !is_recording(&pid));
    jvm.wait_until("its directory is gone", || !directory.exists());
    assert_nothing_is_left(&pid);
    assert_eq!(jvm.end().stdout, "ready\nanswer 6765\n");
}

#[test]
fn killed_recorder_leaves_nothing() {
    for jdk in Jdk::all() {
        let (_test_dir, tool, jvm, pid) = serving(jdk);
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
        assert_contains!(output.stdout, "CPU time");
        jvm.end();
    }
}

/// It answers from the moment when it catches the signal, and loads agents some time later.
#[test]
fn jvm_that_is_starting_is_waited_for() {
    for jdk in Jdk::all() {
        // The moment is short: some of these meet it.
        for _ in 0..3 {
            let test_dir = TestDir::new();
            let tool = Tool::new(&test_dir);
            let jvm = plain(jdk, &test_dir).program("Target serve").start();
            let pid = jvm.pid().to_string();
            jvm.wait_until("it catches the signal", || catches_quit(&pid));
            let output = tool.run(&["start", &pid, "file=app.jfr"]).success();
            assert!(output.stdout.contains("recording to "), "{jdk}: {output:?}");
            jvm.wait_for_line("ready");
            assert_eq!(jvm.end().stdout, "ready\nanswer 6765\n", "{jdk}");
        }
    }
}

/// Whether a process has a handler for SIGQUIT, number 3.
fn catches_quit(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mut masks = status
        .lines()
        .filter_map(|line| line.strip_prefix("SigCgt:"));
    let mask = u64::from_str_radix(masks.next().unwrap().trim(), 16).unwrap();
    mask & 1 << (3 - 1) != 0
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
    assert_contains!(output.stderr, "has ended after ");
    assert_contains!(output.stdout, "out.jfr: ");
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
        assert_contains!(line, "is no JVM: ");
    }
    assert!(sleep.try_wait().unwrap().is_none(), "it did not survive");
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    let line = tool.refused(FINDING, &["start", &pid]);
    assert_contains!(line, "does not exist");
    let bad = tool.run(&["record", &pid, "-d", "0s"]);
    assert_eq!(bad.code, USAGE, "{bad:?}");
    let line = tool.refused(USAGE, &["record", &pid, "file=x.jfr"]);
    assert_contains!(line, "record sets 'file' itself");
}

/// A process that has mapped these files, and would end by a signal of the attach.
fn fake(test_dir: &TestDir, libraries: &[&str]) -> Process {
    let script = "import mmap, sys, time\n\
        files = [open(name, 'rb') for name in sys.argv[1:]]\n\
        maps = [mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) for file in files]\n\
        print('ready', flush=True)\n\
        time.sleep(600)\n";
    let mut python = Command::new("python3");
    python.args(["-c", script]);
    for library in libraries {
        let file = test_dir.file(library);
        fs::write(&file, "library").unwrap();
        python.arg(file);
    }
    let process = Process::start(python, limit());
    process.wait_for_line("ready");
    process
}

/// By what such JVMs have mapped; none is on this machine.
#[test]
fn open_j9_and_musl_are_named_and_unharmed() {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    for (libraries, reason) in [
        (["libjvm.so", "libj9vm29.so"], "is an OpenJ9 JVM"),
        (
            ["libjvm.so", "ld-musl-x86_64.so.1"],
            "libctxagent-musl.so is not beside",
        ),
    ] {
        let process = fake(&test_dir, &libraries);
        let pid = process.pid().to_string();
        for command in ["start", "record", "top", "doctor"] {
            let output = tool.run(&[command, &pid]);
            assert_eq!(output.code, FINDING, "{command}: {output:?}");
            let said = output.stdout + &output.stderr;
            assert_contains!(said, reason, "{command}");
        }
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        assert_contains!(status, "State:\tS");
    }
}

/// An agent that says it is of another release, as after an upgrade of `ctxjfr`.
#[test]
fn agent_of_another_release_is_said_and_used() {
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let own = env!("CARGO_PKG_VERSION").as_bytes();
    let other = "9".repeat(own.len());
    let mut bytes = fs::read(build::agent()).unwrap();
    let places: Vec<usize> = memchr::memmem::find_iter(&bytes, own).collect();
    for at in places {
        bytes[at..at + own.len()].copy_from_slice(other.as_bytes());
    }
    let library = test_dir.file("libctxagent.so");
    fs::write(&library, bytes).unwrap();
    let jvm = plain(Jdk::main(), &test_dir).agent_at(&library, "").serve();
    let pid = jvm.pid().to_string();
    for arguments in [
        &["start", &pid, "file=app.jfr"][..],
        &["top", &pid, "-n", "1", "--by", "thread"],
        &["stop", &pid],
        &["record", &pid, "-d", "1s"],
    ] {
        let output = tool.run(arguments).success();
        let line = format!("has agent {other}, this is ctxjfr ");
        assert!(output.stderr.contains(&line), "{arguments:?}: {output:?}");
    }
    let output = tool.run(&["doctor", &pid]).success();
    assert_contains!(output.stdout, &other);
    jvm.end();
}

/// Version 2 of the attach protocol has room for them; 17 and 21 know only version 1.
#[test]
fn long_options_need_a_jvm_that_takes_them() {
    for jdk in Jdk::all() {
        let (_test_dir, tool, jvm, pid) = serving(jdk);
        let conditions: Vec<String> = (0..7)
            .map(|number| format!("name{number}={}", "x".repeat(200)))
            .collect();
        let options = format!("file=app.jfr,filter={}", conditions.join("+"));
        if jdk.version < 24 {
            let line = tool.refused(USAGE, &["start", &pid, &options]);
            assert_contains!(line, "takes at most 1024 bytes per argument");
        } else {
            tool.run(&["start", &pid, &options]).success();
            tool.run(&["stop", &pid]).success();
        }
        tool.run(&["start", &pid, "file=app.jfr,overwrite"])
            .success();
        jvm.end();
    }
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
            assert_contains!(line, reason, "{jdk} {flag}");
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
        assert_contains!(line, "is stopped by a signal or a debugger");
        jvm.signal("CONT");
        tool.run(&["start", &pid, "file=app.jfr,overwrite"])
            .success();
        jvm.end();
    }
}

/// `CTXAGENT_CYCLES=200` makes it a long run.
#[test]
fn many_recordings_leave_no_descriptors_threads_and_memory() {
    const CYCLES: u64 = 20;
    // The agent's own limits are in `reliability/`; this is about what each attach would leave.
    const MAX_GROWTH_KIB: u64 = 12 << 10;
    let cycles = env_number("CTXAGENT_CYCLES").unwrap_or(CYCLES);
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let jvm = plain(Jdk::main(), &test_dir).fixed_memory().serve();
    let pid = jvm.pid().to_string();
    let count = |what: &str| fs::read_dir(format!("/proc/{pid}/{what}")).unwrap().count();
    let resident_kib = || -> u64 {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.unwrap()
            .trim()
            .trim_end_matches(" kB")
            .parse()
            .unwrap()
    };
    let cycle = || {
        tool.run(&["start", &pid, "file=app.jfr,overwrite"])
            .success();
        tool.run(&["stop", &pid]).success();
    };
    (0..5).for_each(|_| cycle());
    let before = ["fd", "task"].map(count);
    let memory = resident_kib();
    (0..cycles).for_each(|_| cycle());
    // The VM ends compiler threads when it likes, and starts others.
    let settled = || count("fd") <= before[0] && count("task") <= before[1] + 3;
    jvm.wait_until("descriptors and threads are as before", settled);
    let grown = resident_kib().saturating_sub(memory);
    println!("{cycles} cycles: {grown} KiB more than {memory}");
    assert!(grown < MAX_GROWTH_KIB, "{grown} KiB");
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
    let jvm = plain(Jdk::main(), &test_dir)
        .may_warn("another copy of the agent, ")
        .serve();
    let pid = jvm.pid().to_string();
    let first = Process::start(tool.command(&["start", &pid, "file=a.jfr"]), limit());
    let second = jvm.return_code("status");
    let first = first.finish();
    assert_eq!(first.code, FINE, "{first:?}");
    assert!([Some(0), Some(3)].contains(&second), "{second:?}");
    let output = tool.run(&["stop", &pid]).success();
    assert_contains!(output.stdout, "a.jfr");
    jvm.end();
}
