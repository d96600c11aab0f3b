//! The recorder: the writer thread takes samples out of the slots, names what they refer to, and hands
//! them to `jfr-format`.
//!
//! It is the only consumer of the slots and the only writer of the files, which it makes itself, those
//! of dumps too: every wait for the disk is this thread's.

pub(crate) mod contexts;
mod environment;
pub(crate) mod files;
mod names;
mod observed;
#[cfg(feature = "oracle")]
mod oracle;
mod pipeline;
mod redactions;
mod sources;
mod sweeper;
pub(crate) mod thinning;
mod unwritten;
mod wall;
mod writer;

pub(crate) use sources::{Housekeeping, RecordingStatus, Sources};
pub(crate) use writer::{Writer, WriterLease};
