//! Fields that several events share.

use jfr_format::declare::{Annotation, EventId, EventType, Field, Part};

/// Of the application.
pub const JAVA: &[&str] = &["Java Application"];
/// Of the profiler.
pub const PROFILING: &[&str] = &["Java Virtual Machine", "Profiling"];
/// Of phases of collections.
pub const GC_PHASES: &[&str] = &["Java Virtual Machine", "GC", "Phases"];
/// Of the recorder.
pub const RECORDER: &[&str] = &["Flight Recorder"];
/// Of the operating system.
pub const OS: &[&str] = &["Operating System"];
/// Of the CPUs.
pub const CPU: &[&str] = &["Operating System", "Processor"];
/// Of the JVM.
pub const JVM: &[&str] = &["Java Virtual Machine"];
/// Of contexts.
pub const CONTEXT: &[&str] = &["Context"];

/// A point of the event clock.
pub const TICK_STAMP: &[Annotation] = &[Annotation::Timestamp("TICKS")];
/// A span of the event clock.
pub const TICK_SPAN: &[Annotation] = &[Annotation::Timespan("TICKS")];
/// Milliseconds since 1970.
pub const MILLI_STAMP: &[Annotation] = &[Annotation::Timestamp("MILLISECONDS_SINCE_EPOCH")];
/// A span in milliseconds.
pub const MILLI_SPAN: &[Annotation] = &[Annotation::Timespan("MILLISECONDS")];
/// A span in nanoseconds.
pub const NANO_SPAN: &[Annotation] = &[Annotation::Timespan("NANOSECONDS")];
/// A number of bytes.
pub const BYTES: &[Annotation] = &[Annotation::DataAmount("BYTES")];
/// Never negative.
pub const UNSIGNED: &[Annotation] = &[Annotation::Unsigned];
/// An address.
pub const ADDRESS: &[Annotation] = &[Annotation::Unsigned, Annotation::MemoryAddress];

/// The type of the values of attributes.
pub const ATTRIBUTE_VALUE: &str = "ctxagent.types.AttributeValue";

/// A field whose value stands in the bytes.
pub const fn plain(name: &'static str, type_name: &'static str, label: &'static str) -> Part {
    Part::Field(Field::plain(name, type_name, label))
}
/// A `long` with annotations.
pub const fn long(name: &'static str, label: &'static str, a: &'static [Annotation]) -> Part {
    Part::Field(Field::plain(name, "long", label).with(a))
}
/// An `int` that is never negative.
pub const fn int(name: &'static str, label: &'static str) -> Part {
    Part::Field(Field::plain(name, "int", label).with(UNSIGNED))
}
/// A text.
pub const fn text(name: &'static str, label: &'static str) -> Part {
    plain(name, "java.lang.String", label)
}
/// A field with a pool key.
pub const fn pooled(name: &'static str, type_name: &'static str, label: &'static str) -> Part {
    Part::Field(Field::pooled(name, type_name, label))
}
/// A thread.
pub const fn thread(name: &'static str, label: &'static str) -> Part {
    pooled(name, "java.lang.Thread", label)
}

/// When it began.
pub const START: Part = long("startTime", "Start Time", TICK_STAMP);
/// How long it took.
pub const DURATION: Part = long("duration", "Duration", TICK_SPAN);
/// The thread that it happened on.
pub const EVENT_THREAD: Part = thread("eventThread", "Event Thread");
/// The thread that was sampled.
pub const SAMPLED_THREAD: Part = thread("sampledThread", "Thread");
/// The stack of the thread.
pub const STACK: Part = pooled("stackTrace", "jdk.types.StackTrace", "Stack Trace");
/// The state of the thread.
pub const STATE: Part = pooled("state", "jdk.types.ThreadState", "Thread State");
/// Bytes of the trailer.
pub const CONTEXT_LENGTH: Field = Field::plain("contextLength", "int", "Context Length");
/// Number of the context, if there are columns.
pub const CONTEXT_ID: Part = Part::WithColumns(Field::plain("contextId", "long", "Context Id"));
/// The attribute columns.
pub const COLUMNS: Part = Part::Columns;
/// Sampling intervals that the event stands for.
pub const WEIGHT: Part = Part::Field(Field::plain("weight", "int", "Weight").with(UNSIGNED));

/// The thread once more, under the name by which JDK 25 looks for the context of other events: of
/// no use without columns.
pub const CONTEXT_THREAD: Part = Part::WithColumns(Field::pooled(
    "eventThread",
    "java.lang.Thread",
    "Event Thread",
));

/// An event type.
pub const fn event(
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
