//! A sample with all its labels: its own, those that became known later, and those that other
//! events give it.

use jfr_format::read::{EntryIndex, Sample};

use super::joined::JoinedLabels;
use super::late::{LateLabel, better};

/// See the module. Values are numbers; those of the attribute columns are places in their pools.
#[derive(Clone, Copy)]
pub(super) struct LabelledSample<'s, 'c> {
    pub(super) sample: &'s Sample<'c>,
    /// Number of its thread's name, if a query asks for it.
    pub(super) thread_name: Option<u32>,
    /// What its thread was given later.
    pub(super) late: &'s [LateLabel<'c>],
    pub(super) joined: &'c JoinedLabels,
    /// By place of the joined label.
    pub(super) joined_values: &'s [Option<u32>],
}

impl<'c> LabelledSample<'_, 'c> {
    /// Place of the value that the sample has in a column, or was given later.
    pub(super) fn column_entry(&self, column: usize) -> Option<EntryIndex> {
        let entry = self.sample.value_entry(column)?;
        if self.late.is_empty() {
            return Some(entry);
        }
        let Some(name) = self.sample.columns().names().nth(column) else {
            return Some(entry);
        };
        Some(better(self.late, self.sample.start_nanos, name, entry))
    }

    /// The value itself.
    pub(super) fn column_value(&self, column: usize) -> Option<&'c str> {
        self.sample.value_at(column, self.column_entry(column)?)
    }

    /// Number of the value of a joined label.
    pub(super) fn joined_number(&self, label: usize) -> Option<u32> {
        self.joined_values.get(label).copied().flatten()
    }

    /// The value itself.
    pub(super) fn joined_value(&self, label: usize) -> Option<&'c str> {
        Some(self.joined.text(self.joined_number(label)?))
    }

    /// Whether it has a label of any name, before the later ones.
    pub(super) fn has_label(&self, columns: usize) -> bool {
        (0..columns).any(|column| self.sample.value_entry(column).is_some())
            || self.joined_values.iter().any(Option::is_some)
    }
}
