//! Names and ids of threads, kept until the writer has drained their last samples.

use super::thread_ref::ThreadRef;
use crate::jvm::jni::WeakRef;
use crossbeam_queue::ArrayQueue;
use dashmap::DashMap;
use dashmap::mapref::one::Ref;

/// What samples and events show of a thread.
#[derive(Debug, Clone)]
pub(crate) struct ThreadInfo {
    pub(crate) name: String,
    pub(crate) os_tid: i32,
    pub(crate) java_tid: i64,
    /// Group of a thread that is not a Java thread, see `VmThreadKind`.
    pub(crate) group: Option<&'static str>,
    /// The thread object, or none.
    pub(super) weak: WeakRef,
}

/// The part of the names that needs no lock of the directory.
#[derive(Debug)]
pub(super) struct ThreadNames {
    /// By serial.
    infos: DashMap<u64, ThreadInfo>,
    /// Serial of the latest thread with each OS id.
    by_os_tid: DashMap<i32, u64>,
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
    pub(super) left_to_writer: Option<WeakRef>,
    /// References to be deleted once the lock is free.
    pub(super) unused: Vec<WeakRef>,
}

impl ThreadNames {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            infos: DashMap::new(),
            by_os_tid: DashMap::new(),
            ended: ArrayQueue::new(capacity),
        }
    }

    /// A thread has started.
    pub(super) fn start(&self, serial: u64, info: ThreadInfo) {
        self.by_os_tid.insert(info.os_tid, serial);
        self.infos.insert(serial, info);
    }

    /// A thread that is not forgotten.
    pub(super) fn get(&self, serial: u64) -> Option<Ref<'_, u64, ThreadInfo>> {
        self.infos.get(&serial)
    }

    /// Sets the name of a thread.
    pub(super) fn rename(&self, serial: u64, name: String) {
        if let Some(mut info) = self.infos.get_mut(&serial) {
            info.name = name;
        }
    }

    /// The latest thread with this OS id: it lives, or has ended a moment ago.
    pub(super) fn by_os_tid(&self, os_tid: i32) -> Option<ThreadRef> {
        let serial = *self.by_os_tid.get(&os_tid)?;
        Some(ThreadRef {
            serial,
            logical_tid: self.get(serial)?.java_tid,
            is_virtual: false,
        })
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
    pub(super) fn remove(&self, serial: u64) -> Option<WeakRef> {
        let (_, info) = self.infos.remove(&serial)?;
        self.by_os_tid
            .remove_if(&info.os_tid, |_, it| *it == serial);
        Some(info.weak)
    }
}
