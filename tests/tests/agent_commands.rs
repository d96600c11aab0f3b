//! Commands given to an agent that is loaded, and how it answers.

use std::fs;
use std::process::Command;

use e2e::{Jdk, Jvm, Recording, RunningJvm, TestDir, assert_contains, build, retry_late_write};

/// The program that computes until it is told to end, with the agent and these options; its
/// recording ends before the JVM.
fn serving(test_dir: &TestDir, options: &str) -> RunningJvm {
    with_agent(test_dir, options)
        .stop_recording_at_end()
        .start_ready()
}

fn with_agent(test_dir: &TestDir, options: &str) -> Jvm {
    with_agent_on(Jdk::main(), test_dir, options)
}

fn with_agent_on(jdk: Jdk, test_dir: &TestDir, options: &str) -> Jvm {
    Jvm::new(jdk, test_dir)
        .agent(options)
        .program("Target serve")
}

#[test]
fn file_of_running_recording_is_not_replaced() {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let options = "start,interval=5ms,flush=100ms,file=app.jfr";
    let jvm = with_agent_on(jdk, &test_dir, options)
        .may_warn("is being written by a running recording")
        .start_ready();
    let second = Jvm::new(jdk, &test_dir)
        .agent("start,file=app.jfr,overwrite")
        .program("Target burn 1 200")
        .may_warn("is being written by a running recording")
        .run_ok();
    let lines = second.agent_lines();
    assert!(
        lines.len() == 1 && lines[0].contains("is being written by a running recording"),
        "{lines:?}"
    );
    let dumped = jvm.agent_command("dump,file=app.jfr,overwrite");
    assert!(
        !dumped.stdout.contains("return code: 0"),
        "{}",
        dumped.stdout
    );
    jvm.wait_for_line("is being written by a running recording");
    jvm.end();
    let (_, samples) = test_dir.recording().reconcile();
    println!("{} samples", samples.len());
    assert!(!samples.is_empty());
}

#[test]
fn second_recording_after_stop_is_complete() {
    let test_dir = TestDir::new();
    let jvm = serving(&test_dir, "start,interval=5ms,file=first.jfr");
    jvm.agent_command_ok("stop");
    let second = test_dir.file("second.jfr");
    jvm.agent_command_ok(&format!("start,interval=5ms,file={}", second.display()));
    // CPU time passes in the server thread while these commands run.
    for _ in 0..3 {
        jvm.agent_command_ok("status");
    }
    jvm.end();
    let (totals, samples) = Recording::new(second).reconcile();
    println!("{} samples in the second recording", samples.len());
    assert!(!samples.is_empty());
    assert_eq!(totals["signals"], totals["written"], "{totals:?}");
}

#[test]
fn bad_command_is_one_line_and_recording_goes_on() {
    let test_dir = TestDir::new();
    let jvm = with_agent_on(Jdk::main(), &test_dir, "start,interval=5ms,file=app.jfr")
        .may_warn("'stopp' is unknown")
        .start_ready();
    let refused = jvm.agent_command("stopp");
    println!("{}", refused.stdout);
    let line = jvm.wait_for_line("did you mean 'stop'?");
    assert!(line.starts_with("ctxagent:"), "{line}");
    let end = jvm.end();
    assert_eq!(end.agent_lines().len(), 1, "{}", end.stderr);
    assert!(!test_dir.recording().samples().is_empty());
}

#[test]
fn return_code_names_kind_of_failure() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        // What is refused is an error in the log, too.
        let jvm = Jvm::new(jdk, &test_dir).may_warn("error: ").serve();
        for (options, code) in [
            ("interval=1", 1),
            ("stop", 2),
            ("status", 0),
            ("start,interval=5ms,file=app.jfr", 0),
            ("start,file=app.jfr", 0),
            ("start,file=other.jfr", 2),
            ("dump,file=no/such/directory/x.jfr", 2),
            ("stopp", 1),
            ("stop", 0),
        ] {
            assert_eq!(jvm.return_code(options), Some(code), "{options}");
        }
        jvm.end();
        let off = Jvm::new(jdk, &test_dir)
            .environment("CTXAGENT_OFF", "1")
            .program("Target serve");
        let off = off.start_ready();
        assert_eq!(off.return_code("start,file=off.jfr"), Some(4));
        off.end();
    }
}

/// The page's shell function: jcmd itself exits with 0 whatever the agent answers.
#[test]
fn documented_shell_function_fails_on_refusal() {
    let page = e2e::workspace::root().join("docs/user-guide/options.md");
    let page = fs::read_to_string(page).unwrap();
    let function = page.lines().find(|line| line.starts_with("ctxagent() {"));
    let agent = build::agent().display().to_string();
    let function = function.unwrap().replace("/path/libctxagent.so", &agent);
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir).may_warn("error: ").serve();
        let succeeds = |options: &str| {
            let script = format!("{function}\nctxagent {} {options}", jvm.pid());
            let mut shell = Command::new("bash");
            let jcmd = jdk.tool("jcmd");
            let path = format!("{}:/usr/bin:/bin", jcmd.parent().unwrap().display());
            let done = shell.arg("-c").arg(script).env("PATH", path).output();
            done.unwrap().status.success()
        };
        assert!(!succeeds("stop"));
        assert!(succeeds("start,interval=5ms,file=app.jfr"));
        assert!(!succeeds("interval=1"));
        assert!(succeeds("stop"));
        jvm.end();
        assert_eq!(test_dir.recordings().len(), 1);
    }
}

#[test]
fn agent_from_command_line_takes_commands() {
    let test_dir = TestDir::new();
    let jvm = serving(&test_dir, "start,interval=5ms,file=app.jfr");
    jvm.agent_command_ok("version");
    let line = jvm.wait_for_line("ctxagent 0.");
    println!("{line}");
    jvm.end();
}

#[test]
fn later_start_means_the_same_as_the_first() {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let jvm = Jvm::new(jdk, &test_dir)
        .environment("CTXAGENT_OPTS", "interval=2ms,flush=100ms,redact=kind:drop")
        .agent("start,ctx=kind,file=first.jfr")
        .program("WorkBeforeAttach")
        .start_ready();
    // A stop and a status have no use for the variable, and nothing at all is not a start.
    jvm.agent_command_ok("stop");
    jvm.agent_command_ok("");
    jvm.agent_command_ok("status");
    jvm.wait_for_line("state: idle");
    let second = Recording::new(test_dir.file("second.jfr"));
    let start = format!("start,ctx=shop.id,file={}", second.path().display());
    jvm.agent_command_ok(&start);
    jvm.agent_command_ok("status");
    println!("{}", jvm.wait_for_line("attributes: kind, shop.id"));
    jvm.wait_until("the second recording has samples", || {
        second.samples().len() > 50
    });
    jvm.end();

    for recording in [Recording::new(test_dir.file("first.jfr")), second] {
        // As a text of its own; the thread is called late-platform.
        let bytes = fs::read(recording.path()).unwrap();
        let plain = |value: &[u8]| bytes.windows(value.len()).any(|text| text == value);
        let samples = recording.samples();
        let open: Vec<_> = samples.iter().filter_map(|s| s.text("kind")).collect();
        assert!(
            open.is_empty() && !plain(b"\x08platform"),
            "{:?} of {} samples in {:?}",
            open.first(),
            samples.len(),
            recording.path()
        );
        let described = recording.events("ctxagent.ContextAttribute");
        let names: Vec<_> = described.iter().filter_map(|e| e.text("name")).collect();
        let is_second = recording.path().ends_with("second.jfr");
        assert!(names.contains(&"kind"), "{names:?}");
        assert_eq!(names.contains(&"shop.id"), is_second, "{names:?}");
    }
}

#[test]
fn recording_of_the_jdk_begins_and_ends_with_ours() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = with_agent_on(jdk, &test_dir, "start,jfrsync=default,file=first.jfr")
            .may_warn("option 'jfrsync': the JDK")
            .start_ready();
        let jdk_file = |name: &str| test_dir.file(name).display().to_string();
        let first = jdk_file("first.jdk.jfr");
        jvm.agent_command_ok("status");
        jvm.wait_for_line("jdk recording: default, first.jdk.jfr");
        jvm.agent_command_ok("stop");
        let counts = Recording::new(first.clone().into()).counts(jdk);
        assert!(counts["jdk.JVMInformation"] > 0, "{jdk}: {counts:?}");

        // A file that is there stays as it is; settings that are not there begin nothing.
        let before = fs::read(&first).unwrap();
        let start = format!("start,jfrsync=profile,file={}", jdk_file("first.jfr"));
        fs::remove_file(test_dir.file("first.jfr")).unwrap();
        jvm.agent_command_ok(&start);
        jvm.wait_for_line("option 'jfrsync': the JDK's recording ends: ");
        jvm.agent_command_ok("stop");
        assert_eq!(fs::read(&first).unwrap(), before, "{jdk}");
        jvm.agent_command("start,jfrsync=missing.jfc,file=second.jfr");
        jvm.wait_for_line("the JDK refuses 'missing.jfc': java.nio.file.NoSuchFileException");
        assert!(!test_dir.file("second.jfr").exists(), "{jdk}");

        // The JDK ends the last one by itself.
        jvm.agent_command_ok(&format!(
            "start,jfrsync=profile,file={}",
            jdk_file("last.jfr")
        ));
        jvm.end();
        let counts = Recording::new(test_dir.file("last.jdk.jfr")).counts(jdk);
        assert!(counts["jdk.JVMInformation"] > 0, "{jdk}: {counts:?}");
    }
}

#[test]
fn later_start_cannot_change_load_time_options() {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    let jvm = Jvm::new(jdk, &test_dir)
        .agent("start,ctx=kind,ctxvalue=100,file=first.jfr")
        .program("WorkBeforeAttach")
        .may_warn("error: option '")
        .start_ready();
    jvm.agent_command_ok("stop");
    let file = test_dir.file("second.jfr");
    for option in [
        "ctxcap=1000",
        "ctxvalue=101",
        "ctxblocks=1024",
        "vthreads=off",
        // Seven slots are left.
        "ctx=a+b+c+d+e+f+g+h",
        // Values are as long as the load says.
        &format!("filter=kind={}", "x".repeat(101)),
    ] {
        let refused = jvm.agent_command(&format!("start,file={},{option}", file.display()));
        assert!(!file.exists(), "{option}: {}", refused.stdout);
        let name = option.split('=').next().unwrap();
        println!("{}", jvm.wait_for_line(&format!("option '{name}'")));
    }
    jvm.agent_command_ok(&format!("start,ctxvalue=100,file={}", file.display()));
    jvm.agent_command_ok("status");
    jvm.wait_for_line("attributes: kind");
    jvm.end();
}

#[test]
fn every_command_takes_log_and_level() {
    retry_late_write(|| {
        let test_dir = TestDir::new();
        let jvm = with_agent(&test_dir, "start,interval=5ms,file=app.jfr").start_ready();
        let log = test_dir.file("agent.log");
        let log = || fs::read_to_string(&log).unwrap_or_default();
        jvm.agent_command_ok(&format!(
            "status,log={}",
            test_dir.file("agent.log").display()
        ));
        assert!(log().contains("state: recording"), "{}", log());
        // What is not said again stays.
        jvm.agent_command_ok("version,loglevel=info");
        assert!(log().contains("ctxagent 0."), "{}", log());
        jvm.agent_command_ok("status,log=stderr");
        jvm.wait_for_line("state: recording");
        let end = jvm.end();
        if end.late_write().is_some() {
            return None;
        }
        assert_contains!(end.stderr, "the JVM ends");
        Some(())
    });
}

#[test]
fn command_with_unwritable_log_is_refused() {
    let test_dir = TestDir::new();
    let jvm = with_agent(&test_dir, "start,interval=5ms,log=app.log,file=app.jfr")
        .may_warn("option 'log': file '/nonexistent/l' cannot be created")
        .stop_recording_at_end()
        .start_ready();
    for options in ["stop,log=/nonexistent/l", "status,log=/nonexistent/l"] {
        assert_eq!(jvm.return_code(options), Some(1));
    }
    // Where messages went before.
    let log = fs::read_to_string(test_dir.file("app.log")).unwrap();
    let refused: Vec<_> = log.lines().filter(|l| l.contains("'log'")).collect();
    assert_eq!(refused.len(), 2, "{log}");
    for line in &refused {
        assert_contains!(line, "/nonexistent/l");
        assert!(line.ends_with("; nothing was done"), "{line}");
    }
    assert_eq!(log.lines().count(), 3, "and the start's: {log}");
    // The recording goes on.
    assert_eq!(jvm.return_code("stop"), Some(0));
    let end = jvm.end();
    assert_eq!(end.agent_lines(), [""; 0]);
    let late = Jvm::new(Jdk::main(), &test_dir);
    let late = late.may_warn("error: option 'log'").serve();
    assert_eq!(late.return_code("start,log=/nonexistent/l"), Some(1));
    let end = late.end();
    assert_eq!(end.agent_lines().len(), 1, "{}", end.stderr);
}

#[test]
fn status_of_second_recording_is_its_own_and_balanced() {
    let test_dir = TestDir::new();
    let options = "event=cpu+wall,interval=2ms,wall=5ms,flush=100ms";
    let jvm = serving(&test_dir, &format!("start,{options},file=first.jfr"));
    let first = Recording::new(test_dir.file("first.jfr"));
    jvm.wait_until("the first recording has samples", || {
        first.samples().len() > 200
    });
    jvm.agent_command_ok("stop");
    let second = Recording::new(test_dir.file("second.jfr"));
    jvm.agent_command_ok(&format!("start,{options},file={}", second.path().display()));
    jvm.wait_until("the second recording has samples", || {
        second.samples().len() > 50
    });
    jvm.agent_command_ok("status");
    jvm.wait_for_line("written: ");
    let run = jvm.end();
    let of = |name: &str| -> u64 {
        let begin = format!("ctxagent: {name}: ");
        let told = run.lines_after(&begin).next();
        told.map_or(0, |value| value.parse().unwrap())
    };
    let lost = run
        .lines_after("ctxagent: lost.")
        .filter_map(|l| l.split_once(": "));
    let lost: u64 = lost.map(|(_, n)| n.parse::<u64>().unwrap()).sum();
    println!("{}", run.stderr);
    assert!(of("written") > 0 && of("wall.written") > 0);
    assert_eq!(of("signals"), of("written") + lost);
    assert_eq!(
        of("signals") + of("overruns"),
        of("written.weight") + of("weight.lost")
    );
    let ends = ["sent", "repeated", "pending", "gone", "missed"];
    let visits = ends.map(|end| of(&format!("wall.{end}")));
    assert_eq!(of("wall.scheduled"), visits.iter().sum::<u64>());
    assert_eq!(of("wall.signals"), of("wall.written") + of("wall.lost"));
    // No more than what the file has in the end.
    let (totals, _) = second.reconcile();
    assert!(of("signals") <= totals["signals"].cast_unsigned());
}

/// Threads of the agent that wait for the end of a timeout.
fn timeout_threads(pid: u32) -> usize {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    // The kernel keeps 15 bytes of a name.
    names
        .filter(|name| name.trim_end() == "ctxagent timeou")
        .count()
}

#[test]
fn timeout_leaves_complete_file() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir)
            .agent("start,interval=5ms,timeout=1s,file=first.jfr")
            .program("Target serve");
        let jvm = jvm.start_ready();
        println!(
            "{}",
            jvm.wait_for_line("timeout: stopped; recording is first.jfr")
        );
        let first = Recording::new(test_dir.file("first.jfr"));
        let length = fs::metadata(first.path()).unwrap().len();
        let (_, samples) = first.reconcile();
        assert!(!samples.is_empty());

        // One that is stopped before takes its thread with it, and cannot end the next one.
        jvm.agent_command_ok("start,duration=1h,file=second.jfr");
        jvm.agent_command_ok("status");
        jvm.wait_for_line("ends in: 3");
        jvm.agent_command_ok("stop");
        jvm.wait_until("no thread waits for the timeout", || {
            timeout_threads(jvm.pid()) == 0
        });
        jvm.agent_command_ok("start,file=third.jfr");
        let end = jvm.end();
        let ends = end.stderr.matches("timeout: stopped").count();
        assert_eq!(ends, 1, "{}", end.stderr);
        assert_eq!(fs::metadata(first.path()).unwrap().len(), length);
    }
}

#[test]
fn dump_without_file_writes_counters() {
    let test_dir = TestDir::new();
    let jvm = serving(&test_dir, "start,interval=5ms,flush=100ms,file=app.jfr");
    let recording = Recording::new(test_dir.file("app.jfr"));
    jvm.wait_until("there are samples", || recording.samples().len() > 20);
    jvm.agent_command_ok("dump");
    // Its only chunk has not ended, and never will.
    jvm.signal("KILL");
    jvm.finish();
    let (totals, samples) = recording.totals_and_samples();
    let samples = i64::try_from(samples.len()).unwrap();
    let written = totals["written"];
    assert!(20 < written && written <= samples, "{totals:?}");
    let lost = totals.iter().filter(|(name, _)| name.starts_with("lost."));
    assert_eq!(
        totals["signals"],
        written + lost.map(|(_, n)| n).sum::<i64>()
    );
}
