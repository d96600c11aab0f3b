//! Tests of name patterns.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

use super::*;

const VALUES: PatternValues = PatternValues {
    pid: 42,
    unix_secs: 1_795_228_275,
    number: 7,
};

fn expanded(text: &str) -> String {
    Pattern::parse(text)
        .unwrap()
        .expand(&VALUES)
        .into_os_string()
        .into_string()
        .unwrap()
}

#[test]
fn patterns_stand_for_process_time_and_number() {
    for (text, name) in [
        ("app.jfr", "app.jfr"),
        ("app-%p-%t.jfr", "app-42-20261121-023115.jfr"),
        ("%p/%n.jfr", "42/7.jfr"),
        ("a-%n{5}.jfr", "a-2.jfr"),
        ("a-%n{1}", "a-0"),
        ("100%%.jfr", "100%.jfr"),
        ("%%p", "%p"),
        ("ü%pü", "ü42ü"),
        ("%n}", "7}"),
    ] {
        assert_eq!(expanded(text), name);
    }
}

#[test]
fn other_patterns_are_refused() {
    for text in ["%", "a%", "%x", "%P", "% p", "%ü", "%-5p", "a%\u{202e}"] {
        assert!(
            matches!(Pattern::parse(text), Err(PatternError::Unknown(_))),
            "{text}"
        );
    }
    for text in [
        "%n{",
        "%n{}",
        "%n{0}",
        "%n{-1}",
        "%n{+1}",
        "%n{1000001}",
        "%n{99999999999}",
        "%n{5",
        "%n{a}",
        "%n{5 }",
    ] {
        assert!(
            matches!(Pattern::parse(text), Err(PatternError::Max(_))),
            "{text}"
        );
    }
    for text in ["%{", "%{}", "%{1A}", "%{A-B}", "%{A", "%{A B}"] {
        assert!(
            matches!(Pattern::parse(text), Err(PatternError::Variable(_))),
            "{text}"
        );
    }
    let unset = Pattern::parse("%{CTXAGENT_NO_SUCH_VARIABLE}.jfr").unwrap_err();
    assert_eq!(
        unset.to_string(),
        "the environment variable of '%{CTXAGENT_NO_SUCH_VARIABLE}' is not set"
    );
    assert_eq!(Pattern::parse(""), Err(PatternError::Empty));
    assert_eq!(Pattern::parse("a\nb"), Err(PatternError::Control));
    assert_eq!(Pattern::parse("a\0b"), Err(PatternError::Control));
    for text in ["/", "a/", "..", ".", "a/..", "a/."] {
        assert_eq!(Pattern::parse(text), Err(PatternError::Directory), "{text}");
    }
    assert!(Pattern::parse(&"x".repeat(4095)).is_ok());
    assert_eq!(
        Pattern::parse(&"x".repeat(4096)),
        Err(PatternError::TooLong)
    );
}

#[test]
fn expansions_contain_no_slash() {
    for unix_secs in [0, 951_782_400, 4_102_444_800, u64::from(u32::MAX) * 1000] {
        let values = PatternValues {
            pid: u32::MAX,
            unix_secs,
            number: u32::MAX,
        };
        let name = Pattern::parse("%p%t%n%n{3}%%").unwrap().expand(&values);
        assert!(!name.to_str().unwrap().contains('/'), "{}", name.display());
    }
}

#[test]
fn time_is_written_as_a_utc_date() {
    for (secs, text) in [
        (0, "19700101-000000"),
        (951_782_399, "20000228-235959"),
        (951_782_400, "20000229-000000"),
        (951_868_800, "20000301-000000"),
        (1_709_164_800, "20240229-000000"),
        (4_107_542_400, "21000301-000000"),
        (1_735_689_599, "20241231-235959"),
    ] {
        assert_eq!(utc(secs), text);
    }
}

#[test]
fn patterns_stand_for_host_and_environment() {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(expanded("a-%h.jfr"), format!("a-{}.jfr", host.trim()));
    // Cargo sets it for tests.
    assert_eq!(expanded("%{CARGO_PKG_NAME}-%p.jfr"), "ctxagent-42.jfr");
    assert!(!expanded("%{CARGO_MANIFEST_DIR}").contains('/'));
    for (text, name) in [("..", "_."), ("a/b\n", "a_b_"), ("", ""), (".x", "_x")] {
        assert_eq!(sanitize(text), name);
    }
}
