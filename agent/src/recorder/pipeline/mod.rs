//! One sample's way from slot to file: context, thread, stack, event.

use super::contexts::Contexts;
use super::files::{Home, LastName, NewFile};
use super::names::{Names, RawFrame, Walk};
use super::redactions::Redactions;
use super::sweeper::Sweeper;
use super::thinning::Thinning;
use super::unwritten::InFile;
use super::wall::LastSamples;
use crate::events::ObservedEvent;
use crate::jvm::jni::Jni;
use crate::jvm::method_ids;
use crate::log;
use crate::metrics::{RecordingStart, Snapshot};
use crate::options::Options;
use crate::os::slab;
use crate::recorder::{RecordingStatus, Sources};
use crate::registry::Description;
use crate::sampling::wall::Repeat;
use crate::threads::ThreadRef;
use ctxagent_events::ProfileEvents as _;
use ctxagent_events::{MAX_WEIGHT, Sample};
use fault_injection::Fault;
use jfr_format::write::{Attribute, Clock, Context, FileStorage, Recording, Ticks};
use signal_core::block::Values;
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;
use signal_core::slots::{SampleKind, SlotHeader};
use stack_walker::CallFrame;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

mod begin;
mod ended;
mod figures;
mod file;
mod memory;

use begin::{begin, clock, stepped};
use ended::Ended;
use figures::count_late;
use memory::ChunkMemory;

/// A sample copied out of its slot; its frames lie in the scratch of the drain.
pub(super) struct Pending {
    pub(super) nanos: u64,
    /// A `SampleKind` as a number.
    pub(super) kind: u32,
    weight: u32,
    pub(super) thread: ThreadRef,
    pub(super) walk: i32,
    /// `FROZEN`, `BROKEN`.
    pub(super) flags: u32,
    pub(super) values: Values,
    pub(super) frames: Range<usize>,
    #[cfg(feature = "oracle")]
    truth: u64,
    #[cfg(feature = "oracle")]
    found: u32,
}

/// Which slots a drain looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slots {
    /// All of them: before anything is told about what has been written.
    All,
    /// Those that handlers have tried since the last drain.
    Tried,
}

pub(crate) struct Pipeline {
    pub(super) sources: Sources,
    jni: Jni,
    pub(super) recording: Recording<FileStorage>,
    /// Name of the running file when it is whole.
    last_name: Option<LastName>,
    home: Home,
    pub(super) clock: Clock,
    chunk_bytes: u64,
    chunk_time: Duration,
    chunk_begun: Instant,
    chunk_memory: ChunkMemory,
    contexts: Contexts,
    redactions: Redactions,
    pub(super) names: Names,
    pending: Vec<Pending>,
    pub(super) frames: Vec<RawFrame>,
    /// What the VM told, taken and not written yet.
    #[expect(
        clippy::vec_box,
        reason = "as they come out of the queue, without a copy"
    )]
    pub(super) observed: Vec<Box<ObservedEvent>>,
    pub(super) last: LastSamples,
    pub(super) repeats: VecDeque<Repeat>,
    pub(super) wall_period: Duration,
    ended: Ended,
    announced: usize,
    /// Changes of descriptions that the announcements follow.
    described: u64,
    sweeper: Sweeper,
    pub(super) thinning: Thinning,
    in_file: InFile,
    #[cfg(feature = "oracle")]
    oracle: super::oracle::Oracle,
    /// Counters at the start of the recording, at the start of the file, and at the end of the last chunk.
    start: Arc<RecordingStart>,
    base: Snapshot,
    chunk_base: Snapshot,
    file_begun: Instant,
    /// Whether no handler was at work at the start: one of an earlier recording may hand a sample to this one.
    began_quiet: bool,
    pub(super) status: Arc<RecordingStatus>,
}

impl Pipeline {
    pub(crate) fn new(
        sources: Sources,
        jni: Jni,
        options: &Options,
        file: NewFile,
        home: Home,
        status: Arc<RecordingStatus>,
    ) -> Result<Self, String> {
        let clock = clock();
        let (recording, last_name) = begin(&sources, options, file, clock, &status)?;
        let began_quiet = sources.handler.quiet();
        let mut base = (sources.snapshots)(&status.counters);
        count_late(sources.handler, &mut base);
        let start = Arc::new(RecordingStart::new(
            base.clone(),
            options.rate_limits.cpu.is_none(),
        ));
        let _ = status.start.set(start.clone()); // never set before
        sources.events.clear();
        while sources.wall.take().is_some() {}
        let mut pipeline = Self {
            jni,
            recording,
            last_name,
            home,
            clock,
            chunk_bytes: options.chunk_size_bytes,
            chunk_time: options.chunk_time,
            chunk_begun: Instant::now(),
            chunk_memory: ChunkMemory::default(),
            contexts: Contexts::default(),
            redactions: Redactions::new(&options.redact),
            names: Names::new(sources.clone(), jni, options, status.clone()),
            pending: Vec::new(),
            frames: Vec::new(),
            observed: Vec::new(),
            last: LastSamples::default(),
            repeats: VecDeque::new(),
            wall_period: options.wall.unwrap_or_default(),
            ended: Ended::default(),
            announced: 0,
            described: 0,
            sweeper: Sweeper::default(),
            thinning: Thinning::new(options.rate_limits, monotonic_nanos()),
            in_file: InFile::default(),
            #[cfg(feature = "oracle")]
            oracle: super::oracle::Oracle::default(),
            start,
            chunk_base: base.clone(),
            base,
            file_begun: Instant::now(),
            began_quiet,
            sources,
            status,
        };
        pipeline.announce_attributes();
        Ok(pipeline)
    }

    /// Takes ready samples and adds them to the recording, in memory.
    pub(crate) fn drain(&mut self, slots: Slots) {
        if fault_injection::is(Fault::WallClockTimes) {
            self.clock = stepped(self.clock);
        }
        let threads = &self.sources.threads;
        self.ended.before(slots, |into| threads.take_ended(into));
        self.thinning.tick(monotonic_nanos(), &self.status.lengths);
        // Before the samples: what a repeat stands for is among these, or was written earlier.
        self.take_repeats();
        self.copy_out(slots);
        self.take_observed();
        // After all that is written below was taken: the slots of its values were bound before it was made, so they have their names now, and
        // what is redacted is known.
        self.announce_attributes();
        let mut pending = std::mem::take(&mut self.pending);
        if !self.repeats.is_empty() {
            pending.sort_by_key(|sample| sample.nanos);
        }
        for sample in pending.drain(..) {
            self.write_repeats_until(sample.nanos);
            self.write(&sample);
        }
        self.pending = pending;
        self.write_repeats_until(u64::MAX);
        self.write_observed();
        for serial in self.ended.due() {
            self.sources.threads.forget(self.jni, serial);
            self.last.ended(serial);
        }
        if self.sweeper.is_due(self.names.frames_without_id()) {
            method_ids::sweep(self.sources.jvmti, self.jni);
        }
    }

    /// Forgets the threads that had ended before the last drain: no samples are to come.
    pub(crate) fn forget_ended(&mut self) {
        for serial in self.ended.all() {
            self.sources.threads.forget(self.jni, serial);
        }
    }

    /// Whether anything that is sampled has been written, if only to memory.
    pub(crate) fn has_samples(&self) -> bool {
        self.in_file.is_behind(&self.status.counters)
    }

    fn copy_out(&mut self, slots: Slots) {
        let (pending, frames) = (&mut self.pending, &mut self.frames);
        frames.clear();
        let take = |header: &SlotHeader, walked: &[CallFrame]| {
            let begin = frames.len();
            frames.extend(walked.iter().map(RawFrame::from));
            pending.push(Pending {
                nanos: header.nanos.load(Relaxed),
                kind: header.kind.load(Relaxed),
                weight: header.weight.load(Relaxed),
                thread: ThreadRef {
                    serial: header.thread_serial.load(Relaxed),
                    logical_tid: header.logical_tid.load(Relaxed),
                    is_virtual: header.is_virtual.load(Relaxed) != 0,
                },
                walk: header.walk.load(Relaxed),
                flags: header.flags.load(Relaxed),
                values: header.values(),
                frames: begin..frames.len(),
                #[cfg(feature = "oracle")]
                truth: header.truth.load(Relaxed),
                #[cfg(feature = "oracle")]
                found: header.read_outcome.load(Relaxed),
            });
        };
        match slots {
            Slots::All => self.sources.handler.slots.drain(take),
            Slots::Tried => self.sources.handler.slots.drain_tried(take),
        };
    }

    fn write(&mut self, sample: &Pending) {
        #[cfg(feature = "oracle")]
        self.oracle.compare(
            &self.sources.registry,
            &self.status.counters,
            &super::oracle::Compared {
                truth: sample.truth,
                found: sample.found,
                values: &sample.values,
                thread: sample.thread.logical_tid,
                is_virtual: sample.thread.is_virtual,
            },
        );
        if sample.kind != SampleKind::Cpu as u32 {
            return self.write_wall(sample);
        }
        let Some(weight) = self.thinning.cpu.take_u32(sample.weight) else {
            return self.status.counters.add(Counter::Ratelimited);
        };
        let frames = self.frames.get(sample.frames.clone()).unwrap_or_default();
        let walk = Walk {
            thread: sample.thread,
            outcome: sample.walk,
            flags: sample.flags,
            frames,
        };
        let stack = self.names.stack(&mut self.recording, &walk);
        let at = self.clock.ticks(sample.nanos);
        let context = self.context(at, &sample.values);
        let thread = self.names.thread(&mut self.recording, sample.thread);
        let state = self.names.state(&mut self.recording, "STATE_RUNNABLE");
        self.recording.execution_sample(&Sample {
            at,
            thread,
            stack,
            state,
            context,
            weight,
        });
        self.status.counters.add(Counter::Written);
        self.status
            .counters
            .add_many(Counter::WrittenWeight, u64::from(weight));
        let more = weight.saturating_sub(1) / MAX_WEIGHT;
        self.status
            .counters
            .add_many(Counter::WrittenSplit, u64::from(more));
    }

    pub(super) fn context(&mut self, at: Ticks, values: &Values) -> Context {
        let columns = self.recording.column_count();
        let registry = self.sources.registry;
        self.contexts.get(
            &mut self.recording,
            registry,
            &self.redactions,
            at,
            values,
            columns,
        )
    }

    /// Tells the recording what the slots are called, as they are bound.
    fn announce_attributes(&mut self) {
        let registry = self.sources.registry;
        let changes = registry.description_changes();
        // A new description may be that of an attribute that was announced without one.
        let first = if changes == self.described {
            self.announced
        } else {
            0
        };
        let names = registry.names_from(first);
        let now = self.now();
        for (slot, name) in (first..).zip(&names) {
            let Description {
                label,
                text: description,
                context_type,
            } = registry.description(slot);
            let attribute = Attribute {
                name: name.to_string(),
                label,
                description,
                context_type,
            };
            self.redactions.named(slot, name);
            if let Err(error) = self.recording.attribute(now, slot, &attribute) {
                log::warn(&format!(
                    "attribute '{}' has no column of its own: {error}",
                    name.escape_debug()
                ));
            }
        }
        self.announced = first + names.len();
        self.described = changes;
    }

    /// About once a second: names may have changed, classes been redefined, slots fallen idle.
    pub(crate) fn refresh(&mut self) {
        self.names.look_around();
        method_ids::tell_of_classes_without();
        slab::give_back_many(&self.sources.handler.slots);
    }

    /// The environment of the writer thread.
    pub(crate) fn jni(&self) -> Jni {
        self.jni
    }

    /// What the writer shows of the recording.
    pub(crate) fn status(&self) -> &RecordingStatus {
        &self.status
    }

    fn now(&self) -> Ticks {
        self.clock.ticks(monotonic_nanos())
    }
}
