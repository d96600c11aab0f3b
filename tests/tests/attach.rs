//! An agent that is loaded into a running JVM: `jcmd PID JVMTI.agent_load LIB "options"`.

use std::fs;

use e2e::{Jdk, Jvm, Recording, TestDir, assert_contains};

#[test]
fn start_dump_status_and_stop_by_attach() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir);
        let jvm = jvm.may_warn("is running; stop it first").serve();

        let stacks = if jdk.version == 17 {
            ",cstack=asgct"
        } else {
            ""
        };
        let file = test_dir.file("app.jfr");
        let started = jvm.agent_command(&format!(
            "start,interval=5ms,flush=100ms,file={}{stacks}",
            file.display()
        ));
        println!("{}", started.stdout);
        assert_contains!(started.stdout, "return code: 0");

        jvm.agent_command_ok("status");
        println!("{}", jvm.wait_for_line("app.jfr"));

        let dumped = test_dir.file("dumped.jfr");
        jvm.agent_command_ok(&format!("dump,file={}", dumped.display()));
        let before = Recording::new(dumped).samples().len();

        let again = jvm.agent_command("start,file=other.jfr");
        assert!(
            !test_dir.file("other.jfr").exists(),
            "a second start was not refused: {}",
            again.stdout
        );
        jvm.wait_for_line("is running; stop it first");

        jvm.agent_command_ok("stop");
        let recording = Recording::new(file);
        let length = fs::metadata(recording.path()).unwrap().len();
        let samples = recording.samples().len();
        println!("{jdk}: {before} samples dumped, {samples} at stop");
        assert!(before > 0 && samples >= before, "{before} {samples}");

        jvm.agent_command_ok("status");
        let end = jvm.end();
        assert_contains!(end.stdout, "answer 6765");
        assert_eq!(
            fs::metadata(recording.path()).unwrap().len(),
            length,
            "nothing is written after stop"
        );
    }
}

/// What the page says of the warning.
#[test]
fn jvm_warns_of_dynamic_loading_only_on_first_load() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let usual = "-XX:+EnableDynamicAgentLoading";
        let jvm = Jvm::new(jdk, &test_dir)
            .agent("start,file=app.jfr")
            .program("Target serve")
            .without_flag(usual)
            .start_ready();
        jvm.agent_command_ok("status");
        let there = jvm.end();
        assert_eq!(there.stderr.matches("loaded dynamically").count(), 0);
        let late = Jvm::new(jdk, &test_dir)
            .without_flag(usual)
            .program("Target serve");
        let late = late.start_ready();
        late.agent_command_ok("start,file=late.jfr");
        late.agent_command_ok("status");
        let late = late.end();
        let warnings = late.stderr.matches("loaded dynamically").count();
        assert_eq!(warnings, usize::from(jdk.version >= 21), "{}", late.stderr);
    }
}

#[test]
fn contexts_opened_before_attach_are_recorded() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir)
            .program("WorkBeforeAttach")
            .start_ready();
        let file = test_dir.file("app.jfr");
        let stacks = if jdk.version == 17 {
            ",cstack=asgct"
        } else {
            ""
        };
        let start = format!(
            "start,interval=2ms,flush=100ms,file={}{stacks}",
            file.display()
        );
        jvm.agent_command_ok(&start);
        let recording = Recording::new(file);
        let count = |kind: &str| {
            let samples = recording.samples();
            samples
                .iter()
                .filter(|sample| sample.text("kind") == Some(kind))
                .count()
        };
        jvm.wait_until("samples of the platform thread carry its context", || {
            count("platform") > 50
        });
        if jdk.has_virtual_threads() {
            jvm.wait_until("samples of the virtual thread carry its context", || {
                count("virtual") > 50
            });
        }
        jvm.agent_command_ok("status");
        jvm.wait_for_line("java api: builders made before the agent was loaded have no effect");
        let end = jvm.end();
        assert_eq!(count("early"), 0);
        assert!(recording.totals()["api.made_before_agent"] > 50);
        let check = recording.ctxjfr(&["check", "FILE"]);
        assert!(
            check
                .stdout
                .contains(" scopes are not recorded: their builders were made before"),
            "{}",
            check.stdout
        );
        println!(
            "{jdk}: {} platform, {} virtual\n{}",
            count("platform"),
            count("virtual"),
            end.stderr
        );
    }
}

#[test]
fn builder_made_before_attach_is_reported_where_nothing_else_uses_the_api() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir)
            .program("WorkBeforeAttach alone")
            .start_ready();
        let dumped = test_dir.file("dumped.jfr");
        let dump = format!("dump,overwrite,file={}", dumped.display());
        let file = test_dir.file("app.jfr");
        jvm.agent_command_ok(&format!("start,file={}", file.display()));
        jvm.wait_until("scopes of the builder are counted", || {
            jvm.agent_command_ok(&dump);
            let totals = Recording::new(dumped.clone()).totals();
            totals.get("api.made_before_agent") > Some(&0)
        });
        jvm.agent_command_ok("status");
        jvm.wait_for_line("java api: builders made before the agent was loaded have no effect");
        jvm.end();
    }
}

#[test]
fn api_copy_first_used_during_attach_works() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let services = test_dir.file("META-INF/services");
        fs::create_dir_all(&services).unwrap();
        fs::write(
            services.join("io.ctxagent.ContextRegistration"),
            "LateCopy$Provider",
        )
        .unwrap();
        let jvm = Jvm::new(jdk, &test_dir)
            .flag(&format!("-Xbootclasspath/a:{}", test_dir.path().display()))
            .program("LateCopy")
            .start_ready();
        jvm.agent_command_ok(&format!(
            "start,file={}",
            test_dir.file("app.jfr").display()
        ));
        let end = jvm.end();
        assert!(
            end.stdout.contains("the copy: {late=v}\n"),
            "{jdk}: {}{}",
            end.stdout,
            end.stderr
        );
    }
}
