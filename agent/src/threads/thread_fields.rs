//! The fields of `java.lang.Thread` that the agent reads.
//!
//! Rule for `unsafe`: (1) a field id is a plain number, valid while its class is loaded; the VM
//! never unloads `java.lang.Thread`.

#![expect(unsafe_code, reason = "shares field ids between threads")]

use crate::jvm::jni::{Jni, LocalRef};
use jni_sys::jfieldID;

/// `java.lang.Thread` fields that the directory reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadFields {
    tid: jfieldID,
    eetop: jfieldID,
}

// SAFETY: rule 1.
unsafe impl Send for ThreadFields {}
// SAFETY: rule 1.
unsafe impl Sync for ThreadFields {}

impl ThreadFields {
    /// Looks the fields up.
    pub(crate) fn find(jni: Jni) -> Option<Self> {
        let class = jni.find_class(c"java/lang/Thread")?;
        let fields = Self {
            tid: jni.field_id(&class, c"tid", c"J")?,
            eetop: jni.field_id(&class, c"eetop", c"J")?,
        };
        jni.delete_local(class);
        Some(fields)
    }

    /// Java id of a thread object.
    pub(crate) fn java_tid(self, jni: Jni, thread: &LocalRef<'_>) -> i64 {
        jni.long_field(thread, self.tid)
    }

    /// Address of the `JavaThread`, 0 if the thread is not alive.
    pub(crate) fn java_thread(self, jni: Jni, thread: &LocalRef<'_>) -> usize {
        usize::try_from(jni.long_field(thread, self.eetop)).unwrap_or(0)
    }
}
