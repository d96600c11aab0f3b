//! The events of the profiler: what the agent writes and its readers expect.
//!
//! | module | what it is for |
//! |---|---|
//! | [`EVENTS`], [`SCHEMA`] | the event types, as one table |
//! | [`fields`] | fields that several of them share |
//! | [`ProfileConfig`], [`Environment`] | what is known of a recording before its first byte |
//! | [`ProfileEvents`], [`Sample`] and others | events handed to a [`Recording`](jfr_format::write::Recording) |
//! | [`Reports`] | counters and column descriptions, read back |
//! | [`VmThreadKind`] | threads that are not Java threads, told apart by name |
//!
//! ```
//! use ctxagent_events::{ProfileConfig, ProfileEvents, Sample};
//! use jfr_format::write::{Context, Frame, FrameKind, MemoryStorage, Method, Recording, StackTrace, Thread, Ticks};
//!
//! # fn main() -> Result<(), jfr_format::error::Error> {
//! let mut recording = Recording::create(MemoryStorage::new(), ProfileConfig::default())?;
//! let thread = recording.thread(&Thread::native("worker", 4711));
//! let method = recording.method(&Method::new("app/Shop", "order", "()V", 1));
//! let frames = [Frame { method, line: 12, bci: 3, kind: FrameKind::Jit }];
//! let stack = recording.stack(&StackTrace { truncated: false, frames: &frames });
//! let state = recording.state("STATE_RUNNABLE");
//! recording.execution_sample(&Sample { at: Ticks(1_000), thread, stack, state, context: Context::NONE, weight: 1 });
//! recording.finish(Ticks(3_000))?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod config;
mod declarations;
mod emit;
mod environment;
pub mod fields;
mod model;
mod reports;
mod thread_kind;

pub use config::{ProfileConfig, Setting};
pub use declarations::*;
pub use emit::{MAX_REPEATS, MAX_WEIGHT, ProfileEvents};
pub use environment::{CpuInformation, Environment, JvmInformation};
pub use model::{
    Allocation, ExceptionThrow, GcPhasePause, JfrClock, LateLabel, Mark, MonitorEnter, Sample,
    Scope, ThreadPark, WallSample,
};
pub use reports::{ContextAttribute, Reports, Stat};
pub use thread_kind::{VmThreadKind, whole_name};
