//! The stock `jfr` of each JDK reads our file and shows the attributes; `ctxjfr` agrees with it.

use std::sync::OnceLock;

use e2e::recording::weights_by;
use e2e::{Jdk, Jvm, Recording, TestDir};

/// One recording of JDK 21 for all tests here.
fn recording() -> &'static Recording {
    static MADE: OnceLock<Recording> = OnceLock::new();
    MADE.get_or_init(|| {
        let test_dir = Box::leak(Box::new(TestDir::new()));
        Jvm::new(Jdk::main(), test_dir)
            .agent("start,interval=2ms,file=app.jfr,ctx=endpoint+tenant")
            .main("Split", &["platform", "2", "150"])
            .stop_recording_at_end()
            .run_ok();
        test_dir.recording()
    })
}

#[test]
fn summary_counts_the_samples() {
    for reader in Jdk::all() {
        let counts = recording().counts(reader);
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

#[test]
fn print_shows_the_attributes_as_columns() {
    for reader in Jdk::all() {
        let text = recording()
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

#[test]
fn print_gives_json_and_xml() {
    for reader in Jdk::all() {
        let samples = recording().samples(reader);
        let weights = weights_by(&samples, "endpoint");
        println!("{reader}: {weights:?}");
        assert_eq!(weights.keys().flatten().count(), 3, "{weights:?}");
        let xml = recording()
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

#[test]
fn every_event_of_the_file_can_be_printed() {
    for reader in Jdk::all() {
        let all = recording().jfr(reader, &["print"]).success();
        assert_eq!(all.stderr, "", "{reader}");
        let metadata = recording().jfr(reader, &["metadata"]).success();
        assert!(metadata.stdout.contains("endpoint"), "{reader}");
    }
}

#[test]
fn views_show_attributes() {
    for reader in Jdk::all().into_iter().filter(|jdk| jdk.version >= 21) {
        let hot = recording()
            .jfr(reader, &["view", "--width", "200", "hot-methods"])
            .success();
        assert!(
            hot.stdout.contains("Split.unit"),
            "{reader}\n{}",
            hot.stdout
        );
        let table = recording()
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

#[test]
fn nothing_unasked_is_recorded() {
    let reader = Jdk::main();
    let all = recording().jfr(reader, &["print"]).success();
    let counts = recording().counts(reader);
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

#[test]
fn signals_balance_with_samples_and_losses() {
    let (totals, samples) = recording().reconcile(Jdk::main());
    println!("{totals:?}");
    let total = |name: &str| totals.get(name).copied().unwrap_or(0);
    assert!(total("signals") + total("overruns") > 300);
    assert_eq!(
        samples
            .iter()
            .map(e2e::recording::Event::weight)
            .sum::<i64>(),
        total("written.weight")
    );
}
