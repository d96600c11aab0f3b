//! The file that a recording is written to: claims its name, or the next free one.

use super::create::{ExistingFile, claim_in, new_file};
use super::error::{MAX_NUMBERED_NAME, OutputError, Refusal};
use super::name::{numbered, part_of};
use jfr_format::write::Directory;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The directory and the name of a recording.
#[derive(Clone, Debug)]
pub struct RecordingTarget {
    /// The directory, opened.
    pub directory: Arc<Directory>,
    /// The final name.
    pub name: OsString,
    /// Whether the file has the name [`part_of`] `name` until it is complete.
    pub in_parts: bool,
}

impl RecordingTarget {
    /// The name of the file while it is written.
    pub fn first_name(&self) -> OsString {
        if self.in_parts {
            part_of(&self.name)
        } else {
            self.name.clone()
        }
    }

    /// An error that names the file as the user wrote it.
    fn error(&self, reason: Refusal, path: &Path) -> OutputError {
        let path = path.with_file_name(&self.name);
        OutputError { path, reason }
    }

    /// Claims the name for `FileStorage::over` and returns the file, locked until it is closed:
    /// a new, empty one, or the older recording of our user, unchanged. `path` is for messages.
    ///
    /// # Errors
    /// The reason of the refusal; no file is changed.
    pub fn claim(&self, existing: ExistingFile, path: &Path) -> Result<File, OutputError> {
        let fail = |reason| self.error(reason, path);
        if self.in_parts && fs::symlink_metadata(self.directory.place(&self.name)).is_ok() {
            // The rename to the final name comes later; check now that it may replace that file.
            claim_in(&self.directory, &self.name, existing).map_err(fail)?;
        }
        claim_in(&self.directory, &self.first_name(), existing).map_err(fail)
    }

    /// Claims the next free name if this one is in use: `app-2.jfr` and so on.
    ///
    /// # Errors
    /// The reason of the refusal; no file is changed.
    pub fn claim_next_free(&mut self, path: &Path) -> Result<File, OutputError> {
        let original = self.name.clone();
        for number in 2..=MAX_NUMBERED_NAME {
            self.name = numbered(&original, number);
            if self.in_parts && fs::symlink_metadata(self.directory.place(&self.name)).is_ok() {
                continue;
            }
            match new_file(&self.directory.place(&self.first_name())) {
                Ok(file) => {
                    let _unlocked = file.try_lock();
                    return Ok(file);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(self.error(Refusal::Io(error), path)),
            }
        }
        self.name = original;
        Err(self.error(Refusal::NoFreeName, path))
    }
}
