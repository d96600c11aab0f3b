//! `io.ctxagent.direct.DirectMemory`, the class by which the Java API accesses the slab. The boot
//! loader defines it. The unnamed module of that loader contains no class of the application, and
//! is the only module to which this exports `jdk.internal.misc`.

use super::jni::Jni;
use super::jvmti::Jvmti;
use jni_sys::{jclass, jobject};
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

/// `make direct-memory` builds it; a test compares it with its source.
const BYTES: &[u8] = include_bytes!("DirectMemory.class");
const NAME: &CStr = c"io/ctxagent/direct/DirectMemory";

/// Whether the class is defined; one thread at a time defines it.
static DEFINED: Mutex<bool> = Mutex::new(false);

/// Makes the class usable for `module`, that of the Java API. `false` if this VM does not allow it,
/// or the heap is full.
pub(crate) fn open(jvmti: Jvmti, jni: Jni, module: jobject) -> bool {
    jni.with_local_frame(|| {
        let mut defined = DEFINED.lock().unwrap_or_else(PoisonError::into_inner);
        let class = if *defined {
            jni.find_class(NAME)
        } else {
            define(jvmti, jni)
        };
        *defined |= class.is_some();
        // A named module reads only what it requires.
        class
            .and_then(|class| module_of(jni, class))
            .is_some_and(|boot| jvmti.add_reads(module, boot).is_ok())
    })
}

fn define(jvmti: Jvmti, jni: Jni) -> Option<jclass> {
    let class = jni.define_boot_class(NAME, BYTES)?;
    let boot = module_of(jni, class)?;
    jvmti.export_package(c"jdk.internal.misc", boot).ok()?;
    // This initialises the class.
    jni.static_method_id(class, c"getLong", c"(J)J")?;
    Some(class)
}

fn module_of(jni: Jni, class: jclass) -> Option<jobject> {
    let of_classes = jni.class_of(class)?;
    let method = jni.method_id(of_classes, c"getModule", c"()Ljava/lang/Module;")?;
    jni.call_object(class, method)
}
