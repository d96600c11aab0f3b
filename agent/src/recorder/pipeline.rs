//! The path of a sample from slot to file: taken, limited, named, written.

mod observed;
mod wall;

use super::ended::EndedThreads;
use super::files::{NewFile, RecordingDir};
use super::intake::{Intake, PendingSample, Slots};
use super::names::Walk;
#[cfg(feature = "oracle")]
use super::oracle::{Oracle, OracleSample};
use super::rate_limit::RateLimiters;
use super::recording_file::RecordingFile;
use super::sources::{RecordingStatus, Sources};
use super::sweeper::Sweeper;
use super::tables::Tables;
use super::wall_history::WallHistory;
use crate::jvm::jfr_clock;
use crate::jvm::jni::Jni;
use crate::jvm::method_ids;
use crate::options::Options;
use crate::os::slab;
use crate::threads::ThreadRef;
use ctxagent_events::ProfileEvents as _;
use ctxagent_events::{JfrClock, MAX_REPEATS, MAX_WEIGHT, Sample};
use jfr_format::write::FileStorage;
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;
use signal_core::slots::SampleKind;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct Pipeline {
    sources: Sources,
    status: Arc<RecordingStatus>,
    jni: Jni,
    intake: Intake,
    limiters: RateLimiters,
    wall_history: WallHistory,
    ended: EndedThreads,
    sweeper: Sweeper,
    /// Whether the clock of the JDK's recorder is to be noted.
    notes_clock: bool,
    /// CPU time that one interval stands for.
    interval_nanos: u64,
    tables: Tables,
    file: RecordingFile,
    #[cfg(feature = "oracle")]
    oracle: Oracle,
}

impl Pipeline {
    pub(super) fn new(
        sources: Sources,
        jni: Jni,
        options: &Options,
        file: NewFile,
        directory: RecordingDir,
        status: Arc<RecordingStatus>,
    ) -> Result<Self, String> {
        let mut file =
            RecordingFile::new(sources.clone(), options, file, directory, status.clone())?;
        sources.events.clear();
        sources.wall.clear();
        let mut tables = Tables::new(sources.clone(), jni, options, status.clone());
        let now = file.now();
        tables.announce(&mut file.recording, now);
        Ok(Self {
            sources,
            status,
            jni,
            intake: Intake::default(),
            limiters: RateLimiters::new(options, monotonic_nanos()),
            wall_history: WallHistory::new(options.wall.unwrap_or_default()),
            ended: EndedThreads::default(),
            sweeper: Sweeper::default(),
            notes_clock: options.scopes.is_some(),
            interval_nanos: u64::try_from(options.interval.as_nanos()).unwrap_or(0),
            tables,
            file,
            #[cfg(feature = "oracle")]
            oracle: Oracle::default(),
        })
    }

    /// The environment of the writer thread.
    pub(super) fn jni(&self) -> Jni {
        self.jni
    }

    /// The shared state of the recording.
    pub(super) fn status(&self) -> &RecordingStatus {
        &self.status
    }

    /// Takes ready samples and adds them to the recording, in memory. Returns whether there were
    /// any.
    pub(super) fn drain(&mut self, slots: Slots) -> bool {
        let threads = self.sources.threads;
        self.ended.before(slots, |into| threads.take_ended(into));
        let picks = self.sources.events.pick_ratios();
        self.limiters
            .tick(monotonic_nanos(), &self.status.ratios, picks);
        // Before the samples: a repeat stands for one of these, or for an earlier one.
        self.wall_history.forget_ended();
        self.intake.take_repeats(self.sources.wall);
        self.intake.take_samples(self.sources.handler, slots);
        self.intake.take_events(self.sources.events);
        let has_any = !self.intake.samples.is_empty();
        // After the data below was taken: the slots of its values were bound before, so their names
        // and redactions are known now.
        let now = self.file.now();
        self.tables.announce(&mut self.file.recording, now);
        self.write_samples();
        self.write_unmounted();
        self.write_observed();
        for serial in self.ended.due() {
            threads.forget(self.jni, serial);
            self.wall_history.ended(serial);
        }
        if self.sweeper.is_due(self.tables.names.frames_without_id()) {
            method_ids::sweep(self.sources.jvmti, self.jni);
        }
        has_any
    }

    /// Notes the clock of the JDK's recorder, if scopes are to be compared with its events.
    pub(super) fn note_clock(&mut self) {
        if !self.notes_clock {
            return;
        }
        let Some(reading) = jfr_clock::read(self.jni) else {
            self.notes_clock = false;
            return;
        };
        self.file.recording.jfr_clock(&JfrClock {
            at: self.file.clock.ticks(reading.nanos),
            nanos: reading.nanos,
            ticks: reading.ticks,
            uncertainty_nanos: reading.uncertainty_nanos,
        });
    }

    fn write_samples(&mut self) {
        let mut samples = std::mem::take(&mut self.intake.samples);
        if !self.intake.repeats.is_empty() {
            samples.sort_by_key(|sample| sample.nanos);
        }
        for sample in samples.drain(..) {
            self.write_repeats_until(sample.nanos);
            self.write(&sample);
        }
        self.intake.samples = samples;
        self.write_repeats_until(u64::MAX);
    }

    fn write(&mut self, sample: &PendingSample) {
        #[cfg(feature = "oracle")]
        self.oracle.compare(
            self.sources.registry,
            &self.status.counters,
            &OracleSample {
                truth: sample.truth,
                read_outcome: sample.read_outcome,
                values: &sample.values,
                thread: sample.thread.logical_tid,
                is_virtual: sample.thread.is_virtual,
            },
        );
        if !SampleKind::is_cpu(sample.kind) {
            return self.write_wall(sample);
        }
        let thread = self.thread_of(sample);
        let columns = self.file.recording.column_count();
        let nanos = self.interval_nanos * u64::from(sample.weight);
        self.tables.count_cpu(&sample.values, columns, nanos);
        let Some(weight) = self.limiters.cpu.take_u32(sample.weight) else {
            return self.status.counters.add(Counter::Ratelimited);
        };
        let walk = Walk {
            thread,
            outcome: sample.walk,
            flags: sample.flags,
            frames: self.intake.frames(sample),
        };
        let recording = &mut self.file.recording;
        let stack = self.tables.names.stack(recording, &walk);
        let at = self.file.clock.ticks(sample.nanos);
        let context = self.tables.context(recording, at, &sample.values);
        let thread = self.tables.names.thread(recording, thread);
        let state = self.tables.names.state(recording, "STATE_RUNNABLE");
        // A viewer that counts events must see the same shares; a rate limit asks for few events.
        let repeats = match weight {
            1..=MAX_REPEATS if !self.limiters.cpu.is_limited() => weight,
            _ => 1,
        };
        let each = Sample {
            at,
            thread,
            stack,
            state,
            context,
            weight: weight / repeats,
        };
        for _ in 0..repeats {
            recording.execution_sample(&each);
        }
        let counters = &self.status.counters;
        counters.add(Counter::Written);
        counters.add_many(Counter::WrittenWeight, u64::from(weight));
        let more = repeats - 1 + each.weight.saturating_sub(1) / MAX_WEIGHT;
        counters.add_many(Counter::WrittenSplit, u64::from(more));
    }

    /// The thread of a CPU sample. One that had no record may have one now.
    fn thread_of(&self, sample: &PendingSample) -> ThreadRef {
        if sample.kind == SampleKind::Cpu as u32 {
            return sample.thread;
        }
        let os_tid = i32::try_from(sample.thread.logical_tid).unwrap_or(0);
        let thread = self.sources.threads.register_late(os_tid);
        if thread == ThreadRef::UNKNOWN {
            self.status.counters.add(Counter::Unregistered);
        }
        thread
    }

    /// Forgets the threads that had ended before the last drain: no more samples of them come.
    pub(super) fn forget_ended(&mut self) {
        for serial in self.ended.all() {
            self.sources.threads.forget(self.jni, serial);
        }
    }

    /// Called about once a second: classes may have been redefined, slots become idle.
    pub(super) fn refresh(&mut self) {
        self.tables.names.follow_redefinitions();
        method_ids::warn_of_classes_without();
        slab::give_back_many(&self.sources.handler.slots);
    }

    /// Whether any event has been written, if only to memory.
    pub(super) fn has_samples(&self) -> bool {
        self.file.has_unflushed()
    }

    /// See [`RecordingFile::flush_or_rotate`].
    pub(super) fn flush_or_rotate(&mut self) {
        self.file.flush_or_rotate(&mut self.tables);
    }

    /// See [`RecordingFile::watch_memory`].
    pub(super) fn watch_memory(&mut self) {
        self.file.watch_memory(&mut self.tables);
    }

    /// See [`RecordingFile::follow`].
    pub(super) fn follow_file(&mut self) -> Result<(), String> {
        self.file.follow(&mut self.tables)
    }

    /// See [`RecordingFile::flush_with_counters`].
    pub(super) fn flush_with_counters(&mut self) -> Result<(), String> {
        self.file.flush_with_counters()
    }

    /// See [`RecordingFile::dump`].
    pub(super) fn dump(&mut self, file: FileStorage) -> Result<(), String> {
        self.file.dump(file)
    }

    /// Writes the last samples and counters, and ends the file.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        // Before the drain: a handler that runs now may hand over its sample after it.
        let is_quiet = self.sources.handler.quiet();
        self.note_clock();
        self.drain(Slots::All);
        slab::give_back(&self.sources.handler.slots);
        self.file.finish(is_quiet)
    }
}
