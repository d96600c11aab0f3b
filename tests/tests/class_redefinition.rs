//! Stacks of methods whose class is redefined while they run.

use std::fs;

use e2e::recording::{Event, Frame, Totals};
use e2e::{Jdk, Jvm, TestDir};

/// What a run of `Redefined` left behind.
struct Redefined {
    stdout: String,
    totals: Totals,
    samples: Vec<Event>,
}

/// Runs `Redefined`, sampled each millisecond, on each JDK; prints a SKIP and gives nothing where
/// no JDK can make its jar.
fn runs(arguments: &[&str]) -> Vec<(Jdk, Redefined)> {
    let on = |jdk: Jdk| {
        let test_dir = TestDir::new();
        // It makes `Redefined` a Java agent too.
        let manifest = "Premain-Class: Redefined\nCan-Redefine-Classes: true\n";
        let jar = test_dir.jar(manifest, &[])?;
        let run = Jvm::new(jdk, &test_dir)
            .agent("start,interval=1ms,file=app.jfr")
            .flag(&format!("-javaagent:{}", jar.display()))
            .main("Redefined", arguments)
            .stop_recording_at_end()
            .run_ok();
        let (totals, samples) = test_dir.recording().reconcile();
        let stdout = run.stdout.trim().to_owned();
        let redefined = Redefined {
            stdout,
            totals,
            samples,
        };
        Some((jdk, redefined))
    };
    Jdk::every().into_iter().filter_map(on).collect()
}

/// Old versions of a method run on for a while: they have the names and lines of the class they
/// came from.
#[test]
fn redefinition_under_load_keeps_names_and_lines() {
    let source =
        fs::read_to_string(e2e::workspace::root().join("tests/java/load/Redefined.java")).unwrap();
    let first = source.lines().position(|l| l.contains("static void outer"));
    let lines = i64::try_from(first.unwrap()).unwrap()..1000;
    for (jdk, run) in runs(&["3000"]) {
        let of_workers = run.samples.iter().filter(|sample| {
            let thread = sample.thread();
            thread.is_some_and(|name| name.starts_with("redefined-"))
        });
        let (mut all, mut named, mut placed) = (0, 0, 0);
        for sample in of_workers {
            all += 1;
            let frames = sample.placed_frames();
            for Frame {
                name,
                line,
                bytecode_index,
            } in frames
            {
                let Some(method) = name.strip_prefix("Redefined$Target.") else {
                    continue;
                };
                assert!(["outer", "inner"].contains(&method), "{name}");
                if bytecode_index.is_some() {
                    assert!(line.is_some_and(|n| lines.contains(&n)), "{name}:{line:?}");
                    placed += 1;
                }
            }
            let has_outer = frames.iter().any(|f| f.name == "Redefined$Target.outer");
            named += i32::from(has_outer);
        }
        println!(
            "{jdk}: {}, {named} of {all} samples named, {} frames without a method",
            run.stdout, run.totals["stack.null_methods"]
        );
        let totals = run.totals;
        assert!(
            all > 100 && named * 10 > all * 9,
            "{named} of {all}: {totals:?}"
        );
        assert!(placed * 2 > all, "{placed} lines in {all} samples");
    }
}

/// Ids stay, and lead to the new version and its lines.
#[test]
fn lines_follow_the_new_version() {
    const DOWN: i64 = 1000;
    for (jdk, run) in runs(&["2000", "moved"]) {
        let (mut old, mut new) = (0, Vec::new());
        for sample in &run.samples {
            let frames = sample.placed_frames().iter();
            let lines = frames
                .filter(|frame| frame.name.starts_with("Redefined$Target."))
                .filter_map(|frame| frame.line);
            if sample.text("version") == Some("new") {
                new.extend(lines);
            } else {
                old += lines.filter(|line| *line < DOWN).count();
            }
        }
        println!("{jdk}: {old} lines are old, {} new", new.len());
        assert!(old > 100 && new.len() > 100, "{:?}", run.totals);
        // From the writer's first poll tick after the redefinition on.
        new.retain(|line| *line < DOWN);
        assert!(new.is_empty(), "{new:?}");
    }
}

/// A method that runs on has no id any more when its class has other code: it stays in the stacks,
/// and so does what is below it.
#[test]
fn obsolete_methods_stay_in_stacks() {
    let methods = ["inner", "outer", "endless"].map(|m| format!("Redefined$Changing.{m}"));
    for (jdk, run) in runs(&["1500", "changed"]) {
        let (mut all, mut whole, mut obsolete) = (0, 0, 0);
        for sample in &run.samples {
            let frames = sample.placed_frames();
            let is_ours = |frame: &&Frame| frame.name.starts_with("Redefined$Changing.");
            let ours: Vec<&Frame> = frames.iter().filter(is_ours).collect();
            if sample.thread() != Some("redefined-changing") || ours.is_empty() {
                continue;
            }
            all += sample.weight();
            let names: Vec<&str> = ours.iter().map(|f| f.name.as_str()).collect();
            let lowest = methods.iter().rev().map(String::as_str).take(names.len());
            // Those that are there are the lowest of these, without a gap.
            let has_root = frames
                .last()
                .is_some_and(|f| f.name == "java.lang.Thread.run");
            let good = has_root && lowest.eq(names.into_iter().rev());
            if good {
                whole += sample.weight();
            } else {
                println!("{jdk}: {frames:?}");
            }
            if ours.iter().any(|f| f.bytecode_index.is_none()) {
                obsolete += sample.weight();
            }
        }
        println!(
            "{jdk}: {}, {whole} of {all} ms with whole stacks, {obsolete} with an obsolete method",
            run.stdout
        );
        let totals = run.totals;
        assert!(
            all > 500 && obsolete * 2 > all,
            "{obsolete} of {all}: {totals:?}"
        );
        assert_eq!(whole, all, "{totals:?}");
    }
}
