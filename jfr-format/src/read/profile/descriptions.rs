//! Events that describe the recording itself: columns, counters, settings.

use std::borrow::Cow;
use std::sync::Arc;

use crate::read::typed::chunk_data::ChunkData;
use crate::read::typed::event::Event;

/// What an attribute column means: `ctxagent.ContextAttribute`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextAttribute {
    /// Number of the column.
    pub slot: i64,
    /// Name as the application knows it.
    pub name: String,
    /// Name of the Java type that registered it; may be empty.
    pub context_type: String,
}

/// A counter of the profiler: `ctxagent.Stats`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Name of the counter.
    pub name: String,
    /// Growth in this chunk.
    pub value: i64,
    /// Total since the start of the recording.
    pub total: i64,
}

/// A setting in force: `jdk.ActiveSetting`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Event type that it belongs to; `None` if the chunk does not declare the id.
    pub event: Option<String>,
    /// Name.
    pub name: String,
    /// Value as text.
    pub value: String,
}

impl ChunkData<'_> {
    /// Names of the attribute columns, by slot.
    pub(crate) fn column_names(&self) -> Vec<(usize, Arc<str>)> {
        self.context_attributes()
            .into_iter()
            .filter_map(|attribute| {
                let slot = usize::try_from(attribute.slot).ok()?;
                Some((slot, attribute.name.into()))
            })
            .collect()
    }

    /// What the attribute columns mean. Events that cannot be read are left out, here and below, and so is everything from the event on whose
    /// texts would make the copies longer than the chunk (or 1 MiB, if that is more).
    pub(crate) fn context_attributes(&self) -> Vec<ContextAttribute> {
        let read = |event: &Event<'_>, copies: &mut Copies| {
            Some(ContextAttribute {
                slot: event.long("slot").ok()??,
                name: copies.of(event.text("name").ok()?),
                context_type: copies.of(event.text("contextType").ok()?),
            })
        };
        self.rows_of("ctxagent.ContextAttribute", MAX_DESCRIPTIONS, read)
    }

    /// The profiler's counters.
    pub(crate) fn stats(&self) -> Vec<Stat> {
        let read = |event: &Event<'_>, copies: &mut Copies| {
            Some(Stat {
                name: copies.of(event.text("name").ok()?),
                value: event.long("value").ok()??,
                total: event.long("total").ok()??,
            })
        };
        self.rows_of("ctxagent.Stats", usize::MAX, read)
    }

    /// The settings in force.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        let read = |event: &Event<'_>, copies: &mut Copies| {
            let id = event.long("id").ok()??.cast_unsigned();
            let ty = self.metadata.type_by_id(id);
            Some(Setting {
                event: ty.map(|ty| copies.of(Some(Cow::Borrowed(&ty.name)))),
                name: copies.of(event.text("name").ok()?),
                value: copies.of(event.text("value").ok()?),
            })
        };
        self.rows_of("jdk.ActiveSetting", usize::MAX, read)
    }

    /// What the first `limit` events of a type say, as far as their texts may be copied.
    fn rows_of<T>(
        &self,
        name: &str,
        limit: usize,
        read: impl Fn(&Event<'_>, &mut Copies) -> Option<T>,
    ) -> Vec<T> {
        let mut copies = Copies {
            left: self.bytes.len().max(MIN_COPIED_BYTES),
            spent: false,
        };
        let mut rows = Vec::new();
        for event in self.events_named(name) {
            let read = read(&event, &mut copies);
            if copies.spent || rows.len() == limit {
                break;
            }
            rows.extend(read);
        }
        rows
    }
}

/// Descriptions of columns looked at per chunk; a chunk of ours has 8.
const MAX_DESCRIPTIONS: usize = 4096;
/// Texts of so many bytes are copied from however short a chunk.
const MIN_COPIED_BYTES: usize = 1 << 20;

/// Texts that become somebody's own. Every event of ten bytes can name the same text of a megabyte, so there is an end to it.
struct Copies {
    left: usize,
    /// There was no room for a text.
    spent: bool,
}

impl Copies {
    fn of(&mut self, text: Option<Cow<'_, str>>) -> String {
        let text = text.unwrap_or_default();
        if let Some(left) = self.left.checked_sub(text.len()) {
            self.left = left;
            text.into_owned()
        } else {
            self.spent = true;
            String::new()
        }
    }
}
