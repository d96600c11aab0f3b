//! Calls that the JDK makes of some methods, replaced in every method that makes them.

use class_patcher::class_file::ClassFile;
use class_patcher::hook::{CallHook, CallTarget, Helper};
use class_patcher::patch::{CallOutcome, patch};

const HELPER: &str = "io/ctxagent/patched/Calls";

/// A method to replace, and the helper's descriptor.
struct Target {
    target: CallTarget<'static>,
    helper: &'static str,
}

const fn target(
    class: &'static str,
    method: &'static str,
    descriptor: &'static str,
    helper: &'static str,
) -> Target {
    let target = CallTarget {
        class,
        method,
        descriptor,
        is_static: false,
    };
    Target { target, helper }
}

/// One that has no receiver.
const fn static_target(
    class: &'static str,
    method: &'static str,
    descriptor: &'static str,
) -> Target {
    let mut target = target(class, method, descriptor, descriptor);
    target.target.is_static = true;
    target
}

const POOL: &str = "java/util/concurrent/ThreadPoolExecutor";
const FORK_JOIN: &str = "java/util/concurrent/ForkJoinTask";

const TARGETS: &[Target] = &[
    target(
        POOL,
        "beforeExecute",
        "(Ljava/lang/Thread;Ljava/lang/Runnable;)V",
        "(Ljava/util/concurrent/ThreadPoolExecutor;Ljava/lang/Thread;Ljava/lang/Runnable;)V",
    ),
    target(
        POOL,
        "afterExecute",
        "(Ljava/lang/Runnable;Ljava/lang/Throwable;)V",
        "(Ljava/util/concurrent/ThreadPoolExecutor;Ljava/lang/Runnable;Ljava/lang/Throwable;)V",
    ),
    target(
        "java/util/concurrent/BlockingQueue",
        "drainTo",
        "(Ljava/util/Collection;)I",
        "(Ljava/util/concurrent/BlockingQueue;Ljava/util/Collection;)I",
    ),
    target(
        "java/util/TimerTask",
        "run",
        "()V",
        "(Ljava/util/TimerTask;)V",
    ),
    target(
        FORK_JOIN,
        "exec",
        "()Z",
        "(Ljava/util/concurrent/ForkJoinTask;)Z",
    ),
    target(
        "java/util/Iterator",
        "hasNext",
        "()Z",
        "(Ljava/util/Iterator;)Z",
    ),
    target(
        "java/util/Iterator",
        "next",
        "()Ljava/lang/Object;",
        "(Ljava/util/Iterator;)Ljava/lang/Object;",
    ),
    target(
        "java/util/Map",
        "put",
        "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
        "(Ljava/util/Map;Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
    ),
    target(
        "java/lang/Object",
        "hashCode",
        "()I",
        "(Ljava/lang/Object;)I",
    ),
    target(
        "java/lang/String",
        "charAt",
        "(I)C",
        "(Ljava/lang/String;I)C",
    ),
    target("java/lang/Object", "wait", "(J)V", "(Ljava/lang/Object;J)V"),
    static_target("java/lang/Math", "max", "(II)I"),
];

/// Class, method, method that is called and number of calls, as in each JDK.
const SITES: &[(&str, &str, &str, usize)] = &[
    (POOL, "runWorker", "beforeExecute", 1),
    (POOL, "runWorker", "afterExecute", 2),
    (POOL, "drainQueue", "drainTo", 1),
    ("java/util/TimerThread", "mainLoop", "run", 1),
    (FORK_JOIN, "doExec", "exec", 1),
];

/// Replaces the calls of all targets in a class. The result is the class file and the number of
/// calls.
pub(crate) fn replace_all(name: &str, bytes: &[u8]) -> (Vec<u8>, usize) {
    let class = ClassFile::parse(bytes).unwrap();
    let text = |bytes| std::str::from_utf8(bytes).unwrap();
    let with_code = class.methods().iter().filter(|method| method.has_code());
    let hooks: Vec<CallHook<'_>> = with_code
        .flat_map(|method| {
            TARGETS.iter().map(|target| CallHook {
                method: text(method.name()),
                descriptor: text(method.descriptor()),
                target: target.target,
                helper: Helper {
                    class: HELPER,
                    method: target.target.method,
                    descriptor: target.helper,
                },
            })
        })
        .collect();
    let patched = patch(&class, &[], &hooks);
    let patched = patched.unwrap_or_else(|error| panic!("{name}: {error}"));
    let replaced = |outcome: &CallOutcome| match *outcome {
        CallOutcome::Replaced { calls } => calls,
        CallOutcome::NoSuchCall => 0,
        _ => panic!("{name}: {outcome:?}"),
    };
    let counts = patched.call_outcomes.iter().map(replaced);
    for &(_, method, called, calls) in SITES.iter().filter(|(class, ..)| *class == name) {
        let is_site = |hook: &CallHook<'_>| hook.method == method && hook.target.method == called;
        let at_site = hooks.iter().zip(counts.clone());
        let found: usize = at_site
            .filter_map(|(hook, count)| is_site(hook).then_some(count))
            .sum();
        assert_eq!(found, calls, "{name}.{method}: {called}");
    }
    let calls = counts.sum();
    (patched.bytes, calls)
}
