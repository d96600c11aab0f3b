//! Helpers of the tests of option strings.

use super::parse::parse;
use super::parsed::Options;

/// The message of a refused option string: one line.
pub(super) fn error(text: &str) -> String {
    let message = parse(text).expect_err(text).to_string();
    assert!(!message.contains(char::is_control), "one line: {message:?}");
    assert!(message.len() < 1200, "{} bytes: {message}", message.len());
    message
}

/// The options of an accepted string.
pub(super) fn ok(text: &str) -> Options {
    parse(text).unwrap_or_else(|error| unreachable!("{text}: {error}"))
}
