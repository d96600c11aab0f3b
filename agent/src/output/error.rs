//! Reasons why a file of the agent cannot be created.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Highest number of an alternative name: `app-2.jfr` to `app-1000.jfr`.
pub(super) const MAX_NUMBERED_NAME: u32 = 1000;

/// Reason why a file was not created; `Display` is one line that names the file.
#[derive(Debug)]
pub struct OutputError {
    pub(super) path: PathBuf,
    pub(super) reason: Refusal,
}

/// Why the agent does not create or open a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The path has no file name.
    NoName,
    /// The directory cannot be opened.
    Directory(io::Error),
    /// The name belongs to a symbolic link.
    Link,
    /// The name belongs to something other than a regular file.
    NotRegular,
    /// The file belongs to another user.
    NotOurs,
    /// The file is neither empty nor a recording.
    Foreign,
    /// A running process writes the recording.
    InUse,
    /// The file exists, and the caller did not ask to replace it.
    Exists,
    /// All alternative names are in use as well.
    NoFreeName,
    /// The system call failed.
    Io(io::Error),
}

impl OutputError {
    /// The reason.
    pub const fn reason(&self) -> &Refusal {
        &self.reason
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Escaped: control characters must not reach a terminal or break the line.
        write!(
            f,
            "file '{}' ",
            self.path.display().to_string().escape_debug()
        )?;
        match &self.reason {
            Refusal::NoName => f.write_str("has no file name"),
            Refusal::Directory(error) => {
                write!(
                    f,
                    "cannot be created: its directory cannot be opened: {error}"
                )
            }
            Refusal::Link => f.write_str(
                "is a symbolic link, which is never followed; remove it or choose another name",
            ),
            Refusal::NotRegular => {
                f.write_str("exists and is not a regular file; choose another name")
            }
            Refusal::NotOurs => {
                f.write_str("exists and belongs to another user; choose another name")
            }
            Refusal::Foreign => f.write_str(
                "exists and is not a JFR recording; it is not overwritten, \
                 remove it or choose another name",
            ),
            Refusal::InUse => f.write_str(
                "is being written by a running recording; choose another name, for example with %p",
            ),
            Refusal::Exists => f.write_str("exists; it is replaced only with the option overwrite"),
            Refusal::NoFreeName => write!(
                f,
                "exists, and so do all names up to '-{MAX_NUMBERED_NAME}'; \
                 remove some, or choose another name"
            ),
            Refusal::Io(error) => write!(f, "cannot be created: {error}"),
        }
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Refusal::Directory(error) | Refusal::Io(error) => Some(error),
            _ => None,
        }
    }
}
