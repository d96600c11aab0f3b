//! Promises to those who run the agent in production, each with a test that can fail:
//! `docs/operations.md` has the list.

mod child_processes;
mod clock_steps;
mod disk;
mod handler;
mod memory;
mod other_profilers;
mod privacy;
mod restarts;
mod seeded_faults;
mod start_failures;
mod stress;
mod walker_faults;

/// Whether this text is somewhere in the bytes.
fn contains(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}
