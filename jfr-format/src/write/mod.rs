//! The writer: one recording, readable at every instant by the JDK's own tools.
//!
//! | file | what it holds |
//! |---|---|
//! | [`config`](Config) | what is known before the first byte: clock, columns, settings, environment |
//! | [`model`](Sample) | the values and events that callers hand over |
//! | [`keys`](StackKey) | typed pool keys |
//! | [`recording`](Recording) | interning, events, flush, rotation, finish |
//! | [`storage`](Storage) | the few file operations, so that faults can be put in at one place |
//!
//! ```
//! use jfr_format::write::{Config, Context, Frame, FrameKind, MemoryStorage, Method, Recording, Sample, StackTrace, Thread, Ticks};
//!
//! # fn main() -> Result<(), jfr_format::error::Error> {
//! let mut recording = Recording::create(MemoryStorage::new(), Config::default())?;
//! let thread = recording.thread(&Thread::native("worker", 4711));
//! let method = recording.method(&Method::new("app/Shop", "order", "()V", 1));
//! let frames = [Frame { method, line: 12, bci: 3, kind: FrameKind::Jit }];
//! let stack = recording.stack(&StackTrace { truncated: false, frames: &frames });
//! let state = recording.state("STATE_RUNNABLE");
//! recording.execution_sample(&Sample { at: Ticks(1_000), thread, stack, state, context: Context::NONE, weight: 1 });
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
//!    `rotate` loses nothing: call it again later, or give up what is in memory with
//!    [`Recording::abandon_chunk`].
//! 4. Memory is bounded by the chunk: rotate when [`Recording::size_hint_bytes`] is too large.

mod buffer;
mod chunk_file;
mod columns;
mod config;
mod emit;
mod environment;
#[cfg(test)]
mod golden;
mod intern;
mod keys;
mod layout;
mod metadata;
mod model;
mod pools;
mod recording;
mod storage;
mod table;
mod text;

pub use config::{
    Attribute, Clock, Columns, Config, CpuInformation, Environment, JvmInformation, Setting, Ticks,
};
pub use emit::MAX_WEIGHT;
pub use keys::{
    AttributeKey, ClassKey, GcCauseKey, GcNameKey, MethodKey, StackKey, StateKey, ThreadGroupKey,
    ThreadKey,
};
pub use model::{
    Allocation, Context, Frame, FrameKind, GarbageCollection, GcPhasePause, Mark, Method,
    MonitorEnter, Park, Sample, Span, StackTrace, Thread, TlabAllocation, WallSample,
};
pub use recording::{Finished, Recording};
pub use storage::{Directory, Fate, FileStorage, MemoryStorage, Operation, PAGE, Storage};
pub use text::from_modified_utf8;
