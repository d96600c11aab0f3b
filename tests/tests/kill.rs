//! `kill -9` at any moment: the file opens, and what a reader could see before is still there.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use e2e::recording::read_by_us;
use e2e::{Jdk, Jvm, Recording, Room, Running, amount};

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

#[expect(
    clippy::disallowed_methods,
    reason = "a moment is the point of these tests: there is nothing to wait for"
)]
fn sleep_until(moment: Instant) {
    thread::sleep(moment.saturating_duration_since(Instant::now()));
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
    let writer = WriterThread::of(&jvm);
    sleep_until(Instant::now() + Duration::from_micros(random(seed, 2_500_000)));
    let file = room.file("app.jfr");
    // The writer stands still: what is read while it writes may have new events and old pools.
    jvm.signal("STOP");
    jvm.until("it is stopped", || writer.is_stopped());
    // Not there yet if the stop comes early.
    let before = fs::read(&file)
        .map(|bytes| read_by_us(&bytes))
        .unwrap_or_default();
    jvm.signal("CONT");
    // Or all kills would come as far after a stop.
    sleep_until(Instant::now() + Duration::from_micros(random(seed + KILLS, 200_000)));
    jvm.signal("KILL");
    let killed = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    assert_eq!(jvm.finish().code, None);
    let after = read_by_us(&fs::read(&file).unwrap());
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

/// The promise: what is not in the file of a process that ended is from the last flush interval, and this much longer ago at most, without the
/// time that the writer waited for a processor.
const MARGIN: Duration = Duration::from_millis(250);
const FLUSH: Duration = Duration::from_millis(100);

/// The writer thread of a JVM, as the kernel shows it.
struct WriterThread(PathBuf);

impl WriterThread {
    fn of(jvm: &Running) -> Self {
        let tasks = fs::read_dir(format!("/proc/{}/task", jvm.pid())).unwrap();
        let mut paths = tasks.map(|task| task.unwrap().path());
        // Threads of the JVM may end meanwhile.
        let name = |path: &PathBuf| fs::read_to_string(path.join("comm"));
        let is_writer = |path: &PathBuf| name(path).is_ok_and(|name| name == "ctxagent writer\n");
        Self(paths.find(is_writer).unwrap())
    }

    /// How long it has been ready to run and got no processor, in its whole life.
    fn waited(&self) -> Duration {
        let text = fs::read_to_string(self.0.join("schedstat")).unwrap();
        Duration::from_nanos(text.split(' ').nth(1).unwrap().parse().unwrap())
    }

    fn is_stopped(&self) -> bool {
        let text = fs::read_to_string(self.0.join("stat")).unwrap();
        text.rsplit(") ").next().unwrap().starts_with('T')
    }
}

/// When the program ran.
fn beats(room: &Room) -> Vec<Duration> {
    let bytes = fs::read(room.file("beats")).unwrap();
    let beats = bytes
        .chunks_exact(8)
        .map(|beat| u64::from_be_bytes(beat.try_into().unwrap()));
    beats
        .filter(|at| *at > 0)
        .map(Duration::from_nanos)
        .collect()
}

fn epoch() -> Duration {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
}

/// What the end of a process cost.
#[derive(Debug)]
struct Loss {
    /// From the first moment after the last sample in the file at which the program ran to the last one.
    lost: Duration,
    /// For how long of that the writer got no processor.
    waited: Duration,
    /// From the last sample to when this test had stopped the process: has the machine's load in it, of which the program and the test have their part.
    seen: Duration,
}

impl Loss {
    fn of_ours(&self) -> Duration {
        self.lost.saturating_sub(self.waited)
    }
}

/// One end at a random moment; `None` if the file has no sample yet. A process that is stopped before it is killed has the same file, and the kernel
/// has counted what its threads waited for.
fn loss(seed: u64) -> Option<Loss> {
    let jdks = Jdk::all();
    let room = Room::new();
    let jvm = Jvm::new(jdks[usize::try_from(seed).unwrap() % jdks.len()], &room)
        .agent("start,interval=1ms,flush=100ms,chunktime=1s,file=app.jfr")
        .main("Beat", &[])
        .start();
    jvm.wait_for_line("ready");
    let writer = WriterThread::of(&jvm);
    let moment = Instant::now() + Duration::from_micros(500_000 + random(seed, 2_000_000));
    let mut waits = vec![(epoch(), writer.waited())];
    while Instant::now() < moment {
        waits.push((epoch(), writer.waited()));
        sleep_until(Instant::now() + Duration::from_millis(10));
    }
    jvm.signal("STOP");
    let stopped = epoch();
    jvm.until("it is stopped", || writer.is_stopped());
    let waited = writer.waited();
    jvm.signal("KILL");
    assert_eq!(jvm.finish().code, None);
    let samples = read_by_us(&fs::read(room.file("app.jfr")).unwrap());
    let last = samples.iter().map(|(at, _)| *at).max()?;
    let last = Duration::from_nanos(u64::try_from(last).unwrap());
    let mut unwritten = beats(&room);
    unwritten.retain(|at| *at > last);
    let first = unwritten.iter().min().copied().unwrap_or_default();
    let end = unwritten.iter().max().copied().unwrap_or_default();
    // If the last sample is older than all of them, the first: too little is taken off the loss then, never too much.
    let before = waits.iter().rev().find(|(at, _)| *at <= last);
    let (_, before) = *before.unwrap_or(&waits[0]);
    Some(Loss {
        lost: end.saturating_sub(first),
        waited: waited.checked_sub(before).unwrap(),
        seen: stopped.saturating_sub(last),
    })
}

#[test]
fn p3_what_is_lost_is_from_the_last_flush_interval_and_a_quarter_of_a_second() {
    let lives = amount("CTXAGENT_STOPS").unwrap_or(20);
    let begin = amount("CTXAGENT_FIRST_KILL").unwrap_or(0);
    let mut all = Vec::new();
    for first in (begin..begin + lives).step_by(usize::try_from(AT_ONCE).unwrap()) {
        let lives = (first..first + AT_ONCE).map(|seed| thread::spawn(move || loss(seed)));
        let lives: Vec<_> = lives.collect();
        all.extend(lives.into_iter().filter_map(|life| life.join().unwrap()));
    }
    all.sort_by_key(Loss::of_ours);
    let most = |part: fn(&Loss) -> Duration| all.iter().map(part).max().unwrap();
    println!(
        "{} ends: last sample before the stop, as seen from outside, up to {:?}; lost of the time that the program ran, up to {:?}; without what the writer waited for \
         a processor (up to {:?}), median {:?}, most {:?}",
        all.len(),
        most(|loss| loss.seen),
        most(|loss| loss.lost),
        most(|loss| loss.waited),
        all[all.len() / 2].of_ours(),
        most(Loss::of_ours),
    );
    // Else nothing was tried.
    assert!(all.len() as u64 > lives / 2);
    assert!(most(Loss::of_ours) <= FLUSH + MARGIN, "{all:?}");
}
