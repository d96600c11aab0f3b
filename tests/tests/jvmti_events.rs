//! Allocations, waits for monitors and pauses carry the context of their thread and add up to what
//! happened.

#![expect(clippy::cast_precision_loss, reason = "some thousand samples")]

use std::collections::BTreeMap;

use e2e::recording::Event;
use e2e::{Jdk, Jvm, Recording, assert_contains};
use serde_json::Value;

const ALLOCATION: &str = "jdk.ObjectAllocationSample";
const MONITOR: &str = "jdk.JavaMonitorEnter";

/// Bytes or waits of `Observed`, and the recording.
fn observed(jdk: Jdk, options: &str, arguments: &str) -> (usize, Recording) {
    let (stdout, recording) = told(jdk, options, arguments);
    let is_alloc = arguments.starts_with("alloc");
    let what = if is_alloc { "bytes" } else { "waits" };
    (number(&stdout, what), recording)
}

/// The number behind a word that begins a line.
fn number(stdout: &str, word: &str) -> usize {
    let lines = stdout.lines().filter_map(|line| line.split_once(' '));
    let mut found = lines.filter(|(name, _)| *name == word).map(|(_, n)| n);
    found.next_back().unwrap().parse().unwrap()
}

fn told(jdk: Jdk, options: &str, arguments: &str) -> (String, Recording) {
    let (run, recording) = Jvm::recording(jdk, &format!("{options},ctx=label"))
        // One carrier may be held, another one wait.
        .flag("-Djdk.virtualThreadScheduler.parallelism=4")
        .program(&format!("Observed {arguments}"))
        .record_to_exit();
    assert_eq!(run.stderr_but_start(), "", "{jdk}");
    (run.stdout, recording)
}

fn sum(events: &[&Event]) -> f64 {
    let weights = events.iter().map(|e| e.number("weight").unwrap() as f64);
    weights.sum()
}

/// Samples of the arrays that `Observed` allocates under a label.
fn arrays<'e>(events: &'e [Event], label: &str) -> Vec<&'e Event> {
    let is_array = |e: &&Event| e.class("objectClass") == Some("[I");
    let labelled = events.iter().filter(|e| e.text("label") == Some(label));
    labelled.filter(is_array).collect()
}

/// Waits for the monitor of `Observed`.
fn waits_of(recording: &Recording) -> Vec<Event> {
    let mut events = recording.events(MONITOR);
    events.retain(|e| e.class("monitorClass") == Some("Observed$Gate"));
    events
}

#[test]
fn allocation_weights_match_bytes_by_label() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let (bytes, recording) = observed(jdk, "event=alloc,alloc=64k", &format!("alloc {kind}"));
        let events = recording.events(ALLOCATION);
        let [seventy, thirty] = ["seventy", "thirty"].map(|label| arrays(&events, label));
        let both = sum(&seventy) + sum(&thirty);
        let (share, total) = (sum(&seventy) / both, both / bytes as f64);
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
            assert!(event.is_in_class("Observed"), "{:?}", event.frames());
        }
        let totals = recording.totals();
        assert_eq!(
            totals["alloc.seen"],
            totals["alloc.written"] + totals["alloc.filtered"] + totals["alloc.lost"]
        );
        assert_eq!(totals["alloc.lost"], 0);
        assert_eq!(totals["signals"], 0, "no CPU samples were asked for");
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
    let (run, recording) = Jvm::recording(jdk, "event=alloc,alloc=512k,ctx=label")
        .flag("-Xmx512m")
        .program(&format!("Sizes {how} 1024"))
        .record();
    let events = recording.events(ALLOCATION);
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
    let load = "alloc platform 15000";
    let (bytes, recording) = observed(Jdk::main(), "event=alloc,alloc=1k", load);
    let events = recording.events(ALLOCATION);
    let totals = recording.totals();
    let (seen, lost) = (totals["alloc.seen"], totals["alloc.lost"]);
    assert!(lost * 50 > seen, "hardly any was lost: {lost} of {seen}");
    let [seventy, thirty] = ["seventy", "thirty"].map(|label| sum(&arrays(&events, label)));
    let (both, bytes) = (seventy + thirty, bytes as f64);
    let open = totals["alloc.lost_bytes"] - totals["alloc.carried_bytes"];
    println!(
        "{lost} of {seen} lost, {:.4} of the bytes, share {:.4}, {open} bytes open",
        both / bytes,
        seventy / both
    );
    // The last ones of a thread have no later one.
    assert!((both / bytes - 1.0).abs() < 0.03, "{}", both / bytes);
    assert!((seventy / both - 0.7).abs() < 0.01);
}

#[test]
fn lock_contention_is_event_of_waiting_thread() {
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let (waits, recording) = observed(jdk, "lock=2ms", &format!("lock {kind}"));
        let ours = waits_of(&recording);
        println!("{jdk} {kind}: {} events, {waits} waits", ours.len());
        let totals = recording.totals();
        // The accounting: each wait was seen, others may have been too short.
        let short = usize::try_from(totals["lock.short"]).unwrap();
        assert!(ours.len() + short >= waits, "{totals:?}");
        assert_eq!(
            ours.len(),
            waits,
            "the holder holds on for 5 ms after each wait began: {totals:?}"
        );
        for event in ours {
            assert_eq!(event.text("label"), Some("waiter"), "{:?}", event.values);
            assert!(event.is_in("Observed.waitForIt"), "{:?}", event.frames());
        }
        assert_eq!(
            totals["lock.seen"],
            totals["lock.written"]
                + totals["lock.short"]
                + totals["lock.filtered"]
                + totals["lock.lost"]
        );
    }
}

/// The waits of `Observed` lie where the program saw them, whatever the clocks of the file and of
/// the program are apart.
#[test]
fn contention_times_are_exact() {
    const ROUNDING: i64 = 20_000;
    for (jdk, kind) in Jdk::with_kinds_of_threads() {
        let (stdout, recording) = told(jdk, "lock=2ms", &format!("lock {kind}"));
        let ours = waits_of(&recording);
        let mut spans: Vec<(i64, i64)> = ours
            .iter()
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
        let (stdout, recording) = told(jdk, "lock=2ms", &format!("lock {kind}"));
        let holder = i64::try_from(number(&stdout, "holder")).unwrap();
        let contexts = recording.events("ctxagent.Context");
        let labels: BTreeMap<i64, &str> = contexts
            .iter()
            .filter_map(|c| Some((c.number("contextId")?, c.text("label")?)))
            .collect();
        let (mut all, mut known) = (0, 0);
        for event in waits_of(&recording) {
            all += 1;
            let owner = event.values.get("previousOwner").unwrap();
            let context = event.number("ownerContextId").unwrap();
            let Some(id) = owner.get("javaThreadId").and_then(Value::as_i64) else {
                assert_eq!(context, 0, "{:?}", event.values);
                continue;
            };
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
        let (_, recording) = observed(jdk, "event=cpu", "alloc platform");
        let pauses = recording.events("jdk.GCPhasePause");
        let totals = recording.totals();
        println!("{jdk}: {} pauses", pauses.len());
        assert!(!pauses.is_empty());
        assert_eq!(Ok(totals["gc.seen"]), i64::try_from(pauses.len()));
    }
}

/// As long as the collector itself says, which leaves out the ways to the safepoint and back.
#[test]
fn gc_pauses_are_as_long_as_gc_says() {
    let (run, recording) = Jvm::recording(Jdk::main(), "event=cpu")
        .flag("-XX:+UseSerialGC")
        .flag("-Xmx64m")
        .flag("-Xlog:gc:stdout")
        .program("Observed alloc platform")
        .record_to_exit();
    // [0.123s][info][gc] GC(0) Pause Young (Allocation Failure) 17M->1M(61M) 1.234ms
    let lines = run.stdout.lines().filter(|line| line.contains(" Pause "));
    let logged: Vec<f64> = lines
        .filter_map(|line| line.rsplit(' ').next()?.strip_suffix("ms")?.parse().ok())
        .collect();
    let pauses = recording.events("jdk.GCPhasePause");
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
    let (_, allocations) = observed(Jdk::main(), "event=alloc", "alloc platform");
    let (_, contention) = observed(Jdk::main(), "event=lock", "lock platform");
    // `jfr view` exists from 21 on.
    for jdk in Jdk::all().into_iter().filter(Jdk::has_virtual_threads) {
        let view = allocations.jfr(jdk, &["view", "allocation-by-class"]);
        let view = view.success().stdout;
        let share = view.lines().find_map(|line| {
            let rest = line.strip_prefix("int[]")?.trim().strip_suffix('%')?;
            rest.parse::<f64>().ok()
        });
        assert!(share.is_some_and(|s| s > 90.0), "{view}");
        let view = contention.jfr(jdk, &["view", "contention-by-site"]);
        assert_contains!(view.success().stdout, "Observed.waitForIt");
    }
}
