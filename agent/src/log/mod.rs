//! The one place where the agent speaks: lines on the JVM's standard error, or in the file of
//! `log=`, each with a prefix so that a user knows who it was.
//!
//! A thread of the log's own opens the file and writes, from the first line on. Whoever speaks
//! leaves a line in a queue and goes on: a disk that hangs, or a pipe that nobody reads, holds no
//! thread of the application and no lock of ours. Who is about to answer or to end says [`settle`].

mod lines;

use self::lines::{Lines, Message};
use crate::options::{Log, LogLevel, Options};
use crate::os::agent_thread::{self, BlockedSignals};
use crate::output::{self, PatternValues};
use crate::panics;
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How long what was said is waited for, by whom must not go on before.
const SETTLE: Duration = Duration::from_millis(500);

static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Notice as u8);
static LINES: Lines = Lines::new();
/// `None` = standard error. Locked by who serves the lines.
static SINK: Mutex<Option<File>> = Mutex::new(None);
/// Whether [`configure`] waits for a file to be opened: then it tells of a failure, in the answer
/// to its command.
static AWAITED: AtomicBool = AtomicBool::new(false);
/// Why the file of the last `log` could not be opened.
static REFUSED: Mutex<Option<String>> = Mutex::new(None);

/// Takes `log` and `loglevel` from the options of a load or of a command that gives them; they hold
/// from then on. A file that cannot be opened is refused and changes nothing; one whose disk does
/// not answer in time is waited for by the log's own thread only.
pub(crate) fn configure(options: &Options, given: impl Fn(&str) -> bool) -> Result<(), String> {
    if given("log") {
        AWAITED.store(true, Relaxed);
        say(Message::To(match &options.log {
            Log::Stderr => None,
            Log::File(pattern) => Some(pattern.expand(&facts(0))),
        }));
        settle();
        AWAITED.store(false, Relaxed);
        if let Some(why) = refused().take() {
            return Err(why);
        }
    }
    if given("loglevel") {
        LEVEL.store(options.log_level as u8, Relaxed);
    }
    Ok(())
}

/// The same at a load, which goes on without its log.
pub(crate) fn configure_load(options: &Options) {
    LEVEL.store(options.log_level as u8, Relaxed);
    if let Err(why) = configure(options, |_| true) {
        error(&format!("{why}; messages go to standard error"));
    }
}

fn refused() -> MutexGuard<'static, Option<String>> {
    REFUSED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until all that was said is out, with patience: see [`Lines::settle`].
pub(crate) fn settle() {
    LINES.settle(SETTLE);
}

/// This process and this moment, for a file pattern.
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

/// What a command given on attach answers; always said.
pub(crate) fn answer(text: &str) {
    write(text);
}

/// What the agent does; once per start or load.
pub(crate) fn notice(line: &str) {
    at(LogLevel::Notice, "", line);
}

/// Where the recording is as the JVM ends.
pub(crate) fn info(line: &str) {
    at(LogLevel::Info, "", line);
}

/// Something the user should know; the agent goes on.
pub(crate) fn warn(line: &str) {
    at(LogLevel::Warn, "warning: ", line);
}

/// Something failed; the application goes on.
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
    say(Message::Text(block));
}

fn say(message: Message) {
    if LINES.push(message) && !spawn() {
        LINES.serve_waiting(take);
    }
}

/// Starts the thread that takes what was said; whether it could be had.
fn spawn() -> bool {
    let serve = || {
        let Err(why) = panics::catch(|| LINES.serve(take));
        // Nobody writes what is said from now on.
        let line = format!("ctxagent: error: internal error in the log: {why}; it ends here\n");
        put(&mut None, &line);
    };
    agent_thread::spawn("ctxagent log", BlockedSignals::All, serve).is_ok()
}

/// Does what a message says.
fn take(message: &Message) {
    let mut sink = SINK.lock().unwrap_or_else(PoisonError::into_inner);
    match message {
        Message::Text(block) => put(&mut sink, block),
        Message::To(None) => *sink = None,
        Message::To(Some(path)) => match output::open_log(path) {
            Ok(file) => *sink = Some(file),
            Err(error) => tell_refused(&mut sink, &format!("option 'log': {error}")),
        },
        Message::Lost(count) => put(
            &mut sink,
            &format!(
                "ctxagent: warning: {count} messages were lost: the log could not be written\n"
            ),
        ),
    }
}

fn tell_refused(sink: &mut Option<File>, why: &str) {
    if AWAITED.load(Relaxed) {
        *refused() = Some(why.to_owned());
    } else if LogLevel::Error as u8 <= LEVEL.load(Relaxed) {
        put(
            sink,
            &format!("ctxagent: error: {why}; messages stay where they were\n"),
        );
    }
}

/// One write call per message, so that lines of other processes do not mix in. A full or closed
/// sink is no failure of ours.
fn put(sink: &mut Option<File>, block: &str) {
    let _ = match sink {
        Some(file) => file.write_all(block.as_bytes()),
        None => std::io::stderr().write_all(block.as_bytes()),
    };
}
