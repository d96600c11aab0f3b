//! What a reader must say of a file, by the checker.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::common::checker::{self, Event, Value};

/// What a reader says: numbers by name, samples as lines, other statements.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReaderResult {
    pub(crate) counts: BTreeMap<String, i64>,
    pub(crate) samples: Vec<String>,
    pub(crate) other: Vec<String>,
}

impl ReaderResult {
    /// The statements of a reader, file by file.
    pub(crate) fn parse(text: &str) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').unwrap();
            if kind == "file" {
                all.push(Self::default());
                continue;
            }
            let seen = all.last_mut().unwrap();
            match kind {
                "count" => {
                    let (name, count) = rest.split_once(' ').unwrap();
                    seen.counts.insert(name.into(), count.parse().unwrap());
                }
                "sample" => seen.samples.push(rest.into()),
                _ => seen.other.push(line.into()),
            }
        }
        for seen in &mut all {
            seen.samples.sort();
        }
        all
    }

    pub(crate) fn count(&self, name: &str) -> i64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Counts under a prefix, without it.
    pub(crate) fn under(&self, prefix: &str) -> BTreeMap<String, i64> {
        let stripped =
            |(name, count): (&String, &i64)| Some((name.strip_prefix(prefix)?.to_owned(), *count));
        self.counts.iter().filter_map(stripped).collect()
    }
}

/// What a reader shows of a sample besides type, thread, state and stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shows {
    pub(crate) types: &'static [&'static str],
    /// The name it has for all types, if it does not tell them apart.
    pub(crate) one_type: Option<&'static str>,
    /// Else only that of `profiler.WallClockSample`, other samples count as 1.
    pub(crate) weight: bool,
    pub(crate) context: bool,
    /// Bits of a line number.
    pub(crate) line_bits: u32,
}

pub(crate) const ALL: Shows = Shows {
    types: &[],
    one_type: None,
    weight: true,
    context: true,
    line_bits: 32,
};
pub(crate) const CPU_AND_WALL: &[&str] = &["jdk.ExecutionSample", "profiler.WallClockSample"];
pub(crate) const CONVERTER: Shows = Shows {
    types: CPU_AND_WALL,
    one_type: Some("ExecutionSample"),
    weight: false,
    context: false,
    line_bits: 16,
};
pub(crate) const GRAFANA: Shows = Shows {
    types: &["jdk.ExecutionSample", "profiler.WallClockSample"],
    one_type: None,
    weight: false,
    context: false,
    line_bits: 32,
};

/// Letters, digits and a few signs; every other byte becomes %XX.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-$/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").unwrap();
        }
    }
    out
}

pub(crate) fn optional(event: &Event, name: &str) -> Option<Value> {
    let found = event.fields.iter().find(|(n, _)| n == name)?;
    Some(found.1.clone())
}

pub(crate) fn counts_by_type(ours: &checker::Recording) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for event in &ours.events {
        *counts.entry(event.name.clone()).or_insert(0) += 1;
    }
    counts
}

/// The lines that a reader must print.
pub(crate) fn expected(ours: &checker::Recording, shows: Shows) -> Vec<String> {
    let wanted = |e: &&Event| {
        let listed = shows.types.is_empty() || shows.types.contains(&e.name.as_str());
        listed && optional(e, "stackTrace").is_some()
    };
    let mut lines: Vec<String> = ours
        .events
        .iter()
        .filter(wanted)
        .map(|event| line(ours, event, shows))
        .collect();
    lines.sort();
    lines
}

pub(crate) fn line(ours: &checker::Recording, event: &Event, shows: Shows) -> String {
    let thread =
        optional(event, "sampledThread").unwrap_or_else(|| event.get("eventThread").clone());
    let name =
        ["javaName", "osName"]
            .into_iter()
            .find_map(|name| match ours.field(&thread, name) {
                Value::Text(text) => text,
                other => panic!("{other:?}"),
            });
    let state = optional(event, "state").map_or_else(
        || "-".to_owned(),
        |state| escape(&ours.simple_text(&state).unwrap()),
    );
    let number = |name| optional(event, name).map(|_| event.number(name));
    let weight = match (number("samples"), number("weight")) {
        (Some(n), _) => n.to_string(),
        (_, Some(n)) if shows.weight => n.to_string(),
        _ if shows.weight => "-".into(),
        _ => "1".into(),
    };
    let kind = shows.one_type.unwrap_or(&event.name);
    let frames = frames(ours, event.get("stackTrace"), shows.line_bits);
    let mut line = format!(
        "{kind} {} {state} {frames} {weight}",
        escape(&name.unwrap())
    );
    if shows.context {
        let is_column = |value: &Value| matches!(value, Value::Reference(ty, _) if ours.types[ty].name == "ctxagent.types.AttributeValue");
        let mut context: Vec<String> = event
            .fields
            .iter()
            .filter(|(_, value)| is_column(value))
            .filter_map(|(name, value)| {
                Some(format!("{name}={}", escape(&ours.simple_text(value)?)))
            })
            .collect();
        context.sort();
        write!(line, " [{}]", context.join(",")).unwrap();
    }
    line
}

pub(crate) fn frames(ours: &checker::Recording, stack: &Value, line_bits: u32) -> String {
    let names = ours.frames(stack);
    let Value::Array(frames) = ours.field(stack, "frames") else {
        panic!("frames")
    };
    let line = |frame: &Value| match frame {
        Value::Struct(fields) => match &fields.iter().find(|(n, _)| n == "lineNumber").unwrap().1 {
            Value::Number(n) if line_bits < 32 => n & ((1 << line_bits) - 1),
            Value::Number(n) => *n,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let frame = |(name, frame): (&String, &Value)| {
        let (class, method) = name.rsplit_once('.').unwrap();
        let name = format!("{}.{method}", class.replace('/', "."));
        format!("{}:{}", escape(&name), line(frame))
    };
    let all: Vec<String> = names.iter().zip(&frames).map(frame).collect();
    all.join(";")
}

/// Samples of the converter and of Grafana: a wall-clock sample counts as often as it says.
pub(crate) fn total(ours: &checker::Recording, types: &[&str]) -> i64 {
    let weight = |e: &Event| optional(e, "samples").map_or(1, |_| e.number("samples"));
    let wanted = ours
        .events
        .iter()
        .filter(|e| types.contains(&e.name.as_str()));
    wanted.map(weight).sum()
}
