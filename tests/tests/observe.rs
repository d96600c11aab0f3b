//! What an application that observes itself gets (`io.ctxagent.observe`).

use e2e::recording::weights_by;
use e2e::{Jdk, Jvm, TestDir};

/// What the recording says of the labelled CPU time lies where the sum of the costs does.
#[test]
fn costs_of_requests_add_up_to_the_labelled_cpu_time() {
    const INTERVAL: f64 = 1e7;
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,interval=10ms,ctx=kind,file=app.jfr")
            .main("Costs", &["1000"])
            .stop_recording_at_end()
            .run_ok();
        let weights = weights_by(&test_dir.recording().samples(), "kind");
        for line in run.stdout.lines() {
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
