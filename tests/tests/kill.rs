//! `kill -9` at any moment: the file opens, and what a reader could see before is still there.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use e2e::recording::read_by_us;
use e2e::{Jdk, Jvm, Recording, Room, amount};

/// `CTXAGENT_KILLS` makes it another number.
const KILLS: u64 = 50;
/// JVMs at once: startup is most of a life.
const AT_ONCE: u64 = 5;

/// A number from 0 to `below`, by splitmix.
fn random(seed: u64, below: u64) -> u64 {
    let mut x = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) % below
}

/// Samples seen before the kill and after it, and nanoseconds from the last sample to the kill.
fn one(seed: u64) -> (usize, usize, u128) {
    let jdks = Jdk::all();
    let jdk = jdks[usize::try_from(seed).unwrap() % jdks.len()];
    let room = Room::new();
    // Chunks of a second, so that some moments fall into a rotation.
    let jvm = Jvm::new(jdk, &room)
        .agent("start,interval=1ms,flush=100ms,chunktime=1s,file=app.jfr")
        .main("Target", &["serve"])
        .start();
    jvm.wait_for_line("ready");
    let moment = Instant::now() + Duration::from_micros(random(seed, 2_500_000));
    #[expect(
        clippy::disallowed_methods,
        reason = "the moment is the point of this test: there is nothing to wait for"
    )]
    thread::sleep(moment - Instant::now());
    let file = room.file("app.jfr");
    // Not there yet if the kill comes early.
    let before = std::fs::read(&file)
        .map(|bytes| read_by_us(&bytes))
        .unwrap_or_default();
    jvm.signal("KILL");
    let killed = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    assert_eq!(jvm.finish().code, None);
    let after = read_by_us(&std::fs::read(&file).unwrap());
    assert!(
        after.starts_with(&before),
        "seed {seed}: {} samples before, {} after",
        before.len(),
        after.len()
    );
    let summary = Recording::new(file).counts(Jdk::main());
    let counted = summary.get("jdk.ExecutionSample").unwrap_or(&0)
        + summary.get("jdk.NativeMethodSample").unwrap_or(&0);
    assert_eq!(
        usize::try_from(counted).unwrap(),
        after.len(),
        "seed {seed}: jfr summary of 21"
    );
    let last = after.iter().map(|(at, _)| *at).max();
    let gap = last.map_or(0, |at| {
        killed
            .as_nanos()
            .saturating_sub(u128::from(at.cast_unsigned()))
    });
    (before.len(), after.len(), gap)
}

#[test]
fn kill_nine_at_fifty_random_moments_loses_nothing_that_was_flushed() {
    let mut all = Vec::new();
    let kills = amount("CTXAGENT_KILLS").unwrap_or(KILLS);
    let begin = amount("CTXAGENT_FIRST_KILL").unwrap_or(0);
    for first in (begin..begin + kills).step_by(usize::try_from(AT_ONCE).unwrap()) {
        let lives = (first..first + AT_ONCE).map(|seed| thread::spawn(move || one(seed)));
        let lives: Vec<_> = lives.collect();
        all.extend(lives.into_iter().map(|life| life.join().unwrap()));
    }
    let mut gaps: Vec<u128> = all
        .iter()
        .filter(|(_, after, _)| *after > 0)
        .map(|(_, _, gap)| gap / 1_000_000)
        .collect();
    gaps.sort_unstable();
    println!(
        "{} kills: {} samples before, {} after; {} files without a sample yet; last sample before the kill: median {} ms, most {} ms (flush every 100 ms)",
        all.len(),
        all.iter().map(|(before, _, _)| before).sum::<usize>(),
        all.iter().map(|(_, after, _)| after).sum::<usize>(),
        all.len() - gaps.len(),
        gaps[gaps.len() / 2],
        gaps[gaps.len() - 1],
    );
    // Else nothing was tried.
    assert!(gaps.len() > all.len() / 2);
}
