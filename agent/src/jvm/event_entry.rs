//! The class that methods of the JDK call which park a thread or create an exception,
//! `jdk.internal.javac.EventEntry`, which all packages of `java.base` see; and
//! `io.ctxagent.internal.event.EventSink`, by which that reports to the agent.

use super::boot_classes::BootClasses;
use super::jni::{Argument, Jni, LocalRef};

/// The name of the first.
pub(crate) const EVENTS: &str = "jdk/internal/javac/EventEntry";

static ENTRY: BootClasses = BootClasses::new(&[c"jdk/internal/javac/EventEntry"]);
static SINK: BootClasses = BootClasses::new(&[c"io/ctxagent/internal/event/EventSink"]);

/// Defines the classes, and has `bind` bind the native of `EventSink`. `false`: no hook may be
/// inserted, for it would not find them.
pub(crate) fn prepare(jni: Jni, bind: fn(Jni, &LocalRef<'_>) -> bool) -> bool {
    jni.with_local_frame(|jni| {
        let is_bound = SINK.last(jni).is_some_and(|class| bind(*jni, &class));
        is_bound && ENTRY.last(jni).is_some()
    })
}

/// Has `EventEntry` report parks that take so long at least (negative: none), and
/// exceptions. `false` if it is not there.
pub(crate) fn turn(jni: Jni, shortest_park_nanos: i64, exceptions: bool) -> bool {
    let turned = jni.with_local_frame(|jni| {
        let (entry, sink) = (ENTRY.defined(jni)?, SINK.defined(jni)?);
        let make = jni.static_method_id(&sink, c"make", c"()Ljava/lang/Object;")?;
        let sink = jni.call_static_object(&sink, make, &[])?;
        let turn = jni.static_method_id(&entry, c"turn", c"(Ljava/lang/Object;JZ)V")?;
        let arguments = [
            Argument::Object(&sink),
            Argument::Long(shortest_park_nanos),
            Argument::Boolean(exceptions),
        ];
        jni.call_static_void(&entry, turn, &arguments).then_some(())
    });
    turned.is_some()
}
