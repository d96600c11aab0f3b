//! Level 3: samples with everything they refer to, and the events that tell about the recording itself.
//!
//! Cost per sample: its varints, and one table look-up per reference that is asked for.

use std::borrow::Cow;
use std::sync::Arc;

use super::cursor::Cursor;
use super::metadata::{Field, Shape, Type, TypeIndex};
use super::open::{Core, Event, OpenChunk};
use super::pools::{EntryIndex, Pool};
use super::stacks::Stack;
use super::tables::{NONE, Thread, place_in};
use super::{RawEvent, RawEvents};
use crate::error::Error;
use crate::events::COLUMN_TYPE;

/// Attribute type of the Datadog profiler: the same idea, one pooled text per column.
const DATADOG_COLUMN_TYPE: &str = "profiler.types.AttributeValue";
/// Events whose `weight` or `samples` says how many others they stand for. In any other event it is a figure of the application.
const WEIGHTED: [&str; 7] = [
    "jdk.ExecutionSample",
    "jdk.NativeMethodSample",
    "jdk.ObjectAllocationSample",
    "profiler.WallClockSample",
    "datadog.ExecutionSample",
    "datadog.MethodSample",
    "datadog.ObjectSample",
];
/// Columns kept without an allocation; ours has at most 8.
const INLINE_COLUMNS: usize = 16;

/// Whether a type holds samples of running threads: `jdk.ExecutionSample`, `jdk.CPUTimeSample`, Datadog's, and
/// `jdk.NativeMethodSample` where it is ours (with a weight, it means CPU time; the JDK's own counts waiting threads too).
pub fn is_execution_sample(ty: &Type) -> bool {
    match &*ty.name {
        "jdk.ExecutionSample" | "jdk.CPUTimeSample" | "datadog.ExecutionSample" => true,
        "jdk.NativeMethodSample" => ty.field_position("weight").is_some(),
        _ => false,
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Start,
    Thread,
    SecondThread,
    Stack,
    State,
    Attribute,
    ContextId,
    Weight,
    Period,
    Duration,
    Failed,
    SkipVarint,
    Skip(usize),
}

/// How the events of one type become samples.
#[derive(Debug)]
pub struct SampleColumns {
    index: TypeIndex,
    steps: Vec<Step>,
    thread_type: Option<TypeIndex>,
    stack_type: Option<TypeIndex>,
    state_type: Option<TypeIndex>,
    /// Per column: name, type of the value.
    columns: Vec<(Arc<str>, TypeIndex)>,
    weighted: bool,
}

impl SampleColumns {
    fn new(chunk: &OpenChunk<'_>, index: TypeIndex, slot_names: &[(usize, Arc<str>)]) -> Self {
        let ty = chunk.metadata().at(index);
        let mut columns = Self {
            index,
            steps: Vec::new(),
            thread_type: None,
            stack_type: None,
            state_type: None,
            columns: Vec::new(),
            weighted: false,
        };
        let has_sampled_thread = ty.field_position("sampledThread").is_some();
        // What such an event stands for is the buffer, where there was a new one; that field comes last.
        let is_allocation = ty.name.starts_with("jdk.ObjectAllocation");
        let has_weight = WEIGHTED.contains(&&*ty.name);
        for (position, field) in ty.fields.iter().enumerate() {
            let step = match (
                columns.step(chunk, field, position, has_sampled_thread),
                &*field.name,
            ) {
                (Step::Weight, _) if !has_weight => Step::SkipVarint,
                (Step::SkipVarint, "allocationSize" | "tlabSize") if is_allocation => Step::Weight,
                (step, _) => step,
            };
            columns.weighted |= matches!(step, Step::Weight);
            columns.steps.push(step);
        }
        for (slot, name) in slot_names {
            if let Some((column, _)) = columns.columns.get_mut(*slot)
                && !name.is_empty()
            {
                *column = name.clone();
            }
        }
        columns
    }

    fn step(
        &mut self,
        chunk: &OpenChunk<'_>,
        field: &Field,
        position: usize,
        has_sampled_thread: bool,
    ) -> Step {
        if field.array {
            return Step::Skip(position);
        }
        if field.constant_pool {
            let Some(ty) = field.type_index else {
                return Step::SkipVarint;
            };
            let type_name = &*chunk.metadata().at(ty).name;
            return match (&*field.name, type_name) {
                (_, COLUMN_TYPE | DATADOG_COLUMN_TYPE) => {
                    self.columns.push((field.name.clone(), ty));
                    Step::Attribute
                }
                ("eventThread", _) if has_sampled_thread => Step::SecondThread,
                ("sampledThread" | "eventThread", _) => {
                    self.thread_type = Some(ty);
                    Step::Thread
                }
                ("stackTrace", _) => {
                    self.stack_type = Some(ty);
                    Step::Stack
                }
                ("state", _) => {
                    self.state_type = Some(ty);
                    Step::State
                }
                _ => Step::SkipVarint,
            };
        }
        match (&*field.name, field.shape) {
            ("startTime", Shape::Long) if position == 0 => Step::Start,
            ("contextId", Shape::Long | Shape::Int) => Step::ContextId,
            ("weight" | "samples", Shape::Long | Shape::Int) => Step::Weight,
            ("samplingPeriod", Shape::Long) => Step::Period,
            ("duration", Shape::Long) => Step::Duration,
            ("failed", Shape::Boolean) => Step::Failed,
            (_, Shape::Char | Shape::Short | Shape::Int | Shape::Long) => Step::SkipVarint,
            _ => Step::Skip(position),
        }
    }

    /// Place of the event type in the chunk's metadata.
    pub fn type_index(&self) -> TypeIndex {
        self.index
    }

    /// Names of the attribute columns: as `ctxagent.ContextAttribute` tells, else the field's name.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.columns.iter().map(|(name, _)| name)
    }

    /// Whether the events carry a weight; else it is 1 each.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }
}

/// A sample.
#[derive(Debug, Clone)]
pub struct Sample<'c> {
    core: &'c Core<'c>,
    columns: &'c SampleColumns,
    /// Offset of the event from the chunk's start.
    pub offset: u64,
    /// When, nanoseconds since 1970.
    pub start_nanos: i64,
    /// How many sampling intervals (allocations: bytes) it stands for; 1 where the file does not tell.
    pub weight: u64,
    /// Number of the context; 0 = none.
    pub context_id: i64,
    /// CPU time that it stands for, where the event itself tells (`jdk.CPUTimeSample`).
    pub period_nanos: Option<i64>,
    /// How long it lasted, where the event tells (`jdk.JavaMonitorEnter`, `jdk.ThreadPark`, ...).
    pub duration_nanos: Option<i64>,
    /// Whether the event says that the stack walk failed (`jdk.CPUTimeSample`); ours tells by a frame `ctxagent/NoStack`.
    pub failed: bool,
    thread: u32,
    stack: u32,
    state: u32,
    attributes: [u32; INLINE_COLUMNS],
    more_attributes: Vec<u32>,
}

impl<'c> Sample<'c> {
    /// Its event type.
    pub fn ty(&self) -> &'c Type {
        self.core.metadata.at(self.columns.index)
    }

    /// How its type's columns are called.
    pub fn columns(&self) -> &'c SampleColumns {
        self.columns
    }

    /// The thread that was sampled.
    pub fn thread(&self) -> Option<Thread<'c>> {
        self.core.thread(self.thread_entry()?)
    }

    /// Place of the thread in the chunk's pool.
    pub fn thread_entry(&self) -> Option<EntryIndex> {
        (self.thread != NONE).then_some(EntryIndex(self.thread))
    }

    /// The stack.
    pub fn stack(&self) -> Option<Stack<'c>> {
        Stack::new(self.core, self.stack_entry()?)
    }

    /// Place of the stack in the chunk's pool.
    pub fn stack_entry(&self) -> Option<EntryIndex> {
        (self.stack != NONE).then_some(EntryIndex(self.stack))
    }

    /// Place of the thread's state in its pool.
    pub fn state_entry(&self) -> Option<EntryIndex> {
        (self.state != NONE).then_some(EntryIndex(self.state))
    }

    /// The thread's state: `STATE_RUNNABLE`, ...
    pub fn state(&self) -> Option<&'c str> {
        self.core.text_at(self.columns.state_type, self.state)
    }

    /// Place of a column's value in its pool; `None` = not set.
    #[inline]
    pub fn value_entry(&self, column: usize) -> Option<EntryIndex> {
        let place = match self.attributes.get(column) {
            Some(&place) => place,
            None => *self.more_attributes.get(column - INLINE_COLUMNS)?,
        };
        (place != NONE).then_some(EntryIndex(place))
    }

    /// A column's value; `None` = not set.
    pub fn value(&self, column: usize) -> Option<&'c str> {
        let (_, ty) = self.columns.columns.get(column)?;
        self.core.text_at(Some(*ty), self.value_entry(column)?.0)
    }

    /// The attributes that are set, with their names.
    pub fn context(&self) -> impl Iterator<Item = (&'c str, &'c str)> + use<'c> {
        let sample = self.clone();
        let columns = self.columns;
        columns
            .columns
            .iter()
            .enumerate()
            .filter_map(move |(column, (name, _))| Some((&**name, sample.value(column)?)))
    }
}

/// Iterator over the samples of a chunk, see [`OpenChunk::samples`].
#[derive(Debug)]
pub struct Samples<'c> {
    core: &'c Core<'c>,
    raw: RawEvents<'c>,
    /// By type, for those that are wanted.
    plans: Vec<Option<Plan<'c>>>,
}

/// How the events of a type become samples, and the pools that they refer to: looked up once, not once per sample.
#[derive(Debug)]
struct Plan<'c> {
    columns: &'c SampleColumns,
    threads: Option<&'c Pool>,
    stacks: Option<&'c Pool>,
    states: Option<&'c Pool>,
    values: Vec<Option<&'c Pool>>,
}

impl<'c> Plan<'c> {
    fn new(core: &'c Core<'c>, columns: &'c SampleColumns) -> Self {
        let pool = |ty: Option<TypeIndex>| ty.and_then(|ty| core.pools.of(ty));
        let values = columns.columns.iter().map(|(_, ty)| pool(Some(*ty)));
        Self {
            columns,
            threads: pool(columns.thread_type),
            stacks: pool(columns.stack_type),
            states: pool(columns.state_type),
            values: values.collect(),
        }
    }
}

impl<'c> Sample<'c> {
    fn read(core: &'c Core<'c>, plan: &Plan<'c>, raw: &RawEvent<'c>) -> Result<Self, Error> {
        let columns = plan.columns;
        let mut cursor = Cursor::new(raw.payload, raw.payload_offset);
        let mut sample = Sample {
            core,
            columns,
            offset: raw.offset,
            start_nanos: core.header.start_nanos,
            weight: 1,
            context_id: 0,
            period_nanos: None,
            duration_nanos: None,
            failed: false,
            thread: NONE,
            stack: NONE,
            state: NONE,
            attributes: [NONE; INLINE_COLUMNS],
            more_attributes: Vec::new(),
        };
        let mut column = 0;
        for step in &columns.steps {
            match *step {
                Step::Start => sample.start_nanos = core.header.epoch_nanos(cursor.long()?),
                Step::Thread => sample.thread = place_in(plan.threads, cursor.varint()?),
                Step::Stack => sample.stack = place_in(plan.stacks, cursor.varint()?),
                Step::State => sample.state = place_in(plan.states, cursor.varint()?),
                Step::Attribute => {
                    let pool = plan.values.get(column).copied().flatten();
                    let found = place_in(pool, cursor.varint()?);
                    match sample.attributes.get_mut(column) {
                        Some(slot) => *slot = found,
                        None => sample.more_attributes.push(found),
                    }
                    column += 1;
                }
                Step::ContextId => sample.context_id = cursor.long()?,
                Step::Weight => sample.weight = cursor.varint()?,
                Step::Period => sample.period_nanos = Some(core.header.span_nanos(cursor.long()?)),
                Step::Duration => {
                    sample.duration_nanos = Some(core.header.span_nanos(cursor.long()?));
                }
                Step::Failed => sample.failed = cursor.byte()? != 0,
                Step::SecondThread | Step::SkipVarint => cursor.skip_varint()?,
                Step::Skip(position) => {
                    match core.metadata.at(columns.index).fields.get(position) {
                        Some(field) => core.metadata.skip(field, &mut cursor)?,
                        None => break,
                    }
                }
            }
        }
        Ok(sample)
    }
}

impl<'c> Iterator for Samples<'c> {
    type Item = Result<Sample<'c>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let raw = match self.raw.next()? {
                Ok(raw) => raw,
                Err(error) => return Some(Err(error)),
            };
            let Some(index) = self.core.metadata.index_of(raw.type_id) else {
                continue;
            };
            if let Some(Some(plan)) = self.plans.get(index.usize()) {
                return Some(Sample::read(self.core, plan, &raw));
            }
        }
    }
}

/// What an attribute column means: `ctxagent.ContextAttribute`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextAttribute {
    /// Number of the column.
    pub slot: i64,
    /// Name as the application knows it.
    pub name: String,
    /// Name of the Java type that registered it; may be empty.
    pub context_type: String,
}

/// A counter of the profiler: `ctxagent.Stats`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Name of the counter.
    pub name: String,
    /// Growth in this chunk.
    pub value: i64,
    /// Total since the start of the recording.
    pub total: i64,
}

/// A setting in force: `jdk.ActiveSetting`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Event type that it belongs to; `None` if the chunk does not declare the id.
    pub event: Option<String>,
    /// Name.
    pub name: String,
    /// Value as text.
    pub value: String,
}

impl OpenChunk<'_> {
    /// The samples of the event types that `wanted` picks, in file order. An event that cannot be read is an error and not the end;
    /// an event without a sound size ends the chunk.
    pub fn samples(&self, wanted: impl Fn(&Type) -> bool) -> Samples<'_> {
        let plans = (0u32..).zip(self.metadata().types()).map(|(index, ty)| {
            let is_wanted = ty.is_event() && wanted(ty);
            let columns = is_wanted.then(|| self.sample_columns(TypeIndex(index)))??;
            Some(Plan::new(&self.core, columns))
        });
        Samples {
            core: &self.core,
            raw: self.raw_events(),
            plans: plans.collect(),
        }
    }

    /// An event as a sample; `None` if it has neither a stack nor an attribute column.
    ///
    /// # Errors
    /// When a field cannot be read.
    pub fn sample<'c>(&'c self, event: &Event<'c>) -> Result<Option<Sample<'c>>, Error> {
        let columns = self.sample_columns(event.type_index());
        columns
            .map(|columns| Sample::read(&self.core, &Plan::new(&self.core, columns), event.raw()))
            .transpose()
    }

    /// How the events of a type become samples; `None` if it has neither a stack nor an attribute column.
    pub fn sample_columns(&self, index: TypeIndex) -> Option<&SampleColumns> {
        let plan = self.plans.get(index.usize())?;
        plan.get_or_init(|| {
            if !self.metadata().at(index).is_event() {
                return None;
            }
            let slots = self.slots.get_or_init(|| self.slot_names());
            let columns = SampleColumns::new(self, index, slots);
            (columns.stack_type.is_some() || !columns.columns.is_empty()).then_some(columns)
        })
        .as_ref()
    }

    fn slot_names(&self) -> Vec<(usize, Arc<str>)> {
        self.context_attributes()
            .into_iter()
            .filter_map(|attribute| {
                let slot = usize::try_from(attribute.slot).ok()?;
                Some((slot, attribute.name.into()))
            })
            .collect()
    }

    /// The events of one type, by name.
    pub fn events_named(&self, name: &str) -> impl Iterator<Item = Event<'_>> {
        let index = self.metadata().index_of_name(name);
        let events = index.map(|index| {
            self.events()
                .map_while(Result::ok)
                .filter(move |event| event.type_index() == index)
        });
        events.into_iter().flatten()
    }

    /// What the attribute columns mean. Events that cannot be read are left out, here and below, and so is everything from the event on whose
    /// texts would make the copies longer than the chunk (or 1 MiB, if that is more).
    pub fn context_attributes(&self) -> Vec<ContextAttribute> {
        let read = |event: &Event<'_>, copies: &mut Copies| {
            Some(ContextAttribute {
                slot: event.long("slot").ok()??,
                name: copies.of(event.text("name").ok()?),
                context_type: copies.of(event.text("contextType").ok()?),
            })
        };
        self.told_by("ctxagent.ContextAttribute", MOST_DESCRIPTIONS, read)
    }

    /// The profiler's counters.
    pub fn stats(&self) -> Vec<Stat> {
        let read = |event: &Event<'_>, copies: &mut Copies| {
            Some(Stat {
                name: copies.of(event.text("name").ok()?),
                value: event.long("value").ok()??,
                total: event.long("total").ok()??,
            })
        };
        self.told_by("ctxagent.Stats", usize::MAX, read)
    }

    /// The settings in force.
    pub fn settings(&self) -> Vec<Setting> {
        let read = |event: &Event<'_>, copies: &mut Copies| {
            let id = event.long("id").ok()??.cast_unsigned();
            let ty = self.metadata().type_by_id(id);
            Some(Setting {
                event: ty.map(|ty| copies.of(Some(Cow::Borrowed(&ty.name)))),
                name: copies.of(event.text("name").ok()?),
                value: copies.of(event.text("value").ok()?),
            })
        };
        self.told_by("jdk.ActiveSetting", usize::MAX, read)
    }

    /// What the first `most` events of a type tell, as far as their texts may be copied.
    fn told_by<T>(
        &self,
        name: &str,
        most: usize,
        read: impl Fn(&Event<'_>, &mut Copies) -> Option<T>,
    ) -> Vec<T> {
        let mut copies = Copies {
            left: self.core.bytes.len().max(LEAST_COPIED_BYTES),
            spent: false,
        };
        let mut told = Vec::new();
        for event in self.events_named(name) {
            let read = read(&event, &mut copies);
            if copies.spent || told.len() == most {
                break;
            }
            told.extend(read);
        }
        told
    }
}

/// Descriptions of columns looked at per chunk; a chunk of ours has 8.
const MOST_DESCRIPTIONS: usize = 4096;
/// Texts of so many bytes are copied from however short a chunk.
const LEAST_COPIED_BYTES: usize = 1 << 20;

/// Texts that become somebody's own. Every event of ten bytes can name the same text of a megabyte, so there is an end to it.
struct Copies {
    left: usize,
    /// There was no room for a text.
    spent: bool,
}

impl Copies {
    fn of(&mut self, text: Option<Cow<'_, str>>) -> String {
        let text = text.unwrap_or_default();
        if let Some(left) = self.left.checked_sub(text.len()) {
            self.left = left;
            text.into_owned()
        } else {
            self.spent = true;
            String::new()
        }
    }
}
