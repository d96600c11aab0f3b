//! Test builds only: compares what a program declared about the interrupted code with the context
//! that its sample carries.

use super::contexts::text_of;
use crate::registry::Registry;
use signal_core::block::{ReadOutcome, Values};
use signal_core::counters::{Counter, Counters};
use std::collections::HashSet;

/// Attributes that the programs set, all to the same text, bound before any other.
const SLOTS: usize = 3;
/// Declares that there is no context.
const NONE: u32 = u32::MAX;

/// Result of comparing a sample with the declaration.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Right,
    /// A context that was not declared, or half of one.
    Wrong,
    /// No context though one was declared.
    Missed,
    /// The owner was interrupted while it wrote: the sample says so and has no context.
    Torn,
}

/// Remembers which threads were compared.
#[derive(Debug, Default)]
pub(super) struct Oracle {
    threads: HashSet<i64>,
}

/// One sample.
#[derive(Debug)]
pub(super) struct OracleSample<'a> {
    /// The word of `Truth.declare` and `Truth.change`, 0 = nothing declared.
    pub(super) truth: u64,
    pub(super) read_outcome: u32,
    pub(super) values: &'a Values,
    pub(super) thread: i64,
    pub(super) is_virtual: bool,
}

impl Oracle {
    /// Counts a sample, and logs a wrong one.
    pub(super) fn compare(
        &mut self,
        registry: &Registry,
        counters: &Counters,
        sample: &OracleSample<'_>,
    ) {
        let Some((now, next)) = declared(sample.truth) else {
            return;
        };
        let slots = registry.names_from(0).len().min(SLOTS);
        let seen: Vec<Option<String>> = (0..slots)
            .map(|slot| text_of(registry, sample.values, slot))
            .collect();
        let allowed: Vec<Option<String>> = [Some(now), next]
            .into_iter()
            .flatten()
            .map(|n| (n != NONE).then(|| format!("v{n}")))
            .collect();
        let verdict = judge(
            &allowed,
            &seen,
            sample.read_outcome == ReadOutcome::Torn as u32,
        );
        let counter = match verdict {
            Verdict::Right => Counter::OracleRight,
            Verdict::Wrong => Counter::OracleWrong,
            Verdict::Missed => Counter::OracleMissed,
            Verdict::Torn => Counter::OracleTorn,
        };
        counters.add(counter);
        counters.add_many(Counter::OracleChanging, u64::from(next.is_some()));
        counters.add_many(Counter::OracleVirtual, u64::from(sample.is_virtual));
        if self.threads.insert(sample.thread) {
            counters.replace(Counter::OracleThreads, self.threads.len() as u64);
        }
        if verdict == Verdict::Wrong || verdict == Verdict::Missed {
            crate::log::warn_rarely(&format!(
                "oracle: declared {allowed:?}, sample of thread {}{} has {seen:?}",
                sample.thread,
                if sample.is_virtual { " (virtual)" } else { "" },
            ));
        }
    }
}

/// The current context, and the next one if the program is between two.
fn declared(truth: u64) -> Option<(u32, Option<u32>)> {
    let word = |n: u64| u32::try_from(n & u64::from(u32::MAX)).unwrap_or(0);
    let (now, next) = (word(truth), word(truth >> 32));
    (now != 0).then_some((now, (next != 0).then_some(next)))
}

/// All attributes must agree on one of the contexts that are allowed.
fn judge(allowed: &[Option<String>], seen: &[Option<String>], torn: bool) -> Verdict {
    let nothing = seen.iter().all(Option::is_none);
    if torn {
        return if nothing {
            Verdict::Torn
        } else {
            Verdict::Wrong
        };
    }
    if allowed.iter().any(|one| seen.iter().all(|s| s == one)) {
        Verdict::Right
    } else if nothing {
        Verdict::Missed
    } else {
        Verdict::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Vec<Option<String>> {
        let text = |v: &&str| (!v.is_empty()).then(|| (*v).to_owned());
        values.iter().map(text).collect()
    }

    #[test]
    fn a_torn_context_is_wrong_and_both_sides_of_a_change_are_right() {
        let both = texts(&["v1", "v2"]);
        assert_eq!(judge(&both, &texts(&["v1", "v1"]), false), Verdict::Right);
        assert_eq!(judge(&both, &texts(&["v2", "v2"]), false), Verdict::Right);
        assert_eq!(judge(&both, &texts(&["v1", "v2"]), false), Verdict::Wrong);
        assert_eq!(judge(&both, &texts(&["v2", ""]), false), Verdict::Wrong);
        assert_eq!(judge(&both, &texts(&["v3", "v3"]), false), Verdict::Wrong);
        assert_eq!(judge(&both, &texts(&["", ""]), false), Verdict::Missed);
        assert_eq!(judge(&both, &texts(&["", ""]), true), Verdict::Torn);
        assert_eq!(
            judge(&texts(&[""]), &texts(&["", ""]), false),
            Verdict::Right
        );
        assert_eq!(
            judge(&texts(&[""]), &texts(&["v1", ""]), false),
            Verdict::Wrong
        );
    }

    #[test]
    fn the_declared_word_holds_current_and_next_context() {
        assert_eq!(declared(0), None);
        assert_eq!(declared(7), Some((7, None)));
        assert_eq!(declared(7 | 9 << 32), Some((7, Some(9))));
        assert_eq!(declared(u64::MAX), Some((NONE, Some(NONE))));
    }
}
