//! Names and ids of threads, kept until the writer has drained their last samples.

use crate::jvm::jni::Jni;
use crossbeam_queue::ArrayQueue;
use dashmap::DashMap;
use jni_sys::jobject;

/// What samples and events show of a thread.
#[derive(Debug, Clone)]
pub(crate) struct ThreadInfo {
    pub(crate) name: String,
    pub(crate) os_tid: i32,
    pub(crate) java_tid: i64,
    /// Group of a thread that is not a Java thread, see `VmThreadKind`.
    pub(crate) group: Option<&'static str>,
    pub(super) weak: WeakThread,
}

/// A weak global reference to a thread object, or none.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeakThread(usize);

impl WeakThread {
    pub(super) const NONE: Self = Self(0);

    pub(super) fn new(jni: Jni, thread: jobject) -> Self {
        Self(jni.weak(thread).expose_provenance())
    }

    /// A local reference to the thread, `None` if it is collected.
    pub(super) fn local(self, jni: Jni) -> Option<jobject> {
        if self.0 == 0 {
            return None;
        }
        jni.local(std::ptr::with_exposed_provenance_mut(self.0))
    }

    pub(super) fn delete(self, jni: Jni) {
        jni.delete_weak(std::ptr::with_exposed_provenance_mut(self.0));
    }
}

/// The part of the names that needs no lock of the directory.
#[derive(Debug)]
pub(super) struct ThreadNames {
    /// By serial.
    pub(super) infos: DashMap<u64, ThreadInfo>,
    /// Serials of ended threads, for the writer to forget.
    pub(super) ended: ArrayQueue<u64>,
}

/// The part of the names that the lock of the directory guards.
#[derive(Debug, Default)]
pub(super) struct NameRetention {
    /// A writer needs the names of ended threads.
    pub(super) has_writer: bool,
    /// Serial of the thread whose name the writer reads at the moment; 0 = none.
    pub(super) being_read: u64,
    /// The reference of that thread, if it is forgotten meanwhile: the writer deletes it.
    pub(super) left_to_writer: Option<WeakThread>,
    /// References to be deleted once the lock is free.
    pub(super) unused: Vec<WeakThread>,
}

impl ThreadNames {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            infos: DashMap::new(),
            ended: ArrayQueue::new(capacity),
        }
    }

    /// Keeps the name of an ended thread for the writer, or forgets it where none runs.
    pub(super) fn end(&self, retention: &mut NameRetention, serial: u64) {
        // If the writer hangs and the queue is full, the thread that ended first is forgotten: its
        // last samples may have no name.
        let forgettable = if retention.has_writer {
            self.ended.force_push(serial)
        } else {
            Some(serial)
        };
        let Some(serial) = forgettable else { return };
        if let Some(weak) = self.remove(serial) {
            if retention.being_read == serial {
                retention.left_to_writer = Some(weak);
            } else {
                retention.unused.push(weak);
            }
        }
    }

    /// Removes a thread; the caller deletes the reference.
    pub(super) fn remove(&self, serial: u64) -> Option<WeakThread> {
        self.infos.remove(&serial).map(|(_, info)| info.weak)
    }
}
