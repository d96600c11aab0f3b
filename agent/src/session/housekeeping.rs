//! Work of the session on the writer thread, between writes: it follows changes of the process that
//! have no event.

use crate::jvm::jni::Jni;
use crate::log;
use crate::options::Options;
use crate::os::sigaction;
use crate::recorder::sources::{Housekeeping, RecordingStatus};
use crate::session::block_reclaim::BlockReclaim;
use crate::session::components::Components;
use crate::session::fault_watch::FaultWatch;
use crate::session::scan_budget::ScanBudget;
use signal_core::counters::Counter;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The housekeeping of one recording.
pub(super) struct SessionHousekeeping<F> {
    components: &'static Components,
    /// Restarts samplers that have ended.
    keep_sampling: F,
    status: Arc<RecordingStatus>,
    /// The signal for CPU samples, if there are any.
    cpu_signal: Option<i32>,
    scans: ScanBudget,
    blocks: BlockReclaim,
    faults: FaultWatch,
}

impl<F: Fn() + Send> SessionHousekeeping<F> {
    pub(super) fn new(
        components: &'static Components,
        keep_sampling: F,
        options: &Options,
        status: Arc<RecordingStatus>,
    ) -> Self {
        Self {
            components,
            keep_sampling,
            status,
            cpu_signal: options.cpu.then(|| options.signal.number()),
            scans: ScanBudget::default(),
            blocks: BlockReclaim::default(),
            faults: FaultWatch::new(components.handler),
        }
    }

    /// Another profiler may replace our action later. Our timers would hit its action: they are
    /// deleted, and its action stays.
    fn watch_signal(&self, signal: i32) {
        if sigaction::is_ours(signal) {
            return;
        }
        // Each time: a `resume` that has just checked the signal may have created them again.
        self.components.threads.stop_timers();
        if !self.status.signal_taken.swap(true, Relaxed) {
            self.status.counters.add(Counter::SignalLost);
            log::warn(&format!(
                "something else has taken signal {signal}; sampling has stopped (signal= chooses \
                 another one)"
            ));
        }
    }
}

impl<F: Fn() + Send> Housekeeping for SessionHousekeeping<F> {
    /// Stops a stack walker that faults.
    fn poll_tick(&mut self) {
        if self.faults.check(self.components.handler) {
            self.status.walker_off.store(true, Relaxed);
            self.status.counters.add(Counter::StateDegraded);
        }
    }

    fn run(&mut self, jni: Jni) {
        let components = self.components;
        let threads = components.threads;
        if threads.needs_timers() {
            self.scans.run(|| threads.scan_natives());
        } else {
            threads.remove_ended_natives();
        }
        self.blocks.run(components, jni);
        (self.keep_sampling)();
        if let Some(signal) = self.cpu_signal {
            self.watch_signal(signal);
        }
    }
}
