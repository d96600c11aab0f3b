//! JFR 2.x recordings: writing and reading them, without a JVM.
//!
//! | room | what it is for |
//! |---|---|
//! | [`varint`] | the integers of the format, both directions |
//! | [`chunk`] | the 68-byte chunk header, both directions |
//! | [`error`] | one error type: where, and what was found there |
//! | [`declare`], [`types`] | the event types that callers declare; the types that every recording has |
//! | [`read`] | the reader: records, values, samples |
//! | [`write`](mod@write) | the writer: a file that is readable at every instant |
//!
//! Read `docs/contributing/file-format.md` first.
#![forbid(unsafe_code)]

pub mod chunk;
pub mod declare;
mod deviation;
pub mod error;
mod field;
pub mod read;
pub mod types;
pub mod varint;
pub mod write;
