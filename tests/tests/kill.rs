//! `kill -9` at any moment: the file opens, and what a reader could see before is still there.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use e2e::recording::{SAMPLES, read_samples};
use e2e::{Jdk, Jvm, Recording, RunningJvm, TestDir, env_number};

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
    let test_dir = TestDir::new();
    // Chunks of a second, so that some moments fall into a rotation.
    let jvm = Jvm::new(jdk, &test_dir)
        .agent("start,interval=1ms,flush=100ms,chunktime=1s,file=app.jfr")
        .serve();
    let writer = WriterThread::of(&jvm);
    sleep_until(Instant::now() + Duration::from_micros(random(seed, 2_500_000)));
    let file = test_dir.file("app.jfr");
    // The writer is stopped: a read while it writes may see new events and old pools.
    jvm.signal("STOP");
    jvm.wait_until("it is stopped", || writer.is_stopped());
    // Not there yet if the stop comes early.
    let before = fs::read(&file)
        .map(|bytes| read_samples(&bytes))
        .unwrap_or_default();
    jvm.signal("CONT");
    // Or all kills would come as far after a stop.
    sleep_until(Instant::now() + Duration::from_micros(random(seed + KILLS, 200_000)));
    jvm.signal("KILL");
    let killed = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    assert_eq!(jvm.finish().code, None);
    let after = read_samples(&fs::read(&file).unwrap());
    assert!(
        after.starts_with(&before),
        "seed {seed}: {} samples before, {} after",
        before.len(),
        after.len()
    );
    let summary = Recording::new(file).counts(Jdk::main());
    let counted = *summary.get(SAMPLES).unwrap_or(&0);
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
fn kill_nine_at_random_moments_loses_nothing_flushed() {
    let mut all = Vec::new();
    let kills = env_number("CTXAGENT_KILLS").unwrap_or(KILLS);
    let begin = env_number("CTXAGENT_FIRST_KILL").unwrap_or(0);
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

/// The promise: what is not in the file of a process that ended is from the last flush interval,
/// and this much longer ago at most, without the time that the writer waited for a CPU, or that the
/// machine stood still.
const MARGIN: Duration = Duration::from_millis(250);
const FLUSH: Duration = Duration::from_millis(100);
/// How often this test polls the writer.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The writer thread of a JVM, as the kernel shows it.
struct WriterThread(PathBuf);

impl WriterThread {
    fn of(jvm: &RunningJvm) -> Self {
        let tasks = fs::read_dir(format!("/proc/{}/task", jvm.pid())).unwrap();
        let mut paths = tasks.map(|task| task.unwrap().path());
        // Threads of the JVM may end meanwhile.
        let name = |path: &PathBuf| fs::read_to_string(path.join("comm"));
        let is_writer = |path: &PathBuf| name(path).is_ok_and(|name| name == "ctxagent writer\n");
        Self(paths.find(is_writer).unwrap())
    }

    /// How long it has been ready to run and got no CPU, in its whole life.
    fn waited(&self) -> Duration {
        let text = fs::read_to_string(self.0.join("schedstat")).unwrap();
        Duration::from_nanos(text.split(' ').nth(1).unwrap().parse().unwrap())
    }

    fn is_stopped(&self) -> bool {
        let text = fs::read_to_string(self.0.join("stat")).unwrap();
        text.rsplit(") ").next().unwrap().starts_with('T')
    }
}

/// When the program ran, in order.
fn beats(test_dir: &TestDir) -> Vec<Duration> {
    let bytes = fs::read(test_dir.file("beats")).unwrap();
    let beats = bytes
        .chunks_exact(8)
        .map(|beat| u64::from_be_bytes(beat.try_into().unwrap()));
    let beats = beats.filter(|at| *at > 0).map(Duration::from_nanos);
    let mut beats: Vec<Duration> = beats.collect();
    beats.sort_unstable();
    beats
}

/// A poll of the writer: when, and how long it had waited for a CPU by then.
struct WriterPoll {
    at: Duration,
    waited: Duration,
}

/// The time from `from` to `to` in which the writer could not work: between two polls it got no
/// CPU, or the machine stalled. In a stall a poll comes late and the program has no beat either,
/// while the writer, which sleeps until its next flush, waits for nothing.
fn excused(polls: &[WriterPoll], beats: &[Duration], from: Duration, to: Duration) -> Duration {
    let since = |pair: &&[WriterPoll]| pair[1].at > from;
    let between = polls.windows(2).filter(since).map(|pair| {
        let (begin, end) = (pair[0].at.max(from), pair[1].at.min(to));
        let late = end.saturating_sub(begin).saturating_sub(POLL_INTERVAL);
        let waited = pair[1].waited.checked_sub(pair[0].waited).unwrap();
        let excused = waited.max(late.min(longest_silence(beats, begin, end)));
        excused.min(end.saturating_sub(begin))
    });
    between.sum()
}

/// The longest part of a time without a beat.
fn longest_silence(beats: &[Duration], from: Duration, to: Duration) -> Duration {
    let within = beats.iter().copied().filter(|at| (from..to).contains(at));
    let mut last = from;
    let silences = within.chain([to]).map(|at| {
        let silence = at.saturating_sub(last);
        last = at;
        silence
    });
    silences.max().unwrap()
}

#[test]
fn stall_is_distinguished_from_late_writer() {
    let ms = Duration::from_millis;
    // At 100 ms it stalls for 150 ms.
    let poll = |at: u64, waited: u64| WriterPoll {
        at: ms(at),
        waited: ms(waited),
    };
    let polls = [80, 90, 100, 250, 260].map(|at| poll(at, 0));
    let still: Vec<Duration> = (0..=100).chain(250..=260).map(ms).collect();
    assert_eq!(excused(&polls, &still, ms(85), ms(260)), ms(140));
    // It did so before what is asked about, in part.
    assert_eq!(excused(&polls, &still, ms(200), ms(260)), ms(40));
    // The test alone had no CPU: the program ran on.
    let beats: Vec<Duration> = (0..=260).map(ms).collect();
    assert_eq!(excused(&polls, &beats, ms(85), ms(260)), ms(1));
    // The program alone had none.
    let polls: Vec<WriterPoll> = (8..=26).map(|n| poll(10 * n, 0)).collect();
    assert_eq!(excused(&polls, &still, ms(85), ms(260)), ms(0));
    // The writer had none, at a time before what is asked about too.
    let polls: Vec<WriterPoll> = (8..=26).map(|n| poll(10 * n, 5 * n)).collect();
    assert_eq!(excused(&polls, &beats, ms(200), ms(260)), ms(30));
}

fn epoch() -> Duration {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
}

/// What the end of a process cost.
#[derive(Debug)]
struct Loss {
    /// From the first moment after the last sample in the file at which the program ran to the last
    /// one.
    lost: Duration,
    /// For how long of that the writer got no CPU, or the machine stood still.
    excused: Duration,
    /// From the last sample to when this test had stopped the process: has the machine's load in
    /// it, of which the program and the test have their part.
    seen: Duration,
}

impl Loss {
    fn of_ours(&self) -> Duration {
        self.lost.saturating_sub(self.excused)
    }
}

/// One end at a random moment; `None` if the file has no sample yet. A process that is stopped
/// before it is killed has the same file, and the kernel has counted what its threads waited for.
fn loss(seed: u64) -> Option<Loss> {
    let jdks = Jdk::all();
    let test_dir = TestDir::new();
    let jvm = Jvm::new(jdks[usize::try_from(seed).unwrap() % jdks.len()], &test_dir)
        // A sample on each tick of the program: on a busy machine random instants may lie far apart.
        .agent("start,engine=tick,interval=1ms,flush=100ms,chunktime=1s,file=app.jfr")
        .program("Beat")
        .start_ready();
    let writer = WriterThread::of(&jvm);
    let moment = Instant::now() + Duration::from_micros(500_000 + random(seed, 2_000_000));
    let poll = || WriterPoll {
        at: epoch(),
        waited: writer.waited(),
    };
    let mut polls = vec![poll()];
    while Instant::now() < moment {
        sleep_until(Instant::now() + POLL_INTERVAL);
        polls.push(poll());
    }
    jvm.signal("STOP");
    let stopped = epoch();
    jvm.wait_until("it is stopped", || writer.is_stopped());
    polls.push(poll());
    jvm.signal("KILL");
    assert_eq!(jvm.finish().code, None);
    let samples = read_samples(&fs::read(test_dir.file("app.jfr")).unwrap());
    let last = samples.iter().map(|(at, _)| *at).max()?;
    let last = Duration::from_nanos(u64::try_from(last).unwrap());
    let beats = beats(&test_dir);
    let first = beats.partition_point(|at| *at <= last);
    let (first, end) = match &beats[first..] {
        [] => (last, last),
        [only] => (*only, *only),
        [first, .., end] => (*first, *end),
    };
    Some(Loss {
        lost: end.saturating_sub(first),
        // What was before the first poll is not known: too little is taken off the loss then, never
        // too much.
        excused: excused(&polls, &beats, first, end),
        seen: stopped.saturating_sub(last),
    })
}

#[test]
fn p3_loss_is_bounded_by_flush_interval() {
    let lives = env_number("CTXAGENT_STOPS").unwrap_or(20);
    let begin = env_number("CTXAGENT_FIRST_KILL").unwrap_or(0);
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
         a processor or the machine stood still (up to {:?}), median {:?}, most {:?}",
        all.len(),
        most(|loss| loss.seen),
        most(|loss| loss.lost),
        most(|loss| loss.excused),
        all[all.len() / 2].of_ours(),
        most(Loss::of_ours),
    );
    // Else nothing was tried.
    assert!(all.len() as u64 > lives / 2);
    assert!(most(Loss::of_ours) <= FLUSH + MARGIN, "{all:?}");
}
