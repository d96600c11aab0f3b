//! Who holds the monitor that the calling thread begins to wait for, and under which context.
//!
//! Some loads, checked, and one look at the holder's block from beside: well below a microsecond, before it is known whether the wait will be long
//! enough, because the holder goes on meanwhile.

use super::{Holder, Scene, Who};
use crate::entry::agent::Live;
use crate::hotspot::monitors::Owner;
use signal_core::block::Values;
use signal_core::record::ThreadRecord;
use std::sync::atomic::Ordering::Relaxed;

/// `None` where the VM does not tell, or the holder is no thread that we know.
pub(super) fn of_pending_monitor(scene: &Scene, waiter: &ThreadRecord) -> Option<Holder> {
    let live = scene.live;
    let layout = (*live.observers.monitors.get()?)?;
    let memory = live.handler.own()?.memory();
    let who = match layout.owner(memory, waiter.java_thread.load(Relaxed))? {
        Owner::Id(tid) => live.threads.by_java_tid(tid).map_or(
            // Platform threads are known from their start to their end.
            Who {
                serial: 0,
                logical_tid: tid,
                is_virtual: true,
            },
            |record| Who::of(record, tid),
        ),
        Owner::Address(address) => on_top_of(live, live.threads.by_address(address)?),
    };
    let mut values = Values::default();
    // Empty unless the holder shows a context: it may be changing it, or another thread has closed it.
    live.handler
        .blocks
        .read_beside(who.logical_tid, &mut values);
    Some(Holder { who, values })
}

/// The thread itself, or the virtual thread that it carries: before 24 one that holds a monitor stays mounted.
fn on_top_of(live: &Live, record: &ThreadRecord) -> Who {
    let own = record.java_tid.load(Relaxed);
    let logical_tid = live.handler.logical_tid_of_other(record).unwrap_or(own);
    Who::of(record, logical_tid)
}
