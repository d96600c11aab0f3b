//! Wall-clock samples: a thread that signals each Java thread once per period, at a random moment.
//!
//! A thread that slept at its last sample and has not run since is not woken again: its last sample
//! counts once more, and the writer gets a repeat of it. The longer a thread sleeps, the more
//! rarely it is probed: an unchanged CPU time proves that it slept all the time in between. The
//! time of the next probe depends on how long the thread has slept, never on what it does then, so
//! no state is over-represented. Probes that find the last signal still pending, and rounds that
//! the sampler missed, count with the next sample.
//!
//! Accounting, per probe: scheduled = sent + repeated + unlabelled + pending + exited + missed.

mod probed;
mod queues;
mod sampler_loop;
mod settings;
mod unmounted;

pub(crate) use self::queues::{RepeatedSample, UnmountedSample, WallShared};
use self::sampler_loop::{LoopEnd, SamplerLoop};
pub(crate) use self::settings::WallSettings;
pub(crate) use self::unmounted::UnmountedSampler;
use super::Sampler;
use crate::guard::{self, OnFailure};
use crate::os::agent_thread::BlockedSignals;
use crate::threads::ThreadDirectory;
use signal_core::handler_state::HandlerState;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

/// The running sampler.
#[derive(Debug)]
pub(crate) struct WallSampler {
    stop: Sender<()>,
    thread: JoinHandle<()>,
    lost_signal: Arc<AtomicBool>,
}

impl WallSampler {
    /// Starts the sampler thread.
    pub(crate) fn start(
        handler: &'static HandlerState,
        threads: &'static ThreadDirectory,
        shared: &'static WallShared,
        settings: WallSettings,
    ) -> Result<Self, String> {
        let (stop, stopped) = mpsc::channel();
        let lost_signal = Arc::new(AtomicBool::new(false));
        let reports = lost_signal.clone();
        handler
            .wall_needs_context
            .store(settings.needs_context, Relaxed);
        let body = move || {
            let mut sampler = SamplerLoop::new(handler, threads, shared, settings);
            reports.store(sampler.run(&stopped) == LoopEnd::HandlerReplaced, Relaxed);
        };
        let blocked = BlockedSignals::WallClock(settings.cpu_signal);
        let thread = guard::spawn(OnFailure::DisableAgent, "ctxagent wall", blocked, body)
            .map_err(|error| format!("no thread for wall-clock samples: {error}"))?;
        Ok(Self {
            stop,
            thread,
            lost_signal,
        })
    }
}

impl Sampler for WallSampler {
    /// Whether it has ended because another action has replaced ours.
    fn has_ended(&self) -> bool {
        self.lost_signal.load(Relaxed)
    }

    /// Reports pending repeats before it returns.
    fn stop(self) {
        drop(self.stop);
        let _ = self.thread.join(); // the guard has reported a panic of it
    }
}
