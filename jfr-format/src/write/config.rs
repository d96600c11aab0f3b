//! What is known before the first byte is written.

use super::buffer::ChunkEvent;
use super::ticks::Ticks;
use crate::declare::Schema;

/// The one line on which all times of a file lie: wall clock read once, monotonic clock from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Wall clock at tick 0, nanoseconds since 1970 UTC.
    pub start_epoch_nanos: u64,
    /// `CLOCK_MONOTONIC` at tick 0, in nanoseconds; only [`Clock::ticks`] uses it.
    pub start_monotonic_nanos: u64,
}

impl Clock {
    /// The tick of a monotonic time; 0 for times before the recording.
    pub fn ticks(&self, monotonic_nanos: u64) -> Ticks {
        Ticks(monotonic_nanos.saturating_sub(self.start_monotonic_nanos) / Ticks::NANOS)
    }
}

/// The attribute columns of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Columns {
    /// These names, 0 to 8; a byte per unused column and sample is saved.
    Named(Vec<String>),
    /// Eight columns, named by [`attribute`](super::Recording::attribute) as their attributes come,
    /// in all chunks; until then a column is called `context0` to `context7` and marked as
    /// experimental.
    Auto,
}

/// What a column holds, for readers; written once per chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attribute {
    /// Name as the application knows it, e.g. `http.route`.
    pub name: String,
    /// Text for people; empty = the name.
    pub label: String,
    /// Longer text for people.
    pub description: String,
    /// Name of the Java type that registered the attribute; may be empty.
    pub context_type: String,
}

/// What a recording is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The clock.
    pub clock: Clock,
    /// The event types.
    pub schema: Schema,
    /// The attribute columns.
    pub columns: Columns,
    /// Events that every chunk begins with, of types of `schema`.
    pub chunk_events: Vec<ChunkEvent>,
    /// Size of the sparse tail into which flushes write; costs no disk.
    pub reserve_bytes: u64,
    /// A finished file up to this size is cut behind its content; a larger one keeps its tail.
    pub compact_below_bytes: u64,
}

impl Default for Config {
    /// No events and no columns. Reserve 64 MiB; every file is cut in the end.
    fn default() -> Self {
        Self {
            clock: Clock::default(),
            schema: Schema::default(),
            columns: Columns::Named(Vec::new()),
            chunk_events: Vec::new(),
            reserve_bytes: 64 << 20,
            compact_below_bytes: u64::MAX,
        }
    }
}
