//! Stacks: who walks them, how far they reach, and what says that they were cut.

use e2e::{Jdk, Jvm, TestDir};

#[test]
fn stacks_reach_thread_entry() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        Jvm::new(jdk, &test_dir)
            .agent("start,interval=5ms,file=app.jfr")
            .main("Target", &["burn", "2", "1500"])
            .stop_recording_at_end()
            .run_ok();
        let samples: Vec<_> = test_dir
            .recording()
            .samples(jdk)
            .into_iter()
            .filter(|sample| {
                sample
                    .thread()
                    .is_some_and(|name| name.starts_with("burner-"))
            })
            .collect();
        let complete = samples
            .iter()
            .filter(|s| {
                s.frames()
                    .last()
                    .is_some_and(|f| f == "java.lang.Thread.run")
            })
            .count();
        let spin = samples
            .iter()
            .filter(|s| s.frames().iter().any(|f| f.starts_with("Target.")))
            .count();
        println!(
            "{jdk}: {} samples, {complete} to the root, {spin} in Target",
            samples.len()
        );
        assert!(samples.len() > 300, "{jdk}: {} samples", samples.len());
        assert!(
            complete * 100 >= samples.len() * 98,
            "{jdk}: {complete} of {}",
            samples.len()
        );
        assert!(
            spin * 100 >= samples.len() * 95,
            "{jdk}: {spin} of {}",
            samples.len()
        );
    }
}

#[test]
fn deny_listed_asgct_is_not_used() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,interval=2ms,loglevel=info,file=app.jfr")
            .main("Target", &["burn", "2", "1000"])
            .stop_recording_at_end()
            .run_ok();
        println!("{jdk}: {}", run.stderr);
        let expected = if jdk.is_deny_listed() {
            "; walker: vm"
        } else {
            "; walker: vm, then asgct"
        };
        let started = run
            .start_lines()
            .into_iter()
            .find(|line| line.contains("recording to"));
        assert!(
            started.is_some_and(|line| line.ends_with(expected)),
            "{jdk}\n{}",
            run.stderr
        );
        let samples = test_dir.recording().samples(jdk);
        let walked = samples
            .iter()
            .filter(|sample| sample.frames().iter().any(|f| f.starts_with("Target.")));
        let walked = walked.count();
        println!(
            "{walked} of {} samples reach the burning method",
            samples.len()
        );
        assert!(walked * 2 > samples.len(), "{walked} of {}", samples.len());
    }
}

#[test]
fn samples_without_walker_have_no_stack() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        Jvm::new(jdk, &test_dir)
            .agent("start,interval=2ms,cstack=no,file=app.jfr")
            .main("Target", &["burn", "2", "500"])
            .stop_recording_at_end()
            .run_ok();
        let samples = test_dir.recording().samples(jdk);
        assert!(!samples.is_empty());
        for sample in samples {
            let frames = sample.frames();
            assert!(
                frames.iter().all(|f| f.starts_with("ctxagent.NoStack.")) && frames.len() == 1,
                "{frames:?}"
            );
        }
    }
}

/// The labelled samples at the end of a recursion: how many frames each has, whether it has its
/// root, and whether it says that it was cut.
fn stacks_of_a_recursion(options: &str, calls: &str) -> Vec<(usize, bool, bool)> {
    let test_dir = TestDir::new();
    Jvm::new(Jdk::main(), &test_dir)
        .agent(&format!("start,interval=2ms,file=app.jfr,{options}"))
        .main("Recursing", &[calls, "300"])
        .run_ok();
    let types = "jdk.ExecutionSample,jdk.NativeMethodSample";
    let samples = test_dir
        .recording()
        .events_with_frames(Jdk::main(), types, 4096);
    let deep = samples.iter().filter(|s| s.text("label") == Some("deep"));
    let stacks: Vec<_> = deep
        .map(|sample| {
            let frames = sample.frames();
            let has_root = frames.iter().any(|f| f == "Recursing.root");
            (frames.len(), has_root, sample.is_truncated().unwrap())
        })
        .collect();
    assert!(stacks.len() > 30, "{} samples", stacks.len());
    stacks
}

#[test]
fn recursion_keeps_its_root() {
    let stacks = stacks_of_a_recursion("", "2000");
    let whole = stacks.iter().filter(|(_, has_root, cut)| *has_root && !cut);
    let (whole, all) = (whole.count(), stacks.len());
    println!("{whole} of {all} stacks are whole");
    assert!(whole * 100 >= all * 99, "{stacks:?}");
}

#[test]
fn truncated_stack_says_so() {
    for (options, calls, most) in [("", "3000", 2048), ("jstackdepth=50", "100", 50)] {
        let stacks = stacks_of_a_recursion(options, calls);
        let cut = stacks.iter().filter(|stack| **stack == (most, false, true));
        let (cut, all) = (cut.count(), stacks.len());
        println!("{cut} of {all} stacks are cut");
        assert!(cut * 100 >= all * 99, "{stacks:?}");
    }
}
