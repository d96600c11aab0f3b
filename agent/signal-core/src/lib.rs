#![doc = include_str!("rules.md")]
#![no_std]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::expect_used,
        clippy::panic,
        clippy::decimal_bitwise_operands,
        reason = "the rules hold for what runs in a handler, not for its tests"
    )
)]

#[cfg(test)]
extern crate std;

pub mod block;
mod clock;
pub mod counters;
pub mod engine;
mod errno;
pub mod filter;
mod futex;
pub mod handler;
pub mod handler_state;
pub mod java_thread;
pub mod layout;
pub mod lost_weights;
mod origin;
pub mod places;
pub mod random;
pub mod record;
pub mod seeded_faults;
mod sleep;
pub mod slots;
pub mod tls;
mod ucontext;
pub mod walk;
