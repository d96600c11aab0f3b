//! Allocations, waits for monitors and pauses carry the context of their thread and add up to what
//! happened.

#![expect(clippy::cast_precision_loss, reason = "some thousand samples")]

use std::collections::BTreeMap;

use e2e::recording::Event;
use e2e::{Jdk, Jvm, TestDir};

const ALLOCATION: &str = "jdk.ObjectAllocationSample";
const MONITOR: &str = "jdk.JavaMonitorEnter";

fn observed(jdk: Jdk, test_dir: &TestDir, options: &str, arguments: &[&str]) -> usize {
    let stdout = told(jdk, test_dir, options, arguments);
    number(
        &stdout,
        if arguments[0] == "alloc" {
            "bytes"
        } else {
            "waits"
        },
    )
}

/// The number behind a word that begins a line.
fn number(stdout: &str, word: &str) -> usize {
    let lines = stdout.lines().filter_map(|line| line.split_once(' '));
    let mut found = lines.filter(|(name, _)| *name == word).map(|(_, n)| n);
    found.next_back().unwrap().parse().unwrap()
}

fn told(jdk: Jdk, test_dir: &TestDir, options: &str, arguments: &[&str]) -> String {
    let run = Jvm::new(jdk, test_dir)
        // One carrier may be held, another one wait.
        .flag("-Djdk.virtualThreadScheduler.parallelism=4")
        .agent(&format!("start,{options},file=app.jfr,ctx=label"))
        .main("Observed", arguments)
        .run_ok();
    assert_eq!(run.stderr_but_start(), "", "{jdk}");
    run.stdout
}

fn sum(events: &[&Event]) -> f64 {
    events
        .iter()
        .map(|e| e.number("weight").unwrap() as f64)
        .sum()
}

#[test]
fn allocation_weights_match_bytes_by_label() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let test_dir = TestDir::new();
        let bytes = observed(jdk, &test_dir, "event=alloc,alloc=64k", &["alloc", kind]) as f64;
        let recording = test_dir.recording();
        let events = recording.events(ALLOCATION);
        let of = |label: &str| -> Vec<&Event> {
            let labelled = events.iter().filter(|e| e.text("label") == Some(label));
            labelled
                .filter(|e| e.class("objectClass") == Some("[I"))
                .collect()
        };
        let (seventy, thirty) = (of("seventy"), of("thirty"));
        let share = sum(&seventy) / (sum(&seventy) + sum(&thirty));
        let total = (sum(&seventy) + sum(&thirty)) / bytes;
        println!(
            "{jdk} {kind}: {} + {} samples, share {share:.4}, weights / bytes {total:.4}",
            seventy.len(),
            thirty.len()
        );
        // About 15 000 samples: standard deviations 0.4 and 0.8 points.
        assert!((share - 0.7).abs() < 0.016, "share {share}");
        assert!((total - 1.0).abs() < 0.033, "total {total}");
        for event in seventy.iter().chain(&thirty) {
            assert_eq!(event.number("objectSize"), Some(4016));
            let frames = event.frames();
            assert!(
                frames.iter().any(|f| f.starts_with("Observed.")),
                "{frames:?}"
            );
        }
        let totals = recording.totals();
        let get = |name: &str| totals.get(name).copied().unwrap_or(0);
        assert_eq!(
            get("alloc.seen"),
            get("alloc.written") + get("alloc.filtered") + get("alloc.lost")
        );
        assert_eq!(get("alloc.lost"), 0);
        assert_eq!(get("signals"), 0, "no CPU samples were asked for");
    }
}

const SIZES: [&str; 6] = ["16", "1k", "64k", "1m", "8m", "64m"];

/// Compares weights / bytes of each size that `Sizes` allocated with what they should be, within
/// five deviations.
///
/// An object of s bytes is picked with p and weighs w = s / p. So the variance of n of them is n s²
/// (1-p) / p = n s (w - s), and relative to their n s bytes the deviation is the root of (w - s) / n
/// s. Where the VM picks them more often by a factor, it is the root of that factor larger.
fn assert_ratios_by_size(jdk: Jdk, how: &str, expected: [f64; 6]) {
    let test_dir = TestDir::new();
    let run = Jvm::new(jdk, &test_dir)
        .flag("-Xmx512m")
        .agent("start,event=alloc,alloc=512k,file=app.jfr,ctx=label")
        .main("Sizes", &[how, "1024"])
        .run_ok();
    let events = test_dir.recording().events(ALLOCATION);
    for (label, expected) in SIZES.into_iter().zip(expected) {
        let ours = events.iter().filter(|e| e.text("label") == Some(label));
        let ours: Vec<&Event> = ours.collect();
        let bytes = number(&run.stdout, label) as f64;
        let [weight, size] = ["weight", "objectSize"].map(|n| ours[0].number(n).unwrap() as f64);
        let deviation = (expected * (weight - size) / bytes).sqrt();
        let ratio = sum(&ours) / bytes;
        let line = format!(
            "{jdk} {how} {label}: {} samples, weights / bytes {ratio:.4}, expected {expected} +- {deviation:.4}",
            ours.len()
        );
        println!("{line}");
        // The rounding of a weight counts where all objects are picked.
        let allowed = (5.0 * deviation).max(0.001);
        assert!((ratio - expected).abs() <= allowed, "{line}");
    }
}

#[test]
fn allocation_weights_match_bytes_of_each_size() {
    for jdk in Jdk::all() {
        assert_ratios_by_size(jdk, "apart", [1.0; 6]);
    }
}

/// 17 and 21 pick what follows an array outside of the thread's buffer too often, and what lies
/// before it too rarely (`docs/operations.md`).
#[test]
fn allocation_weights_by_size_are_within_vm_bias() {
    for jdk in Jdk::all() {
        let expected = if jdk.version < 25 {
            [1.83, 0.98, 0.68, 0.92, 1.0, 1.0]
        } else {
            [1.0; 6]
        };
        assert_ratios_by_size(jdk, "turns", expected);
    }
}

/// More samples than the writer takes: what those that are lost stand for goes to later ones of the
/// same label.
#[test]
fn lost_allocations_keep_their_weight() {
    let test_dir = TestDir::new();
    let options = "event=alloc,alloc=1k";
    let load = ["alloc", "platform", "15000"];
    let bytes = observed(Jdk::main(), &test_dir, options, &load) as f64;
    let recording = test_dir.recording();
    let events = recording.events(ALLOCATION);
    let totals = recording.totals();
    let get = |name: &str| totals.get(name).copied().unwrap_or(0);
    let (seen, lost) = (get("alloc.seen"), get("alloc.lost"));
    assert!(lost * 50 > seen, "hardly any was lost: {lost} of {seen}");
    let of = |label: &str| -> f64 {
        let ours = events
            .iter()
            .filter(|e| e.text("label") == Some(label) && e.class("objectClass") == Some("[I"));
        sum(&ours.collect::<Vec<_>>())
    };
    let both = of("seventy") + of("thirty");
    let open = get("alloc.lost_bytes") - get("alloc.carried_bytes");
    println!(
        "{lost} of {seen} lost, {:.4} of the bytes, share {:.4}, {open} bytes open",
        both / bytes,
        of("seventy") / both
    );
    // The last ones of a thread have no later one.
    assert!((both / bytes - 1.0).abs() < 0.03, "{}", both / bytes);
    assert!((of("seventy") / both - 0.7).abs() < 0.01);
}

#[test]
fn lock_contention_is_event_of_waiting_thread() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let test_dir = TestDir::new();
        let waits = observed(jdk, &test_dir, "lock=2ms", &["lock", kind]);
        let recording = test_dir.recording();
        let events = recording.events(MONITOR);
        let ours: Vec<&Event> = events
            .iter()
            .filter(|e| e.class("monitorClass") == Some("Observed$Gate"))
            .collect();
        println!("{jdk} {kind}: {} events, {waits} waits", ours.len());
        let totals = recording.totals();
        let get = |name: &str| totals.get(name).copied().unwrap_or(0);
        // The accounting: each wait was seen, others may have been too short.
        let short = usize::try_from(get("lock.short")).unwrap();
        assert!(ours.len() + short >= waits, "{totals:?}");
        assert_eq!(
            ours.len(),
            waits,
            "the holder holds on for 5 ms after each wait began: {totals:?}"
        );
        for event in ours {
            assert_eq!(event.text("label"), Some("waiter"), "{:?}", event.values);
            let frames = event.frames();
            assert!(
                frames.iter().any(|f| f == "Observed.waitForIt"),
                "{frames:?}"
            );
        }
        assert_eq!(
            get("lock.seen"),
            get("lock.written") + get("lock.short") + get("lock.filtered") + get("lock.lost")
        );
    }
}

/// The waits of `Observed` lie where the program saw them, whatever the clocks of the file and of
/// the program are apart.
#[test]
fn contention_times_are_exact() {
    const ROUNDING: i64 = 20_000;
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let test_dir = TestDir::new();
        let stdout = told(jdk, &test_dir, "lock=2ms", &["lock", kind]);
        let events = test_dir.recording().events(MONITOR);
        let ours = events
            .iter()
            .filter(|e| e.class("monitorClass") == Some("Observed$Gate"));
        let mut spans: Vec<(i64, i64)> = ours
            .map(|e| (e.start_nanos(), e.start_nanos() + e.duration_nanos()))
            .collect();
        spans.sort_unstable();
        let seen: Vec<Vec<i64>> = stdout
            .lines()
            .filter(|line| line.starts_with("wait-"))
            .map(|line| {
                line.split(' ')
                    .skip(1)
                    .map(|n| n.parse().unwrap())
                    .collect()
            })
            .collect();
        assert_eq!(spans.len(), seen.len());
        let (mut least, mut most) = (i64::MIN, i64::MAX);
        for ((begin, end), times) in spans.iter().zip(&seen) {
            let [comes, waits, leaves, goes_on] = times[..].try_into().unwrap();
            least = least.max(begin - waits).max(end - goes_on);
            most = most.min(begin - comes).min(end - leaves);
        }
        println!("{jdk} {kind}: the clocks are {least} to {most} ns apart");
        assert!(
            least <= most + ROUNDING,
            "{least} {most}: {spans:?} {seen:?}"
        );
    }
}

#[test]
fn contention_names_owner_and_its_context() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let test_dir = TestDir::new();
        let stdout = told(jdk, &test_dir, "lock=2ms", &["lock", kind]);
        let holder = i64::try_from(number(&stdout, "holder")).unwrap();
        let recording = test_dir.recording();
        let contexts = recording.events("ctxagent.Context");
        let labels: BTreeMap<i64, &str> = contexts
            .iter()
            .filter_map(|c| Some((c.number("contextId")?, c.text("label")?)))
            .collect();
        let events = recording.events(MONITOR);
        let ours = events
            .iter()
            .filter(|e| e.class("monitorClass") == Some("Observed$Gate"));
        let (mut all, mut known) = (0, 0);
        for event in ours {
            all += 1;
            let owner = event.values.get("previousOwner").unwrap();
            let Some(id) = owner
                .get("javaThreadId")
                .and_then(serde_json::Value::as_i64)
            else {
                assert_eq!(
                    event.number("ownerContextId"),
                    Some(0),
                    "{:?}",
                    event.values
                );
                continue;
            };
            let context = event.number("ownerContextId").unwrap();
            if id != holder && kind == "virtual" && jdk.version == 21 {
                // On its way into a sleep with the monitor held: for some microseconds the carrier
                // is the current thread, without context.
                assert_eq!(context, 0, "{:?}", event.values);
                continue;
            }
            known += 1;
            assert_eq!(id, holder, "{:?}", event.values);
            assert_eq!(labels.get(&context), Some(&"holder"), "{:?}", event.values);
        }
        println!("{jdk} {kind}: {known} of {all} owners");
        assert!(all > 0 && known * 2 > all, "{known} of {all}");
    }
}

#[test]
fn gc_pauses_are_events() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        observed(jdk, &test_dir, "event=cpu", &["alloc", "platform"]);
        let recording = test_dir.recording();
        let pauses = recording.events("jdk.GCPhasePause");
        let totals = recording.totals();
        println!("{jdk}: {} pauses", pauses.len());
        assert!(!pauses.is_empty());
        assert_eq!(
            totals.get("gc.seen").copied(),
            i64::try_from(pauses.len()).ok()
        );
    }
}

/// As long as the collector itself says, which leaves out the ways to the safepoint and back.
#[test]
fn gc_pauses_are_as_long_as_gc_says() {
    let test_dir = TestDir::new();
    let run = Jvm::new(Jdk::main(), &test_dir)
        .flag("-XX:+UseSerialGC")
        .flag("-Xmx64m")
        .flag("-Xlog:gc:stdout")
        .agent("start,event=cpu,file=app.jfr")
        .main("Observed", &["alloc", "platform"])
        .run_ok();
    // [0.123s][info][gc] GC(0) Pause Young (Allocation Failure) 17M->1M(61M) 1.234ms
    let lines = run.stdout.lines().filter(|line| line.contains(" Pause "));
    let logged: Vec<f64> = lines
        .filter_map(|line| line.rsplit(' ').next()?.strip_suffix("ms")?.parse().ok())
        .collect();
    let pauses = test_dir.recording().events("jdk.GCPhasePause");
    let lengths: Vec<f64> = pauses
        .iter()
        .map(|p| p.duration_nanos() as f64 / 1e6)
        .collect();
    let (said, found): (f64, f64) = (logged.iter().sum(), lengths.iter().sum());
    println!(
        "{} pauses of {found} ms, {} logged of {said} ms",
        lengths.len(),
        logged.len()
    );
    assert!(
        logged.len() >= 10 && lengths.len() >= logged.len(),
        "{}",
        run.stdout
    );
    assert!(found >= said * 0.9, "{found} of {said} ms");
    assert!(lengths.iter().all(|length| *length > 0.0), "{lengths:?}");
}

#[test]
fn jfr_views_show_allocations_and_contention() {
    let jdk = Jdk::main();
    let test_dir = TestDir::new();
    observed(jdk, &test_dir, "event=alloc", &["alloc", "platform"]);
    let recording = test_dir.recording();
    // `jfr view` exists from 21 on.
    for jdk in Jdk::all().into_iter().filter(Jdk::has_virtual_threads) {
        let view = recording
            .jfr(jdk, &["view", "allocation-by-class"])
            .success();
        let share = view.stdout.lines().find_map(|line| {
            let rest = line.strip_prefix("int[]")?.trim().strip_suffix('%')?;
            rest.parse::<f64>().ok()
        });
        assert!(share.is_some_and(|s| s > 90.0), "{}", view.stdout);
    }
    let test_dir = TestDir::new();
    observed(jdk, &test_dir, "event=lock", &["lock", "platform"]);
    let recording = test_dir.recording();
    for jdk in Jdk::all().into_iter().filter(Jdk::has_virtual_threads) {
        let view = recording
            .jfr(jdk, &["view", "contention-by-site"])
            .success();
        assert!(
            view.stdout.contains("Observed.waitForIt"),
            "{}",
            view.stdout
        );
    }
}
