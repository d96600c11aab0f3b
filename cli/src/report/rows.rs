//! The rows of a report, biggest first, and their form in JSON.

use serde_json::json;

use crate::collect::{GroupKey, Sum, TypeSums, UNKNOWN};
use crate::filter::Unit;
use crate::statistics::{effective_samples, share, wilson};

/// What the samples with the same values of the keys add up to.
pub(crate) struct Row {
    pub(crate) key: GroupKey,
    pub(crate) sum: Sum,
    pub(crate) share: f64,
    /// `None` of what was not sampled.
    pub(crate) interval: Option<(f64, f64)>,
}

impl Row {
    pub(super) fn is_unlabelled(&self) -> bool {
        self.key.values.iter().all(Option::is_none)
    }

    /// Whether one of its values is known; a scope may leave open which it was.
    pub(super) fn is_known(&self) -> bool {
        let mut values = self.key.values.iter().flatten();
        values.any(|value| &**value != UNKNOWN)
    }
}

/// All rows; those without a label stand last.
pub(crate) fn rows(total: &TypeSums, unit: Unit) -> Vec<Row> {
    let all = &total.total;
    let samples = effective_samples(all.value, all.value_squares);
    let row = |(key, (sum, _)): (&GroupKey, &(Sum, _))| {
        let share = share(sum.value, all.value);
        Row {
            key: key.clone(),
            sum: *sum,
            share,
            interval: unit.is_sampled().then(|| wilson(share, samples)),
        }
    };
    let mut rows: Vec<Row> = total.groups.iter().map(row).collect();
    rows.sort_by(|a, b| {
        (a.is_unlabelled(), a.key.vm_kind.is_some())
            .cmp(&(b.is_unlabelled(), b.key.vm_kind.is_some()))
            .then(b.sum.value.cmp(&a.sum.value))
            .then_with(|| a.key.cmp(&b.key))
    });
    rows
}

/// Share of the Java threads' total of which one of the labels is known.
pub(crate) fn coverage(rows: &[Row], total: &TypeSums) -> f64 {
    let unlabelled = rows
        .iter()
        .filter(|row| !row.is_known() && row.key.vm_kind.is_none());
    let unlabelled: u64 = unlabelled.map(|row| row.sum.value).sum();
    1.0 - total.coverage(unlabelled)
}

/// The field `rows`.
pub(crate) fn rows_json(rows: &[Row]) -> Vec<serde_json::Value> {
    let row = |row: &Row| {
        json!({
            "values": row.key.values.iter().map(Option::as_deref).collect::<Vec<_>>(),
            "samples": row.sum.samples, "weight": row.sum.weight, "value": row.sum.value,
            "not_java": row.key.vm_kind.is_some(), "vm_kind": row.key.vm_kind.map(|_|
                row.key.name_without_values()),
            "share": row.share, "share_low": row.interval.map(|i| i.0),
                "share_high": row.interval.map(|i| i.1),
        })
    };
    rows.iter().map(row).collect()
}
