//! JFR 2.x recordings: writing and reading them, without a JVM.
//!
//! | module | what it is for |
//! |---|---|
//! | [`read`] | the reader: records, values, samples |
//! | [`write`](mod@write) | the writer: a file that is readable at every instant |
//! | [`declare`] | the event types that callers declare |
//! | [`types`] | the types that every written recording has |
//! | [`chunk`] | the 68-byte chunk header, both directions |
//! | [`varint`] | the integers of the format, both directions |
//! | [`error`] | one error type: where, and what was found there |
//!
//! # The format in short
//!
//! A file is one or more chunks, end to end. A chunk is a fixed-width header and events, each with
//! its size, type id and fields as varints. Two kinds of events are special: *metadata* declare the
//! types of the chunk, *checkpoints* carry its constant pools (threads, methods, stacks, texts),
//! which other events refer to by key. A chunk can be read without the others.
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod chunk;
pub mod declare;
pub mod error;
mod field;
pub mod read;
pub mod types;
pub mod varint;
pub mod write;
