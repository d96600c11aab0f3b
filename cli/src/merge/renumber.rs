//! Gives the event types of a chunk of our writer ids that the JDK does not use.
//!
//! The JDK's `summary` counts the events of a file by the id of their type, and takes the name from the
//! first chunk that has it.

use jfr_format::declare::EVENT_IDS;
use jfr_format::read::{ParsedChunk, RawEvent};
use jfr_format::types::pool;
use jfr_format::varint;

use super::copy::{Change, EventCopy};
use super::fields::Fields;
use super::metadata::Metadata;

/// What is added to an id.
const SHIFT: u64 = 100_000;

/// Whether our writer made the chunk.
pub(super) fn is_ours(chunk: &ParsedChunk<'_>) -> bool {
    let thread = chunk.metadata().type_by_id(pool::THREAD.into());
    thread.is_some_and(|ty| &*ty.name == "java.lang.Thread")
}

#[derive(Default)]
pub(super) struct Renumbering {
    /// Id of the settings, which name types by their ids.
    setting: Option<u64>,
}

impl Change for Renumbering {
    fn metadata(&mut self, metadata: &mut Metadata<'_>) -> Option<()> {
        let (classes, strings) = metadata.classes()?;
        for class in classes {
            let Some(id) = class.event_id(strings) else {
                continue;
            };
            if class.get(strings, "name") == Some("jdk.ActiveSetting") {
                self.setting = Some(id);
            }
            class.set(strings, "id", &shifted(id).to_string());
        }
        Some(())
    }

    fn event(&mut self, event: &RawEvent<'_>, payload: &mut Vec<u8>) -> Option<EventCopy> {
        let mut fields = Fields(event.payload);
        if self.setting == Some(event.type_id) {
            let (start, of_type) = (fields.varint()?, fields.varint()?);
            varint::put(payload, start);
            varint::put(payload, shifted(of_type));
        }
        payload.extend_from_slice(fields.0);
        Some(match shifted(event.type_id) {
            id if id == event.type_id => EventCopy::Same,
            id => EventCopy::Changed(id),
        })
    }
}

fn shifted(id: u64) -> u64 {
    let is_ours = u8::try_from(id).is_ok_and(|id| EVENT_IDS.contains(&id));
    if is_ours { id + SHIFT } else { id }
}
