//! The agent library, `libctxagent.so`. A map of its rooms; `docs/architecture.md` has the picture.
//!
//! * [`entry`], `boundary`, `lifecycle`: how the JVM comes in, and what happens when.
//! * `jvm`, `os`: the boundaries. Only they, `entry` and `agent` contain `unsafe`.
//! * `agent`: what lives from load to the end of the VM.
//! * [`options`], [`output`]: the option string, the output file.
//! * `registry`: attribute names and values; `filters`: the option `filter`; `leaks`: blocks of threads that ended without giving them back.
//! * `virtual_threads`: whether their ids are read right, and what takes over if not.
//! * `control`, `session`, `status`: commands, start and stop, what is going on; `walkers`: which stack walker;
//!   `fault_watch`: when our own is switched off.
//! * `observe`: what the VM tells without a signal: allocations, waits for monitors, pauses.
//! * `wall`: the thread that takes wall-clock samples; `poll`: the one that looks at threads that sleep, for their CPU samples.
//! * `drain`: the writer thread, from sample to recording.
//! * `stats`, `log`: counting and speaking; `seed`: start values for random generators; `patience`: waiting that a standstill of the machine does not use up.
#![warn(missing_docs)]

mod agent;
mod api_copies;
mod boundary;
mod control;
mod drain;
pub mod entry;
mod fault_watch;
mod filters;
mod java_api;
mod jvm;
mod leaks;
mod lifecycle;
mod log;
mod observe;
pub mod options;
mod os;
pub mod output;
mod patience;
mod poll;
mod registry;
mod seed;
mod session;
mod stats;
mod status;
mod timeout;
mod virtual_threads;
mod walkers;
mod wall;
