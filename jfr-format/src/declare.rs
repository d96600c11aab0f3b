//! Declarations: the event types that a caller's recordings have.
//!
//! Field order is the order of the bytes. A reader that knows an event by the position of its
//! fields (async-profiler's converter) must find the fields that it knows first. Whatever else
//! there is can follow in a *self-skipping trailer*: an `int` field that counts the bytes from
//! itself to the event's end. That reader takes the trailer for an event of that size and skips it,
//! **if the varint after the count is no declared event id**. Hence the keys of attribute values
//! avoid [`EVENT_IDS`].

use crate::error::{Error, ErrorKind, Result};
use crate::types;

pub use crate::field::{Annotation, Field};

/// Type id of an event; below 128, so that it takes one byte.
pub type EventId = u8;

/// Event ids lie in this range; nothing that may follow a `contextLength` does.
pub const EVENT_IDS: std::ops::RangeInclusive<EventId> = 100..=127;

/// An event type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A field that is always there.
    Field(Field),
    /// A field that is there if at least one column is declared.
    WithColumns(Field),
    /// One field per attribute column, named like it; its values are pooled texts.
    Columns,
}

/// Longest name of the type of the columns' values, in bytes: an empty chunk, which has it, must
/// fit in a page.
pub const MAX_COLUMN_TYPE_LEN: usize = 200;
/// Most attribute columns that can be declared.
pub const MAX_COLUMNS: usize = 8;

impl Part {
    /// The field, unless it is the columns.
    pub fn field(&self) -> Option<&Field> {
        match self {
            Self::Field(field) | Self::WithColumns(field) => Some(field),
            Self::Columns => None,
        }
    }

    /// Whether `name` is that of a field.
    fn is_named(&self, name: &str) -> bool {
        self.field().is_some_and(|field| field.name == name)
    }
}

impl EventType {
    /// Whether its events carry the attribute columns.
    pub fn has_columns(&self) -> bool {
        let is_columns = |part: &Part| matches!(part, Part::Columns);
        self.parts.iter().any(is_columns)
    }

    /// Whether it has a field of this name; columns do not count.
    pub fn has_field(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part.is_named(name))
    }
}

/// What the recordings of a caller can contain.
///
/// Attribute columns are fields that get their names while a recording is made: up to
/// [`MAX_COLUMNS`], in every event type that asks for them ([`Part::Columns`]). Two event types
/// have a role; the writer fills them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schema {
    /// The event types, by rising id; all are declared in every chunk.
    pub events: &'static [EventType],
    /// Name of the type of the columns' values. Readers of this crate know it by its end,
    /// `.AttributeValue`.
    pub column_type: &'static str,
    /// Event with the values behind a context id: `startTime`, an integer, the columns. Once per id
    /// and chunk.
    pub context_event: Option<EventId>,
    /// Event with what a column holds: `startTime`, number of the column, name, label, description,
    /// name of a Java type. Once per column and chunk. Readers of this crate know it by the end of
    /// its name, `.ContextAttribute`.
    pub column_event: Option<EventId>,
}

impl Schema {
    /// The event type called `name`.
    pub fn by_name(&self, name: &str) -> Option<&'static EventType> {
        self.events.iter().find(|event| event.name == name)
    }

    /// Whether readers can make sense of the declarations.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`]: ids out of [`EVENT_IDS`] or not rising, an event that does not begin
    /// with `startTime`, a field of an undeclared type, a role without an event, a name of the
    /// column type longer than [`MAX_COLUMN_TYPE_LEN`].
    pub fn check(&self) -> Result<()> {
        let refuse = |why| Err(Error::new(0, ErrorKind::Refused(why)));
        if !self
            .events
            .iter()
            .all(|event| EVENT_IDS.contains(&event.id))
        {
            return refuse("an event id out of range");
        }
        if !self.events.is_sorted_by(|a, b| a.id < b.id) {
            return refuse("event ids that do not rise");
        }
        let is_start = |part: &Part| part.is_named("startTime");
        if !self
            .events
            .iter()
            .all(|event| event.parts.first().is_some_and(is_start))
        {
            return refuse("an event that does not begin with startTime");
        }
        let parts = self.events.iter().flat_map(|event| event.parts);
        if !parts
            .filter_map(Part::field)
            .all(|field| self.has_type(field.type_name))
        {
            return refuse("a field of an undeclared type");
        }
        if self.column_type.len() > MAX_COLUMN_TYPE_LEN {
            return refuse("a column type with a name that is too long");
        }
        let roles = [self.context_event, self.column_event];
        if !roles.into_iter().flatten().all(|id| self.declares(id)) {
            return refuse("a role of an undeclared event");
        }
        Ok(())
    }

    /// Whether an event type has this id.
    pub fn declares(&self, id: EventId) -> bool {
        self.events.iter().any(|event| event.id == id)
    }

    fn has_type(&self, name: &str) -> bool {
        name == self.column_type || types::by_name(name).is_some()
    }
}

impl Default for Schema {
    /// No events.
    fn default() -> Self {
        Self {
            events: &[],
            column_type: "types.AttributeValue",
            context_event: None,
            column_event: None,
        }
    }
}

/// The name of an attribute as that of the field for its column: an ASCII Java identifier, with a
/// number behind it if the name is taken, `context0` to `context7` if nothing is left of it.
pub fn field_name(slot: usize, attribute: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let wanted = identifier(attribute).unwrap_or_else(|| format!("context{slot}"));
    let mut field = wanted.clone();
    let mut number = 2;
    while is_taken(&field) {
        field = format!("{wanted}_{number}");
        number += 1;
    }
    field
}

fn identifier(name: &str) -> Option<String> {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '$' {
            c
        } else {
            '_'
        }
    };
    let text: String = name.chars().map(plain).collect();
    if !text.contains(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let needs_prefix = text.starts_with(|c: char| c.is_ascii_digit());
    Some(if needs_prefix {
        format!("_{text}")
    } else {
        text
    })
}
