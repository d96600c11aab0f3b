//! What an application tells of its attributes is in the recording, and its own filter also reaches
//! threads without a context.

use std::fs;
use std::time::Duration;

use e2e::{Jdk, Jvm, TestDir, record};

/// Context types are described as events are, once per
/// chunk.
#[test]
fn context_type_is_described() {
    let (_, recording) = record(Jdk::main(), "interval=2ms", "Described");
    let described = recording.events("ctxagent.ContextAttribute");
    let of = |name: &str| {
        described
            .iter()
            .rev()
            .find(|event| event.text("name") == Some(name))
            .unwrap()
    };
    let tenant = of("order.tenant");
    assert_eq!(tenant.text("label"), Some("Tenant"));
    assert_eq!(tenant.text("description"), Some("Who pays for the order"));
    assert_eq!(tenant.text("contextType"), Some("Described$Order"));
    assert_eq!(of("channel").text("contextType"), Some("Described$Order"));
}

/// What an application does before a recording may use the agent.
#[test]
fn provider_may_call_agent_during_start() {
    let run = Jvm::alone(Jdk::main())
        .agent("")
        .program("Registering")
        .limit(Duration::from_mins(1))
        .run_ok();
    let lines: Vec<_> = run.stdout.lines().collect();
    println!("{lines:?}");
    assert!(lines[0].starts_with("state: "), "{lines:?}");
    assert!(lines[1].starts_with("recording to "), "{lines:?}");
    assert!(lines[2].starts_with("stopped"), "{lines:?}");
}

/// As in an application server, where no thread of the VM's own has that loader as its context
/// loader.
#[test]
fn provider_in_own_loader_is_found_on_attach() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir)
            .program("Lifecycle providers")
            .start_ready();
        jvm.agent_command_ok(&format!(
            "start,file={}",
            test_dir.file("app.jfr").display()
        ));
        jvm.wait_for_line("registered");
        let run = jvm.end();
        assert_eq!(
            run.stdout.matches("registered").count(),
            1,
            "{}",
            run.stdout
        );
    }
}

/// The recording begins before the application's classes are there, so the provider runs at the
/// first use, whatever that is.
#[test]
fn first_set_of_context_type_runs_its_provider() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let services = test_dir.file("META-INF/services");
        fs::create_dir_all(&services).unwrap();
        let named = services.join("io.ctxagent.ContextRegistration");
        fs::write(named, "TypeFirst$Provider").unwrap();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,file=app.jfr")
            .class_path(test_dir.path())
            .program("TypeFirst")
            .run_ok();
        assert_eq!(run.stdout, "{tenant=acme}\n{}\n{}\n{}\n", "{}", run.stderr);
        let told = run
            .stderr
            .matches("TypeFirst$Forgotten is not registered")
            .count();
        assert_eq!(told, 1, "{}", run.stderr);
    }
}

/// A filter set by the application is tested in the handler, for threads that
/// never had a context too.
#[test]
fn application_filter_excludes_threads_without_context() {
    let (_, recording) = record(Jdk::main(), "interval=2ms", "Described filter");
    let samples = recording.samples();
    let with = samples
        .iter()
        .filter(|s| s.text("channel") == Some("web"))
        .count();
    let without = samples
        .iter()
        .filter(|s| s.thread() == Some("without"))
        .count();
    let totals = recording.totals();
    println!("{with} with, {without} without, {totals:?}");
    assert!(with > 5);
    assert_eq!(without, 0);
    assert!(totals["lost.filtered"] > 5);
}
