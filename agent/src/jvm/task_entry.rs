//! The classes that hooked methods of the JDK call. The boot loader defines them in `java.base`, so
//! that they can: `jdk.internal.javac.TaskEntry`, which all packages of it see, and
//! `java.util.concurrent.TaskCalls`, which calls what only that package sees.

use super::boot_classes::BootClasses;
use super::jni::{Argument, Jni, LocalRef};
use std::ffi::CStr;

/// Their names.
pub(crate) const ENTRY: &str = "jdk/internal/javac/TaskEntry";
pub(crate) const CALLS: &str = "java/util/concurrent/TaskCalls";

static CLASSES: BootClasses = BootClasses::new(&[
    c"jdk/internal/javac/WeakTable$Entry",
    c"jdk/internal/javac/WeakTable",
    c"jdk/internal/javac/TaskTable",
    c"jdk/internal/javac/TaskEntry$TimerTasks",
    c"jdk/internal/javac/BareTasks",
    c"java/util/concurrent/TaskCalls$ForkedTasks",
    c"java/util/concurrent/PooledTask",
    c"java/util/concurrent/TaskCalls",
    c"jdk/internal/javac/TaskEntry",
]);

/// Defines the classes, unless they are. `false`: no hook may be inserted, for it would not find
/// them.
pub(crate) fn prepare(jni: Jni) -> bool {
    jni.with_local_frame(|jni| CLASSES.last(jni).is_some())
}

/// Has hooks use `carrier`, a `BinaryOperator`, unless one is in use. `false` if the heap is full.
pub(crate) fn set_carrier(jni: Jni, carrier: &LocalRef<'_>) -> bool {
    let signature = c"(Ljava/util/function/BinaryOperator;)V";
    call(jni, c"use", signature, Argument::Object(carrier))
}

/// Turns hooks on or off: those of the mechanisms whose bits are set are on.
pub(crate) fn turn(jni: Jni, on: u8) -> bool {
    call(jni, c"turn", c"(I)V", Argument::Int(on.into()))
}

/// The thread, which is the current one, begins: it gets the context that is noted for it.
pub(crate) fn begun(jni: Jni, thread: &LocalRef<'_>) {
    call(
        jni,
        c"begun",
        c"(Ljava/lang/Thread;)V",
        Argument::Object(thread),
    );
}

/// What the hooks have counted under a number; 0 if there are none.
pub(crate) fn counted(jni: Jni, number: u8) -> i64 {
    count(jni, c"counted", number)
}

/// The tasks without a context of the mechanism with this number.
pub(crate) fn counted_bare(jni: Jni, number: u8) -> i64 {
    count(jni, c"countedBare", number)
}

fn count(jni: Jni, name: &CStr, number: u8) -> i64 {
    let counted = jni.with_local_frame(|jni| {
        let class = CLASSES.defined(jni)?;
        let method = jni.static_method_id(&class, name, c"(I)J")?;
        Some(jni.call_static_long(&class, method, &[Argument::Int(number.into())]))
    });
    counted.unwrap_or(0)
}

/// Where most tasks without a context come from: how many, and the place, those with most first.
pub(crate) fn sites(jni: Jni, number: u8) -> Vec<(u64, String)> {
    let text = jni.with_local_frame(|jni| {
        let class = CLASSES.defined(jni)?;
        let method = jni.static_method_id(&class, c"sites", c"(I)Ljava/lang/String;")?;
        let text = jni.call_static_object(&class, method, &[Argument::Int(number.into())])?;
        Some(jni.text(&text))
    });
    let text = text.unwrap_or_default();
    let site = |line: &str| {
        let (count, place) = line.split_once(' ')?;
        Some((count.parse().ok()?, place.to_owned()))
    };
    let mut sites: Vec<(u64, String)> = text.lines().filter_map(site).collect();
    sites.sort_by(|one, other| other.cmp(one));
    sites
}

fn call(jni: Jni, name: &CStr, signature: &CStr, argument: Argument<'_>) -> bool {
    let called = jni.with_local_frame(|jni| {
        let class = CLASSES.last(jni)?;
        let method = jni.static_method_id(&class, name, signature)?;
        jni.call_static_void(&class, method, &[argument]);
        Some(())
    });
    called.is_some()
}
