//! Which constructors of the JDK take a task, by mechanism; the same on 17, 21 and 25. All keep it
//! in a private field, so nobody sees that it was replaced.

use crate::jvm::jni::{Jni, LocalRef};
use crate::jvm::task_entry;
use crate::options::Mechanism;
use class_patcher::hook::{Argument, Helper, Hook};
use std::ffi::CString;

/// A constructor with a task among its parameters.
#[derive(Debug)]
struct TaskHook {
    mechanism: Mechanism,
    class: &'static str,
    descriptor: &'static str,
    /// The place of the task among the parameters.
    place: u8,
    arguments: [Argument; 1],
    /// Method of `TaskEntry`.
    helper: &'static str,
}

impl TaskHook {
    const fn new(
        mechanism: Mechanism,
        class: &'static str,
        descriptor: &'static str,
        place: u8,
        helper: &'static str,
    ) -> Self {
        Self {
            mechanism,
            class,
            descriptor,
            place,
            arguments: [Argument::Parameter(place)],
            helper,
        }
    }
}

/// A constructor in `java.util.concurrent`: class, types of its parameters, classes of them first,
/// place of the task, and method of `TaskEntry`.
macro_rules! hook {
    (
        $mechanism:ident, $class:literal, [$($kind:literal)*] $rest:literal, $place:literal,
        $helper:literal
    ) => {
        TaskHook::new(
            Mechanism::$mechanism,
            concat!("java/util/concurrent/", $class),
            concat!("(", $("Ljava/", $kind, ";",)* $rest, ")V"),
            $place,
            $helper,
        )
    };
}

/// A stage that depends on one other: executor, dependent, source, function.
macro_rules! stage {
    ($class:literal, $kind:literal, $helper:literal) => {
        hook!(
            Completions,
            $class,
            [
                "util/concurrent/Executor"
                "util/concurrent/CompletableFuture"
                "util/concurrent/CompletableFuture"
                $kind
            ]
            "",
            3,
            $helper
        )
    };
}

/// A stage that depends on two others: executor, dependent, two sources, function.
macro_rules! stage_of_two {
    ($class:literal, $kind:literal, $helper:literal) => {
        hook!(
            Completions,
            $class,
            [
                "util/concurrent/Executor"
                "util/concurrent/CompletableFuture"
                "util/concurrent/CompletableFuture"
                "util/concurrent/CompletableFuture"
                $kind
            ]
            "",
            4,
            $helper
        )
    };
}

/// Those of a class follow each other.
static HOOKS: [TaskHook; 19] = [
    hook!(Futures, "FutureTask", ["util/concurrent/Callable"] "", 0, "callable"),
    hook!(Futures, "FutureTask", ["lang/Runnable" "lang/Object"] "", 0, "runnable"),
    // Periodic tasks belong to no request.
    hook!(
        Futures,
        "ScheduledThreadPoolExecutor$ScheduledFutureTask",
        ["util/concurrent/ScheduledThreadPoolExecutor" "lang/Runnable" "lang/Object"] "JJJ",
        1,
        "bare"
    ),
    hook!(
        Completions,
        "CompletableFuture$AsyncSupply",
        ["util/concurrent/CompletableFuture" "util/function/Supplier"] "",
        1,
        "supplier"
    ),
    hook!(
        Completions,
        "CompletableFuture$AsyncRun",
        ["util/concurrent/CompletableFuture" "lang/Runnable"] "",
        1,
        "action"
    ),
    stage!(
        "CompletableFuture$UniApply",
        "util/function/Function",
        "function"
    ),
    stage!(
        "CompletableFuture$UniCompose",
        "util/function/Function",
        "function"
    ),
    stage!(
        "CompletableFuture$UniExceptionally",
        "util/function/Function",
        "function"
    ),
    stage!(
        "CompletableFuture$UniComposeExceptionally",
        "util/function/Function",
        "function"
    ),
    stage!(
        "CompletableFuture$UniAccept",
        "util/function/Consumer",
        "consumer"
    ),
    stage!("CompletableFuture$UniRun", "lang/Runnable", "action"),
    stage!(
        "CompletableFuture$UniHandle",
        "util/function/BiFunction",
        "biFunction"
    ),
    stage!(
        "CompletableFuture$UniWhenComplete",
        "util/function/BiConsumer",
        "biConsumer"
    ),
    stage_of_two!(
        "CompletableFuture$BiApply",
        "util/function/BiFunction",
        "biFunction"
    ),
    stage_of_two!(
        "CompletableFuture$BiAccept",
        "util/function/BiConsumer",
        "biConsumer"
    ),
    stage_of_two!("CompletableFuture$BiRun", "lang/Runnable", "action"),
    stage_of_two!(
        "CompletableFuture$OrApply",
        "util/function/Function",
        "function"
    ),
    stage_of_two!(
        "CompletableFuture$OrAccept",
        "util/function/Consumer",
        "consumer"
    ),
    stage_of_two!("CompletableFuture$OrRun", "lang/Runnable", "action"),
];

/// The mechanism that a class belongs to, by its name with slashes.
pub(super) fn mechanism_of(class: &str) -> Option<Mechanism> {
    let hook = HOOKS.iter().find(|hook| hook.class == class)?;
    Some(hook.mechanism)
}

/// The classes of a mechanism, each once.
pub(super) fn classes(mechanism: Mechanism) -> impl Iterator<Item = &'static str> {
    let mut last = "";
    let hooks = HOOKS.iter().filter(move |hook| hook.mechanism == mechanism);
    hooks.map(|hook| hook.class).filter(move |class| {
        let is_new = *class != last;
        last = class;
        is_new
    })
}

/// The hooks of a class.
pub(super) fn of_class(class: &str) -> impl Iterator<Item = Hook<'static>> {
    let hooks = HOOKS.iter().filter(move |hook| hook.class == class);
    hooks.map(|hook| Hook {
        method: "<init>",
        descriptor: hook.descriptor,
        helper: Helper {
            class: task_entry::NAME,
            method: hook.helper,
            descriptor: "(Ljava/lang/Object;)Ljava/lang/Object;",
        },
        arguments: &hook.arguments,
        replaces: Some(hook.place),
    })
}

/// A class of the JDK, which is loaded if it is not yet.
pub(super) fn find<'e>(jni: &'e Jni, class: &str) -> Option<LocalRef<'e>> {
    jni.find_class(&CString::new(class).ok()?)
}
