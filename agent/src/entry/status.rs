//! The text of the command `status`.

use crate::guard;
use crate::session::{Session, api_copies};
use std::fmt::Write;

/// Lines for the user: state, file, source of virtual thread ids, and the counters that are not
/// zero, of the current or last recording.
pub(crate) fn text(session: &Session) -> String {
    let components = &session.components;
    let session = session.describe();
    let mut text = String::new();
    let state = if guard::is_disabled() {
        "off (internal error)"
    } else {
        &session.state
    };
    let _ = writeln!(
        text,
        "ctxagent {} on {} {}",
        env!("CARGO_PKG_VERSION"),
        components.identity.name,
        components.identity.version
    );
    let _ = writeln!(text, "state: {state}");
    if let Some(file) = &session.file {
        let _ = writeln!(text, "file: {}", file.display().to_string().escape_debug());
    }
    if let Some(left) = session.time_left {
        let _ = writeln!(text, "ends in: {} s (timeout)", left.as_secs());
    }
    let _ = writeln!(
        text,
        "virtual threads: {}",
        components.virtual_threads.description()
    );
    if !session.walker.is_empty() {
        let _ = writeln!(text, "walker: {}", session.walker);
    }
    if let Some(engine) = session.engine {
        let _ = writeln!(text, "engine: {engine}");
    }
    if let Some(ratios) = session.ratios {
        let _ = writeln!(text, "rate limit: {ratios}");
    }
    let names: Vec<String> = components
        .registry
        .names_from(0)
        .iter()
        .map(|n| n.escape_debug().to_string())
        .collect();
    let _ = writeln!(
        text,
        "attributes: {}",
        if names.is_empty() {
            "none".into()
        } else {
            names.join(", ")
        }
    );
    for line in api_copies::status() {
        let _ = writeln!(text, "java api: {line}");
    }
    for (counter, value) in session.counters.iter() {
        if value != 0 {
            let _ = writeln!(text, "{}: {value}", counter.name());
        }
    }
    text
}
