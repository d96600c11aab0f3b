//! The holder of the monitor that the calling thread starts to wait for, and the holder's context.
//!
//! This costs some checked loads and one remote read of the holder's block: well below a
//! microsecond. It happens before the length of the wait is known, because the holder continues.

use super::queue::{EventQueue, MonitorHolder};
use crate::hotspot::monitors::{MonitorLayout, Owner};
use crate::threads::ThreadRef;
use signal_core::block::Values;
use signal_core::record::ThreadRecord;
use std::sync::atomic::Ordering::Relaxed;

/// `None` if the VM does not name the holder, or the holder is not in the directory.
pub(super) fn of_pending_monitor(
    queue: &EventQueue,
    layout: &MonitorLayout,
    waiter: &ThreadRecord,
) -> Option<MonitorHolder> {
    let memory = queue.handler.stack_walker()?.memory();
    let threads = queue.threads;
    let thread = match layout.owner(memory, waiter.java_thread.load(Relaxed))? {
        Owner::Id(tid) => threads.by_java_tid(tid).map_or(
            // Platform threads are in the directory from their start to their end.
            ThreadRef {
                serial: 0,
                logical_tid: tid,
                is_virtual: true,
            },
            |record| ThreadRef::of(record, tid),
        ),
        Owner::Address(address) => topmost(queue, threads.by_address(address)?),
    };
    let mut values = Values::default();
    // Empty if the holder changes its context now, or another thread has closed it.
    queue
        .handler
        .blocks
        .read_remote(thread.logical_tid, &mut values);
    Some(MonitorHolder { thread, values })
}

/// The thread itself, or the virtual thread that it carries: before 24 a virtual thread that holds
/// a monitor stays mounted.
fn topmost(queue: &EventQueue, record: &ThreadRecord) -> ThreadRef {
    let own = record.java_tid.load(Relaxed);
    let logical_tid = queue.handler.logical_tid_of_other(record);
    ThreadRef::of(record, logical_tid.unwrap_or(own))
}
