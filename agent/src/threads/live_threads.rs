//! The ids of all live virtual threads, read the way the VM's own thread dump reads them: from the
//! tree of `jdk.internal.vm.ThreadContainers`. Its root lists the virtual threads that were started
//! directly; its children list those of executors and task scopes. This walks no heap and stops no
//! VM.
//!
//! Rules:
//! 1. Access is by JNI, which checks no module boundary. Whatever is missing or throws means
//!    "unknown", never "no thread".
//! 2. The walk has a depth limit; a deeper tree means "unknown".

use crate::jvm::jni::{Jni, LocalRef};
use jni_sys::{jfieldID, jmethodID};
use std::collections::HashSet;

/// Limit of nested task scopes.
const MAX_DEPTH: usize = 64;

struct Methods {
    threads: jmethodID,
    children: jmethodID,
    to_array: jmethodID,
    tid: jfieldID,
}

/// Ids of all virtual threads that lived during the whole call, and of some that started or ended
/// meanwhile. `None` if this VM does not track them (before 21; `-Djdk.trackAllThreads=false`), or
/// not in the expected way.
pub(crate) fn ids(jni: Jni) -> Option<HashSet<i64>> {
    jni.with_local_frame(|jni| {
        let containers = jni.find_class(c"jdk/internal/vm/ThreadContainers")?;
        let tracked = jni.static_method_id(&containers, c"trackAllThreads", c"()Z")?;
        if !jni.call_static_boolean(&containers, tracked) {
            return None;
        }
        let container = jni.find_class(c"jdk/internal/vm/ThreadContainer")?;
        let stream = jni.find_class(c"java/util/stream/Stream")?;
        let thread = jni.find_class(c"java/lang/Thread")?;
        let methods = Methods {
            threads: jni.method_id(&container, c"threads", c"()Ljava/util/stream/Stream;")?,
            children: jni.method_id(&container, c"children", c"()Ljava/util/stream/Stream;")?,
            to_array: jni.method_id(&stream, c"toArray", c"()[Ljava/lang/Object;")?,
            tid: jni.field_id(&thread, c"tid", c"J")?,
        };
        let root =
            jni.static_method_id(&containers, c"root", c"()Ljdk/internal/vm/ThreadContainer;")?;
        let root = jni.call_static_object(&containers, root, &[])?;
        let mut found = HashSet::new();
        methods.collect(*jni, &root, MAX_DEPTH, &mut found)?;
        Some(found)
    })
}

impl Methods {
    /// Ids of the threads of `container` and of all containers below it.
    fn collect(
        &self,
        jni: Jni,
        container: &LocalRef<'_>,
        depth: usize,
        into: &mut HashSet<i64>,
    ) -> Option<()> {
        let remaining = depth.checked_sub(1)?;
        self.each(jni, container, self.threads, |thread| {
            into.insert(jni.long_field(thread, self.tid));
            Some(())
        })?;
        self.each(jni, container, self.children, |child| {
            self.collect(jni, child, remaining, into)
        })
    }

    /// Calls `body` with each element of the stream that `method` of `container` returns.
    fn each(
        &self,
        jni: Jni,
        container: &LocalRef<'_>,
        method: jmethodID,
        mut body: impl FnMut(&LocalRef<'_>) -> Option<()>,
    ) -> Option<()> {
        let stream = jni.call_object(container, method)?;
        let array = jni.call_object(&stream, self.to_array);
        jni.delete_local(stream);
        let array = array?;
        for index in 0..jni.array_length(&array) {
            let element = jni.array_element(&array, index)?;
            let result = body(&element);
            jni.delete_local(element);
            result?;
        }
        jni.delete_local(array);
        Some(())
    }
}
