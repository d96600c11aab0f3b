//! P1: loads of the stack walker that meet nothing, or something else than what was to be read, end
//! the walk and nothing more; a walker whose loads fail again and again is switched off.

use e2e::process::ProcessOutput;
use e2e::{Jdk, Jvm, TestDir, assert_contains, build};

/// A JVM under the test build, whose walker gets one bad load in so many.
fn with_bad_loads(one_in: &str, jdk: Jdk, test_dir: &TestDir, options: &str) -> Jvm {
    Jvm::new(jdk, test_dir)
        .agent_at(
            build::oracle_agent(),
            &format!("start,file=app.jfr,{options}"),
        )
        .environment("CTXAGENT_FAULTS", one_in)
        .may_warn("walker is switched off")
}

fn switched_off_lines(run: &ProcessOutput) -> Vec<&str> {
    let lines = run.agent_lines().into_iter();
    lines.filter(|l| l.contains("is switched off")).collect()
}

#[test]
fn hostile_load_survives_injected_bad_loads() {
    for jdk in Jdk::every() {
        let test_dir = TestDir::new();
        let run = with_bad_loads("100", jdk, &test_dir, "interval=1ms,wall=10ms")
            .flag("-Xmx512m")
            .environment("CTXAGENT_FAULTS_KEEP", "1")
            .program("Hostile 4 7")
            .stop_recording_at_end()
            .run_ok();
        assert_contains!(run.stdout, "STRESS-OK");
        let totals = test_dir.recording().totals();
        println!(
            "{jdk}: {} faults, {} walks ended by one, {} stacks, {} panics",
            totals["walk.own.faults"],
            totals["walk.own.failed.fault"],
            totals["walk.ok"],
            totals["agent.panics"]
        );
        assert!(totals["walk.own.faults"] > 100, "{totals:?}");
        assert!(totals["walk.ok"] > 100, "{totals:?}");
        assert_eq!(totals["agent.panics"], 0);
        assert_eq!(
            switched_off_lines(&run),
            Vec::<&str>::new(),
            "KEEP keeps it on"
        );
    }
}

#[test]
fn failing_walker_is_switched_off() {
    let test_dir = TestDir::new();
    // On 21 the other walker takes over. A machine that is very busy leaves time for some hundred walks.
    let run = with_bad_loads("20", Jdk::main(), &test_dir, "interval=1ms")
        .program("Target burn 2 3000")
        .stop_recording_at_end()
        .run_ok();
    assert_eq!(switched_off_lines(&run).len(), 1, "{}", run.stderr);
    assert!(
        switched_off_lines(&run)[0].contains("AsyncGetCallTrace goes on alone"),
        "{}",
        run.stderr
    );
    let (totals, samples) = test_dir.recording().reconcile();
    println!("{totals:?}");
    assert_eq!(totals["state.degraded"], 1);
    let faults = totals["walk.own.faults"];
    assert!(faults >= 200, "{faults}");
    // Switched off within a drain, far from the end: no more faults, but still stacks.
    let last = &samples[samples.len() * 9 / 10..];
    let walked = last.iter().filter(|s| {
        let frames = s.frames();
        frames.iter().any(|f| f == "Target.work")
    });
    assert!(walked.count() * 2 > last.len(), "{totals:?}");
    assert!(totals["walk.ok"] > totals["walk.own.ok"], "{totals:?}");
}
