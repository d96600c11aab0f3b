//! Which process a recording is of, as the JVM's own events say, by the names of OpenTelemetry.

use std::collections::BTreeMap;

use jfr_format::read::{Event, ParsedChunk, Value};

use crate::shared::MAX_VALUE_BYTES;

/// Event, field, and what it is called.
const SOURCES: [(&str, &str, &str); 4] = [
    ("jdk.JVMInformation", "pid", "process.pid"),
    ("jdk.JVMInformation", "jvmName", "process.runtime.name"),
    (
        "jdk.JVMInformation",
        "jvmVersion",
        "process.runtime.description",
    ),
    ("jdk.OSInformation", "osVersion", "os.description"),
];

/// A value of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fact {
    Number(i64),
    Text(String),
}

/// The facts by name; `None` where chunks do not agree, as those of several processes.
#[derive(Debug, Default)]
pub(crate) struct ProcessFacts(BTreeMap<&'static str, Option<Fact>>);

impl ProcessFacts {
    pub(super) fn of(chunk: &ParsedChunk<'_>) -> Self {
        let facts = SOURCES.into_iter().filter_map(|(ty, field, name)| {
            let fact = fact(&chunk.events_named(ty).next()?, field)?;
            Some((name, Some(fact)))
        });
        Self(facts.collect())
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (name, fact) in other.0 {
            let known = self.0.entry(name).or_insert_with(|| fact.clone());
            if *known != fact {
                *known = None;
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &Fact)> {
        let facts = self.0.iter();
        facts.filter_map(|(name, fact)| Some((*name, fact.as_ref()?)))
    }
}

fn fact(event: &Event<'_>, field: &str) -> Option<Fact> {
    let value: Value<'_> = event.get(field).ok()??;
    if let Some(number) = value.as_long() {
        return Some(Fact::Number(number));
    }
    let text = value.into_text()?;
    let text = &text[..text.floor_char_boundary(MAX_VALUE_BYTES)];
    (!text.is_empty()).then(|| Fact::Text(text.to_owned()))
}
