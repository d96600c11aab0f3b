//! The samplers of a recording: started and stopped in a fixed order.
//!
//! Start: signal actions, class events, settings of the handler, `enabled`, the idle-thread
//! sampler, timers, the wall-clock sampler. Stop: the samplers, JVMTI events, `enabled`, then a
//! wait until no handler runs. The signal actions stay: a pending signal must find them.

use crate::jvm::method_ids;
use crate::log;
use crate::options::{Engine, Options};
use crate::os::sigaction::{self, PreviousAction};
use crate::os::stall_tolerant;
use crate::sampling::Sampler;
use crate::sampling::cpu::CpuSampler;
use crate::sampling::idle::IdleSampler;
use crate::sampling::wall::{WallSampler, WallSettings};
use crate::session::components::Components;
use crate::session::walkers::Walkers;
use signal_core::counters::Counter;
use signal_core::engine::Policy;
use signal_core::filter::Condition;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// How long a stop waits for running handlers; they take microseconds.
const QUIET: Duration = Duration::from_millis(200);

/// The samplers that run.
#[derive(Debug, Default)]
pub(super) struct Samplers {
    cpu: Option<CpuSampler>,
    idle: Option<IdleSampler>,
    wall: Option<WallSampler>,
}

impl Samplers {
    /// Whether another action has the wall-clock signal now.
    pub(super) fn lost_wall_signal(&self) -> bool {
        self.wall.as_ref().is_some_and(WallSampler::has_ended)
    }

    fn stop(self) {
        fn stop(sampler: Option<impl Sampler>) {
            if let Some(sampler) = sampler {
                sampler.stop();
            }
        }
        stop(self.wall);
        stop(self.idle);
        stop(self.cpu);
    }

    /// Restarts what ended because another action had a signal of ours. `was_taken`: the other
    /// action was on the CPU signal, so all CPU sampling ended; else it may have hit single timers,
    /// and the idle-thread sampler.
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
        let Some(cpu) = &self.cpu else { return };
        if !sigaction::restore(signal, &ours) {
            return;
        }
        let was_taken = was_taken.swap(false, Relaxed);
        if was_taken || self.idle.as_ref().is_some_and(IdleSampler::has_ended) {
            if let Some(ended) = self.idle.take() {
                ended.stop();
            }
            self.idle = start_idle(components, options);
        }
        let passed = if was_taken {
            let passed = cpu.restart();
            log::warn(&format!(
                "signal {signal} is ours again; sampling continues"
            ));
            passed
        } else {
            cpu.rearm_stalled()
        };
        components
            .handler
            .counters
            .add_many(Counter::PointsUnsampled, passed);
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
        components
            .jvmti
            .notify_of_classes(true)
            .map_err(|error| format!("class events are refused: {error}"))?;
        if let Some(jni) = components.vm.env() {
            method_ids::sweep(components.jvmti, jni);
        }
    }
    walkers.apply(handler);
    if !handler.filter.set(conditions) {
        return Err("the filter has too many conditions".into());
    }
    handler.depth.store(u32::from(options.stack_depth), Relaxed);
    let policy = match options.engine {
        Engine::Stratified => Policy::Stratified,
        Engine::Precise => Policy::Precise,
        Engine::Tick => Policy::Tick,
    };
    let interval = u64::try_from(options.interval.as_nanos()).unwrap_or(u64::MAX);
    handler.engine.configure(policy, interval);
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
        // Before the timers: their handlers hand threads over to it.
        samplers.idle = start_idle(components, options);
        let is_fine = options.engine != Engine::Tick;
        let signal = options.signal.number();
        samplers.cpu = Some(CpuSampler::start(components.threads, signal, is_fine));
    }
    if let Some(settings) = WallSettings::of(options) {
        match start_wall(components, settings) {
            Ok(wall) => samplers.wall = Some(wall),
            Err(why) => {
                samplers.stop();
                return Err(why);
            }
        }
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
    let has_sampled_cpu = samplers.cpu.is_some();
    samplers.stop();
    components.events.disable();
    handler.enabled.store(false, SeqCst);
    let quiet = |step: Duration| {
        let end = Instant::now() + step;
        while !handler.quiet() && Instant::now() < end {
            thread::yield_now();
        }
        handler.quiet().then_some(())
    };
    // A handler that runs even longer is ignored; its sample is lost.
    let _ = stall_tolerant::wait(QUIET, quiet);
    if has_sampled_cpu {
        let passed = components.threads.end_sampling();
        components
            .handler
            .counters
            .add_many(Counter::PointsUnsampled, passed);
    }
    handler.gc_pauses.store(0, Relaxed);
}

/// As [`pause`], at the end of a recording: also stops what only a recording needs.
pub(super) fn end(components: &Components, samplers: Samplers) {
    pause(components, samplers);
    components.events.relinquish();
    let _ = components.jvmti.notify_of_classes(false); // cannot fail after `begin`
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

/// The idle-thread sampler, if the engine needs it and its thread starts.
fn start_idle(components: &'static Components, options: &Options) -> Option<IdleSampler> {
    if options.engine != Engine::Stratified {
        return None;
    }
    let signal = options.signal.number();
    IdleSampler::start(components.handler, &components.idle, signal)
        .inspect_err(|error| {
            log::warn(&format!(
                "no thread to sample idle threads ({error}); their samples come on the kernel's \
                 tick"
            ));
        })
        .ok()
}

fn start_wall(
    components: &'static Components,
    settings: WallSettings,
) -> Result<WallSampler, String> {
    let (handler, threads) = (components.handler, components.threads);
    WallSampler::start(handler, threads, &components.wall, settings)
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
