//! A sample event as a profiler declares it, with its own columns.

use jfr_format::declare::{EventType, Field, Part, Schema};
use jfr_format::write::{
    Columns, Config, Context, Recording, StackKey, StateKey, Storage, ThreadKey, Ticks,
};

const fn pooled(name: &'static str, class: &'static str) -> Part {
    Part::Field(Field::pooled(name, class, ""))
}
const fn plain(name: &'static str, class: &'static str) -> Part {
    Part::Field(Field::plain(name, class, ""))
}

const EVENTS: &[EventType] = &[
    EventType {
        id: 100,
        name: "jdk.ExecutionSample",
        label: "Sample",
        category: &["Profiling"],
        description: "",
        parts: &[
            plain("startTime", "long"),
            pooled("sampledThread", "java.lang.Thread"),
            pooled("stackTrace", "jdk.types.StackTrace"),
            pooled("state", "jdk.types.ThreadState"),
            plain("contextLength", "int"),
            Part::Columns,
            plain("contextId", "long"),
            plain("weight", "int"),
            pooled("eventThread", "java.lang.Thread"),
        ],
    },
    EventType {
        id: 110,
        name: "bench.Context",
        label: "Context",
        category: &["Profiling"],
        description: "",
        parts: &[
            plain("startTime", "long"),
            plain("contextId", "long"),
            Part::Columns,
        ],
    },
];

/// Eight columns.
pub(crate) fn config() -> Config {
    Config {
        schema: Schema {
            events: EVENTS,
            column_type: "bench.types.AttributeValue",
            context_event: Some(110),
            column_event: None,
        },
        columns: Columns::Named(
            ["route", "tenant", "c", "d", "e", "f", "g", "h"]
                .map(str::to_owned)
                .into(),
        ),
        ..Config::default()
    }
}

/// What a sample refers to.
pub(crate) struct Sample {
    pub(crate) at: Ticks,
    pub(crate) thread: ThreadKey,
    pub(crate) stack: StackKey,
    pub(crate) state: StateKey,
    pub(crate) context: Context,
}

#[inline]
pub(crate) fn put<S: Storage>(recording: &mut Recording<S>, sample: &Sample) {
    recording.event(100, sample.at, |fields| {
        fields
            .key(sample.thread)
            .key(sample.stack)
            .key(sample.state)
            .trailer(|fields| {
                fields.columns(&sample.context).key(sample.context.id());
                fields.key(1u32).key(sample.thread);
            });
    });
}
