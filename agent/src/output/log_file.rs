//! The log file of the agent.

use super::create::{check_owned, regular};
use super::error::{OutputError, Refusal};
use super::name::directory_of;
use crate::os::files::above_standard;
use crate::os::user;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens a log file to append to: a new one with mode 0600, or an existing regular file of
/// our user.
///
/// # Errors
/// The reason of the refusal.
pub fn open_log(path: &Path) -> Result<File, OutputError> {
    let fail = |reason| OutputError {
        path: path.to_owned(),
        reason,
    };
    let (directory, name) = directory_of(path)?;
    let place = directory.place(&name);
    match OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&place)
    {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            existing_log(&place).map_err(fail)
        }
        other => other
            .and_then(above_standard)
            .map_err(|error| fail(Refusal::Io(error))),
    }
}

fn existing_log(place: &Path) -> Result<File, Refusal> {
    // Unlike for a recording, no test file is created to find the owner: the directory of a log
    // may be read-only.
    let user = user::effective_id();
    if regular(place)?.uid() != user {
        return Err(Refusal::NotOurs);
    }
    let file = OpenOptions::new()
        .append(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(place)
        .and_then(above_standard)
        .map_err(Refusal::Io)?;
    check_owned(&file, user)?;
    Ok(file)
}
