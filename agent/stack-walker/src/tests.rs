//! The walk over a made-up VM.

#![expect(
    clippy::cast_possible_truncation,
    reason = "small numbers of a made-up VM"
)]

mod caches;
mod chunks;
mod decoding;
mod methods;
mod scene;
mod walks;
