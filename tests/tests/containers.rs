//! `ctxjfr` on JVMs in containers, and on those of another user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use e2e::process::{ProcessOutput, run};
use e2e::tool::{FINDING, USAGE, assert_nothing_is_left, lent_library, plain};
use e2e::{Jdk, RunningJvm, TestDir, Tool, assert_contains, build, workspace};

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
            assert_contains!(status, &format!("NSpid:\t{pid}\t1\n"));
            assert_contains!(status, &format!("Uid:\t{USER}\t"));
            let file = test_dir.file("out.jfr");
            let output = tool
                .run(&["record", &pid, "-d", "1s", "-o", "out.jfr"])
                .success();
            println!("{jdk} {set_up}: {}", output.stdout);
            let lent = lent_library(&pid);
            assert!(lent.to_string_lossy().contains(place), "{}", lent.display());
            assert!(!test_dir.recording().samples().is_empty());
            assert_nothing_is_left(&pid);
            let status = tool.run(&["status", &pid]).success();
            assert_contains!(status.stdout, "state: idle");
            fs::remove_file(file).unwrap();
            jvm.end();
        }
    }
}

/// What a pod gives a container: a read-only root, a `/tmp` where nothing can be executed, no
/// capabilities and no way to get any, and the default filter of system calls.
fn like_a_pod(tmp_options: &str) -> String {
    let tmp = empty_tmp("/mnt", tmp_options);
    let filter = build::shim("pod_filter").display().to_string();
    format!(
        "mount --rbind / /mnt && mount -o remount,ro,bind /mnt && {tmp} && exec chroot /mnt \
         setpriv --no-new-privs --inh-caps=-all --bounding-set=-all env LD_PRELOAD={filter} \
         bash -c 'cd \"$0\" && exec \"$@\"' \"$PWD\" \"$0\" \"$@\""
    )
}

/// The value of the variable in `examples/containers/pod.yaml`.
fn options_of_the_pod() -> String {
    let pod = workspace::root().join("examples/containers/pod.yaml");
    let pod = fs::read_to_string(pod).unwrap();
    let mut lines = pod.lines();
    lines.find(|line| line.trim() == "- name: JDK_JAVA_OPTIONS");
    let value = lines
        .next()
        .and_then(|line| line.trim().strip_prefix("value: "));
    value.unwrap().to_owned()
}

/// `ctxjfr` in another container of the pod: it shares the processes, not the files.
fn beside(tool: &Tool, pid: &str, arguments: &[&str]) -> ProcessOutput {
    let script = "mount -t proc proc /proc && exec \"$0\" \"$@\"";
    let mut command = as_user();
    command.args(["nsenter", "--preserve-credentials", "-U", "-p", "-t", pid]);
    command.args(["unshare", "-m", "bash", "-c", script]);
    command.arg(&tool.program).args(arguments);
    run(command)
}

#[test]
fn pod_is_recorded_by_its_own_agent_and_from_a_debug_container() {
    if !can_make_containers() {
        return;
    }
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let tool = Tool::new(&test_dir);
        let start = |script: &str, options: &str| {
            plain(jdk, &test_dir)
                .environment("JDK_JAVA_OPTIONS", options)
                .launched_by(&AS_USER)
                .launched_by(&["unshare", "-Urpmf", "--mount-proc", "--kill-child"])
                .launched_by(&["bash", "-c", script])
                .serve()
        };
        let library = build::agent().display().to_string();
        let options = options_of_the_pod()
            .replace("/ctxagent/libctxagent.so", &library)
            .replace("/recordings/", "/tmp/");
        let jvm = start(&like_a_pod("-o noexec"), &options);
        let pid = contained_pid(&jvm);
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        for line in ["NoNewPrivs:\t1", "CapBnd:\t0000000000000000", "Seccomp:\t2"] {
            assert_contains!(status, line);
        }
        let shown = beside(&tool, &pid, &["top", "1", "-n", "1", "--by", "thread"]).success();
        assert!(shown.stdout.contains(" cores in "), "{jdk}: {shown:?}");
        jvm.end();

        let jvm = start(&like_a_pod(""), "-Dno.agent=true");
        let pid = contained_pid(&jvm);
        // Where the other user may write.
        let output = test_dir.file("output");
        fs::create_dir(&output).unwrap();
        fs::set_permissions(&output, fs::Permissions::from_mode(0o777)).unwrap();
        let file = output.join("out.jfr").display().to_string();
        let arguments = ["record", "1", "-d", "1s", "-o", &file];
        let shown = beside(&tool, &pid, &arguments).success();
        assert!(shown.stdout.contains("CPU time"), "{jdk}: {shown:?}");
        assert_nothing_is_left(&pid);
        jvm.end();
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
    assert_contains!(output.stderr, "run this as that user, or as root");
    jvm.end();
    let theirs = plain(Jdk::main(), &test_dir).launched_by(&AS_USER).serve();
    let pid = theirs.pid().to_string();
    // The user cannot write to the directory of the test.
    tool.run(&["start", &pid, "file=/tmp/%p.jfr"]).success();
    let output = tool.run(&["stop", &pid]).success();
    let file = format!("/tmp/{pid}.jfr");
    assert_contains!(output.stdout, &file);
    fs::remove_file(file).unwrap();
    assert_nothing_is_left(&pid);
    theirs.end();
}

/// By what container engines mount into each.
#[test]
fn jvm_is_found_by_the_id_of_its_container() {
    if !can_make_containers() {
        return;
    }
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let id = format!("{:064x}", u128::from(std::process::id()) << 96 | 0xcafe);
    let id = id.replace("00000", "c0de5");
    let place = test_dir.file(&format!("containers/{id}"));
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("hostname"), "").unwrap();
    let mount = format!(
        "mount --bind {}/hostname /etc/hostname && exec \"$0\" \"$@\"",
        place.display()
    );
    let start = || {
        plain(Jdk::main(), &test_dir)
            .launched_by(&AS_USER)
            .launched_by(&["unshare", "-Urpmf", "--mount-proc", "--kill-child"])
            .launched_by(&["bash", "-c", &mount])
            .serve()
    };
    let jvm = start();
    let listed = tool.run(&["ps", "--json"]).success().stdout;
    assert_contains!(listed, &format!("\"container\":\"{id}\""));
    let shown = tool.run(&["ps"]).success().stdout;
    assert_contains!(shown, &format!(" {} ", &id[..12]));
    let arguments = ["record", &id[..12], "-d", "1s", "-o", "out.jfr"];
    tool.run(&arguments).success();
    assert!(!test_dir.recording().samples().is_empty());
    let line = tool.refused(FINDING, &["start", &id[..3]]);
    assert_contains!(line, "no JVM has a main class with '");
    let other = start();
    let line = tool.refused(USAGE, &["start", &id]);
    for pid in [contained_pid(&jvm), contained_pid(&other)] {
        let named = format!("{pid} Target in {}", &id[..12]);
        assert_contains!(line, &named);
    }
    jvm.end();
    other.signal("KILL");
}

/// On a file system of 4 KiB.
#[test]
fn full_disk_at_the_output_is_said() {
    if !can_make_containers() {
        return;
    }
    let test_dir = TestDir::new();
    let tool = Tool::new(&test_dir);
    let jvm = plain(Jdk::main(), &test_dir).serve();
    let script = "mount -t tmpfs -o size=4k tmpfs /mnt && \"$0\" \"$@\"; \
        code=$?; ls -A /mnt; exit $code";
    let mut shell = Command::new("unshare");
    shell.args(["-m", "bash", "-c", script]).arg(&tool.program);
    let pid = jvm.pid().to_string();
    shell.args(["record", &pid, "-d", "1s", "-o", "/mnt/out.jfr"]);
    let output = run(shell);
    assert_eq!(output.code, FINDING, "{output:?}");
    assert_eq!(output.stdout, "", "something is left");
    assert!(
        output
            .stderr
            .contains("/mnt/out.jfr: cannot write: No space left"),
        "{}",
        output.stderr
    );
    assert_nothing_is_left(&pid);
    assert_eq!(jvm.end().stdout, "ready\nanswer 6765\n");
}
