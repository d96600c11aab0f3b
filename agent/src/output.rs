//! Files of the agent: name patterns, and creation that neither follows a link nor destroys a
//! foreign file.
//!
//! Assumptions and guarantees:
//!
//! 1. The directory is opened once. Everything after that happens inside the opened directory
//!    (through `/proc/self/fd`), even if its name moves. Without `/proc`, its name is used.
//! 2. A new file is created with `O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC`, mode 0600.
//! 3. An existing file is replaced only if the caller asks for it ([`ExistingFile::Replace`]) or
//!    if it is empty. It must be a regular file of our user, not a link, and be empty or start
//!    like a recording. No running process may be writing it: each writer locks its recording.
//!    `FileStorage` replaces it by `rename` of a new, readable recording. Until then the old one
//!    stays, and a process that reads it keeps it.
//! 4. Any other file is refused with the reason; the caller may claim the next free name.

mod create;
mod error;
mod log_file;
mod name;
mod pattern;
mod reply_file;
mod target;

pub use create::ExistingFile;
pub use error::{OutputError, Refusal};
pub use log_file::open_log;
pub use name::{directory_of, numbered, part_of};
pub use pattern::{Pattern, PatternError, PatternValues};
pub use reply_file::write_reply;
pub use target::RecordingTarget;

#[cfg(test)]
mod tests;
