//! Descriptors that are no standard streams.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

/// The first descriptor that is no standard stream.
const FIRST_FREE: RawFd = 3;

/// The same file with a descriptor above 2. In a process that was started without standard streams
/// a new file gets the number of one, and what the application prints would go into the recording.
pub(super) fn above_standard(file: File) -> io::Result<File> {
    if file.as_raw_fd() >= FIRST_FREE {
        return Ok(file);
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(&file, FIRST_FREE)?.into())
}
