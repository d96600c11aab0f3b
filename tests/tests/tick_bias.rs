//! CPU time of threads that work in step with the kernel's tick or sleep between short bursts.

#![expect(clippy::cast_precision_loss, reason = "some thousand samples")]

use e2e::recording::{share_tolerance, weights_by};
use e2e::{Jdk, Jvm};

/// Runs `Bias` with these arguments and compares the share of phase A with the truth.
fn in_step_with_the_tick(options: &str, load: [&str; 5]) {
    let jdk = Jdk::main();
    let (run, recording) = Jvm::recording(jdk, &format!("interval=10ms,{options}"))
        .main("Bias", &load)
        .record();
    let truth: f64 = run
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("TRUE-SHARE "))
        .unwrap()
        .parse()
        .unwrap();
    let samples = recording.samples();
    let weights = weights_by(&samples, "phase");
    let of = |phase: &str| *weights.get(&Some(phase.to_owned())).unwrap_or(&0) as f64;
    let both = of("A") + of("B");
    let seen = of("A") / both;
    let allowed = share_tolerance(truth, &samples, "phase");
    println!(
        "{load:?} {options}: {weights:?}: A has {seen:.4}, in truth {truth:.4} ± {allowed:.4}"
    );
    assert!(both > 100.0, "{both}");
    assert!(
        (seen - truth).abs() <= allowed,
        "{load:?} {options}: {seen} is not {truth} ± {allowed}"
    );
}

#[test]
fn work_in_step_with_kernel_tick_gets_true_share() {
    in_step_with_the_tick("engine=percpu,", ["platform", "2", "4", "4", "19200"]);
}

#[test]
fn bursts_between_sleeps_get_true_share() {
    for load in [
        ["platform", "2", "2", "3", "9600"],
        ["platform", "2", "10", "10", "9600"],
        ["virtual", "2", "2", "3", "4800"],
    ] {
        in_step_with_the_tick("engine=percpu,", load);
    }
}
