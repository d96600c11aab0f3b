//! Every public method of the Java API as the first use of it, alone and beside others: it neither
//! hangs nor throws, and contexts are on afterwards. `EachFirst` names the methods and prints the
//! stacks of the threads if one hangs.

use std::fs;

use e2e::{Jdk, Jvm, TestDir};

/// Another order each time; printed, to repeat a run.
fn seed() -> String {
    let seed = std::process::id().to_string();
    println!("seed {seed}");
    seed
}

#[test]
fn any_first_use_neither_hangs_nor_throws_and_switches_contexts_on() {
    let seed = seed();
    for jdk in Jdk::all() {
        let output = Jvm::alone(jdk)
            .agent("start,file=app.jfr,scopes=1ms")
            .program(&format!("EachFirst copies {seed} 1"))
            .run_ok();
        let entries = output.counter("entries");
        println!(
            "{jdk}: {entries} methods, {} rounds",
            output.counter("rounds")
        );
        assert!(entries > 100);
    }
}

#[test]
fn uses_at_the_moment_of_an_attach_neither_hang_nor_throw() {
    let seed = seed();
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir)
            .program(&format!("EachFirst attach {seed}"))
            .start_ready();
        jvm.agent_command_ok("start,file=app.jfr");
        fs::write(test_dir.file("attached"), b"").unwrap();
        let output = jvm.finish().success();
        println!("{jdk}: {} uses", output.counter("uses"));
    }
}
