//! The value of `filter`: conditions on the context of a sample, joined with `+`.

use super::names::check_attribute_name;
use super::near::shown;
use super::types::EVENTS;
use std::fmt::{self, Write};

/// Maximum number of conditions of a filter.
pub const MAX_CONDITIONS: usize = signal_core::filter::MAX_CONDITIONS;

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// `@context`: the sample has a context.
    Context,
    /// `@none`: the sample has no context.
    NoContext,
    /// `NAME`: the attribute has a value.
    Key(String),
    /// `NAME=VALUE`: the attribute has this value.
    Entry(String, String),
}

impl fmt::Display for Condition {
    /// The text of the option.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Context => f.write_str("@context"),
            Self::NoContext => f.write_str("@none"),
            Self::Key(name) => f.write_str(name),
            Self::Entry(name, value) => {
                write!(f, "{name}=")?;
                value.char_indices().try_for_each(|(at, c)| match c {
                    '%' | '+' | ',' => write!(f, "%{:02X}", u32::from(c)),
                    '=' | '*' if at == 0 => write!(f, "%{:02X}", u32::from(c)),
                    _ => f.write_char(c),
                })
            }
        }
    }
}

pub(super) fn parse(text: &str) -> Result<Vec<Condition>, String> {
    if text.is_empty() {
        return Err(String::new()); // the caller reports "needs a value"
    }
    let conditions: Vec<Condition> = text.split('+').map(condition).collect::<Result<_, _>>()?;
    if conditions.len() > MAX_CONDITIONS {
        return Err(format!("at most {MAX_CONDITIONS} conditions are allowed"));
    }
    if conditions.contains(&Condition::NoContext) && conditions.len() > 1 {
        return Err("with '@none' no other condition can hold".to_owned());
    }
    Ok(conditions)
}

fn condition(text: &str) -> Result<Condition, String> {
    match text {
        "@context" => return Ok(Condition::Context),
        "@none" => return Ok(Condition::NoContext),
        _ if text.starts_with('@') => {
            return Err(format!(
                "'{}' is unknown; allowed: @context, @none",
                shown(text)
            ));
        }
        _ => {}
    }
    if let Some(problem) = hint_for_other_syntax(text) {
        return Err(problem);
    }
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    check_attribute_name(name).map_err(|problem| format!("name '{}' {problem}", shown(name)))?;
    Ok(match value {
        None => Condition::Key(name.to_owned()),
        Some(value) => Condition::Entry(name.to_owned(), unescaped(value)?),
    })
}

/// Recognizes conditions in the syntax of other tools, and returns a hint. Some of them would parse
/// as a value that never occurs.
fn hint_for_other_syntax(text: &str) -> Option<String> {
    let named = |name: &str| check_attribute_name(name).is_ok();
    let meant = |name: &str, value: &str| {
        let escaped =
            "a value that begins so is written with %3D for =, %2A for *, %22 for a quote";
        let shown = shown(&format!("{name}{value}"));
        Some(format!("did you mean '{shown}'? ({escaped})"))
    };
    let negated =
        || Some("'not' is not supported; allowed: @context, @none, NAME, NAME=VALUE".to_owned());
    if text.starts_with('!') || text.split_once("!=").is_some_and(|(name, _)| named(name)) {
        return negated();
    }
    let name = text.split('=').next().unwrap_or_default();
    if names_event_type(name) {
        return Some(
            "conditions are on attributes, for all events that have a context; \
             RecordingContextFilter.forType of the Java API distinguishes event types"
                .to_owned(),
        );
    }
    match text.split_once('=') {
        Some((name, value)) if named(name) && value == "*" => meant(name, ""),
        Some((name, value)) if named(name) && is_quoted(value) => {
            meant(name, &format!("={}", &value[1..value.len() - 1]))
        }
        Some((_, value)) if joins_another(value) => Some(
            "conditions are joined with +, not &: tenant=acme+http.route=/x (a & in front of a \
             name is written %26)"
                .to_owned(),
        ),
        Some((name, value)) if named(name) && value.starts_with('=') => {
            meant(name, &format!("={}", value.trim_start_matches('=')))
        }
        Some(_) => None,
        None => match text.split_once(':') {
            Some((name, value)) if named(name) => meant(name, &format!("={value}")),
            _ => None,
        },
    }
}

fn is_quoted(value: &str) -> bool {
    value.len() >= 2
        && ["'", "\""]
            .iter()
            .any(|quote| value.starts_with(quote) && value.ends_with(quote))
}

/// Whether a value is like `acme&route=/x`. The query of a URL is an ordinary value.
fn joins_another(value: &str) -> bool {
    let name = |rest: &str| rest.split(['=', '&']).next().map(check_attribute_name);
    let mut parts = value.split('&');
    let first = parts.next().unwrap_or_default();
    !first.contains('?')
        && parts.any(|rest| rest.contains('=') && name(rest).is_some_and(|n| n.is_ok()))
}

/// Whether this is an event type (`jdk.GCPhasePause`), or starts with one and a colon
/// (`cpu:tenant`).
fn names_event_type(name: &str) -> bool {
    let (kind, has_colon) = match name.split_once(':') {
        Some((kind, _)) => (kind, true),
        None => (name, false),
    };
    let is_type = ["jdk.", "profiler."]
        .iter()
        .any(|begin| kind.starts_with(begin));
    is_type || has_colon && EVENTS.contains(&kind)
}

/// Decodes `%2B` to `+` and so on: two hexadecimal digits for each byte of UTF-8.
fn unescaped(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let digits = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
            let byte = digits
                .filter(|two| two.bytes().all(|b| b.is_ascii_hexdigit()))
                .and_then(|two| u8::from_str_radix(two, 16).ok())
                .ok_or_else(|| {
                    format!(
                        "in value '{}' a % is not followed by two hexadecimal digits (a % itself \
                         is %25)",
                        shown(text)
                    )
                })?;
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).map_err(|_| format!("value '{}' is not UTF-8", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_condition_is_parsed() {
        assert_eq!(
            parse("@context+http.route+tenant=acme"),
            Ok(vec![
                Condition::Context,
                Condition::Key("http.route".into()),
                Condition::Entry("tenant".into(), "acme".into()),
            ])
        );
        assert_eq!(parse("@none"), Ok(vec![Condition::NoContext]));
        assert_eq!(
            parse("q=a%2Bb%2c%25=%C3%A9é"),
            Ok(vec![Condition::Entry("q".into(), "a+b,%=éé".into())])
        );
        assert_eq!(
            parse("q="),
            Ok(vec![Condition::Entry("q".into(), String::new())]),
            "an empty value is a value"
        );
    }

    #[test]
    fn special_characters_of_a_value_can_be_escaped() {
        for (text, value) in [
            ("a=%3Db", "=b"),
            ("a=%2A", "*"),
            ("a=b=c", "b=c"),
            ("a=b:c", "b:c"),
            ("a=/s?x=1&y=2", "/s?x=1&y=2"),
            ("a=b & c", "b & c"),
        ] {
            let entry = Condition::Entry("a".into(), value.into());
            assert_eq!(parse(text), Ok(vec![entry]));
        }
    }

    #[test]
    fn a_condition_is_displayed_as_written() {
        for text in [
            "@context",
            "@none",
            "tenant",
            "q=a%2Bb%2C%25=é",
            "q=%3Da=b",
            "q=%2A*",
        ] {
            let parsed = parse(text).expect(text);
            assert_eq!(parsed[0].to_string(), text);
        }
    }

    #[test]
    fn invalid_conditions_are_refused_with_a_reason() {
        for (text, reason) in [
            ("@any", "allowed: @context, @none"),
            ("9lives", "name '9lives'"),
            ("tenant++x", "name ''"),
            ("tenant=100%", "%25"),
            ("tenant=%zz", "%25"),
            ("tenant=%+1", "%25"),
            ("tenant=%FF", "not UTF-8"),
            ("@none+tenant", "no other condition"),
            ("state", "is a field"),
            ("tenant==acme", "did you mean 'tenant=acme'?"),
            ("tenant===acme", "did you mean 'tenant=acme'?"),
            ("tenant:acme", "did you mean 'tenant=acme'?"),
            ("jdk.GCPhasePause", "conditions are on attributes"),
            (
                "jdk.GCPhasePause:tenant=a",
                "RecordingContextFilter.forType",
            ),
            ("wall:tenant", "RecordingContextFilter.forType"),
            ("cpu:tenant=acme", "RecordingContextFilter.forType"),
            ("tenant=\"acme\"", "did you mean 'tenant=acme'?"),
            ("tenant=acme&route=/x", "joined with +, not &"),
            ("tenant=*", "did you mean 'tenant'?"),
            ("!tenant", "'not' is not supported"),
            ("tenant!=acme", "'not' is not supported"),
        ] {
            let refused = parse(text).expect_err(text);
            assert!(refused.contains(reason), "{text}: {refused}");
        }
        let many = vec!["k"; MAX_CONDITIONS + 1].join("+");
        assert!(parse(&many).is_err());
    }
}
