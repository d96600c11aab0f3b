//! The few file operations that the writer needs, so that faults can be put in at one place.

use std::io;

/// A file, or something that behaves like one.
pub trait Storage {
    /// Writes all of `bytes` at `offset`. Short writes and `EINTR` are the implementation's matter.
    ///
    /// # Errors
    /// Whatever the operating system says; any prefix of `bytes` may have been written.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Fills `bytes` from `offset`.
    ///
    /// # Errors
    /// Whatever the operating system says, or `UnexpectedEof`.
    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Makes the file `len` bytes long; new bytes are zero and take no disk. Called before [`Storage::publish`] only.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn set_len(&mut self, len: u64) -> io::Result<()>;

    /// Gives the file its name. Called once, when its content is a complete recording.
    ///
    /// # Errors
    /// Whatever the operating system says; an existing file is never replaced.
    fn publish(&mut self) -> io::Result<()>;

    /// Puts a copy in the file's place, in one step: the first `keep` bytes, length `len`, with `patches` applied.
    ///
    /// # Errors
    /// Whatever the operating system says; the file is then unchanged.
    fn replace(&mut self, keep: u64, len: u64, patches: &[(u64, &[u8])]) -> io::Result<()>;
}

mod file;
mod memory;

pub use file::FileStorage;
pub use memory::{MemoryStorage, Operation};
