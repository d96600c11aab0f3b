//! What a command needs from the files.

use std::borrow::Cow;

use crate::filter::Filter;

/// Keys that name no attribute of the recording.
pub(super) const BUILT_IN: [&str; 3] = [THREAD, "state", "event"];
/// The key of a thread's name, that each sample has.
pub(crate) const THREAD: &str = "thread";
/// A prefix of keys: an attribute, even if it has the name of one of [`BUILT_IN`].
pub(super) const ATTRIBUTE_PREFIX: &str = "label:";

/// The key that names an attribute on the command line.
pub(crate) fn key_of(attribute: &str) -> Cow<'_, str> {
    if BUILT_IN.contains(&attribute) {
        Cow::Owned(format!("{ATTRIBUTE_PREFIX}{attribute}"))
    } else {
        Cow::Borrowed(attribute)
    }
}

/// The samples and their parts that a command needs.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "choices that do not depend on each other"
)]
pub(crate) struct Query {
    /// Attribute names to group by.
    pub(crate) keys: Vec<String>,
    /// Whether to group by all attributes of the recording too, see
    /// [`super::Collected::attribute_keys`].
    pub(crate) every_attribute: bool,
    pub(crate) filter: Filter,
    /// Whether stacks are wanted.
    pub(crate) stacks: bool,
    /// Whether frames carry line numbers.
    pub(crate) lines: bool,
    /// Whether the time of each sample is kept.
    pub(crate) moments: bool,
}

impl Query {
    /// By these keys, without stacks.
    pub(crate) fn by(keys: Vec<String>, filter: Filter) -> Self {
        Self {
            keys,
            every_attribute: false,
            filter,
            stacks: false,
            lines: false,
            moments: false,
        }
    }

    /// Whether it asks for the names of threads.
    pub(super) fn names_threads(&self) -> bool {
        let terms = self.filter.terms.iter().map(|term| &term.key);
        self.keys.iter().chain(terms).any(|key| key == THREAD)
    }
}
