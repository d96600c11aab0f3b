//! The text of a value → a [`Value`], by the kind of its row.

use super::kind::{Kind, SIZE_UNITS, TIME_UNITS};
use super::names::check_attribute_name;
use super::near::{nearest, shown};
use super::table::Row;
use super::types::{Log, Signal};
use super::value::Value;
use super::{filter, hints, labels, rates, redact, suffix};
use crate::output::Pattern;
use schema::limits::ATTRIBUTE_SLOTS;

/// Synonyms of other profilers, by option, and our word.
const SYNONYMS: &[(&str, &str, &str)] = &[
    ("event", "itimer", "cpu"),
    ("event", "ctimer", "cpu"),
    ("loglevel", "none", "off"),
    ("loglevel", "quiet", "off"),
    ("loglevel", "warning", "warn"),
    ("loglevel", "trace", "debug"),
];

pub(super) fn value_of(row: &Row, value: Option<&str>) -> Result<Value, String> {
    let allowed = || format!("allowed: {}", row.kind);
    let Some(text) = value else {
        return if matches!(row.kind, Kind::Flag | Kind::Alone) {
            Ok(Value::Flag(true))
        } else {
            Err(String::new())
        };
    };
    match row.kind {
        Kind::Time { min, max, bare } => {
            let nanos = amount(text, TIME_UNITS, bare)
                .filter(|n| (min..=max).contains(n))
                .ok_or_else(allowed)?;
            Ok(Value::Number(nanos))
        }
        Kind::Size { min, max } => {
            // Upper case, too, as in async-profiler.
            let bytes = amount(&text.to_ascii_lowercase(), SIZE_UNITS, 1)
                .filter(|n| (min..=max).contains(n))
                .ok_or_else(allowed)?;
            Ok(Value::Number(bytes))
        }
        Kind::Count {
            min,
            max,
            power_of_two,
        } => amount(text, &[], 1)
            .filter(|n| (min..=max).contains(n) && (!power_of_two || n.is_power_of_two()))
            .map(Value::Number)
            .ok_or_else(allowed),
        Kind::Choice(words) => word(row, text, words).map(Value::Word),
        Kind::Choices(words) => {
            let added = text
                .strip_prefix('+')
                .map(|more| format!("{}+{more}", row.default));
            added
                .as_deref()
                .unwrap_or(text)
                .split('+')
                .map(|one| word(row, one, words))
                .collect::<Result<_, _>>()
                .map(|chosen| Value::Words(chosen, synonym_in(row, text)))
        }
        Kind::Subset(words) => subset(row, text, words).map(|chosen| Value::Words(chosen, None)),
        Kind::Flag => match text {
            "true" => Ok(Value::Flag(true)),
            "false" => Ok(Value::Flag(false)),
            _ => Err(suggested(text, &["true", "false"], &allowed())),
        },
        Kind::Alone => Err(allowed()),
        Kind::Names => names(text).map(Value::Names),
        Kind::Filter => filter::parse(text).map(Value::Filter),
        Kind::Redact => redact::parse(text).map(Value::Redact),
        Kind::Labels => labels::parse(text).map(Value::Labels),
        Kind::Rates => rates::parse(text).map(Value::Rates),
        Kind::File => {
            let pattern = Pattern::parse(text).map_err(|problem| problem.to_string())?;
            hints::check_file_name(text)?;
            suffix::check(text)?;
            Ok(Value::File(pattern))
        }
        Kind::Signal => signal(text)
            .map(Value::Signal)
            .ok_or_else(|| suggested(text, &["prof", "vtalrm"], &allowed())),
        Kind::Log => log(text).map(Value::Log),
        Kind::JdkSettings => {
            let words = ["default", "profile"];
            if words.contains(&text) || text.strip_suffix(".jfc").is_some() {
                Ok(Value::Text(text.to_owned()))
            } else {
                Err(suggested(text, &words, &allowed()))
            }
        }
    }
}

/// Index of the word in `words`.
fn word(row: &Row, text: &str, words: &[&'static str]) -> Result<usize, String> {
    let allowed = || format!("allowed: {}", row.kind);
    let ours = synonym(row, text).map_or(text, |(_, ours)| ours);
    match words.iter().position(|word| *word == ours) {
        Some(index) => Ok(index),
        None => Err(suggested(text, words, &allowed())),
    }
}

/// Indexes of the words that are chosen, and not left out afterwards.
fn subset(row: &Row, text: &str, words: &[&'static str]) -> Result<Vec<usize>, String> {
    let mut chosen = Vec::new();
    for part in text.split('+') {
        if part == "all" {
            chosen = (0..words.len()).collect();
        } else if let Some(left_out) = part.strip_prefix('-') {
            let left_out = word(row, left_out, words)?;
            chosen.retain(|one| *one != left_out);
        } else {
            chosen.push(word(row, part, words)?);
        }
    }
    Ok(chosen)
}

/// The synonym of another profiler, and our word.
fn synonym(row: &Row, text: &str) -> Option<(&'static str, &'static str)> {
    let mut synonyms = SYNONYMS.iter();
    let found = synonyms.find(|(option, word, _)| *option == row.name && *word == text)?;
    Some((found.1, found.2))
}

/// The first of the words joined with `+` that is a synonym.
fn synonym_in(row: &Row, text: &str) -> Option<&'static str> {
    text.split('+')
        .find_map(|one| synonym(row, one))
        .map(|(word, _)| word)
}

/// A whole number, with one of `units` or bare; `None` for other texts and for values above 64
/// bits.
fn amount(text: &str, units: &[(&str, u64)], bare: u64) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = if unit.is_empty() {
        bare
    } else {
        units.iter().find(|(name, _)| *name == unit)?.1
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

fn names(text: &str) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    for name in text.split('+') {
        check_attribute_name(name)
            .map_err(|problem| format!("name '{}' {problem}", shown(name)))?;
        if names.iter().any(|known| known == name) {
            return Err(format!("name '{name}' is there twice"));
        }
        if names.len() == ATTRIBUTE_SLOTS {
            return Err(format!(
                "at most {ATTRIBUTE_SLOTS} names are allowed, '{name}' is one too many"
            ));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

fn signal(text: &str) -> Option<Signal> {
    match text {
        "prof" => Some(Signal::Prof),
        "vtalrm" => Some(Signal::VtAlrm),
        _ => match u8::try_from(amount(text, &[], 1)?).ok()? {
            26 => Some(Signal::VtAlrm),
            27 => Some(Signal::Prof),
            number @ 34..=64 => Some(Signal::RealTime(number)),
            _ => None,
        },
    }
}

fn log(text: &str) -> Result<Log, String> {
    if text == "stderr" {
        return Ok(Log::Stderr);
    }
    hints::check_file_name(text)?;
    let pattern = Pattern::parse(text).map_err(|problem| problem.to_string())?;
    if pattern.numbered() {
        Err("%n is for 'file' only".to_owned())
    } else {
        Ok(Log::File(pattern))
    }
}

fn suggested(text: &str, words: &[&'static str], allowed: &str) -> String {
    match nearest(text, words.iter().copied()) {
        Some(near) => format!("did you mean '{near}'? {allowed}"),
        None => allowed.to_owned(),
    }
}

#[cfg(test)]
mod tests;
