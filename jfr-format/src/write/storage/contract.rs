//! The few file operations that the writer needs. Tests put faults in here.

use std::io;

/// What one [`Storage::append`] writes at most, in bytes: the smallest page of the systems we write
/// on.
pub const PAGE: usize = 4096;

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

    /// Makes the file `len` bytes long: any length before [`Storage::publish`], new bytes are zero
    /// and take no disk; later only a smaller one.
    ///
    /// # Errors
    /// Whatever the operating system says; the length is then what it was.
    fn set_len(&mut self, len: u64) -> io::Result<()>;

    /// Makes the file longer by `bytes`, which begin at its end: at most [`PAGE`] of them, within
    /// one page.
    ///
    /// All or nothing, also for a process that is killed meanwhile: the kernel makes a file longer
    /// after it has copied the page.
    ///
    /// # Errors
    /// Whatever the operating system says; the file is then as it was.
    fn append(&mut self, end: u64, bytes: &[u8]) -> io::Result<()>;

    /// Gives the file its name. Called once, when its content is a complete recording.
    ///
    /// # Errors
    /// Whatever the operating system says; an existing file is never replaced.
    fn publish(&mut self) -> io::Result<()>;
}
