//! Tests of values by their kind.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

use crate::options::testing::{error, ok};
use crate::options::*;
use std::time::Duration;

#[test]
fn times_have_units_and_bare_numbers_mean_the_same_as_in_async_profiler() {
    for (text, nanos) in [
        ("1000000", 1_000_000),
        ("1000000ns", 1_000_000),
        ("1000us", 1_000_000),
        ("1ms", 1_000_000),
        ("1s", 1_000_000_000),
        ("007ms", 7_000_000),
    ] {
        assert_eq!(
            ok(&format!("interval={text}")).interval,
            Duration::from_nanos(nanos),
            "{text}"
        );
    }
    assert_eq!(
        ok("loop=5,file=a-%t").loop_time,
        Some(Duration::from_secs(5))
    );
    assert_eq!(
        ok("loop=1d,file=a-%n{3}").loop_time,
        Some(Duration::from_hours(24))
    );
    assert_eq!(ok("chunktime=1h").chunk_time, Duration::from_hours(1));
    assert_eq!(ok("flush=2").flush, Duration::from_secs(2));
    assert_eq!(ok("chunksize=1048576").chunk_size_bytes, 1 << 20);
    assert_eq!(ok("chunksize=2048k").chunk_size_bytes, 2 << 20);
    assert_eq!(ok("chunksize=1g").chunk_size_bytes, 1 << 30);
}

#[test]
fn other_texts_than_whole_numbers_are_refused() {
    for value in [
        "-1",
        "-10ms",
        "+10ms",
        "10.5ms",
        "1e3",
        "0x10",
        "10 ms",
        " 10ms",
        "ms",
        "10mss",
        "10MS",
        "1_000",
        "٣ms",
        "10ms10ms",
        "18446744073709551616",
        "18446744073709551615s",
        "99999999999999999999999999999999999999",
        "NaN",
        "inf",
    ] {
        assert!(
            error(&format!("interval={value}")).contains("allowed: 1ms to 1s"),
            "{value}"
        );
        assert!(
            error(&format!("jstackdepth={value}")).contains("allowed: 1 to 2048"),
            "{value}"
        );
    }
    assert!(error("ctxblocks=65537").contains("powers of two"));
}

#[test]
fn words_of_async_profiler_keep_their_meaning() {
    let o = ok("start,jfr,event=itimer,alloc,lock,wall,timeout=90");
    assert_eq!((o.cpu, o.cpu_synonym), (true, Some("itimer")));
    assert_eq!(o.timeout, Some(Duration::from_secs(90)));
    let joined = ok("event=wall+alloc+lock");
    assert_eq!((o.wall, o.alloc_bytes), (joined.wall, joined.alloc_bytes));
    assert_eq!(o.lock, joined.lock);
    assert_eq!(
        ok("event=ctimer+cpu+wall").events_text(),
        "cpu every 10ms (ctimer means cpu here), wall every 50ms"
    );
    assert_eq!(ok("jfr").command, Command::Start);
    assert_eq!(ok("dump,jfr").command, Command::Dump);
    for (text, time) in [
        ("timeout=60s", 60),
        ("duration=60", 60),
        ("timeout=5m", 300),
        ("duration=2h", 7200),
        ("timeout=7d", 604_800),
    ] {
        assert_eq!(ok(text).timeout, Some(Duration::from_secs(time)), "{text}");
    }
    for (word, level) in [
        ("none", LogLevel::Off),
        ("quiet", LogLevel::Off),
        ("warning", LogLevel::Warn),
        ("trace", LogLevel::Debug),
    ] {
        assert_eq!(ok(&format!("loglevel={word}")).log_level, level);
    }
}

#[test]
fn attribute_names_are_checked_one_by_one() {
    assert_eq!(ok("ctx=a+b+c+d+e+f+g+h").attributes.len(), 8);
    for (value, problem) in [
        (
            "a+b+c+d+e+f+g+h+i",
            "at most 8 names are allowed, 'i' is one too many",
        ),
        ("a+a", "name 'a' is there twice"),
        ("a++b", "name '' is empty"),
        ("a+", "name '' is empty"),
        ("1a", "must be letters"),
        ("_a", "must be letters"),
        ("a b", "must be letters"),
        ("naïve", "must be letters"),
        ("a/b", "must be letters"),
        ("stackTrace", "is a field of the sample event"),
        ("contextId", "is a field of the sample event"),
    ] {
        assert!(
            error(&format!("ctx={value}")).contains(problem),
            "{}",
            error(&format!("ctx={value}"))
        );
    }
    assert_eq!(check_attribute_name(&"n".repeat(63)), Ok(()));
    assert_eq!(
        check_attribute_name(&"n".repeat(64)),
        Err(NameProblem::TooLong)
    );
    for good in ["http.route", "trace_id", "x_", "X-Request-Id", "a1"] {
        assert_eq!(check_attribute_name(good), Ok(()), "{good}");
    }
}

#[test]
fn signals_have_names_or_numbers() {
    assert_eq!(ok("signal=prof").signal.number(), 27);
    assert_eq!(ok("signal=vtalrm").signal.number(), 26);
    assert_eq!(ok("signal=27").signal, Signal::Prof);
    assert_eq!(ok("signal=34").signal.number(), 34);
    assert!(error("signal=kill").contains("allowed: prof, vtalrm, 34 to 64"));
    assert!(error("signal=9").contains("allowed"));
}

#[test]
fn file_patterns_are_checked_at_once() {
    assert!(error("file=app-%q.jfr").contains("'%q' is no pattern"));
    assert!(
        error("file=%{NO_SUCH_VARIABLE_HERE}.jfr")
            .contains("'%{NO_SUCH_VARIABLE_HERE}' is not set")
    );
    assert!(error("file=out/").contains("directory"));
    assert!(error("log=agent-%n.log").contains("%n is for 'file' only"));
    assert_eq!(ok("file=a=b.jfr").file.unwrap().text(), "a=b.jfr");
}
