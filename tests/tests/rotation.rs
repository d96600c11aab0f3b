//! Chunks and files are rotated without losing a sample, and each finished file can be read alone.

use std::collections::BTreeSet;
use std::fs;

use e2e::recording::{CpuTime, Event, Recording, Totals, distinct};
use e2e::{Jdk, Jvm, TestDir, record};

/// Chunks that a JDK's `jfr` sees.
fn chunks_of(recording: &Recording, jdk: Jdk) -> usize {
    let summary = recording.jfr(jdk, &["summary"]).success();
    let line = summary
        .stdout
        .lines()
        .find(|line| line.trim().starts_with("Chunks:"))
        .unwrap()
        .to_owned();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Sum of the counters so named.
fn sum(totals: &Totals, names: &[&str]) -> i64 {
    names.iter().map(|name| totals[name]).sum()
}

/// All weight that came is in the samples, lost or not wanted (without `ratelimit`).
fn assert_weight_reconcile(recording: &Recording, totals: &Totals) {
    let became = sum(
        totals,
        &["written.weight", "weight.filtered", "weight.lost"],
    );
    let file = recording.path().display();
    let came = sum(totals, &["signals", "overruns"]);
    assert_eq!(came, became, "{file}: {totals:?}");
}

fn rotated(interval_ms: u32, options: &str, at_least: usize) -> Vec<usize> {
    let test_dir = TestDir::new();
    let jdk = Jdk::main();
    let run = Jvm::new(jdk, &test_dir)
        .agent(&format!("start,interval={interval_ms}ms,{options}"))
        .program("Target burn 2 4000")
        .stop_recording_at_end()
        .run_ok();
    assert_eq!(run.agent_lines(), Vec::<&str>::new());
    let recordings = test_dir.recordings();
    let names: Vec<_> = recordings
        .iter()
        .map(|r| r.path().file_name().unwrap().to_owned())
        .collect();
    let chunks: Vec<usize> = recordings
        .iter()
        .map(|recording| chunks_of(recording, jdk))
        .collect();
    // Each file's own counters are right.
    let samples: Vec<Event> = recordings
        .iter()
        .flat_map(|recording| {
            let (totals, samples) = recording.reconcile();
            assert_weight_reconcile(recording, &totals);
            samples
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "some seconds")]
    let used = run.numbers("burners used ")[0] as f64;
    let seen = CpuTime::of_threads(&samples, "burner-", interval_ms);
    let (ratio, deviation) = (seen.nanos / used, seen.deviation / used);
    println!("{options}: {names:?}, chunks {chunks:?}, weights / CPU time {ratio:.3}");
    assert!(
        (ratio - 1.0).abs() < 0.05 + 4.0 * deviation,
        "{ratio} +- {deviation}"
    );
    assert!(chunks.iter().sum::<usize>() >= at_least, "{chunks:?}");
    for recording in &recordings {
        for reader in Jdk::all() {
            recording.jfr(reader, &["summary"]).success();
        }
    }
    chunks
}

#[test]
fn chunks_by_time() {
    let chunks = rotated(5, "file=app.jfr,chunktime=1s", 3);
    assert_eq!(chunks.len(), 1, "one file");
}

/// Some 100 000 allocations a second, and no flush: they take more memory than a chunk may.
#[test]
fn chunks_by_memory() {
    let (_, recording) = Jvm::recording(Jdk::main(), "event=alloc,alloc=1k,flush=60s")
        .program("Unfinished 8000")
        .record_to_exit();
    let totals = recording.totals();
    let chunks = chunks_of(&recording, Jdk::main());
    println!("{chunks} chunks, {totals:?}");
    assert!(chunks >= 2, "{chunks}");
}

#[test]
fn files_by_number() {
    let chunks = rotated(5, "file=app-%n.jfr,loop=1s", 3);
    assert!(chunks.len() >= 3, "{chunks:?}");
}

/// A thousand samples a second and a thread: some are on their way whenever a file ends.
#[test]
fn files_under_a_dense_load() {
    rotated(1, "file=app-%n.jfr,loop=1s", 3);
}

/// Each file by itself: visits, wall-clock signals and allocations are under way whenever one ends.
#[test]
fn files_with_all_events_under_a_dense_load() {
    let test_dir = TestDir::new();
    let jdk = Jdk::main();
    Jvm::new(jdk, &test_dir)
        .agent("start,event=cpu+wall+alloc,interval=2ms,wall=2ms,alloc=1k,file=app-%n.jfr,loop=1s")
        .program("Unfinished 8000")
        .run_ok();
    let recordings = test_dir.recordings();
    assert!(recordings.len() >= 3, "{recordings:?}");
    for recording in &recordings {
        let (totals, _) = recording.reconcile();
        println!("{totals:?}");
        assert_weight_reconcile(recording, &totals);
        let sum = |names: &[&str]| sum(&totals, names);
        let visits = [
            "wall.sent",
            "wall.repeated",
            "wall.unlabelled",
            "wall.pending",
            "wall.exited",
            "wall.missed",
        ];
        assert_eq!(sum(&["wall.scheduled"]), sum(&visits));
        let signals = [
            "wall.written",
            "wall.lost",
            "wall.filtered",
            "wall.no_context",
        ];
        assert_eq!(sum(&["wall.signals"]), sum(&signals));
        let allocations = ["alloc.written", "alloc.lost", "alloc.filtered"];
        assert_eq!(sum(&["alloc.seen"]), sum(&allocations));
        let counts = recording.counts(jdk);
        let events = counts.get("jdk.ObjectAllocationSample").copied();
        assert_eq!(events, u64::try_from(sum(&["alloc.written"])).ok());
    }
}

#[test]
fn files_by_time() {
    let chunks = rotated(5, "file=app-%t.jfr,loop=2s", 2);
    assert!(chunks.len() >= 2, "{chunks:?}");
}

#[test]
fn no_more_files_than_asked_for() {
    let test_dir = TestDir::new();
    Jvm::new(Jdk::main(), &test_dir)
        .agent("start,interval=5ms,file=app-%n{2}.jfr,loop=1s")
        .program("Target burn 2 5000")
        .stop_recording_at_end()
        .run_ok();
    let recordings = test_dir.recordings();
    let names: Vec<_> = recordings
        .iter()
        .map(|r| r.path().file_name().unwrap().to_owned())
        .collect();
    println!("{names:?}");
    assert_eq!(names, ["app-0.jfr", "app-1.jfr"]);
    for recording in &recordings {
        recording.jfr(Jdk::main(), &["summary"]).success();
    }
}

fn names(test_dir: &TestDir) -> Vec<String> {
    let name = |r: Recording| r.path().file_name().unwrap().to_str().unwrap().to_owned();
    test_dir.recordings().into_iter().map(name).collect()
}

#[test]
fn existing_recording_is_kept() {
    let test_dir = TestDir::new();
    let once = |options: &str| {
        Jvm::brief(
            &test_dir,
            &format!("start,interval=5ms,file=app-1.jfr{options}"),
        )
        .may_warn("file 'app-1.jfr' exists")
        .stop_recording_at_end()
        .run_ok()
    };
    assert_eq!(once("").agent_lines(), [""; 0]);
    let first = fs::read(test_dir.file("app-1.jfr")).unwrap();
    let second = once("");
    assert_eq!(
        second.agent_lines(),
        [
            "ctxagent: warning: file 'app-1.jfr' exists; it is replaced only with the option overwrite; \
          recording to 'app-1-2.jfr' instead"
        ]
    );
    assert_eq!(fs::read(test_dir.file("app-1.jfr")).unwrap(), first);
    assert_eq!(names(&test_dir), ["app-1-2.jfr", "app-1.jfr"]);
    assert_eq!(once(",overwrite").agent_lines(), [""; 0]);
    assert_ne!(fs::read(test_dir.file("app-1.jfr")).unwrap(), first);
    for recording in test_dir.recordings() {
        recording.reconcile();
    }
}

#[test]
fn file_name_has_host_and_environment() {
    let test_dir = TestDir::new();
    Jvm::brief(&test_dir, "start,interval=5ms,file=%{POD_NAME}-%h.jfr")
        .environment("POD_NAME", "shop/7")
        .run_ok();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(names(&test_dir), [format!("shop_7-{}.jfr", host.trim())]);
}

fn serving(test_dir: &TestDir, options: &str) -> e2e::RunningJvm {
    rotating(test_dir, options).serve()
}

fn rotating(test_dir: &TestDir, options: &str) -> Jvm {
    let options = format!("start,interval=5ms,flush=100ms,{options}");
    Jvm::new(Jdk::main(), test_dir).agent(&options)
}

#[test]
fn foreign_file_does_not_end_rotation() {
    let test_dir = TestDir::new();
    fs::write(test_dir.file("app-1.jfr"), b"a novel").unwrap();
    fs::write(test_dir.file("app-2.part.jfr"), b"another").unwrap();
    let jvm = rotating(&test_dir, "file=app-%n.jfr,loop=1s")
        .may_warn("exists and is not a JFR recording")
        .serve();
    let whole = ["app-0.jfr", "app-1-2.jfr", "app-2-2.jfr", "app-3.jfr"];
    jvm.wait_until("four files are whole", || {
        whole.iter().all(|name| test_dir.file(name).exists())
    });
    jvm.end();
    assert_eq!(fs::read(test_dir.file("app-1.jfr")).unwrap(), b"a novel");
    assert_eq!(
        fs::read(test_dir.file("app-2.part.jfr")).unwrap(),
        b"another"
    );
    for name in whole {
        Recording::new(test_dir.file(name)).reconcile();
    }
}

#[test]
fn finished_file_is_renamed_and_truncated() {
    let test_dir = TestDir::new();
    let jvm = serving(&test_dir, "file=app-%n.jfr,loop=1s");
    jvm.wait_until("a file is whole", || test_dir.file("app-0.jfr").exists());
    let whole = Recording::new(test_dir.file("app-0.jfr"));
    assert!(fs::metadata(whole.path()).unwrap().len() < 1 << 20);
    whole.reconcile();
    let running = |name: &String| name.ends_with(".part.jfr");
    assert_eq!(names(&test_dir).into_iter().filter(running).count(), 1);
    jvm.end();
    assert!(
        !names(&test_dir).iter().any(running),
        "{:?}",
        names(&test_dir)
    );
}

#[test]
fn file_of_replaced_directory_gets_its_final_name() {
    let test_dir = TestDir::new();
    let [home, away, other] = ["home", "away", "other"].map(|name| test_dir.file(name));
    fs::create_dir(&home).unwrap();
    fs::create_dir(&other).unwrap();
    let jvm = rotating(&test_dir, "file=home/app-%n.jfr,loop=1s")
        .may_warn("was moved to ")
        .serve();
    jvm.wait_until("a file is whole", || home.join("app-0.jfr").exists());
    fs::rename(&home, &away).unwrap();
    std::os::unix::fs::symlink(&other, &home).unwrap();
    let files = || {
        let entries = fs::read_dir(&away).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<String>>()
    };
    let is_whole = |name: &String| !name.contains(".part") && !name.starts_with('.');
    jvm.wait_until("three files are whole", || {
        files().iter().filter(|name| is_whole(name)).count() >= 3
    });
    jvm.end();
    let left: Vec<String> = files().into_iter().filter(|name| !is_whole(name)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
}

/// The oldest one is replaced again and again, not only until each name is there.
#[test]
fn files_of_ring_replace_each_other() {
    let test_dir = TestDir::new();
    let jvm = serving(&test_dir, "file=app-%n{2}.jfr,loop=1s");
    let path = test_dir.file("app-0.jfr");
    for round in 0..3 {
        jvm.wait_until("the first file is there", || path.exists());
        let before = fs::read(&path).unwrap();
        jvm.wait_until(&format!("it is replaced, round {round}"), || {
            fs::read(&path).unwrap() != before
        });
    }
    jvm.end();
    assert_eq!(names(&test_dir), ["app-0.jfr", "app-1.jfr"]);
}

/// Wrong labels are the one fault that no counter shows: each sample has the label of its own
/// thread, in the first file and in the later ones.
#[test]
fn labels_belong_to_thread_in_every_file() {
    const THREADS: usize = 3;
    let test_dir = TestDir::new();
    let jdk = Jdk::main();
    Jvm::new(jdk, &test_dir)
        .agent("start,interval=2ms,flush=100ms,file=app-%n.jfr,loop=1s")
        .program(&format!("Labelled {THREADS} 1500"))
        .stop_recording_at_end()
        .run_ok();
    let files = test_dir.recordings();
    assert!(files.len() >= 3, "{files:?}");
    // A thread that has no label yet loads the classes that give it one.
    let mut begun = BTreeSet::new();
    for file in &files {
        let (_, samples) = file.reconcile();
        let (mut right, mut without) = (0, 0);
        let mut samples = distinct(samples.iter().collect());
        samples.sort_by_key(|sample| sample.start_nanos());
        for sample in samples {
            let Some(thread) = sample.thread().filter(|name| name.starts_with("labelled-")) else {
                continue;
            };
            match sample.text("who") {
                Some(label) => {
                    assert!(
                        label.starts_with(&format!("{thread}:")),
                        "{thread}: {label}"
                    );
                    right += 1;
                    begun.insert(thread.to_owned());
                }
                None => without += usize::from(begun.contains(thread)),
            }
        }
        println!(
            "{}: {right} right, {without} without",
            file.path().display()
        );
        // Between two contexts there is hardly anything to sample. The last file can begin when
        // each thread is at its end.
        assert!(without <= THREADS + right / 10, "{without} of {right}");
    }
    let right = |file: &Recording| file.samples().iter().any(|s| s.text("who").is_some());
    assert!(files[1..].iter().any(right), "no later file has a label");
}

/// Signals come after so much CPU time each; the writer takes many at once.
#[test]
fn sample_time_is_when_it_was_taken() {
    let jdk = Jdk::main();
    let (_, recording) = record(jdk, "interval=1ms", "Target burn 2 1000");
    let bytes = fs::read(recording.path()).unwrap();
    let mut times: Vec<i64> = e2e::recording::read_samples(&bytes)
        .into_iter()
        .map(|(nanos, _)| nanos)
        .collect();
    times.sort_unstable();
    times.dedup(); // a sample of a small weight is written as so many equal events
    let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
    let close = gaps.filter(|gap| *gap < 100_000).count();
    println!(
        "{close} of {} samples within 100 us of the one before",
        times.len()
    );
    assert!(times.len() > 50 && close * 2 < times.len(), "{close}");
}

/// Samples that no drain has taken yet when a dump is asked for are in it.
#[test]
fn dump_includes_pending_slots() {
    const ROUNDS: u32 = 6;
    let test_dir = TestDir::new();
    let jdk = Jdk::main();
    Jvm::new(jdk, &test_dir)
        .agent("")
        .program(&format!("DumpedAtOnce {ROUNDS} interval=1ms"))
        .run_ok();
    for round in 0..ROUNDS {
        let of = |name: &str| Recording::new(test_dir.file(&format!("{name}-{round}.jfr")));
        let (dump, whole) = (of("dump").samples().len(), of("whole").samples().len());
        println!("{dump} of {whole}");
        assert!(whole > 0);
        // Nothing was sampled in between.
        assert_eq!(dump, whole, "round {round}");
    }
}
