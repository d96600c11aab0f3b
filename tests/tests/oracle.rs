//! Promises P7 and P8: a sample shows the context that its thread really had. Every sample is
//! compared with an independent record that the program writes, while a storm of signals hits
//! threads that change their context all the time.

use std::time::Duration;

use e2e::{Jdk, Jvm, TestDir, build};

/// What the program and the writer counted: these in all, and of them what came after one thread of
/// each kind had worked alone.
struct Count {
    right: u64,
    wrong: u64,
    missed: u64,
    torn: u64,
    changing: u64,
    right_since: u64,
    torn_since: u64,
    compared_since: u64,
    all: String,
}

/// Runs `Oracle` with these arguments under the test build.
fn run(jdk: Jdk, flags: &[&str], options: &str, arguments: &[&str]) -> Count {
    let test_dir = TestDir::new();
    let options = format!("start,file=app.jfr,ctx=a+b+c,{options}");
    let jvm = Jvm::new(jdk, &test_dir).agent_at(build::oracle_agent(), &options);
    let run = flags
        .iter()
        .fold(jvm, |jvm, flag| jvm.flag(flag))
        .main("Oracle", arguments)
        .limit(Duration::from_mins(8))
        .run_ok();
    assert!(
        run.stdout.contains("ORACLE-DONE"),
        "{}\n{}",
        run.stdout,
        run.stderr
    );
    let told = |name: &str| -> u64 {
        let line = run
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.map_or(0, |number| number.trim().parse().unwrap())
    };
    let count = |name: &str| told(&format!("oracle.{name}"));
    let since = |name: &str| count(name) - told(&format!("before.{name}"));
    Count {
        right: count("right"),
        wrong: count("wrong"),
        missed: count("missed"),
        torn: count("torn"),
        changing: count("changing"),
        right_since: since("right"),
        torn_since: since("torn"),
        compared_since: ["right", "wrong", "missed", "torn"].map(since).iter().sum(),
        all: run.stdout + &run.stderr,
    }
}

/// A method that is to be compiled is, before its caller goes on: how much of a run is interpreted
/// is not a matter of who gets a CPU.
const COMPILED_AT_ONCE: &str = "-Xbatch";
/// No bug, and as many rounds of work alone as the compilers need to compile every change.
const ALONE: [&str; 2] = ["0", "10000"];

fn storm(jdk: Jdk, kind: &str, threads: &str, wanted: u64) {
    let wanted_text = wanted.to_string();
    let arguments = [kind, threads, &wanted_text, "10000", "400", "100000"];
    // The storm hits any moment; the timers add to it.
    let n = run(
        jdk,
        &[COMPILED_AT_ONCE],
        "interval=50us",
        &[&arguments[..], &ALONE].concat(),
    );
    check(&format!("{jdk} {kind}, {threads} threads"), &n);
    assert!(
        n.compared_since >= wanted,
        "only {} compared\n{}",
        n.compared_since,
        n.all
    );
}

fn check(what: &str, n: &Count) {
    println!(
        "{what}: {} right ({} of all while the context changed), {} wrong, {} missed, {} met a change; when compiled {} right, {} met a change",
        n.right, n.changing, n.wrong, n.missed, n.torn, n.right_since, n.torn_since
    );
    assert_eq!(n.wrong, 0, "{what}\n{}", n.all);
    assert!(n.right_since > 0, "{what}\n{}", n.all);
    assert!(
        n.missed * 1000 <= n.right_since,
        "{what}: {} missed\n{}",
        n.missed,
        n.all
    );
    // A block that the handler finds half written gives no context, and the sample says so:
    // interpreted, a change takes a hundred times as long.
    assert!(
        n.torn_since * 100 <= n.right_since,
        "{what}: {} torn\n{}",
        n.torn_since,
        n.all
    );
}

/// Looks of a reader at the context of a thread that changes it all the time: (whole, met a change,
/// mixed).
fn run_oracle(jdk: Jdk, bug: &str) -> [u64; 3] {
    let test_dir = TestDir::new();
    let run = Jvm::new(jdk, &test_dir)
        .agent_at(
            build::oracle_agent(),
            "start,cstack=no,file=app.jfr,ctx=a+b+c",
        )
        .main("Beside", &["3000000", bug])
        .run_ok();
    let line = run.stdout.lines().find_map(|l| l.strip_prefix("looks "));
    println!("{jdk}, bug {bug}: {line:?}");
    let mut numbers = line.unwrap().split(' ').map(|n| n.parse().unwrap());
    std::array::from_fn(|_| numbers.next().unwrap())
}

#[test]
fn cross_thread_read_is_whole_or_interrupted() {
    for jdk in Jdk::every() {
        let [whole, changing, mixed] = run_oracle(jdk, "0");
        assert!(whole > 100_000 && changing > 0);
        assert_eq!(mixed, 0);
    }
    // The control: without the sequence halves of two contexts are seen.
    let [_, _, mixed] = run_oracle(Jdk::main(), "1");
    assert!(mixed > 0);
}

/// More samples than a run can have, and more seconds than it needs: with a bug it ends at the
/// first sample that is wrong.
const WITHOUT_END: &str = "1000000000000";
const UNTIL_WRONG: &str = "400";

#[test]
fn ignored_sequence_is_detected() {
    // The negative control: the same program and comparison, with the bug that the sequence is
    // there to prevent. The storm hits threads that mostly wait, which timers rarely meet.
    let arguments = [
        "platform",
        "2",
        WITHOUT_END,
        "100000",
        UNTIL_WRONG,
        "50",
        "1",
    ];
    let options = "interval=50us,cstack=no";
    let n = run(Jdk::main(), &[], options, &arguments);
    println!("{} right, {} wrong", n.right, n.wrong);
    assert!(n.wrong > 0, "{}", n.all);
}

#[test]
fn ignored_owner_is_detected() {
    // Twice as many threads as blocks, so that many stand in each other's place.
    let arguments = [
        "virtual",
        "2000",
        WITHOUT_END,
        "0",
        UNTIL_WRONG,
        "5000",
        "2",
    ];
    let options = "interval=50us,cstack=no,ctxblocks=1024";
    let n = run(Jdk::main(), &[], options, &arguments);
    println!("{} right, {} wrong", n.right, n.wrong);
    assert!(n.wrong > 0, "{}", n.all);
}

#[test]
fn colliding_threads_show_own_context_or_none() {
    // As above; some find no block, so their context is missed, and counted.
    let arguments = ["virtual", "2000", "1000000", "0", "8", "5000"];
    let options = "interval=50us,cstack=no,ctxblocks=1024";
    let n = run(Jdk::main(), &[], options, &arguments);
    println!("{} right, {} wrong, {} missed", n.right, n.wrong, n.missed);
    assert_eq!(n.wrong, 0, "{}", n.all);
    assert!(n.right > 0, "{}", n.all);
}

#[test]
fn mount_events_show_right_context() {
    for jdk in Jdk::every().into_iter().filter(Jdk::has_virtual_threads) {
        let arguments = ["virtual", "400", "30000", "0", "60", "5000"];
        let arguments = [&arguments[..], &ALONE].concat();
        let options = "interval=50us,cstack=no,vthreads=events";
        let n = run(jdk, &[COMPILED_AT_ONCE], options, &arguments);
        assert!(n.all.contains("virtual threads: events"), "{}", n.all);
        check(&format!("{jdk} by mount events"), &n);
    }
}

/// The program with a seeded fault: the table that the id of a virtual thread is read from leads to
/// that of another one.
fn with_wrong_ids(jdk: Jdk, flags: &[&str], options: &str) -> Count {
    let arguments = ["virtual", "400", "20000", "0", "60", "5000", "3"];
    run(
        jdk,
        flags,
        &format!("interval=50us,cstack=no,{options}"),
        &arguments,
    )
}

#[test]
fn mount_events_take_over_when_id_table_is_wrong() {
    for jdk in Jdk::every().into_iter().filter(Jdk::has_virtual_threads) {
        let version = jdk.version;
        let n = with_wrong_ids(jdk, &[], "");
        assert!(
            n.all.contains("virtual threads: events (") && n.all.contains("failed the self-test"),
            "{}",
            n.all
        );
        println!(
            "JDK {version} with a wrong table: {} right, {} missed, {} wrong",
            n.right, n.missed, n.wrong
        );
        assert_eq!(n.wrong, 0, "{}", n.all);
        // Those mounted when it was found out wait for their next mount.
        assert!(n.right > 10 * n.missed, "{}", n.all);
    }
}

#[test]
fn wrong_id_table_without_mount_events_gives_no_context() {
    // The user insists on the table: nothing takes over.
    let insisted = with_wrong_ids(Jdk::main(), &[], "vthreads=jvmci");
    assert!(
        insisted.all.contains("virtual threads: off ("),
        "{}",
        insisted.all
    );
    // The VM claims to post mount events, and does not.
    let silent = [
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:-DoJVMTIVirtualThreadTransitions",
    ];
    let silent = with_wrong_ids(Jdk::main(), &silent, "");
    for n in [insisted, silent] {
        println!("{} right, {} missed, {} wrong", n.right, n.missed, n.wrong);
        assert_eq!(n.wrong, 0, "{}", n.all);
        assert!(n.missed > n.right / 10, "{}", n.all);
    }
}

#[test]
fn platform_threads_show_own_context() {
    for jdk in Jdk::every() {
        storm(jdk, "platform", "20", 20_000);
    }
}

#[test]
fn mixed_threads_show_own_context_on_jdk_21() {
    storm(Jdk::main(), "both", "400", 100_000);
}

#[test]
fn mixed_threads_show_own_context_on_jdk_25() {
    if let Some(jdk) = Jdk::find(25) {
        storm(jdk, "both", "400", 100_000);
    }
}
