//! The writer: one recording, readable at every instant by the JDK's own tools.
//!
//! | start with | what it is |
//! |---|---|
//! | [`Config`] | what is known before the first byte: clock, event types, columns |
//! | [`Recording`] | pools, events, flush, rotation, finish |
//! | [`Thread`], [`Method`], [`StackTrace`] | values of pools; each has a typed key |
//! | [`Storage`] | the few file operations: a file, memory, or what the caller makes of it |
//!
//! ```
//! use jfr_format::declare::{EventType, Field, Part, Schema};
//! use jfr_format::write::{Config, Frame, FrameKind, MemoryStorage, Method, Recording, StackTrace, Ticks};
//!
//! const ORDER: EventType = EventType {
//!     id: 100,
//!     name: "shop.Order",
//!     label: "Order",
//!     category: &["Shop"],
//!     description: "",
//!     parts: &[
//!         Part::Field(Field::plain("startTime", "long", "Start Time")),
//!         Part::Field(Field::pooled("stackTrace", "jdk.types.StackTrace", "Stack Trace")),
//!         Part::Field(Field::plain("customer", "java.lang.String", "Customer")),
//!     ],
//! };
//!
//! # fn main() -> Result<(), jfr_format::error::Error> {
//! let schema = Schema { events: &[ORDER], ..Schema::default() };
//! let mut recording = Recording::create(MemoryStorage::new(), Config { schema, ..Config::default() })?;
//! let method = recording.method(&Method::new("app/Shop", "order", "()V", 1));
//! let frames = [Frame { method, line: 12, bci: 3, kind: FrameKind::Jit }];
//! let stack = recording.stack(&StackTrace { truncated: false, frames: &frames });
//! recording.event(ORDER.id, Ticks(1_000), |fields| {
//!     fields.key(stack).text("acme");
//! });
//! recording.flush(Ticks(2_000))?;
//! recording.finish(Ticks(3_000))?;
//! # Ok(())
//! # }
//! ```
//!
//! Rules for callers:
//! 1. One thread at a time (`&mut self`); nothing here waits for anything but the storage.
//! 2. Keys are good for one [`Recording::generation`]. Cache `(generation, key)` and ask again when
//!    the number differs.
//! 3. Events go to memory; [`Recording::flush`] brings them to the file. An error of `flush` or
//!    `rotate` loses nothing: call it again later, or discard what is in memory with
//!    [`Recording::discard_unflushed`].
//! 4. Memory is bounded by the chunk: rotate when [`Recording::size_hint_bytes`] is too large.

mod buffer;
mod chunk_file;
mod chunk_start;
mod columns;
mod config;
mod intern;
mod keys;
mod layout;
mod metadata;
mod model;
mod pools;
mod recording;
mod storage;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod ticks;

pub use buffer::{ChunkEvent, Fields};
pub use config::{Attribute, Clock, Columns, Config};
pub use keys::{AttributeKey, ClassKey, MethodKey, StackKey, StateKey, ThreadGroupKey, ThreadKey};
pub use model::{Context, Frame, FrameKind, Method, StackTrace, Thread};
pub use recording::{Finished, Recording, separator};
pub use storage::{Directory, FileState, FileStorage, MemoryStorage, Operation, PAGE, Storage};
pub use text::from_modified_utf8;
pub use ticks::Ticks;
