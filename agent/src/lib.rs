//! The agent library, `libctxagent.so`. `docs/contributing/architecture.md` has the picture and the rules. Layers from
//! the top down; a module uses only those below it, which `tests/tests/architecture` checks.
//!
//! * [`entry`]: how the JVM comes in; the only owner of the global agent.
//! * `session`: the recording of a process as a state machine; starts and stops what samples.
//! * `recorder`: the writer thread, from sample to recording.
//! * `sampling`, `events`: what takes samples, and what the VM posts as events.
//! * `threads`: the directory of Java threads and their timers; `registry`: attribute names and values.
//! * `metrics`: counters and their accounting.
//! * `hotspot`, `jvm`, `os`: boundaries; they and `entry` contain almost all `unsafe` code.
//! * [`options`], [`output`]: the option string, the output file.
//! * `guard`, `log`, `panics`: the guard at entries, messages, caught panics.
#![deny(unsafe_code)]
#![warn(missing_docs)]

mod class_hooks;
pub mod entry;
mod events;
mod guard;
mod hotspot;
mod jdk_events;
mod jvm;
mod labels;
mod log;
mod metrics;
mod network;
pub mod options;
mod os;
pub mod output;
mod panics;
mod propagation;
mod recorder;
mod registry;
mod sampling;
mod session;
mod threads;
