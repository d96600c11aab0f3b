//! What the command `status` answers: gathered here, written by [`formats`].

mod formats;

use crate::class_hooks::class_cache;
use crate::guard;
use crate::jdk_events;
use crate::jvm::exact_inlining;
use crate::labels;
use crate::metrics::Snapshot;
use crate::network;
use crate::options::StatusFormat;
use crate::propagation;
use crate::recorder::label_cpu::LabelCpu;
use crate::session::{Description, Session, api_copies, jdk_recording};
use schema::counter::Counter;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// The state of the agent, and of its current or last recording.
#[derive(Debug, Default)]
pub(crate) struct Status {
    /// Name and version of the VM.
    vm: String,
    state: String,
    /// The file that is being written.
    file: Option<String>,
    time_left: Option<Duration>,
    attributes: Vec<Arc<str>>,
    /// Name and text of what else there is to say.
    lines: Vec<(String, String)>,
    /// Those that are not zero.
    counters: Vec<(Counter, u64)>,
    /// The CPU time of each label.
    label_cpu: LabelCpu,
}

impl Status {
    pub(crate) fn of(session: &Session) -> Self {
        let components = &session.components;
        let description = session.describe();
        let mut lines = vec![
            line("virtual threads", components.virtual_threads.description()),
            line("inlining", exact_inlining::description()),
        ];
        lines.extend(sampling(&description));
        lines.extend(
            api_copies::status()
                .into_iter()
                .map(|text| line("java api", text)),
        );
        let jni = components.vm.env();
        let sources = propagation::status(jni)
            .into_iter()
            .chain(class_cache::status())
            .chain(labels::status(jni))
            .chain(network::status())
            .chain(jdk_events::status())
            .chain(jdk_recording::status());
        lines.extend(sources.map(|text| {
            let (name, text) = text.split_once(": ").unwrap_or(("", &text));
            line(name, text)
        }));
        let counters = description.counters.iter();
        let counters: Vec<_> = counters.filter(|(_, value)| *value != 0).collect();
        let is_early = |(counter, _): &(Counter, u64)| *counter == Counter::ApiMadeBeforeAgent;
        if counters.iter().any(is_early) {
            let text = "builders made before the agent was loaded have no effect";
            lines.push(line("java api", text));
        }
        Self {
            vm: format!(
                "{} {}",
                components.identity.name, components.identity.version
            ),
            state: if guard::is_disabled() {
                "off (internal error)".to_owned()
            } else {
                description.state
            },
            file: description.file.map(|file| file.display().to_string()),
            time_left: description.time_left,
            attributes: components.registry.names_from(0),
            lines,
            counters,
            label_cpu: description.label_cpu,
        }
    }

    /// The answer to the command.
    pub(crate) fn written(&self, format: StatusFormat) -> String {
        match format {
            StatusFormat::Text => self.text(),
            StatusFormat::Json => self.json(),
            StatusFormat::Prometheus => self.prometheus(),
        }
    }
}

fn line(name: &str, text: impl Into<String>) -> (String, String) {
    (name.to_owned(), text.into())
}

/// How the recording takes samples.
fn sampling(description: &Description) -> Vec<(String, String)> {
    let walker = &description.walker;
    let interval = description.interval;
    let interval = interval.map(|asked| intervals(asked, &description.counters));
    let parts = [
        ("walker", (!walker.is_empty()).then(|| walker.clone())),
        ("engine", description.engine.map(str::to_owned)),
        ("interval", interval),
        ("rate limit", description.ratios.clone()),
    ];
    let parts = parts.into_iter();
    parts
        .filter_map(|(name, text)| Some(line(name, text?)))
        .collect()
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
