#![doc = include_str!("rules.md")]
#![no_std]

#[cfg(test)]
extern crate std;

pub mod block;
pub mod counters;
pub mod engine;
mod errno;
pub mod handler;
pub mod layout;
pub mod record;
pub mod room;
pub mod slots;
pub mod tls;
pub mod walk;
