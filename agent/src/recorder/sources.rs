//! What the writer thread works with, and what it shows of its work.

use super::rate_limit::SampleRatios;
use crate::events::EventCollector;
use crate::hotspot::identity::Identity;
use crate::jvm::jni::{Jni, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::metrics::{RecordingStart, SnapshotSource};
use crate::registry::Registry;
use crate::sampling::wall::WallShared;
use crate::threads::ThreadDirectory;
use signal_core::counters::Counters;
use signal_core::handler_state::HandlerState;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Where the writer takes samples, events and names from.
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

/// What the session has the writer thread do between writes.
pub(crate) trait Housekeeping: Send {
    /// At each poll of the slots, 50 times a second.
    fn poll_tick(&mut self);

    /// About once a second; `jni` is the environment of the writer thread.
    fn run(&mut self, jni: Jni);
}

/// What the writer shows of a recording.
#[derive(Debug, Default)]
pub(crate) struct RecordingStatus {
    /// Its counters.
    pub(crate) counters: Counters,
    /// All counters as they were when the recording began; unset before its file is there.
    pub(crate) start: OnceLock<Arc<RecordingStart>>,
    /// The file cannot be written now.
    pub(crate) degraded: AtomicBool,
    /// Another owner has put its action over ours; sampling has stopped.
    pub(crate) signal_taken: AtomicBool,
    /// Our own stack walker has been switched off while this recording ran.
    pub(crate) walker_off: AtomicBool,
    /// How much is left out for `ratelimit`.
    pub(crate) ratios: SampleRatios,
    path: Mutex<PathBuf>,
}

impl RecordingStatus {
    /// The file that is being written.
    pub(crate) fn path(&self) -> PathBuf {
        self.path
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn set_path(&self, path: PathBuf) {
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }
}
