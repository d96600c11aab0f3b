//! What a command asks of the files.

use std::borrow::Cow;

use crate::filter::Filter;

/// Keys that are no attributes, whatever the attributes of the recording are called.
pub(super) const BUILT_IN: [&str; 3] = ["thread", "state", "event"];
/// In front of a key: an attribute, also if it is called like one of [`BUILT_IN`].
pub(super) const ATTRIBUTE_PREFIX: &str = "label:";

/// The key by which an attribute is asked for.
pub(crate) fn key_of(attribute: &str) -> Cow<'_, str> {
    if BUILT_IN.contains(&attribute) {
        Cow::Owned(format!("{ATTRIBUTE_PREFIX}{attribute}"))
    } else {
        Cow::Borrowed(attribute)
    }
}

/// What is asked of the files.
#[derive(Debug)]
pub(crate) struct Query {
    /// Attribute names to group by.
    pub(crate) keys: Vec<String>,
    pub(crate) filter: Filter,
    /// Whether stacks are wanted.
    pub(crate) stacks: bool,
    /// Whether frames carry line numbers.
    pub(crate) lines: bool,
}
