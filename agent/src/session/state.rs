//! The state of a session and its transitions: idle → recording ⇄ paused, from both → idle.

use crate::options::Options;
use crate::recorder::sources::RecordingStatus;
use crate::recorder::writer::{Writer, WriterLease};
use crate::session::samplers::Samplers;
use crate::session::timeout::Timeout;
use std::mem;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};

/// A running recording.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) writer: Writer,
    pub(super) timeout: Option<Timeout>,
    /// The settings that a `resume` needs.
    pub(super) options: Options,
}

/// Whether a recording runs, and whether it samples.
#[derive(Debug, Default)]
pub(super) enum State {
    /// No recording runs. One may be starting, or finishing its file: see
    /// [`Guarded::is_writer_busy`].
    #[default]
    Idle,
    Recording(Recording, Samplers),
    Paused {
        recording: Recording,
        /// At the pause another action had the wall-clock signal.
        lost_wall_signal: bool,
    },
}

/// The data under the lock of a session.
#[derive(Debug, Default)]
pub(super) struct Guarded {
    pub(super) state: State,
    /// Alive while a writer exists: also one that creates or finishes its file, or that a command
    /// no longer waits for.
    lease: Weak<()>,
    /// The start that holds the lease has no writer yet.
    is_preparing: bool,
    /// Number of recordings started so far.
    pub(super) number: u64,
    /// Of this recording, or the last one.
    pub(super) status: Arc<RecordingStatus>,
    /// The stack walkers of this recording, or the last one, for `status`.
    pub(super) walker: String,
}

impl State {
    /// The recording, if one runs.
    pub(super) fn recording(&self) -> Option<&Recording> {
        match self {
            Self::Idle => None,
            Self::Recording(recording, _) | Self::Paused { recording, .. } => Some(recording),
        }
    }

    /// → idle: the recording to finish and the samplers to end.
    pub(super) fn end(&mut self) -> Option<(Recording, Samplers)> {
        match mem::take(self) {
            Self::Idle => None,
            Self::Recording(recording, samplers) => Some((recording, samplers)),
            Self::Paused { recording, .. } => Some((recording, Samplers::default())),
        }
    }

    /// Recording → paused: the samplers to stop. `None`, and nothing changes, in another state.
    pub(super) fn pause(&mut self) -> Option<Samplers> {
        match mem::take(self) {
            Self::Recording(recording, samplers) => {
                let lost_wall_signal = samplers.lost_wall_signal();
                *self = Self::Paused {
                    recording,
                    lost_wall_signal,
                };
                Some(samplers)
            }
            other => {
                *self = other;
                None
            }
        }
    }

    /// Paused → recording, with samplers that run.
    pub(super) fn resume(&mut self, samplers: Samplers) {
        *self = match mem::take(self) {
            Self::Paused { recording, .. } => Self::Recording(recording, samplers),
            other => other,
        };
    }
}

impl Guarded {
    /// Idle → starting: the lease that the writer holds until it has left slots and file.
    pub(super) fn reserve(&mut self) -> Result<WriterLease, String> {
        if let Some(recording) = self.state.recording() {
            return Err(format!(
                "a recording to '{}' is running; stop it first",
                recording.writer.status().path().display()
            ));
        }
        if self.is_writer_busy() {
            return Err("a recording is being started or finished; try again later".into());
        }
        let lease = WriterLease::default();
        self.lease = Arc::downgrade(&lease);
        self.is_preparing = true;
        Ok(lease)
    }

    /// Whether a writer exists, even if no recording runs.
    pub(super) fn is_writer_busy(&self) -> bool {
        self.lease.strong_count() > 0
    }

    /// The start that holds the lease begins to write.
    pub(super) const fn end_preparation(&mut self) {
        self.is_preparing = false;
    }

    /// For a wait outside the lock until the writer is done; `None` if there is none yet.
    pub(super) fn writer_lease(&self) -> Option<Weak<()>> {
        (!self.is_preparing).then(|| self.lease.clone())
    }

    /// The state in words: the most severe condition, and whether the recording is paused.
    pub(super) fn words(&self) -> String {
        let (lost_wall_signal, is_paused) = match &self.state {
            State::Idle if self.is_writer_busy() => {
                return "a recording is being started or finished".into();
            }
            State::Idle => return "idle".into(),
            State::Recording(_, samplers) => (samplers.lost_wall_signal(), false),
            State::Paused {
                lost_wall_signal, ..
            } => (*lost_wall_signal, true),
        };
        let status = &self.status;
        let worst = if status.degraded.load(Relaxed) {
            Some("degraded (the file cannot be written; see the log)")
        } else if status.signal_taken.load(Relaxed) {
            Some("off (another owner has taken the signal)")
        } else if lost_wall_signal {
            Some("degraded (another owner has taken the wall-clock signal)")
        } else if status.walker_off.load(Relaxed) {
            Some("degraded (our own stack walker was switched off; see the log)")
        } else {
            None
        };
        match (worst, is_paused) {
            (None, false) => "recording".into(),
            (None, true) => "paused".into(),
            (Some(worst), false) => worst.into(),
            (Some(worst), true) => format!("{worst}; paused"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn end_of_the_vm_waits_for_a_writer_and_not_for_a_start_without_one() {
        let mut guarded = Guarded::default();
        let lease = guarded.reserve().unwrap();
        assert!(guarded.is_writer_busy());
        assert!(guarded.writer_lease().is_none());
        guarded.end_preparation();
        assert_eq!(guarded.writer_lease().unwrap().strong_count(), 1);
        drop(lease);
        assert!(!guarded.is_writer_busy());
    }
}
