//! What the agent, its signal-handler crate and `ctxjfr` must agree on, each fact in one place.
//!
//! - [`limits`]: numbers that the Java API, the agent and the option parser enforce.
//! - [`event_mask`]: the bits of the event mask in a context block.
//! - [`counter`]: every counter of `status` and of the event `ctxagent.Stats`.
//! - [`account`]: which counters add up to which, the rule that recordings are checked by.
//! - [`misuse`]: the numbers by which the Java API reports misuse.
//!
//! Constants and pure functions only: the crate is `no_std`, allocates nothing and depends on
//! nothing, so the signal handler may use all of it.

#![no_std]
#![forbid(unsafe_code)]

pub mod account;
pub mod counter;
pub mod event_mask;
pub mod limits;
pub mod misuse;
