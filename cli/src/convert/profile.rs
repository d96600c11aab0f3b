//! What every format is made of: the samples of each kind, summed by labels and stack. Its size is
//! that of the distinct pairs of these, whatever the number of samples.

use std::collections::BTreeSet;

use crate::args::{ConvertArgs, FilterArgs, NumericLabel};
use crate::collect::{
    self, Collected, FrameName, GroupKey, Moment, ProcessFacts, Query, StackList, StackSum, Sum,
    THREAD, key_of,
};
use crate::filter::{Filter, Unit};
use crate::input::Outcome;
use crate::output::{Failure, Output};
use crate::text;

/// The kinds of samples that one file can have side by side, as `--event` names them.
const KINDS: [&str; 5] = ["cpu", "wall", "alloc", "lock", "exception"];

/// Formats have signed values.
pub(super) const MAX_VALUE: u64 = i64::MAX.unsigned_abs();

/// What a format takes.
#[expect(
    clippy::struct_excessive_bools,
    reason = "choices that do not depend on each other"
)]
pub(super) struct Wanted {
    /// The thread and all attributes; else what `--by` says, as roots.
    pub(super) labels: bool,
    /// Frames with their lines.
    pub(super) lines: bool,
    /// All kinds of samples side by side; else CPU time or what `--event` says.
    pub(super) kinds: bool,
    /// The time of each sample.
    pub(super) moments: bool,
}

/// Everything that is exported.
pub(super) struct Profile {
    /// Names of the recordings, without their directories.
    pub(super) name: String,
    /// Those that have samples, at least one.
    pub(super) kinds: Vec<Kind>,
    /// Begin of the recordings, since 1970.
    pub(super) start_nanos: i64,
    pub(super) end_nanos: i64,
    /// What the recordings say about their process.
    pub(super) process: ProcessFacts,
    pub(super) numeric: Vec<NumericLabel>,
}

/// The samples of one kind.
pub(super) struct Kind {
    pub(super) unit: Unit,
    pub(super) interval_nanos: Option<u64>,
    pub(super) total: Sum,
    pub(super) frames: Vec<FrameName>,
    pub(super) stacks: StackList,
    /// Names of the labels, in the order of a group's values, which may be fewer.
    pub(super) keys: Vec<String>,
    pub(super) groups: Vec<GroupKey>,
    /// By group, then by stack.
    pub(super) rows: Vec<Row>,
}

/// The samples with the same labels and stack.
pub(super) struct Row {
    /// Place in [`Kind::groups`].
    pub(super) group: u32,
    /// Number in [`Kind::stacks`].
    pub(super) stack: u32,
    pub(super) sum: Sum,
    /// One for each sample, if the format wants them.
    pub(super) moments: Vec<Moment>,
}

impl Profile {
    pub(super) fn duration_nanos(&self) -> i64 {
        self.end_nanos.saturating_sub(self.start_nanos).max(0)
    }

    /// Names of all labels that a sample has.
    pub(super) fn keys(&self) -> BTreeSet<&str> {
        let groups = self.kinds.iter().flat_map(|kind| {
            let groups = (0u32..).zip(&kind.groups);
            groups.flat_map(|(group, _)| kind.labels(group))
        });
        groups.map(|(key, _)| key).collect()
    }

    /// Number and unit of a label's value, if `--numeric` names the label and the text says just
    /// this number: `007` stays a text.
    pub(super) fn number(&self, key: &str, value: &str) -> Option<(i64, &str)> {
        let label = self.numeric.iter().find(|label| label.key == key)?;
        let number: i64 = value.parse().ok()?;
        (number.to_string() == value).then_some((number, &label.unit))
    }

    /// Of all kinds.
    pub(super) fn samples(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.total.samples).sum()
    }
}

impl Kind {
    /// Name and unit of the number of events and of their value.
    pub(super) fn value_types(&self) -> [(&'static str, &'static str); 2] {
        match self.unit {
            Unit::Cpu => [("samples", "count"), ("cpu", "nanoseconds")],
            Unit::Wall => [("wall_samples", "count"), ("wall", "nanoseconds")],
            Unit::Bytes => [("alloc_samples", "count"), ("alloc_space", "bytes")],
            Unit::Lock => [("contentions", "count"), ("delay", "nanoseconds")],
            Unit::Samples => [("events", "count"), ("weight", "count")],
        }
    }

    /// Places in [`Kind::frames`], innermost first.
    pub(super) fn stack(&self, row: &Row) -> &[u32] {
        self.stacks.get(row.stack)
    }

    /// Name and value of each label of a group.
    pub(super) fn labels(&self, group: u32) -> impl Iterator<Item = (&str, &str)> {
        let values = &self.groups[group as usize].values;
        let pairs = self.keys.iter().zip(values);
        pairs.filter_map(|(key, value)| Some((key.as_str(), value.as_deref()?)))
    }

    /// What the text formats call each of [`Kind::frames`]: with its line, inert, without `;`.
    pub(super) fn frame_texts(&self) -> Vec<String> {
        let frames = self.frames.iter();
        frames
            .map(|frame| text::collapsed(&frame.with_line()))
            .collect()
    }

    /// The frames with their lines as one text, outermost first, `;` between.
    pub(super) fn stack_text(&self, row: &Row) -> String {
        let outermost_first = self.stack(row).iter().rev();
        let frames = outermost_first.map(|&frame| self.frames[frame as usize].with_line());
        let frames: Vec<String> = frames.map(|frame| frame.replace(';', ":")).collect();
        frames.join(";")
    }

    /// `KEY=VALUE` of each label of a group, with the names of the table where there is no value.
    pub(super) fn roots(&self, group: u32) -> impl Iterator<Item = String> {
        self.groups[group as usize].named_values(&self.keys)
    }

    fn of(collected: Collected, query: &Query) -> (Self, Collected) {
        let (total, _, mut collected) = collected.into_total(&query.filter);
        let stacks = collected.take_stacks();
        let attributes = collected.attribute_keys.iter();
        let attributes = attributes.map(|name| key_of(name).into_owned());
        let mut kind = Self {
            unit: query.filter.unit(),
            interval_nanos: collected.interval_nanos,
            total: total.total,
            frames: std::mem::take(&mut collected.frames),
            stacks,
            keys: query.keys.iter().cloned().chain(attributes).collect(),
            groups: Vec::with_capacity(total.groups.len()),
            rows: Vec::new(),
        };
        let ranks = ranks(&kind.stacks);
        let mut groups: Vec<_> = total.groups.into_iter().collect();
        groups.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (group, (_, stacks)) in groups {
            let place = u32::try_from(kind.groups.len()).unwrap_or(u32::MAX);
            kind.groups.push(group);
            let first = kind.rows.len();
            for (stack, StackSum { sum, moments }) in stacks.by_stack {
                kind.rows.push(Row {
                    group: place,
                    stack,
                    sum,
                    moments,
                });
            }
            kind.rows[first..].sort_unstable_by_key(|row| ranks[row.stack as usize]);
        }
        (kind, collected)
    }
}

/// The place of each stack in their order: numbers are compared faster than lists of frames.
fn ranks(stacks: &StackList) -> Vec<u32> {
    let mut in_order: Vec<u32> = (0..).take(stacks.len()).collect();
    in_order.sort_unstable_by_key(|&stack| stacks.get(stack));
    let mut ranks = vec![0; stacks.len()];
    for (rank, stack) in (0..).zip(in_order) {
        ranks[stack as usize] = rank;
    }
    ranks
}

/// The queries of a call, one for each kind.
fn queries(args: &ConvertArgs, wanted: &Wanted) -> Result<Vec<Query>, Failure> {
    let query = |event: Option<&str>| {
        let filter = Filter::new(&FilterArgs {
            event: event.map(str::to_owned),
            ..args.filter.clone()
        })?;
        let keys = if wanted.labels {
            vec![THREAD.to_owned()]
        } else {
            args.by.clone()
        };
        Ok(Query {
            every_attribute: wanted.labels,
            stacks: true,
            lines: wanted.lines,
            moments: wanted.moments,
            ..Query::by(keys, filter)
        })
    };
    match args.filter.event.as_deref() {
        None if wanted.kinds => KINDS.iter().map(|&kind| query(Some(kind))).collect(),
        event => Ok(vec![query(event)?]),
    }
}

/// Reads the recordings.
pub(super) fn read(
    args: &ConvertArgs,
    wanted: &Wanted,
    output: &Output,
) -> Result<(Profile, Outcome), Failure> {
    let queries = queries(args, wanted)?;
    let (collected, outcome) = collect::collect_each(&args.files, &queries, output)?;
    let mut profile = Profile {
        name: names(args),
        kinds: Vec::new(),
        start_nanos: 0,
        end_nanos: 0,
        process: ProcessFacts::default(),
        numeric: args.numeric.clone(),
    };
    if queries.len() > 1 {
        collect::warn_repeated(&collected);
    }
    let mut first_failure = None;
    for (collected, query) in collected.into_iter().zip(&queries) {
        if let Some((start, end)) = collected.span_nanos() {
            (profile.start_nanos, profile.end_nanos) = (start, end);
        }
        // Of several kinds one that has the keys is enough.
        if let Err(failure) = collected.check(query, &args.files) {
            first_failure.get_or_insert(failure);
            continue;
        }
        let (kind, mut collected) = Kind::of(collected, query);
        profile.process = std::mem::take(&mut collected.process);
        if queries.len() == 1 {
            collected.warn_left_out();
        }
        if kind.total.samples > 0 {
            profile.kinds.push(kind);
            continue;
        }
        if let Some(why) = collected.terms.nothing_passes(&query.filter) {
            first_failure.get_or_insert(Failure::Finding(why));
        }
    }
    if profile.kinds.is_empty() {
        outcome.warn_damages();
        let failure = first_failure.unwrap_or(Failure::Finding("no sample passes".to_owned()));
        return Err(match failure {
            Failure::Finding(why) => Failure::Finding(format!("{why}; nothing to convert")),
            other => other,
        });
    }
    Ok((profile, outcome))
}

fn names(args: &ConvertArgs) -> String {
    let names = args.files.iter().filter_map(|file| file.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    names.join(", ")
}
