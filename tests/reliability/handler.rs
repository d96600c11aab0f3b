//! The signal handler allocates nothing, takes no lock, maps no memory: a preloaded library ends
//! the process if it does.

use e2e::process::ProcessOutput;
use e2e::{Jdk, Jvm, assert_contains};

/// Threads and classes that come and go at 1 ms, all events on, under the guard.
fn guarded(jdk: Jdk, options: &str, fault: &str) -> ProcessOutput {
    Jvm::alone(jdk)
        .preload("handler_guard")
        .environment("HANDLER_GUARD_PLANT", fault)
        .agent(&format!(
            "start,interval=1ms,wall=10ms,file=app.jfr,{options}"
        ))
        .program("Many 800")
        .stop_recording_at_end()
        .run()
}

#[test]
fn handler_never_allocates_locks_or_maps() {
    for jdk in Jdk::every() {
        let run = guarded(jdk, "event=cpu+wall+alloc+lock", "").success();
        let signals = run.numbers("handler_guard: ")[0];
        println!("{jdk}: {signals} signals watched");
        assert!(signals > 200, "{signals}");
        assert_eq!(run.agent_lines(), Vec::<&str>::new());
    }
}

#[test]
fn guard_detects_allocation_and_lock() {
    for (fault, named) in [("malloc", "malloc"), ("mutex", "pthread_mutex_lock")] {
        let run = guarded(Jdk::main(), "event=cpu", fault);
        assert_eq!(run.code, Some(99), "{fault}: {}", run.stderr);
        let line = format!("handler_guard: the signal handler called {named}");
        assert_contains!(run.stderr, &line);
    }
}
