//! The events that every chunk begins with, so that each chunk can be read alone.

use super::buffer::put_event;
use super::columns::ColumnSet;
use super::config::{Attribute, Config};
use super::ticks::Ticks;
use crate::declare::EventId;

/// Appends the events that a chunk begins with.
pub(super) fn put(out: &mut Vec<u8>, at: Ticks, config: &Config, columns: &ColumnSet) {
    for event in &config.chunk_events {
        event.put(out, at);
    }
    for (slot, attribute) in columns.attributes() {
        put_attribute(out, config.schema.column_event, at, slot, attribute);
    }
}

/// Appends what a column means, if the caller has an event for it.
pub(super) fn put_attribute(
    out: &mut Vec<u8>,
    event: Option<EventId>,
    at: Ticks,
    slot: usize,
    attribute: &Attribute,
) {
    let Some(event) = event else {
        return;
    };
    let Attribute {
        name,
        label,
        description,
        context_type,
    } = attribute;
    put_event(out, event, at, 0, |fields| {
        fields
            .unsigned(slot as u64)
            .text(name)
            .text(if label.is_empty() { name } else { label });
        fields.text(description).text(context_type);
    });
}
