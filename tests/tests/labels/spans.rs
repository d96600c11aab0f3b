//! Trace and span ids on samples are those that the program prints or its tracer exports.

use std::collections::BTreeMap;

use e2e::build::java_agent;
use e2e::recording::Event;
use e2e::{Jdk, Jvm, ProcessOutput, Recording, env_number};
use serde_json::Value;

use super::{in_method, served_by};

/// A span of the program.
#[derive(Debug)]
struct Span {
    /// The end of its trace's id.
    trace: String,
    /// Which method works in it.
    name: String,
    /// The id of its thread.
    thread: i64,
}

/// Spans by their ids.
type Spans = BTreeMap<String, Span>;

/// What the program prints: id, trace, name, thread.
fn printed_spans(run: &ProcessOutput) -> Spans {
    let line = |line| {
        let mut words = str::split_whitespace(line).map(str::to_owned);
        let id = words.next()?;
        let (trace, name) = (words.next()?, words.next()?);
        let thread = words.next()?.parse().ok()?;
        Some((
            id,
            Span {
                trace,
                name,
                thread,
            },
        ))
    };
    run.lines_after("span ").filter_map(line).collect()
}

/// The text between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    Some(text.split_once(before)?.1.split_once(after)?.0)
}

/// The attributes of a span have another order in each JVM.
fn thread_of(line: &str) -> Option<i64> {
    let (_, rest) = line.split_once("thread.id=")?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    rest[..end].parse().ok()
}

/// What OpenTelemetry's agent exports, like `- 'even' : TRACE SPAN INTERNAL [...] thread.id=27}`.
fn opentelemetry_spans(run: &ProcessOutput) -> Spans {
    let line = |line: &str| {
        let mut ids = between(line, "' : ", " INTERNAL")?.split(' ');
        let span = Span {
            trace: ids.next()?.to_owned(),
            name: between(line, "- '", "' : ")?.to_owned(),
            thread: thread_of(line)?,
        };
        Some((ids.next()?.to_owned(), span))
    };
    run.stderr.lines().filter_map(line).collect()
}

/// What Datadog's agent exports, as JSON. Its ids are decimal numbers, of a trace the lower half.
fn datadog_spans(run: &ProcessOutput) -> Spans {
    let hex = |id: &Value| Some(format!("{:016x}", id.as_u64()?));
    let span = |span: &Value| {
        let known = Span {
            trace: hex(&span["trace_id"])?,
            name: span["resource"].as_str()?.to_owned(),
            thread: span["metrics"]["thread.id"].as_i64()?,
        };
        Some((hex(&span["span_id"])?, known))
    };
    let traces = run
        .stderr
        .lines()
        .filter_map(|line| line.split_once("write(trace): "));
    let traces = traces.map(|(_, json)| serde_json::from_str::<Vec<Value>>(json).unwrap());
    traces.flatten().filter_map(|json| span(&json)).collect()
}

/// How many the service answers.
fn requests() -> u64 {
    env_number("LABEL_REQUESTS").unwrap_or(200)
}

/// Spans lie ten deep in one another.
#[test]
fn samples_have_the_innermost_span_of_opentelemetry() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let program = format!("TracedService {} {kind}", requests());
        let jvm = Jvm::alone(jdk).services();
        let (run, recording) = served_by(jdk, jvm, "labels=otel,propagate=all", &program);
        assert_spans(&recording, &printed_spans(&run));
    }
}

#[test]
fn samples_have_the_innermost_span_of_the_agent_of_opentelemetry() {
    let flags = [
        "traces.exporter=logging",
        "metrics.exporter=none",
        // More than the spans of the program, which it drops otherwise.
        "bsp.max.queue.size=200000",
    ];
    let flags = flags.map(|flag| format!("-Dotel.{flag}"));
    assert_spans_beside("opentelemetry-javaagent", &flags, opentelemetry_spans);
}

#[test]
fn samples_have_the_innermost_span_of_the_agent_of_datadog() {
    let flags = [
        "trace.otel.enabled=true",
        "writer.type=LoggingWriter",
        "instrumentation.telemetry.enabled=false",
    ];
    let flags = flags.map(|flag| format!("-Ddd.{flag}"));
    assert_spans_beside("dd-java-agent", &flags, datadog_spans);
}

/// The spans are those that a Java agent creates and exports.
fn assert_spans_beside(agent: &str, flags: &[String], exported: fn(&ProcessOutput) -> Spans) {
    let jdk = Jdk::main();
    let jvm = Jvm::alone(jdk).services();
    let jvm = jvm.flag(&format!("-javaagent:{}", java_agent(agent).display()));
    let jvm = flags.iter().fold(jvm, |jvm, flag| jvm.flag(flag));
    let program = format!("TracedService {} virtual agent", requests());
    let (run, recording) = served_by(jdk, jvm, "labels=otel", &program);
    assert_spans(&recording, &exported(&run));
}

/// Fails unless each sample of a method that works in a span has the ids of one of its thread, at
/// least 98 % of all samples of requests have, and none has others.
fn assert_spans(recording: &Recording, spans: &Spans) {
    let samples = recording.samples();
    let name_of = |sample: &Event| {
        let ids = (sample.text("span_id"), sample.text("trace_id"));
        let (Some(id), Some(trace)) = ids else {
            assert_eq!(ids, (None, None));
            return None;
        };
        let span = &spans[id];
        let thread = sample.values["sampledThread"]["javaThreadId"].as_i64();
        assert!(
            trace.ends_with(&span.trace) && thread == Some(span.thread),
            "{span:?}: {sample:?}"
        );
        Some(&*span.name)
    };
    for (method, name) in [
        ("workInEven", Some("even")),
        ("workInOdd", Some("odd")),
        ("workInNone", None),
    ] {
        let found = in_method(&samples, &format!("service.TracedService.{method}"));
        assert!(found.len() >= 20, "{method}: {}", found.len());
        for sample in found {
            assert_eq!(name_of(sample), name, "{sample:?}");
        }
    }
    // Also where they create and end spans within their first one.
    let requests = in_method(&samples, "service.TracedService.inEven");
    let without = requests.iter().filter(|sample| name_of(sample).is_none());
    let (without, all) = (without.count(), requests.len());
    println!("{all} samples of requests, {without} without a span");
    assert!(without * 50 <= all, "{without} of {all}");
}
