//! Redaction of values (`redact=`): no redacted value reaches a table of the writer or a file.

use crate::options::{Redact, Redaction};
use schema::limits::ATTRIBUTE_SLOTS;
use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

/// The redactions of one recording, by slot.
#[derive(Debug)]
pub(crate) struct Redactions {
    wanted: Vec<Redact>,
    by_slot: [Option<Redaction>; ATTRIBUTE_SLOTS],
    /// Number of changes of `by_slot`.
    changes: u32,
    /// A random key that is never stored.
    key: RandomState,
}

impl Redactions {
    pub(crate) fn new(wanted: &[Redact]) -> Self {
        Self {
            wanted: wanted.to_vec(),
            by_slot: [None; ATTRIBUTE_SLOTS],
            changes: 0,
            key: RandomState::new(),
        }
    }

    /// Sets the name of a slot's attribute; called before a value of the slot is written.
    pub(crate) fn named(&mut self, slot: usize, name: &str) {
        let how = self.wanted.iter().find(|r| r.name == name).map(|r| r.how);
        if let Some(place) = self.by_slot.get_mut(slot).filter(|place| **place != how) {
            *place = how;
            self.changes += 1;
        }
    }

    /// Number of changes so far: contexts cached before the last one are stale.
    pub(crate) fn changes(&self) -> u32 {
        self.changes
    }

    pub(crate) fn of(&self, slot: usize) -> Option<Redaction> {
        self.by_slot.get(slot).copied().flatten()
    }

    /// The text written for a value: 16 hex digits for a hashed one.
    pub(crate) fn text<'a>(&self, how: Option<Redaction>, value: &'a str) -> Cow<'a, str> {
        match how {
            None | Some(Redaction::Drop) => value.into(), // dropped values are skipped before
            Some(Redaction::Hash) => format!("{:016x}", self.key.hash_one(value)).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_differ_between_recordings() {
        let wanted = [Redact {
            name: "tenant".into(),
            how: Redaction::Hash,
        }];
        let (mut first, mut second) = (Redactions::new(&wanted), Redactions::new(&wanted));
        for (slot, name) in ["endpoint", "tenant"].into_iter().enumerate() {
            first.named(slot, name);
            second.named(slot, name);
        }
        assert_eq!((first.of(0), first.of(1)), (None, Some(Redaction::Hash)));
        let text = |r: &Redactions, value: &str| r.text(r.of(1), value).into_owned();
        assert_eq!(text(&first, "acme"), text(&first, "acme"));
        assert_ne!(text(&first, "acme"), text(&first, "globex"));
        assert_ne!(text(&first, "acme"), text(&second, "acme"));
        assert_eq!(text(&first, "acme").len(), 16);
        assert_eq!(first.text(first.of(0), "/home"), "/home");
    }
}
