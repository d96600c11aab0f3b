//! P1: loads of the stack walker that meet nothing, or something else than what was to be read, end
//! the walk and nothing more; a walker whose loads fail again and again is switched off.

use e2e::process::ProcessOutput;
use e2e::{Jdk, Jvm, TestDir, build};

/// A JVM under the test build, whose walker gets one bad load in so many.
fn with_bad_loads<'a>(one_in: &str, jdk: Jdk, test_dir: &'a TestDir, options: &str) -> Jvm<'a> {
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
            .main("Hostile", &["4", "7"])
            .stop_recording_at_end()
            .run_ok();
        assert!(run.stdout.contains("STRESS-OK"), "{}", run.stdout);
        let totals = test_dir.recording().totals();
        let total = |name: &str| totals.get(name).copied().unwrap_or(0);
        println!(
            "{jdk}: {} faults, {} walks ended by one, {} stacks, {} panics",
            total("walk.own.faults"),
            total("walk.own.failed.fault"),
            total("walk.ok"),
            total("agent.panics")
        );
        assert!(total("walk.own.faults") > 100, "{totals:?}");
        assert!(total("walk.ok") > 100, "{totals:?}");
        assert_eq!(total("agent.panics"), 0);
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
        .main("Target", &["burn", "2", "3000"])
        .stop_recording_at_end()
        .run_ok();
    assert_eq!(switched_off_lines(&run).len(), 1, "{}", run.stderr);
    assert!(
        switched_off_lines(&run)[0].contains("AsyncGetCallTrace goes on alone"),
        "{}",
        run.stderr
    );
    let (totals, samples) = test_dir.recording().reconcile();
    let total = |name: &str| totals.get(name).copied().unwrap_or(0);
    println!("{totals:?}");
    assert_eq!(total("state.degraded"), 1);
    let faults = total("walk.own.faults");
    assert!(faults >= 200, "{faults}");
    // Switched off within a drain, far from the end: no more faults, but still stacks.
    let last = &samples[samples.len() * 9 / 10..];
    let walked = last.iter().filter(|s| {
        let frames = s.frames();
        frames.iter().any(|f| f == "Target.work")
    });
    assert!(walked.count() * 2 > last.len(), "{totals:?}");
    assert!(total("walk.ok") > total("walk.own.ok"), "{totals:?}");
}
