//! What an application that observes itself gets (`io.ctxagent.observe`).

use e2e::{Jdk, Jvm, TestDir};

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
