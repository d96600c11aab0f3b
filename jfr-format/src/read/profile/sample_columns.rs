//! How the events of one type become samples: what each field is for, decided once per type.

use std::sync::Arc;

use crate::read::typed::metadata::{Field, Metadata, Shape, Type, TypeIndex};

/// How the name of the type of an attribute column ends: each value is one pooled text.
const COLUMN_TYPE_END: &str = ".AttributeValue";
/// Events whose `weight` or `samples` says how many others they stand for. In any other event it is
/// a figure of the application.
const WEIGHTED: [&str; 9] = [
    "jdk.ExecutionSample",
    "jdk.NativeMethodSample",
    "jdk.ObjectAllocationSample",
    "jdk.ThreadPark",
    "jdk.JavaExceptionThrow",
    "profiler.WallClockSample",
    "datadog.ExecutionSample",
    "datadog.MethodSample",
    "datadog.ObjectSample",
];

/// What the names of the event types begin with that have ids of the tracer's spans.
const WITH_SPANS: &str = "datadog.";

/// Whether the type of a field with this name is that of an attribute column.
pub fn is_attribute_column(type_name: &str) -> bool {
    type_name.ends_with(COLUMN_TYPE_END)
}

/// Whether a type holds samples of running threads: `jdk.ExecutionSample`, `jdk.CPUTimeSample`,
/// Datadog's, and `jdk.NativeMethodSample` if it has a weight: then it means CPU time, while the
/// JDK's own counts waiting threads too.
pub fn is_execution_sample(ty: &Type) -> bool {
    match &*ty.name {
        "jdk.ExecutionSample" | "jdk.CPUTimeSample" | "datadog.ExecutionSample" => true,
        "jdk.NativeMethodSample" => ty.field_position("weight").is_some(),
        _ => false,
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum FieldDecoder {
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
    SpanId,
    RootSpanId,
    SkipVarint,
    Skip(usize),
}

/// An attribute column.
#[derive(Debug)]
pub(super) struct AttributeColumn {
    pub(super) name: Arc<str>,
    pub(super) value_type: TypeIndex,
    /// Whether the chunk says which attribute it is. Else the name is that of the field.
    is_described: bool,
}

/// How the events of one type become samples.
#[derive(Debug)]
pub struct SampleColumns {
    pub(super) index: TypeIndex,
    pub(super) decoders: Vec<FieldDecoder>,
    pub(super) thread_type: Option<TypeIndex>,
    pub(super) stack_type: Option<TypeIndex>,
    pub(super) state_type: Option<TypeIndex>,
    pub(super) columns: Vec<AttributeColumn>,
    pub(super) weighted: bool,
}

impl SampleColumns {
    /// `names` are those of the columns, by slot.
    pub(super) fn new(metadata: &Metadata, index: TypeIndex, names: &[(usize, Arc<str>)]) -> Self {
        let ty = metadata.at(index);
        let mut columns = Self {
            index,
            decoders: Vec::new(),
            thread_type: None,
            stack_type: None,
            state_type: None,
            columns: Vec::new(),
            weighted: false,
        };
        let has_sampled_thread = ty.field_position("sampledThread").is_some();
        // What such an event stands for is the buffer, where there was a new one; that field comes
        // last.
        let is_allocation = ty.name.starts_with("jdk.ObjectAllocation");
        let has_weight = WEIGHTED.contains(&&*ty.name);
        let has_spans = ty.name.starts_with(WITH_SPANS);
        for (position, field) in ty.fields.iter().enumerate() {
            let decoder = match (
                columns.decoder(metadata, field, position, has_sampled_thread),
                &*field.name,
            ) {
                (FieldDecoder::Weight, _) if !has_weight => FieldDecoder::SkipVarint,
                (FieldDecoder::SkipVarint, "allocationSize" | "tlabSize") if is_allocation => {
                    FieldDecoder::Weight
                }
                (FieldDecoder::SkipVarint, "spanId") if has_spans => FieldDecoder::SpanId,
                (FieldDecoder::SkipVarint, "localRootSpanId") if has_spans => {
                    FieldDecoder::RootSpanId
                }
                (decoder, _) => decoder,
            };
            columns.weighted |= matches!(decoder, FieldDecoder::Weight);
            columns.decoders.push(decoder);
        }
        for (slot, name) in names {
            if let Some(column) = columns.columns.get_mut(*slot)
                && !name.is_empty()
            {
                column.name = name.clone();
                column.is_described = true;
            }
        }
        columns
    }

    fn decoder(
        &mut self,
        metadata: &Metadata,
        field: &Field,
        position: usize,
        has_sampled_thread: bool,
    ) -> FieldDecoder {
        if field.array {
            return FieldDecoder::Skip(position);
        }
        if field.constant_pool {
            let Some(ty) = field.type_index else {
                return FieldDecoder::SkipVarint;
            };
            let type_name = &*metadata.at(ty).name;
            return match (&*field.name, type_name) {
                (_, name) if is_attribute_column(name) => {
                    self.columns.push(AttributeColumn {
                        name: field.name.clone(),
                        value_type: ty,
                        is_described: false,
                    });
                    FieldDecoder::Attribute
                }
                ("eventThread", _) if has_sampled_thread => FieldDecoder::SecondThread,
                ("sampledThread" | "eventThread", _) => {
                    self.thread_type = Some(ty);
                    FieldDecoder::Thread
                }
                ("stackTrace", _) => {
                    self.stack_type = Some(ty);
                    FieldDecoder::Stack
                }
                ("state", _) => {
                    self.state_type = Some(ty);
                    FieldDecoder::State
                }
                _ => FieldDecoder::SkipVarint,
            };
        }
        match (&*field.name, field.shape) {
            ("startTime", Shape::Long) if position == 0 => FieldDecoder::Start,
            ("contextId", Shape::Long | Shape::Int) => FieldDecoder::ContextId,
            ("weight" | "samples", Shape::Long | Shape::Int) => FieldDecoder::Weight,
            ("samplingPeriod", Shape::Long) => FieldDecoder::Period,
            ("duration", Shape::Long) => FieldDecoder::Duration,
            ("failed", Shape::Boolean) => FieldDecoder::Failed,
            (_, Shape::Char | Shape::Short | Shape::Int | Shape::Long) => FieldDecoder::SkipVarint,
            _ => FieldDecoder::Skip(position),
        }
    }

    /// Place of the event type in the chunk's metadata.
    pub fn type_index(&self) -> TypeIndex {
        self.index
    }

    /// Names of the attribute columns: as the chunk's `….ContextAttribute` events say, else the
    /// field's name.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.columns.iter().map(|column| &column.name)
    }

    /// Whether a `….ContextAttribute` event of the chunk says which attribute the column holds. A
    /// column that is not described and holds no value is free, or its attribute came later.
    pub fn is_described(&self, column: usize) -> bool {
        let column = self.columns.get(column);
        column.is_some_and(|column| column.is_described)
    }

    /// Whether the events have ids of a tracer's spans.
    pub fn has_span_ids(&self) -> bool {
        let mut decoders = self.decoders.iter();
        decoders.any(|decoder| matches!(decoder, FieldDecoder::SpanId | FieldDecoder::RootSpanId))
    }

    /// Whether the events carry a weight; else it is 1 each.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }
}
