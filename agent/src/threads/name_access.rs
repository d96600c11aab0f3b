//! How the writer reads the names of threads and forgets ended ones.

use super::directory::ThreadDirectory;
use super::thread_names::ThreadInfo;
use crate::jvm::jni::{Jni, WeakRef};

impl ThreadDirectory {
    /// Name and ids of a thread that was sampled.
    pub(crate) fn info(&self, serial: u64) -> Option<ThreadInfo> {
        self.names.get(serial).map(|info| info.clone())
    }

    /// Reads the name of a thread again: it may have changed since the start of the thread. Only
    /// the writer calls this.
    pub(crate) fn refresh(&self, jni: Jni, serial: u64) {
        let weak = self.begin_reading(serial);
        let thread = weak.and_then(|weak| jni.local(weak)); // rule 5
        self.end_reading(jni);
        let Some(thread) = thread else {
            return;
        };
        if let Ok(name) = self.jvmti.thread_name(jni, &thread) {
            self.names.rename(serial, name);
        }
        jni.delete_local(thread);
    }

    /// The weak reference to a thread; nobody deletes it before `end_reading`.
    fn begin_reading(&self, serial: u64) -> Option<WeakRef> {
        let mut state = self.lock();
        state.names.being_read = serial;
        self.names.get(serial).map(|info| info.weak)
    }

    fn end_reading(&self, jni: Jni) {
        let mut state = self.lock();
        state.names.being_read = 0;
        let weak = state.names.left_to_writer.take();
        drop(state);
        if let Some(weak) = weak {
            jni.delete_weak(weak);
        }
    }

    /// While the result lives, names of ended threads stay until [`forget`](Self::forget). The
    /// writer calls this before anything is sampled.
    pub(crate) fn read_ended(&self) -> EndedThreadsReader<'_> {
        self.lock().names.has_writer = true;
        EndedThreadsReader(self)
    }

    /// Takes the serials of threads that have ended since the last call. The caller forgets each
    /// once it has drained the samples taken before.
    pub(crate) fn take_ended(&self, into: &mut Vec<u64>) {
        while let Some(serial) = self.names.ended.pop() {
            into.push(serial);
        }
    }

    /// Forgets an ended thread.
    pub(crate) fn forget(&self, jni: Jni, serial: u64) {
        if let Some(weak) = self.names.remove(serial) {
            jni.delete_weak(weak);
        }
    }
}

/// Keeps the names of ended threads; its holder takes their serials and forgets them.
#[derive(Debug)]
pub(crate) struct EndedThreadsReader<'a>(&'a ThreadDirectory);

impl Drop for EndedThreadsReader<'_> {
    fn drop(&mut self) {
        self.0.lock().names.has_writer = false;
        let mut remaining = Vec::new();
        self.0.take_ended(&mut remaining);
        if let Some(jni) = self.0.vm.env() {
            for serial in remaining {
                self.0.forget(jni, serial);
            }
        }
    }
}
