//! The writer thread and its handle. Commands reach the thread through a channel; it answers each
//! one, and the caller waits with a stall-tolerant timeout.

use super::files::{self, Purpose, RecordingDir};
use super::intake::Slots;
use super::pipeline::Pipeline;
use super::sources::{Housekeeping, RecordingStatus, Sources};
use crate::guard::{OnFailure, enter};
use crate::log;
use crate::options::Options;
use crate::os::agent_thread::{self, BlockedSignals};
use crate::os::thread::block_file_size_signal;
use crate::os::{stall_tolerant, tasks};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Shortest time between two polls of the slots: 1024 slots then last for 50 000 samples a second.
const MIN_POLL_PERIOD: Duration = Duration::from_millis(20);
/// Time between two polls while samples come. The names of the methods of a sample are read after
/// it, while their class is there.
const POLL_PERIOD: Duration = Duration::from_millis(50);
/// Longest time: each poll costs the wake-up of a thread.
const IDLE_POLL_PERIOD: Duration = Duration::from_millis(200);
/// Samples that may come between two polls: half of the slots.
const MAX_SAMPLES_PER_POLL: u32 = 512;
/// Time between two polls of all slots. It bounds when an ended thread is forgotten, and when a
/// sample in a slot claimed late is found.
const ALL_PERIOD: Duration = Duration::from_millis(100);
/// Time between two runs of the housekeeping, independent of `flush`.
const HOUSEKEEPING_PERIOD: Duration = Duration::from_secs(1);
/// Time from the first sample of a recording to its first flush, independent of `flush`.
const FIRST_FLUSH: Duration = Duration::from_millis(100);
/// How long a start, and with it the JVM's main thread, waits for the file.
const START: Duration = Duration::from_secs(10);

enum Command {
    Flush,
    /// Create the file of the options first.
    Dump(Box<Options>),
    Finish,
}

/// The file of the command.
type Reply = Result<PathBuf, String>;

struct Request {
    command: Command,
    reply: SyncSender<Reply>,
}

/// The writer thread of a recording.
#[derive(Debug)]
pub(crate) struct Writer {
    requests: Sender<Request>,
    thread: JoinHandle<()>,
    /// Closed when the thread has left slots, file and JVM.
    ended: Receiver<Infallible>,
    status: Arc<RecordingStatus>,
}

/// A pending request.
#[derive(Debug)]
#[must_use]
pub(crate) struct PendingReply {
    reply: Receiver<Reply>,
    within: Duration,
}

/// Held by a writer thread until it has left slots and file.
pub(crate) type WriterLease = Arc<()>;

impl Writer {
    /// Starts the thread; returns when the file is a readable recording. A thread that is too late
    /// is abandoned: it ends when its disk responds.
    pub(crate) fn spawn(
        sources: Sources,
        options: &Options,
        lease: WriterLease,
        status: Arc<RecordingStatus>,
        housekeeping: Box<dyn Housekeeping>,
    ) -> Result<Self, String> {
        let (requests, inbox) = mpsc::channel();
        let (ready, is_ready) = mpsc::sync_channel(1);
        let (until_its_end, ended) = mpsc::channel();
        let (options, shown) = (options.clone(), status.clone());
        let blocked = BlockedSignals::WallClock(options.signal.number());
        let body = move || {
            enter(
                OnFailure::DisableAgent,
                "thread 'ctxagent writer'",
                (),
                || {
                    run(sources, &options, shown, housekeeping, &inbox, &ready);
                },
            );
            drop(lease);
            drop(until_its_end);
        };
        let thread = agent_thread::spawn("ctxagent writer", blocked, body)
            .map_err(|error| format!("no thread for the writer: {error}"))?;
        match reply_of(&is_ready, START) {
            Some(Ok(())) => Ok(Self {
                requests,
                thread,
                ended,
                status,
            }),
            Some(Err(why)) => {
                let _ = thread.join(); // it has replied: only its detach remains
                Err(why)
            }
            None => Err(format!(
                "the file could not be made within {} s, its disk hangs",
                START.as_secs()
            )),
        }
    }

    /// The shared state of the recording.
    pub(crate) fn status(&self) -> &Arc<RecordingStatus> {
        &self.status
    }

    /// Writes everything so far into the file.
    pub(crate) fn flush(&self) -> PendingReply {
        self.send(Command::Flush, Duration::from_secs(30))
    }

    /// Copies everything so far into another file, the next one of `options`.
    pub(crate) fn dump(&self, options: &Options) -> PendingReply {
        let command = Command::Dump(Box::new(options.clone()));
        self.send(command, Duration::from_mins(1))
    }

    /// Takes the last samples, finishes the file, ends the thread. After `within` the thread is
    /// abandoned, even if its reply came before: a disk may hang in the close of the file.
    pub(crate) fn finish(self, within: Duration) -> Reply {
        let pending = self.send(Command::Finish, within);
        let mut reply = None;
        let ended = stall_tolerant::wait(within, |step| {
            if reply.is_none() {
                reply = reply_in(&pending.reply, step);
                return None;
            }
            // It still forgets ended threads, closes the file and detaches.
            let waited = self.ended.recv_timeout(step);
            matches!(waited, Err(RecvTimeoutError::Disconnected)).then_some(())
        });
        if ended.is_some() {
            let _ = self.thread.join(); // it has released everything
        }
        reply.unwrap_or_else(|| Err(silent(within)))
    }

    /// Never waits. If the thread is gone, it drops the request, which is the reply.
    fn send(&self, command: Command, within: Duration) -> PendingReply {
        let (sender, reply) = mpsc::sync_channel(1);
        let request = Request {
            command,
            reply: sender,
        };
        let _ = self.requests.send(request);
        PendingReply { reply, within }
    }
}

impl PendingReply {
    /// Waits for the reply.
    pub(crate) fn wait(self) -> Reply {
        let Self { reply, within } = self;
        reply_of(&reply, within).unwrap_or_else(|| Err(silent(within)))
    }
}

/// Receives from `channel` within this time.
fn reply_of<T>(
    channel: &Receiver<Result<T, String>>,
    within: Duration,
) -> Option<Result<T, String>> {
    stall_tolerant::wait(within, |step| reply_in(channel, step))
}

fn reply_in<T>(channel: &Receiver<Result<T, String>>, step: Duration) -> Option<Result<T, String>> {
    match channel.recv_timeout(step) {
        Ok(reply) => Some(reply),
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
    sources: Sources,
    options: &Options,
    status: Arc<RecordingStatus>,
    mut housekeeping: Box<dyn Housekeeping>,
    inbox: &Receiver<Request>,
    ready: &SyncSender<Result<(), String>>,
) {
    let (vm, threads) = (sources.vm, sources.threads);
    block_file_size_signal();
    let Some(jni) = vm.attach_daemon(c"ctxagent writer") else {
        let _ = ready.send(Err("the writer thread cannot attach to the JVM".into()));
        return;
    };
    let mut directory = RecordingDir::default();
    let made = files::next(options, &mut directory, Purpose::Start).and_then(|file| {
        // The caller may have timed out: then an older file of this name stays.
        if matches!(inbox.try_recv(), Err(TryRecvError::Disconnected)) {
            return Err(gone());
        }
        Pipeline::new(sources, jni, options, file, directory, status)
    });
    match made {
        Ok(mut pipeline) => {
            let _ended = threads.read_ended();
            // The caller may have timed out. Then no requests come either, and the work ends at
            // once, with an empty recording.
            let _ = ready.send(Ok(()));
            work(&mut pipeline, housekeeping.as_mut(), options, inbox);
            pipeline.forget_ended();
        }
        Err(refusal) => {
            let _ = ready.send(Err(refusal));
        }
    }
    vm.detach();
}

/// When the slots are polled.
#[derive(Debug)]
struct Polls {
    period: Duration,
    /// While samples come, and while none come.
    range: (Duration, Duration),
}

impl Polls {
    /// Only the rate of CPU samples has a limit.
    fn new(options: &Options, cpus: usize) -> Self {
        let has_bursts = options.wall.is_some()
            || options.alloc_bytes.is_some()
            || options.lock.is_some()
            || options.park.is_some()
            || options.exceptions;
        let cpus = u32::try_from(cpus).unwrap_or(u32::MAX).max(1);
        let fills = if has_bursts {
            MIN_POLL_PERIOD
        } else {
            options.interval.saturating_mul(MAX_SAMPLES_PER_POLL) / cpus
        };
        // Else a flush would come late by a good part of its interval.
        let fills = fills.min(options.flush / 4);
        let bounded = |longest| fills.clamp(MIN_POLL_PERIOD, longest);
        Self {
            period: bounded(POLL_PERIOD),
            range: (bounded(POLL_PERIOD), bounded(IDLE_POLL_PERIOD)),
        }
    }

    /// Called after each poll.
    fn follow(&mut self, had_samples: bool) {
        let (shortest, longest) = self.range;
        self.period = if had_samples {
            shortest
        } else {
            (self.period * 2).min(longest)
        };
    }
}

/// Writes until the request to finish.
fn work(
    pipeline: &mut Pipeline,
    housekeeping: &mut dyn Housekeeping,
    options: &Options,
    inbox: &Receiver<Request>,
) {
    let now = Instant::now();
    let (mut last_flush, mut last_housekeeping, mut last_all) = (now, now, now);
    let mut first_flush = None;
    let mut polls = Polls::new(options, tasks::processors());
    pipeline.note_clock();
    loop {
        let request = match inbox.recv_timeout(polls.period) {
            Ok(request) => Some(request),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                if let Err(line) = pipeline.finish() {
                    log::warn_rarely(&line);
                }
                return;
            }
        };
        // A crash in the first second leaves samples, too.
        let first_is_due = first_flush.is_some_and(|due| last_flush < due && Instant::now() >= due);
        let flush = last_flush.elapsed() >= options.flush || first_is_due;
        let slots = if flush || request.is_some() || last_all.elapsed() >= ALL_PERIOD {
            last_all = Instant::now();
            Slots::All
        } else {
            Slots::Tried
        };
        polls.follow(pipeline.drain(slots));
        if first_flush.is_none() && pipeline.has_samples() {
            first_flush = Some(Instant::now() + FIRST_FLUSH);
        }
        housekeeping.poll_tick();
        pipeline.watch_memory();
        if last_housekeeping.elapsed() >= HOUSEKEEPING_PERIOD {
            pipeline.refresh();
            pipeline.note_clock();
            housekeeping.run(pipeline.jni());
            last_housekeeping = Instant::now();
        }
        if flush {
            pipeline.flush_or_rotate();
            last_flush = Instant::now();
        }
        let Some(Request { command, reply }) = request else {
            continue;
        };
        let finish = matches!(command, Command::Finish);
        let log_failure =
            |result: Result<(), String>| result.inspect_err(|line| log::warn_rarely(line));
        // First: the reply names the current file.
        let followed = pipeline.follow_file();
        let result = match command {
            Command::Flush => log_failure(followed.and_then(|()| pipeline.flush_with_counters()))
                .map(|()| pipeline.status().path()),
            // The caller named the file, so it handles a refusal.
            Command::Dump(options) => {
                files::next(&options, &mut RecordingDir::default(), Purpose::Dump).and_then(
                    |file| {
                        log_failure(pipeline.dump(file.storage))?;
                        if let Some(number) = file.number {
                            number.confirm();
                        }
                        Ok(file.path)
                    },
                )
            }
            Command::Finish => {
                log_failure(pipeline.finish().and(followed)).map(|()| pipeline.status().path())
            }
        };
        let _ = reply.send(result);
        if finish {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_are_rare_unless_slots_could_fill() {
        let mut options = Options::default();
        let range = |options: &Options, cpus| Polls::new(options, cpus).range;
        assert_eq!(range(&options, 2), (POLL_PERIOD, IDLE_POLL_PERIOD));
        options.interval = Duration::from_millis(1);
        assert_eq!(range(&options, 2), (POLL_PERIOD, IDLE_POLL_PERIOD));
        options.flush = Duration::from_millis(100);
        let quarter = Duration::from_millis(25);
        assert_eq!(range(&options, 2), (quarter, quarter));
        options.flush = Duration::from_secs(1);
        let filled = Duration::from_millis(32);
        assert_eq!(range(&options, 16), (filled, filled));
        assert_eq!(range(&options, 256), (MIN_POLL_PERIOD, MIN_POLL_PERIOD));
        options.interval = Duration::from_millis(10);
        options.wall = Some(Duration::from_millis(50));
        assert_eq!(range(&options, 2), (MIN_POLL_PERIOD, MIN_POLL_PERIOD));
    }

    #[test]
    fn polls_become_rare_while_no_samples_come() {
        let mut polls = Polls::new(&Options::default(), 2);
        let mut after = |had_samples| {
            polls.follow(had_samples);
            polls.period.as_millis()
        };
        assert_eq!([after(false), after(false), after(false)], [100, 200, 200]);
        assert_eq!([after(true), after(true)], [50, 50]);
    }
}
