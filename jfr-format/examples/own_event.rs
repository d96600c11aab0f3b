//! `own_event FILE`: a recording with an event type of one's own, which `jfr print FILE` shows.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use jfr_format::declare::{Annotation, EventType, Field, Part, Schema};
use jfr_format::error::Error;
use jfr_format::write::{Clock, Config, FileStorage, Recording, Storage, Thread, Ticks};

/// A request that a server has answered.
pub(crate) const REQUEST: EventType = EventType {
    id: 100,
    name: "example.Request",
    label: "Request",
    category: &["Example", "Server"],
    description: "A request that a server has answered",
    parts: &[
        Part::Field(
            Field::plain("startTime", "long", "Start Time").with(&[Annotation::Timestamp("TICKS")]),
        ),
        Part::Field(
            Field::plain("duration", "long", "Duration").with(&[Annotation::Timespan("TICKS")]),
        ),
        Part::Field(Field::pooled("eventThread", "java.lang.Thread", "Thread")),
        Part::Field(Field::plain("path", "java.lang.String", "Path")),
        Part::Field(Field::plain("size", "long", "Size").with(&[Annotation::DataAmount("BYTES")])),
    ],
};

/// Writes three requests.
///
/// # Errors
/// Those of the storage.
pub(crate) fn write<S: Storage>(storage: S) -> Result<Recording<S>, Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let config = Config {
        clock: Clock {
            start_epoch_nanos: now.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(0)),
            start_monotonic_nanos: 0,
        },
        schema: Schema {
            events: &[REQUEST],
            ..Schema::default()
        },
        ..Config::default()
    };
    let mut recording = Recording::create(storage, config)?;
    let requests = [
        (1_000, 250, "/checkout", 512),
        (2_000, 90, "/search", 4_096),
        (3_000, 1_700, "/checkout", 640),
    ];
    for (start, duration, path, size) in requests {
        let thread = recording.thread(&Thread::native("worker", 17));
        recording.event(REQUEST.id, Ticks(start), |fields| {
            fields
                .unsigned(duration)
                .key(thread)
                .text(path)
                .unsigned(size);
        });
    }
    recording.finish(Ticks(5_000))?;
    Ok(recording)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: own_event FILE")?;
    write(FileStorage::create(Path::new(&path))?)?;
    Ok(())
}
