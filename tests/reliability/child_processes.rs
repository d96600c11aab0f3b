//! Child processes are as they would be without us: signal mask, ignored signals, timers, open
//! files, exit codes. Those of a plain `fork`, without exec, run on as copies of the process:
//! without timers, and nothing that they do comes into its recording.

use e2e::recording::{CpuTime, SIGMAS};
use e2e::{Jdk, Jvm, TestDir};

#[test]
fn children_inherit_nothing() {
    for jdk in Jdk::all() {
        for mechanism in ["POSIX_SPAWN", "VFORK", "FORK"] {
            let test_dir = TestDir::new();
            let jvm = || {
                Jvm::new(jdk, &test_dir)
                    .flag(&format!("-Djdk.lang.Process.launchMechanism={mechanism}"))
                    .program("Children 25")
            };
            let plain = jvm().run_ok();
            let run = jvm()
                .agent("start,event=cpu+wall,interval=1ms,wall=5ms,file=app.jfr,log=app.log")
                .run_ok();
            println!("{jdk} {mechanism}: {}", run.stdout);
            assert!(run.stdout.ends_with("bad 0\n"), "{}", run.stdout);
            assert_eq!(run.stdout, plain.stdout, "{jdk} {mechanism}");
            assert!(!test_dir.recording().samples().is_empty());
        }
    }
}

/// What a child of `Forked` uses of CPU time.
const CHILD_MILLIS: u32 = 30;

#[test]
fn forked_copy_works_as_without_agent() {
    for jdk in Jdk::all() {
        let children: u32 = 40;
        let (run, recording) = Jvm::recording(jdk, "event=cpu+wall,interval=1ms,wall=5ms")
            .preload("forked")
            .program(&format!("Forked {children}"))
            .record_to_exit();
        let used = run.numbers("parents ")[0];
        assert_eq!(run.stdout, format!("children {children}\nparents {used}\n"));
        assert_eq!(run.agent_lines(), [""; 0]);
        let (totals, samples) = recording.reconcile();
        // Its parent goes on under its own context.
        let parents = samples.iter().filter(|s| s.text("child").is_some());
        let seen = CpuTime::of(parents, 1);
        #[expect(clippy::cast_precision_loss, reason = "a second")]
        let (more, allowed) = (seen.nanos - used as f64, SIGMAS * seen.deviation);
        println!(
            "{jdk}: {} samples, parents {used} ns and {more} more, +- {allowed}",
            totals["written"]
        );
        assert!(more.abs() <= allowed, "{more} of {used}, +- {allowed}");
        // Else what the children used could not be told from chance.
        assert!(
            allowed < f64::from(children * CHILD_MILLIS) * 1e6,
            "{allowed}"
        );
    }
}
