//! The ids of all virtual threads that live, as the VM's own thread dump finds them: `jdk.internal.vm.ThreadContainers`, whose root knows every
//! virtual thread that was started by hand, and whose children know those of executors and task scopes. No heap walk, no stop of the VM.
//!
//! Rules: (1) reached by JNI, which does not ask modules; whatever is missing or throws means "unknown", never "no thread"; (2) the tree is
//! walked to a bounded depth; deeper means unknown.

use crate::jvm::jni::Jni;
use jni_sys::{jfieldID, jmethodID, jobject};
use std::collections::HashSet;

/// Task scopes within task scopes.
const MAX_DEPTH: usize = 64;

struct Methods {
    threads: jmethodID,
    children: jmethodID,
    to_array: jmethodID,
    tid: jfieldID,
}

/// Ids of all virtual threads that lived during the whole call, and of some that began or ended meanwhile. `None` = this VM does not keep book of
/// them (before 21; `-Djdk.trackAllThreads=false`) or not in the way that is known.
pub(crate) fn ids(jni: Jni) -> Option<HashSet<i64>> {
    jni.with_local_frame(|| {
        let containers = jni.find_class(c"jdk/internal/vm/ThreadContainers")?;
        let tracked = jni.static_method_id(containers, c"trackAllThreads", c"()Z")?;
        if !jni.call_static_boolean(containers, tracked) {
            return None;
        }
        let container = jni.find_class(c"jdk/internal/vm/ThreadContainer")?;
        let stream = jni.find_class(c"java/util/stream/Stream")?;
        let thread = jni.find_class(c"java/lang/Thread")?;
        let methods = Methods {
            threads: jni.method_id(container, c"threads", c"()Ljava/util/stream/Stream;")?,
            children: jni.method_id(container, c"children", c"()Ljava/util/stream/Stream;")?,
            to_array: jni.method_id(stream, c"toArray", c"()[Ljava/lang/Object;")?,
            tid: jni.field_id(thread, c"tid", c"J")?,
        };
        let root =
            jni.static_method_id(containers, c"root", c"()Ljdk/internal/vm/ThreadContainer;")?;
        let root = jni.call_static_object(containers, root, &[])?;
        let mut found = HashSet::new();
        methods.collect(jni, root, MAX_DEPTH, &mut found)?;
        Some(found)
    })
}

impl Methods {
    /// Ids of the threads of `container` and of all containers below it.
    fn collect(
        &self,
        jni: Jni,
        container: jobject,
        depth: usize,
        into: &mut HashSet<i64>,
    ) -> Option<()> {
        let below = depth.checked_sub(1)?;
        self.each(jni, container, self.threads, |thread| {
            into.insert(jni.long_field(thread, self.tid));
            Some(())
        })?;
        self.each(jni, container, self.children, |child| {
            self.collect(jni, child, below, into)
        })
    }

    /// Calls `body` with each element of a stream that `method` of `container` answers.
    fn each(
        &self,
        jni: Jni,
        container: jobject,
        method: jmethodID,
        mut body: impl FnMut(jobject) -> Option<()>,
    ) -> Option<()> {
        let stream = jni.call_object(container, method)?;
        let array = jni.call_object(stream, self.to_array);
        jni.delete_local(stream);
        let array = array?;
        for index in 0..jni.array_length(array) {
            let element = jni.array_element(array, index)?;
            let result = body(element);
            jni.delete_local(element);
            result?;
        }
        jni.delete_local(array);
        Some(())
    }
}
