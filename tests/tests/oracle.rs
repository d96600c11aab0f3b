//! Promises P7 and P8: a sample shows the context that its thread really had. Every sample is
//! compared with an independent record that the program writes, while a storm of signals hits
//! threads that change their context all the time.

use std::fmt;
use std::time::Duration;

use e2e::{Jdk, Jvm, assert_contains, build};

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

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            right,
            changing,
            wrong,
            missed,
            torn,
            right_since,
            torn_since,
            ..
        } = self;
        write!(
            f,
            "{right} right ({changing} of all while the context changed), {wrong} wrong, \
             {missed} missed, {torn} met a change; when compiled {right_since} right, \
             {torn_since} met a change"
        )
    }
}

/// Runs `Oracle` with these arguments under the test build, which warns of each sample that does not
/// show what is declared: the test judges their number.
fn run(jvm: Jvm, options: &str, arguments: &str) -> Count {
    let options = format!("start,file=app.jfr,ctx=a+b+c,interval=50us,{options}");
    let run = jvm
        .agent_at(build::oracle_agent(), &options)
        .program(&format!("Oracle {arguments}"))
        .may_warn("oracle: declared [")
        .limit(Duration::from_mins(8))
        .run_ok();
    let all = format!("{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("ORACLE-DONE"), "{all}");
    let count = |name: &str| run.counter(&format!("oracle.{name}"));
    let since = |name: &str| count(name) - run.counter(&format!("before.{name}"));
    let n = Count {
        right: count("right"),
        wrong: count("wrong"),
        missed: count("missed"),
        torn: count("torn"),
        changing: count("changing"),
        right_since: since("right"),
        torn_since: since("torn"),
        compared_since: ["right", "wrong", "missed", "torn"].map(since).iter().sum(),
        all,
    };
    println!("{options} {arguments}: {n}");
    n
}

/// A method that is to be compiled is, before its caller goes on: how much of a run is interpreted
/// is not a matter of who gets a CPU.
const COMPILED_AT_ONCE: &str = "-Xbatch";
/// No bug, and as many rounds of work alone as the compilers need to compile every change.
const ALONE: &str = "0 10000";

fn storm(jdk: Jdk, kind: &str, threads: u32, wanted: u64) {
    // The storm hits any moment; the timers add to it.
    let arguments = format!("{kind} {threads} {wanted} 10000 400 100000 {ALONE}");
    let n = run(Jvm::alone(jdk).flag(COMPILED_AT_ONCE), "", &arguments);
    check(&format!("{jdk} {kind}, {threads} threads"), &n);
    assert!(n.compared_since >= wanted, "{n}\n{}", n.all);
}

fn check(what: &str, n: &Count) {
    assert_eq!(n.wrong, 0, "{what}\n{}", n.all);
    assert!(n.right_since > 0, "{what}\n{}", n.all);
    let is_rarely_missed = n.missed * 1000 <= n.right_since;
    assert!(is_rarely_missed, "{what}: {n}\n{}", n.all);
    // A block that the handler finds half written gives no context, and the sample says so:
    // interpreted, a change takes a hundred times as long.
    let is_rarely_torn = n.torn_since * 100 <= n.right_since;
    assert!(is_rarely_torn, "{what}: {n}\n{}", n.all);
}

/// Looks of a reader at the context of a thread that changes it all the time: (whole, met a change,
/// mixed).
fn run_oracle(jdk: Jdk, bug: u32) -> [u64; 3] {
    let options = "start,cstack=no,file=app.jfr,ctx=a+b+c";
    let run = Jvm::alone(jdk)
        .agent_at(build::oracle_agent(), options)
        .program(&format!("Beside 3000000 {bug}"))
        .run_ok();
    let looks = run.numbers("looks ");
    println!("{jdk}, bug {bug}: {looks:?}");
    looks[..3].try_into().unwrap()
}

#[test]
fn cross_thread_read_is_whole_or_interrupted() {
    for jdk in Jdk::every() {
        let [whole, changing, mixed] = run_oracle(jdk, 0);
        assert!(whole > 100_000 && changing > 0);
        assert_eq!(mixed, 0);
    }
    // The control: without the sequence halves of two contexts are seen.
    let [_, _, mixed] = run_oracle(Jdk::main(), 1);
    assert!(mixed > 0);
}

/// More samples than a run can have, and more seconds than it needs: with a bug it ends at the
/// first sample that is wrong.
const WITHOUT_END: &str = "1000000000000";
const UNTIL_WRONG: &str = "400";

/// The negative controls: the same program and comparison, with the bug that the sequence is there
/// to prevent. The storm hits threads that mostly wait, which timers rarely meet.
#[test]
fn ignored_sequence_is_detected() {
    let arguments = format!("platform 2 {WITHOUT_END} 100000 {UNTIL_WRONG} 50 1");
    let n = run(Jvm::alone(Jdk::main()), "cstack=no", &arguments);
    assert!(n.wrong > 0, "{}", n.all);
}

/// Twice as many threads as blocks, so that many stand in each other's place.
#[test]
fn ignored_owner_is_detected() {
    let arguments = format!("virtual 2000 {WITHOUT_END} 0 {UNTIL_WRONG} 5000 2");
    let jvm = Jvm::alone(Jdk::main());
    let n = run(jvm, "cstack=no,ctxblocks=1024", &arguments);
    assert!(n.wrong > 0, "{}", n.all);
}

/// As above; some find no block, so their context is missed, and counted.
#[test]
fn colliding_threads_show_own_context_or_none() {
    let jvm = Jvm::alone(Jdk::main());
    let arguments = "virtual 2000 1000000 0 8 5000";
    let n = run(jvm, "cstack=no,ctxblocks=1024", arguments);
    assert_eq!(n.wrong, 0, "{}", n.all);
    assert!(n.right > 0, "{}", n.all);
}

#[test]
fn mount_events_show_right_context() {
    for jdk in Jdk::with_virtual_threads() {
        let arguments = format!("virtual 400 30000 0 60 5000 {ALONE}");
        let jvm = Jvm::alone(jdk).flag(COMPILED_AT_ONCE);
        let n = run(jvm, "cstack=no,vthreads=events", &arguments);
        assert_contains!(n.all, "virtual threads: events");
        check(&format!("{jdk} by mount events"), &n);
    }
}

/// The program with a seeded fault: the table that the id of a virtual thread is read from leads to
/// that of another one.
fn with_wrong_ids(jvm: Jvm, options: &str) -> Count {
    let jvm = jvm.may_warn("the id of a virtual thread reads as ");
    let options = format!("cstack=no,{options}");
    run(jvm, &options, "virtual 400 20000 0 60 5000 3")
}

#[test]
fn mount_events_take_over_when_id_table_is_wrong() {
    for jdk in Jdk::with_virtual_threads() {
        let n = with_wrong_ids(Jvm::alone(jdk), "");
        for text in ["virtual threads: events (", "failed the self-test"] {
            assert_contains!(n.all, text);
        }
        assert_eq!(n.wrong, 0, "{}", n.all);
        // Those mounted when it was found out wait for their next mount.
        assert!(n.right > 10 * n.missed, "{}", n.all);
    }
}

#[test]
fn wrong_id_table_without_mount_events_gives_no_context() {
    // The user insists on the table: nothing takes over.
    let insisted = with_wrong_ids(Jvm::alone(Jdk::main()), "vthreads=jvmci");
    let said = &insisted.all;
    assert_contains!(said, "virtual threads: off (");
    // The VM claims to post mount events, and does not.
    let jvm = Jvm::alone(Jdk::main())
        .flag("-XX:+UnlockExperimentalVMOptions")
        .flag("-XX:-DoJVMTIVirtualThreadTransitions");
    for n in [insisted, with_wrong_ids(jvm, "")] {
        assert_eq!(n.wrong, 0, "{}", n.all);
        assert!(n.missed > n.right / 10, "{}", n.all);
    }
}

#[test]
fn platform_threads_show_own_context() {
    for jdk in Jdk::every() {
        storm(jdk, "platform", 20, 20_000);
    }
}

#[test]
fn mixed_threads_show_own_context_on_jdk_21() {
    storm(Jdk::main(), "both", 400, 100_000);
}

#[test]
fn mixed_threads_show_own_context_on_jdk_25() {
    if let Some(jdk) = Jdk::find(25) {
        storm(jdk, "both", 400, 100_000);
    }
}
