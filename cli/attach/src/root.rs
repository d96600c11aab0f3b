//! Directories below the root of another process.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a directory by a path of ours.
pub(crate) fn open(path: &str) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, DIRECTORY, Mode::empty())?)
}

/// Opens a file or directory by its path below `root`. A link leads to where it leads for a process
/// with this root, so nothing in there can send us out of it.
pub(crate) fn open_below(root: impl AsFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC;
    match openat2(&root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT) {
        // Linux before 5.6, or a seccomp profile of that time: without links.
        Err(Errno::NOSYS | Errno::PERM) => {
            let path = path.strip_prefix("/").unwrap_or(path);
            let flags = flags | OFlags::NOFOLLOW;
            Ok(openat(root, path, flags, Mode::empty())?)
        }
        other => Ok(other?),
    }
}

/// Opens a directory by its path below `root`.
pub(crate) fn open_directory(root: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    open_below(root, path, DIRECTORY)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use rustix::fs::fstat;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_nowhere_else_than_in_the_root() {
        let base = std::env::temp_dir().join(format!("hotspot-attach-{}", std::process::id()));
        std::fs::create_dir_all(base.join("var/tmp")).unwrap();
        symlink("/var/tmp", base.join("tmp")).unwrap();
        symlink("../../../../../etc", base.join("out")).unwrap();
        let root = open(base.to_str().unwrap()).unwrap();
        let through = open_directory(&root, Path::new("/tmp"));
        let direct = open_directory(&root, Path::new("/var/tmp")).unwrap();
        let outside = open_directory(&root, Path::new("/out"));
        std::fs::remove_dir_all(&base).unwrap();
        let inode = |fd: &OwnedFd| fstat(fd).unwrap().st_ino;
        assert_eq!(inode(&through.unwrap()), inode(&direct));
        assert!(outside.is_err());
    }
}
