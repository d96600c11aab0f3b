//! Steps of the wall clock: the order of samples and the rhythm of files are those of the monotonic clock.

use e2e::recording::read_by_us;
use e2e::{Jdk, Jvm, Room};

#[test]
fn a_wall_clock_that_jumps_by_hours_changes_neither_order_nor_rotation() {
    let room = Room::new();
    let run = Jvm::new(Jdk::main(), &room)
        .preload("clock")
        .agent("start,interval=5ms,flush=200ms,chunktime=1s,loop=2s,file=app-%n.jfr")
        .main("Target", &["burn", "1", "5000"])
        .run()
        .success();
    println!("{}", run.stderr.trim());
    assert_eq!(run.agent_lines(), Vec::<&str>::new());
    let looks = run.numbers("clock: ")[0];
    assert!(looks > 1, "the clock was not asked");
    let files = room.recordings();
    assert!(files.len() >= 2, "{files:?}");
    let mut all = 0;
    for file in &files {
        let bytes = std::fs::read(file.path()).unwrap();
        let times: Vec<i64> = read_by_us(&bytes).into_iter().map(|s| s.0).collect();
        all += times.len();
        // A file of two seconds, or of more on a machine that stood still; an hour would be a step. Within a drain, slots are in no order.
        let span = times.iter().max().unwrap_or(&0) - times.iter().min().unwrap_or(&0);
        assert!(
            span < 600_000_000_000,
            "{}: {span} ns",
            file.path().display()
        );
    }
    println!("{} files, {all} samples", files.len());
    assert!(all > 500, "{all}");
}
