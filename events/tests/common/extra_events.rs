//! Events that the agent does not write, but other profilers and the JDK do: how viewers show them,
//! and what `ctxjfr` makes of them.

use ctxagent_events::fields::*;
use ctxagent_events::*;
use jfr_format::declare::{EventId, EventType, Part, Schema};
use jfr_format::write::*;

/// CPU sample of a thread that ran native code.
pub(crate) const NATIVE_METHOD_SAMPLE: EventType = event(
    101,
    "jdk.NativeMethodSample",
    "Method Profiling Sample Native",
    PROFILING,
    "A thread was in native code; weight = sampling intervals that this sample stands for",
    SAMPLE_PARTS,
);

/// Allocation that took a new TLAB.
pub(crate) const ALLOCATION_IN_NEW_TLAB: EventType = event(
    104,
    "jdk.ObjectAllocationInNewTLAB",
    "Allocation in new TLAB",
    JAVA,
    "An allocation that took a new thread-local buffer",
    &[
        START,
        EVENT_THREAD,
        STACK,
        pooled("objectClass", "java.lang.Class", "Object Class"),
        long("allocationSize", "Allocation Size", BYTES),
        long("tlabSize", "TLAB Size", BYTES),
        Part::WithColumns(CONTEXT_LENGTH),
        COLUMNS,
        CONTEXT_ID,
    ],
);

/// Allocation outside of TLABs.
pub(crate) const ALLOCATION_OUTSIDE_TLAB: EventType = event(
    105,
    "jdk.ObjectAllocationOutsideTLAB",
    "Allocation outside TLAB",
    JAVA,
    "An allocation outside of the thread-local buffers",
    &[
        START,
        EVENT_THREAD,
        STACK,
        pooled("objectClass", "java.lang.Class", "Object Class"),
        long("allocationSize", "Allocation Size", BYTES),
        Part::WithColumns(CONTEXT_LENGTH),
        COLUMNS,
        CONTEXT_ID,
    ],
);

/// Parked thread.
pub(crate) const THREAD_PARK: EventType = event(
    107,
    "jdk.ThreadPark",
    "Java Thread Park",
    JAVA,
    "A thread was parked",
    &[
        START,
        DURATION,
        EVENT_THREAD,
        STACK,
        pooled("parkedClass", "java.lang.Class", "Class Parked On"),
        long("timeout", "Park Timeout", NANO_SPAN),
        long("until", "Park Until", MILLI_STAMP),
        long("address", "Address of Object Parked", ADDRESS),
        Part::WithColumns(CONTEXT_LENGTH),
        COLUMNS,
        CONTEXT_ID,
    ],
);

/// Garbage collection.
pub(crate) const GARBAGE_COLLECTION: EventType = event(
    108,
    "jdk.GarbageCollection",
    "Garbage Collection",
    GC,
    "A garbage collection",
    &[
        START,
        DURATION,
        EVENT_THREAD,
        int("gcId", "GC Identifier"),
        pooled("name", "jdk.types.GCName", "Name"),
        pooled("cause", "jdk.types.GCCause", "Cause"),
        long("sumOfPauses", "Sum of Pauses", TICK_SPAN),
        long("longestPause", "Longest Pause", TICK_SPAN),
    ],
);

/// A context and the time it was installed.
pub(crate) const CONTEXT_SPAN: EventType = event(
    113,
    "ctxagent.ContextSpan",
    "Context Span",
    CONTEXT,
    "A thread had this context from start to end",
    &[
        START,
        DURATION,
        EVENT_THREAD,
        Part::Columns { contextual: true },
    ],
);

/// A remark of the application or the profiler.
pub(crate) const MARK: EventType = event(
    114,
    "ctxagent.Mark",
    "Mark",
    CONTEXT,
    "A named moment",
    &[
        START,
        EVENT_THREAD,
        text("name", "Name"),
        text("text", "Text"),
        Part::WithColumns(CONTEXT_LENGTH),
        COLUMNS,
        CONTEXT_ID,
    ],
);

/// Lost data.
pub(crate) const DATA_LOSS: EventType = event(
    115,
    "jdk.DataLoss",
    "Data Loss",
    RECORDER,
    "Data could not be written",
    &[
        START,
        long("amount", "Amount", BYTES),
        long("total", "Total", BYTES),
    ],
);

/// The events of the agent and those here.
pub(crate) const ALL_EVENTS: &[EventType] = &[
    EXECUTION_SAMPLE,
    NATIVE_METHOD_SAMPLE,
    WALL_CLOCK_SAMPLE,
    OBJECT_ALLOCATION_SAMPLE,
    ALLOCATION_IN_NEW_TLAB,
    ALLOCATION_OUTSIDE_TLAB,
    JAVA_MONITOR_ENTER,
    THREAD_PARK,
    GARBAGE_COLLECTION,
    GC_PHASE_PAUSE,
    CONTEXT_EVENT,
    CONTEXT_ATTRIBUTE,
    STATS,
    CONTEXT_SPAN,
    MARK,
    DATA_LOSS,
    ACTIVE_RECORDING,
    ACTIVE_SETTING,
    JVM_INFORMATION,
    OS_INFORMATION,
    CPU_INFORMATION,
    INITIAL_SYSTEM_PROPERTY,
];

/// A schema with all of them.
pub(crate) const ALL_EVENTS_SCHEMA: Schema = Schema {
    events: ALL_EVENTS,
    ..SCHEMA
};

/// The JVM's "no time limit".
const NO_LIMIT: i64 = i64::MIN;

/// An allocation that took a new buffer: `jdk.ObjectAllocationInNewTLAB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TlabAllocation {
    /// The allocation.
    pub(crate) allocation: Allocation,
    /// Size of the buffer.
    pub(crate) tlab_bytes: u64,
}

/// A parked thread: `jdk.ThreadPark`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Park {
    /// When it began.
    pub(crate) at: Ticks,
    /// How long it took.
    pub(crate) duration: Ticks,
    /// Which thread.
    pub(crate) thread: ThreadKey,
    /// Its stack.
    pub(crate) stack: StackKey,
    /// Class of the blocker.
    pub(crate) class: ClassKey,
    /// Time limit in nanoseconds; `None` = none.
    pub(crate) timeout_nanos: Option<u64>,
    /// Deadline, milliseconds since 1970 UTC; `None` = none.
    pub(crate) until_epoch_millis: Option<u64>,
    /// Address of the blocker, or another number that tells blockers apart.
    pub(crate) address: u64,
    /// The thread's context.
    pub(crate) context: Context,
}

/// A garbage collection: `jdk.GarbageCollection`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GarbageCollection {
    /// When it began.
    pub(crate) at: Ticks,
    /// How long it took.
    pub(crate) duration: Ticks,
    /// Thread that saw it, or [`ThreadKey::NONE`].
    pub(crate) thread: ThreadKey,
    /// Number of the collection.
    pub(crate) gc_id: u32,
    /// Collector.
    pub(crate) name: GcNameKey,
    /// Cause.
    pub(crate) cause: GcCauseKey,
    /// Sum of its pauses.
    pub(crate) sum_of_pauses: Ticks,
    /// Longest of its pauses.
    pub(crate) longest_pause: Ticks,
}

/// A context and the time it was installed: `ctxagent.ContextSpan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// When it was installed.
    pub(crate) at: Ticks,
    /// How long it stayed.
    pub(crate) duration: Ticks,
    /// Which thread.
    pub(crate) thread: ThreadKey,
    /// The context.
    pub(crate) context: Context,
}

/// A named moment: `ctxagent.Mark`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark<'a> {
    /// When.
    pub(crate) at: Ticks,
    /// Which thread, or [`ThreadKey::NONE`].
    pub(crate) thread: ThreadKey,
    /// Name.
    pub(crate) name: &'a str,
    /// More text; may be empty.
    pub(crate) text: &'a str,
    /// The thread's context.
    pub(crate) context: Context,
}

/// Writes the events; the recording has [`ALL_EVENTS_SCHEMA`].
pub(crate) trait ExtraEvents {
    fn native_sample(&mut self, sample: &Sample);
    fn allocation_in_new_tlab(&mut self, allocation: &TlabAllocation);
    fn allocation_outside_tlab(&mut self, allocation: &Allocation);
    fn park(&mut self, park: &Park);
    fn garbage_collection(&mut self, gc: &GarbageCollection);
    fn span(&mut self, span: &Span);
    fn mark(&mut self, mark: &Mark<'_>);
    fn data_loss(&mut self, at: Ticks, amount_bytes: u64, total_bytes: u64);
}

impl<S: Storage> ExtraEvents for Recording<S> {
    fn native_sample(&mut self, sample: &Sample) {
        put_sample(self, NATIVE_METHOD_SAMPLE.id, sample);
    }

    fn allocation_in_new_tlab(&mut self, allocation: &TlabAllocation) {
        let tlab = Some(allocation.tlab_bytes);
        put_allocation(
            self,
            ALLOCATION_IN_NEW_TLAB.id,
            &allocation.allocation,
            tlab,
        );
    }

    fn allocation_outside_tlab(&mut self, allocation: &Allocation) {
        put_allocation(self, ALLOCATION_OUTSIDE_TLAB.id, allocation, None);
    }

    fn park(&mut self, park: &Park) {
        let limit = |l: Option<u64>| l.and_then(|l| i64::try_from(l).ok()).unwrap_or(NO_LIMIT);
        self.event(THREAD_PARK.id, park.at, |fields| {
            fields.unsigned(park.duration.0).key(park.thread);
            fields.key(park.stack).key(park.class);
            fields.signed(limit(park.timeout_nanos));
            fields.signed(limit(park.until_epoch_millis));
            fields.unsigned(park.address).context_trailer(&park.context);
        });
    }

    fn garbage_collection(&mut self, gc: &GarbageCollection) {
        self.event(GARBAGE_COLLECTION.id, gc.at, |fields| {
            fields.unsigned(gc.duration.0).key(gc.thread).key(gc.gc_id);
            fields.key(gc.name).key(gc.cause);
            fields
                .unsigned(gc.sum_of_pauses.0)
                .unsigned(gc.longest_pause.0);
        });
    }

    fn span(&mut self, span: &Span) {
        self.event(CONTEXT_SPAN.id, span.at, |fields| {
            fields.unsigned(span.duration.0).key(span.thread);
            fields.columns(&span.context);
        });
    }

    fn mark(&mut self, mark: &Mark<'_>) {
        self.event(MARK.id, mark.at, |fields| {
            fields.key(mark.thread).text(mark.name).text(mark.text);
            fields.context_trailer(&mark.context);
        });
    }

    fn data_loss(&mut self, at: Ticks, amount_bytes: u64, total_bytes: u64) {
        self.event(DATA_LOSS.id, at, |fields| {
            fields.unsigned(amount_bytes).unsigned(total_bytes);
        });
    }
}

fn put_allocation<S: Storage>(
    recording: &mut Recording<S>,
    id: EventId,
    a: &Allocation,
    tlab_bytes: Option<u64>,
) {
    recording.event(id, a.at, |fields| {
        fields
            .key(a.thread)
            .key(a.stack)
            .key(a.class)
            .unsigned(a.bytes);
        if let Some(bytes) = tlab_bytes {
            fields.unsigned(bytes);
        }
        fields.context_trailer(&a.context);
    });
}
