//! The recorder: the writer thread takes samples out of the slots, names what they refer to, and
//! hands them to `jfr-format`.
//!
//! It is the only consumer of the slots and the only writer of the files, which it makes itself,
//! those of dumps too: every wait for the disk is this thread's.
//!
//! * [`writer`]: the thread, its commands and its handle; [`sources`]: what it works with.
//! * `pipeline`: a sample's way from `intake` through `rate_limit` and `tables` into
//!   `recording_file`.
//! * `tables`: keys of what events refer to: `names`, `contexts`, `redactions`.
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
