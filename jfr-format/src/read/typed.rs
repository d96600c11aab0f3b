//! Level 2: what the events and the pool entries of a chunk hold, by the chunk's own metadata.

pub(crate) mod annotations;
pub(crate) mod chunk_data;
mod elements;
pub(crate) mod event;
mod event_offsets;
pub(crate) mod metadata;
pub(crate) mod metadata_event;
pub(crate) mod pool;
pub(crate) mod pools;
mod skip;
pub(crate) mod value;
