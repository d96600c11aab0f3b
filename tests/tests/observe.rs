//! What an application that observes itself gets (`io.ctxagent.observe`).

use e2e::recording::weights_by;
use e2e::workspace::root;
use e2e::{Jdk, Jvm, TestDir, build};
use std::collections::BTreeSet;
use std::fs;

/// What the recording says of the labelled CPU time lies where the sum of the costs does.
#[test]
fn costs_of_requests_add_up_to_the_labelled_cpu_time() {
    const INTERVAL: f64 = 1e7;
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,interval=10ms,ctx=kind,file=app.jfr")
            .main("Costs", &["1000"])
            .run_ok();
        let weights = weights_by(&test_dir.recording().samples(), "kind");
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
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("")
            .main("Observes", &[])
            .stop_recording_at_end()
            .run_ok();
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
        let marks = test_dir.recording().events("ctxagent.Mark");
        let names: Vec<_> = marks.iter().map(|mark| mark.text("name")).collect();
        assert_eq!(names, [Some("served"), Some("serving")], "{jdk}");
        assert!(marks.iter().all(|m| m.text("tenant") == Some("acme")));
        let totals = test_dir.recording().totals();
        assert_eq!(totals["marks.seen"], 2);
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
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,file=app.jfr")
            .class_path(&classes)
            .main("PerfHooks", &[])
            .run_ok();
        assert_eq!(run.stdout, shown, "{jdk}: {}", run.stderr);
    }
}

/// Each way to connect and to look up a name, and what there is before, beside and after that.
#[test]
fn connects_and_look_ups_are_told() {
    const OPEN: &str = "NET shop.test:OPEN shop.test/127.0.0.1:OPEN null {tenant=acme}";
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("")
            .flag("--add-opens=java.base/jdk.internal.javac=ALL-UNNAMED")
            .main("ObservesNetwork", &[])
            .run_ok();
        let failed = |to: &str, why: &str| {
            let host = to.split(':').next().unwrap();
            let address = to.replace("shop.test", "127.0.0.1");
            format!("NET {to} {host}/{address} java.{why} {{tenant=acme}}")
        };
        let refused = failed("shop.test:SHUT", "net.ConnectException");
        let unreachable = failed("224.0.0.1:9", "net.SocketException");
        let busy = |why: &str| failed("shop.test:BUSY", why);
        let (given_up, timeout) = (
            busy("nio.channels.ClosedChannelException"),
            busy("net.SocketTimeoutException"),
        );
        let interrupted = busy("nio.channels.ClosedByInterruptException");
        let closed_meanwhile = busy("nio.channels.AsynchronousCloseException");
        let unknown = format!(
            "DNS {} false java.net.UnknownHostException {{tenant=acme}}",
            "x".repeat(64)
        );
        let mut expected = vec![
            "before: false ",
            "with callback: 1",
            "observed: true entries net: on (classes with hooks: 3); entries dns: on (classes with \
             hooks: 1); ",
            "socket: 1",
            OPEN,
            "refused failed: ConnectException",
            "refused: 1",
            &refused,
            "channel: 1",
            OPEN,
            "channel refused failed: ConnectException",
            "channel refused: 1",
            &refused,
            "adaptor: 1",
            OPEN,
            "selector: 1",
            OPEN,
            "selector refused: 1",
            &refused,
            "unix: 1",
            "NET socket socket/null:0 null {tenant=acme}",
            "unreachable failed: SocketException",
            "unreachable: 1",
            &unreachable,
            "given up: 1",
            &given_up,
            "timeout failed: SocketTimeoutException",
            "timeout: 1",
            &timeout,
            "interrupted failed: ClosedByInterruptException",
            "interrupted: 1",
            &interrupted,
            "closed meanwhile failed: AsynchronousCloseException",
            "closed meanwhile: 1",
            &closed_meanwhile,
            "later closed failed: AsynchronousCloseException",
            "later closed: 1",
            &closed_meanwhile,
            "twice: 1",
            OPEN,
            "later: 1",
            OPEN,
            "later refused failed: ConnectException",
            "later refused: 1",
            &refused,
            "later unreachable failed: SocketException",
            "later unreachable: 1",
            &unreachable,
            "handler: 1",
            OPEN,
            "handler refused failed: ConnectException",
            "handler refused: 1",
            &refused,
            "later refuses: 0",
        ];
        let of_virtual = |line: &str| line.replace("acme", "virtual");
        let (open_virtually, refused_virtually) = (of_virtual(OPEN), of_virtual(&refused));
        if jdk.has_virtual_threads() {
            expected.extend([
                "virtual socket: 1",
                &open_virtually,
                "virtual channel refused failed: ConnectException",
                "virtual channel refused: 1",
                &refused_virtually,
                "virtual later: 1",
                &open_virtually,
                "virtual later refused failed: ConnectException",
                "virtual later refused: 1",
                &refused_virtually,
            ]);
        }
        expected.extend([
            "known: 1",
            "DNS localhost true null {tenant=acme}",
            "cached: 0",
            "digits: 0",
            "unknown failed: UnknownHostException",
            "unknown: 1",
            &unknown,
            "faults: 1",
            OPEN,
            "faults of channel: 1",
            OPEN,
            "disconnected: []",
        ]);
        let lines: Vec<&str> = run.stdout.lines().collect();
        assert_eq!(lines, expected, "{jdk}: {}", run.stderr);
    }
}

/// Whatever its observers do then.
#[test]
fn a_vm_that_observes_itself_ends_in_order() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,ctx=tenant,file=app.jfr")
            .main("ObservesEnd", &[])
            .run_ok();
        assert_eq!(
            run.stdout, "marks are kept: true\n",
            "{jdk}: {}",
            run.stderr
        );
        assert!(!run.stderr.contains("Exception"), "{jdk}: {}", run.stderr);
        test_dir.recording().ctxjfr(&["summary", "FILE"]).success();
    }
}
