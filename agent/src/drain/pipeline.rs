//! One sample's way from slot to file: context, thread, stack, event. And the file's rhythm: flush, rotate, finish.

use super::Shared;
use super::contexts::Contexts;
use super::environment::environment;
use super::files::{self, NewFile};
use super::names::{Names, RawFrame, Walk};
use super::redactions::Redactions;
use super::sweeper::Sweeper;
use super::thinning::Thinning;
use super::unwritten::InFile;
use super::wall::LastSamples;
use crate::agent::{Agent, Live};
use crate::fault_watch::FaultWatch;
use crate::jvm::jni::Jni;
use crate::leaks::LeakSearch;
use crate::log;
use crate::observe::{Seen, Who};
use crate::options::{Condition, Options, RateLimits};
use crate::os::{sigaction, slab};
use crate::registry::Description;
use crate::stats::{self, Late};
use crate::wall::Repeat;
use jfr_format::planted;
use jfr_format::write::{
    Attribute, Clock, Columns, Config, Context, FileStorage, MAX_WEIGHT, Recording, Sample,
    Setting, Storage, Ticks,
};
use signal_core::block::Values;
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;
use signal_core::slots::{CallFrame, SampleKind, SlotHeader};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime};

/// Tables and unwritten events of a chunk above this size: time to rotate.
const MAX_CHUNK_MEMORY: usize = 8 << 20;
/// And it has taken this much more than it began with: what is kept of the chunk before it is no reason to rotate again.
const LEAST_GROWTH: usize = MAX_CHUNK_MEMORY / 2;
/// The same when the file cannot be written: what is in memory is given up.
const MAX_UNWRITTEN_MEMORY: usize = 16 << 20;
/// A chunk lasts at least this long, whatever memory it takes: as long as the shortest time between two flushes.
const SHORTEST_CHUNK: Duration = Duration::from_millis(100);

/// What the tables of a chunk took when it began.
#[derive(Debug, Default)]
struct ChunkMemory {
    begun_with: usize,
}

impl ChunkMemory {
    /// A chunk begins: it has what is kept of the one before.
    fn begin<S: Storage>(&mut self, recording: &Recording<S>) {
        self.begun_with = recording.size_hint_bytes();
    }

    /// Whether the chunk takes more than `limit`, and not because of the one before it.
    fn is_above<S: Storage>(&self, limit: usize, recording: &Recording<S>) -> bool {
        recording.size_hint_bytes() > limit.max(self.begun_with + LEAST_GROWTH)
    }
}

/// A sample copied out of its slot; its frames lie in the scratch of the drain.
pub(super) struct Pending {
    pub(super) nanos: u64,
    /// A `SampleKind` as a number.
    pub(super) kind: u32,
    weight: u32,
    pub(super) who: Who,
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
    agent: &'static Agent,
    pub(super) live: &'static Live,
    jni: Jni,
    pub(super) recording: Recording<FileStorage>,
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
    pub(super) seen: Vec<Box<Seen>>,
    pub(super) last: LastSamples,
    pub(super) repeats: VecDeque<Repeat>,
    pub(super) wall_period: Duration,
    ended: Vec<u64>,
    forgettable: Vec<u64>,
    announced: usize,
    /// Changes of descriptions that the announcements follow.
    described: u64,
    sweeper: Sweeper,
    pub(super) thinning: Thinning,
    /// Whether CPU samples are written with the weight they came with: no rate limit.
    exact_weights: bool,
    leaks: LeakSearch,
    faults: FaultWatch,
    in_file: InFile,
    #[cfg(feature = "oracle")]
    oracle: super::oracle::Oracle,
    /// Counters at the start of the recording, at the start of the file, and at the end of the last chunk.
    start: HashMap<&'static str, u64>,
    base: HashMap<&'static str, u64>,
    chunk_base: HashMap<&'static str, u64>,
    file_begun: Instant,
    /// Whether no handler was at work at the start: one of an earlier recording may hand a sample to this one.
    began_quiet: bool,
    pub(super) shared: Shared,
}

impl Pipeline {
    pub(crate) fn new(
        agent: &'static Agent,
        live: &'static Live,
        jni: Jni,
        options: &Options,
        file: NewFile,
        shared: Shared,
    ) -> Result<Self, String> {
        let clock = clock();
        let recording = begin(agent, live, options, file, clock, &shared)?;
        let began_quiet = live.room.quiet();
        let mut base: HashMap<_, _> = stats::all(agent, live, &shared.counters)
            .into_iter()
            .collect();
        count_late(live, &mut base);
        let mut pipeline = Self {
            agent,
            live,
            jni,
            recording,
            clock,
            chunk_bytes: options.chunk_size_bytes,
            chunk_time: options.chunk_time,
            chunk_begun: Instant::now(),
            chunk_memory: ChunkMemory::default(),
            contexts: Contexts::default(),
            redactions: Redactions::new(&options.redact),
            names: Names::new(agent, live, jni, options, shared.counters.clone()),
            pending: Vec::new(),
            frames: Vec::new(),
            seen: Vec::new(),
            last: LastSamples::default(),
            repeats: VecDeque::new(),
            wall_period: options.wall.unwrap_or_default(),
            ended: Vec::new(),
            forgettable: Vec::new(),
            announced: 0,
            described: 0,
            sweeper: Sweeper::default(),
            thinning: Thinning::new(options.rate_limits, monotonic_nanos()),
            exact_weights: options.rate_limits.cpu.is_none(),
            leaks: LeakSearch::default(),
            in_file: InFile::default(),
            faults: FaultWatch::new(live.room),
            #[cfg(feature = "oracle")]
            oracle: super::oracle::Oracle::default(),
            start: base.clone(),
            chunk_base: base.clone(),
            base,
            file_begun: Instant::now(),
            began_quiet,
            shared,
        };
        live.observers.clear();
        while live.wall.take().is_some() {}
        pipeline.announce_attributes();
        Ok(pipeline)
    }

    /// Takes ready samples and adds them to the recording, in memory.
    pub(crate) fn drain(&mut self, slots: Slots) {
        if planted::is("time-of-wall-clock") {
            self.clock = stepped(self.clock);
        }
        // Threads that had ended before this drain: their last samples are taken now, so they can be forgotten after it.
        std::mem::swap(&mut self.ended, &mut self.forgettable);
        self.live.threads.take_ended(&mut self.forgettable);
        self.thinning.tick(monotonic_nanos(), &self.shared.lengths);
        // Before the samples: what a repeat stands for is among these, or was written earlier.
        self.take_repeats();
        self.copy_out(slots);
        self.take_seen();
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
        self.write_seen();
        for serial in std::mem::take(&mut self.ended) {
            self.live.threads.forget(self.jni, serial);
            self.last.ended(serial);
        }
        if self.sweeper.is_due(self.names.frames_without_id()) {
            self.agent.create_all_method_ids(self.jni);
        }
    }

    /// Forgets the threads that had ended before the last drain: no samples are to come.
    pub(crate) fn forget_ended(&mut self) {
        for serial in self.ended.drain(..).chain(self.forgettable.drain(..)) {
            self.live.threads.forget(self.jni, serial);
        }
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
                who: Who {
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
                found: header.found.load(Relaxed),
            });
        };
        match slots {
            Slots::All => self.live.room.slots.drain(take),
            Slots::Tried => self.live.room.slots.drain_tried(take),
        };
    }

    fn write(&mut self, sample: &Pending) {
        #[cfg(feature = "oracle")]
        self.oracle.compare(
            &self.agent.registry,
            &self.shared.counters,
            &super::oracle::Compared {
                truth: sample.truth,
                found: sample.found,
                values: &sample.values,
                thread: sample.who.logical_tid,
                is_virtual: sample.who.is_virtual,
            },
        );
        if sample.kind != SampleKind::Cpu as u32 {
            return self.write_wall(sample);
        }
        let Some(weight) = self.thinning.cpu.take_u32(sample.weight) else {
            return stats::add(&self.shared.counters.thinned, 1);
        };
        let frames = self.frames.get(sample.frames.clone()).unwrap_or_default();
        let walk = Walk {
            who: sample.who,
            outcome: sample.walk,
            flags: sample.flags,
            frames,
        };
        let stack = self.names.stack(&mut self.recording, &walk);
        let at = self.clock.ticks(sample.nanos);
        let context = self.context(at, &sample.values);
        let thread = self.names.thread(&mut self.recording, sample.who);
        let state = self.names.state(&mut self.recording, "STATE_RUNNABLE");
        self.recording.execution_sample(&Sample {
            at,
            thread,
            stack,
            state,
            context,
            weight,
        });
        stats::add(&self.shared.counters.written, 1);
        stats::add(&self.shared.counters.weight, u64::from(weight));
        let more = weight.saturating_sub(1) / MAX_WEIGHT;
        stats::add(&self.shared.counters.split, u64::from(more));
    }

    pub(super) fn context(&mut self, at: Ticks, values: &Values) -> Context {
        let columns = self.recording.column_count();
        let registry = &self.agent.registry;
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
        let registry = &self.agent.registry;
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

    /// What changes outside without anybody telling: native threads, blocks of ended virtual threads, the owner of the signal.
    pub(crate) fn look_around(&mut self, options: &Options) {
        self.live.threads.scan_natives();
        self.leaks.look(self.agent, self.live, self.jni);
        if options.cpu {
            self.watch_signal(options.signal.number());
        }
    }

    /// The periodic write: a new chunk if it is time for one, else a flush. A failure is told once a minute and tried again.
    pub(crate) fn flush_or_rotate(&mut self, options: &Options) {
        if options
            .loop_time
            .is_some_and(|time| self.file_begun.elapsed() >= time)
        {
            self.next_file(options);
            return;
        }
        let full = self.recording.chunk_bytes() >= self.chunk_bytes
            || self
                .chunk_memory
                .is_above(MAX_CHUNK_MEMORY, &self.recording);
        let result = if full || self.chunk_begun.elapsed() >= self.chunk_time {
            self.rotate()
        } else {
            self.flush()
        };
        if let Err(line) = result {
            log::warn_rarely(&line);
        }
    }

    /// At each drain: the memory of a chunk is bounded however far apart flushes are.
    pub(crate) fn watch_memory(&mut self) {
        // While the file cannot be written, the flushes try again; here only what must be given up is.
        let limit = if self.shared.degraded.load(Relaxed) {
            MAX_UNWRITTEN_MEMORY
        } else {
            MAX_CHUNK_MEMORY
        };
        if self.chunk_memory.is_above(limit, &self.recording)
            && self.chunk_begun.elapsed() >= SHORTEST_CHUNK
            && let Err(line) = self.rotate()
        {
            log::warn_rarely(&line);
        }
    }

    /// Faults of the stack walker, at each drain: a broken one must not go on for long.
    pub(crate) fn watch_walker(&mut self) {
        if self.faults.look(self.live.room) {
            self.shared.walker_off.store(true, Relaxed);
            stats::add(&self.shared.counters.degraded, 1);
        }
    }

    /// Another profiler may install its own action over ours later. Then our timers would hit it: they are deleted, its action is left alone.
    fn watch_signal(&self, signal: i32) {
        if sigaction::is_ours(signal) {
            return;
        }
        // Each time: a `resume` that has just looked may have made them again.
        self.live.threads.stop_timers();
        if !self.shared.signal_taken.swap(true, Relaxed) {
            stats::add(&self.shared.counters.off, 1);
            log::warn(&format!(
                "something else has taken signal {signal}; sampling has stopped (signal= chooses another one)"
            ));
        }
    }

    /// Brings everything so far into the file.
    pub(crate) fn flush(&mut self) -> Result<(), String> {
        if planted::is("flush-left-out") {
            return Ok(());
        }
        let now = self.now();
        let result = self.recording.flush(now);
        self.judge(result)
    }

    fn rotate(&mut self) -> Result<(), String> {
        let now = self.now();
        self.write_stats(now);
        self.flush()?; // by itself, so that what is in the file is noted even if the next chunk cannot begin
        let now = self.now();
        let result = self.recording.rotate(now);
        if result.is_ok() {
            self.chunk_begun = Instant::now();
            self.chunk_memory.begin(&self.recording);
            self.names.next_chunk();
        }
        self.judge(result)
    }

    /// `loop`: finishes this file and goes on in the next one. Without a next one it goes on in this.
    fn next_file(&mut self, options: &Options) {
        self.file_begun = Instant::now();
        let clock = clock();
        let next = files::next(options)
            .and_then(|file| begin(self.agent, self.live, options, file, clock, &self.shared));
        let next = match next {
            Ok(next) => next,
            Err(line) => {
                return log::warn_rarely(&format!(
                    "no next file: {line}; recording goes on in {}",
                    self.shared.path().display()
                ));
            }
        };
        let now = self.now();
        self.write_stats(now);
        let mut last = std::mem::replace(&mut self.recording, next);
        let end = finish(&mut last, now);
        self.clock = clock;
        self.chunk_begun = Instant::now();
        self.chunk_memory.begin(&self.recording);
        self.names.next_file();
        self.contexts = Contexts::default();
        self.announced = 0;
        self.base = self.chunk_base.clone();
        self.announce_attributes();
        if let Err(line) = self.judge_end(end) {
            log::warn_rarely(&line);
        }
    }

    /// Copies everything so far into another file.
    pub(crate) fn dump(&mut self, mut file: FileStorage) -> Result<(), String> {
        let now = self.now();
        self.write_stats(now);
        self.flush()?; // by us, so that what is in the file is noted; the snapshot's own finds nothing left
        self.recording
            .snapshot_to(&mut file, now)
            .map(|_| ())
            .map_err(|error| format!("the dump failed: {error}"))
    }

    /// The last samples and counters, and the end of the file.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        // Before the drain: a handler that is at work now may hand over its sample behind it.
        let quiet = self.began_quiet && self.live.room.quiet();
        self.drain(Slots::All);
        let now = self.now();
        if quiet {
            self.check_accounting();
            let mut figures = stats::all(self.agent, self.live, &self.shared.counters);
            stats::settle_at_end(&mut figures, &self.start);
            self.write_figures(now, figures);
        } else {
            self.write_stats(now);
        }
        slab::give_back(&self.live.room.slots);
        let end = finish(&mut self.recording, now);
        self.judge_end(end)
    }

    /// As `judge`, of a file that nothing more is written to: what is not in it now never will be.
    fn judge_end(&mut self, end: End) -> Result<(), String> {
        if end.flushed {
            self.in_file.note(&self.shared.counters);
        }
        let failed = end.result.is_err();
        let answer = self.judge(end.result);
        if failed {
            self.give_up();
        }
        answer
    }

    /// Notes whether the file can be written. What cannot be written for too long is given up, counted.
    fn judge(&mut self, result: Result<(), jfr_format::error::Error>) -> Result<(), String> {
        if !self.shared.degraded.swap(result.is_err(), Relaxed) && result.is_err() {
            stats::add(&self.shared.counters.degraded, 1);
        }
        if result.is_ok() {
            self.in_file.note(&self.shared.counters);
        }
        result.map_err(|error| {
            stats::add(&self.shared.counters.write_errors, 1);
            let mut line = format!("the recording cannot be written: {error}");
            if self.recording.size_hint_bytes() > MAX_UNWRITTEN_MEMORY {
                if self.recording.abandon_chunk() > 0 {
                    self.give_up();
                }
                self.chunk_memory.begin(&self.recording);
                line.push_str("; samples in memory are given up");
            }
            line
        })
    }

    /// What is in memory only is lost: it counts so, and not as written any more.
    fn give_up(&mut self) {
        self.in_file.give_up(&self.shared.counters, self.live);
        let figures = stats::all(self.agent, self.live, &self.shared.counters);
        for base in [&mut self.base, &mut self.chunk_base] {
            if self.exact_weights {
                stats::lose_weight(base, &figures);
            }
            stats::lose(base, &figures);
        }
    }

    /// All signals since the start must be samples or counted losses by now: no handler is at work and the slots are empty.
    fn check_accounting(&self) {
        let since_start = stats::all(self.agent, self.live, &self.shared.counters)
            .into_iter()
            .map(|(name, value)| {
                (
                    name,
                    value.saturating_sub(self.start.get(name).copied().unwrap_or(0)),
                )
            });
        if !stats::identity_holds(&since_start.collect::<Vec<_>>()) {
            log::warn(
                "samples are missing without a reason: signals differ from written + lost; please report this",
            );
        }
    }

    /// Writes the counters while the recording goes on, or a handler does: signals whose samples are still under way count where their samples will be.
    fn write_stats(&mut self, now: Ticks) {
        let mut figures = stats::all(self.agent, self.live, &self.shared.counters);
        stats::settle(&mut figures, &self.start);
        if self.exact_weights {
            stats::settle_weight(&mut figures, &self.start);
        }
        self.write_figures(now, figures);
    }

    fn write_figures(&mut self, now: Ticks, figures: Vec<(&'static str, u64)>) {
        for (name, value) in figures {
            let since = |base: &HashMap<&str, u64>| {
                let before = base.get(name).copied().unwrap_or(0);
                i64::try_from(stats::since(name, value, before)).unwrap_or(i64::MAX)
            };
            let (in_chunk, total) = (since(&self.chunk_base), since(&self.base));
            self.chunk_base.insert(name, value);
            if total != 0 || name == stats::SIGNALS || name == stats::WRITTEN {
                self.recording.stat(now, name, in_chunk, total);
            }
        }
    }

    fn now(&self) -> Ticks {
        self.clock.ticks(monotonic_nanos())
    }
}

/// Samples of an earlier recording that came after its end: its file does not count their signals, this one does, and that they are lost.
fn count_late(live: &Live, base: &mut HashMap<&'static str, u64>) {
    let mut late = Late::default();
    live.room.slots.drain(|header, _| {
        late.add(header.kind.load(Relaxed), header.weight.load(Relaxed));
    });
    let counters = &live.room.counters;
    counters.add_many(Counter::LostLate, late.cpu);
    counters.add_many(Counter::WeightLost, late.weight);
    counters.add_many(Counter::WallLost, late.wall);
    late.count(base);
}

/// Wall clock and monotonic clock at this moment: the one line of the file.
fn clock() -> Clock {
    let epoch = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos());
    Clock {
        start_epoch_nanos: u64::try_from(epoch).unwrap_or(0),
        start_monotonic_nanos: monotonic_nanos(),
    }
}

/// How a file ended.
struct End {
    /// All events are in it, also if its last chunk could not be marked as such.
    flushed: bool,
    result: Result<(), jfr_format::error::Error>,
}

/// Ends a file. A call that fails may be repeated; what fails again and again is the caller's to count.
fn finish<S: Storage>(recording: &mut Recording<S>, now: Ticks) -> End {
    const TRIES: usize = 3;
    let mut end = End {
        flushed: false,
        result: Ok(()),
    };
    for _ in 0..TRIES {
        end.result = recording.flush(now).and_then(|()| {
            end.flushed = true;
            recording.finish(now).map(|_| ())
        });
        if end.result.is_ok() {
            break;
        }
    }
    end
}

/// Test builds: the bug of following the wall clock within a file.
fn stepped(clock: Clock) -> Clock {
    let now = self::clock();
    let passed = now
        .start_epoch_nanos
        .saturating_sub(clock.start_epoch_nanos);
    Clock {
        start_monotonic_nanos: now.start_monotonic_nanos.saturating_sub(passed),
        ..clock
    }
}

/// A condition as the recording's settings tell it: a value that is redacted is not there either.
fn shown(condition: &Condition, options: &Options) -> String {
    match condition {
        Condition::Entry(name, _) if options.redact.iter().any(|r| r.name == *name) => {
            Condition::Entry(name.clone(), "(redacted)".into()).to_string()
        }
        _ => condition.to_string(),
    }
}

/// A recording in `file`, readable from its first moment.
fn begin(
    agent: &Agent,
    live: &Live,
    options: &Options,
    file: NewFile,
    clock: Clock,
    shared: &Shared,
) -> Result<Recording<FileStorage>, String> {
    let setting = |event: &str, name: &str, value: &str| Setting {
        event: event.into(),
        name: name.into(),
        value: value.into(),
    };
    let mut settings = vec![setting(
        "jdk.ExecutionSample",
        "engine",
        options.engine.word(),
    )];
    if !options.filter.is_empty() {
        let conditions: Vec<String> = options.filter.iter().map(|c| shown(c, options)).collect();
        settings.push(setting(
            "jdk.ExecutionSample",
            "filter",
            &conditions.join("+"),
        ));
    }
    if !options.redact.is_empty() {
        let entries: Vec<String> = options.redact.iter().map(ToString::to_string).collect();
        settings.push(setting("jdk.ExecutionSample", "redact", &entries.join("+")));
    }
    if options.rate_limits != RateLimits::default() {
        let limits = options.rate_limits.to_string();
        settings.push(setting("jdk.ExecutionSample", "ratelimit", &limits));
    }
    if let Some(period) = options.wall {
        let period = format!("{} ns", period.as_nanos());
        settings.push(setting("profiler.WallClockSample", "interval", &period));
    }
    let config = Config {
        clock,
        columns: Columns::Auto,
        interval: options.interval,
        flush_interval: options.flush,
        settings,
        environment: environment(agent, live, options.system_info),
        destination: file.path.display().to_string(),
        ..Config::default()
    };
    let recording = Recording::create(file.storage, config).map_err(|error| {
        format!(
            "file '{}' cannot be written: {error}",
            file.path.display().to_string().escape_debug()
        )
    })?;
    file.number.used();
    shared.set_path(file.path);
    Ok(recording)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jfr_format::write::MemoryStorage;

    /// A recording with an event that is not in the file yet, on a disk that fails from the change number `good` on.
    fn unfinished(good: u64) -> Recording<MemoryStorage> {
        let config = Config {
            reserve_bytes: 0,
            compact_below_bytes: 0,
            ..Config::default()
        };
        let mut recording = Recording::create(MemoryStorage::new(), config).expect("in memory");
        recording.stat(Ticks(1), "written", 1, 1);
        recording.storage_mut().fail_from(Some(good));
        recording
    }

    #[test]
    fn a_rotation_for_memory_does_not_bring_the_next_one() {
        let mut recording =
            Recording::create(MemoryStorage::new(), Config::default()).expect("in memory");
        let mut memory = ChunkMemory::default();
        for chunk in 1..8 {
            let mut values = 0;
            while !memory.is_above(MAX_CHUNK_MEMORY, &recording) {
                recording.attribute_value(&format!("value {values} of chunk {chunk}"));
                values += 1;
            }
            // Each takes some 45 bytes.
            assert!(values > 50_000, "chunk {chunk}: {values} values");
            let taken = recording.size_hint_bytes();
            assert!(taken <= MAX_UNWRITTEN_MEMORY, "chunk {chunk}: {taken}");
            recording.rotate(Ticks(chunk)).expect("in memory");
            memory.begin(&recording);
        }
    }

    #[test]
    fn a_file_that_cannot_be_finished_says_whether_its_events_are_in_it() {
        // Block, header, events shown: the flush. Duration: an empty flush. Then the mark of the last chunk.
        let ends = [0, 1, 2, 3, 4, 10].map(|good| {
            let end = finish(&mut unfinished(good), Ticks(2));
            (end.flushed, end.result.is_ok())
        });
        let no = (false, false);
        let in_it = (true, false);
        assert_eq!(ends, [no, no, no, in_it, in_it, (true, true)]);
    }
}
