//! How samples and events name a thread.

use signal_core::record::ThreadRecord;
use std::sync::atomic::Ordering::Relaxed;

/// A logical thread, platform or virtual, and the OS thread that runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ThreadRef {
    /// Serial of the OS thread's record, 0 = none.
    pub(crate) serial: u64,
    /// Id of the logical thread, 0 = not a Java thread.
    pub(crate) logical_tid: i64,
    pub(crate) is_virtual: bool,
}

impl ThreadRef {
    /// A thread that has no record and is no Java thread.
    pub(crate) const UNKNOWN: Self = Self {
        serial: 0,
        logical_tid: 0,
        is_virtual: false,
    };

    /// The thread that the OS thread of `record` runs as `logical_tid`: itself, or a virtual thread
    /// that it carries.
    pub(crate) fn of(record: &ThreadRecord, logical_tid: i64) -> Self {
        Self {
            serial: record.serial.load(Relaxed),
            logical_tid,
            is_virtual: logical_tid != record.java_tid.load(Relaxed),
        }
    }
}
