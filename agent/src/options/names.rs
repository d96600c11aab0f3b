//! Rules for names of attributes.

use schema::limits::MAX_ATTRIBUTE_NAME_BYTES;
use std::fmt;

/// Fields of the sample event; an attribute of that name would duplicate the column.
pub const RESERVED_NAMES: &[&str] = &[
    "context",
    "contextId",
    "contextLength",
    "duration",
    "eventThread",
    "failure",
    "sampledThread",
    "stackTrace",
    "startTime",
    "state",
    "weight",
];

/// Reason why a name is not valid for an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameProblem {
    /// It is empty.
    Empty,
    /// It is longer than [`MAX_ATTRIBUTE_NAME_BYTES`].
    TooLong,
    /// It does not start with a letter, or has a character other than ASCII letters, digits, `_`,
    /// `.`, `-`.
    Character,
    /// It is one of [`RESERVED_NAMES`].
    Reserved,
}

impl fmt::Display for NameProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "is empty",
            Self::TooLong => {
                return write!(f, "is longer than {MAX_ATTRIBUTE_NAME_BYTES} bytes");
            }
            Self::Character => "must be letters, digits, '_', '.', '-', and begin with a letter",
            Self::Reserved => "is a field of the sample event",
        })
    }
}

/// Checks the name of an attribute, by the same rule as `RecordingContextKey.forName` in Java.
///
/// # Errors
/// The first problem found.
pub fn check_attribute_name(name: &str) -> Result<(), NameProblem> {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    match name.as_bytes() {
        [] => Err(NameProblem::Empty),
        bytes if bytes.len() > MAX_ATTRIBUTE_NAME_BYTES => Err(NameProblem::TooLong),
        [first, rest @ ..] if first.is_ascii_alphabetic() && rest.iter().all(inner) => {
            if RESERVED_NAMES.contains(&name) {
                Err(NameProblem::Reserved)
            } else {
                Ok(())
            }
        }
        _ => Err(NameProblem::Character),
    }
}
