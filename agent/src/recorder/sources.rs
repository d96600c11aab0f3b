//! The inputs of the writer thread, and the state that it shares.

use super::label_cpu::LabelCpu;
use super::rate_limit::SampleRatios;
use crate::events::EventCollector;
use crate::hotspot::identity::Identity;
use crate::jvm::jni::{Jni, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::metrics::{RecordingStart, SnapshotSource};
use crate::options::Engine;
use crate::registry::Registry;
use crate::sampling::wall::WallShared;
use crate::threads::ThreadDirectory;
use signal_core::counters::Counters;
use signal_core::handler_state::HandlerState;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The sources of samples, events and names.
#[derive(Clone)]
pub(crate) struct Sources {
    pub(crate) vm: Vm,
    pub(crate) jvmti: Jvmti,
    pub(crate) identity: &'static Identity,
    pub(crate) handler: &'static HandlerState,
    pub(crate) registry: &'static Registry,
    pub(crate) threads: &'static ThreadDirectory,
    pub(crate) events: &'static EventCollector,
    pub(crate) wall: &'static WallShared,
    pub(crate) snapshots: SnapshotSource,
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").finish_non_exhaustive()
    }
}

/// Work of the session on the writer thread.
pub(crate) trait Housekeeping: Send {
    /// At each poll of the slots, 50 times a second.
    fn poll_tick(&mut self);

    /// About once a second; `jni` is the environment of the writer thread.
    fn run(&mut self, jni: Jni);
}

/// The shared state of a recording.
#[derive(Debug, Default)]
pub(crate) struct RecordingStatus {
    /// Its counters.
    pub(crate) counters: Counters,
    /// All counters at the start of the recording; unset until its file exists.
    pub(crate) start: OnceLock<Arc<RecordingStart>>,
    /// The file cannot be written now.
    pub(crate) degraded: AtomicBool,
    /// Another action has replaced ours; sampling has stopped.
    pub(crate) signal_taken: AtomicBool,
    /// The agent's stack walker was switched off during this recording.
    pub(crate) walker_off: AtomicBool,
    /// The ratios of `ratelimit`.
    pub(crate) ratios: SampleRatios,
    label_cpu: Mutex<LabelCpu>,
    path: Mutex<PathBuf>,
    engine: Mutex<Option<Engine>>,
}

impl RecordingStatus {
    /// The current file.
    pub(crate) fn path(&self) -> PathBuf {
        self.path
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The CPU time of its labels.
    pub(crate) fn label_cpu(&self) -> MutexGuard<'_, LabelCpu> {
        self.label_cpu
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The engine that samples CPU time, or did last.
    pub(crate) fn engine(&self) -> Option<Engine> {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_engine(&self, engine: Option<Engine>) {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = engine;
    }

    pub(super) fn set_path(&self, path: PathBuf) {
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }
}
