//! What a pass adds up: sums by group, stack and attribute value.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use ctxagent_events::VmThreadKind;
use hashbrown::HashMap;

use super::query::{ATTRIBUTE_PREFIX, BUILT_IN, key_of};
use crate::statistics::share;

/// A sum of samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) samples: u64,
    /// Sampling intervals, or bytes, that the samples stand for.
    pub(crate) weight: u64,
    /// What is measured, in the unit of [`crate::filter::Unit`].
    pub(crate) value: u64,
    /// Sum of the squares of the samples' values: tells how much their differences thin the
    /// evidence.
    pub(crate) value_squares: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.weight = self.weight.saturating_add(other.weight);
        self.value = self.value.saturating_add(other.value);
        self.value_squares += other.value_squares;
    }
}

impl Sum {
    /// The object `total`.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::json!({"samples": self.samples, "weight": self.weight, "value": self.value})
    }

    /// Without a part of it.
    pub(crate) fn without(&self, part: &Self) -> Self {
        Self {
            samples: self.samples.saturating_sub(part.samples),
            weight: self.weight.saturating_sub(part.weight),
            value: self.value.saturating_sub(part.value),
            value_squares: (self.value_squares - part.value_squares).max(0.0),
        }
    }
}

/// Adds up place by place.
pub(super) fn add_all(into: &mut [Sum; 4], more: &[Sum; 4]) {
    for (into, more) in into.iter_mut().zip(more) {
        into.add(more);
    }
}

impl TypeSums {
    pub(super) fn add(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.total.add(&other.total);
        add_all(&mut self.not_java, &other.not_java);
        for (key, (sum, stacks)) in other.groups {
            let group = self.groups.entry(key).or_default();
            group.0.add(&sum);
            for (stack, sum) in stacks.by_stack {
                group.1.by_stack.entry(stack).or_default().add(sum);
            }
        }
        for (name, attribute) in other.attributes {
            let into = self.attributes.entry(name).or_default();
            into.set.add(&attribute.set);
            for (value, sum) in attribute.values {
                into.values.entry(value).or_default().add(&sum);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.attributes.is_empty()
    }

    /// All threads that are not Java threads, without a label.
    pub(crate) fn not_java(&self) -> Sum {
        let mut sum = Sum::default();
        for part in &self.not_java {
            sum.add(part);
        }
        sum
    }

    /// The key of the attribute that most of the time, or of what else is measured, has.
    pub(crate) fn best_key(&self) -> Option<String> {
        let attributes = self.attributes.iter();
        let used = attributes.filter(|(_, sums)| sums.set.value > 0);
        let best = used.max_by_key(|(_, sums)| sums.set.value);
        best.map(|(name, _)| key_of(name).into_owned())
    }

    /// Whether an attribute of the recording, or a key that all samples have, is meant.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        let attribute = key.strip_prefix(ATTRIBUTE_PREFIX).unwrap_or(key);
        BUILT_IN.contains(&key) || self.attributes.contains_key(attribute)
    }

    /// The keys that can be asked for.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let attributes = self.attributes.keys().map(|name| key_of(name));
        attributes.chain(BUILT_IN.into_iter().map(Cow::Borrowed))
    }

    /// How much of what Java threads used, which alone can have labels, a part of it is.
    pub(crate) fn coverage(&self, part: u64) -> f64 {
        share(part, self.total.without(&self.not_java()).value)
    }
}

/// Values of the keys, in their order; `None` = not set.
pub(crate) type Values = Vec<Option<Arc<str>>>;

/// What a row of the table, and a root of the flame graph, stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GroupKey {
    pub(crate) values: Values,
    /// Of threads that are not Java threads and have no label of any name.
    pub(crate) vm_kind: Option<VmThreadKind>,
}

impl GroupKey {
    /// The value of the key at a place; where there is none, what the group is called instead.
    pub(crate) fn value_or_name(&self, place: usize) -> String {
        let value = self.values.get(place).and_then(Option::as_deref);
        value.map_or_else(|| self.name_without_values(), str::to_owned)
    }

    /// `KEY=VALUE` of each key, with the names of the table where there is no value.
    pub(crate) fn named_values(&self, keys: &[String]) -> impl Iterator<Item = String> {
        let keys = keys.iter().enumerate();
        keys.map(|(place, key)| format!("{key}={}", self.value_or_name(place)))
    }

    /// What a group without values is called.
    pub(crate) fn name_without_values(&self) -> String {
        let vm_kind = self.vm_kind.map(|vm_kind| format!("({})", vm_kind.group()));
        vm_kind.unwrap_or_else(|| UNLABELLED.to_owned())
    }
}

/// Samples of Java threads without a value.
const UNLABELLED: &str = "(unlabelled)";

/// When a sample was taken, and what it adds to its sum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// Since 1970.
    pub(crate) nanos: i64,
    pub(crate) value: u64,
}

/// The samples of one stack.
#[derive(Debug, Default)]
pub(crate) struct StackSum {
    pub(crate) sum: Sum,
    /// One for each sample, if the query wants them.
    pub(crate) moments: Vec<Moment>,
}

impl StackSum {
    pub(super) fn add(&mut self, other: Self) {
        self.sum.add(&other.sum);
        if self.moments.is_empty() {
            self.moments = other.moments;
        } else {
            self.moments.extend(other.moments);
        }
    }
}

/// By the number of the stack in [`super::Collected::stacks`].
#[derive(Debug, Default)]
pub(crate) struct StackSums {
    pub(crate) by_stack: HashMap<u32, StackSum>,
}

/// One event type's sums.
#[derive(Debug, Default)]
pub(crate) struct TypeSums {
    pub(crate) total: Sum,
    /// Parts of the total: threads that are not Java threads and have no label of any name, by
    /// [`VmThreadKind`].
    pub(crate) not_java: [Sum; 4],
    pub(crate) groups: HashMap<GroupKey, (Sum, StackSums)>,
    /// Per attribute of the recording: how much of the total has a value, and the values.
    pub(crate) attributes: BTreeMap<Arc<str>, AttributeSums>,
}

/// An attribute's sums.
#[derive(Debug, Default)]
pub(crate) struct AttributeSums {
    pub(crate) set: Sum,
    pub(crate) values: HashMap<Arc<str>, Sum>,
}
