//! The value of `redact`: what the file has instead of an attribute's values, `NAME:drop` or
//! `NAME:hash`, joined with `+`.

use super::names::check_attribute_name;
use super::near::shown;
use schema::limits::ATTRIBUTE_SLOTS;
use std::fmt;

/// How the values of an attribute are redacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Redaction {
    /// Values are dropped, as if the attribute was not set.
    Drop,
    /// Each value is replaced by a keyed hash. The key is not stored, so hashes differ between
    /// recordings.
    Hash,
}

/// One entry of `redact`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redact {
    /// The attribute.
    pub name: String,
    /// How its values are redacted.
    pub how: Redaction,
}

impl fmt::Display for Redact {
    /// The text of the option.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.how {
            Redaction::Drop => "drop",
            Redaction::Hash => "hash",
        };
        write!(f, "{}:{how}", self.name)
    }
}

pub(super) fn parse(text: &str) -> Result<Vec<Redact>, String> {
    let mut all: Vec<Redact> = Vec::new();
    for entry in text.split('+') {
        let entry = one(entry)?;
        if all.iter().any(|known| known.name == entry.name) {
            return Err(format!("name '{}' is there twice", entry.name));
        }
        if all.len() == ATTRIBUTE_SLOTS {
            return Err(format!(
                "at most {ATTRIBUTE_SLOTS} names are allowed, '{}' is one too many",
                entry.name
            ));
        }
        all.push(entry);
    }
    Ok(all)
}

fn one(text: &str) -> Result<Redact, String> {
    let Some((name, how)) = text.rsplit_once(':') else {
        return Err(format!(
            "'{}' does not say what to do; allowed: NAME:drop, NAME:hash",
            shown(text)
        ));
    };
    let how = match how {
        "drop" => Redaction::Drop,
        "hash" => Redaction::Hash,
        _ => {
            return Err(format!(
                "'{}' is unknown; allowed: NAME:drop, NAME:hash",
                shown(how)
            ));
        }
    };
    check_attribute_name(name).map_err(|problem| format!("name '{}' {problem}", shown(name)))?;
    Ok(Redact {
        name: name.to_owned(),
        how,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_parsed_and_displayed_as_written() {
        let text = "tenant:hash+user.email:drop";
        let all = parse(text).expect("fine");
        assert_eq!(all[0].how, Redaction::Hash);
        assert_eq!(all[1].name, "user.email");
        let written: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(written.join("+"), text);
    }

    #[test]
    fn invalid_values_are_refused() {
        for (text, reason) in [
            ("", "does not say what to do"),
            ("tenant", "does not say what to do"),
            ("tenant:md5", "'md5' is unknown"),
            (":drop", "name ''"),
            ("a:drop+a:hash", "twice"),
            ("weight:drop", "name 'weight'"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
