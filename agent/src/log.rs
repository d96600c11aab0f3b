//! The one place where the agent speaks: a line on the JVM's standard error, prefixed so that a user knows who it was.

use std::io::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What `status` and friends print; also the answer of a command given on attach.
pub(crate) fn info(line: &str) {
    write(line);
}

/// Something the user should know; the agent goes on.
pub(crate) fn warn(line: &str) {
    write(&format!("warning: {line}"));
}

/// Something failed; the application goes on.
pub(crate) fn error(line: &str) {
    write(&format!("error: {line}"));
}

/// A warning that may repeat for hours: at most one a minute per process.
pub(crate) fn warn_rarely(line: &str) {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if last.is_none_or(|at| at.elapsed() >= Duration::from_secs(60)) {
        *last = Some(Instant::now());
        warn(line);
    }
}

fn write(text: &str) {
    let mut block = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        block.push_str("ctxagent: ");
        block.push_str(line);
        block.push('\n');
    }
    // One write call per message, so that lines of other threads do not mix in. A closed standard error is no failure of ours.
    let _ = std::io::stderr().write_all(block.as_bytes());
}
