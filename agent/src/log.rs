//! All messages of the agent: lines on the JVM's standard error, or in the file of `log=`, each
//! with a prefix that names the agent.
//!
//! A thread of the log opens the file and writes, from the first line on. A caller only queues a
//! line: a disk that hangs, or a pipe without a reader, blocks no application thread and no lock of
//! the agent. A caller that is about to reply or to exit calls [`settle`].

mod lines;

use self::lines::{LogQueue, Message};
use crate::options::{Log, LogLevel, Options};
use crate::os::agent_thread::{self, BlockedSignals};
use crate::output::{self, PatternValues};
use crate::panics;
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How long [`settle`] waits.
const SETTLE: Duration = Duration::from_millis(500);

static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Notice as u8);
static QUEUE: LogQueue = LogQueue::new();
/// `None` = standard error. Locked by the thread that writes.
static SINK: Mutex<Option<File>> = Mutex::new(None);
/// Whether [`configure`] waits for the file: then it returns the failure to its caller.
static CALLER_WAITS: AtomicBool = AtomicBool::new(false);
/// Why the file of the last `log` was not opened.
static REFUSED: Mutex<Option<String>> = Mutex::new(None);

/// Applies `log` and `loglevel` of a load, or of a command that has them. A file that cannot be
/// opened is an error and changes nothing; if the disk does not answer in time, only the log's own
/// thread waits on.
pub(crate) fn configure(options: &Options, given: impl Fn(&str) -> bool) -> Result<(), String> {
    if given("log") {
        CALLER_WAITS.store(true, Relaxed);
        queue(Message::To(match &options.log {
            Log::Stderr => None,
            Log::File(pattern) => Some(pattern.expand(&facts(0))),
        }));
        settle();
        CALLER_WAITS.store(false, Relaxed);
        if let Some(why) = refused().take() {
            return Err(why);
        }
    }
    if given("loglevel") {
        LEVEL.store(options.log_level as u8, Relaxed);
    }
    Ok(())
}

/// As [`configure`], at a load: after an error the agent runs on without its log file.
pub(crate) fn configure_load(options: &Options) {
    LEVEL.store(options.log_level as u8, Relaxed);
    if let Err(why) = configure(options, |_| true) {
        error(&format!("{why}; messages go to standard error"));
    }
}

fn refused() -> MutexGuard<'static, Option<String>> {
    REFUSED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until all queued lines are written; see [`LogQueue::settle`].
pub(crate) fn settle() {
    QUEUE.settle(SETTLE);
}

/// The values of a file pattern, for this process and this moment.
pub(crate) fn facts(number: u32) -> PatternValues {
    let unix_secs = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs());
    PatternValues {
        pid: std::process::id(),
        unix_secs,
        number,
    }
}

/// The reply to a command by attach; has no level.
pub(crate) fn answer(text: &str) {
    write(text);
}

/// What the agent does; once per start or load.
pub(crate) fn notice(line: &str) {
    at(LogLevel::Notice, "", line);
}

/// Where the recording is when the JVM ends.
pub(crate) fn info(line: &str) {
    at(LogLevel::Info, "", line);
}

/// A problem that the user should know; the agent continues.
pub(crate) fn warn(line: &str) {
    at(LogLevel::Warn, "warning: ", line);
}

/// A failure; the application continues.
pub(crate) fn error(line: &str) {
    at(LogLevel::Error, "error: ", line);
}

/// A warning that may repeat for hours: at most one a minute per process.
pub(crate) fn warn_rarely(line: &str) {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_none_or(|at| at.elapsed() >= Duration::from_mins(1)) {
        *last = Some(Instant::now());
        warn(line);
    }
}

fn at(level: LogLevel, word: &str, line: &str) {
    if level as u8 <= LEVEL.load(Relaxed) {
        write(&format!("{word}{line}"));
    }
}

fn write(text: &str) {
    let mut block = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        block.push_str("ctxagent: ");
        block.push_str(line);
        block.push('\n');
    }
    queue(Message::Text(block));
}

fn queue(message: Message) {
    if QUEUE.push(message) && !spawn() {
        QUEUE.serve_queued(handle);
    }
}

/// Starts the thread that writes; returns whether it started.
fn spawn() -> bool {
    let serve = || {
        let Err(why) = panics::catch(|| QUEUE.serve(handle));
        // No thread writes later lines.
        let line = format!("ctxagent: error: internal error in the log: {why}; it ends here\n");
        put(&mut None, &line);
    };
    agent_thread::spawn("ctxagent log", BlockedSignals::All, serve).is_ok()
}

/// Handles a message.
fn handle(message: &Message) {
    let mut sink = SINK.lock().unwrap_or_else(PoisonError::into_inner);
    match message {
        Message::Text(block) => put(&mut sink, block),
        Message::To(None) => *sink = None,
        Message::To(Some(path)) => match output::open_log(path) {
            Ok(file) => *sink = Some(file),
            Err(error) => report_refused(&mut sink, &format!("option 'log': {error}")),
        },
        Message::Lost(count) => put(
            &mut sink,
            &format!(
                "ctxagent: warning: {count} messages were lost: the log could not be written\n"
            ),
        ),
    }
}

fn report_refused(sink: &mut Option<File>, why: &str) {
    if CALLER_WAITS.load(Relaxed) {
        *refused() = Some(why.to_owned());
    } else if LogLevel::Error as u8 <= LEVEL.load(Relaxed) {
        put(
            sink,
            &format!("ctxagent: error: {why}; messages stay where they were\n"),
        );
    }
}

/// One write call per message, so that lines of other processes do not mix in. A full or closed
/// sink is ignored.
fn put(sink: &mut Option<File>, block: &str) {
    let _ = match sink {
        Some(file) => file.write_all(block.as_bytes()),
        None => std::io::stderr().write_all(block.as_bytes()),
    };
}
