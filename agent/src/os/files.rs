//! File descriptors.
//!
//! Rules:
//! 1. One `File` owns a descriptor as soon as a call returns it.
//! 2. A descriptor is used only while its `File` lives.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

/// The first descriptor that is no standard stream.
const FIRST_FREE: RawFd = 3;

/// The same file with a descriptor above 2. In a process without standard streams a new file gets
/// the descriptor of one, and the output of the application would go into it.
pub(crate) fn above_standard(file: File) -> io::Result<File> {
    let number = file.as_raw_fd();
    if number >= FIRST_FREE {
        return Ok(file);
    }
    // SAFETY: rule 2; the call takes a number and changes nothing of the file.
    let moved = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, FIRST_FREE) };
    if moved < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: rule 1.
    Ok(unsafe { File::from_raw_fd(moved) })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_above_the_standard_streams_stays() {
        let file = tempfile::tempfile().unwrap();
        let number = file.as_raw_fd();
        assert!(number >= FIRST_FREE);
        assert_eq!(above_standard(file).unwrap().as_raw_fd(), number);
    }
}
