//! Idle → recording (⇄ paused) → idle: what starts and stops, in which order.
//!
//! Start: writer thread, which makes the file, signal action, class events, then `enabled`, then the poll of sleeping threads, then timers. Stop: the poll, timers, `enabled`, wait until no handler is at work,
//! then the writer takes what is left and finishes the file. The signal action stays: a signal that is on its way must find it. A pause stops and
//! starts again only what samples; file, writer and class events go on.
//!
//! Nobody waits for the disk under the lock. Who asks the running writer sends the request under it and waits outside; who ends it has taken it out under the
//! lock, and asks last. Meanwhile the writer that is made, or that finishes its file, is known by what it holds (`State::at_work`): nothing starts before it
//! has let go, because it takes samples out of the slots.

pub(crate) mod block_reclaim;
pub(crate) mod fault_watch;
mod filters;
pub(crate) mod snapshot;
mod timeout;
mod walkers;

use crate::entry::agent::{Agent, Live};
use crate::entry::callbacks;
use crate::entry::lifecycle;
use crate::events::Observers;
use crate::guard;
use crate::jvm::method_ids;
use crate::log;
use crate::metrics::{self, Start, WriterCounters};
use crate::options::{Engine, Options};
use crate::os::sigaction::{self, Earlier};
use crate::os::stall_tolerant;
use crate::recorder::thinning::Lengths;
use crate::recorder::{AtWork, Shared, Writer};
use crate::sampling::idle::Poll;
use crate::sampling::wall::WallSampler;
use crate::session::timeout::Timeout;
use crate::session::walkers::Walkers;
use signal_core::engine::Policy;
use signal_core::filter::Condition;
use std::mem;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How long a stop waits for handlers that are at work; they take microseconds.
const QUIET: Duration = Duration::from_millis(200);
/// How long the end of the VM waits for the writer, and for a command that is at work.
const LAST_WRITE: Duration = Duration::from_millis(500);
/// How long a stop by command waits for the writer.
const STOP: Duration = Duration::from_secs(30);

/// The recording of a process, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Session {
    state: Mutex<State>,
    /// The VM has ended; nothing starts any more. `SeqCst` with `enabled`: see `run_sampling`.
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    running: Option<Writer>,
    /// Alive while there is a writer, also one that is being made, or was left to itself.
    at_work: Weak<()>,
    samplers: Samplers,
    /// Recordings begun so far.
    number: u64,
    timeout: Option<Timeout>,
    /// Of a sampler that is no more: its signal had another owner.
    wall_taken: bool,
    /// Of the running recording: what a `resume` goes on with.
    options: Options,
    paused: bool,
    /// Of this recording, or the last one.
    shared: Shared,
    walker: String,
}

/// What takes samples.
#[derive(Debug, Default)]
struct Samplers {
    /// Whether CPU time is sampled.
    cpu: bool,
    wall: Option<WallSampler>,
    poll: Option<Poll>,
}

impl Samplers {
    /// Whether the signal of the wall-clock samples has another owner now.
    fn wall_is_taken(&self) -> bool {
        self.wall.as_ref().is_some_and(WallSampler::is_taken)
    }

    fn stop(self) {
        if let Some(wall) = self.wall {
            wall.stop();
        }
        if let Some(poll) = self.poll {
            poll.stop();
        }
    }
}

/// What `status` shows.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) state: String,
    pub(crate) file: Option<PathBuf>,
    /// Time until it ends by itself.
    pub(crate) left: Option<Duration>,
    pub(crate) walker: String,
    pub(crate) counters: Arc<WriterCounters>,
    pub(crate) start: Arc<OnceLock<Arc<Start>>>,
    pub(crate) lengths: Arc<Lengths>,
}

impl Session {
    /// Begins a recording.
    pub(crate) fn start(&self, agent: &'static Agent, options: &Options) -> Result<String, String> {
        let live = agent.live().ok_or("the JVM is not up yet")?;
        let at_work = self.begin_start()?;
        refuse_if_disabled()?;
        bind_attributes(agent, options)?;
        if let Some(jni) = agent.vm.env() {
            lifecycle::before_recording(agent, jni);
        }
        let wanted = filters::resolve(&agent.registry, options)?;
        let walkers = Walkers::choose(live, options.cstack);
        let snapshots = move |writer: &_| snapshot::take(agent, live, writer);
        let writer = Writer::spawn(agent, live, options, at_work, Arc::new(snapshots))?;
        let mut state = self.lock();
        state.walker.clone_from(&walkers.text);
        state.shared = writer.shared().clone();
        let begun = if self.over.load(SeqCst) {
            Err("the JVM is ending".into())
        } else {
            begin_sampling(agent, live, options, &walkers, &wanted, &self.over)
        };
        state.number += 1;
        let limit = |after| Timeout::spawn(agent, state.number, after);
        let timeout = options.timeout.map(limit).transpose();
        let (samplers, failed) = match (begun, timeout) {
            (Ok(samplers), Ok(timeout)) => {
                state.timeout = timeout;
                (samplers, None)
            }
            (Ok(samplers), Err(why)) => (samplers, Some(why)),
            (Err(why), _) => (Samplers::default(), Some(why)),
        };
        if let Some(why) = failed {
            end_sampling(agent, live, samplers);
            drop(state);
            let _ = writer.finish(STOP);
            return Err(why);
        }
        state.samplers = samplers;
        let path = state.shared.path();
        let answer = options.start_line(&path, &state.walker);
        state.running = Some(writer);
        state.options = options.clone();
        state.paused = false;
        state.wall_taken = false;
        Ok(answer)
    }

    /// Whether a recording may start; what must be held until it runs.
    fn begin_start(&self) -> Result<AtWork, String> {
        let mut state = self.lock();
        if let Some(running) = &state.running {
            return Err(format!(
                "a recording to '{}' is running; stop it first",
                running.shared().path().display()
            ));
        }
        if self.over.load(SeqCst) {
            return Err("the JVM is ending".into());
        }
        if state.at_work.strong_count() > 0 {
            return Err("a recording is being started or finished; try again later".into());
        }
        let at_work = AtWork::default();
        state.at_work = Arc::downgrade(&at_work);
        Ok(at_work)
    }

    /// Takes no samples until `resume`; the recording goes on.
    pub(crate) fn pause(&self, agent: &'static Agent) -> Result<String, String> {
        let mut state = self.lock();
        let live = state.running_in(agent)?;
        if state.paused {
            return Ok("the recording is paused already".into());
        }
        let samplers = mem::take(&mut state.samplers);
        state.wall_taken = samplers.wall_is_taken();
        halt_sampling(agent, live, samplers);
        state.paused = true;
        metrics::add(&state.shared.counters.paused, 1);
        Ok(format!(
            "paused; recording is {}",
            state.shared.path().display()
        ))
    }

    /// Takes samples again.
    pub(crate) fn resume(&self, agent: &'static Agent) -> Result<String, String> {
        let mut state = self.lock();
        let live = state.running_in(agent)?;
        if !state.paused {
            return Ok("the recording is not paused".into());
        }
        refuse_if_disabled()?;
        refuse_if_taken(&state.options)?;
        state.shared.signal_taken.store(false, Relaxed);
        match run_sampling(agent, live, &state.options, &self.over) {
            Ok(samplers) => state.samplers = samplers,
            Err(why) => {
                halt_sampling(agent, live, Samplers::default());
                return Err(why);
            }
        }
        state.paused = false;
        state.wall_taken = false;
        Ok(format!(
            "resumed; recording is {}",
            state.shared.path().display()
        ))
    }

    /// Goes on with what ended because a signal of ours had another owner for a while. Wall-clock samples, if that was noticed. Of CPU time all, if that was
    /// noticed; else the poll, and timers whose signals met that owner's action. For the writer, about once a second; never waits.
    pub(crate) fn keep_sampling(&self, live: &'static Live) {
        let Ok(mut state) = self.state.try_lock() else {
            return; // a command is at work
        };
        if state.running.is_none() || state.paused || guard::is_disabled() {
            return;
        }
        let signal = state.options.signal.number();
        let ours = [signal, sigaction::wall_signal(signal)];
        if let Some(period) = state.options.wall
            && sigaction::put_right(ours[1], &ours)
            && state.samplers.wall_is_taken()
        {
            state.sample_wall_again(live, period, ours[1]);
        }
        if !state.samplers.cpu || !sigaction::put_right(signal, &ours) {
            return;
        }
        let was_taken = state.shared.signal_taken.swap(false, Relaxed);
        if was_taken || state.samplers.poll.as_ref().is_some_and(Poll::has_ended) {
            if let Some(ended) = state.samplers.poll.take() {
                ended.stop();
            }
            state.samplers.poll = start_poll(live, &state.options);
        }
        let open = if was_taken {
            let open = live.threads.end_sampling();
            live.threads
                .start_timers(signal, state.options.engine != Engine::Tick);
            log::warn(&format!("signal {signal} is ours again; sampling goes on"));
            open
        } else {
            live.threads.arm_stalled()
        };
        metrics::add(&live.poll.open, open);
    }

    /// Ends the recording.
    pub(crate) fn stop(&self, agent: &Agent) -> Result<String, String> {
        stop_locked(agent, self.lock())
    }

    /// Ends recording `number`; `None` if it has ended.
    pub(crate) fn stop_recording(
        &self,
        agent: &Agent,
        number: u64,
    ) -> Option<Result<String, String>> {
        let state = self.lock();
        let is_it = state.number == number && state.running.is_some();
        is_it.then(|| stop_locked(agent, state))
    }

    /// Copies what is recorded so far into another file; the recording goes on.
    pub(crate) fn dump(&self, options: &Options) -> Result<String, String> {
        let state = self.lock();
        let writer = state.running.as_ref().ok_or("no recording is running")?;
        // Under the lock: a stop that comes now asks after us.
        let (asked, done) = if options.file.is_none() {
            (writer.flush(), "flushed; recording is")
        } else {
            (writer.dump(options), "dumped to")
        };
        drop(state);
        Ok(format!("{done} {}", asked.answer()?.display()))
    }

    /// The VM ends: the recording is finished now, or left readable up to its last flush.
    pub(crate) fn end_with_vm(&self, agent: &Agent) {
        if self.over.swap(true, SeqCst) {
            return; // told twice, see `lifecycle`
        }
        let Some(mut state) = stall_tolerant::wait(LAST_WRITE, |step| self.lock_within(step))
        else {
            if let Some(live) = agent.live() {
                live.handler.enabled.store(false, SeqCst);
            }
            return log::warn(
                "a command is still at work as the JVM ends; if there is a recording, it is readable up to its last flush",
            );
        };
        state.timeout = None;
        let (Some(writer), Some(live)) = (state.running.take(), agent.live()) else {
            // One that was stopped may not be finished yet.
            let at_work = state.at_work.clone();
            drop(state);
            let _ = stall_tolerant::wait(LAST_WRITE, |step| has_ended(&at_work, step));
            return;
        };
        end_sampling(agent, live, mem::take(&mut state.samplers));
        drop(state);
        let shared = writer.shared().clone();
        match writer.finish(LAST_WRITE) {
            Ok(path) => log::info(&format!("the JVM ends; recording is {}", path.display())),
            Err(why) => log::warn(&format!(
                "{why}; {} is readable up to its last flush",
                shared.path().display()
            )),
        }
    }

    /// For `status`.
    pub(crate) fn describe(&self) -> Description {
        let state = self.lock();
        let shared = &state.shared;
        Description {
            state: state.words(),
            file: state.running.as_ref().map(|_| shared.path()),
            left: state.timeout.as_ref().map(Timeout::left),
            walker: if shared.walker_off.load(Relaxed) {
                format!("{}; vm is switched off", state.walker)
            } else {
                state.walker.clone()
            },
            counters: shared.counters.clone(),
            start: shared.start.clone(),
            lengths: shared.lengths.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_within(&self, step: Duration) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                thread::park_timeout(step);
                None
            }
        }
    }
}

fn stop_locked(agent: &Agent, mut state: MutexGuard<'_, State>) -> Result<String, String> {
    let writer = state.running.take().ok_or("no recording is running")?;
    let live = agent.live().ok_or("the JVM is not up yet")?;
    state.timeout = None;
    end_sampling(agent, live, mem::take(&mut state.samplers));
    drop(state);
    let path = writer.finish(STOP)?;
    Ok(format!("stopped; recording is {}", path.display()))
}

fn has_ended(at_work: &Weak<()>, step: Duration) -> Option<()> {
    if at_work.strong_count() == 0 {
        return Some(());
    }
    thread::park_timeout(step);
    None
}

impl State {
    /// In words: the worst of what is to be told, and whether it is paused.
    fn words(&self) -> String {
        if self.running.is_none() {
            return if self.at_work.strong_count() == 0 {
                "idle".into()
            } else {
                "a recording is being started or finished".into()
            };
        }
        let shared = &self.shared;
        let worst = if shared.degraded.load(Relaxed) {
            Some("degraded (the file cannot be written; see the log)")
        } else if shared.signal_taken.load(Relaxed) {
            Some("off (another owner has taken the signal)")
        } else if self.wall_taken || self.samplers.wall_is_taken() {
            Some("degraded (another owner has taken the wall-clock signal)")
        } else if shared.walker_off.load(Relaxed) {
            Some("degraded (our own stack walker was switched off; see the log)")
        } else {
            None
        };
        match (worst, self.paused) {
            (None, false) => "recording".into(),
            (None, true) => "paused".into(),
            (Some(worst), false) => worst.into(),
            (Some(worst), true) => format!("{worst}; paused"),
        }
    }

    /// A new sampler for the one that has ended. Without a thread for it that one stays, and with it what `status` says, until the next look.
    fn sample_wall_again(&mut self, live: &'static Live, period: Duration, signal: i32) {
        match WallSampler::spawn(live, &self.options, period) {
            Ok(sampler) => {
                if let Some(ended) = self.samplers.wall.replace(sampler) {
                    ended.stop();
                }
                log::warn(&format!(
                    "signal {signal} is ours again; wall-clock sampling goes on"
                ));
            }
            Err(why) => log::warn_rarely(&why),
        }
    }

    /// What a command to a running recording needs.
    fn running_in(&self, agent: &'static Agent) -> Result<&'static Live, String> {
        self.running.as_ref().ok_or("no recording is running")?;
        agent.live().ok_or_else(|| "the JVM is not up yet".into())
    }
}

/// The attributes of `ctx=` get their columns before any other. Those of the load have them; a later start finds what names are there already.
fn bind_attributes(agent: &Agent, options: &Options) -> Result<(), String> {
    let names: Vec<&str> = options.attributes.iter().map(String::as_str).collect();
    match agent.registry.bind_all(&names) {
        Some(_) => Ok(()),
        None => Err(format!(
            "option 'ctx': there are not slots enough for {}; taken: {}",
            names.join("+"),
            agent.registry.names_from(0).join("+")
        )),
    }
}

/// After an internal error of ours nothing is sampled any more in this process.
fn refuse_if_disabled() -> Result<(), String> {
    if guard::is_disabled() {
        return Err("an internal error has switched the agent off".into());
    }
    Ok(())
}

/// Timers and signals must not be sent to an action that is not ours: a recording that needs one that was taken meanwhile cannot go on.
fn refuse_if_taken(options: &Options) -> Result<(), String> {
    let signal = options.signal.number();
    let needed = [
        options.cpu.then_some(signal),
        options.wall.map(|_| sigaction::wall_signal(signal)),
    ];
    match needed
        .into_iter()
        .flatten()
        .find(|s| !sigaction::is_ours(*s))
    {
        Some(taken) => Err(format!(
            "something else has taken signal {taken}; stop the recording (signal= chooses another one)"
        )),
        None => Ok(()),
    }
}

fn begin_sampling(
    agent: &Agent,
    live: &'static Live,
    options: &Options,
    walkers: &Walkers,
    wanted: &[Condition<'_>],
    over: &AtomicBool,
) -> Result<Samplers, String> {
    let signal = options.signal.number();
    let wall_signal = sigaction::wall_signal(signal);
    let ours = [signal, wall_signal];
    catch(signal, &ours)?;
    if options.wall.is_some() {
        catch(wall_signal, &ours)?;
    }
    let told = options.wall.map_or(0, |_| wall_signal);
    live.handler.wall_signal.store(told, Relaxed);
    agent.signal.store(signal, Relaxed);
    if walkers.any {
        let made = callbacks::watch_classes(agent.jvmti, true);
        made.map_err(|error| format!("class events are refused: {error}"))?;
        if let Some(jni) = agent.vm.env() {
            method_ids::sweep(agent.jvmti, jni);
        }
    }
    let handler = live.handler;
    walkers.apply(live);
    if !handler.filter.set(wanted) {
        return Err("the filter has too many conditions".into());
    }
    handler.depth.store(u32::from(options.stack_depth), Relaxed);
    let policy = match options.engine {
        Engine::Stratified => Policy::Stratified,
        Engine::Precise => Policy::Precise,
        Engine::Tick => Policy::Tick,
    };
    handler.engine.configure(
        policy,
        u64::try_from(options.interval.as_nanos()).unwrap_or(u64::MAX),
    );
    run_sampling(agent, live, options, over)
}

/// Turns on whatever takes samples. After an error it is the caller's to turn off what is on already.
fn run_sampling(
    agent: &Agent,
    live: &'static Live,
    options: &Options,
    over: &AtomicBool,
) -> Result<Samplers, String> {
    live.observers.begin(agent.jvmti, options);
    live.handler.enabled.store(true, SeqCst);
    let mut samplers = Samplers::default();
    if options.cpu {
        samplers.cpu = true;
        // Before the timers: their handlers leave threads to it.
        samplers.poll = start_poll(live, options);
        let fine = options.engine != Engine::Tick;
        live.threads.start_timers(options.signal.number(), fine);
    }
    if let Some(period) = options.wall {
        match WallSampler::spawn(live, options, period) {
            Ok(wall) => samplers.wall = Some(wall),
            Err(why) => {
                samplers.stop();
                return Err(why);
            }
        }
    }
    // The end of the VM may not have waited for us. It sets `over` and then clears `enabled`, we set `enabled` and then look at `over`, all SeqCst: either it
    // takes back what we have set, or we see that it has come.
    if over.load(SeqCst) {
        live.handler.enabled.store(false, SeqCst);
        samplers.stop();
        return Err("the JVM is ending".into());
    }
    Ok(samplers)
}

/// The poll of sleeping threads, where it is wanted and can be had.
fn start_poll(live: &'static Live, options: &Options) -> Option<Poll> {
    if options.engine != Engine::Stratified {
        return None;
    }
    let poll = Poll::spawn(live, options.signal.number());
    let refused = |error: &_| {
        log::warn(&format!(
            "no thread for the poll of sleeping threads ({error}); their samples come on the kernel's tick"
        ));
    };
    poll.inspect_err(refused).ok()
}

fn catch(signal: i32, ours: &[i32]) -> Result<(), String> {
    let earlier = sigaction::install(signal, ours)
        .map_err(|error| format!("signal {signal} cannot be caught: {error}"))?;
    if earlier == Earlier::Somebody {
        log::warn(&format!(
            "signal {signal} already had an owner; their signals are passed on to them (signal= chooses another one)"
        ));
    }
    Ok(())
}

fn end_sampling(agent: &Agent, live: &Live, samplers: Samplers) {
    halt_sampling(agent, live, samplers);
    Observers::end(agent.jvmti);
    let _ = callbacks::watch_classes(agent.jvmti, false);
}

/// Turns off whatever takes samples, and waits for handlers at work.
fn halt_sampling(agent: &Agent, live: &Live, samplers: Samplers) {
    let sampled_cpu = samplers.cpu;
    samplers.stop();
    live.threads.stop_timers();
    live.observers.halt(agent.jvmti);
    live.handler.enabled.store(false, SeqCst);
    let quiet = |step: Duration| {
        let end = Instant::now() + step;
        while !live.handler.quiet() && Instant::now() < end {
            thread::yield_now();
        }
        live.handler.quiet().then_some(())
    };
    // A handler that is still at work after that is left to itself; its sample is not waited for.
    let _ = stall_tolerant::wait(QUIET, quiet);
    if sampled_cpu {
        metrics::add(&live.poll.open, live.threads.end_sampling());
    }
    live.handler.gc_pauses.store(0, Relaxed);
}
