//! From samples to sums: one pass over the files, grouped by attribute values and, where wanted, by
//! stack.

mod chunk;
mod collected;
mod counters;
mod interval;
mod joined;
mod labelled;
mod late;
mod pauses;
mod process;
mod query;
mod recorders;
mod scope_clock;
mod scopes;
mod sources;
mod stacks;
mod sums;
mod terms;
mod thread_names;
mod type_work;

pub(crate) use chunk::{ChunkSums, Start, collect_chunk, collect_chunk_from};
pub(crate) use collected::{Collected, collect, collect_each, warn_repeated};
#[cfg(test)]
pub(crate) use counters::ChunkStats;
pub(crate) use counters::FileCounters;
pub(crate) use interval::FALLBACK_INTERVAL_NANOS;
pub(crate) use joined::{CONTEXTUAL, MERGED_CONTEXTUAL};
pub(crate) use process::{Fact, ProcessFacts};
pub(crate) use query::{Query, THREAD, key_of};
pub(crate) use scope_clock::{ClockPair, JdkClock, Process, aligned};
pub(crate) use scopes::{ScopeIndex, ScopeSearch, UNKNOWN};
pub(crate) use stacks::{FrameKind, FrameName, StackList, has_stack};
pub(crate) use sums::{GroupKey, Moment, StackSum, Sum, TypeSums};
