//! Events that describe the recording itself: what its columns mean, its settings, whatever a
//! caller asks for.

use std::borrow::Cow;
use std::sync::Arc;

use crate::read::typed::chunk_data::ChunkData;
use crate::read::typed::event::Event;

/// The event type whose name ends so describes the attribute columns, for example
/// `ctxagent.ContextAttribute`.
const COLUMN_EVENT_END: &str = ".ContextAttribute";
/// At most so many descriptions are read from a chunk; the agent writes 8.
const MAX_DESCRIPTIONS: usize = 4096;
/// So many bytes of text may be copied from any chunk, also from a shorter one.
const MIN_COPIED_BYTES: usize = 1 << 20;

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

/// How many bytes of text may still be copied out of a chunk. Without a limit a small chunk could
/// fill the memory: each event of ten bytes can refer to the same text of a megabyte.
#[derive(Debug)]
pub struct TextBudget {
    left: usize,
    /// Whether a text did not fit any more.
    spent: bool,
}

impl TextBudget {
    /// The text as a copy; empty once the budget is spent.
    pub fn copy(&mut self, text: Option<Cow<'_, str>>) -> String {
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

impl ChunkData<'_> {
    /// Names of the attribute columns, by slot.
    pub(crate) fn column_names(&self) -> Vec<(usize, Arc<str>)> {
        let mut types = self.metadata.types().iter().rev();
        let Some(ty) = types.find(|ty| ty.is_event() && ty.name.ends_with(COLUMN_EVENT_END)) else {
            return Vec::new();
        };
        let name = ty.name.clone();
        self.rows_of(&name, MAX_DESCRIPTIONS, |event, texts| {
            let slot = usize::try_from(event.long("slot").ok()??).ok();
            let name = texts.copy(event.text("name").ok()?);
            Some((slot?, name.into()))
        })
    }

    /// The settings in force.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        let read = |event: &Event<'_>, texts: &mut TextBudget| {
            let id = event.long("id").ok()??.cast_unsigned();
            let ty = self.metadata.type_by_id(id);
            Some(Setting {
                event: ty.map(|ty| texts.copy(Some(Cow::Borrowed(&ty.name)))),
                name: texts.copy(event.text("name").ok()?),
                value: texts.copy(event.text("value").ok()?),
            })
        };
        self.rows_of("jdk.ActiveSetting", usize::MAX, read)
    }

    /// What the first `limit` events of a type say, as far as their texts may be copied.
    pub(crate) fn rows_of<T>(
        &self,
        name: &str,
        limit: usize,
        read: impl Fn(&Event<'_>, &mut TextBudget) -> Option<T>,
    ) -> Vec<T> {
        let mut copies = TextBudget {
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
