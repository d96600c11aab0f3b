//! A real file, which gets its name only when it is readable.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::Storage;
use crate::planted;

/// Only the user may read what the application did.
const MODE: u32 = 0o600;
/// Names tried for a temporary file before giving up.
const ATTEMPTS: u32 = 100;
/// The first descriptor that is no standard stream.
const FIRST_FREE: RawFd = 3;

/// A recording on disk: mode 0600, never through a symlink, never over a foreign file.
///
/// Until [`publish`](Storage::publish) and during [`replace`](Storage::replace) there is a hidden file
/// `.<name>.<pid>.<n>.tmp` in the same directory; a killed process may leave it behind. Whatever file has the name is locked (`flock`) until this is
/// dropped, so that others see that it is being written.
#[derive(Debug)]
pub struct FileStorage {
    file: File,
    path: PathBuf,
    temporary: Option<PathBuf>,
    /// The file that the first content replaces, see [`FileStorage::over`].
    claim: Option<Claim>,
}

/// A file that keeps a name for us until ours takes its place.
#[derive(Debug)]
struct Claim {
    file: File,
    path: PathBuf,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // An older recording stays as it was; an empty file is none.
        if self.file.metadata().is_ok_and(|facts| facts.len() == 0)
            && names(&self.path, &self.file).unwrap_or(false)
        {
            // Nothing can be done about a failure.
            drop(fs::remove_file(&self.path));
        }
    }
}

impl FileStorage {
    /// Prepares the file that [`publish`](Storage::publish) will call `path`.
    ///
    /// # Errors
    /// `AlreadyExists` if there is something at `path`; else what the operating system says.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = absolute(path)?;
        if fs::symlink_metadata(&path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let (file, temporary) = create_temporary(&path)?;
        Ok(Self {
            file,
            path,
            temporary: Some(temporary),
            claim: None,
        })
    }

    /// Prepares the file that [`publish`](Storage::publish) will put in the place of `claimed`: a file at `path` that the caller has made, or may replace,
    /// by its own rules. Until then it keeps its content; if it has none by the end, and nothing was published, it is removed.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn over(path: &Path, claimed: File) -> io::Result<Self> {
        let mut claim = Claim {
            file: claimed,
            path: path.to_owned(),
        };
        let path = absolute(path)?;
        claim.path.clone_from(&path);
        let (file, temporary) = create_temporary(&path)?;
        Ok(Self {
            file,
            path,
            temporary: Some(temporary),
            claim: Some(claim),
        })
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Storage for FileStorage {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // Goes on after short writes and EINTR.
        let done = self.file.write_all_at(bytes, offset);
        if planted::is("write-error-ignored") {
            return Ok(());
        }
        done
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn append(&mut self, end: u64, bytes: &[u8]) -> io::Result<()> {
        let whole = bytes.len();
        loop {
            match self.file.write_at(bytes, end) {
                Ok(written) if written == whole => return Ok(()),
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
        if let Some(claim) = &self.claim {
            if !names(&self.path, &claim.file)? {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(temporary, &self.path)?;
            self.temporary = None;
            self.claim = None;
            return Ok(());
        }
        // A link, not a rename: it fails if the name has been taken meanwhile.
        match fs::hard_link(temporary, &self.path) {
            Ok(()) => fs::remove_file(temporary)?,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(e),
            // No links here (FAT, some network file systems): reserve the name, then rename over our own file.
            Err(_) => {
                new_file(&self.path)?;
                fs::rename(temporary, &self.path)?;
            }
        }
        self.temporary = None;
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

/// Whether `path` names this file.
fn names(path: &Path, file: &File) -> io::Result<bool> {
    let there = fs::symlink_metadata(path)?;
    let other = file.metadata()?;
    Ok((there.dev(), there.ino()) == (other.dev(), other.ino()))
}

/// `path` with its directory resolved now, so that later operations meet the same directory.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    Ok(fs::canonicalize(parent)?.join(name))
}

/// A file to be renamed to `path`, locked: the lock belongs to the file, not to its name.
fn create_temporary(path: &Path) -> io::Result<(File, PathBuf)> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for n in 0..ATTEMPTS {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.{n}.tmp", std::process::id()));
        let candidate = path.with_file_name(name);
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
    let mode = if planted::is("others-may-read") {
        0o644
    } else {
        MODE
    };
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    above_standard(file)
}

/// The same file with a descriptor above 2. In a process that was started without standard streams a new file gets the number of one, and what the
/// application prints would go into the recording.
fn above_standard(file: File) -> io::Result<File> {
    if file.as_raw_fd() >= FIRST_FREE {
        return Ok(file);
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(&file, FIRST_FREE)?.into())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::write::PAGE;
    use std::fs::TryLockError;
    use std::os::unix::fs::symlink;

    #[test]
    fn file_appears_with_its_content_and_only_for_the_user() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jfr");
        let mut storage = FileStorage::create(&path).unwrap();
        storage.set_len(8192).unwrap();
        storage.write_at(0, b"hello").unwrap();
        assert!(!path.exists());
        storage.publish().unwrap();
        let meta = fs::metadata(&path).unwrap();
        assert_eq!((meta.len(), meta.mode() & 0o777), (8192, 0o600));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_that_is_there_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jfr");
        let victim = dir.path().join("victim");
        symlink(&victim, &path).unwrap();
        assert!(FileStorage::create(&path).is_err());
        fs::remove_file(&path).unwrap();

        let mut storage = FileStorage::create(&path).unwrap();
        fs::write(&path, b"someone else's").unwrap();
        assert_eq!(
            storage.publish().unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        drop(storage);
        assert_eq!(fs::read(&path).unwrap(), b"someone else's");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_claimed_file_that_never_became_a_recording_is_taken_away_and_another_in_its_place_is_not()
    {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.jfr");
        drop(FileStorage::over(&path, new_file(&path).expect("claimed")).expect("over it"));
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0);

        let storage = FileStorage::over(&path, new_file(&path).expect("claimed")).expect("over it");
        fs::remove_file(&path).expect("ours goes");
        fs::write(&path, "").expect("another empty one comes");
        drop(storage);
        assert!(path.exists());
    }

    #[test]
    fn a_recording_in_whose_place_nothing_was_published_keeps_every_byte() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.jfr");
        fs::write(&path, b"the old one").expect("written");
        let claim = || File::open(&path).expect("the old one");
        let mut storage = FileStorage::over(&path, claim()).expect("over it");
        storage.write_at(0, b"new").expect("written");
        drop(storage);
        assert_eq!(fs::read(&path).expect("still there"), b"the old one");
        let mut storage = FileStorage::over(&path, claim()).expect("over it");
        storage.write_at(0, b"new").expect("written");
        storage.publish().expect("published");
        drop(storage);
        assert_eq!(fs::read(&path).expect("the new one"), b"new");
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn what_is_appended_and_cut_leaves_the_rest_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jfr");
        let mut storage = FileStorage::create(&path).unwrap();
        storage.set_len(4096).unwrap();
        storage.write_at(0, b"hello world").unwrap();
        storage.publish().unwrap();
        storage.append(4096, &[7; PAGE]).unwrap();
        let content = fs::read(&path).unwrap();
        assert_eq!(content.len(), 8192);
        assert_eq!(
            (&content[..6], &content[4095..4097]),
            (&b"hello "[..], &[0, 7][..])
        );
        storage.set_len(5).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"hello");
    }

    #[test]
    fn what_has_the_name_is_locked_until_it_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jfr");
        let is_locked = || {
            let other = File::open(&path).unwrap();
            matches!(other.try_lock(), Err(TryLockError::WouldBlock))
        };
        let mut storage = FileStorage::over(&path, new_file(&path).unwrap()).unwrap();
        storage.write_at(0, b"hello").unwrap();
        storage.publish().unwrap();
        assert!(is_locked(), "published");
        storage.append(5, b"more").unwrap();
        assert!(is_locked(), "longer");
        drop(storage);
        assert!(!is_locked(), "closed");
    }

    #[test]
    fn a_file_that_was_moved_is_written_on_and_what_took_its_name_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jfr");
        let mut storage = FileStorage::create(&path).unwrap();
        storage.write_at(0, b"hello").unwrap();
        storage.publish().unwrap();
        fs::rename(&path, dir.path().join("b.jfr")).unwrap();
        fs::write(&path, b"other").unwrap();
        storage.append(5, b" world").unwrap();
        storage.set_len(8).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"other");
        assert_eq!(fs::read(dir.path().join("b.jfr")).unwrap(), b"hello wo");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
