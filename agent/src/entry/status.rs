//! The text of the command `status`.

use crate::guard;
use crate::labels;
use crate::metrics::Snapshot;
use crate::propagation;
use crate::session::{Session, api_copies};
use schema::counter::Counter;
use std::fmt::Write;
use std::time::Duration;

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
    if let Some(asked) = session.interval {
        let _ = writeln!(text, "interval: {}", intervals(asked, &session.counters));
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
    let jni = components.vm.env();
    for line in propagation::status(jni)
        .into_iter()
        .chain(labels::status(jni))
    {
        let _ = writeln!(text, "{line}");
    }
    for (counter, value) in session.counters.iter() {
        if value != 0 {
            if counter == Counter::ApiMadeBeforeAgent {
                text.push_str(
                    "java api: builders made before the agent was loaded have no effect\n",
                );
            }
            let _ = writeln!(text, "{}: {value}", counter.name());
        }
    }
    text
}

/// The sampling interval that was asked for, and the one that the samples stand for on average.
fn intervals(asked: Duration, counters: &Snapshot) -> String {
    let [samples, more] = [Counter::Signals, Counter::Overruns].map(|c| counters[c]);
    let millis = |interval: Duration| interval.as_secs_f64() * 1e3;
    let mut text = format!("{} ms asked", millis(asked));
    if samples > 0 {
        #[expect(clippy::cast_precision_loss, reason = "printed with one digit")]
        let weight = (samples + more) as f64 / samples as f64;
        let _ = write!(text, ", {:.1} ms reached", millis(asked) * weight);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reached_interval_grows_with_the_weight_of_the_samples() {
        let asked = Duration::from_millis(10);
        let mut counters = Snapshot::default();
        assert_eq!(intervals(asked, &counters), "10 ms asked");
        counters.extend([(Counter::Signals, 100)]);
        assert_eq!(intervals(asked, &counters), "10 ms asked, 10.0 ms reached");
        counters.extend([(Counter::Overruns, 150)]);
        assert_eq!(intervals(asked, &counters), "10 ms asked, 25.0 ms reached");
    }
}
