//! Name patterns: `%p %t %n{MAX} %h %{NAME} %%`.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use time::OffsetDateTime;

/// Longest name, in bytes: the limit of Linux for a path.
const MAX_NAME_BYTES: usize = 4095;
/// Largest `MAX` of `%n{MAX}`.
const MAX_FILES: u32 = 1_000_000;
/// Value of `%h` if the system has no host name.
const UNKNOWN_HOST: &str = "localhost";

/// A file name with `%p %t %n{MAX} %h %{NAME} %%`, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    text: String,
}

/// The values that replace the patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternValues {
    /// `%p`: process id.
    pub pid: u32,
    /// `%t`: seconds since 1970, written as UTC `20261121-023115`.
    pub unix_secs: u64,
    /// `%n`: number of files before this one.
    pub number: u32,
}

/// Reason why a text is not a [`Pattern`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// It is empty.
    Empty,
    /// It is longer than a path can be.
    TooLong,
    /// It has a control character.
    Control,
    /// Its last part is empty, `.` or `..`: the name of a directory.
    Directory,
    /// `%` is followed by an unknown character.
    Unknown(String),
    /// `%n{…}` does not hold a number from 1 to 1000000.
    Max(String),
    /// `%{…}` does not hold the name of an environment variable.
    Variable(String),
    /// The environment variable of `%{NAME}` is not set.
    Unset(String),
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the name is empty"),
            Self::TooLong => write!(f, "the name is longer than {MAX_NAME_BYTES} bytes"),
            Self::Control => f.write_str("the name has a control character"),
            Self::Directory => f.write_str("the name is that of a directory, a file is needed"),
            Self::Unknown(what) => write!(
                f,
                "'{what}' is no pattern; allowed: %p, %t, %n, %n{{MAX}}, %h, %{{NAME}}, %%"
            ),
            Self::Max(what) => write!(
                f,
                "'{what}' is no number of files; allowed: %n{{1}} to %n{{{MAX_FILES}}}"
            ),
            Self::Variable(what) => write!(
                f,
                "'%{{{what}' is no environment variable; allowed: %{{NAME}} with letters, \
                 digits and _"
            ),
            Self::Unset(name) => write!(f, "the environment variable of '%{{{name}}}' is not set"),
        }
    }
}

impl std::error::Error for PatternError {}

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Percent,
    Pid,
    Time,
    Number { max: Option<u32> },
    Host,
    Variable(&'a str),
}

impl Pattern {
    /// Parses and checks `text`.
    ///
    /// # Errors
    /// The first problem in it.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if text.len() > MAX_NAME_BYTES {
            return Err(PatternError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(PatternError::Control);
        }
        if matches!(text.rsplit('/').next(), None | Some("" | "." | "..")) {
            return Err(PatternError::Directory);
        }
        for piece in pieces(text) {
            if let Piece::Variable(name) = piece?
                && std::env::var_os(name).is_none()
            {
                return Err(PatternError::Unset(name.to_owned()));
            }
        }
        Ok(Self {
            text: text.to_owned(),
        })
    }

    /// A valid name that the agent itself defines, unchecked.
    pub(crate) fn known(text: &'static str) -> Self {
        Self {
            text: text.to_owned(),
        }
    }

    /// The pattern as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether files of one process get different names: it has `%t`, or a `%n` that can differ.
    pub fn varies(&self) -> bool {
        pieces(&self.text).any(|piece| match piece {
            Ok(Piece::Time) => true,
            Ok(Piece::Number { max }) => max != Some(1),
            _ => false,
        })
    }

    /// Whether it has a `%t`.
    pub fn timed(&self) -> bool {
        pieces(&self.text).any(|piece| piece == Ok(Piece::Time))
    }

    /// Whether it has a `%n`.
    pub fn numbered(&self) -> bool {
        pieces(&self.text).any(|piece| matches!(piece, Ok(Piece::Number { .. })))
    }

    /// Whether files replace each other in turn: it has a `%n{MAX}`.
    pub fn is_ring(&self) -> bool {
        pieces(&self.text).any(|piece| matches!(piece, Ok(Piece::Number { max: Some(_) })))
    }

    /// The name for these values. No value adds a `/` or becomes `..`.
    pub fn expand(&self, values: &PatternValues) -> PathBuf {
        let mut out = String::with_capacity(self.text.len() + 16);
        for piece in pieces(&self.text).flatten() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Percent => out.push('%'),
                Piece::Pid => out.push_str(&values.pid.to_string()),
                Piece::Time => out.push_str(&utc(values.unix_secs)),
                Piece::Number { max } => {
                    let number = max
                        .and_then(|max| values.number.checked_rem(max))
                        .unwrap_or(values.number);
                    out.push_str(&number.to_string());
                }
                Piece::Host => out.push_str(&sanitize(&host())),
                Piece::Variable(name) => {
                    out.push_str(&sanitize(&std::env::var(name).unwrap_or_default()));
                }
            }
        }
        PathBuf::from(out)
    }
}

/// Splits a pattern into pieces; ends after the first error.
fn pieces(text: &str) -> impl Iterator<Item = Result<Piece<'_>, PatternError>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(after) = rest.strip_prefix('%') else {
            let (head, tail) = rest.split_at(rest.find('%').unwrap_or(rest.len()));
            rest = tail;
            return Some(Ok(Piece::Text(head)));
        };
        let (piece, tail) = match after.chars().next() {
            Some('%') => (Ok(Piece::Percent), &after[1..]),
            Some('p') => (Ok(Piece::Pid), &after[1..]),
            Some('t') => (Ok(Piece::Time), &after[1..]),
            Some('h') => (Ok(Piece::Host), &after[1..]),
            Some('{') => variable(&after[1..]),
            Some('n') => match after[1..].strip_prefix('{') {
                None => (Ok(Piece::Number { max: None }), &after[1..]),
                Some(inner) => {
                    let (max, tail) = inner.split_once('}').unwrap_or((inner, ""));
                    let closed = inner.contains('}') && max.bytes().all(|b| b.is_ascii_digit());
                    match max.parse::<u32>() {
                        Ok(max @ 1..=MAX_FILES) if closed => {
                            (Ok(Piece::Number { max: Some(max) }), tail)
                        }
                        _ => (Err(PatternError::Max(max.chars().take(20).collect())), ""),
                    }
                }
            },
            Some(other) => (Err(PatternError::Unknown(format!("%{other}"))), ""),
            None => (Err(PatternError::Unknown("%".to_owned())), ""),
        };
        rest = tail;
        Some(piece)
    })
}

/// Splits `NAME}` from the rest.
fn variable(text: &str) -> (Result<Piece<'_>, PatternError>, &str) {
    let is_name = |name: &str| {
        let is_word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        is_word && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
    };
    match text.split_once('}') {
        Some((name, tail)) if is_name(name) => (Ok(Piece::Variable(name)), tail),
        _ => (
            Err(PatternError::Variable(text.chars().take(20).collect())),
            "",
        ),
    }
}

/// Host name of this machine or container.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => UNKNOWN_HOST.to_owned(),
        name => name.to_owned(),
    }
}

/// Makes an external text safe as a part of a file name: it cannot lead to another directory.
fn sanitize(text: &str) -> String {
    let plain = |c: char| {
        if c == '/' || c.is_control() { '_' } else { c }
    };
    let name: String = text.chars().map(plain).collect();
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => name,
    }
}

/// `20261121-023115`.
fn utc(unix_secs: u64) -> String {
    let time = i64::try_from(unix_secs).map(OffsetDateTime::from_unix_timestamp);
    let time = time.ok().and_then(Result::ok);
    let time = time.unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (year, month, day) = (time.year(), u8::from(time.month()), time.day());
    let (hour, minute, second) = time.to_hms();
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests;
