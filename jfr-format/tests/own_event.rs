//! The example `own_event`: what a caller declares and writes is what a reader finds.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../examples/own_event.rs"]
#[allow(dead_code, reason = "an example has a main function")]
mod own_event;

use jfr_format::declare::{EventType, Field, Part, Schema};
use jfr_format::error::ErrorKind;
use jfr_format::read::{Chunks, ParsedChunk};
use jfr_format::write::{Config, MemoryStorage, Recording};
use own_event::REQUEST;

#[test]
fn own_event_type_reads_back() {
    let recording = own_event::write(MemoryStorage::new()).unwrap();
    let mut chunks = Chunks::new(recording.storage().bytes());
    let chunk = ParsedChunk::new(&chunks.next().unwrap()).unwrap();
    let ty = chunk.metadata().index_of_name(REQUEST.name).unwrap();
    let ty = chunk.metadata().at(ty);
    assert_eq!(ty.label(), "Request");
    assert_eq!(ty.fields.len(), REQUEST.parts.len());
    let requests = chunk.events_named(REQUEST.name);
    let requests = requests.map(|event| {
        let path = event.text("path").unwrap().unwrap().into_owned();
        (path, event.long("size").unwrap().unwrap())
    });
    let expected = [("/checkout", 512), ("/search", 4_096), ("/checkout", 640)];
    let expected = expected.map(|(path, size)| (path.to_owned(), size));
    assert_eq!(requests.collect::<Vec<_>>(), expected);
    assert!(chunk.verify().is_empty());
    assert!(chunks.next().is_none() && chunks.corruptions().is_empty());
}

/// Every way to declare something that readers could not make sense of.
#[test]
fn unusable_declarations_are_refused() {
    const START: Part = Part::Field(Field::plain("startTime", "long", ""));
    const fn event(id: u8, parts: &'static [Part]) -> EventType {
        EventType {
            id,
            parts,
            ..REQUEST
        }
    }
    const OK: Schema = Schema {
        events: const { &[event(100, &[START]), event(127, &[START])] },
        column_type: "x.AttributeValue",
        context_event: None,
        column_event: None,
    };
    const UNKNOWN_TYPE: Part = Part::Field(Field::plain("a", "no.Type", ""));
    const REFUSED: [&[EventType]; 5] = [
        &[event(99, &[START])],
        &[event(101, &[START]), event(100, &[START])],
        &[event(100, &[START]), event(100, &[START])],
        &[event(100, &[])],
        &[event(100, &[START, UNKNOWN_TYPE])],
    ];
    let undeclared = Schema {
        context_event: Some(110),
        ..OK
    };
    let refused = REFUSED.map(|events| Schema { events, ..OK });
    let create = |schema| {
        let config = Config {
            schema,
            ..Config::default()
        };
        Recording::create(MemoryStorage::new(), config).map(|_| ())
    };
    assert!(create(OK).is_ok());
    for schema in refused.into_iter().chain([undeclared]) {
        let error = create(schema).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Refused(_)), "{error}");
    }
}
