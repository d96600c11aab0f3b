//! What an application that observes itself gets (`io.ctxagent.observe`).

use e2e::recording::weights_by;
use e2e::workspace::root;
use e2e::{Jdk, Jvm, build, record};
use std::collections::BTreeSet;
use std::fs;

/// What the recording says of the labelled CPU time lies where the sum of the costs does.
#[test]
fn costs_of_requests_add_up_to_the_labelled_cpu_time() {
    const INTERVAL: f64 = 1e7;
    for jdk in Jdk::all() {
        let (run, recording) = record(jdk, "interval=10ms,ctx=kind", "Costs 1000");
        let weights = weights_by(&recording.samples(), "kind");
        let (metrics, costs): (Vec<_>, Vec<_>) = run
            .stdout
            .lines()
            .partition(|line| line.starts_with("ctxagent_label"));
        let told = |(kind, weight): (&Option<String>, &i64)| {
            let labels = format!("attribute=\"kind\",value=\"{}\"", kind.as_ref()?);
            let (seconds, rest) = (weight / 100, weight % 100);
            let name = "ctxagent_label_cpu_seconds_total";
            Some(format!("{name}{{{labels}}} {seconds}.{rest:02}0000000"))
        };
        let expected: BTreeSet<_> = weights.iter().filter_map(told).collect();
        assert_eq!(expected, metrics.into_iter().map(str::to_owned).collect());
        for line in costs {
            let words: Vec<&str> = line.split(' ').collect();
            let nanos = |word: &str| word.parse::<f64>().unwrap();
            let (cpu, min, max) = (nanos(words[1]), nanos(words[2]), nanos(words[3]));
            let weight = weights[&Some(words[0].to_owned())];
            let sampled = f64::from(u32::try_from(weight).unwrap()) * INTERVAL;
            println!("{jdk} {line}: {sampled} by samples");
            // A request between two others, and its begin and end, cost something as well.
            let chance = if words[0] == "platform" {
                assert_eq!((cpu, cpu), (min, max), "{jdk}");
                4.0 * (sampled / INTERVAL).sqrt() * INTERVAL
            } else {
                assert!(min < cpu && cpu < max, "{jdk}: {line}");
                3.0 * INTERVAL
            };
            let tolerance = 0.02 * sampled + chance;
            assert!(
                (cpu - sampled).abs() < tolerance,
                "{jdk}: {line}: {sampled}"
            );
        }
    }
}

#[test]
fn requests_have_route_status_and_labels_and_marks_are_recorded() {
    for jdk in Jdk::all() {
        let (run, recording) = Jvm::alone(jdk).agent("").program("Observes").record();
        let lines: Vec<&str> = run.stdout.lines().collect();
        let expected = [
            "sampled: true",
            // The copy of the API that the labels are written with is not the application's.
            "context within: {operation=GET /orders}",
            "milestones in order: true",
            "GET /orders: GET /orders 200 {operation=GET /orders}",
            "GET /orders: GET /orders 404 {operation=GET /orders}",
        ];
        assert_eq!(lines, expected, "{jdk}: {}", run.stderr);
        let marks = recording.events("ctxagent.Mark");
        let names: Vec<_> = marks.iter().map(|mark| mark.text("name")).collect();
        assert_eq!(names, [Some("served"), Some("serving")], "{jdk}");
        assert!(marks.iter().all(|m| m.text("tenant") == Some("acme")));
        let totals = recording.totals();
        assert_eq!(totals["marks.seen"], 2);
    }
}

/// Those that the application opens are inside of them.
#[test]
fn scopes_of_labels_are_entries_like_those_of_the_application() {
    for jdk in Jdk::all() {
        let run = Jvm::alone(jdk).agent("").program("ObservesLabels").run_ok();
        let mut expected = Vec::new();
        let of_threads = |threads: &str, costs: &str| {
            [
                format!("{threads}: operation {{operation=GET /orders}}"),
                format!("{threads}: operation {{operation=GET /orders}}"),
                format!("{threads}: tenant {{operation=GET /orders, tenant=acme}}"),
                format!("{threads}: true sampled, {costs}"),
            ]
        };
        expected.extend(of_threads("platform", "CPU true, bytes true"));
        if jdk.has_virtual_threads() {
            expected.extend(of_threads("virtual", "-1 bytes"));
        }
        expected.push("disconnected: []".to_owned());
        let lines: Vec<&str> = run.stdout.lines().collect();
        assert_eq!(lines, expected, "{jdk}: {}", run.stderr);
    }
}

/// A line of the page's table is a method of the example, which prints what its page shows.
#[test]
fn each_part_of_perf_hooks_has_an_example() {
    let page = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let table = page("docs/user-guide/observing.md");
    let rows = table.lines().filter(|line| line.starts_with("| "));
    let examples = rows.filter_map(|row| row.strip_suffix("` |")?.rsplit('`').next());
    let examples: Vec<&str> = examples.collect();
    assert!(examples.len() > 15, "{examples:?}");
    let shown = page("examples/perf-hooks/README.md");
    let (_, shown) = shown.split_once("prints\n\n```\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let names = shown.lines().filter_map(|line| line.split(':').next());
    assert_eq!(names.collect::<Vec<_>>(), examples);
    let classes = build::example("perf-hooks");
    for jdk in Jdk::all() {
        let run = Jvm::alone(jdk)
            .agent("start,file=app.jfr")
            .class_path(&classes)
            .program("PerfHooks")
            .run_ok();
        assert_eq!(run.stdout, shown, "{jdk}: {}", run.stderr);
    }
}

/// Each way to connect and to look up a name, and what there is before, beside and after that.
#[test]
fn connects_and_look_ups_are_told() {
    for jdk in Jdk::all() {
        let run = Jvm::alone(jdk)
            .agent("")
            .flag("--add-opens=java.base/jdk.internal.javac=ALL-UNNAMED")
            .program("ObservesNetwork")
            .run_ok();
        let mut expected = vec![
            "before: false ".to_owned(),
            "with callback: 1".to_owned(),
            "observed: true entries net: on (classes with hooks: 3); entries dns: on (classes with \
             hooks: 1); "
                .to_owned(),
        ];
        expected.extend(connects());
        expected.extend(failed_connects());
        expected.extend(later_connects());
        if jdk.has_virtual_threads() {
            let of_virtual = [
                connected("socket"),
                refused("channel refused"),
                connected("later"),
                refused("later refused"),
            ];
            let lines = of_virtual.concat().into_iter().map(|line| {
                let is_entry = line.starts_with("NET");
                let line = line.replace("acme", "virtual");
                if is_entry {
                    line
                } else {
                    format!("virtual {line}")
                }
            });
            expected.extend(lines);
        }
        expected.extend(look_ups());
        expected.extend([connected("faults"), connected("faults of channel")].concat());
        expected.push("disconnected: []".to_owned());
        let lines: Vec<&str> = run.stdout.lines().collect();
        assert_eq!(lines, expected, "{jdk}: {}", run.stderr);
    }
}

/// What a step prints that has one entry: of a connect to `to`, which ends with `failure`.
fn connect(step: &str, to: &str, failure: &str) -> Vec<String> {
    let host = to.split(':').next().unwrap();
    let address = to.replace("shop.test", "127.0.0.1");
    vec![
        format!("{step}: 1"),
        format!("NET {to} {host}/{address} {failure} {{tenant=acme}}"),
    ]
}

fn connected(step: &str) -> Vec<String> {
    connect(step, "shop.test:OPEN", "null")
}

/// The thread that connects gets the exception that the entry has.
fn failed(step: &str, to: &str, failure: &str) -> Vec<String> {
    let thrown = failure.rsplit('.').next().unwrap();
    let mut lines = vec![format!("{step} failed: {thrown}")];
    lines.extend(connect(step, to, failure));
    lines
}

fn refused(step: &str) -> Vec<String> {
    failed(step, "shop.test:SHUT", "java.net.ConnectException")
}

fn unreachable(step: &str) -> Vec<String> {
    failed(step, "224.0.0.1:9", "java.net.SocketException")
}

fn connects() -> Vec<String> {
    let unix = "NET socket socket/null:0 null {tenant=acme}".to_owned();
    [
        connected("socket"),
        refused("refused"),
        connected("channel"),
        refused("channel refused"),
        connected("adaptor"),
        connected("selector"),
        // Another thread gets the exception.
        refused("selector refused").split_off(1),
        vec!["unix: 1".to_owned(), unix],
    ]
    .concat()
}

fn failed_connects() -> Vec<String> {
    const BUSY: &str = "shop.test:BUSY";
    const CLOSED: &str = "java.nio.channels.AsynchronousCloseException";
    let interrupted = "java.nio.channels.ClosedByInterruptException";
    [
        unreachable("unreachable"),
        connect("given up", BUSY, "java.nio.channels.ClosedChannelException"),
        failed("timeout", BUSY, "java.net.SocketTimeoutException"),
        failed("interrupted", BUSY, interrupted),
        failed("closed meanwhile", BUSY, CLOSED),
        failed("later closed", BUSY, CLOSED),
        connected("twice"),
    ]
    .concat()
}

fn later_connects() -> Vec<String> {
    [
        connected("later"),
        refused("later refused"),
        unreachable("later unreachable"),
        connected("handler"),
        refused("handler refused"),
        vec!["later refuses: 0".to_owned()],
    ]
    .concat()
}

fn look_ups() -> Vec<String> {
    let unknown = format!(
        "DNS {} false java.net.UnknownHostException {{tenant=acme}}",
        "x".repeat(64)
    );
    [
        "known: 1",
        "DNS localhost true null {tenant=acme}",
        "cached: 0",
        "digits: 0",
        "unknown failed: UnknownHostException",
        "unknown: 1",
        &unknown,
    ]
    .map(str::to_owned)
    .into()
}

/// Whatever its observers do then.
#[test]
fn a_vm_that_observes_itself_ends_in_order() {
    for jdk in Jdk::all() {
        let (run, recording) = Jvm::recording(jdk, "ctx=tenant")
            .program("ObservesEnd")
            .record_to_exit();
        assert_eq!(
            run.stdout, "marks are kept: true\n",
            "{jdk}: {}",
            run.stderr
        );
        assert!(!run.stderr.contains("Exception"), "{jdk}: {}", run.stderr);
        recording.ctxjfr(&["summary", "FILE"]).success();
    }
}
