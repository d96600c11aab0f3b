//! Loads of the stack walker: what it looks for on a stack leads it nowhere that cannot be read.

use e2e::{Jdk, Jvm};

/// Walks in which one load may fault: threads end, and code is freed, while others are walked.
const WALKS_PER_FAULT: i64 = 10_000;

const OF_ALL: &[(&str, &[&str])] = &[
    ("Hostile", &["3", "7"]),
    ("Recursing", &["200", "1500"]),
    ("Target", &["burn", "2", "1500"]),
];
const OF_VIRTUAL_THREADS: &[(&str, &[&str])] = &[
    ("BlockingDeep", &["deep", "64", "2500"]),
    ("BlockingDeep", &["sleep", "64", "2500"]),
    ("Chains", &["4", "1500"]),
    ("Parking", &["60", "60", "1500"]),
    ("Resumed", &["8", "20", "1500"]),
];

/// The programs whose stacks are tested elsewhere, with all samples that are stacks of running threads.
#[test]
fn loads_of_the_walker_do_not_fault() {
    for jdk in Jdk::all() {
        let has_virtual_threads = jdk.version >= 21;
        let programs = OF_ALL
            .iter()
            .chain(OF_VIRTUAL_THREADS.iter().filter(|_| has_virtual_threads));
        for (program, arguments) in programs {
            let (run, recording) =
                Jvm::recording(jdk, "event=cpu+wall+lock+park,interval=1ms,wall=5ms")
                    .flag("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED")
                    .main(program, arguments)
                    .record();
            let totals = recording.totals();
            let walks = totals["walk.ok"] + totals["walk.failed"];
            let faults = totals["walk.own.faults"];
            println!("{jdk}, {program} {arguments:?}: {faults} faults in {walks} walks");
            assert!(walks > 200, "{walks} walks");
            assert!(
                faults <= 1 + walks / WALKS_PER_FAULT,
                "{jdk}, {program}: {faults} faults in {walks} walks"
            );
            assert_eq!(totals["state.degraded"], 0, "{}", run.stderr);
            assert!(!run.stderr.contains("warning"), "{}", run.stderr);
        }
    }
}
