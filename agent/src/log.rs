//! The one place where the agent speaks: lines on the JVM's standard error, or in the file of `log=`, each with a prefix so that a user knows who
//! it was.

use crate::options::{Log, LogLevel, Options};
use crate::output::{self, Facts};
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Warn as u8);
/// `None` = standard error.
static SINK: Mutex<Option<File>> = Mutex::new(None);

/// Takes `log` and `loglevel` from the options of a load or of a command that gives them; they hold from then on.
pub(crate) fn configure(options: &Options, given: impl Fn(&str) -> bool) {
    if given("loglevel") {
        LEVEL.store(options.log_level as u8, Relaxed);
    }
    if !given("log") {
        return;
    }
    let (sink, failure) = match &options.log {
        Log::Stderr => (None, None),
        Log::File(pattern) => match output::open_log(&pattern.expand(&facts(0))) {
            Ok(file) => (Some(file), None),
            Err(error) => (None, Some(error)),
        },
    };
    *SINK.lock().unwrap_or_else(PoisonError::into_inner) = sink;
    if let Some(error) = failure {
        self::error(&format!("{error}; messages go to standard error"));
    }
}

/// This process and this moment, for a file pattern.
pub(crate) fn facts(number: u32) -> Facts {
    let unix_secs = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs());
    Facts {
        pid: std::process::id(),
        unix_secs,
        number,
    }
}

/// What a command given on attach answers; always said.
pub(crate) fn answer(text: &str) {
    write(text);
}

/// Start, stop, files.
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
    // One write call per message, so that lines of other threads do not mix in. A full or closed sink is no failure of ours.
    let _ = match &mut *SINK.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(file) => file.write_all(block.as_bytes()),
        None => std::io::stderr().write_all(block.as_bytes()),
    };
}
