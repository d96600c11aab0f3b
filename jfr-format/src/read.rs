//! Reading recordings: three levels, each usable alone.
//!
//! 1. **Records** ([`Chunks`], [`ChunkStream`]): chunks, and events as offset, size, type id,
//!    payload. A few nanoseconds per event.
//! 2. **Values** ([`ChunkParser`], [`ParsedChunk::events`]): event types, fields, annotations,
//!    values; pool entries are decoded when asked for. Parsing a chunk costs one pass over its
//!    checkpoints, and over its metadata if they differ from those of the last chunk.
//! 3. **Samples** ([`ParsedChunk::samples`]): thread, stack, state, context columns, weight. Each
//!    thread, method and stack is decoded once per chunk, when first asked for.
//!
//! Attribute columns are known by the name of their type, which ends with `.AttributeValue`
//! (Datadog's profiler has such a type, too), and get their names from events of a type that ends
//! with `.ContextAttribute`.
//!
//! Any slice will do, also that of a mapped file: that is the fastest way over a large file of
//! which little is wanted, but whoever shortens a mapped file kills its reader (`SIGBUS`). A
//! [`ChunkStream`] cannot be hurt so, reads what is packed through any decoder, and holds one chunk
//! at a time.
//!
//! **Contract.** Any byte sequence gives values or errors with a position: no panic, no allocation
//! by a length field (only by bytes that are there), no recursion beyond 64. Corruption is local: a
//! bad event ends its chunk, a bad chunk is skipped, and both are listed as [`Corruption`].
//! [`ParsedChunk::verify`] finds what nobody asked for, such as an event that cannot be read.
//! Chunks do not depend on each other, so threads may read them in parallel.
//!
//! ```
//! use jfr_format::read::{Chunks, ChunkParser};
//!
//! # fn main() -> Result<(), jfr_format::error::Error> {
//! let file: &[u8] = &[]; // std::fs::read("app.jfr")?
//! let (mut chunks, mut parser) = (Chunks::new(file), ChunkParser::new());
//! for chunk in chunks.by_ref() {
//!     let open = parser.parse(&chunk)?;
//!     for sample in open.samples(jfr_format::read::is_execution_sample) {
//!         let sample = sample?;
//!         println!("{} ns: {:?}", sample.start_nanos, sample.context().collect::<Vec<_>>());
//!     }
//! }
//! assert!(chunks.corruptions().is_empty());
//! # Ok(())
//! # }
//! ```

mod parsed_chunk;
mod profile;
mod raw;
mod typed;
mod verify;

pub use parsed_chunk::{ChunkParser, ParsedChunk};
pub use profile::descriptions::{Setting as ActiveSetting, TextBudget};
pub use profile::rows::RawFrame;
pub use profile::sample_columns::{SampleColumns, is_attribute_column, is_execution_sample};
pub use profile::samples::{Sample, Samples};
pub use profile::stacks::{Frame, Frames, Stack};
pub use profile::threads::Thread;
pub use raw::chunks::{Chunk, Chunks};
pub use raw::corruption::Corruption;
pub use raw::event::{RawEvent, RawEvents};
pub use raw::stream::{ChunkStream, OwnedChunk};
pub use typed::annotations::{Annotation, Annotations};
pub use typed::event::{Event, Events};
pub use typed::metadata::{Field, MAX_DEPTH, Metadata, Setting, Shape, Type, TypeIndex};
pub use typed::pool::EntryIndex;
pub use typed::value::{Array, PoolRef, Struct, Value};
