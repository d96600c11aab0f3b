//! P1: a load that is hard to walk, everything on at 1 ms, over collectors and compiler modes, with
//! the default engine but where a row says another one.
//! The program checks its own results. `make stress` goes through all 120 cells, for as long as one
//! likes.

use e2e::{Jdk, Jvm, TestDir, assert_contains, sized};

fn stress(version: u32, flags: &[&str], options: &str) {
    let Some(jdk) = Jdk::find(version) else {
        return; // told by the harness
    };
    let test_dir = TestDir::new();
    let mut jvm = Jvm::new(jdk, &test_dir)
        .flag("-Xmx512m")
        .flag("-XX:+UnlockDiagnosticVMOptions")
        .flag("-XX:+UnlockExperimentalVMOptions");
    for flag in flags {
        jvm = jvm.flag(flag);
    }
    let run = jvm
        .agent(&format!(
            "start,event=cpu+wall+alloc+lock,interval=1ms,wall=10ms,chunktime=2s,file=app.jfr,{options}"
        ))
        .main("Hostile", &[sized("6", "2"), "7"])
        .stop_recording_at_end()
        .run_ok();
    assert_contains!(run.stdout, "STRESS-OK");
    let recording = test_dir.recording();
    recording.jfr(Jdk::main(), &["summary"]).success();
    let totals = recording.totals();
    println!(
        "JDK {version} {flags:?} {options}: {} signals, {} written, {} stacks failed, {} panics; {:?}",
        totals["signals"],
        totals["written"],
        totals["walk.failed"],
        totals["agent.panics"],
        run.agent_lines()
    );
    assert_eq!(totals["agent.panics"], 0);
    // On a machine that has no time at all the last flush may be left out, which is told; then the
    // last counters are missing.
    if run.agent_lines().is_empty() {
        recording.ctxjfr(&["check", "FILE"]).success();
        let (_, samples) = recording.reconcile();
        assert!(!samples.is_empty(), "{totals:?}");
    }
    for line in run.agent_lines() {
        assert!(!line.contains("without a reason"), "{line}");
    }
}

macro_rules! cells {
    ($($name:ident: $version:literal [$($flag:literal),*] $options:literal;)+) => {
        $(#[test]
        fn $name() {
            stress($version, &[$($flag),*], $options);
        })+
    };
}

cells! {
    g1_of_21: 21 ["-XX:+UseG1GC"] "cstack=vm";
    z_of_21: 21 ["-XX:+UseZGC"] "cstack=vm";
    parallel_of_21_interpreted: 21 ["-XX:+UseParallelGC", "-Xint"] "engine=percpu";
    serial_of_21_first_compiler: 21 ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"] "cstack=vm";
    safepoints_of_21: 21 ["-XX:+SafepointALot", "-XX:+HandshakeALot",
        "-XX:GuaranteedSafepointInterval=1"] "cstack=vm";
    small_code_cache_of_21: 21 ["-XX:ReservedCodeCacheSize=12m", "-XX:+UseCodeCacheFlushing"]
        "cstack=vm";
    jni_checked_21: 21 ["-Xcheck:jni"] "cstack=vm";
    other_walker_of_21: 21 ["-XX:+UseG1GC"] "cstack=asgct";
    g1_of_25: 25 ["-XX:+UseG1GC"] "cstack=vm";
    z_of_25_second_compiler: 25 ["-XX:+UseZGC", "-XX:-TieredCompilation"] "cstack=vm";
    parallel_of_25_deoptimised: 25 ["-XX:+UseParallelGC", "-XX:+DeoptimizeNMethodBarriersALot"]
        "cstack=vm";
    wide_pointers_of_25: 25 ["-XX:-UseCompressedOops"] "engine=tick";
    g1_of_17: 17 ["-XX:+UseG1GC"] "cstack=vm";
    serial_of_17_interpreted: 17 ["-XX:+UseSerialGC", "-Xint"] "cstack=vm";
}
