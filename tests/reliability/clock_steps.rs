//! Steps of the wall clock: the order of samples and the rhythm of files are those of the monotonic
//! clock.

use std::time::{Duration, Instant};

use e2e::recording::read_samples_by_chunk;
use e2e::{Jdk, Jvm, TestDir};

/// As in the options below.
const LOOP: Duration = Duration::from_secs(2);

#[test]
fn wall_clock_steps_change_neither_order_nor_rotation() {
    let test_dir = TestDir::new();
    let begin = Instant::now();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .preload("clock")
        .agent("start,interval=5ms,flush=200ms,chunktime=1s,loop=2s,file=app-%n.jfr")
        .program("Target burn 1 5000")
        .stop_recording_at_end()
        .run_ok();
    println!("{}", run.stderr.trim());
    assert_eq!(run.agent_lines(), Vec::<&str>::new());
    // The test's own clock is the true one.
    let longest = begin.elapsed();
    let looks = run.numbers("clock: ")[0];
    assert!(looks > 1, "the clock was not asked");
    let files = test_dir.recordings();
    // One every two seconds of the clock that does not jump, and more time on a machine that stands
    // still.
    assert!(files.len() >= 2, "{files:?}");
    assert!(
        files.len() as u128 <= longest.as_nanos() / LOOP.as_nanos() + 2,
        "{files:?}"
    );
    let mut all = 0;
    let mut chunks = 0;
    for file in &files {
        let bytes = std::fs::read(file.path()).unwrap();
        let mut times: Vec<i64> = Vec::new();
        // The wall clock is asked once for each file. Within a drain, slots are in no order, and a
        // writer that got no time has many in one; but a drain is in one chunk. So chunks are told
        // by their middles.
        let mut middles: Vec<i64> = Vec::new();
        for chunk in read_samples_by_chunk(&bytes) {
            let mut sorted: Vec<i64> = chunk.into_iter().map(|sample| sample.0).collect();
            sorted.sort_unstable();
            middles.extend(sorted.get(sorted.len() / 2));
            times.extend(sorted);
        }
        assert!(
            middles.is_sorted(),
            "{}: {middles:?}",
            file.path().display()
        );
        all += times.len();
        chunks += middles.len();
        let span = times.iter().max().unwrap_or(&0) - times.iter().min().unwrap_or(&0);
        let span = Duration::from_nanos(span.unsigned_abs());
        assert!(span < longest, "{}: {span:?}", file.path().display());
    }
    println!(
        "{} files of {chunks} chunks with {all} samples in {longest:?}",
        files.len()
    );
    assert!(all > 500, "{all}");
    assert!(chunks > files.len(), "no file has chunks in an order");
}
