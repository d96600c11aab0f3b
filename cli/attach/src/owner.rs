//! What must be done as the user of the JVM: the JVM asks the kernel who connected, and looks at who
//! owns a file. A file system of a container may not even know root of the host.
//!
//! If we are another user, a child process does it, which runs the caller's own program as a
//! helper. It gets what it needs opened: it may have no right to open it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, mkdirat, openat, unlinkat};
use rustix::net::{SocketAddrUnix, connect};
use rustix::process::{getegid, geteuid};

/// A command that calls [`run_helper`] with the arguments that are added to it: that of the
/// caller's own program.
pub type Helper<'h> = &'h dyn Fn() -> Command;

const NEW_FILE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The user that a process runs as, in the numbers of our namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// Effective user.
    pub user: u32,
    /// Effective group.
    pub group: u32,
}

impl Owner {
    /// Whether we are this user. Only root can be another one, or have another group.
    fn is_us(self) -> bool {
        let user = geteuid();
        user.as_raw() == self.user && (getegid().as_raw() == self.group || !user.is_root())
    }

    /// An open file, if it is a regular one of this user: what else a JVM's user puts in its place
    /// could block us, or be read with our rights.
    ///
    /// # Errors
    /// It is something else, or what the operating system says.
    pub fn own_file(self, file: OwnedFd) -> io::Result<File> {
        let facts = fstat(&file)?;
        let is_regular = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile;
        if !is_regular || facts.st_uid != self.user {
            return Err(io::Error::other("it is no file of the JVM"));
        }
        Ok(File::from(file))
    }
}

/// What can be done as another user; each has two open files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// Connects the first, a socket, to this name in the second, a directory.
    Connect(String),
    /// Makes an empty file of this name in the first, a directory.
    MakeFile(String),
    /// Makes a directory of this name, mode 0700, in the first, and in it a file of the other name
    /// with what the second has.
    MakeDirectory(String, Option<String>),
}

impl Task {
    /// Does it as `owner`.
    pub(crate) fn run_as(
        &self,
        owner: Owner,
        files: [BorrowedFd<'_>; 2],
        helper: Helper<'_>,
    ) -> io::Result<()> {
        if owner.is_us() {
            return self.run(files);
        }
        let [first, second] = files.map(|file| file.try_clone_to_owned());
        let ended = helper()
            .args(self.arguments())
            .stdin(first?)
            .stdout(second?)
            .stderr(Stdio::null())
            .gid(owner.group)
            .uid(owner.user)
            .status()?;
        match ended.code() {
            Some(0) => Ok(()),
            Some(number) => Err(io::Error::from_raw_os_error(number)),
            None => Err(io::Error::other("the helper process was killed")),
        }
    }

    fn run(&self, [first, second]: [BorrowedFd<'_>; 2]) -> io::Result<()> {
        match self {
            Self::Connect(name) => {
                let path = format!("/proc/self/fd/{}/{name}", second.as_raw_fd());
                Ok(connect(first, &SocketAddrUnix::new(path)?)?)
            }
            Self::MakeFile(name) => make_file(first, name),
            Self::MakeDirectory(name, file) => {
                make_directory(first, name, file.as_deref().map(|file| (file, second)))
            }
        }
    }

    fn arguments(&self) -> Vec<&str> {
        match self {
            Self::Connect(name) => vec!["connect", name],
            Self::MakeFile(name) => vec!["file", name],
            Self::MakeDirectory(name, file) => {
                let mut arguments = vec!["directory", name];
                arguments.extend(file.as_deref());
                arguments
            }
        }
    }

    fn parse(arguments: &[String]) -> Option<Self> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words[..] {
            ["connect", name] => Some(Self::Connect(name.to_owned())),
            ["file", name] => Some(Self::MakeFile(name.to_owned())),
            ["directory", name] => Some(Self::MakeDirectory(name.to_owned(), None)),
            ["directory", name, file] => {
                Some(Self::MakeDirectory(name.to_owned(), Some(file.to_owned())))
            }
            _ => None,
        }
    }
}

/// The helper's part of [`Helper`]: does with its stdin and stdout what the arguments say. The
/// caller passes the number of the error on as its exit code.
///
/// # Errors
/// What the operating system says.
pub fn run_helper(arguments: &[String]) -> io::Result<()> {
    let task = Task::parse(arguments).ok_or(io::ErrorKind::InvalidInput)?;
    task.run([io::stdin().as_fd(), io::stdout().as_fd()])
}

/// Makes an empty file, owned by us: a file server may map our user to another one.
fn make_file(directory: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    let file = openat(directory, name, NEW_FILE, Mode::RUSR | Mode::WUSR)?;
    if fstat(&file)?.st_uid == geteuid().as_raw() {
        return Ok(());
    }
    unlinkat(directory, name, AtFlags::empty())?;
    Err(io::ErrorKind::PermissionDenied.into())
}

fn make_directory(
    parent: BorrowedFd<'_>,
    name: &str,
    file: Option<(&str, BorrowedFd<'_>)>,
) -> io::Result<()> {
    mkdirat(parent, name, Mode::RWXU)?;
    let Some((file, content)) = file else {
        return Ok(());
    };
    let copied = copy(parent, &format!("{name}/{file}"), content);
    if copied.is_err() {
        // Nothing can be done about a failure.
        let _left = unlinkat(parent, format!("{name}/{file}"), AtFlags::empty());
        let _left = unlinkat(parent, name, AtFlags::REMOVEDIR);
    }
    copied
}

fn copy(parent: BorrowedFd<'_>, path: &str, content: BorrowedFd<'_>) -> io::Result<()> {
    let copy = openat(parent, path, NEW_FILE, Mode::RUSR | Mode::WUSR)?;
    let mut content = File::from(content.try_clone_to_owned()?);
    io::Seek::rewind(&mut content)?;
    io::copy(&mut content, &mut File::from(copy)).map(|_| ())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn tasks_survive_the_command_line() {
        let name = || "name".to_owned();
        for task in [
            Task::Connect(name()),
            Task::MakeFile(name()),
            Task::MakeDirectory(name(), None),
            Task::MakeDirectory(name(), Some("file".to_owned())),
        ] {
            let arguments: Vec<String> = task.arguments().into_iter().map(String::from).collect();
            assert_eq!(Task::parse(&arguments), Some(task));
        }
        assert_eq!(Task::parse(&[]), None);
        assert_eq!(Task::parse(&["connect".to_owned()]), None);
    }

    #[test]
    fn directory_is_private_and_holds_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let parent = format!("hotspot-attach-owner-{}", std::process::id());
        let parent = std::env::temp_dir().join(parent);
        std::fs::create_dir_all(&parent).unwrap();
        std::fs::write(parent.join("content"), "text").unwrap();
        let content = File::open(parent.join("content")).unwrap();
        let directory = File::open(&parent).unwrap();
        let task = Task::MakeDirectory("x".to_owned(), Some("file".to_owned()));
        let files = [directory.as_fd(), content.as_fd()];
        let owner = Owner {
            user: geteuid().as_raw(),
            group: getegid().as_raw(),
        };
        let no_helper = || Command::new("/nonexistent");
        task.run_as(owner, files, &no_helper).unwrap();
        let again = task.run_as(owner, files, &no_helper).unwrap_err();
        let text = std::fs::read_to_string(parent.join("x/file")).unwrap();
        let mode = parent.join("x").metadata().unwrap().permissions().mode();
        std::fs::remove_dir_all(&parent).unwrap();
        assert_eq!((text.as_str(), mode & 0o777), ("text", 0o700));
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    }
}
