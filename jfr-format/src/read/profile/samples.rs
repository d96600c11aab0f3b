//! Samples with everything that they refer to.
//!
//! Cost per sample: its varints, and one table look-up per reference that is asked for.

use super::rows::{NONE, RawFrame, place_in};
use super::sample_columns::{FieldDecoder, SampleColumns};
use super::stacks::{Frame, Stack};
use super::tables::ProfileData;
use super::threads::Thread;
use crate::error::Error;
use crate::read::raw::cursor::Cursor;
use crate::read::raw::event::{RawEvent, RawEvents, events_of};
use crate::read::typed::event::Event;
use crate::read::typed::metadata::{Type, TypeIndex};
use crate::read::typed::pool::{EntryIndex, Pool};

/// Columns kept without an allocation; ours has at most 8.
const INLINE_COLUMNS: usize = 16;

/// A sample.
#[derive(Debug, Clone)]
pub struct Sample<'c> {
    profile: &'c ProfileData<'c>,
    columns: &'c SampleColumns,
    /// Offset of the event from the chunk's start.
    pub offset: u64,
    /// When, nanoseconds since 1970.
    pub start_nanos: i64,
    /// How many sampling intervals (allocations: bytes) it stands for; 1 where the file does not
    /// say.
    pub weight: u64,
    /// Number of the context; 0 = none.
    pub context_id: i64,
    /// CPU time that it stands for, where the event itself says so (`jdk.CPUTimeSample`).
    pub period_nanos: Option<i64>,
    /// How long it lasted, where the event says so (`jdk.JavaMonitorEnter`, `jdk.ThreadPark`, ...).
    pub duration_nanos: Option<i64>,
    /// Whether the event says that the stack walk failed (`jdk.CPUTimeSample`).
    pub failed: bool,
    /// Id of the tracer's span that the thread was in, and of that span's outermost one in this
    /// process (events of Datadog's profiler); 0 = none.
    pub span_ids: [u64; 2],
    thread: u32,
    stack: u32,
    state: u32,
    attributes: [u32; INLINE_COLUMNS],
    more_attributes: Vec<u32>,
}

impl<'c> Sample<'c> {
    /// Its event type.
    pub fn ty(&self) -> &'c Type {
        self.profile.data.metadata.at(self.columns.index)
    }

    /// How its type's columns are called.
    pub fn columns(&self) -> &'c SampleColumns {
        self.columns
    }

    /// The thread that was sampled.
    pub fn thread(&self) -> Option<Thread<'c>> {
        self.profile.thread(self.thread_entry()?)
    }

    /// Place of the thread in the chunk's pool.
    pub fn thread_entry(&self) -> Option<EntryIndex> {
        (self.thread != NONE).then_some(EntryIndex(self.thread))
    }

    /// The stack.
    pub fn stack(&self) -> Option<Stack<'c>> {
        Stack::new(self.profile, self.stack_entry()?)
    }

    /// Puts the frames of its stack into `frames`, innermost first, and keeps nothing of it: for who
    /// asks for each stack once. Returns whether frames are missing at the outer end; `None` where
    /// there is no stack.
    pub fn decode_stack(&self, frames: &mut Vec<RawFrame>) -> Option<bool> {
        frames.clear();
        self.profile.decode_stack(self.stack_entry()?.0, frames)
    }

    /// The frame with its names.
    pub fn frame(&self, raw: RawFrame) -> Frame<'c> {
        Frame::new(self.profile, raw)
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
        self.profile.text_at(self.columns.state_type, self.state)
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
        self.value_at(column, self.value_entry(column)?)
    }

    /// The value at a place in the pool of a column's values.
    pub fn value_at(&self, column: usize, entry: EntryIndex) -> Option<&'c str> {
        let ty = &self.columns.columns.get(column)?.value_type;
        self.profile.text_at(Some(*ty), entry.0)
    }

    /// The attributes that are set, with their names.
    pub fn context(&self) -> impl Iterator<Item = (&'c str, &'c str)> + use<'c> {
        let sample = self.clone();
        let columns = self.columns;
        columns
            .columns
            .iter()
            .enumerate()
            .filter_map(move |(column, known)| Some((&*known.name, sample.value(column)?)))
    }
}

/// Iterator over the samples of a chunk, see
/// [`ParsedChunk::samples`](crate::read::ParsedChunk::samples).
#[derive(Debug)]
pub struct Samples<'c> {
    profile: &'c ProfileData<'c>,
    raw: RawEvents<'c>,
    /// By type, for those that are wanted.
    plans: Vec<Option<SamplePlan<'c>>>,
    /// The last one that was read.
    lent: Option<Sample<'c>>,
}

/// How the events of a type become samples, and the pools that they refer to: looked up once, not
/// once per sample.
#[derive(Debug)]
struct SamplePlan<'c> {
    columns: &'c SampleColumns,
    threads: Option<&'c Pool>,
    stacks: Option<&'c Pool>,
    states: Option<&'c Pool>,
    values: Vec<Option<&'c Pool>>,
}

impl<'c> SamplePlan<'c> {
    fn new(profile: &'c ProfileData<'c>, columns: &'c SampleColumns) -> Self {
        let pool = |ty: Option<TypeIndex>| ty.and_then(|ty| profile.data.pools.of(ty));
        let values = columns.columns.iter();
        let values = values.map(|column| pool(Some(column.value_type)));
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
    /// A sample without anything.
    fn empty(profile: &'c ProfileData<'c>, columns: &'c SampleColumns) -> Self {
        Self {
            profile,
            columns,
            offset: 0,
            start_nanos: profile.data.header.start_nanos,
            weight: 1,
            context_id: 0,
            period_nanos: None,
            duration_nanos: None,
            failed: false,
            span_ids: [0; 2],
            thread: NONE,
            stack: NONE,
            state: NONE,
            attributes: [NONE; INLINE_COLUMNS],
            more_attributes: Vec::new(),
        }
    }

    fn new(
        profile: &'c ProfileData<'c>,
        plan: &SamplePlan<'c>,
        raw: &RawEvent<'c>,
    ) -> Result<Self, Error> {
        let mut sample = Self::empty(profile, plan.columns);
        sample.read(plan, raw)?;
        Ok(sample)
    }

    /// Becomes the sample of an event.
    fn read(&mut self, plan: &SamplePlan<'c>, raw: &RawEvent<'c>) -> Result<(), Error> {
        self.clear();
        self.columns = plan.columns;
        self.offset = raw.offset;
        let data = &self.profile.data;
        let mut cursor = Cursor::new(raw.payload, raw.payload_offset);
        let mut column = 0;
        for decoder in &plan.columns.decoders {
            match *decoder {
                FieldDecoder::Start => {
                    self.start_nanos = data.header.epoch_nanos(cursor.long()?);
                }
                FieldDecoder::Thread => self.thread = place_in(plan.threads, cursor.varint()?),
                FieldDecoder::Stack => self.stack = place_in(plan.stacks, cursor.varint()?),
                FieldDecoder::State => self.state = place_in(plan.states, cursor.varint()?),
                FieldDecoder::Attribute => {
                    let pool = plan.values.get(column).copied().flatten();
                    let found = place_in(pool, cursor.varint()?);
                    match self.attributes.get_mut(column) {
                        Some(slot) => *slot = found,
                        None => self.more_attributes.push(found),
                    }
                    column += 1;
                }
                FieldDecoder::ContextId => self.context_id = cursor.long()?,
                FieldDecoder::Weight => self.weight = cursor.varint()?,
                FieldDecoder::Period => {
                    self.period_nanos = Some(data.header.span_nanos(cursor.long()?));
                }
                FieldDecoder::Duration => {
                    self.duration_nanos = Some(data.header.span_nanos(cursor.long()?));
                }
                FieldDecoder::Failed => self.failed = cursor.byte()? != 0,
                FieldDecoder::SpanId => self.span_ids[0] = cursor.varint()?,
                FieldDecoder::RootSpanId => self.span_ids[1] = cursor.varint()?,
                FieldDecoder::SecondThread | FieldDecoder::SkipVarint => cursor.skip_varint()?,
                FieldDecoder::Skip(position) => {
                    match data.metadata.at(plan.columns.index).fields.get(position) {
                        Some(field) => data.metadata.skip(field, &mut cursor)?,
                        None => break,
                    }
                }
            }
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.start_nanos = self.profile.data.header.start_nanos;
        self.weight = 1;
        self.context_id = 0;
        (self.period_nanos, self.duration_nanos) = (None, None);
        self.failed = false;
        self.span_ids = [0; 2];
        (self.thread, self.stack, self.state) = (NONE, NONE, NONE);
        self.attributes = [NONE; INLINE_COLUMNS];
        self.more_attributes.clear();
    }
}

impl<'c> Samples<'c> {
    /// The next sample that can be read. It is overwritten by the one after it, so nothing is
    /// copied.
    pub fn next_readable(&mut self) -> Option<&Sample<'c>> {
        while self.read_next()?.is_err() {}
        self.lent.as_ref()
    }

    /// Reads the next sample into `lent`.
    #[inline]
    fn read_next(&mut self) -> Option<Result<(), Error>> {
        loop {
            let raw = match self.raw.next()? {
                Ok(raw) => raw,
                Err(error) => return Some(Err(error)),
            };
            let Some(index) = self.profile.data.metadata.index_of(raw.type_id) else {
                continue;
            };
            if let Some(Some(plan)) = self.plans.get(index.usize()) {
                let empty = || Sample::empty(self.profile, plan.columns);
                let sample = self.lent.get_or_insert_with(empty);
                return Some(sample.read(plan, &raw));
            }
        }
    }
}

impl<'c> Iterator for Samples<'c> {
    type Item = Result<Sample<'c>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read_next()? {
            Ok(()) => self.lent.clone().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}

impl ProfileData<'_> {
    /// The samples of the event types that `wanted` picks, in file order. An event that cannot be
    /// read is an error and not the end; an event without a sound size ends the chunk.
    pub(crate) fn samples(&self, wanted: impl Fn(&Type) -> bool) -> Samples<'_> {
        let plans = (0u32..).zip(self.data.metadata.types()).map(|(index, ty)| {
            let is_wanted = ty.is_event() && wanted(ty);
            let columns = is_wanted.then(|| self.columns_of(TypeIndex(index)))??;
            Some(SamplePlan::new(self, columns))
        });
        Samples {
            profile: self,
            raw: events_of(self.data.bytes),
            plans: plans.collect(),
            lent: None,
        }
    }

    /// An event as a sample; `None` if it has neither a stack nor an attribute column.
    ///
    /// # Errors
    /// When a field cannot be read.
    pub(crate) fn sample<'c>(&'c self, event: &Event<'c>) -> Result<Option<Sample<'c>>, Error> {
        let columns = self.columns_of(event.type_index());
        columns
            .map(|columns| Sample::new(self, &SamplePlan::new(self, columns), event.raw()))
            .transpose()
    }

    /// How the events of a type become samples; `None` if it has neither a stack nor an attribute
    /// column.
    pub(crate) fn columns_of(&self, index: TypeIndex) -> Option<&SampleColumns> {
        let cell = self.sample_columns.get(index.usize())?;
        cell.get_or_init(|| {
            if !self.data.metadata.at(index).is_event() {
                return None;
            }
            let names = self.column_names.get_or_init(|| self.data.column_names());
            let columns = SampleColumns::new(&self.data.metadata, index, names);
            (columns.stack_type.is_some() || !columns.columns.is_empty()).then_some(columns)
        })
        .as_ref()
    }
}
