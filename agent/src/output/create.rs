//! Creation of files that follows no link and destroys no foreign file.

use super::error::Refusal;
use crate::os::files::above_standard;
use jfr_format::write::Directory;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// First bytes of every recording.
const MAGIC: [u8; 4] = *b"FLR\0";
/// Names tried for a temporary file: only leftovers of a killed process with our id collide.
const TEMP_TRIES: u32 = 16;

/// What a new recording does with an older one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingFile {
    /// The older one stays.
    Keep,
    /// The older one is replaced, if it is a recording of our user.
    Replace,
}

/// Creates the file, or opens the existing one if `existing` and guarantee 3 of [`super`] allow it.
pub(super) fn claim_in(
    directory: &Directory,
    name: &OsStr,
    existing: ExistingFile,
) -> Result<File, Refusal> {
    let place = directory.place(name);
    match new_file(&place) {
        Ok(file) => {
            // A file system may have no locks; they only protect from a second agent.
            let _unlocked = file.try_lock();
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let old = replaceable(directory, &place);
            if existing == ExistingFile::Replace {
                return old;
            }
            match old {
                // An empty file has no content to lose.
                Ok(old) if old.metadata().is_ok_and(|facts| facts.len() == 0) => Ok(old),
                Ok(_) | Err(Refusal::InUse | Refusal::NotOurs | Refusal::Io(_)) => {
                    Err(Refusal::Exists)
                }
                Err(other) => Err(other),
            }
        }
        Err(error) => Err(Refusal::Io(error)),
    }
}

/// Checks that an opened file is a regular one of this user; the name may have changed hands since
/// the check by name.
pub(super) fn check_owned(file: &File, user: u32) -> Result<fs::Metadata, Refusal> {
    let facts = file.metadata().map_err(Refusal::Io)?;
    if !facts.is_file() {
        Err(Refusal::NotRegular)
    } else if facts.uid() != user {
        Err(Refusal::NotOurs)
    } else {
        Ok(facts)
    }
}

pub(super) fn new_file(place: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(place)
        .and_then(above_standard)
}

/// Metadata of the file with this name, if it is regular and no link.
pub(super) fn regular(place: &Path) -> Result<fs::Metadata, Refusal> {
    let facts = fs::symlink_metadata(place).map_err(Refusal::Io)?;
    if facts.is_symlink() {
        Err(Refusal::Link)
    } else if facts.is_file() {
        Ok(facts)
    } else {
        Err(Refusal::NotRegular)
    }
}

/// The owner of new files in this directory: a file server may map our user to another one.
fn owner_of_new_files(directory: &Directory) -> Result<u32, Refusal> {
    let (temp, file) = temp_file(directory)?;
    let facts = file.metadata();
    // If this fails, the file stays: it is empty and has the name of a temporary file.
    let _left = fs::remove_file(&temp);
    Ok(facts.map_err(Refusal::Io)?.uid())
}

fn temp_file(directory: &Directory) -> Result<(PathBuf, File), Refusal> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..TEMP_TRIES {
        let name = format!(".ctxagent-{}-{attempt}.tmp", std::process::id());
        let place = directory.place(name.as_ref());
        match new_file(&place) {
            Ok(file) => return Ok((place, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(Refusal::Io(error)),
        }
    }
    Err(Refusal::Io(last))
}

/// Opens and locks the existing file if guarantee 3 allows to replace it.
fn replaceable(directory: &Directory, place: &Path) -> Result<File, Refusal> {
    regular(place)?;
    let user = owner_of_new_files(directory)?;
    if regular(place)?.uid() != user {
        return Err(Refusal::NotOurs);
    }
    // `O_NONBLOCK`: a pipe may have got the name since the check.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut old = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(place)
        .and_then(above_standard)
        .map_err(Refusal::Io)?;
    let facts = check_owned(&old, user)?;
    if matches!(old.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(Refusal::InUse);
    }
    let mut head = [0; MAGIC.len()];
    if facts.len() == 0 || (old.read_exact(&mut head).is_ok() && head == MAGIC) {
        Ok(old)
    } else {
        Err(Refusal::Foreign)
    }
}
