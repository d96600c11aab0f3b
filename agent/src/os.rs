//! Boundary to the operating system. Each file starts with its rules.

pub(crate) mod affinity;
pub(crate) mod agent_thread;
pub(crate) mod copies;
pub(crate) mod files;
pub(crate) mod library;
pub(crate) mod pages;
pub(crate) mod process;
pub(crate) mod seed;
pub(crate) mod send;
pub(crate) mod sigaction;
pub(crate) mod slab;
pub(crate) mod stall_tolerant;
pub(crate) mod start;
pub(crate) mod tasks;
pub(crate) mod thread;
pub(crate) mod timers;
pub(crate) mod user;
