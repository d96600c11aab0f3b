//! Which thread records are in use, and which are free.
//!
//! Rules for `unsafe`: (1) only code that holds the lock of the directory reaches the pool; (2) the
//! caller upholds the contract of the signal handler's table that it states.

#![expect(unsafe_code, reason = "publishes and retires thread records")]

use crate::os::pages::Pages;
use signal_core::record::{RecordTable, ThreadFacts, ThreadRecord};
use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

/// The allocator of records and serials.
#[derive(Debug, Default)]
pub(super) struct RecordPool {
    free: Vec<u32>,
    used: HashSet<u32>,
    next_index: u32,
    next_serial: u64,
    /// Pages of the table from OS ids to records.
    pages: Pages,
}

impl RecordPool {
    /// Publishes a record with these facts and a new serial. `None` if no record is free, or the OS
    /// id is beyond the table.
    ///
    /// # Safety
    /// The thread has this `JavaThread` and `JNIEnv` until its record is retired.
    pub(super) unsafe fn publish(
        &mut self,
        records: &RecordTable,
        mut facts: ThreadFacts,
    ) -> Option<&'static ThreadRecord> {
        let index = self.take_index(records.capacity())?;
        self.next_serial += 1;
        facts.serial = self.next_serial;
        // SAFETY: rules 1 and 2.
        if unsafe { records.publish(index, &facts) } {
            self.pages.mark_used(facts.os_tid);
            return records.at(index);
        }
        self.give_back(index);
        None
    }

    /// Takes a record out of the table, and frees it.
    ///
    /// # Safety
    /// The thread of the record has ended, or is the calling one with the signal blocked.
    pub(super) unsafe fn retire(&mut self, records: &RecordTable, record: &ThreadRecord) {
        // SAFETY: rules 1 and 2.
        unsafe { records.retire(record) };
        let os_tid = record.os_tid.load(Relaxed);
        self.pages.mark_free(os_tid, records.cells());
        self.give_back(record.index.load(Relaxed));
    }

    /// The records in use.
    pub(super) fn used(
        &self,
        records: &'static RecordTable,
    ) -> impl Iterator<Item = &'static ThreadRecord> {
        self.used.iter().filter_map(|index| records.at(*index))
    }

    /// How many records are in use.
    pub(super) fn used_count(&self) -> usize {
        self.used.len()
    }

    fn take_index(&mut self, capacity: usize) -> Option<u32> {
        let index = self.free.pop().or_else(|| {
            let next = self.next_index;
            ((next as usize) < capacity).then(|| {
                self.next_index += 1;
                next
            })
        })?;
        self.used.insert(index);
        Some(index)
    }

    fn give_back(&mut self, index: u32) {
        if self.used.remove(&index) {
            self.free.push(index);
        }
    }
}
