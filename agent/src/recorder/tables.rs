//! Keys of the current chunk for the data that events refer to: names, and attributes with their
//! values.

use super::contexts::{self, Contexts};
use super::names::Names;
use super::redactions::Redactions;
use super::sources::{RecordingStatus, Sources};
use crate::jvm::exact_inlining;
use crate::jvm::jni::Jni;
use crate::log;
use crate::options::{Engine, Options};
use crate::registry::{Description, Registry};
use ctxagent_events::ProfileEvents as _;
use jfr_format::write::{Attribute, AttributeKey, Context, FileStorage, Recording, Ticks};
use signal_core::block::Values;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct Tables {
    registry: &'static Registry,
    pub(super) names: Names,
    contexts: Contexts,
    redactions: Redactions,
    status: Arc<RecordingStatus>,
    /// The engine that the chunk of this generation names.
    engine: Option<(Engine, u32)>,
    /// Number of attributes that the recording has.
    announced: usize,
    /// Number of description changes that the announcements include.
    described: u64,
}

impl Tables {
    pub(super) fn new(
        sources: Sources,
        jni: Jni,
        options: &Options,
        status: Arc<RecordingStatus>,
    ) -> Self {
        Self {
            registry: sources.registry,
            names: Names::new(sources, jni, options, status.clone()),
            status,
            engine: None,
            contexts: Contexts::default(),
            redactions: Redactions::new(&options.redact),
            announced: 0,
            described: 0,
        }
    }

    /// Continues in another file, at `now`.
    pub(super) fn next_file(&mut self, recording: &mut Recording<FileStorage>, now: Ticks) {
        self.names.next_file();
        self.contexts = Contexts::default();
        self.announced = 0;
        self.engine = None;
        self.announce(recording, now);
    }

    /// The context of a sample or event.
    pub(super) fn context(
        &mut self,
        recording: &mut Recording<FileStorage>,
        at: Ticks,
        values: &Values,
    ) -> Context {
        let columns = recording.column_count();
        self.contexts.get(
            recording,
            self.registry,
            &self.redactions,
            at,
            values,
            columns,
        )
    }

    /// Adds the CPU time of a sample to that of its labels.
    pub(super) fn count_cpu(&self, values: &Values, columns: usize, nanos: u64) {
        let ids = values.ids.get(..columns).unwrap_or(&values.ids);
        self.status.label_cpu().add(ids, nanos, |slot, id| {
            contexts::written(self.registry, &self.redactions, slot, id)
        });
    }

    /// The name of a slot's attribute, and the value behind an id that is not raw; `None` if there
    /// is no such attribute or value.
    pub(super) fn attribute(
        &mut self,
        recording: &mut Recording<FileStorage>,
        slot: usize,
        id: u32,
    ) -> Option<(Arc<str>, AttributeKey)> {
        let name = self.registry.names_from(slot).first()?.clone();
        let (registry, redactions) = (self.registry, &self.redactions);
        let value = self
            .contexts
            .value_of(recording, registry, redactions, slot, id);
        (value != AttributeKey::NONE).then_some((name, value))
    }

    /// Announces to the recording what it does not know yet: the engine and attributes.
    pub(super) fn announce(&mut self, recording: &mut Recording<FileStorage>, now: Ticks) {
        self.announce_engine(recording, now);
        self.announce_attributes(recording, now);
    }

    /// The engine is found after the start of the file; each chunk names it, and since when
    /// inlining is exact.
    fn announce_engine(&mut self, recording: &mut Recording<FileStorage>, now: Ticks) {
        let found = self.status.engine();
        let in_chunk = found.map(|engine| (engine, recording.generation()));
        if let Some((engine, _)) = in_chunk.filter(|_| in_chunk != self.engine) {
            recording.sample_setting(now, "engine", engine.word());
            recording.sample_setting(now, "inlining", &exact_inlining::description());
            self.engine = in_chunk;
        }
    }

    /// Announces the names of bound slots.
    fn announce_attributes(&mut self, recording: &mut Recording<FileStorage>, now: Ticks) {
        let changes = self.registry.description_changes();
        // An attribute may get its description after its announcement.
        let first = if changes == self.described {
            self.announced
        } else {
            0
        };
        let names = self.registry.names_from(first);
        for (slot, name) in (first..).zip(&names) {
            let Description {
                label,
                text: description,
                context_type,
            } = self.registry.description(slot);
            let attribute = Attribute {
                name: name.to_string(),
                label,
                description,
                context_type,
            };
            self.redactions.named(slot, name);
            if let Err(error) = recording.attribute(now, slot, &attribute) {
                log::warn(&format!(
                    "attribute '{}' has no column of its own: {error}",
                    name.escape_debug()
                ));
            }
        }
        self.announced = first + names.len();
        self.described = changes;
    }
}
