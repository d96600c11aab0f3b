//! The events of our recordings, as one table: writer, tests and documentation use it.
//!
//! Field order is the order of the bytes. Events that async-profiler's converter reads by position
//! keep the JDK's fields first; whatever is ours follows in a *self-skipping trailer*: an `int`
//! field `contextLength` that counts the bytes from itself to the event's end. The converter takes
//! the trailer for an event of that size and skips it, **if the varint after `contextLength` is no
//! declared event id**. Hence attribute keys avoid 100..=127, `contextId` never stands first, and the
//! weight that stands first when there are no columns is at most 99.

use crate::types::{Annotation, Field};

/// Type id of an event; below 128, so that it takes one byte.
pub type EventId = u8;

/// Event ids lie in this range; nothing that may follow a `contextLength` does.
pub const EVENT_IDS: std::ops::RangeInclusive<EventId> = 100..=127;

/// An event type.
#[derive(Debug, Clone, Copy)]
pub struct EventType {
    /// Type id.
    pub id: EventId,
    /// Name as viewers know it.
    pub name: &'static str,
    /// Text for people.
    pub label: &'static str,
    /// Place in the tree of events, outermost first.
    pub category: &'static [&'static str],
    /// Longer text for people.
    pub description: &'static str,
    /// Fields in the order of the bytes.
    pub parts: &'static [Part],
}

/// A part of an event: a field, or fields that depend on the declared attribute columns.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// A field that is always there.
    Field(Field),
    /// A field that is there if at least one column is declared.
    WithColumns(Field),
    /// One pooled `AttributeValue` field per declared column, named like it.
    Columns {
        /// Whether JDK 25 shows the values on other events of the thread.
        contextual: bool,
    },
}

/// Name of the type of a column's values.
pub const COLUMN_TYPE: &str = "ctxagent.types.AttributeValue";
/// Most columns that can be declared.
pub const MAX_COLUMNS: usize = 8;

const JAVA: &[&str] = &["Java Application"];
const PROFILING: &[&str] = &["Java Virtual Machine", "Profiling"];
const GC: &[&str] = &["Java Virtual Machine", "GC", "Collector"];
const GC_PHASES: &[&str] = &["Java Virtual Machine", "GC", "Phases"];
const RECORDER: &[&str] = &["Flight Recorder"];
const OS: &[&str] = &["Operating System"];
const CPU: &[&str] = &["Operating System", "Processor"];
const JVM: &[&str] = &["Java Virtual Machine"];
const CONTEXT: &[&str] = &["Context"];

const TICK_STAMP: &[Annotation] = &[Annotation::Timestamp("TICKS")];
const TICK_SPAN: &[Annotation] = &[Annotation::Timespan("TICKS")];
const MILLI_STAMP: &[Annotation] = &[Annotation::Timestamp("MILLISECONDS_SINCE_EPOCH")];
const MILLI_SPAN: &[Annotation] = &[Annotation::Timespan("MILLISECONDS")];
const NANO_SPAN: &[Annotation] = &[Annotation::Timespan("NANOSECONDS")];
const BYTES: &[Annotation] = &[Annotation::DataAmount("BYTES")];
const UNSIGNED: &[Annotation] = &[Annotation::Unsigned];
const ADDRESS: &[Annotation] = &[Annotation::Unsigned, Annotation::MemoryAddress];

const fn plain(name: &'static str, type_name: &'static str, label: &'static str) -> Part {
    Part::Field(Field::plain(name, type_name, label))
}
const fn long(name: &'static str, label: &'static str, a: &'static [Annotation]) -> Part {
    Part::Field(Field::plain(name, "long", label).with(a))
}
const fn int(name: &'static str, label: &'static str) -> Part {
    Part::Field(Field::plain(name, "int", label).with(UNSIGNED))
}
const fn text(name: &'static str, label: &'static str) -> Part {
    plain(name, "java.lang.String", label)
}
const fn pooled(name: &'static str, type_name: &'static str, label: &'static str) -> Part {
    Part::Field(Field::pooled(name, type_name, label))
}
const fn thread(name: &'static str, label: &'static str) -> Part {
    pooled(name, "java.lang.Thread", label)
}

const START: Part = long("startTime", "Start Time", TICK_STAMP);
const DURATION: Part = long("duration", "Duration", TICK_SPAN);
const EVENT_THREAD: Part = thread("eventThread", "Event Thread");
const SAMPLED_THREAD: Part = thread("sampledThread", "Thread");
const STACK: Part = pooled("stackTrace", "jdk.types.StackTrace", "Stack Trace");
const STATE: Part = pooled("state", "jdk.types.ThreadState", "Thread State");
const LENGTH: Field = Field::plain("contextLength", "int", "Context Length");
const CONTEXT_ID: Part = Part::WithColumns(Field::plain("contextId", "long", "Context Id"));
const COLUMNS: Part = Part::Columns { contextual: false };
const WEIGHT: Part = Part::Field(Field::plain("weight", "int", "Weight").with(UNSIGNED));

/// The thread once more, under the name by which JDK 25 looks for the context of other events: of no use without columns.
const CONTEXT_THREAD: Part = Part::WithColumns(Field::pooled(
    "eventThread",
    "java.lang.Thread",
    "Event Thread",
));

/// The fields of both samples; the trailer holds the weight even without columns.
const SAMPLE: &[Part] = &[
    START,
    SAMPLED_THREAD,
    STACK,
    STATE,
    Part::Field(LENGTH),
    COLUMNS,
    CONTEXT_ID,
    WEIGHT,
    CONTEXT_THREAD,
];

const fn event(
    id: EventId,
    name: &'static str,
    label: &'static str,
    category: &'static [&'static str],
    description: &'static str,
    parts: &'static [Part],
) -> EventType {
    EventType {
        id,
        name,
        label,
        category,
        description,
        parts,
    }
}

/// Counters of [`STATS`] that tell how it is now, not how often something happened: value and total are the figure at the end of the chunk.
pub const GAUGES: [&str; 4] = [
    "api.refused",
    "threads.known",
    "threads.on_tick",
    "threads.without_timer",
];

/// CPU sample of a thread that ran Java code.
pub const EXECUTION_SAMPLE: EventType = event(
    100,
    "jdk.ExecutionSample",
    "Method Profiling Sample",
    PROFILING,
    "A thread was running; weight = sampling intervals that this sample stands for",
    SAMPLE,
);
/// CPU sample of a thread that ran native code.
pub const NATIVE_METHOD_SAMPLE: EventType = event(
    101,
    "jdk.NativeMethodSample",
    "Method Profiling Sample Native",
    PROFILING,
    "A thread was in native code; weight = sampling intervals that this sample stands for",
    SAMPLE,
);
/// Wall-clock sample.
pub const WALL_CLOCK_SAMPLE: EventType = event(
    102,
    "profiler.WallClockSample",
    "Wall Clock Sample",
    PROFILING,
    "A thread as found at a moment of wall-clock time, running or not",
    &[
        START,
        SAMPLED_THREAD,
        STACK,
        STATE,
        int("samples", "Samples"),
        Part::WithColumns(LENGTH),
        COLUMNS,
        CONTEXT_ID,
    ],
);
/// Sampled allocation.
pub const OBJECT_ALLOCATION_SAMPLE: EventType = event(
    103,
    "jdk.ObjectAllocationSample",
    "Object Allocation Sample",
    JAVA,
    "An allocation; weight = bytes that this sample stands for",
    &[
        START,
        EVENT_THREAD,
        STACK,
        pooled("objectClass", "java.lang.Class", "Object Class"),
        long("weight", "Sample Weight", BYTES),
        Part::Field(LENGTH),
        COLUMNS,
        // Always there: without columns it is 0, so that no size comes first.
        plain("contextId", "long", "Context Id"),
        long("objectSize", "Object Size", BYTES),
    ],
);
/// Allocation that took a new TLAB.
pub const ALLOCATION_IN_NEW_TLAB: EventType = event(
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
        Part::WithColumns(LENGTH),
        COLUMNS,
        CONTEXT_ID,
    ],
);
/// Allocation outside of TLABs.
pub const ALLOCATION_OUTSIDE_TLAB: EventType = event(
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
        Part::WithColumns(LENGTH),
        COLUMNS,
        CONTEXT_ID,
    ],
);
/// Contended monitor.
pub const JAVA_MONITOR_ENTER: EventType = event(
    106,
    "jdk.JavaMonitorEnter",
    "Java Monitor Blocked",
    JAVA,
    "A thread waited for a monitor that another thread held",
    &[
        START,
        DURATION,
        EVENT_THREAD,
        STACK,
        pooled("monitorClass", "java.lang.Class", "Monitor Class"),
        thread("previousOwner", "Previous Monitor Owner"),
        long("address", "Monitor Address", ADDRESS),
        Part::WithColumns(LENGTH),
        COLUMNS,
        CONTEXT_ID,
        Part::WithColumns(Field::plain(
            "ownerContextId",
            "long",
            "Previous Owner's Context Id",
        )),
    ],
);
/// Parked thread.
pub const THREAD_PARK: EventType = event(
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
        Part::WithColumns(LENGTH),
        COLUMNS,
        CONTEXT_ID,
    ],
);
/// Garbage collection.
pub const GARBAGE_COLLECTION: EventType = event(
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
/// Pause of a garbage collection.
pub const GC_PHASE_PAUSE: EventType = event(
    109,
    "jdk.GCPhasePause",
    "GC Phase Pause",
    GC_PHASES,
    "The application stood still for the garbage collector",
    &[
        START,
        DURATION,
        EVENT_THREAD,
        int("gcId", "GC Identifier"),
        text("name", "Name"),
    ],
);
/// The values behind a context id; once per id and chunk.
pub const CONTEXT_EVENT: EventType = event(
    110,
    "ctxagent.Context",
    "Context",
    CONTEXT,
    "The attribute values behind a context id",
    &[START, plain("contextId", "long", "Context Id"), COLUMNS],
);
/// What an attribute column means; once per slot and chunk.
pub const CONTEXT_ATTRIBUTE: EventType = event(
    111,
    "ctxagent.ContextAttribute",
    "Context Attribute",
    CONTEXT,
    "The attribute in a column",
    &[
        START,
        int("slot", "Slot"),
        text("name", "Name"),
        text("label", "Label"),
        text("description", "Description"),
        text("contextType", "Context Type"),
    ],
);
/// A counter of the profiler.
pub const STATS: EventType = event(
    112,
    "ctxagent.Stats",
    "Profiler Counter",
    RECORDER,
    "What the profiler counted, losses by cause among it",
    &[
        START,
        text("name", "Name"),
        plain("value", "long", "In This Chunk"),
        plain("total", "long", "Since Start"),
    ],
);
/// A context and the time it was installed.
pub const CONTEXT_SPAN: EventType = event(
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
pub const MARK: EventType = event(
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
        Part::WithColumns(LENGTH),
        COLUMNS,
        CONTEXT_ID,
    ],
);
/// Lost data.
pub const DATA_LOSS: EventType = event(
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
/// The recording itself.
pub const ACTIVE_RECORDING: EventType = event(
    116,
    "jdk.ActiveRecording",
    "Flight Recording",
    RECORDER,
    "This recording",
    &[
        START,
        plain("id", "long", "Id"),
        text("name", "Name"),
        text("destination", "Destination"),
        plain("disk", "boolean", "To Disk"),
        long("maxAge", "Max Age", MILLI_SPAN),
        long("flushInterval", "Flush Interval", MILLI_SPAN),
        long("maxSize", "Max Size", BYTES),
        long("recordingStart", "Start Time", MILLI_STAMP),
        long("recordingDuration", "Recording Duration", MILLI_SPAN),
    ],
);
/// A setting; `id` is the id of an event type declared in the same chunk.
pub const ACTIVE_SETTING: EventType = event(
    117,
    "jdk.ActiveSetting",
    "Recording Setting",
    RECORDER,
    "A setting of an event type",
    &[
        START,
        plain("id", "long", "Event Id"),
        text("name", "Setting Name"),
        text("value", "Setting Value"),
    ],
);
/// The JVM.
pub const JVM_INFORMATION: EventType = event(
    118,
    "jdk.JVMInformation",
    "JVM Information",
    JVM,
    "The JVM that was profiled",
    &[
        START,
        text("jvmName", "JVM Name"),
        text("jvmVersion", "JVM Version"),
        text("jvmArguments", "JVM Command Line Arguments"),
        text("jvmFlags", "JVM Settings File Arguments"),
        text("javaArguments", "Java Application Arguments"),
        long("jvmStartTime", "JVM Start Time", MILLI_STAMP),
        plain("pid", "long", "Process Identifier"),
    ],
);
/// The operating system.
pub const OS_INFORMATION: EventType = event(
    119,
    "jdk.OSInformation",
    "OS Information",
    OS,
    "The operating system",
    &[START, text("osVersion", "OS Version")],
);
/// The processors.
pub const CPU_INFORMATION: EventType = event(
    120,
    "jdk.CPUInformation",
    "CPU Information",
    CPU,
    "The processors",
    &[
        START,
        text("cpu", "Type"),
        text("description", "Description"),
        int("sockets", "Sockets"),
        int("cores", "Cores"),
        int("hwThreads", "Hardware Threads"),
    ],
);
/// A system property at start.
pub const INITIAL_SYSTEM_PROPERTY: EventType = event(
    121,
    "jdk.InitialSystemProperty",
    "Initial System Property",
    JVM,
    "A system property at the start of the JVM",
    &[START, text("key", "Key"), text("value", "Value")],
);

/// Every event type; all are declared in every chunk.
pub const EVENTS: &[EventType] = &[
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

/// The event type called `name`.
pub fn by_name(name: &str) -> Option<&'static EventType> {
    EVENTS.iter().find(|e| e.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::PADDING_TYPE;
    use crate::types;

    #[test]
    fn ids_are_one_byte_unique_and_not_the_padding() {
        let mut ids: Vec<_> = EVENTS.iter().map(|e| e.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), EVENTS.len());
        assert!(ids.is_sorted());
        assert!(
            ids.iter()
                .all(|id| EVENT_IDS.contains(id) && u64::from(*id) != PADDING_TYPE)
        );
    }

    #[test]
    fn every_field_has_a_declared_type() {
        for event in EVENTS {
            for part in event.parts {
                if let Part::Field(f) | Part::WithColumns(f) = part {
                    assert!(
                        types::by_name(f.type_name).is_some(),
                        "{}.{}",
                        event.name,
                        f.name
                    );
                }
            }
        }
        for ty in types::DATA_TYPES {
            for f in ty.fields {
                assert!(
                    types::by_name(f.type_name).is_some(),
                    "{}.{}",
                    ty.name,
                    f.name
                );
            }
        }
    }

    #[test]
    fn start_time_is_first_and_duration_second() {
        for event in EVENTS {
            let names: Vec<_> = event
                .parts
                .iter()
                .filter_map(|p| match p {
                    Part::Field(f) | Part::WithColumns(f) => Some(f.name),
                    Part::Columns { .. } => None,
                })
                .collect();
            assert_eq!(names.first(), Some(&"startTime"), "{}", event.name);
            if let Some(at) = names.iter().position(|n| *n == "duration") {
                assert_eq!(at, 1, "{}", event.name);
            }
        }
    }
}
