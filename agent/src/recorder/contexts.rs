//! Translates the value ids of a sample into attribute values of the recording.

use super::redactions::Redactions;
use crate::options::Redaction;
use crate::registry::Registry;
use jfr_format::write::{AttributeKey, Context, Recording, Storage, Ticks};
use rustc_hash::FxHashMap;
use schema::limits::ATTRIBUTE_SLOTS;
use signal_core::block::Values;
use signal_core::layout::{DETACHED_ID, HEX_BIT, OVERFLOW_ID, RAW_BIT, RAW_BYTES};

/// Text of a value that the full dictionary refused.
const OTHER: &str = "(other)";
/// Text of a value that a task carries whose request has ended.
const DETACHED: &str = "(detached)";
/// Maximum number of contexts cached within a chunk.
const MAX_CONTEXTS: usize = 65_536;

/// Contexts of the current chunk by value ids. The recording itself looks up contexts with raw
/// values.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    generation: u32,
    /// `Redactions::changes` when the cache was started.
    redactions: u32,
    known: FxHashMap<[u32; ATTRIBUTE_SLOTS], Context>,
    values: FxHashMap<(u32, Option<Redaction>), AttributeKey>,
}

impl Contexts {
    /// The context of a sample, without slots at or beyond `columns`.
    pub(crate) fn get<S: Storage>(
        &mut self,
        recording: &mut Recording<S>,
        registry: &Registry,
        redactions: &Redactions,
        at: Ticks,
        values: &Values,
        columns: usize,
    ) -> Context {
        let mut ids = values.ids;
        ids.iter_mut().skip(columns).for_each(|id| *id = 0);
        if ids.iter().all(|id| *id == 0) {
            return Context::NONE;
        }
        self.forget_stale(recording.generation(), redactions.changes());
        if let Some(context) = self.known.get(&ids) {
            return *context;
        }
        let mut keys = [AttributeKey::NONE; ATTRIBUTE_SLOTS];
        for (slot, (key, id)) in keys.iter_mut().zip(ids).enumerate() {
            *key = self.value(recording, registry, redactions, slot, id, &values.raw);
        }
        let context = recording.context(at, &keys);
        if !ids.iter().any(|id| is_raw(*id)) {
            self.known.insert(ids, context);
        }
        context
    }

    /// The value of one slot by its id, which is not raw.
    pub(crate) fn value_of<S: Storage>(
        &mut self,
        recording: &mut Recording<S>,
        registry: &Registry,
        redactions: &Redactions,
        slot: usize,
        id: u32,
    ) -> AttributeKey {
        self.forget_stale(recording.generation(), redactions.changes());
        self.value(
            recording,
            registry,
            redactions,
            slot,
            id,
            &[0; RAW_BYTES / 8],
        )
    }

    /// Starts anew in another chunk, after a change of the redactions, and when there are too many.
    fn forget_stale(&mut self, generation: u32, redactions: u32) {
        if self.generation != generation
            || self.redactions != redactions
            || self.known.len() > MAX_CONTEXTS
            || self.values.len() > MAX_CONTEXTS
        {
            *self = Self {
                generation,
                redactions,
                ..Self::default()
            };
        }
    }

    /// `NONE` if the slot has no value, or one that must not be written.
    fn value<S: Storage>(
        &mut self,
        recording: &mut Recording<S>,
        registry: &Registry,
        redactions: &Redactions,
        slot: usize,
        id: u32,
        raw: &[u64; RAW_BYTES / 8],
    ) -> AttributeKey {
        let how = redactions.of(slot);
        if id == 0 || how == Some(Redaction::Drop) {
            return AttributeKey::NONE;
        }
        if is_raw(id) {
            return recording.attribute_value(&redactions.text(how, &raw_text(id, raw)));
        }
        let value = (id, how);
        if let Some(key) = self.values.get(&value) {
            return *key;
        }
        let key = recording.attribute_value(&text(registry, redactions, how, id));
        self.values.insert(value, key);
        key
    }
}

/// What is written for a value that is not raw; `None` if it must not be.
pub(super) fn written(
    registry: &Registry,
    redactions: &Redactions,
    slot: usize,
    id: u32,
) -> Option<String> {
    let how = redactions.of(slot);
    (how != Some(Redaction::Drop)).then(|| text(registry, redactions, how, id))
}

fn text(registry: &Registry, redactions: &Redactions, how: Option<Redaction>, id: u32) -> String {
    match id {
        OVERFLOW_ID => OTHER.to_owned(),
        DETACHED_ID => DETACHED.to_owned(),
        id => {
            // The dictionary can only lack an id if Java code wrote to the slab by itself.
            let value = registry.value(id);
            let written = value.map(|value| redactions.text(how, &value).into_owned());
            written.unwrap_or_else(|| "(invalid)".to_owned())
        }
    }
}

pub(super) fn is_raw(id: u32) -> bool {
    id & RAW_BIT != 0 && !matches!(id, OVERFLOW_ID | DETACHED_ID)
}

/// Text of a raw value. Offset and length are untrusted: bytes outside the area are left out,
/// invalid UTF-8 is replaced.
fn raw_text(id: u32, raw: &[u64; RAW_BYTES / 8]) -> String {
    let mut bytes = [0_u8; RAW_BYTES];
    for (to, from) in bytes.chunks_exact_mut(8).zip(raw) {
        to.copy_from_slice(&from.to_ne_bytes());
    }
    let (offset, length) = ((id >> 8 & 0xff) as usize, (id & 0xff) as usize);
    let end = offset.saturating_add(length).min(RAW_BYTES);
    let bytes = bytes.get(offset..end).unwrap_or(&[]);
    if id & HEX_BIT != 0 {
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        return digits
            .filter_map(|digit| char::from_digit(digit.into(), 16))
            .collect();
    }
    String::from_utf8_lossy(bytes).into_owned()
}

/// Text of one slot, for the oracle: independent of the recording.
#[cfg(feature = "oracle")]
pub(crate) fn text_of(registry: &Registry, values: &Values, slot: usize) -> Option<String> {
    let id = values.ids.get(slot).copied().filter(|id| *id != 0)?;
    if is_raw(id) {
        return Some(raw_text(id, &values.raw));
    }
    registry.value(id).map(|text| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Redact;
    use ctxagent_events::ProfileConfig;
    use jfr_format::write::{Columns, MemoryStorage};

    #[test]
    fn a_new_redaction_invalidates_cached_contexts() {
        let registry = Registry::new(10);
        let (mail, tenant) = (registry.intern("a@b.c"), registry.intern("acme"));
        let mut values = Values::default();
        values.ids[0] = mail.expect("not full");
        values.ids[1] = tenant.expect("not full");
        let wanted = [("user.email", Redaction::Drop), ("tenant", Redaction::Hash)];
        let mut redactions = Redactions::new(&wanted.map(|(name, how)| Redact {
            name: name.into(),
            how,
        }));
        let config = ProfileConfig {
            columns: Columns::Auto,
            ..ProfileConfig::default()
        };
        let mut recording = Recording::create(MemoryStorage::new(), config).expect("in memory");
        let mut contexts = Contexts::default();
        let mut get = |redactions: &Redactions, values: &Values| {
            contexts.get(
                &mut recording,
                &registry,
                redactions,
                Ticks(1),
                values,
                ATTRIBUTE_SLOTS,
            )
        };
        let only_mail = Values {
            ids: [values.ids[0], 0, 0, 0, 0, 0, 0, 0],
            ..values
        };
        let plain = get(&redactions, &values);
        assert_ne!(get(&redactions, &only_mail), Context::NONE);
        redactions.named(0, "user.email");
        assert_eq!(get(&redactions, &only_mail), Context::NONE);
        let dropped = get(&redactions, &values);
        redactions.named(1, "tenant");
        let hashed = get(&redactions, &values);
        assert!(plain != dropped && dropped != hashed && plain != hashed);
        // A name that is set already changes nothing.
        redactions.named(1, "tenant");
        assert_eq!(get(&redactions, &values), hashed);
    }

    fn area(text: &str, at: usize) -> [u64; RAW_BYTES / 8] {
        let mut bytes = [0_u8; RAW_BYTES];
        bytes[at..at + text.len()].copy_from_slice(text.as_bytes());
        let mut words = [0_u64; RAW_BYTES / 8];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(chunk.try_into().expect("eight bytes"));
        }
        words
    }

    #[test]
    fn a_raw_value_is_read_at_its_offset() {
        let id = RAW_BIT | 28 << 8 | 0x24;
        let text = "0af7651916cd43dd8448eb211c80319c-abc";
        assert_eq!(raw_text(id, &area(text, 28)), text);
        assert!(is_raw(id) && !is_raw(OVERFLOW_ID) && !is_raw(7));
    }

    #[test]
    fn packed_digits_are_read_as_text() {
        let mut raw = area("", 0);
        raw[1] = u64::from_ne_bytes([0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd]);
        assert_eq!(
            raw_text(RAW_BIT | HEX_BIT | 8 << 8 | 8, &raw),
            "0af7651916cd43dd"
        );
        assert_eq!(
            raw_text(RAW_BIT | HEX_BIT | 60 << 8 | 0xff, &raw),
            "00000000"
        );
    }

    #[test]
    fn invalid_offsets_and_text_do_no_harm() {
        assert_eq!(
            raw_text(RAW_BIT | 60 << 8 | 0xc8, &area("wxyz", 60)),
            "wxyz"
        );
        assert_eq!(raw_text(RAW_BIT | 255 << 8 | 0xff, &area("", 0)), "");
        assert_eq!(raw_text(RAW_BIT | 0x1, &[u64::MAX; 8]), "\u{fffd}");
    }
}
