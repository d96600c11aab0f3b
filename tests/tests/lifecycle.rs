//! The life of contexts: threads that end with scopes open, blocks that come back, the agent
//! stopped and started, the API unloaded, each way to find the virtual thread, memory that does not
//! grow.

use std::fs;

use e2e::recording::{CpuTime, weights_by};
use e2e::{Jdk, Jvm, Recording, TestDir, assert_contains, build};

fn with_virtual_threads() -> impl Iterator<Item = Jdk> {
    Jdk::all().into_iter().filter(Jdk::has_virtual_threads)
}

#[test]
fn ended_platform_threads_release_their_block() {
    // Three times as many threads as blocks.
    for jdk in Jdk::all() {
        let run = Jvm::alone(jdk)
            .agent("start,interval=10ms,file=app.jfr,cstack=no,ctxblocks=1024")
            .program("Leaks platform 10 300 10 false")
            .run_ok();
        println!("{jdk}:\n{}", run.stdout);
        assert_eq!(run.counter("api.no_free_block"), 0);
        assert_eq!(run.counter("kept"), 10);
    }
}

#[test]
fn leaked_blocks_of_ended_virtual_threads_are_reclaimed() {
    for jdk in with_virtual_threads() {
        let run = Jvm::alone(jdk)
            .agent("start,interval=10ms,flush=100ms,file=app.jfr,cstack=no,ctxblocks=1024")
            .program("Leaks virtual 200 2000 3 true")
            .run_ok();
        println!("{jdk}:\n{}", run.stdout);
        assert!(
            run.counter("api.no_free_block") > 0,
            "the table was never full"
        );
        // 824 places are not held by the living ones; the last search may leave the probes'
        // neighbourhoods only.
        assert!(run.counter("blocks.freed") >= 3 * 500);
        assert_eq!(run.counter("kept"), 200);
    }
}

#[test]
fn no_block_is_reclaimed_without_thread_tracking() {
    let run = Jvm::alone(Jdk::main())
        .flag("-Djdk.trackAllThreads=false")
        .agent("start,interval=10ms,flush=100ms,file=app.jfr,cstack=no,ctxblocks=1024")
        // The scope of the living ones is still theirs at the end.
        .program("Leaks virtual 200 2000 3 false")
        .run_ok();
    println!("{}{}", run.stdout, run.stderr);
    assert_eq!(run.counter("blocks.freed"), 0);
    assert_eq!(run.counter("kept"), 200);
}

#[test]
fn parked_virtual_threads_keep_their_context() {
    // The full run of a million is in docs/benchmarks.md.
    for jdk in with_virtual_threads() {
        let run = Jvm::alone(jdk)
            .agent("start,interval=10ms,file=app.jfr,cstack=no,ctxblocks=65536")
            .program("Parked 30000")
            .run_ok();
        assert_eq!(run.counter("bound"), 30_000, "{jdk}");
        assert_eq!(run.counter("api.no_free_block"), 0);
    }
}

#[test]
fn shortage_of_blocks_is_counted() {
    let jdk = Jdk::main();
    let run = Jvm::alone(jdk)
        .agent("start,interval=10ms,file=app.jfr,cstack=no,ctxblocks=1024")
        .program("Parked 5000")
        .run_ok();
    let bound = run.counter("bound");
    println!("{bound} of 5000 have a context");
    assert!((900..=1024).contains(&bound), "{bound}");
    assert_eq!(run.counter("blocks.freed"), 0, "all of them live");
    assert!(run.counter("api.no_free_block") >= 5000 - bound);
}

#[test]
fn handler_that_outlives_recording_is_discarded_or_counted() {
    for (moment, late) in [("between", 1), ("during", 0)] {
        for jdk in Jdk::all() {
            let test_dir = TestDir::new();
            let run = Jvm::new(jdk, &test_dir)
                .preload("detained")
                .agent("start,interval=1ms,cstack=asgct,file=first.jfr")
                .program(&format!("Detained {moment}"))
                .run_ok();
            assert_eq!(run.agent_lines(), [""; 0], "{jdk}");
            let totals = ["first.jfr", "second.jfr"].map(|file| {
                let recording = Recording::new(test_dir.file(file));
                recording.reconcile().0
            });
            println!("{jdk} {moment}: {totals:?}");
            let count = totals.map(|all| all.get("lost.late").copied().unwrap_or(0));
            assert_eq!(count, [0, late], "{jdk} {moment}");
        }
    }
}

/// As one that ended and whose id another one has: nobody looks for native threads while nothing is
/// recorded.
#[test]
fn reused_native_thread_id_has_new_name() {
    let test_dir = TestDir::new();
    let script = [
        "burn 300",
        "stop",
        "make rename",
        "await renamed",
        "start,interval=2ms,file=second.jfr",
        "burn 300",
        "stop",
    ];
    let run = Jvm::new(Jdk::main(), &test_dir)
        .preload("renamed")
        .agent("start,interval=2ms,file=first.jfr")
        .main("Script", &script)
        .run_ok();
    assert_eq!(run.agent_lines(), [""; 0]);
    let cpu = |file| {
        let samples = Recording::new(test_dir.file(file)).samples();
        ["first name", "second name"].map(|name| CpuTime::of_threads(&samples, name, 2).nanos)
    };
    let (first, second) = (cpu("first.jfr"), cpu("second.jfr"));
    println!("{first:?} {second:?}");
    assert!(first[0] > 0.0 && first[1] == 0.0, "{first:?}");
    assert!(second[0] == 0.0 && second[1] > 0.0, "{second:?}");
}

#[test]
fn open_context_is_in_next_recording() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        Jvm::new(jdk, &test_dir)
            .agent("start,interval=2ms,cstack=no,file=first.jfr")
            .program("Lifecycle restart")
            .run_ok();
        let weights = |file| {
            let samples = Recording::new(test_dir.file(file)).samples();
            let weights = weights_by(&samples, "scope");
            println!("{jdk} {file}: {weights:?}");
            move |scope: &str| weights.get(&Some(scope.to_owned())).copied().unwrap_or(0)
        };
        let (first, second) = (weights("first.jfr"), weights("second.jfr"));
        assert!(first("outer") > 20 && first("between") == 0 && first("inner") == 0);
        assert!(second("outer") > 20 && second("between") == 0 && second("inner") > 20);
    }
}

#[test]
fn class_loader_that_used_api_can_be_unloaded() {
    for jdk in Jdk::all() {
        let (run, recording) = Jvm::recording(jdk, "interval=2ms")
            .program("Lifecycle unload")
            .record_to_exit();
        assert_contains!(run.stdout, "unloaded loader-1");
        assert_contains!(
            run.stdout,
            "typed: {typed=a value}\nunloaded a context type\n"
        );
        let weights = weights_by(&recording.samples(), "loader");
        println!("{jdk}: {weights:?}");
        for loader in ["loader-0", "loader-1"] {
            assert!(
                weights[&Some(loader.to_owned())] > 20,
                "{loader}: {weights:?}"
            );
        }
    }
}

#[test]
fn stack_overflow_in_scope_clears_context() {
    for jdk in Jdk::all() {
        for memory in ["direct", "checked"] {
            for scopes in ["within", "around"] {
                let mut jvm = Jvm::alone(jdk)
                    .agent("")
                    .flag("-Xint")
                    .flag(&format!("-Dio.ctxagent.memory={memory}"));
                if scopes == "around" {
                    // There, loading and linking a class take no Java code and so no more stack
                    // than its initialisation, which then fails for good.
                    let api = build::class_path().split(':').next().unwrap();
                    jvm = jvm.flag(&format!("-Xbootclasspath/a:{api}"));
                }
                let run = jvm.program(&format!("Deep {scopes}")).run_ok();
                let version = jdk.version;
                assert_eq!(run.stdout, "done\n", "JDK {version} {memory} {scopes}");
                assert_eq!(run.stderr.matches("NoClassDefFoundError").count(), 0);
            }
        }
    }
}

/// `-XX:MaxDirectMemorySize`: what the agent and the API need does not count.
#[test]
fn contexts_need_no_direct_memory() {
    for jdk in Jdk::all() {
        let run = Jvm::alone(jdk)
            .agent("")
            .flag("-XX:MaxDirectMemorySize=1m")
            .program("Lifecycle direct")
            .run_ok();
        assert_eq!(
            run.stdout, "used up\n{key=first}\n{key=second}\ndirect: true\ndone\n",
            "{jdk}: {}",
            run.stderr
        );
    }
}

/// 25 has no security managers any more.
#[test]
fn scopes_work_under_strict_security_manager() {
    for jdk in Jdk::all().into_iter().filter(|jdk| jdk.version <= 21) {
        let test_dir = TestDir::new();
        let policy = test_dir.file("nothing.policy");
        fs::write(&policy, "").unwrap();
        let run = Jvm::new(jdk, &test_dir)
            .agent("")
            .flag("-Djava.security.manager")
            .flag(&format!("-Djava.security.policy=={}", policy.display()))
            .program("Guarded")
            .run_ok();
        assert_eq!(
            run.stdout, "guarded\n{key=value}\n{}\n",
            "{jdk}: {}",
            run.stderr
        );
    }
}

#[test]
fn close_through_another_api_copy_reaches_owner() {
    for jdk in Jdk::all() {
        let run = Jvm::alone(jdk)
            .agent("")
            .program("Lifecycle copies")
            .run_ok();
        assert_contains!(run.stdout, "copies: {second=v}\nafter: {}\n", "{jdk}");
    }
}

#[test]
fn each_virtual_thread_source_can_be_forced() {
    for jdk in with_virtual_threads() {
        let automatic = if jdk.version == 21 {
            "jvmci"
        } else {
            "vmstructs"
        };
        let table = if jdk.version == 21 {
            "off (the table does not name the id)"
        } else {
            "vmstructs"
        };
        for (asked, told) in [
            ("auto", automatic),
            ("vmstructs", table),
            ("jvmci", "jvmci"),
            ("events", "events"),
            ("off", "off"),
        ] {
            let run = Jvm::alone(jdk)
                .agent(&format!("start,file=app.jfr,vthreads={asked}"))
                .program("Lifecycle status")
                .run_ok();
            let line = format!("virtual threads: {told}\n");
            assert_contains!(run.stdout, &line, "vthreads={asked}");
            // Never a wrong context: where the id is not known there is none.
            let has = run.stdout.contains("virtual\"") || run.stdout.contains("where=virtual");
            assert_eq!(
                has,
                !told.starts_with("off"),
                "vthreads={asked}\n{}",
                run.stdout
            );
        }
    }
}

#[test]
fn mount_events_after_attach_reach_existing_threads() {
    for jdk in with_virtual_threads() {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir)
            .program("WorkBeforeAttach")
            .start_ready();
        let file = test_dir.file("app.jfr");
        let start = format!(
            "start,interval=2ms,flush=100ms,vthreads=events,cstack=no,file={}",
            file.display()
        );
        jvm.agent_command_ok(&start);
        let recording = Recording::new(file);
        jvm.wait_until("samples of the virtual thread carry its context", || {
            let weights = weights_by(&recording.samples(), "kind");
            weights
                .get(&Some("virtual".to_owned()))
                .is_some_and(|n| *n > 50)
        });
        jvm.end();
    }
}

#[test]
fn a_million_values_leave_memory_flat() {
    // The full run of 10^8 is `make flat-memory`.
    let jvm = Jvm::alone(Jdk::main())
        .agent_at(
            build::oracle_agent(),
            "start,interval=1ms,cstack=no,chunktime=1s,file=app.jfr",
        )
        .flag("-XX:+UseSerialGC")
        .flag("-Xms64m")
        .flag("-Xmx64m")
        .flag("-XX:+AlwaysPreTouch");
    let run = jvm.program("Flat 1500000").run_ok();
    println!("{}", run.stdout);
    let resident: Vec<u64> = run
        .stdout
        .lines()
        .filter_map(|line| {
            line.strip_prefix("resident ")?
                .split(' ')
                .nth(1)?
                .parse()
                .ok()
        })
        .collect();
    assert_eq!(resident.len(), 20);
    // A value kept would cost 137 bytes: 100 MiB for the last half of them. What remains is the
    // compiler at work.
    assert!(resident[19] < resident[9] + (8 << 10), "{resident:?}");
    assert_eq!(run.counter("oracle.wrong"), 0, "{}", run.stderr);
    assert!(run.counter("oracle.right") > 50);
}
