//! The samplers of a recording: started and stopped in a fixed order.
//!
//! Start: signal actions, class events, settings of the handler, `enabled`, the CPU sampler, the
//! wall-clock sampler. Stop: the samplers, JVMTI events, `enabled`, then a wait until no handler
//! runs. The signal actions stay: a pending signal must find them.

use crate::jvm::method_ids;
use crate::log;
use crate::metrics::CpuTime;
use crate::options::{Engine, Options};
use crate::os::sigaction::{self, PreviousAction};
use crate::os::stall_tolerant;
use crate::sampling::Sampler;
use crate::sampling::cpu::CpuSampler;
use crate::sampling::wall::{UnmountedSampler, WallSampler, WallSettings};
use crate::session::components::Components;
use crate::session::walkers::Walkers;
use signal_core::filter::Condition;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Duration;

/// How long a stop waits for running handlers; they take microseconds.
const QUIET: Duration = Duration::from_millis(200);

/// The samplers that run.
#[derive(Debug, Default)]
pub(super) struct Samplers {
    cpu: Option<CpuSampler>,
    wall: Option<WallSampler>,
    unmounted: Option<UnmountedSampler>,
}

impl Samplers {
    /// Whether another action has the wall-clock signal now.
    pub(super) fn lost_wall_signal(&self) -> bool {
        self.wall.as_ref().is_some_and(WallSampler::has_ended)
    }

    /// The engine that samples CPU time.
    pub(super) fn engine(&self) -> Option<Engine> {
        self.cpu.as_ref().map(CpuSampler::engine)
    }

    fn stop(self) {
        fn stop(sampler: Option<impl Sampler>) {
            if let Some(sampler) = sampler {
                sampler.stop();
            }
        }
        stop(self.unmounted);
        stop(self.wall);
        stop(self.cpu);
    }

    /// Restarts what ended because another action had a signal of ours. `was_taken`: it was the CPU
    /// signal.
    pub(super) fn recover(
        &mut self,
        components: &'static Components,
        options: &Options,
        was_taken: &AtomicBool,
    ) {
        let signal = options.signal.number();
        let ours = [signal, sigaction::wall_signal(signal)];
        if let Some(settings) = WallSettings::of(options)
            && sigaction::restore(ours[1], &ours)
            && self.lost_wall_signal()
        {
            self.restart_wall(components, settings, ours[1]);
        }
        let has_ended = self.cpu.as_ref().is_some_and(Sampler::has_ended);
        if !sigaction::restore(signal, &ours) || !(was_taken.load(Relaxed) || has_ended) {
            return;
        }
        if let Some(ended) = self.cpu.take() {
            ended.stop();
        }
        match start_cpu(components, options) {
            Ok(cpu) => {
                self.cpu = Some(cpu);
                was_taken.store(false, Relaxed);
                log::warn(&format!(
                    "signal {signal}, which something else had taken, is ours again; sampling \
                     continues"
                ));
            }
            Err(why) => log::warn_rarely(&why),
        }
    }

    /// Replaces the wall-clock sampler that has ended. If no thread can be started, the old one
    /// stays until the next try, and `status` still reports it.
    fn restart_wall(
        &mut self,
        components: &'static Components,
        settings: WallSettings,
        signal: i32,
    ) {
        match start_wall(components, settings) {
            Ok(sampler) => {
                if let Some(ended) = self.wall.replace(sampler) {
                    ended.stop();
                }
                log::warn(&format!(
                    "signal {signal} is ours again; wall-clock sampling continues"
                ));
            }
            Err(why) => log::warn_rarely(&why),
        }
    }
}

/// Starts all sampling of a recording with `options`. After an error the caller calls [`end`].
pub(super) fn begin(
    components: &'static Components,
    options: &Options,
    walkers: &Walkers,
    conditions: &[Condition<'_>],
    is_over: &AtomicBool,
) -> Result<Samplers, String> {
    let signal = options.signal.number();
    let wall_signal = sigaction::wall_signal(signal);
    let ours = [signal, wall_signal];
    install(signal, &ours)?;
    if options.wall.is_some() {
        install(wall_signal, &ours)?;
    }
    let handler = components.handler;
    handler
        .wall_signal
        .store(options.wall.map_or(0, |_| wall_signal), Relaxed);
    components.signal.store(signal, Relaxed);
    if walkers.any {
        let jvmti = components.jvmti;
        jvmti
            .notify_of_loaded_classes(true)
            .and_then(|()| jvmti.notify_of_prepared_classes(true))
            .map_err(|error| format!("class events are refused: {error}"))?;
        if let Some(jni) = components.vm.env() {
            method_ids::sweep(jvmti, jni);
        }
    }
    walkers.apply(handler);
    if !handler.filter.set(conditions) {
        return Err("the filter has too many conditions".into());
    }
    handler.depth.store(u32::from(options.stack_depth), Relaxed);
    handler.blocks.detach_after(whole_seconds(options.detach));
    let interval = u64::try_from(options.interval.as_nanos()).unwrap_or(u64::MAX);
    handler.engine.configure(interval);
    resume(components, options, is_over)
}

/// Starts the samplers. After an error the caller calls [`pause`].
pub(super) fn resume(
    components: &'static Components,
    options: &Options,
    is_over: &AtomicBool,
) -> Result<Samplers, String> {
    components.events.enable(options);
    components.handler.enabled.store(true, SeqCst);
    let mut samplers = Samplers::default();
    if options.cpu {
        samplers.cpu = Some(start_cpu(components, options)?);
    }
    if let Some(settings) = WallSettings::of(options) {
        match start_wall(components, settings) {
            Ok(wall) => samplers.wall = Some(wall),
            Err(why) => {
                samplers.stop();
                return Err(why);
            }
        }
        samplers.unmounted = start_unmounted(components, settings);
    }
    // The end of the VM may not have waited for this thread. It sets `is_over` and then clears
    // `enabled`; this thread sets `enabled` and then reads `is_over`, all SeqCst. So either the end
    // clears this `enabled`, or this thread sees `is_over`.
    if is_over.load(SeqCst) {
        components.handler.enabled.store(false, SeqCst);
        samplers.stop();
        return Err("the JVM is ending".into());
    }
    Ok(samplers)
}

/// Stops the samplers, and waits for running handlers.
pub(super) fn pause(components: &Components, samplers: Samplers) {
    let handler = components.handler;
    samplers.stop();
    components.sampled_cpu.end(CpuTime::now());
    components.events.disable();
    handler.enabled.store(false, SeqCst);
    // A handler that runs even longer is ignored; its sample is lost.
    let _is_quiet = stall_tolerant::until(QUIET, || handler.quiet());
    handler.gc_pauses.store(0, Relaxed);
}

/// As [`pause`], at the end of a recording: also stops what only a recording needs.
pub(super) fn end(components: &Components, samplers: Samplers) {
    pause(components, samplers);
    components.events.relinquish();
    // Cannot fail after `begin`. That classes are prepared, `labels` may still have to know.
    let _ = components.jvmti.notify_of_loaded_classes(false);
}

/// Our timers and signals must not hit another action: a recording cannot start or resume if
/// another action has its signal.
pub(super) fn refuse_if_taken(options: &Options) -> Result<(), String> {
    let signal = options.signal.number();
    let needed = [
        options.cpu.then_some(signal),
        options.wall.map(|_| sigaction::wall_signal(signal)),
    ];
    let mut needed = needed.into_iter().flatten();
    match needed.find(|signal| !sigaction::is_ours(*signal)) {
        Some(taken) => Err(format!(
            "something else has taken signal {taken}; stop the recording (signal= chooses \
             another one)"
        )),
        None => Ok(()),
    }
}

fn start_cpu(components: &'static Components, options: &Options) -> Result<CpuSampler, String> {
    components.sampled_cpu.begin(CpuTime::now());
    let (handler, threads) = (components.handler, components.threads);
    CpuSampler::start(handler, threads, options.signal.number(), options.engine)
}

fn start_wall(
    components: &'static Components,
    settings: WallSettings,
) -> Result<WallSampler, String> {
    let (handler, threads) = (components.handler, components.threads);
    WallSampler::start(handler, threads, &components.wall, settings)
}

/// Without its thread only the samples of unmounted virtual threads are missing.
fn start_unmounted(
    components: &'static Components,
    settings: WallSettings,
) -> Option<UnmountedSampler> {
    let (vm, handler) = (components.vm, components.handler);
    UnmountedSampler::start(vm, handler, &components.wall, settings)
        .inspect_err(|why| log::warn(why))
        .unwrap_or_default()
}

fn install(signal: i32, ours: &[i32]) -> Result<(), String> {
    let previous = sigaction::install(signal, ours)
        .map_err(|error| format!("signal {signal} cannot be caught: {error}"))?;
    if previous == PreviousAction::Handler {
        log::warn(&format!(
            "signal {signal} already had an owner; their signals are passed on to them (signal= \
             chooses another one)"
        ));
    }
    Ok(())
}

/// Rounded up: less than a second is not never.
fn whole_seconds(time: Duration) -> u32 {
    let seconds = time.as_nanos().div_ceil(1_000_000_000);
    u32::try_from(seconds).unwrap_or(u32::MAX)
}
