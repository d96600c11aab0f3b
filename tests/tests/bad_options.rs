//! Promise P2: failing to start is never fatal. One line on stderr, and the application runs as if
//! the agent were not there.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::OnceLock;

use e2e::{Jdk, Jvm, ProcessOutput, TestDir};

/// The application without the agent: it says the same each time.
fn plain() -> &'static ProcessOutput {
    static PLAIN: OnceLock<ProcessOutput> = OnceLock::new();
    PLAIN.get_or_init(|| {
        Jvm::new(Jdk::main(), &TestDir::new())
            .program("Target exit return")
            .run_ok()
    })
}

/// Runs with these options; checks that the application did not notice and that there is exactly
/// one line, which holds `expected`.
fn refused(options: &str, expected: &[&str]) {
    let test_dir = TestDir::new();
    let run = Jvm::brief(&test_dir, options).run_ok();
    check(&run, plain(), options, expected);
    assert!(test_dir.recordings().is_empty(), "{options:?} recorded");
}

fn check(run: &ProcessOutput, plain: &ProcessOutput, options: &str, expected: &[&str]) {
    assert_eq!(run.stdout, plain.stdout, "{options:?} changed the output");
    let lines = run.agent_lines();
    assert_eq!(
        lines.len(),
        1,
        "{options:?}: one line expected\n{}",
        run.stderr
    );
    assert_eq!(
        run.stderr.lines().count(),
        plain.stderr.lines().count() + 1,
        "{options:?}: {}",
        run.stderr
    );
    for text in expected {
        assert!(
            lines[0].contains(text),
            "{options:?}: '{}' does not tell '{text}'",
            lines[0]
        );
    }
    println!(
        "{:60} -> {}",
        options
            .escape_debug()
            .to_string()
            .chars()
            .take(60)
            .collect::<String>(),
        lines[0]
    );
}

#[test]
fn kill_switch_wins_over_options() {
    let test_dir = TestDir::new();
    let plain = plain();
    let options = "start,loglevel=warn,file=app.jfr";
    let jvm = || Jvm::brief(&test_dir, options);
    let off = jvm().environment("CTXAGENT_OFF", "1").run_ok();
    check(&off, plain, options, &["switched off by CTXAGENT_OFF"]);
    assert!(test_dir.recordings().is_empty(), "it recorded");
    let on = jvm()
        .stop_recording_at_end()
        .environment("CTXAGENT_OFF", "");
    let on = on.run_ok();
    assert_eq!(on.stderr, plain.stderr);
    assert_eq!(test_dir.recordings().len(), 1);
}

macro_rules! refused {
    ($($name:ident: $options:expr => $($text:literal),+;)+) => {
        $(#[test]
        fn $name() {
            refused(&$options, &[$($text),+]);
        })+
    };
}

refused! {
    an_unknown_option_names_the_nearest: "start,intervall=10ms" => "'intervall' is unknown",
        "did you mean 'interval'?";
    a_reserved_attribute: "start,ctx=stackTrace" => "'stackTrace' is a field of the sample event";
    a_missing_folder: "start,file=no/such/directory/app.jfr" => "no/such/directory/app.jfr",
        "directory cannot be opened";
    a_folder_as_file: "start,file=/" => "directory";
    a_device_as_file: "start,file=/proc/app.jfr" => "/proc/app.jfr", "cannot be created";
    more_than_sixty_four_kibibytes: format!("start,file={}", "x".repeat(70_000)) =>
        "at most 65536 are allowed";
}

#[test]
fn a_bad_variable_is_named() {
    let test_dir = TestDir::new();
    let plain = plain();
    let run = Jvm::brief(&test_dir, "start")
        .environment("CTXAGENT_OPTS", "intervall=10ms")
        .run_ok();
    check(
        &run,
        plain,
        "CTXAGENT_OPTS=intervall=10ms",
        &["in CTXAGENT_OPTS", "did you mean 'interval'?"],
    );
}

#[test]
fn a_symbolic_link_is_not_followed() {
    let test_dir = TestDir::new();
    let plain = plain();
    let target = test_dir.file("precious");
    fs::write(&target, b"FLR\0precious").unwrap();
    symlink(&target, test_dir.file("app.jfr")).unwrap();
    let run = Jvm::brief(&test_dir, "start,file=app.jfr").run();
    check(
        &run.success(),
        plain,
        "file=app.jfr, a link",
        &["app.jfr", "symbolic link"],
    );
    assert_eq!(fs::read(&target).unwrap(), b"FLR\0precious");
}

#[test]
fn a_foreign_file_is_not_overwritten() {
    let test_dir = TestDir::new();
    let plain = plain();
    let file = test_dir.file("app.doc");
    fs::write(&file, b"a novel").unwrap();
    let run = Jvm::brief(&test_dir, "start,file=app.doc").run();
    check(
        &run.success(),
        plain,
        "file=app.doc, a novel",
        &["app.doc", "not a JFR recording"],
    );
    assert_eq!(fs::read(&file).unwrap(), b"a novel");
}

#[test]
fn only_strict_stops_the_jvm() {
    let test_dir = TestDir::new();
    let run = Jvm::brief(&test_dir, "start,intervall=1,strict=true").run();
    assert_ne!(run.code, Some(0), "{}", run.stdout);
    assert!(!run.stdout.contains("answer"), "{}", run.stdout);
    assert_eq!(run.agent_lines().len(), 1, "{}", run.stderr);
}

#[test]
fn strict_stops_the_jvm_for_late_errors_too() {
    for jdk in Jdk::all() {
        for options in [
            "file=no/such/directory/app.jfr",
            "signal=64,filter=a=b,ctx=c+d+e+f+g+h+i+j",
        ] {
            let jvm = |strict: bool| {
                Jvm::alone(jdk)
                    .agent(&format!("start,strict={strict},{options}"))
                    .program("Target exit return")
                    .may_warn("; the JVM ")
                    .run()
            };
            let run = jvm(true);
            let lines = run.agent_lines();
            println!("{lines:?}");
            assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{lines:?}");
            assert!(
                lines.len() == 1 && lines[0].ends_with("; the JVM ends (strict=true)"),
                "{lines:?}"
            );
            let goes_on = jvm(false).success();
            let lines = goes_on.agent_lines();
            assert!(
                lines.len() == 1 && lines[0].ends_with("; the JVM runs without recording"),
                "{lines:?}"
            );
        }
    }
}
