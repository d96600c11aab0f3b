//! The samples of one event type of a chunk, summed by group and stack.

use std::sync::Arc;

use ctxagent_events::VmThreadKind;
use hashbrown::HashMap;
use jfr_format::read::{EntryIndex, Sample, SampleColumns};

use super::joined::JoinedLabels;
use super::labelled::LabelledSample;
use super::pauses::Pauses;
use super::query::Query;
use super::sources::{Source, source, value, value_number, vm_kind_of};
use super::sums::{GroupKey, Moment, StackSum, Sum};
use crate::filter::EXECUTION;
use crate::shared::{MAX_COLUMNS, SharedTexts};

/// State of threads that wait; CPU time is of others.
const SLEEPING: &str = "STATE_SLEEPING";

/// Values of the keys and kind of VM thread, their sum, the sums of their stacks by the stack's
/// number in the chunk.
pub(super) type ChunkGroup = (GroupKey, Sum, Vec<(u32, StackSum)>);
/// Stands for a value that is not set.
const NO_VALUE: u32 = u32::MAX;

/// Numbers of a group and of a stack in one, which is hashed faster than two.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupStack(u64);

impl GroupStack {
    fn new(group: u32, stack: u32) -> Self {
        Self(u64::from(group) << 32 | u64::from(stack))
    }

    fn group(self) -> usize {
        (self.0 >> 32) as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    fn stack(self) -> u32 {
        self.0 as u32
    }
}

#[derive(Default)]
pub(super) struct ChunkTypeSums {
    pub(super) total: Sum,
    pub(super) not_java: [Sum; 4],
    pub(super) groups: Vec<ChunkGroup>,
    /// Names of the attributes that the groups have values of, behind those of the keys.
    pub(super) attribute_keys: Vec<Arc<str>>,
    /// Names of the attributes that the chunk describes, set or not.
    pub(super) described: Vec<Arc<str>>,
    pub(super) attributes: Vec<(Arc<str>, Arc<str>, Sum)>,
}
/// How one event type of a chunk is summed.
pub(super) struct TypeWork<'c> {
    columns: &'c SampleColumns,
    keys: Vec<Source>,
    /// Names of the last keys, those that are not of the query.
    attribute_keys: Vec<Arc<str>>,
    /// The labels of any name.
    labels: Vec<(Arc<str>, Source)>,
    moments: bool,
    /// When our recordings have the same, so that its samples do not count.
    pub(super) repeats: &'c [(i64, i64)],
    pub(super) terms: Vec<Source>,
    total: Sum,
    not_java: [Sum; 4],
    /// Numbers of the groups, by numbers of the values of the keys, and kind of VM thread: the same
    /// as a [`GroupKey`], within a chunk.
    groups: HashMap<Box<[u32]>, u32>,
    /// What the sample at hand has in that place.
    numbers: Vec<u32>,
    group_sums: Vec<(GroupKey, Sum)>,
    /// By numbers of group and stack.
    stack_sums: HashMap<GroupStack, StackSum>,
    /// By place in `labels` and number of the value.
    attributes: HashMap<(usize, u32), (Sum, Arc<str>)>,
    name: Arc<str>,
    is_execution: bool,
    /// The last state that was compared with [`SLEEPING`], and whether it was.
    last_state: (Option<EntryIndex>, bool),
    last: Option<SplitSample>,
}

/// A sample that the next event may continue: a large weight is written as several events.
#[derive(Clone, Copy)]
struct SplitSample {
    start_nanos: i64,
    thread: Option<EntryIndex>,
    stack: Option<EntryIndex>,
    value: f64,
}

impl<'c> TypeWork<'c> {
    pub(super) fn new(
        sample: &Sample<'c>,
        joined: &'c JoinedLabels,
        query: &Query,
        texts: &mut SharedTexts<'c>,
    ) -> Self {
        let columns = sample.columns();
        let keys = query.keys.iter();
        let mut keys: Vec<Source> = keys.map(|key| source(columns, joined, key)).collect();
        let of_columns = columns.names().take(MAX_COLUMNS).enumerate();
        let of_columns = of_columns.map(|(column, name)| (name, Source::Column(column)));
        let of_events = joined.names().iter().enumerate();
        let of_events = of_events.map(|(label, name)| (name, Source::Joined(label)));
        let labels = of_columns.chain(of_events);
        let labels = labels.map(|(name, source)| (texts.name(name), source));
        let labels: Vec<(Arc<str>, Source)> = labels.collect();
        let mut attribute_keys: Vec<Arc<str>> = Vec::new();
        if query.every_attribute {
            for (name, source) in &labels {
                // Of columns with one name the first has it, as for `source`.
                if !attribute_keys.contains(name) {
                    attribute_keys.push(name.clone());
                    keys.push(*source);
                }
            }
        }
        Self {
            columns,
            keys,
            attribute_keys,
            labels,
            moments: query.moments,
            repeats: &[],
            terms: query
                .filter
                .terms
                .iter()
                .map(|term| source(columns, joined, &term.key))
                .collect(),
            total: Sum::default(),
            not_java: Default::default(),
            groups: HashMap::new(),
            numbers: Vec::new(),
            group_sums: Vec::new(),
            stack_sums: HashMap::new(),
            attributes: HashMap::new(),
            name: texts.name(&sample.ty().name),
            is_execution: &*sample.ty().name == EXECUTION,
            last_state: (None, false),
            last: None,
        }
    }

    /// How many attribute columns are read.
    fn column_count(&self) -> usize {
        self.columns.names().len().min(MAX_COLUMNS)
    }

    /// Whether it is no sample of CPU time.
    pub(super) fn is_sleeping(&mut self, sample: &Sample<'_>) -> bool {
        let state = sample.state_entry();
        if state != self.last_state.0 {
            let is_sleeping = self.is_execution && sample.state() == Some(SLEEPING);
            self.last_state = (state, is_sleeping);
        }
        self.last_state.1
    }

    /// What a sample's value adds to the sum of squares, which is about samples, not about the
    /// events that they are written as.
    #[expect(clippy::cast_precision_loss, reason = "feeds a statistic")]
    fn square(&mut self, sample: &Sample<'_>, value: u64) -> f64 {
        let mut written = SplitSample {
            start_nanos: sample.start_nanos,
            thread: sample.thread_entry(),
            stack: sample.stack_entry(),
            value: value as f64,
        };
        let before = self.last.take().filter(|last| {
            (last.start_nanos, last.thread, last.stack)
                == (written.start_nanos, written.thread, written.stack)
        });
        let before = before.map_or(0.0, |last| last.value);
        written.value += before;
        let more = written.value.powi(2) - before.powi(2);
        self.last = Some(written);
        more
    }

    /// The number of the group that the sample at hand belongs to, by its numbers and kind.
    fn group(
        &mut self,
        labelled: &LabelledSample<'_, 'c>,
        vm_kind: Option<VmThreadKind>,
        texts: &mut SharedTexts<'c>,
    ) -> u32 {
        if let Some(&group) = self.groups.get(&*self.numbers) {
            return group;
        }
        let text = |&source: &Source| value(labelled, source).map(|text| texts.value(text));
        let values = self.keys.iter().map(text).collect();
        let group = u32::try_from(self.group_sums.len()).unwrap_or(u32::MAX);
        let key = GroupKey { values, vm_kind };
        self.group_sums.push((key, Sum::default()));
        self.groups.insert(self.numbers.as_slice().into(), group);
        group
    }

    pub(super) fn add(
        &mut self,
        labelled: &LabelledSample<'_, 'c>,
        measured: u64,
        stack: Option<u32>,
        pauses: &Pauses<'_>,
        texts: &mut SharedTexts<'c>,
    ) {
        let sample = labelled.sample;
        let sum = Sum {
            samples: 1,
            weight: sample.weight,
            value: measured,
            value_squares: self.square(sample, measured),
        };
        self.total.add(&sum);
        let keys = self.keys.iter();
        let numbers = keys.map(|&source| value_number(labelled, source).unwrap_or(NO_VALUE));
        self.numbers.clear();
        self.numbers.extend(numbers);
        // A label of any name tells that it is a thread that can have one, so that coverage is the
        // same whatever the keys are.
        let is_unlabelled = self.numbers.iter().all(|&number| number == NO_VALUE)
            && !labelled.has_label(self.column_count());
        let vm_kind = if is_unlabelled {
            vm_kind_of(sample, pauses)
        } else {
            None
        };
        if let Some(vm_kind) = vm_kind {
            self.not_java[vm_kind as usize].add(&sum);
        }
        let kind_number = vm_kind.map_or(NO_VALUE, |vm_kind| vm_kind as u32);
        self.numbers.push(kind_number);
        let group = self.group(labelled, vm_kind, texts);
        self.group_sums[group as usize].1.add(&sum);
        if let Some(stack) = stack {
            let of_stack = self.stack_sums.entry(GroupStack::new(group, stack));
            let of_stack = of_stack.or_default();
            of_stack.sum.add(&sum);
            if self.moments {
                of_stack.moments.push(Moment {
                    nanos: sample.start_nanos,
                    value: sum.value,
                });
            }
        }
        if !self.attribute_keys.is_empty() {
            return; // the groups have the values
        }
        for (place, &(_, source)) in self.labels.iter().enumerate() {
            if let Some(number) = value_number(labelled, source) {
                let (set, _) = self.attributes.entry((place, number)).or_insert_with(|| {
                    let value = value(labelled, source).unwrap_or_default();
                    (Sum::default(), texts.value(value))
                });
                set.add(&sum);
            }
        }
    }

    pub(super) fn finish(self) -> (Arc<str>, ChunkTypeSums) {
        let attributes = self.attributes.into_iter();
        let attributes =
            attributes.map(|((place, _), (sum, value))| (self.labels[place].0.clone(), value, sum));
        let attributes = attributes.collect();
        let labels = self.labels.into_iter();
        let described = labels.filter(|(_, source)| match source {
            Source::Column(column) => self.columns.is_described(*column),
            _ => true,
        });
        let described = described.map(|(name, _)| name).collect();
        let groups = self.group_sums.into_iter();
        let mut groups: Vec<ChunkGroup> = groups.map(|(key, sum)| (key, sum, Vec::new())).collect();
        for (key, sum) in self.stack_sums {
            groups[key.group()].2.push((key.stack(), sum));
        }
        (
            self.name,
            ChunkTypeSums {
                total: self.total,
                not_java: self.not_java,
                groups,
                described,
                attribute_keys: self.attribute_keys,
                attributes,
            },
        )
    }
}
