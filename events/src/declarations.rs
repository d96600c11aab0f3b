//! The events of the profiler, as one table: agent, tests and documentation use it.
//!
//! Events that async-profiler's converter reads by position keep the JDK's fields first; whatever
//! is ours follows in a self-skipping trailer (see [`jfr_format::declare`]). Hence `contextId`
//! never stands first in it, and the weight that stands first when there are no columns is at most
//! [`MAX_WEIGHT`](crate::MAX_WEIGHT).

use jfr_format::declare::{EventType, Field, Part, Schema};

use crate::fields::{
    ADDRESS, ATTRIBUTE_VALUE, BYTES, COLUMNS, CONTEXT, CONTEXT_ID, CONTEXT_LENGTH, CONTEXT_THREAD,
    CPU, DURATION, EVENT_THREAD, GC_PHASES, JAVA, JVM, MILLI_SPAN, MILLI_STAMP, NANO_SPAN, OS,
    PROFILING, RECORDER, SAMPLED_THREAD, STACK, START, STATE, UNSIGNED, WEIGHT, event, int, long,
    plain, pooled, text, thread,
};

/// CPU sample of a thread that ran Java code; the trailer holds the weight even without columns.
pub const EXECUTION_SAMPLE: EventType = event(
    100,
    "jdk.ExecutionSample",
    "Method Profiling Sample",
    PROFILING,
    "A thread was running; weight = sampling intervals that this sample stands for",
    &[
        START,
        SAMPLED_THREAD,
        STACK,
        STATE,
        Part::Field(CONTEXT_LENGTH),
        COLUMNS,
        CONTEXT_ID,
        WEIGHT,
        CONTEXT_THREAD,
    ],
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
        Part::WithColumns(CONTEXT_LENGTH),
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
        Part::Field(CONTEXT_LENGTH),
        COLUMNS,
        // Always there: without columns it is 0, so that no size comes first.
        plain("contextId", "long", "Context Id"),
        long("objectSize", "Object Size", BYTES),
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
        Part::WithColumns(CONTEXT_LENGTH),
        COLUMNS,
        CONTEXT_ID,
        Part::WithColumns(Field::plain(
            "ownerContextId",
            "long",
            "Previous Owner's Context Id",
        )),
    ],
);

/// A parked thread.
pub const THREAD_PARK: EventType = event(
    107,
    "jdk.ThreadPark",
    "Java Thread Park",
    JAVA,
    "A thread was parked; weight = parks that this one stands for",
    &[
        START,
        DURATION,
        EVENT_THREAD,
        STACK,
        pooled("parkedClass", "java.lang.Class", "Class Parked On"),
        long("timeout", "Park Timeout", NANO_SPAN),
        long("until", "Park Until", MILLI_STAMP),
        long("address", "Address of Object Parked", ADDRESS),
        Part::Field(CONTEXT_LENGTH),
        COLUMNS,
        // Always there: no weight comes first.
        plain("contextId", "long", "Context Id"),
        long("weight", "Weight", UNSIGNED),
    ],
);

/// A created exception.
pub const JAVA_EXCEPTION_THROW: EventType = event(
    108,
    "jdk.JavaExceptionThrow",
    "Java Exception",
    JAVA,
    "An exception was created; weight = exceptions that this one stands for",
    &[
        START,
        DURATION,
        EVENT_THREAD,
        STACK,
        text("message", "Message"),
        pooled("thrownClass", "java.lang.Class", "Class"),
        Part::Field(CONTEXT_LENGTH),
        COLUMNS,
        plain("contextId", "long", "Context Id"),
        long("weight", "Weight", UNSIGNED),
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

/// A label that became known while its request ran; readers give it to the earlier samples of the
/// thread in this time that have the value before.
pub const LATE_LABEL: EventType = event(
    113,
    "ctxagent.LateLabel",
    "Late Label",
    CONTEXT,
    "Samples of the thread in this time that have the value before belong to the value",
    &[
        START,
        DURATION,
        EVENT_THREAD,
        text("attribute", "Attribute"),
        pooled("before", ATTRIBUTE_VALUE, "Value Before"),
        pooled("value", ATTRIBUTE_VALUE, "Value"),
    ],
);

/// A scope that took long. A reader may give its values to another event of the thread in this time,
/// but for those that were changed meanwhile.
pub const SCOPE: EventType = event(
    114,
    "ctxagent.Scope",
    "Scope",
    CONTEXT,
    "A scope that took long, with the context at its end",
    &[
        START,
        DURATION,
        EVENT_THREAD,
        plain("beginNanos", "long", "Begin by System.nanoTime"),
        plain("endNanos", "long", "End by System.nanoTime"),
        int("slots", "Slots Set"),
        int("changed", "Slots Changed Meanwhile"),
        COLUMNS,
    ],
);

/// The clock of the JDK's own recorder, read together with the one of `System.nanoTime`.
pub const JFR_CLOCK: EventType = event(
    115,
    "ctxagent.JfrClock",
    "Clock of the JDK's Recorder",
    RECORDER,
    "Both clocks at one moment",
    &[
        START,
        plain("nanos", "long", "System.nanoTime"),
        plain("ticks", "long", "Ticks of the JDK's Recorder"),
        plain("uncertaintyNanos", "long", "Uncertainty of nanos"),
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

/// A moment or a span of time that the application noted by `Marks`.
pub const MARK: EventType = event(
    122,
    "ctxagent.Mark",
    "Mark",
    CONTEXT,
    "A moment or a span of time that the application noted, with the context at its end",
    &[START, DURATION, EVENT_THREAD, text("name", "Name"), COLUMNS],
);

/// Every event type; all are declared in every chunk.
pub const EVENTS: &[EventType] = &[
    EXECUTION_SAMPLE,
    WALL_CLOCK_SAMPLE,
    OBJECT_ALLOCATION_SAMPLE,
    JAVA_MONITOR_ENTER,
    THREAD_PARK,
    JAVA_EXCEPTION_THROW,
    GC_PHASE_PAUSE,
    CONTEXT_EVENT,
    CONTEXT_ATTRIBUTE,
    STATS,
    LATE_LABEL,
    SCOPE,
    JFR_CLOCK,
    ACTIVE_RECORDING,
    ACTIVE_SETTING,
    JVM_INFORMATION,
    OS_INFORMATION,
    CPU_INFORMATION,
    INITIAL_SYSTEM_PROPERTY,
    MARK,
];

/// The events as a recording wants them.
pub const SCHEMA: Schema = Schema {
    events: EVENTS,
    column_type: ATTRIBUTE_VALUE,
    context_event: Some(CONTEXT_EVENT.id),
    column_event: Some(CONTEXT_ATTRIBUTE.id),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_pass_the_check_of_the_writer() {
        assert!(SCHEMA.check().is_ok());
    }

    #[test]
    fn duration_is_the_second_field() {
        for event in EVENTS {
            let fields: Vec<_> = event.parts.iter().filter_map(Part::field).collect();
            assert_eq!(fields[0].name, "startTime", "{}", event.name);
            if let Some(at) = fields.iter().position(|field| field.name == "duration") {
                assert_eq!(at, 1, "{}", event.name);
            }
        }
    }
}
