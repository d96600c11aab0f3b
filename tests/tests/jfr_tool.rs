//! The stock `jfr` of each JDK reads our file and shows the attributes; `ctxjfr` agrees with it.

use e2e::recording::{Event, SAMPLES, fraction_nanos, weights_by};
use e2e::{Jdk, Recording, assert_contains, record};

#[test]
fn each_jdk_reads_the_recording() {
    let (_, recording) = record(
        Jdk::main(),
        "interval=2ms,ctx=endpoint+tenant",
        "Split platform 2 150",
    );
    for check in [
        summary_counts_the_samples,
        print_shows_the_attributes_as_columns,
        metadata_declares_the_attributes_of_the_jdks_events,
        print_gives_json_and_xml,
        own_tool_prints_the_same_events,
        every_event_of_the_file_can_be_printed,
        views_show_attributes,
        nothing_unasked_is_recorded,
        signals_balance_with_samples_and_losses,
    ] {
        check(&recording);
    }
}

fn summary_counts_the_samples(recording: &Recording) {
    for reader in Jdk::every() {
        let counts = recording.counts(reader);
        println!("{reader}: {counts:?}");
        assert!(counts["jdk.ExecutionSample"] > 300, "{counts:?}");
        // JDK 17 spells it jdk.CheckPoint.
        let count = |name: &str| {
            counts
                .iter()
                .find(|(kind, _)| kind.eq_ignore_ascii_case(name))
                .map_or(0, |(_, &count)| count)
        };
        for needed in [
            "jdk.Metadata",
            "jdk.Checkpoint",
            "ctxagent.Context",
            "ctxagent.ContextAttribute",
            "ctxagent.Stats",
        ] {
            assert!(count(needed) > 0, "{needed}: {counts:?}");
        }
    }
}

fn print_shows_the_attributes_as_columns(recording: &Recording) {
    for reader in Jdk::every() {
        let text = recording
            .jfr(reader, &["print", "--events", "jdk.ExecutionSample"])
            .success();
        assert_eq!(text.stderr, "", "{reader}");
        for column in [
            "endpoint = \"/checkout\"",
            "tenant = \"tenant-0\"",
            "sampledThread = \"splitter-0\"",
            "Split.unit(long)",
        ] {
            assert!(
                text.stdout.contains(column),
                "{reader}: no {column} in\n{:.2000}",
                text.stdout
            );
        }
    }
}

/// Events that the JDK has as well are declared with a context.
fn metadata_declares_the_attributes_of_the_jdks_events(recording: &Recording) {
    for reader in Jdk::every() {
        let text = recording.jfr(reader, &["metadata"]).success().stdout;
        for class in [
            "ExecutionSample",
            "ObjectAllocationSample",
            "JavaMonitorEnter",
        ] {
            let begin = format!("class {class} extends jdk.jfr.Event {{");
            let (_, fields) = text.split_once(&begin).unwrap();
            let (fields, _) = fields.split_once("\n}").unwrap();
            for field in ["String endpoint;", "String tenant;", "long contextId;"] {
                assert_contains!(fields, field, "{reader}: {class}");
            }
        }
    }
}

fn print_gives_json_and_xml(recording: &Recording) {
    for reader in Jdk::every() {
        let samples = recording.events_by_jdk(reader, SAMPLES);
        let weights = weights_by(&samples, "endpoint");
        println!("{reader}: {weights:?}");
        assert_eq!(weights.keys().flatten().count(), 3, "{weights:?}");
        let xml = recording
            .jfr(
                reader,
                &["print", "--xml", "--events", "jdk.ExecutionSample"],
            )
            .success();
        assert!(
            xml.stdout.contains("endpoint") && xml.stdout.trim_end().ends_with("</recording>"),
            "{reader}"
        );
    }
}

/// In nanoseconds: less than a minute, as the JDK prints it (`PT0.001S`).
fn nanos_of_duration(text: &str) -> Option<i64> {
    let seconds = text.strip_prefix("PT")?.strip_suffix('S')?;
    let whole = seconds.split('.').next()?;
    Some(whole.parse::<i64>().ok()? * 1_000_000_000 + fraction_nanos(&seconds[whole.len()..]))
}

/// JDK 17 prints them by time.
fn sorted(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by_cached_key(|event| format!("{event:?}"));
    events
}

/// Compares what `ctxjfr` prints with what each JDK prints; there are events of the type.
fn assert_printed_alike(recording: &Recording, kind: &str) {
    let ours = sorted(recording.events(kind));
    assert!(!ours.is_empty(), "{kind}");
    for reader in Jdk::every() {
        let mut theirs = recording.events_by_jdk(reader, kind);
        for event in &mut theirs {
            let nanos = event
                .text("duration")
                .map(|d| nanos_of_duration(d).unwrap());
            if let Some(nanos) = nanos {
                event.values["duration"] = nanos.into();
            }
        }
        let theirs = sorted(theirs);
        assert_eq!(ours.len(), theirs.len(), "{reader}: {kind}");
        for (our, their) in ours.iter().zip(&theirs) {
            assert_eq!(our, their, "{reader}");
        }
    }
}

/// Most tests read recordings by `ctxjfr`, which prints durations in nanoseconds and else what the
/// JDK prints.
fn own_tool_prints_the_same_events(recording: &Recording) {
    for kind in [
        "jdk.ExecutionSample",
        "jdk.ActiveSetting",
        "ctxagent.Context",
        "ctxagent.ContextAttribute",
        "ctxagent.Stats",
    ] {
        assert_printed_alike(recording, kind);
    }
    let (_, recording) = record(
        Jdk::main(),
        "event=wall+alloc+lock,wall=10ms,lock=1us,jstackdepth=32",
        "Hostile 1 7",
    );
    for kind in [
        "profiler.WallClockSample",
        "jdk.ObjectAllocationSample",
        "jdk.JavaMonitorEnter",
        "jdk.GCPhasePause",
    ] {
        assert_printed_alike(&recording, kind);
    }
}

fn every_event_of_the_file_can_be_printed(recording: &Recording) {
    for reader in Jdk::every() {
        let all = recording.jfr(reader, &["print"]).success();
        assert_eq!(all.stderr, "", "{reader}");
        let metadata = recording.jfr(reader, &["metadata"]).success();
        assert!(metadata.stdout.contains("endpoint"), "{reader}");
    }
}

fn views_show_attributes(recording: &Recording) {
    for reader in Jdk::with_virtual_threads() {
        let hot = recording
            .jfr(reader, &["view", "--width", "200", "hot-methods"])
            .success();
        assert_contains!(hot.stdout, "Split.unit", "{reader}");
        let table = recording
            .jfr(reader, &["view", "--width", "300", "jdk.ExecutionSample"])
            .success();
        assert!(
            table.stdout.to_lowercase().contains("endpoint"),
            "{reader}\n{:.1000}",
            table.stdout
        );
        assert!(
            table.stdout.contains("/checkout"),
            "{reader}\n{:.1000}",
            table.stdout
        );
    }
}

fn nothing_unasked_is_recorded(recording: &Recording) {
    let reader = Jdk::main();
    let all = recording.jfr(reader, &["print"]).success();
    let counts = recording.counts(reader);
    for kind in [
        "jdk.InitialEnvironmentVariable",
        "jdk.InitialSystemProperty",
    ] {
        assert_eq!(counts.get(kind).copied().unwrap_or(0), 0, "{kind}");
    }
    for secret in ["java.home", "-agentpath", "-Xmx", "PATH=", "user.dir"] {
        assert!(!all.stdout.contains(secret), "{secret} is in the recording");
    }
}

fn signals_balance_with_samples_and_losses(recording: &Recording) {
    let (totals, samples) = recording.reconcile();
    println!("{totals:?}");
    assert!(totals["signals"] + totals["overruns"] > 300);
    assert_eq!(
        samples
            .iter()
            .map(e2e::recording::Event::weight)
            .sum::<i64>(),
        totals["written.weight"]
    );
}
