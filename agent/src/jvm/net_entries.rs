//! The classes that methods of the JDK call which connect or look up a name:
//! `jdk.internal.javac.NetChannels`, and `java.net.NetCalls`, which sees what only that package
//! sees; and `jdk.internal.javac.NetEntries`, which both call.

use super::boot_classes::BootClasses;
use super::jni::{Argument, Jni, LocalRef};

/// The names of those that have hooks.
pub(crate) const CHANNELS: &str = "jdk/internal/javac/NetChannels";
pub(crate) const CALLS: &str = "java/net/NetCalls";

static CLASSES: BootClasses = BootClasses::new(&[
    c"java/net/NetCalls",
    c"jdk/internal/javac/NetChannels",
    c"jdk/internal/javac/NetEntries",
]);

/// Defines the classes, unless they are. `false`: no hook may be inserted, for it would not find
/// them.
pub(crate) fn prepare(jni: Jni) -> bool {
    jni.with_local_frame(|jni| CLASSES.last(jni).is_some())
}

/// Tells `observer` what there is of a kind, or no longer. `false` if the heap is full.
pub(crate) fn observe(jni: Jni, kind: i32, observer: &LocalRef<'_>, on: bool) -> bool {
    let called = jni.with_local_frame(|jni| {
        let class = CLASSES.last(jni)?;
        let signature = c"(ILjava/util/function/Function;Z)V";
        let method = jni.static_method_id(&class, c"observe", signature)?;
        let (kind, observer) = (Argument::Int(kind), Argument::Object(observer));
        jni.call_static_void(&class, method, &[kind, observer, Argument::Boolean(on)]);
        Some(())
    });
    called.is_some()
}
