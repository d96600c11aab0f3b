//! Reading recordings: three levels, each usable alone.
//!
//! | level | start with | gives | cost |
//! |---|---|---|---|
//! | 1, records | [`Chunks`], [`ChunkStream`] | chunks, and events as (offset, size, type id, payload) | a few ns per event |
//! | 2, values | [`Opener`] or [`OpenChunk::new`], [`OpenChunk::events`] | event types, fields, annotations, values; pool entries decoded when asked for | opening: one pass over the checkpoints, and over the metadata where they are not those of the last chunk |
//! | 3, samples | [`OpenChunk::samples`] | thread, stack, state, context columns, weight, wall time | each thread, method and stack decoded once per chunk, when first asked for |
//!
//! Any slice will do, also that of a mapped file: that is the fastest way over a large file of which little is wanted, but whoever
//! shortens a mapped file kills its reader (`SIGBUS`). A [`ChunkStream`] cannot be hurt so, reads what is packed through any decoder, and
//! holds one chunk at a time.
//!
//! **Contract.** Any byte sequence gives values or errors with a position: no panic, no allocation by a length field (only by
//! bytes that are there), no recursion beyond 64. Damage is local: a bad event ends its chunk, a bad chunk is skipped, and both
//! are listed as [`Damage`]. [`OpenChunk::verify`] finds what nobody asked for, such as an event that cannot be read. Chunks do not depend on each other, so threads may read them in parallel.
//!
//! ```
//! use jfr_format::read::{Chunks, Opener};
//!
//! # fn main() -> Result<(), jfr_format::error::Error> {
//! let file: &[u8] = &[]; // std::fs::read("app.jfr")?
//! let (mut chunks, mut opener) = (Chunks::new(file), Opener::new());
//! for chunk in chunks.by_ref() {
//!     let open = opener.open(&chunk)?;
//!     for sample in open.samples(jfr_format::read::is_execution_sample) {
//!         let sample = sample?;
//!         println!("{} ns: {:?}", sample.start_nanos, sample.context().collect::<Vec<_>>());
//!     }
//! }
//! assert!(chunks.damages().is_empty());
//! # Ok(())
//! # }
//! ```

mod chunks;
mod cursor;
mod metadata;
mod open;
mod pools;
mod samples;
mod skip;
mod stacks;
mod tables;
mod tree;
mod value;
mod verify;
mod ways;

use std::fmt;

pub use chunks::{Chunk, ChunkStream, Chunks, OwnedChunk, RawEvent, RawEvents};
pub use metadata::{Annotation, Annotations, Field, Metadata, Setting, Shape, Type, TypeIndex};
pub use open::{Event, Events, OpenChunk, Opener};
pub use pools::EntryIndex;
pub use samples::{
    ContextAttribute, Sample, SampleColumns, Samples, Setting as ActiveSetting, Stat,
    is_execution_sample,
};
pub use stacks::{Frame, Frames, Stack};
pub use tables::Thread;
pub use value::{Array, PoolRef, Struct, Value};

use crate::error::Error;

/// Most levels that elements, types and references may be nested.
pub const MAX_DEPTH: u32 = 64;

/// Something wrong that did not stop the reading: the chunk, and the place in it.
#[derive(Debug)]
pub struct Damage {
    /// Offset of the chunk from the first byte of the file.
    pub chunk_offset: u64,
    /// What is wrong; its place counts from the chunk's first byte.
    pub error: Error,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chunk at {}, {}", self.chunk_offset, self.error)
    }
}

impl std::error::Error for Damage {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
