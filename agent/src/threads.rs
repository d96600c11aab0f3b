//! The platform threads of the process: their records, names and CPU timers.
//!
//! Rules:
//! 1. Records are published, armed and retired under the lock of the directory.
//! 2. A thread that changes its own record has the sampling signal blocked.
//! 3. Where a writer runs, the name of an ended thread stays until that writer has drained the
//!    thread's last samples.
//! 4. The agent's own threads are never registered.
//! 5. No code calls the VM or logs under the lock, or while it holds an entry of the name table. A
//!    debugger may suspend a thread inside such a call, a log line may start a thread, and each
//!    start and end of a thread waits for the lock.

mod cpu_timers;
mod directory;
pub(crate) mod handler_memory;
pub(crate) mod live_threads;
mod mount_events;
mod name_access;
mod native_scan;
mod record_pool;
mod thread_fields;
mod thread_names;
mod thread_ref;
mod timer_control;
pub(crate) mod virtual_threads;

pub(crate) use directory::ThreadDirectory;
pub(crate) use thread_fields::ThreadFields;
pub(crate) use thread_ref::ThreadRef;
