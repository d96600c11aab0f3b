//! The events of a recording and their rates, in the words of the options.

use super::kind::{SIZE_UNITS, TIME_UNITS, unit_text};
use super::parsed::Options;
use super::types::Engine;
use std::path::Path;
use std::time::Duration;

impl Options {
    /// The reply to a start, and the line on the JVM's stderr.
    pub(crate) fn start_line(&self, path: &Path, walker: &str, engine: Option<Engine>) -> String {
        // The other engine is what everybody expects.
        let engine = match engine {
            Some(Engine::Tick) => "; engine: tick",
            _ => "",
        };
        format!(
            "recording to {}: {}{}; walker: {walker}{engine}",
            path.display(),
            self.events_text(),
            self.timeout_text()
        )
    }

    /// The events with their rates, for the line at start: `cpu every 10ms, alloc every 512k`.
    pub(crate) fn events_text(&self) -> String {
        let every = |name: &str, period| format!("{name} every {}", time(period));
        let events = [
            self.cpu.then(|| {
                let synonym = self
                    .cpu_synonym
                    .map(|word| format!(" ({word} means cpu here)"));
                every("cpu", self.interval) + &synonym.unwrap_or_default()
            }),
            self.wall.map(|period| every("wall", period)),
            self.alloc_bytes
                .map(|bytes| format!("alloc every {}", unit_text(bytes, SIZE_UNITS))),
            self.lock
                .map(|shortest| format!("lock from {}", time(shortest))),
            self.park
                .map(|shortest| format!("park from {}", time(shortest))),
            self.exceptions.then(|| "exception".to_owned()),
        ];
        let events: Vec<String> = events.into_iter().flatten().collect();
        events.join(", ")
    }

    /// The `timeout`, for the line at start.
    fn timeout_text(&self) -> String {
        let text = |after| format!(", ends after {}", time(after));
        self.timeout.map(text).unwrap_or_default()
    }
}

fn time(duration: Duration) -> String {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    unit_text(nanos, TIME_UNITS)
}
