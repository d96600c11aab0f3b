//! A directory that was opened once: what is done in it meets that directory, whatever its name
//! means by then.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::descriptor::above_standard;

/// An opened directory.
#[derive(Debug)]
pub struct Directory {
    handle: File,
    /// The directory by its descriptor, or by its name where `/proc` is missing.
    by_descriptor: PathBuf,
}

impl Directory {
    /// Opens the directory of this name.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY.bits().cast_signed();
        let handle = File::options().read(true).custom_flags(flags).open(path)?;
        let handle = above_standard(handle)?;
        let by_descriptor = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        let by_descriptor = if by_descriptor.is_dir() {
            by_descriptor
        } else {
            path.to_owned()
        };
        Ok(Self {
            handle,
            by_descriptor,
        })
    }

    /// The directory in which `path` is: the working directory for a name alone.
    pub fn parent_name(path: &Path) -> &Path {
        match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// A path that leads to `name` in this directory.
    pub fn place(&self, name: &OsStr) -> PathBuf {
        self.by_descriptor.join(name)
    }

    /// Whether the directory of this name is this one now.
    pub fn is_called(&self, path: &Path) -> bool {
        let ids = |facts: std::fs::Metadata| (facts.dev(), facts.ino());
        let there = std::fs::metadata(path).map(ids);
        matches!((there, self.handle.metadata().map(ids)), (Ok(a), Ok(b)) if a == b)
    }

    /// Where it is now, if the system reports it.
    pub fn path(&self) -> Option<PathBuf> {
        std::fs::read_link(&self.by_descriptor).ok()
    }
}
