//! The answer to `status` as lines for a person, as JSON, and as metrics.
//!
//! `docs/user-guide/options.md` names every field and metric.

use super::Status;
use crate::recorder::label_cpu::ValueTime;
use schema::counter::{Class, Counter};
use std::fmt::Write;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Status {
    /// Lines of name and value. Text of users is escaped: it may go to a terminal.
    pub(super) fn text(&self) -> String {
        let mut text = format!("ctxagent {VERSION} on {}\nstate: {}\n", self.vm, self.state);
        if let Some(file) = &self.file {
            let _ = writeln!(text, "file: {}", file.escape_debug());
        }
        if let Some(left) = self.time_left {
            let _ = writeln!(text, "ends in: {} s (timeout)", left.as_secs());
        }
        let names: Vec<_> = self
            .attributes
            .iter()
            .map(|name| name.escape_debug().to_string())
            .collect();
        let names = match names.as_slice() {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        let _ = writeln!(text, "attributes: {names}");
        for (name, value) in &self.lines {
            let _ = writeln!(text, "{name}: {value}");
        }
        for (counter, value) in &self.counters {
            let _ = writeln!(text, "{}: {value}", counter.name());
        }
        text
    }

    /// One object.
    pub(super) fn json(&self) -> String {
        let file = self.file.as_deref().map_or("null".to_owned(), quoted);
        let left = self.time_left;
        let left = left.map_or("null".to_owned(), |left| left.as_secs().to_string());
        let attributes = self.attributes.iter().map(|name| quoted(name));
        let lines = self
            .lines
            .iter()
            .map(|(name, text)| format!("{{\"name\":{},\"text\":{}}}", quoted(name), quoted(text)));
        let counters = self
            .counters
            .iter()
            .map(|(counter, value)| format!("{}:{value}", quoted(counter.name())));
        format!(
            "{{\"schema\":\"ctxagent.status.1\",\"version\":{},\"vm\":{},\"state\":{},\
             \"file\":{file},\"ends_in_s\":{left},\"attributes\":[{}],\"lines\":[{}],\
             \"counters\":{{{}}}}}\n",
            quoted(VERSION),
            quoted(&self.vm),
            quoted(&self.state),
            joined(attributes),
            joined(lines),
            joined(counters),
        )
    }

    /// Metrics, those that are zero too: their names are the same at every scrape.
    pub(super) fn prometheus(&self) -> String {
        let mut text = format!(
            "# TYPE ctxagent_info gauge\nctxagent_info{{version={},vm={}}} 1\n\
             # TYPE ctxagent_recording gauge\nctxagent_recording {}\n",
            quoted(VERSION),
            quoted(&self.vm),
            u8::from(self.file.is_some()),
        );
        for counter in Counter::ALL {
            let known = self.counters.iter().find(|(other, _)| other == counter);
            let value = known.map_or(0, |(_, value)| *value);
            let name = counter.name().replace('.', "_");
            let (kind, end) = match counter.class() {
                Class::Gauge => ("gauge", ""),
                Class::Recording | Class::Process => ("counter", "_total"),
            };
            let _ = writeln!(
                text,
                "# TYPE ctxagent_{name}{end} {kind}\nctxagent_{name}{end} {value}"
            );
        }
        text.push_str("# TYPE ctxagent_label_cpu_seconds_total counter\n");
        for (name, times) in self.attributes.iter().zip(self.label_cpu.by_slot()) {
            for ValueTime { value, nanos, .. } in times {
                // Others of the escapes of JSON are unknown there.
                let value = value.replace(char::is_control, "\u{fffd}");
                let _ = writeln!(
                    text,
                    "ctxagent_label_cpu_seconds_total{{attribute=\"{name}\",value={}}} {}.{:09}",
                    quoted(&value),
                    nanos / NANOS_PER_SECOND,
                    nanos % NANOS_PER_SECOND,
                );
            }
        }
        text
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(",")
}

/// A string of JSON, which a label of Prometheus can be too: a VM's name has no control character.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::label_cpu::LabelCpu;
    use std::time::Duration;

    fn recording() -> Status {
        Status {
            vm: "VM 27".to_owned(),
            state: "recording".to_owned(),
            file: Some("/tmp/o'neil \u{1b}\"x\".jfr".to_owned()),
            time_left: Some(Duration::from_secs(9)),
            attributes: vec!["tenant".into(), "route".into()],
            lines: vec![("engine".to_owned(), "percpu".to_owned())],
            counters: vec![(Counter::LostNoSlot, 3)],
            label_cpu: LabelCpu::of(1, "/a\n\"b\\", 1_230_000_000),
        }
    }

    #[test]
    fn text_is_escaped_and_json_keeps_names_as_they_are() {
        assert_eq!(
            recording().text(),
            format!(
                "ctxagent {VERSION} on VM 27\nstate: recording\n\
                 file: /tmp/o\\'neil \\u{{1b}}\\\"x\\\".jfr\nends in: 9 s (timeout)\n\
                 attributes: tenant, route\nengine: percpu\nlost.no_slot: 3\n"
            )
        );
        assert_eq!(
            recording().json(),
            format!(
                "{{\"schema\":\"ctxagent.status.1\",\"version\":\"{VERSION}\",\"vm\":\"VM 27\",\
                 \"state\":\"recording\",\"file\":\"/tmp/o'neil \\u001b\\\"x\\\".jfr\",\
                 \"ends_in_s\":9,\"attributes\":[\"tenant\",\"route\"],\
                 \"lines\":[{{\"name\":\"engine\",\"text\":\"percpu\"}}],\
                 \"counters\":{{\"lost.no_slot\":3}}}}\n"
            )
        );
    }

    #[test]
    fn idle_agent_has_no_file_and_every_metric() {
        let idle = Status::default();
        assert!(idle.text().contains("attributes: none\n"));
        assert!(idle.json().contains("\"file\":null,\"ends_in_s\":null,"));
        let metrics = idle.prometheus();
        assert!(metrics.contains("\nctxagent_recording 0\n"));
        for (counter, metric) in [
            (Counter::LostNoSlot, "ctxagent_lost_no_slot_total 0"),
            (Counter::Signals, "ctxagent_signals_total 0"),
        ] {
            assert!(metrics.contains(metric), "{}", counter.name());
        }
        let samples = metrics.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(samples.count(), Counter::COUNT + 2);
        assert!(
            recording()
                .prometheus()
                .contains("ctxagent_lost_no_slot_total 3\n")
        );
    }

    #[test]
    fn labels_are_a_metric_with_attribute_and_value() {
        let metrics = recording().prometheus();
        assert!(metrics.ends_with(
            "# TYPE ctxagent_label_cpu_seconds_total counter\n\
             ctxagent_label_cpu_seconds_total{attribute=\"route\",\
             value=\"/a\u{fffd}\\\"b\\\\\"} 1.230000000\n"
        ));
    }
}
