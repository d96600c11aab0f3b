//! The writer thread: takes samples out of the slots, names what they refer to, hands them to `jfr-format`.
//!
//! It is the only consumer of the slots and the only writer of the file. Commands reach it through a channel; it answers each one.

pub(crate) mod contexts;
mod environment;
pub(crate) mod files;
mod names;
#[cfg(feature = "oracle")]
mod oracle;
mod pipeline;
mod redactions;
mod seen;
mod sweeper;
pub(crate) mod thinning;
mod unwritten;
mod wall;

use crate::agent::{Agent, Live};
use crate::boundary::{OnFailure, enter};
use crate::jvm::threads;
use crate::log;
use crate::options::Options;
use crate::os::thread::SignalBlocked;
use crate::patience;
use crate::stats::WriterCounters;
use files::NewFile;
use pipeline::{Pipeline, Slots};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thinning::Lengths;

/// Time between two looks at the slots: names are resolved this soon, and 1024 slots last for 50 000 samples a second.
const DRAIN_PERIOD: Duration = Duration::from_millis(20);
/// Time between two looks at the rest of the process (native threads, leaked blocks, the signal's owner), whatever `flush` says.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

enum Command {
    Flush,
    Dump(NewFile),
    Finish,
}

struct Request {
    command: Command,
    answer: SyncSender<Result<(), String>>,
}

/// The writer thread of a recording.
#[derive(Debug)]
pub(crate) struct Writer {
    requests: Sender<Request>,
    thread: JoinHandle<()>,
    shared: Shared,
}

/// What the thread tells the rest of the agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared {
    /// Its counters.
    pub(crate) counters: Arc<WriterCounters>,
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
    /// Starts the thread; returns when the file is a readable recording.
    pub(crate) fn spawn(
        agent: &'static Agent,
        live: &'static Live,
        options: &Options,
        file: NewFile,
    ) -> Result<Self, String> {
        let (requests, inbox) = mpsc::channel();
        let (ready, is_ready) = mpsc::sync_channel(1);
        let shared = Shared::default();
        let (options, told) = (options.clone(), shared.clone());
        let body = move || {
            enter(OnFailure::DisableAgent, "writer thread", (), || {
                run(agent, live, &options, file, told, &inbox, &ready);
            });
        };
        let thread = std::thread::Builder::new()
            .name("ctxagent writer".into())
            .spawn(body)
            .map_err(|error| format!("no thread for the writer: {error}"))?;
        is_ready
            .recv()
            .map_err(|_| "the writer thread ended at once".to_owned())??;
        Ok(Self {
            requests,
            thread,
            shared,
        })
    }

    /// What the thread tells.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Brings everything so far into the file.
    pub(crate) fn flush(&self) -> Result<(), String> {
        self.ask(Command::Flush, Duration::from_secs(30))
    }

    /// Copies everything so far into another file.
    pub(crate) fn dump(&self, file: NewFile) -> Result<(), String> {
        self.ask(Command::Dump(file), Duration::from_mins(1))
    }

    /// Takes the last samples, finishes the file, ends the thread. After `within` the thread is left to itself.
    pub(crate) fn finish(self, within: Duration) -> Result<(), String> {
        let answer = self.ask(Command::Finish, within);
        if answer.is_ok() {
            let _ = self.thread.join(); // it has answered: only its detach is left
        }
        answer
    }

    fn ask(&self, command: Command, within: Duration) -> Result<(), String> {
        let (answer, result) = mpsc::sync_channel(1);
        self.requests
            .send(Request { command, answer })
            .map_err(|_| "the writer thread is gone".to_owned())?;
        let attempt = |step| match result.recv_timeout(step) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err("the writer thread is gone".into())),
        };
        patience::wait(within, attempt).unwrap_or_else(|| {
            Err(format!(
                "the writer did not answer within {} ms",
                within.as_millis()
            ))
        })
    }
}

fn run(
    agent: &'static Agent,
    live: &'static Live,
    options: &Options,
    file: NewFile,
    shared: Shared,
    inbox: &Receiver<Request>,
    ready: &SyncSender<Result<(), String>>,
) {
    let _ours = threads::mark_as_ours();
    SignalBlocked::for_ever(options.signal.number());
    let Some(jni) = agent.vm.attach_daemon(c"ctxagent writer") else {
        let _ = ready.send(Err("the writer thread cannot attach to the JVM".into()));
        return;
    };
    let ended = live.threads.read_ended();
    match Pipeline::new(agent, live, jni, options, file, shared) {
        Ok(mut pipeline) => {
            let _ = ready.send(Ok(()));
            work(&mut pipeline, options, inbox);
            pipeline.forget_ended();
        }
        Err(refusal) => {
            let _ = ready.send(Err(refusal));
        }
    }
    drop(ended);
    agent.vm.detach();
}

/// Drains until told to finish.
fn work(pipeline: &mut Pipeline, options: &Options, inbox: &Receiver<Request>) {
    let (mut last_flush, mut last_look) = (Instant::now(), Instant::now());
    loop {
        let request = match inbox.recv_timeout(DRAIN_PERIOD) {
            Ok(request) => Some(request),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let flush = last_flush.elapsed() >= options.flush;
        let slots = if flush || request.is_some() {
            Slots::All
        } else {
            Slots::Tried
        };
        pipeline.drain(slots);
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
        let result = match command {
            Command::Flush => pipeline.flush(),
            Command::Dump(file) => {
                let dumped = pipeline.dump(file.storage);
                if dumped.is_ok() {
                    file.number.used();
                }
                dumped
            }
            Command::Finish => pipeline.finish(),
        };
        if let Err(line) = &result {
            log::warn_rarely(line);
        }
        let _ = answer.send(result);
        if finish {
            return;
        }
    }
}
