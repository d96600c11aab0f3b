//! Samples carry the context of their own thread, and CPU time goes to the contexts that used it.

#![expect(clippy::cast_precision_loss, reason = "some thousand samples")]

use e2e::recording::{Event, share_tolerance, weights_by};
use e2e::{Jdk, Jvm, TestDir, record};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

const EXPECTED: [(&str, f64); 3] = [("/checkout", 0.7), ("/search", 0.2), ("/home", 0.1)];

/// Runs the known split and compares the share of each endpoint with what it must be within the
/// error of sampling.
fn split(jdk: Jdk, kind: &str, threads: u32, rounds: u32) {
    let options = "start,interval=2ms,file=app.jfr,ctx=endpoint+tenant";
    let arguments = [kind, &threads.to_string(), &rounds.to_string()];
    let (run, recording) = Jvm::alone(jdk)
        .agent(options)
        .main("Split", &arguments)
        .record_to_exit();
    assert_eq!(run.stdout, "done\n", "{}", run.stderr);
    let samples = recording.samples();
    let weights = weights_by(&samples, "endpoint");
    let labelled: i64 = weights
        .iter()
        .filter(|(endpoint, _)| endpoint.is_some())
        .map(|(_, weight)| weight)
        .sum();
    let working: Vec<&Event> = samples.iter().filter(|sample| in_work(sample)).collect();
    let with_endpoint = working
        .iter()
        .filter(|sample| sample.text("endpoint").is_some())
        .count();
    println!(
        "{jdk} {kind}: {} samples, weight with endpoint {labelled}, {with_endpoint} of {} in work() have one; {weights:?}",
        samples.len(),
        working.len()
    );
    assert!(labelled > 1000, "{jdk} {kind}: {labelled}");
    assert_eq!(weights.keys().flatten().count(), 3, "{weights:?}");
    for (endpoint, share) in EXPECTED {
        let seen = *weights.get(&Some(endpoint.to_owned())).unwrap_or(&0) as f64 / labelled as f64;
        let allowed = share_tolerance(share, &samples, "endpoint");
        println!("  {endpoint}: {seen:.4}, expected {share} ± {allowed:.4}");
        assert!(
            (seen - share).abs() <= allowed,
            "{jdk} {kind}: {endpoint} {seen} is not {share} ± {allowed}"
        );
    }
    for sample in &samples {
        assert_eq!(
            sample.text("endpoint").is_some(),
            sample.text("tenant").is_some(),
            "half a context: {:?}",
            sample.values
        );
    }
    // Between two contexts there are only a few instructions, a yield or a park.
    assert!(
        with_endpoint * 100 >= working.len() * 95,
        "{with_endpoint} of {}",
        working.len()
    );
}

/// Whether the sample is from the threads that work under contexts, by its stack: inside
/// `Split.work` and computing.
fn in_work(sample: &Event) -> bool {
    let frames = sample.frames();
    frames.iter().any(|f| f == "Split.work") && frames.first().is_some_and(|f| f == "Split.unit")
}

#[test]
fn known_split_on_platform_threads() {
    for jdk in Jdk::every() {
        split(jdk, "platform", 4, 800);
    }
}

#[test]
fn known_split_on_virtual_threads() {
    for jdk in Jdk::with_virtual_threads() {
        split(jdk, "virtual", 200, 16);
    }
}

#[test]
fn api_without_agent_is_no_op() {
    for jdk in Jdk::every() {
        let run = Jvm::alone(jdk).program("Split platform 2 2").run_ok();
        assert_eq!(
            (run.stdout.as_str(), run.stderr.as_str()),
            ("done\n", ""),
            "{jdk}"
        );
    }
}

#[test]
fn context_changes_from_inside_the_recording_only_what_was_asked_for() {
    // No ctx= option: the attributes get their columns at first use.
    let jdk = Jdk::main();
    let (_, recording) = record(jdk, "interval=2ms", "Split platform 2 200");
    let samples = recording.samples();
    let weights = weights_by(&samples, "endpoint");
    println!("{weights:?}");
    assert_eq!(weights.keys().flatten().count(), 3, "{weights:?}");
}

#[test]
fn context_is_visible_in_loop_without_memory_access() {
    // The store that publishes a context must not sink below the loop. ParallelGC: its counted
    // loops have no safepoint.
    for jdk in Jdk::every() {
        for collector in ["-XX:+UseParallelGC", "-XX:+UseG1GC"] {
            let (_, recording) = Jvm::recording(jdk, "interval=2ms")
                .flag(collector)
                .program("PureLoop 2")
                .record_to_exit();
            let samples = recording.samples();
            let in_loop = |s: &&Event| s.innermost() == Some("PureLoop.compute");
            let (all, labelled) =
                samples
                    .iter()
                    .filter(in_loop)
                    .fold((0, 0), |(all, labelled), s| {
                        (
                            all + 1,
                            labelled + usize::from(s.text("work") == Some("pure")),
                        )
                    });
            println!("{jdk} {collector}: {labelled} of {all} samples in the loop are labelled");
            assert!(all > 100, "{all}");
            assert!(labelled * 100 >= all * 98, "{labelled} of {all}");
        }
    }
}

/// Three labels, each burnt in a method of its own, with random bursts; the program prints the true
/// shares.
fn measured_split(jdk: Jdk, kind: &str) {
    let (run, recording) = Jvm::recording(jdk, "interval=2ms")
        // Where the three methods are inlined side by side, debug information between safepoints
        // names the neighbour now and then: 5 of 81 000 stacks, also with DebugNonSafepoints; 0 of
        // 82 000 when each has a frame of its own.
        .flag("-XX:CompileCommand=dontinline,KnownSplit.*")
        .program(&format!("KnownSplit {kind} 7"))
        .record_to_exit();
    let samples = recording.samples();
    let weights = weights_by(&samples, "label");
    let labelled: i64 = weights
        .iter()
        .filter(|(label, _)| label.is_some())
        .map(|(_, weight)| weight)
        .sum();
    println!("{jdk} {kind}: {} samples, {weights:?}", samples.len());
    assert!(labelled > 500, "{labelled}");
    let mut by_stack = 0;
    for label in ["seventy", "twenty", "ten"] {
        let prefix = format!("split {label} ");
        let line = run
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix(&prefix))
            .unwrap();
        let share = line.split(' ').next().unwrap().parse::<f64>().unwrap() / 1000.0;
        let seen = *weights.get(&Some(label.to_owned())).unwrap_or(&0) as f64 / labelled as f64;
        let allowed = share_tolerance(share, &samples, "label");
        println!("  {label}: {seen:.4}, the program says {share} ± {allowed:.4}");
        assert!(
            (seen - share).abs() <= allowed,
            "{jdk} {kind}: {label} {seen} is not {share} ± {allowed}"
        );
        // The stack is a second witness of the label.
        let method = format!("KnownSplit.{label}");
        for sample in samples
            .iter()
            .filter(|sample| sample.frames().first() == Some(&method))
        {
            by_stack += 1;
            let told = sample.text("label");
            assert!(
                told == Some(label) || told.is_none(),
                "in {method} under {told:?}: {:?}",
                sample.values
            );
        }
    }
    println!("  {by_stack} stacks agree with their label");
    assert!(by_stack > 300, "{by_stack}");
}

#[test]
fn shares_match_cpu_time_of_platform_threads() {
    for jdk in Jdk::every() {
        measured_split(jdk, "platform");
    }
}

#[test]
fn shares_match_work_of_virtual_threads() {
    for jdk in Jdk::with_virtual_threads() {
        measured_split(jdk, "virtual");
    }
}

/// What is set in a method of `TwoOwners`: the end of the tenant's name, and whether there is a
/// trace.
const TWO_OWNERS: [(&str, Option<&str>, bool); 6] = [
    ("inNone", None, false),
    ("inTenant", Some(""), false),
    ("inNested", Some("/nested"), false),
    ("inTrace", None, true),
    ("inTenantAndTrace", Some(""), true),
    ("inNestedAndTrace", Some("/nested"), true),
];

/// An application's scopes and a tracer's attribute, opened and closed in all orders: each sample
/// has the labels that are open, those of its own request, and no other.
#[test]
fn two_owners_keep_their_labels_in_any_order() {
    for jdk in Jdk::with_virtual_threads() {
        let (run, recording) = Jvm::recording(jdk, "interval=1ms")
            // Each method has a frame of its own, see `measured_split`.
            .flag("-XX:CompileCommand=dontinline,TwoOwners*.*")
            .program("TwoOwners 3000")
            .record_to_exit();
        let mut seen = [[0; 2]; TWO_OWNERS.len()];
        for sample in recording.samples() {
            let frames = sample.frames();
            if frames.first().is_none_or(|f| f != "TwoOwners.compute") {
                continue;
            }
            let state = |(name, ..): &(&str, Option<&str>, bool)| {
                let method = format!("TwoOwners$Request.{name}");
                frames.contains(&method)
            };
            let state = TWO_OWNERS.iter().position(state).unwrap();
            let is_virtual = sample
                .thread()
                .is_none_or(|name| !name.starts_with("owner"));
            seen[state][usize::from(is_virtual)] += 1;
            check_owners(jdk, TWO_OWNERS[state], &sample);
        }
        println!("JDK {}: {seen:?}", jdk.version);
        assert!(seen.as_flattened().iter().all(|n| *n > 30), "{seen:?}");
        let misuse = run.stdout.lines().last();
        assert_eq!(misuse, Some("closes out of order: 0"));
    }
}

fn check_owners(jdk: Jdk, (state, nested, is_traced): (&str, Option<&str>, bool), sample: &Event) {
    let what = format!("JDK {} {state}: {:?}", jdk.version, sample.values);
    let trace = sample.text("trace_id");
    assert_eq!(trace.is_some(), is_traced, "{what}");
    let tenant = sample.text("tenant");
    assert_eq!(tenant.is_some(), nested.is_some(), "{what}");
    let (Some(tenant), Some(nested)) = (tenant, nested) else {
        return;
    };
    let number = tenant.strip_prefix("tenant-").unwrap();
    let number = number.strip_suffix(nested).expect(&what).parse::<u64>();
    let number = number.expect(&what);
    // Both come from one request.
    let request = trace.map(|id| u64::from_str_radix(id, 16).expect(&what));
    assert!(request.is_none_or(|id| id % 64 == number), "{what}");
}

/// What the agent opens of the JDK for the API is not open to the application.
#[test]
fn jdk_internals_are_open_to_agent_class_only() {
    for (jdk, module) in Jdk::every()
        .into_iter()
        .flat_map(|jdk| [(jdk, false), (jdk, true)])
    {
        let jvm = on_path(Jvm::alone(jdk).agent(""), module);
        let run = jvm.program("Opened").run_ok();
        let api = if module { "io.ctxagent" } else { "unnamed" };
        let expected = format!(
            "{{endpoint=/a}}\napi: {api}\ndirect: true\nexported to all of the class path: false\nexported to the API: false\nUnsafe: refused\n"
        );
        assert_eq!(run.stdout, expected, "{jdk}: {}", run.stderr);
    }
}

/// The class by which the API accesses the context memory serves nobody to reach other memory:
/// where the API is on the class path, other code there can call it, but no call leaves the slab.
#[test]
fn no_class_reaches_memory_through_the_agent() {
    const PRIVATE: &str = "privates refused, private lookup refused, Unsafe refused";
    let callable = format!("calls bounded, link bounded, {PRIVATE}, API bounded");
    let not_exported = format!("calls refused, link refused, {PRIVATE}, API bounded");
    let refused = format!("calls refused, link refused, {PRIVATE}, API refused");
    for jdk in Jdk::every() {
        let outcomes = |class_path: &str, module: &str, copy: &str| {
            format!(
                "class path: {class_path}\nnamed module: {module}\nsecond copy: {copy}\nuntouched: true\n"
            )
        };
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir).agent("");
        let run = jvm.program("Intruder").run_ok();
        let expected = outcomes(&callable, &not_exported, &callable);
        assert_eq!(run.stdout, expected, "{jdk}");

        let jar = e2e::build::class_path().split(':').next().unwrap();
        let run = Jvm::alone(jdk)
            .agent("")
            .flag(&format!("--module-path={jar}"))
            .flag("--add-modules=io.ctxagent")
            .program("Intruder")
            .run_ok();
        let expected = outcomes(&refused, &refused, &refused);
        assert_eq!(run.stdout, expected, "{jdk}, API as a module");
    }
}

/// The agent carries the bytes of classes: they are what their sources give.
#[test]
fn embedded_classes_match_their_sources() {
    let test_dir = TestDir::new();
    let tree = e2e::workspace::root();
    let made = std::process::Command::new(tree.join("scripts/build.sh"))
        .arg("direct-memory")
        .arg(test_dir.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let classes = |directory: &Path| -> BTreeMap<OsString, Vec<u8>> {
        let entries = std::fs::read_dir(directory).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let classes = paths.filter(|path| path.extension().is_some_and(|end| end == "class"));
        classes
            .map(|path| {
                let name = path.file_name().unwrap().to_owned();
                (name, std::fs::read(path).unwrap())
            })
            .collect()
    };
    let embedded = classes(&tree.join("agent/src/jvm"));
    let made = classes(test_dir.path());
    assert!(embedded.keys().eq(made.keys()), "{:?}", made.keys());
    for (name, made) in &made {
        assert!(embedded[name] == *made, "{name:?}: run make direct-memory");
    }
}

/// The program waits for it, and so does not end if nobody but its own first call prepares.
#[test]
fn agent_prepares_api_before_first_call() {
    for (jdk, module) in Jdk::every()
        .into_iter()
        .flat_map(|jdk| [(jdk, false), (jdk, true)])
    {
        for options in ["", "start,file=app.jfr"] {
            let run = on_path(Jvm::alone(jdk).agent(options), module)
                .program("FirstCall prepared")
                .run_ok();
            println!("{jdk}: {}", run.stdout.replace('\n', ", "));
            assert!(run.stdout.ends_with("{endpoint=/a}\n"), "{}", run.stdout);
        }
    }
}

/// A class whose initialiser fails once is lost for good: were the agent's thread the first to need
/// these while `main` has filled the heap, the application would have no lambdas any more.
#[test]
fn what_lambdas_need_is_initialised_before_main() {
    const PACKAGES: [&str; 5] = [
        "'java/lang/invoke/",
        "'java/lang/constant/",
        "'sun/invoke/",
        "'jdk/internal/classfile/",
        "'jdk/internal/constant/",
    ];
    // The log of 17 does not name the thread.
    for jdk in Jdk::with_virtual_threads() {
        let test_dir = TestDir::new();
        Jvm::new(jdk, &test_dir)
            .agent("")
            .flag("-Xlog:class+init=info:file=init.log")
            .program("FirstCall prepared")
            .run_ok();
        let log = std::fs::read_to_string(test_dir.file("init.log")).unwrap();
        let of_agent = |line: &&str| line.ends_with("by thread \"ctxagent api\"");
        let lines: Vec<&str> = log.lines().filter(of_agent).collect();
        let ours = lines.iter().filter(|line| line.contains("'io/ctxagent/"));
        assert!(ours.count() > 10, "{jdk}: {log}");
        let mut late = lines;
        late.retain(|line| PACKAGES.iter().any(|package| line.contains(package)));
        // One without an initialiser cannot fail; one with a + is made anew each time.
        late.retain(|line| !line.contains("(no method)") && !line.contains('+'));
        assert!(late.is_empty(), "{jdk}: {late:#?}");
    }
}

/// With the API on the class path, or as a module.
fn on_path(jvm: Jvm, module: bool) -> Jvm {
    if !module {
        return jvm;
    }
    let jar = e2e::build::class_path().split(':').next().unwrap();
    jvm.flag(&format!("--module-path={jar}"))
        .flag("--add-modules=io.ctxagent")
        .flag("--add-opens=io.ctxagent/io.ctxagent=ALL-UNNAMED")
        .flag("--add-opens=io.ctxagent/io.ctxagent.internal.agent=ALL-UNNAMED")
}
