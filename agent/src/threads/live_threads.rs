//! All live virtual threads, read the way the VM's own thread dump reads them: from the tree of
//! `jdk.internal.vm.ThreadContainers`. Its root lists the virtual threads that were started
//! directly; its children list those of executors and task scopes. This walks no heap and stops no
//! VM.
//!
//! Rules:
//! 1. Access is by JNI, which checks no module boundary. Whatever is missing or throws means
//!    "unknown", never "no thread".
//! 2. The walk has a depth limit; a deeper tree means "unknown".

use crate::jvm::jni::{Jni, LocalRef};
use jni_sys::jmethodID;
use std::collections::HashSet;

/// Limit of nested task scopes.
const MAX_DEPTH: usize = 64;

struct Methods {
    threads: jmethodID,
    children: jmethodID,
    to_array: jmethodID,
}

/// Ids of all virtual threads that lived during the whole call, and of some that started or ended
/// meanwhile. `None` as in [`arrays`].
pub(crate) fn ids(jni: Jni) -> Option<HashSet<i64>> {
    jni.with_local_frame(|jni| {
        let thread = jni.find_class(c"java/lang/Thread")?;
        let tid = jni.field_id(&thread, c"tid", c"J")?;
        let mut found = HashSet::new();
        for array in arrays(jni)? {
            for index in 0..jni.array_length(&array) {
                let thread = jni.array_element(&array, index)?;
                found.insert(jni.long_field(&thread, tid));
                jni.delete_local(thread);
            }
        }
        Some(found)
    })
}

/// Arrays that hold, together, all virtual threads that lived during the whole call, and perhaps
/// platform threads. `None` if this VM does not track them (before 21;
/// `-Djdk.trackAllThreads=false`), or not in the expected way. They belong to the frame of `jni`.
pub(crate) fn arrays(jni: &Jni) -> Option<Vec<LocalRef<'_>>> {
    let containers = jni.find_class(c"jdk/internal/vm/ThreadContainers")?;
    let tracked = jni.static_method_id(&containers, c"trackAllThreads", c"()Z")?;
    if !jni.call_static_boolean(&containers, tracked) {
        return None;
    }
    let container = jni.find_class(c"jdk/internal/vm/ThreadContainer")?;
    let stream = jni.find_class(c"java/util/stream/Stream")?;
    let methods = Methods {
        threads: jni.method_id(&container, c"threads", c"()Ljava/util/stream/Stream;")?,
        children: jni.method_id(&container, c"children", c"()Ljava/util/stream/Stream;")?,
        to_array: jni.method_id(&stream, c"toArray", c"()[Ljava/lang/Object;")?,
    };
    let root =
        jni.static_method_id(&containers, c"root", c"()Ljdk/internal/vm/ThreadContainer;")?;
    let root = jni.call_static_object(&containers, root, &[])?;
    let mut found = Vec::new();
    methods.collect(jni, &root, MAX_DEPTH, &mut found)?;
    Some(found)
}

impl Methods {
    /// Threads of `container` and of all containers below it.
    fn collect<'e>(
        &self,
        jni: &'e Jni,
        container: &LocalRef<'_>,
        depth: usize,
        into: &mut Vec<LocalRef<'e>>,
    ) -> Option<()> {
        let remaining = depth.checked_sub(1)?;
        into.push(self.array_of(jni, container, self.threads)?);
        let children = self.array_of(jni, container, self.children)?;
        for index in 0..jni.array_length(&children) {
            let child = jni.array_element(&children, index)?;
            let done = self.collect(jni, &child, remaining, into);
            jni.delete_local(child);
            done?;
        }
        jni.delete_local(children);
        Some(())
    }

    /// The elements of the stream that `method` of `container` returns.
    fn array_of<'e>(
        &self,
        jni: &'e Jni,
        container: &LocalRef<'_>,
        method: jmethodID,
    ) -> Option<LocalRef<'e>> {
        let stream = jni.call_object(container, method)?;
        let array = jni.call_object(&stream, self.to_array);
        jni.delete_local(stream);
        array
    }
}
