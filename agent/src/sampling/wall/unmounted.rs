//! Wall-clock samples of virtual threads that no carrier runs: no signal can reach them, so a thread
//! of the agent looks at them.
//!
//! Time is cut into intervals of whole periods. At a random moment of each the VM's lists of virtual
//! threads are read, and one in so many of them is looked at: its sample stands for the interval,
//! for all that were passed over. So totals and shares are right however long a thread waits. A
//! thread that a carrier runs at that moment is left to the signals.
//!
//! The frames are read in the heap while the thread is at rest: its state must be the same before
//! and after, two walks must agree, and no pause of the VM may lie in between.

mod plan;
mod stack;
mod states;

use super::queues::{UnmountedSample, WallShared};
use super::sampler_loop::wait_until;
use super::settings::WallSettings;
use crate::guard::{self, OnFailure};
use crate::jvm::jni::{Jni, LocalRef, Vm};
use crate::os::agent_thread::BlockedSignals;
use crate::os::{stall_tolerant, thread, timers};
use crate::sampling::Sampler;
use crate::threads::live_threads;
use plan::Plan;
use schema::event_mask::WALL_CLOCK_SAMPLE_BIT;
use signal_core::block::{ReadOutcome, Values};
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;
use signal_core::handler_state::HandlerState;
use signal_core::java_thread::IdSource;
use stack::StackReader;
use states::VirtualThreadFields;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

/// How long a start waits until the lists were read once, and a stop until the thread has ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// The running sampler.
#[derive(Debug)]
pub(crate) struct UnmountedSampler {
    stop: Sender<()>,
    ended: Receiver<()>,
}

impl UnmountedSampler {
    /// Starts the thread, and waits until it has read the lists once: what that initialises in the
    /// JDK is then initialised while there is memory. `None` if virtual threads have no ids here.
    pub(crate) fn start(
        vm: Vm,
        handler: &'static HandlerState,
        shared: &'static WallShared,
        settings: WallSettings,
    ) -> Result<Option<Self>, String> {
        if handler.id_source() == IdSource::Platform {
            return Ok(None);
        }
        let (stop, stopped) = mpsc::channel();
        let (ready, is_ready) = mpsc::sync_channel(1);
        let (end, ended) = mpsc::sync_channel(1);
        let body = move || {
            if let Some(jni) = vm.attach_daemon(c"ctxagent waits") {
                if let Some(looks) = Looks::new(jni, handler, shared, settings) {
                    looks.run(&ready, &stopped);
                }
                vm.detach();
            }
            let _ = end.send(()); // nobody listens after a stop that was too long
        };
        let blocked = BlockedSignals::WallClock(settings.cpu_signal);
        guard::spawn(OnFailure::DisableAgent, "ctxagent waits", blocked, body).map_err(
            |error| format!("no samples of unmounted virtual threads: no thread ({error})"),
        )?;
        // Without an answer the lists are read later.
        let _ = stall_tolerant::wait(PATIENCE, |step| answer(&is_ready, step));
        Ok(Some(Self { stop, ended }))
    }
}

impl Sampler for UnmountedSampler {
    fn has_ended(&self) -> bool {
        false
    }

    /// A thread that the VM holds up for longer ends by itself.
    fn stop(self) {
        drop(self.stop);
        let _ = stall_tolerant::wait(PATIENCE, |step| answer(&self.ended, step));
    }
}

/// `Some` once the other side has sent, or is gone.
fn answer(from: &Receiver<()>, within: Duration) -> Option<()> {
    (from.recv_timeout(within) != Err(RecvTimeoutError::Timeout)).then_some(())
}

/// The state of the thread.
struct Looks {
    jni: Jni,
    handler: &'static HandlerState,
    shared: &'static WallShared,
    needs_context: bool,
    fields: VirtualThreadFields,
    stacks: StackReader,
    plan: Plan,
}

impl Looks {
    /// `None` if `VirtualThread` is not as expected.
    fn new(
        jni: Jni,
        handler: &'static HandlerState,
        shared: &'static WallShared,
        settings: WallSettings,
    ) -> Option<Self> {
        Some(Self {
            jni,
            handler,
            shared,
            needs_context: settings.needs_context,
            fields: jni.with_local_frame(VirtualThreadFields::find)?,
            stacks: StackReader::new(handler),
            plan: Plan::new(settings.period),
        })
    }

    fn run(mut self, ready: &SyncSender<()>, stopped: &Receiver<()>) {
        let is_listed = self
            .jni
            .with_local_frame(|jni| live_threads::arrays(jni).is_some());
        let _ = ready.send(()); // the start may have gone on
        if !is_listed {
            return;
        }
        let mut begin = Instant::now();
        let mut periods = 1;
        loop {
            let length = self.plan.length(periods);
            if !wait_until(begin + self.plan.moment_in(length), Duration::ZERO, stopped)
                || !self.is_on()
            {
                return;
            }
            let cost = self.look_at_all(periods);
            begin += length;
            if !wait_until(begin, Duration::ZERO, stopped) {
                return;
            }
            periods = self.plan.periods(cost, begin.elapsed());
        }
    }

    /// Whether an internal error has not switched sampling off.
    fn is_on(&self) -> bool {
        self.handler.enabled.load(Relaxed)
    }

    /// Takes the samples of one interval; returns the CPU time that the lists cost.
    fn look_at_all(&mut self, periods: u32) -> Duration {
        let cpu = || timers::thread_cpu_nanos(thread::current_tid());
        let begin = cpu();
        let jni = self.jni;
        jni.with_local_frame(|jni| {
            let arrays = live_threads::arrays(jni).unwrap_or_default();
            let class = jni.find_class(c"java/lang/VirtualThread");
            let cost = Duration::from_nanos(cpu().saturating_sub(begin));
            let Some(class) = class else { return cost };
            let lengths = arrays.iter().map(|array| jni.array_length(array));
            let threads: usize = lengths.filter_map(|n| usize::try_from(n).ok()).sum();
            let step = self.plan.step(threads, periods);
            let mut picks = self.plan.picks(threads, step).into_iter().peekable();
            let mut begin = 0;
            for array in &arrays {
                let end = begin + usize::try_from(jni.array_length(array)).unwrap_or(0);
                while let Some(pick) = picks.next_if(|pick| *pick < end) {
                    self.look(
                        *jni,
                        array,
                        pick - begin,
                        &class,
                        step.saturating_mul(periods),
                    );
                }
                begin = end;
            }
            cost
        })
    }

    /// Takes a sample of a thread of `array`, if it is virtual and no carrier runs it.
    fn look(
        &mut self,
        jni: Jni,
        array: &LocalRef<'_>,
        index: usize,
        class: &LocalRef<'_>,
        samples: u32,
    ) {
        // Before the VM tells where the thread is.
        let pauses = self.stacks.pauses();
        let index = i32::try_from(index).unwrap_or(i32::MAX);
        let Some(thread) = jni.array_element(array, index) else {
            return;
        };
        if jni.is_instance(&thread, class)
            && let Some(state) = self.fields.state(jni, &thread)
        {
            self.sample(jni, &thread, state, pauses, samples);
        }
        jni.delete_local(thread);
    }

    fn sample(
        &mut self,
        jni: Jni,
        thread: &LocalRef<'_>,
        state: &'static str,
        pauses: Option<usize>,
        samples: u32,
    ) {
        let counters = &self.handler.counters;
        counters.add(Counter::WallUnmounted);
        let tid = self.fields.tid(jni, thread);
        let mut values = Values::default();
        let found = self.handler.blocks.read_remote(tid, &mut values);
        if !self.admits(found, &values) {
            return counters.add(Counter::WallUnmountedFiltered);
        }
        let nanos = monotonic_nanos();
        let stack = self.stacks.read(thread, pauses);
        // It may have run since, and wait elsewhere under another label.
        let mut later = Values::default();
        let same_context =
            self.handler.blocks.read_remote(tid, &mut later) == found && later == values;
        if !same_context || self.fields.state(jni, thread) != Some(state) {
            return counters.add(Counter::WallUnmountedChanged);
        }
        let (outcome, flags) = self.stacks.judge(stack);
        let sample = UnmountedSample {
            nanos,
            tid,
            state,
            samples,
            values,
            outcome,
            flags,
            frames: self.stacks.frames(outcome),
        };
        if !self.shared.push_unmounted(sample) {
            counters.add(Counter::WallUnmountedLost);
        }
    }

    /// Whether the filters let a sample with this context through.
    fn admits(&self, found: ReadOutcome, values: &Values) -> bool {
        let filter = &self.handler.filter;
        let values = (found == ReadOutcome::Values).then_some(values);
        filter.passes(values)
            && match values {
                Some(values) => values.event_mask & WALL_CLOCK_SAMPLE_BIT != 0,
                None => !self.needs_context && filter.passes_without_context(WALL_CLOCK_SAMPLE_BIT),
            }
    }
}
