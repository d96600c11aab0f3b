//! A private directory in the target's file system, through which files pass to and from its JVM.
//!
//! Rules:
//! 1. It is new, has mode 0700 and belongs to the JVM's user. It is removed at the end.
//! 2. It is locked while `ctxjfr` runs. One without a lock was left by a `ctxjfr` that was killed,
//!    and is removed by the next one that comes by.
//! 3. The JVM's user may be hostile, and we may be root: we make nothing in it ourselves, follow no
//!    link, and read only regular files of that user.

use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hotspot_attach::{Helper, JvmProcess, Owner};
use rustix::fs::{
    AtFlags, Dir, FlockOperation, Mode, OFlags, StatVfsMountFlags, flock, fstat, fstatvfs, openat,
    unlinkat,
};

const PREFIX: &str = ".ctxjfr-";
/// A directory that is younger may belong to a `ctxjfr` that has not locked it yet.
const MIN_AGE: Duration = Duration::from_secs(10);
/// More of a text from the JVM is not read.
const MAX_TEXT_BYTES: u64 = 1 << 20;
/// Opens a file or directory that is there.
const EXISTING: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// See the module.
#[derive(Debug)]
pub(crate) struct Exchange {
    parent: OwnedFd,
    name: String,
    directory: OwnedFd,
    /// Its path as the JVM sees it.
    path: PathBuf,
    owner: Owner,
}

impl Exchange {
    /// Makes one where the JVM can write. `library`, name and content, is put into it; then it is
    /// where the JVM may execute too.
    ///
    /// # Errors
    /// The places that were tried, each with the reason.
    pub(crate) fn create(
        jvm: &JvmProcess,
        library: Option<(&str, &File)>,
        helper: Helper<'_>,
    ) -> Result<Self, String> {
        let places = [
            Some("/tmp"),
            None,
            Some("/var/tmp"),
            Some("/dev/shm"),
            Some("/run"),
        ];
        let mut reasons = Vec::new();
        for place in places {
            let place = match place {
                Some(place) => Some(PathBuf::from(place)),
                None => jvm.working_directory(),
            };
            let Some(place) = place else { continue };
            match Self::create_in(jvm, &place, library, helper) {
                Ok(exchange) => return Ok(exchange),
                Err(reason) => reasons.push(format!("{}: {reason}", place.display())),
            }
        }
        Err(reasons.join("; "))
    }

    fn create_in(
        jvm: &JvmProcess,
        place: &Path,
        library: Option<(&str, &File)>,
        helper: Helper<'_>,
    ) -> Result<Self, String> {
        let failed = |error: io::Error| error.to_string();
        let (parent, path) = jvm.open_directory(place).map_err(failed)?;
        // The path stands in an option string.
        let is_plain = |text: &str| !text.contains(|c: char| c == ',' || c.is_control());
        if !path.to_str().is_some_and(is_plain) {
            return Err("its name has a comma or is no text".to_owned());
        }
        let flags = fstatvfs(&parent)
            .map_err(|error| failed(error.into()))?
            .f_flag;
        if flags.contains(StatVfsMountFlags::RDONLY) {
            return Err("read-only".to_owned());
        }
        if library.is_some() && flags.contains(StatVfsMountFlags::NOEXEC) {
            return Err("mounted noexec".to_owned());
        }
        remove_abandoned(&parent, jvm.owner());
        let random = RandomState::new().build_hasher().finish();
        let name = format!("{PREFIX}{random:016x}");
        jvm.make_directory(&parent, &name, library, helper)
            .map_err(failed)?;
        Self::take(parent, name, &path, jvm.owner()).map_err(failed)
    }

    /// Opens and locks the directory that was made.
    fn take(parent: OwnedFd, name: String, path: &Path, owner: Owner) -> io::Result<Self> {
        let directory = openat(&parent, &name, EXISTING | OFlags::DIRECTORY, Mode::empty())?;
        let exchange = Self {
            path: path.join(&name),
            parent,
            name,
            directory,
            owner,
        };
        flock(
            &exchange.directory,
            FlockOperation::NonBlockingLockExclusive,
        )?;
        Ok(exchange)
    }

    /// The path of a file in it, as the JVM sees it.
    pub(crate) fn path_of(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// Removes a file, if it is there.
    pub(crate) fn remove(&self, name: &str) {
        // What stays is removed with the directory.
        let _left = unlinkat(&self.directory, name, AtFlags::empty());
    }

    /// The directory that it is in, as the JVM sees it, and its name.
    pub(crate) fn place(&self) -> (&Path, &str) {
        (self.path.parent().unwrap_or(&self.path), &self.name)
    }

    /// Opens a file that the JVM has written.
    ///
    /// # Errors
    /// What the operating system says, or that it is no file of the JVM.
    pub(crate) fn open(&self, name: &str) -> io::Result<File> {
        let file = openat(&self.directory, name, EXISTING, Mode::empty())?;
        self.owner.own_file(file)
    }

    /// A text that the JVM has written.
    ///
    /// # Errors
    /// As [`Exchange::open`].
    pub(crate) fn read_text(&self, name: &str) -> io::Result<String> {
        let mut bytes = Vec::new();
        let file = self.open(name)?;
        file.take(MAX_TEXT_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        remove_directory(&self.parent, &self.name, &self.directory);
    }
}

/// Removes an exchange of another `ctxjfr`, that was killed.
pub(crate) fn remove_left(jvm: &JvmProcess, parent: &Path, name: &str) -> io::Result<()> {
    let (parent, _) = jvm.open_directory(parent)?;
    let directory = openat(&parent, name, EXISTING | OFlags::DIRECTORY, Mode::empty())?;
    remove_directory(&parent, name, &directory);
    Ok(())
}

/// Removes a directory with the files in it. Nothing can be done about a failure.
fn remove_directory(parent: &OwnedFd, name: &str, directory: &OwnedFd) {
    let entries = Dir::read_from(directory).into_iter().flatten().flatten();
    for entry in entries {
        let _left = unlinkat(directory, entry.file_name(), AtFlags::empty());
    }
    let _left = unlinkat(parent, name, AtFlags::REMOVEDIR);
}

/// Removes the directories in `parent` that an earlier `ctxjfr` left when it was killed.
fn remove_abandoned(parent: &OwnedFd, owner: Owner) {
    let flags = EXISTING | OFlags::DIRECTORY;
    let Ok(listing) = openat(parent, ".", flags, Mode::empty()) else {
        return;
    };
    let entries = Dir::read_from(&listing).into_iter().flatten().flatten();
    for entry in entries {
        let Some(name) = entry
            .file_name()
            .to_str()
            .ok()
            .filter(|n| n.starts_with(PREFIX))
        else {
            continue;
        };
        let directory = openat(parent, name, flags, Mode::empty());
        if let Ok(directory) = directory
            && is_abandoned(&directory, owner)
        {
            remove_directory(parent, name, &directory);
        }
    }
}

/// Whether a directory is old, of this user, and locked by nobody; locks it.
fn is_abandoned(directory: &OwnedFd, owner: Owner) -> bool {
    let Ok(facts) = fstat(directory) else {
        return false;
    };
    let changed =
        SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(facts.st_mtime).unwrap_or(0));
    let is_old = changed.elapsed().is_ok_and(|age| age > MIN_AGE);
    is_old
        && facts.st_uid == owner.user
        && flock(directory, FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use rustix::process::{getegid, geteuid};

    #[test]
    fn only_old_directories_without_a_lock_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str, age: Duration| {
            let path = parent.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("file"), "").unwrap();
            let directory = File::open(&path).unwrap();
            directory.set_modified(SystemTime::now() - age).unwrap();
            directory
        };
        let old = MIN_AGE * 2;
        let locked = make(".ctxjfr-locked", old);
        locked.lock().unwrap();
        make(".ctxjfr-left", old);
        make(".ctxjfr-young", Duration::ZERO);
        make("other", old);
        std::os::unix::fs::symlink("other", parent.path().join(".ctxjfr-link")).unwrap();
        let owner = Owner {
            user: geteuid().as_raw(),
            group: getegid().as_raw(),
        };
        remove_abandoned(&File::open(parent.path()).unwrap().into(), owner);
        let names = std::fs::read_dir(parent.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        assert_eq!(
            names,
            [".ctxjfr-link", ".ctxjfr-locked", ".ctxjfr-young", "other"]
        );
        assert!(parent.path().join("other/file").exists());
    }
}
