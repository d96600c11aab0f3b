//! The class that methods of the JDK call which park a thread or create an exception:
//! `jdk.internal.javac.EventEntry`, which all packages of `java.base` see.

use super::boot_classes::BootClasses;
use super::jni::{Argument, Jni, LocalRef};

/// Its name.
pub(crate) const EVENTS: &str = "jdk/internal/javac/EventEntry";

static CLASSES: BootClasses = BootClasses::new(&[c"jdk/internal/javac/EventEntry"]);

/// Defines the class, and has `bind` bind its natives, unless it is there. `false`: no hook may be
/// inserted, for it would not find them.
pub(crate) fn prepare(jni: Jni, bind: fn(Jni, &LocalRef<'_>) -> bool) -> bool {
    jni.with_local_frame(|jni| CLASSES.last(jni).is_some_and(|class| bind(*jni, &class)))
}

/// Has it tell of parks that take so long at least (negative: of none), and of exceptions. `false`
/// if it is not there.
pub(crate) fn turn(jni: Jni, shortest_park_nanos: i64, exceptions: bool) -> bool {
    let turned = jni.with_local_frame(|jni| {
        let class = CLASSES.defined(jni)?;
        let method = jni.static_method_id(&class, c"turn", c"(JZ)V")?;
        let arguments = [
            Argument::Long(shortest_park_nanos),
            Argument::Boolean(exceptions),
        ];
        jni.call_static_void(&class, method, &arguments)
            .then_some(())
    });
    turned.is_some()
}
