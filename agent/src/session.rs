//! The recording of a process as a state machine: idle → recording ⇄ paused, both → idle. It starts
//! and stops the samplers ([`samplers`]) and the writer thread, in a fixed order.
//!
//! Start: the writer thread, which creates the file, then the samplers. Stop: the samplers; then
//! the writer drains the rest and finishes the file. A pause only stops the samplers; file, writer
//! and class events stay.
//!
//! No thread waits for the disk under the lock. A command to the running writer is sent under the
//! lock and awaited outside. A stop removes the writer under the lock and sends its command last. A
//! writer that creates or finishes its file holds its lease: nothing starts before it gives the
//! lease back, because it drains the slots.

pub(crate) mod api_copies;
mod block_reclaim;
pub(crate) mod components;
mod fault_watch;
mod filters;
mod housekeeping;
pub(crate) mod jdk_recording;
mod samplers;
mod scan_budget;
mod snapshot;
mod state;
mod timeout;
mod walkers;

use crate::class_hooks::class_cache;
use crate::guard;
use crate::jdk_events;
use crate::jvm::jni::{Jni, LocalRef, Vm};
use crate::jvm::jvmti::{Jvmti, MountCallbacks};
use crate::labels;
use crate::log;
use crate::metrics::Snapshot;
use crate::options::{self, Engine, Options};
use crate::os::stall_tolerant;
use crate::output::ExistingFile;
use crate::propagation;
use crate::recorder::label_cpu::LabelCpu;
use crate::recorder::sources::{RecordingStatus, Sources};
use crate::recorder::writer::{Writer, WriterLease};
use crate::registry::Registry;
use components::Components;
use housekeeping::SessionHousekeeping;
use samplers::Samplers;
use signal_core::counters::Counter;
use signal_core::filter::Condition;
use state::{Guarded, Recording, State};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::Duration;
use timeout::Timeout;
use walkers::Walkers;

/// How long the end of the VM waits for the writer, and for a running command.
const LAST_WRITE: Duration = Duration::from_millis(500);
/// How long a stop by command waits for the writer.
const STOP: Duration = Duration::from_secs(30);

/// Callbacks of the session into other modules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hooks {
    /// Callbacks of mount events.
    pub(crate) mounts: MountCallbacks,
    /// Prepares the Java API for a recording.
    pub(crate) before_recording: fn(Jvmti, Jni),
    /// Binds the native by which hooks tell of parks and exceptions.
    pub(crate) bind_jdk_events: fn(Jni, &LocalRef<'_>) -> bool,
}

/// The session of a process, created at VMInit.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) components: Components,
    hooks: Hooks,
    guarded: Mutex<Guarded>,
    /// The VM has ended; nothing starts any more. `SeqCst` with `enabled`: see
    /// [`samplers::resume`].
    is_over: AtomicBool,
}

/// The data of `status`.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) state: String,
    pub(crate) file: Option<PathBuf>,
    /// Time until the recording ends by itself.
    pub(crate) time_left: Option<Duration>,
    pub(crate) walker: String,
    /// The engine that samples CPU time, or did last.
    pub(crate) engine: Option<&'static str>,
    /// The interval asked for, while a recording takes CPU samples.
    pub(crate) interval: Option<Duration>,
    pub(crate) ratios: Option<String>,
    /// The counters of this recording, or of the last one; of the process before the first.
    pub(crate) counters: Snapshot,
    /// The CPU time of its labels.
    pub(crate) label_cpu: LabelCpu,
}

impl Session {
    /// An idle session. Called on a Java thread, with the options of the load.
    pub(crate) fn new(
        vm: (Vm, Jvmti),
        options: &Options,
        hooks: Hooks,
        jni: Jni,
    ) -> Result<Self, String> {
        Ok(Self {
            components: Components::build(vm, options, hooks.mounts, jni)?,
            hooks,
            guarded: Mutex::default(),
            is_over: AtomicBool::new(false),
        })
    }

    /// The line at the start of the recording that runs, if `text` asks for nothing else.
    pub(crate) fn has_begun(&self, text: &str) -> Option<String> {
        let guarded = self.lock();
        let Recording { options, .. } = guarded.state.recording()?;
        options::asks_nothing_else(text, options).then(|| {
            let status = &guarded.status;
            options.start_line(&status.path(), &guarded.walker, status.engine())
        })
    }

    /// Begins a recording.
    pub(crate) fn start(&'static self, options: &Options) -> Result<String, String> {
        let lease = self.reserve()?;
        if let Some(jni) = self.components.vm.env() {
            self.begin_hooks(jni, options);
        }
        self.components.events.want_scopes(Some(options));
        let started = self
            .start_jdk_recording(options)
            .and_then(|()| self.start_reserved(options, lease));
        if started.is_err() {
            self.end_propagation();
        } else if let (Some(jni), Some(settings)) =
            (self.components.vm.env(), &options.jdk_settings)
        {
            let (ours, replaces) = (self.lock().status.path(), options.existing);
            let replaces = replaces == ExistingFile::Replace;
            jdk_recording::write_beside(jni, settings, &ours, replaces);
        }
        started
    }

    /// Classes get the hooks that a recording wants.
    fn begin_hooks(&self, jni: Jni, options: &Options) {
        if options.wants_hooks() && class_cache::refuses_hooks() {
            return;
        }
        let jvmti = self.components.jvmti;
        propagation::begin(jvmti, jni, options.propagate);
        labels::begin(jvmti, jni, &options.labels);
        jdk_events::begin(jvmti, jni, options, self.hooks.bind_jdk_events);
    }

    fn start_jdk_recording(&self, options: &Options) -> Result<(), String> {
        match (self.components.vm.env(), &options.jdk_settings) {
            (Some(jni), Some(settings)) => jdk_recording::start(jni, settings),
            _ => Ok(()),
        }
    }

    fn end_propagation(&self) {
        self.components.events.want_scopes(None);
        if let Some(jni) = self.components.vm.env() {
            jdk_recording::stop(jni);
            jdk_events::end(jni);
            propagation::end(jni);
            labels::end(self.components.jvmti, jni);
        }
    }

    /// Begins the recording for which `lease` is held.
    fn start_reserved(
        &'static self,
        options: &Options,
        lease: WriterLease,
    ) -> Result<String, String> {
        let components = &self.components;
        refuse_if_disabled()?;
        bind_attributes(&components.registry, options)?;
        if let Some(jni) = components.vm.env() {
            (self.hooks.before_recording)(components.jvmti, jni);
        }
        let conditions = filters::resolve(&components.registry, options)?;
        let walkers = Walkers::choose(
            components.handler,
            &components.identity,
            components.vm.env(),
            options.cstack,
        );
        self.end_preparation()?;
        let writer = self.spawn_writer(options, lease)?;
        let mut guarded = self.lock();
        guarded.walker.clone_from(&walkers.text);
        guarded.status = writer.status().clone();
        guarded.number += 1;
        match self.begin_sampling(guarded.number, options, &walkers, &conditions) {
            Ok((samplers, timeout)) => {
                guarded.status.set_engine(samplers.engine());
                let answer =
                    options.start_line(&guarded.status.path(), &guarded.walker, samplers.engine());
                let recording = Recording {
                    writer,
                    timeout,
                    options: options.clone(),
                };
                guarded.state = State::Recording(recording, samplers);
                Ok(answer)
            }
            Err((why, samplers)) => {
                samplers::end(components, *samplers);
                drop(guarded);
                let _ = writer.finish(STOP);
                Err(why)
            }
        }
    }

    fn reserve(&self) -> Result<WriterLease, String> {
        let mut guarded = self.lock();
        self.refuse_at_end()?;
        guarded.reserve()
    }

    /// From here on the end of the VM waits for the writer.
    fn end_preparation(&self) -> Result<(), String> {
        let mut guarded = self.lock();
        guarded.end_preparation();
        self.refuse_at_end()
    }

    fn refuse_at_end(&self) -> Result<(), String> {
        if self.is_over.load(SeqCst) {
            return Err("the JVM is ending".into());
        }
        Ok(())
    }

    fn spawn_writer(
        &'static self,
        options: &Options,
        lease: WriterLease,
    ) -> Result<Writer, String> {
        let components = &self.components;
        let status = Arc::new(RecordingStatus::default());
        let housekeeping =
            SessionHousekeeping::new(components, || self.keep_sampling(), options, status.clone());
        let sources = Sources {
            vm: components.vm,
            jvmti: components.jvmti,
            identity: &components.identity,
            handler: components.handler,
            registry: &components.registry,
            threads: components.threads,
            events: &components.events,
            wall: &components.wall,
            snapshots: Arc::new(|writer| snapshot::take(components, writer)),
        };
        Writer::spawn(sources, options, lease, status, Box::new(housekeeping))
    }

    /// Starts the samplers and the time limit. After an error the caller ends the samplers.
    fn begin_sampling(
        &'static self,
        number: u64,
        options: &Options,
        walkers: &Walkers,
        conditions: &[Condition<'_>],
    ) -> Result<(Samplers, Option<Timeout>), (String, Box<Samplers>)> {
        let off = |why| (why, Box::default());
        self.refuse_at_end().map_err(off)?;
        let components = &self.components;
        let samplers = samplers::begin(components, options, walkers, conditions, &self.is_over)
            .map_err(off)?;
        let timeout = options.timeout.map(|after| {
            let end = move || self.stop_recording(number);
            Timeout::spawn(components.vm, after, end)
        });
        match timeout.transpose() {
            Ok(timeout) => Ok((samplers, timeout)),
            Err(why) => Err((why, Box::new(samplers))),
        }
    }

    /// Stops sampling until `resume`; the recording continues.
    pub(crate) fn pause(&self) -> Result<String, String> {
        let mut guarded = self.lock();
        guarded.state.recording().ok_or(NOT_RUNNING)?;
        let Some(samplers) = guarded.state.pause() else {
            return Ok("the recording is paused already".into());
        };
        samplers::pause(&self.components, samplers);
        guarded.status.counters.add(Counter::StatePaused);
        Ok(format!(
            "paused; recording is {}",
            guarded.status.path().display()
        ))
    }

    /// Resumes sampling.
    pub(crate) fn resume(&'static self) -> Result<String, String> {
        let mut guarded = self.lock();
        let recording = match &guarded.state {
            State::Idle => return Err(NOT_RUNNING.into()),
            State::Recording(..) => return Ok("the recording is not paused".into()),
            State::Paused { recording, .. } => recording,
        };
        refuse_if_disabled()?;
        samplers::refuse_if_taken(&recording.options)?;
        guarded.status.signal_taken.store(false, Relaxed);
        let resumed = samplers::resume(&self.components, &recording.options, &self.is_over);
        let samplers =
            resumed.inspect_err(|_| samplers::pause(&self.components, Samplers::default()))?;
        guarded.status.set_engine(samplers.engine());
        guarded.state.resume(samplers);
        Ok(format!(
            "resumed; recording is {}",
            guarded.status.path().display()
        ))
    }

    /// Restarts samplers that ended because another action had their signal. Called by the writer
    /// about once a second; never waits.
    fn keep_sampling(&'static self) {
        let Ok(mut guarded) = self.guarded.try_lock() else {
            return; // a command is running
        };
        let Guarded { state, status, .. } = &mut *guarded;
        if let State::Recording(recording, samplers) = state
            && !guard::is_disabled()
        {
            samplers.recover(&self.components, &recording.options, &status.signal_taken);
            status.set_engine(samplers.engine());
        }
    }

    /// Ends the recording.
    pub(crate) fn stop(&self) -> Result<String, String> {
        self.stop_locked(self.lock())
    }

    /// Ends recording `number`; `None` if it has ended.
    fn stop_recording(&self, number: u64) -> Option<Result<String, String>> {
        let guarded = self.lock();
        let is_running = guarded.number == number && guarded.state.recording().is_some();
        is_running.then(|| self.stop_locked(guarded))
    }

    fn stop_locked(&self, mut guarded: MutexGuard<'_, Guarded>) -> Result<String, String> {
        let (recording, samplers) = guarded.state.end().ok_or(NOT_RUNNING)?;
        let writer = self.end_sampling(recording, samplers);
        drop(guarded);
        self.end_propagation();
        let path = writer.finish(STOP)?;
        Ok(format!("stopped; recording is {}", path.display()))
    }

    /// Ends the samplers and the time limit; the caller finishes the writer.
    fn end_sampling(&self, recording: Recording, samplers: Samplers) -> Writer {
        let Recording {
            writer, timeout, ..
        } = recording;
        drop(timeout);
        samplers::end(&self.components, samplers);
        writer
    }

    /// Copies the recording so far into another file; the recording continues.
    pub(crate) fn dump(&self, options: &Options) -> Result<String, String> {
        let guarded = self.lock();
        let recording = guarded.state.recording().ok_or(NOT_RUNNING)?;
        // Under the lock: a later stop queues behind it.
        let (reply, done) = if options.file.is_none() {
            (recording.writer.flush(), "flushed; recording is")
        } else {
            (recording.writer.dump(options), "dumped to")
        };
        drop(guarded);
        Ok(format!("{done} {}", reply.wait()?.display()))
    }

    /// The VM ends: finishes the recording, or leaves it readable up to its last flush.
    pub(crate) fn end_with_vm(&self) {
        if self.is_over.swap(true, SeqCst) {
            return; // VMDeath and unload both call it
        }
        let Some(mut guarded) = stall_tolerant::wait(LAST_WRITE, |step| self.lock_within(step))
        else {
            self.components.handler.enabled.store(false, SeqCst);
            return log::warn(
                "a command is still at work as the JVM ends; if there is a recording, it is \
                 readable up to its last flush",
            );
        };
        let Some((recording, samplers)) = guarded.state.end() else {
            // A stopped recording may not be finished yet. A start that has no writer gets none.
            let lease = guarded.writer_lease();
            drop(guarded);
            if let Some(lease) = lease {
                let _ = stall_tolerant::wait(LAST_WRITE, |step| has_ended(&lease, step));
            }
            return;
        };
        let writer = self.end_sampling(recording, samplers);
        drop(guarded);
        let status = writer.status().clone();
        match writer.finish(LAST_WRITE) {
            Ok(path) => log::info(&format!("the JVM ends; recording is {}", path.display())),
            Err(why) => log::warn(&format!(
                "{why}; {} is readable up to its last flush",
                status.path().display()
            )),
        }
    }

    /// For `status`.
    pub(crate) fn describe(&self) -> Description {
        let guarded = self.lock();
        let recording = guarded.state.recording();
        let status = &guarded.status;
        let counters = snapshot::take(&self.components, &status.counters);
        Description {
            state: guarded.words(),
            file: recording.map(|_| status.path()),
            time_left: recording
                .and_then(|recording| recording.timeout.as_ref())
                .map(Timeout::time_left),
            walker: if status.walker_off.load(Relaxed) {
                format!("{}; vm is switched off", guarded.walker)
            } else {
                guarded.walker.clone()
            },
            engine: status.engine().map(Engine::word),
            interval: recording
                .map(|recording| &recording.options)
                .and_then(|options| options.cpu.then_some(options.interval)),
            ratios: status.ratios.shown(),
            counters: match status.start.get() {
                Some(start) => start.report(counters, recording.is_some()),
                None => counters,
            },
            label_cpu: status.label_cpu().clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Guarded> {
        self.guarded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_within(&self, step: Duration) -> Option<MutexGuard<'_, Guarded>> {
        match self.guarded.try_lock() {
            Ok(guarded) => Some(guarded),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                thread::park_timeout(step);
                None
            }
        }
    }
}

const NOT_RUNNING: &str = "no recording is running";

/// Whether the writer has given its lease back.
fn has_ended(lease: &Weak<()>, step: Duration) -> Option<()> {
    if lease.strong_count() == 0 {
        return Some(());
    }
    thread::park_timeout(step);
    None
}

/// Gives the attributes of `ctx=` their columns before any other. Those of the load have them; a
/// later start keeps existing names.
fn bind_attributes(registry: &Registry, options: &Options) -> Result<(), String> {
    let names: Vec<&str> = options.attributes.iter().map(String::as_str).collect();
    match registry.bind_all(&names) {
        Some(_) => Ok(()),
        None => Err(format!(
            "option 'ctx': there are not enough slots for {}; in use: {}",
            names.join("+"),
            registry.names_from(0).join("+")
        )),
    }
}

/// After an internal error this process samples nothing any more.
fn refuse_if_disabled() -> Result<(), String> {
    if guard::is_disabled() {
        return Err("an internal error has switched the agent off".into());
    }
    Ok(())
}
