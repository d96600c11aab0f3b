//! Which virtual thread a carrier has mounted, where the VM posts mount events.

use super::directory::ThreadDirectory;
use crate::jvm::jni::{Jni, LocalRef};
use std::sync::atomic::Ordering::Relaxed;

impl ThreadDirectory {
    /// The calling carrier has mounted `thread`, or unmounted the one it had.
    pub(crate) fn set_mounted(&self, jni: Jni, thread: Option<&LocalRef<'_>>) {
        if let Some(record) = self.current_record() {
            let tid = thread.map_or(0, |thread| self.fields.java_tid(jni, thread));
            // Relaxed: only this thread's own handler reads it.
            record.mounted.store(tid, Relaxed);
        }
    }
}
