//! The handle of the prober thread.

use super::super::Sampler;
use super::prober::Prober;
use crate::guard::{self, OnFailure};
use crate::os::agent_thread::BlockedSignals;
use crate::os::stall_tolerant;
use signal_core::handler_state::HandlerState;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a start waits for the trial, which takes less than a millisecond of CPU time. It ends by
/// itself before; a recording on the kernel's tick would be the worse choice.
const TRIAL: Duration = Duration::from_secs(15);

/// What the prober is to do, and has done.
#[derive(Debug, Default)]
struct Flags {
    stop: AtomicBool,
    has_ended: AtomicBool,
}

/// Timers per CPU, and the thread that serves them.
#[derive(Debug)]
pub(crate) struct PerCpuSampler {
    handler: &'static HandlerState,
    thread: JoinHandle<()>,
    flags: Arc<Flags>,
}

impl PerCpuSampler {
    /// Starts the prober, which tries the engine; the error says why it does not work here. The
    /// signal action of the agent is in place, and the handler is enabled.
    pub(super) fn start(handler: &'static HandlerState, signal: i32) -> Result<Self, String> {
        let flags = Arc::<Flags>::default();
        let shared = flags.clone();
        let (reply, is_ready) = mpsc::sync_channel(1);
        let body = move || {
            let started = Prober::start(handler, signal);
            let prober = started.map_err(|why| {
                let _ = reply.send(Err(why));
            });
            if let Ok(mut prober) = prober {
                let _ = reply.send(Ok(()));
                prober.run(&shared.stop);
            }
            shared.has_ended.store(true, Relaxed);
        };
        let blocked = BlockedSignals::WallClock(signal);
        let thread = guard::spawn(OnFailure::DisableAgent, "ctxagent prober", blocked, body)
            .map_err(|error| format!("no thread for the timers per CPU ({error})"))?;
        let sampler = Self {
            handler,
            thread,
            flags,
        };
        let reply = stall_tolerant::wait(TRIAL, |step| is_ready.recv_timeout(step).ok());
        match reply.unwrap_or_else(|| Err("the trial of the timers per CPU has no result".into())) {
            Ok(()) => Ok(sampler),
            Err(why) => {
                sampler.stop();
                Err(why)
            }
        }
    }
}

impl Sampler for PerCpuSampler {
    /// Whether it has ended because another action has replaced ours.
    fn has_ended(&self) -> bool {
        self.flags.has_ended.load(Relaxed)
    }

    fn stop(self) {
        self.flags.stop.store(true, SeqCst);
        self.handler.engine.probes.wake.wake();
        let _ = self.thread.join(); // the guard has reported a panic of it
    }
}
