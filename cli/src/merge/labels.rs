//! Writes labels into a chunk of another recorder: its events get a column for each attribute, with the
//! values of the scope that their thread had open all the time ([`ScopeIndex`]).
//!
//! The columns stand behind the fields that an event has, after a count of their bytes, as in our
//! own events: async-profiler's converter reads the fields that it knows, and takes the rest for an
//! event that it skips.

use std::collections::BTreeSet;

use jfr_format::declare::field_name;
use jfr_format::read::{ParsedChunk, RawEvent, Type};
use jfr_format::varint;

use super::copy::{Change, EventCopy};
use super::fields::put_text;
use super::metadata::{Element, Metadata, Strings};
use crate::collect::{JdkClock, ScopeIndex};

/// Type of the columns; none whose name ends with `.AttributeValue`: `ctxjfr` joins these events anew.
const COLUMN_TYPE: &str = "ctxagent.types.JoinedValue";
/// Its id, which no known writer uses.
const COLUMN_TYPE_ID: u64 = 200_100;
/// Count of the bytes from itself to the event's end.
const LENGTH_FIELD: &str = "contextLength";
/// Key of the first value: larger than any id of a type, as it would be one for that converter.
const FIRST_KEY: u64 = 1 << 19;

fn key(value: u32) -> u64 {
    FIRST_KEY + u64::from(value)
}

/// The labels of a chunk's events.
pub(super) struct Labelling<'c> {
    chunk: &'c ParsedChunk<'c>,
    scopes: &'c ScopeIndex,
    clock: Option<JdkClock>,
    /// Ids of the types whose events get columns: those that `report` joins.
    types: BTreeSet<u64>,
    /// Numbers of the values that events have.
    used: BTreeSet<u32>,
    ids: TypeIds,
}

/// Ids that the chunk's writer gave, as texts.
struct TypeIds {
    int: String,
    string: String,
    label: Option<String>,
}

impl TypeIds {
    fn of(chunk: &ParsedChunk<'_>) -> Option<Self> {
        let id_of = |name| {
            let index = chunk.metadata().index_of_name(name)?;
            Some(chunk.metadata().at(index).id.to_string())
        };
        Some(Self {
            int: id_of("int")?,
            string: id_of("java.lang.String")?,
            label: id_of("jdk.jfr.Label"),
        })
    }
}

fn labelled_types(chunk: &ParsedChunk<'_>) -> BTreeSet<u64> {
    let is_labelled = |ty: &&Type| {
        let index = chunk.metadata().index_of(ty.id);
        let columns = index.and_then(|index| chunk.sample_columns(index));
        columns.is_some_and(|columns| columns.names().len() == 0)
            && ty.field_position(LENGTH_FIELD).is_none()
    };
    let types = chunk.metadata().types().iter().filter(is_labelled);
    types.map(|ty| ty.id).collect()
}

impl<'c> Labelling<'c> {
    /// `None` if the chunk cannot get columns, or has them.
    pub(super) fn new(chunk: &'c ParsedChunk<'c>, scopes: &'c ScopeIndex) -> Option<Self> {
        let has_columns = chunk.metadata().type_by_id(COLUMN_TYPE_ID).is_some();
        (!has_columns).then_some(Self {
            chunk,
            scopes,
            clock: scopes.clock_of(chunk),
            types: labelled_types(chunk),
            used: BTreeSet::new(),
            ids: TypeIds::of(chunk)?,
        })
    }

    fn add_columns(&self, ty: &Type, class: &mut Element, strings: &mut Strings<'_>) {
        let length = [("name", LENGTH_FIELD), ("class", &self.ids.int)];
        class.children.push(Element::new(strings, "field", &length));
        let id = COLUMN_TYPE_ID.to_string();
        let mut names = BTreeSet::new();
        for (slot, label) in self.scopes.slots_with_values() {
            let name = field_name(slot, label, |name| {
                ty.field_position(name).is_some() || names.contains(name)
            });
            let attributes = [("name", &*name), ("class", &id), ("constantPool", "true")];
            let mut field = Element::new(strings, "field", &attributes);
            if let Some(id) = &self.ids.label {
                let label = [("class", id.as_str()), ("value", label)];
                let label = Element::new(strings, "annotation", &label);
                field.children.push(label);
            }
            class.children.push(field);
            names.insert(name);
        }
    }

    /// The type of the columns: a text each.
    fn column_type(&self, strings: &mut Strings<'_>) -> Element {
        let id = COLUMN_TYPE_ID.to_string();
        let attributes = [("name", COLUMN_TYPE), ("id", &id), ("simpleType", "true")];
        let mut class = Element::new(strings, "class", &attributes);
        let value = [("name", "value"), ("class", &self.ids.string)];
        class.children.push(Element::new(strings, "field", &value));
        class
    }
}

impl Change for Labelling<'_> {
    fn metadata(&mut self, metadata: &mut Metadata<'_>) -> Option<()> {
        let (classes, strings) = metadata.classes()?;
        for class in classes.iter_mut() {
            let id = class.event_id(strings).filter(|id| self.types.contains(id));
            if let Some(ty) = id.and_then(|id| self.chunk.metadata().type_by_id(id)) {
                self.add_columns(ty, class, strings);
            }
        }
        classes.push(self.column_type(strings));
        Some(())
    }

    fn event(&mut self, raw: &RawEvent<'_>, payload: &mut Vec<u8>) -> Option<EventCopy> {
        let chunk = self.chunk;
        if !self.types.contains(&raw.type_id) {
            return Some(EventCopy::Same);
        }
        let event = chunk.event(raw)?;
        let sample = chunk.sample(&event).ok()??;
        let values = self.scopes.values_of(self.clock.as_ref(), &sample);
        let mut keys = Vec::with_capacity(32);
        for (slot, _) in self.scopes.slots_with_values() {
            let value = values[slot];
            self.used.extend(value);
            varint::put(&mut keys, value.map_or(0, key));
        }
        let len = raw.payload.len() - event.bytes_left_over().ok()?;
        payload.extend_from_slice(&raw.payload[..len]);
        varint::put(payload, 1 + keys.len() as u64);
        payload.extend_from_slice(&keys);
        Some(EventCopy::Changed(raw.type_id))
    }

    fn constants(&self) -> Option<Vec<u8>> {
        let mut pool = Vec::new();
        varint::put(&mut pool, COLUMN_TYPE_ID);
        varint::put(&mut pool, self.used.len() as u64);
        for &value in &self.used {
            varint::put(&mut pool, key(value));
            put_text(&mut pool, &self.scopes.values()[value as usize]);
        }
        (!self.used.is_empty()).then_some(pool)
    }
}
