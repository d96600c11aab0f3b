//! Level 1: where the chunks of a file lie, and where the events of a chunk lie.
//!
//! A file is chunks end to end. [`Chunks`](chunks::Chunks) cuts a slice,
//! [`ChunkStream`](stream::ChunkStream) cuts whatever implements [`Read`](std::io::Read). Both go
//! on behind garbage.

pub(crate) mod boundaries;
pub(crate) mod chunks;
pub(crate) mod corruption;
pub(crate) mod cursor;
pub(crate) mod event;
pub(crate) mod stream;
