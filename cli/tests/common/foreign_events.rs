//! Events that the agent does not write but the JDK and async-profiler do, with the fields that
//! `ctxjfr` reads.

use ctxagent_events::Allocation;
use ctxagent_events::fields::{
    BYTES, COLUMNS, CONTEXT_ID, CONTEXT_LENGTH, EVENT_THREAD, JAVA, STACK, START, event, long,
};
use jfr_format::declare::{EventType, Part, Schema};
use jfr_format::write::{MemoryStorage, Recording};

const TRAILER: Part = Part::WithColumns(CONTEXT_LENGTH);
const SIZE: Part = long("allocationSize", "Allocation Size", BYTES);
const TLAB_SIZE: Part = long("tlabSize", "TLAB Size", BYTES);

const IN_NEW_TLAB: EventType = event(
    104,
    "jdk.ObjectAllocationInNewTLAB",
    "Allocation in new TLAB",
    JAVA,
    "An allocation that took a new thread-local buffer",
    &[
        START,
        EVENT_THREAD,
        STACK,
        SIZE,
        TLAB_SIZE,
        TRAILER,
        COLUMNS,
        CONTEXT_ID,
    ],
);

const OUTSIDE_TLAB: EventType = event(
    105,
    "jdk.ObjectAllocationOutsideTLAB",
    "Allocation outside TLAB",
    JAVA,
    "An allocation outside of the thread-local buffers",
    &[
        START,
        EVENT_THREAD,
        STACK,
        SIZE,
        TRAILER,
        COLUMNS,
        CONTEXT_ID,
    ],
);

/// The agent's events and these.
pub(crate) fn schema() -> Schema {
    let foreign = [IN_NEW_TLAB, OUTSIDE_TLAB];
    let mut events = [ctxagent_events::EVENTS, &foreign].concat();
    events.sort_by_key(|event| event.id);
    Schema {
        events: events.leak(),
        ..ctxagent_events::SCHEMA
    }
}

/// The same allocation twice: in a new buffer of this size, and outside of buffers.
pub(crate) fn allocate(r: &mut Recording<MemoryStorage>, a: &Allocation, tlab_bytes: u64) {
    for id in [IN_NEW_TLAB.id, OUTSIDE_TLAB.id] {
        r.event(id, a.at, |fields| {
            fields.key(a.thread).key(a.stack).unsigned(a.bytes);
            if id == IN_NEW_TLAB.id {
                fields.unsigned(tlab_bytes);
            }
            fields.context_trailer(&a.context);
        });
    }
}
