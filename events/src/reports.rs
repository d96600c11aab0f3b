//! What a recording says about itself: counters, and what its columns mean.

use jfr_format::read::ParsedChunk;

use crate::declarations::{CONTEXT_ATTRIBUTE, STATS};

/// Descriptions of columns that are read per chunk; a chunk of the agent has 8.
const MAX_DESCRIPTIONS: usize = 4096;

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

/// The reports in a chunk. Events that cannot be read are left out; texts are copied within a
/// [`TextBudget`](jfr_format::read::TextBudget).
pub trait Reports {
    /// What the attribute columns mean.
    fn context_attributes(&self) -> Vec<ContextAttribute>;

    /// The profiler's counters.
    fn stats(&self) -> Vec<Stat>;
}

impl Reports for ParsedChunk<'_> {
    fn context_attributes(&self) -> Vec<ContextAttribute> {
        self.rows_of(CONTEXT_ATTRIBUTE.name, MAX_DESCRIPTIONS, |event, texts| {
            Some(ContextAttribute {
                slot: event.long("slot").ok()??,
                name: texts.copy(event.text("name").ok()?),
                context_type: texts.copy(event.text("contextType").ok()?),
            })
        })
    }

    fn stats(&self) -> Vec<Stat> {
        self.rows_of(STATS.name, usize::MAX, |event, texts| {
            Some(Stat {
                name: texts.copy(event.text("name").ok()?),
                value: event.long("value").ok()??,
                total: event.long("total").ok()??,
            })
        })
    }
}
