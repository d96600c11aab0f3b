//! The writer thread: takes samples out of the slots, names what they refer to, hands them to `jfr-format`.
//!
//! It is the only consumer of the slots and the only writer of the files, which it makes itself, those of dumps too: every wait for the disk is this
//! thread's. Commands reach it through a channel; it answers each one, and who asks waits with patience.

pub(crate) mod contexts;
mod environment;
pub(crate) mod files;
mod names;
#[cfg(feature = "oracle")]
mod oracle;
mod pipeline;
mod redactions;
mod scans;
mod seen;
mod sweeper;
pub(crate) mod thinning;
mod unwritten;
mod wall;

use crate::entry::agent::{Agent, Live};
use crate::guard::{OnFailure, enter};
use crate::log;
use crate::metrics::{SnapshotSource, Start, WriterCounters};
use crate::options::Options;
use crate::os::agent_thread::{self, BlockedSignals};
use crate::os::stall_tolerant;
use crate::os::thread as os_thread;
use files::{Home, Purpose};
use pipeline::{Pipeline, Slots};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thinning::Lengths;

/// Time between two looks at the slots: names are resolved this soon, and 1024 slots last for 50 000 samples a second.
const DRAIN_PERIOD: Duration = Duration::from_millis(20);
/// Time between two looks at all slots: so soon an ended thread can be forgotten, and a sample in a slot that was claimed late is found.
const ALL_PERIOD: Duration = Duration::from_millis(100);
/// Time between two looks at the rest of the process (native threads, leaked blocks, the signal's owner), whatever `flush` says.
const LOOK_PERIOD: Duration = Duration::from_secs(1);
/// Time from the first sample of a recording to its first flush, whatever `flush` says.
const FIRST_FLUSH: Duration = Duration::from_millis(100);
/// How long a start waits for the file: the JVM's main thread stands still meanwhile.
const START: Duration = Duration::from_secs(10);

enum Command {
    Flush,
    /// The file that the options name is made first.
    Dump(Box<Options>),
    Finish,
}

/// The file that the command was about.
type Answer = Result<PathBuf, String>;

struct Request {
    command: Command,
    answer: SyncSender<Answer>,
}

/// The writer thread of a recording.
#[derive(Debug)]
pub(crate) struct Writer {
    requests: Sender<Request>,
    thread: JoinHandle<()>,
    /// Closed once the thread has left slots, file and JVM.
    ended: Receiver<Infallible>,
    shared: Shared,
}

/// A request that was sent: `answer` waits for it.
#[derive(Debug)]
#[must_use]
pub(crate) struct Asked {
    answer: Receiver<Answer>,
    within: Duration,
}

/// Held by a writer thread until it has left slots and file.
pub(crate) type AtWork = Arc<()>;

/// What the thread tells the rest of the agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared {
    /// Its counters.
    pub(crate) counters: Arc<WriterCounters>,
    /// All counters as they were when the recording began; nothing before it has.
    pub(crate) start: Arc<OnceLock<Arc<Start>>>,
    /// The file cannot be written now.
    pub(crate) degraded: Arc<AtomicBool>,
    /// Another owner has put its action over ours; sampling has stopped.
    pub(crate) signal_taken: Arc<AtomicBool>,
    /// Our own stack walker has been switched off while this recording ran.
    pub(crate) walker_off: Arc<AtomicBool>,
    /// How much is left out for `ratelimit`.
    pub(crate) lengths: Arc<Lengths>,
    /// The file that is being written.
    pub(crate) path: Arc<Mutex<PathBuf>>,
}

impl Shared {
    /// The file that is being written.
    pub(crate) fn path(&self) -> PathBuf {
        self.path
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set_path(&self, path: PathBuf) {
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }
}

impl Writer {
    /// Starts the thread; returns when the file is a readable recording. A thread that has not made one in time is left to itself: it ends as soon as its
    /// disk lets it.
    pub(crate) fn spawn(
        agent: &'static Agent,
        live: &'static Live,
        options: &Options,
        at_work: AtWork,
        snapshots: SnapshotSource,
    ) -> Result<Self, String> {
        let (requests, inbox) = mpsc::channel();
        let (ready, is_ready) = mpsc::sync_channel(1);
        let (until_its_end, ended) = mpsc::channel();
        let shared = Shared::default();
        let (options, told) = (options.clone(), shared.clone());
        let blocked = BlockedSignals::Sampling(options.signal.number());
        let body = move || {
            enter(
                OnFailure::DisableAgent,
                "thread 'ctxagent writer'",
                (),
                || {
                    run(agent, live, &options, told, &inbox, &ready, snapshots);
                },
            );
            drop(at_work);
            drop(until_its_end);
        };
        let thread = agent_thread::spawn("ctxagent writer", blocked, body)
            .map_err(|error| format!("no thread for the writer: {error}"))?;
        match answer_of(&is_ready, START) {
            Some(Ok(())) => Ok(Self {
                requests,
                thread,
                ended,
                shared,
            }),
            Some(Err(why)) => {
                let _ = thread.join(); // it has answered: only its detach is left
                Err(why)
            }
            None => Err(format!(
                "the file could not be made within {} s, its disk hangs",
                START.as_secs()
            )),
        }
    }

    /// What the thread tells.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Brings everything so far into the file.
    pub(crate) fn flush(&self) -> Asked {
        self.ask(Command::Flush, Duration::from_secs(30))
    }

    /// Copies everything so far into another file, the next one of `options`.
    pub(crate) fn dump(&self, options: &Options) -> Asked {
        let command = Command::Dump(Box::new(options.clone()));
        self.ask(command, Duration::from_mins(1))
    }

    /// Takes the last samples, finishes the file, ends the thread. After `within` the thread is left to itself, also if its answer came before: a disk may
    /// hang as the file is closed.
    pub(crate) fn finish(self, within: Duration) -> Answer {
        let asked = self.ask(Command::Finish, within);
        let mut answer = None;
        let ended = stall_tolerant::wait(within, |step| {
            if answer.is_none() {
                answer = answer_in(&asked.answer, step);
                return None;
            }
            // What is left: it forgets threads that have ended, closes the file, detaches.
            let waited = self.ended.recv_timeout(step);
            matches!(waited, Err(RecvTimeoutError::Disconnected)).then_some(())
        });
        if ended.is_some() {
            let _ = self.thread.join(); // nothing of ours is left to it
        }
        answer.unwrap_or_else(|| Err(silent(within)))
    }

    /// Never waits. A thread that is gone drops the request, which is the answer.
    fn ask(&self, command: Command, within: Duration) -> Asked {
        let (sender, answer) = mpsc::sync_channel(1);
        let request = Request {
            command,
            answer: sender,
        };
        let _ = self.requests.send(request);
        Asked { answer, within }
    }
}

impl Asked {
    /// Waits for the answer.
    pub(crate) fn answer(self) -> Answer {
        let Self { answer, within } = self;
        answer_of(&answer, within).unwrap_or_else(|| Err(silent(within)))
    }
}

/// What comes out of `channel` within this time.
fn answer_of<T>(
    channel: &Receiver<Result<T, String>>,
    within: Duration,
) -> Option<Result<T, String>> {
    stall_tolerant::wait(within, |step| answer_in(channel, step))
}

fn answer_in<T>(
    channel: &Receiver<Result<T, String>>,
    step: Duration,
) -> Option<Result<T, String>> {
    match channel.recv_timeout(step) {
        Ok(answer) => Some(answer),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Err(gone())),
    }
}

fn gone() -> String {
    "the writer thread is gone".into()
}

fn silent(within: Duration) -> String {
    format!("the writer did not answer within {} ms", within.as_millis())
}

fn run(
    agent: &'static Agent,
    live: &'static Live,
    options: &Options,
    shared: Shared,
    inbox: &Receiver<Request>,
    ready: &SyncSender<Result<(), String>>,
    snapshots: SnapshotSource,
) {
    os_thread::block_file_size_signal();
    let Some(jni) = agent.vm.attach_daemon(c"ctxagent writer") else {
        let _ = ready.send(Err("the writer thread cannot attach to the JVM".into()));
        return;
    };
    let mut home = Home::default();
    let made = files::next(options, &mut home, Purpose::Start).and_then(|file| {
        // Nobody may wait any more: what had the name stays.
        if matches!(inbox.try_recv(), Err(TryRecvError::Disconnected)) {
            return Err(gone());
        }
        Pipeline::new(agent, live, jni, options, file, home, shared, snapshots)
    });
    match made {
        Ok(mut pipeline) => {
            let _ended = live.threads.read_ended();
            // Nobody may wait any more. Then nobody has requests either, and the work ends at once, with an empty recording.
            let _ = ready.send(Ok(()));
            work(&mut pipeline, options, inbox);
            pipeline.forget_ended();
        }
        Err(refusal) => {
            let _ = ready.send(Err(refusal));
        }
    }
    agent.vm.detach();
}

/// Drains until told to finish.
fn work(pipeline: &mut Pipeline, options: &Options, inbox: &Receiver<Request>) {
    let now = Instant::now();
    let (mut last_flush, mut last_look, mut last_all) = (now, now, now);
    let mut first_flush = None;
    loop {
        let request = match inbox.recv_timeout(DRAIN_PERIOD) {
            Ok(request) => Some(request),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                if let Err(line) = pipeline.finish() {
                    log::warn_rarely(&line);
                }
                return;
            }
        };
        // A crash in the first second leaves samples too.
        let first_is_due = first_flush.is_some_and(|due| last_flush < due && Instant::now() >= due);
        let flush = last_flush.elapsed() >= options.flush || first_is_due;
        let slots = if flush || request.is_some() || last_all.elapsed() >= ALL_PERIOD {
            last_all = Instant::now();
            Slots::All
        } else {
            Slots::Tried
        };
        pipeline.drain(slots);
        if first_flush.is_none() && pipeline.has_samples() {
            first_flush = Some(Instant::now() + FIRST_FLUSH);
        }
        pipeline.watch_walker();
        pipeline.watch_memory();
        if last_look.elapsed() >= LOOK_PERIOD {
            pipeline.look_around(options);
            last_look = Instant::now();
        }
        if flush {
            pipeline.flush_or_rotate(options);
            last_flush = Instant::now();
        }
        let Some(Request { command, answer }) = request else {
            continue;
        };
        let finish = matches!(command, Command::Finish);
        let told = |result: Result<(), String>| result.inspect_err(|line| log::warn_rarely(line));
        // First: the answer names the file that there is.
        let followed = pipeline.follow_file(options);
        let result = match command {
            Command::Flush => told(followed.and_then(|()| pipeline.flush_with_figures()))
                .map(|()| pipeline.shared.path()),
            // A file that is refused is the matter of who named it.
            Command::Dump(options) => files::next(&options, &mut Home::default(), Purpose::Dump)
                .and_then(|file| {
                    told(pipeline.dump(file.storage))?;
                    if let Some(number) = file.number {
                        number.used();
                    }
                    Ok(file.path)
                }),
            Command::Finish => {
                told(pipeline.finish().and(followed)).map(|()| pipeline.shared.path())
            }
        };
        let _ = answer.send(result);
        if finish {
            return;
        }
    }
}
