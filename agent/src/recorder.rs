//! The recorder: the writer thread takes samples out of the slots, resolves their names, and passes
//! them to `jfr-format`.
//!
//! It is the only consumer of the slots, and the only creator and writer of files, also of dumps:
//! only this thread waits for the disk.
//!
//! * [`writer`]: the thread, its commands and its handle; [`sources`]: its inputs and shared state.
//! * `pipeline`: the path of a sample from `intake` through `rate_limit` and `tables` into
//!   `recording_file`.
//! * `tables`: keys of the data that events refer to: `names`, `contexts`, `redactions`.
//! * [`label_cpu`]: what `status` tells of the labels meanwhile.
//! * `recording_file`: chunks and files, with `files`, `begin`, `counters`, `unflushed`,
//!   `chunk_memory`.

mod begin;
mod chunk_memory;
pub(crate) mod contexts;
mod counters;
mod ended;
mod environment;
mod files;
mod intake;
pub(crate) mod label_cpu;
mod names;
#[cfg(feature = "oracle")]
mod oracle;
mod pipeline;
mod rate_limit;
mod recording_file;
mod redactions;
pub(crate) mod sources;
mod sweeper;
mod tables;
mod unflushed;
mod wall_history;
pub(crate) mod writer;
