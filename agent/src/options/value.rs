//! The value of an option.

use super::filter::Condition;
use super::labels::Labels;
use super::rates::RateLimits;
use super::redact::Redact;
use super::types::{Log, Signal};
use crate::output::Pattern;
use std::time::Duration;

/// A value, checked against its row. Each `set` of the table takes the one variant its kind gives.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(u64),
    Word(usize),
    /// With a synonym that was used for one of them.
    Words(Vec<usize>, Option<&'static str>),
    Flag(bool),
    Names(Vec<String>),
    Filter(Vec<Condition>),
    Redact(Vec<Redact>),
    Labels(Labels),
    Rates(RateLimits),
    File(Pattern),
    Signal(Signal),
    Log(Log),
    Text(String),
}

impl Value {
    pub(super) fn nanos(&self) -> Duration {
        Duration::from_nanos(self.number())
    }

    pub(super) const fn number(&self) -> u64 {
        if let Self::Number(number) = self {
            *number
        } else {
            0
        }
    }

    pub(super) const fn flag(&self) -> bool {
        matches!(self, Self::Flag(true))
    }

    /// The entry of `choices` for the word; `None` if the value is no word.
    pub(super) fn pick<T: Copy, const N: usize>(&self, choices: [T; N]) -> Option<T> {
        if let Self::Word(index) = self {
            choices.get(*index).copied()
        } else {
            None
        }
    }
}
