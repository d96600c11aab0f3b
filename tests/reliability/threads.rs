//! P5: memory is bounded by the threads that live, not by those that ever did.

use std::time::Duration;

use e2e::{Jdk, Jvm, Room, amount};

#[test]
fn platform_threads_in_turn_leave_the_memory_as_it_was() {
    let threads = amount("CTXAGENT_TURNS").unwrap_or(25_000);
    let room = Room::new();
    // No compiler: what grows is not the JVM's. And few blocks: that of a thread is found by its id, so new threads touch new memory until all blocks
    // were used once.
    let run = Jvm::new(Jdk::main(), &room)
        .fixed_memory()
        .flag("-Xint")
        .limit(Duration::from_mins(20))
        .agent("start,interval=5ms,cstack=no,ctxblocks=4096,file=app.jfr")
        .main("InTurn", &[&threads.to_string()])
        .run()
        .success();
    let told = run.told("resident ");
    let resident: Vec<i64> = told
        .filter_map(|numbers| numbers.split(' ').nth(1)?.parse().ok())
        .collect();
    println!("{}", run.stdout);
    assert_eq!(resident.len(), 20);
    // Over the second half: what JVM and agent keep for ever is there by then.
    let grown = resident[19] - resident[9];
    println!("{threads} threads in turn: the second half grew by {grown} KiB");
    assert!(grown <= 1024, "{resident:?}");
}
