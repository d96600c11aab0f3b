//! Reads of the calling thread's `JavaThread`: where its words are, and the proof that it is alive.
//!
//! A [`CurrentThread`] is that proof (rule 5). Only the code that knows which thread it runs on can
//! make one; everything else takes it as an argument.

use crate::record::ThreadRecord;
use crate::seeded_faults::{self, Fault};
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Where the id of the logical thread stands in a `JavaThread`, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdSource {
    /// No virtual threads (17), or offsets unknown: the platform thread's own id.
    Platform,
    /// The word at `id` holds for a mounted virtual thread while the byte at `guard` is 1 (21).
    Guarded {
        /// Offset of the 8-byte id.
        id: usize,
        /// Offset of the 1-byte flag.
        guard: usize,
    },
    /// The word at `id` always names the current thread, platform or virtual (25).
    Current {
        /// Offset of the 8-byte id.
        id: usize,
    },
    /// The carrier's record holds it: the VM posts mount events.
    MountEvents,
}

/// What the handler reads of a `JavaThread`.
#[derive(Debug, Clone, Copy)]
pub struct VmLayout {
    id_source: IdSource,
    thread_state: Option<usize>,
}

impl VmLayout {
    /// `thread_state` is the offset of the 4-byte thread state; `None` = the VM does not name it,
    /// and no stack is walked.
    ///
    /// # Safety
    /// Rule 5: on this VM every offset lies within each `JavaThread`, and is aligned for its word.
    pub const unsafe fn new(id_source: IdSource, thread_state: Option<usize>) -> Self {
        Self {
            id_source,
            thread_state,
        }
    }

    /// Where the logical thread id is.
    pub(crate) const fn id_source(&self) -> IdSource {
        self.id_source
    }

    /// Signal-safe: HotSpot's state of `thread`, -1 if it has no `JavaThread` or the VM does not
    /// name it.
    pub(crate) fn state_of(&self, thread: CurrentThread) -> i32 {
        self.thread_state
            .and_then(|offset| {
                // SAFETY: the offset is this VM's, by `new`.
                unsafe { thread.load(offset) }
            })
            .unwrap_or(-1)
    }
}

/// The calling thread, registered and running: proof that its `JavaThread` may be read (rule 5).
#[derive(Debug, Clone, Copy)]
pub struct CurrentThread {
    record: &'static ThreadRecord,
    /// It is of no use on another thread.
    not_send: PhantomData<*const ()>,
}

impl CurrentThread {
    /// # Safety
    /// Rule 5: `record` is that of the calling thread and says *running*, and none of the values
    /// made here is used once it is retired.
    pub(crate) const unsafe fn new(record: &'static ThreadRecord) -> Self {
        Self {
            record,
            not_send: PhantomData,
        }
    }

    /// Its record.
    pub const fn record(self) -> &'static ThreadRecord {
        self.record
    }

    /// A word of its `JavaThread`; `None` if it has none.
    ///
    /// # Safety
    /// Rule 5: on this VM `offset` lies within each `JavaThread` and is aligned for a `T`, which
    /// may have any bytes.
    pub(crate) unsafe fn load<T: Copy>(self, offset: usize) -> Option<T> {
        let base = self.record.java_thread.load(Relaxed);
        if base == 0 {
            return None;
        }
        let word: *const T = ptr::with_exposed_provenance(base.wrapping_add(offset));
        // SAFETY: rule 5: the record is running, so its JavaThread is alive; the caller promises
        // the offset.
        Some(unsafe { ptr::read_volatile(word) })
    }
}

impl CurrentThread {
    /// The id of the logical thread, at this offset.
    ///
    /// # Safety
    /// As [`load`](Self::load).
    pub(crate) unsafe fn load_id(self, offset: usize) -> Option<i64> {
        // SAFETY: the caller's promise.
        let id = unsafe { self.load::<i64>(offset) }?;
        let is_virtual = id != 0 && id != self.record.java_tid.load(Relaxed);
        if is_virtual && seeded_faults::is(Fault::OtherVirtualThread) {
            return Some(id.wrapping_add(1));
        }
        Some(id)
    }
}

impl Deref for CurrentThread {
    type Target = ThreadRecord;

    fn deref(&self) -> &ThreadRecord {
        self.record
    }
}
