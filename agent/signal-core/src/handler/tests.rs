//! The handler under real signals and real timers, without a VM.

pub(crate) mod fixture;
mod losses;
mod samples;
mod signals;
mod timers;
mod wall;
