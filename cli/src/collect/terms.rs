//! Why no sample passes: how many each condition lets through by itself, and the values that there
//! are.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use crate::filter::Filter;
use crate::text;

/// Values named where none of them is the wanted one.
const MAX_VALUES_SHOWN: usize = 5;
/// Places of a value in a message.
const MAX_PLACES: usize = 60;

/// A `--where` in a chunk, for one event type.
#[derive(Default)]
pub(super) struct ChunkTerm {
    passed: u64,
    /// By event type, whose pools may be others, and number of the value.
    values: HashMap<(usize, u32), (Arc<str>, u64)>,
}

impl ChunkTerm {
    /// Counts a sample; `text` is called once for each value.
    pub(super) fn count(
        &mut self,
        passes: bool,
        number: Option<(usize, u32)>,
        text: impl FnOnce() -> Arc<str>,
    ) {
        self.passed += u64::from(passes);
        if let Some(number) = number {
            self.values.entry(number).or_insert_with(|| (text(), 0)).1 += 1;
        }
    }
}

/// A `--where` over all files.
#[derive(Debug, Default)]
pub(crate) struct TermCounts {
    passed: u64,
    values: BTreeMap<Arc<str>, u64>,
}

/// All of them, in the order of the call.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    terms: Vec<TermCounts>,
    /// Samples of the wanted types, passing or not.
    samples: u64,
}

impl Terms {
    pub(super) fn add(&mut self, samples: u64, terms: Vec<ChunkTerm>) {
        self.samples += samples;
        if self.terms.len() < terms.len() {
            self.terms.resize_with(terms.len(), TermCounts::default);
        }
        for (into, term) in self.terms.iter_mut().zip(terms) {
            into.passed += term.passed;
            for (value, count) in term.values.into_values() {
                *into.values.entry(value).or_default() += count;
            }
        }
    }

    /// Samples of the wanted types, passing or not.
    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    /// What to say where `--where`, or `--from` and `--to`, leave no sample.
    pub(crate) fn nothing_passes(&self, filter: &Filter) -> Option<String> {
        if self.samples == 0 && filter.has_span() {
            let message = "no sample is of the time from --from to --to; `ctxjfr summary` tells when \
                           the recording was made";
            return Some(message.to_owned());
        }
        if self.samples == 0 || filter.terms.is_empty() {
            return None;
        }
        let mut message = format!("no sample of {} passes", text::thousands(self.samples));
        let mut is_explained = false;
        for (term, counts) in filter.terms.iter().zip(&self.terms) {
            if counts.passed == 0 {
                let _ = write!(message, "; none has --where '{}'", term.text);
                message.push_str(&counts.values_shown(&term.key));
                is_explained = true;
            }
        }
        if !is_explained {
            let parts: Vec<String> = filter
                .terms
                .iter()
                .zip(&self.terms)
                .map(|(term, counts)| format!("'{}' {}", term.text, text::thousands(counts.passed)))
                .collect();
            let _ = write!(
                message,
                " all of them; each by itself: {}",
                parts.join(", ")
            );
        }
        Some(message)
    }
}

impl TermCounts {
    fn values_shown(&self, key: &str) -> String {
        if self.values.is_empty() {
            return format!(" (no sample has a value of {key})");
        }
        let mut values: Vec<(&Arc<str>, u64)> = self
            .values
            .iter()
            .map(|(value, &count)| (value, count))
            .collect();
        values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let shown: Vec<String> = values
            .iter()
            .take(MAX_VALUES_SHOWN)
            .map(|(value, _)| format!("'{}'", text::cut(value, MAX_PLACES)))
            .collect();
        let more = match values.len().saturating_sub(MAX_VALUES_SHOWN) {
            0 => String::new(),
            more => format!(" and {} more", text::thousands(more as u64)),
        };
        format!(" (values of {key}: {}{more})", shown.join(", "))
    }
}
