//! A real file, which gets its name only when it is readable.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::contract::Storage;
use super::descriptor::above_standard;
use super::directory::Directory;

/// Only the user may read what the application did.
const MODE: u32 = 0o600;
/// Names tried for a temporary file before giving up.
const ATTEMPTS: u32 = 100;

/// A recording on disk: mode 0600, never through a symlink, never over a foreign file.
///
/// Until [`publish`](Storage::publish) there is a hidden file `.<name>.<pid>.<n>.tmp` in the same
/// directory; a killed process may leave it behind. Whatever file has the name is locked (`flock`)
/// until this is dropped, so that others see that it is being written.
#[derive(Debug)]
pub struct FileStorage {
    file: File,
    directory: Arc<Directory>,
    name: OsString,
    temporary: Option<PathBuf>,
    /// The file that the first content replaces, see [`FileStorage::over`].
    claim: Option<Claim>,
    /// Length that the file has by what we did.
    len: u64,
    /// Where the file was at the last poll, as the system reports it.
    last_path: Option<PathBuf>,
}

/// What became of a file that is being written, see [`FileStorage::poll_state`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// It is where it was, as it was.
    Same,
    /// It has another name, this one if the system reports it, and is as it was.
    Moved(Option<PathBuf>),
    /// It has no name any more.
    Deleted,
    /// Somebody else has changed its length: its content is not ours any more.
    Overwritten,
}

/// A file that keeps a name for us until ours takes its place.
#[derive(Debug)]
struct Claim {
    file: File,
    place: PathBuf,
    /// `place` leads through it.
    _directory: Arc<Directory>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // An older recording stays as it was; an empty file is none.
        if self.file.metadata().is_ok_and(|facts| facts.len() == 0)
            && names(&self.place, &self.file).unwrap_or(false)
        {
            // Nothing can be done about a failure.
            drop(fs::remove_file(&self.place));
        }
    }
}

impl FileStorage {
    /// Prepares the file that [`publish`](Storage::publish) will call `path`.
    ///
    /// # Errors
    /// `AlreadyExists` if there is something at `path`; else what the operating system says.
    pub fn create(path: &Path) -> io::Result<Self> {
        let directory = Arc::new(Directory::open(Directory::parent_name(path))?);
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        if fs::symlink_metadata(directory.place(name)).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Self::new(directory, name, None)
    }

    /// Prepares the file that [`publish`](Storage::publish) will put in the place of `claimed`: a
    /// file called `name` in `directory` that the caller has made, or may replace, by its own
    /// rules. Until then it keeps its content; if it has none by the end, and nothing was
    /// published, it is removed.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn over(directory: Arc<Directory>, name: &OsStr, claimed: File) -> io::Result<Self> {
        let claim = Claim {
            file: claimed,
            place: directory.place(name),
            _directory: directory.clone(),
        };
        Self::new(directory, name, Some(claim))
    }

    fn new(directory: Arc<Directory>, name: &OsStr, claim: Option<Claim>) -> io::Result<Self> {
        let (file, temporary) = create_temporary(&directory, name)?;
        Ok(Self {
            file,
            directory,
            name: name.to_owned(),
            temporary: Some(temporary),
            claim,
            len: 0,
            last_path: None,
        })
    }

    /// The file's name in its directory.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Whether the file still has its name in the directory that it was made in, wherever that is
    /// now.
    pub fn is_in_place(&self) -> bool {
        names(&self.place(), &self.file).unwrap_or(false)
    }

    /// The directory that the file was made in.
    pub fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    fn place(&self) -> PathBuf {
        self.directory.place(&self.name)
    }

    /// What others have done with the file since the last poll.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn poll_state(&mut self) -> io::Result<FileState> {
        let facts = self.file.metadata()?;
        if facts.nlink() == 0 {
            return Ok(FileState::Deleted);
        }
        if facts.len() != self.len {
            return Ok(FileState::Overwritten);
        }
        let now = self.system_path();
        let is_same = match &now {
            Some(_) => now == self.last_path,
            None => self.last_path.is_none() && names(&self.place(), &self.file)?,
        };
        if is_same {
            return Ok(FileState::Same);
        }
        self.last_path.clone_from(&now);
        Ok(FileState::Moved(now))
    }

    /// The file by the system's word; nothing where there is no `/proc`, and for a file that has
    /// lost this name.
    fn system_path(&self) -> Option<PathBuf> {
        let link = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let path = fs::read_link(link).ok()?;
        let lost = path.as_os_str().as_bytes().ends_with(b" (deleted)");
        (!lost).then_some(path)
    }

    /// Gives the finished file its last name, in one step: over what has it only if `replace` says
    /// so.
    ///
    /// # Errors
    /// `AlreadyExists` if there is something of that name; `NotFound` if the file is no longer
    /// where it was made; else what the operating system says. The file keeps its name then.
    pub fn rename(&mut self, name: &OsStr, replace: bool) -> io::Result<()> {
        let (from, to) = (self.place(), self.directory.place(name));
        if !names(&from, &self.file)? {
            return Err(io::ErrorKind::NotFound.into());
        }
        if replace {
            fs::rename(&from, &to)?;
        } else {
            rename_to_free(&from, &to)?;
        }
        name.clone_into(&mut self.name);
        self.last_path = self.system_path();
        Ok(())
    }
}

impl Storage for FileStorage {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // Goes on after short writes and EINTR.
        let done = self.file.write_all_at(bytes, offset);
        if done.is_ok() {
            self.len = self.len.max(offset + bytes.len() as u64);
        }
        done
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)?;
        self.len = len;
        Ok(())
    }

    fn append(&mut self, end: u64, bytes: &[u8]) -> io::Result<()> {
        let whole = bytes.len();
        loop {
            match self.file.write_at(bytes, end) {
                Ok(written) if written == whole => {
                    self.len = end + whole as u64;
                    return Ok(());
                }
                Ok(_) => {
                    // A part of a page: a quota, a network. It must not stay.
                    self.file.set_len(end)?;
                    return Err(io::ErrorKind::StorageFull.into());
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn publish(&mut self) -> io::Result<()> {
        let Some(temporary) = &self.temporary else {
            return Ok(());
        };
        let place = self.place();
        if let Some(claim) = &self.claim {
            if !names(&place, &claim.file)? {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(temporary, &place)?;
            self.claim = None;
        } else {
            match rename_to_free(temporary, &place) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(e),
                // Neither the flag nor links here (FAT, some network file systems): reserve the
                // name, then rename over our own file.
                Err(_) => {
                    new_file(&place)?;
                    fs::rename(temporary, &place)?;
                }
            }
        }
        self.temporary = None;
        self.last_path = self.system_path();
        Ok(())
    }
}

impl Drop for FileStorage {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nothing can be done about a failure, and nobody misses the file.
            drop(fs::remove_file(temporary));
        }
    }
}

/// Renames a file to a name that nothing has.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    let Err(error) = renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) else {
        return Ok(());
    };
    let error = io::Error::from(error);
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Err(error);
    }
    // A file system or kernel that does not know the flag: a second name, which fails if it is
    // taken, then the first goes.
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

/// Whether `path` names this file.
fn names(path: &Path, file: &File) -> io::Result<bool> {
    let there = fs::symlink_metadata(path)?;
    let other = file.metadata()?;
    Ok((there.dev(), there.ino()) == (other.dev(), other.ino()))
}

/// A file to be renamed to `name`, locked: the lock belongs to the file, not to its name.
fn create_temporary(directory: &Directory, name: &OsStr) -> io::Result<(File, PathBuf)> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for n in 0..ATTEMPTS {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{n}.tmp", std::process::id()));
        let candidate = directory.place(&hidden);
        match new_file(&candidate) {
            Ok(file) => {
                // A file system without locks is no reason to refuse.
                let _unlocked = file.try_lock();
                return Ok((file, candidate));
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => last = e,
            Err(e) => return Err(e),
        }
    }
    Err(last)
}

/// `create_new` is `O_EXCL`, which follows no symlink; the standard library adds `O_CLOEXEC`.
fn new_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(path)?;
    above_standard(file)
}

#[cfg(test)]
mod tests;
